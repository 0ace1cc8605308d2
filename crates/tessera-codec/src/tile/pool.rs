//! Buffers used over and over: coding would spend a tenth of its time asking for fresh ones.

use std::cell::RefCell;

/// Buffers given back.
#[derive(Debug)]
pub(crate) struct Pool<T>(RefCell<Vec<Vec<T>>>);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Copy + Default> Pool<T> {
    /// A buffer of this length with anything in it.
    pub(crate) fn take(&self, length: usize) -> Vec<T> {
        let mut buffer = self.0.borrow_mut().pop().unwrap_or_default();
        buffer.resize(length, T::default());
        buffer
    }

    /// Takes a buffer back.
    pub(crate) fn give(&self, buffer: Vec<T>) {
        self.0.borrow_mut().push(buffer);
    }
}

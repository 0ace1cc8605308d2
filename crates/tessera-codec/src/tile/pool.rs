//! Buffers used over and over: coding would spend a tenth of its time asking for fresh ones.

use std::cell::RefCell;

/// Classes of buffers by the number of bits of their length, up to that of the largest patch; patches of one size
/// find buffers that need not grow.
const CLASSES: usize = 14;

/// Buffers given back.
#[derive(Debug)]
pub(crate) struct Pool<T>([RefCell<Vec<Vec<T>>>; CLASSES]);

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self(std::array::from_fn(|_| RefCell::default()))
    }
}

impl<T: Copy + Default> Pool<T> {
    /// A buffer of this length with anything in it.
    #[inline]
    pub(crate) fn take(&self, length: usize) -> Vec<T> {
        let mut buffer = self.class(length).borrow_mut().pop().unwrap_or_default();
        buffer.resize(length, T::default());
        buffer
    }

    /// Takes a buffer back.
    #[inline]
    pub(crate) fn give(&self, buffer: Vec<T>) {
        self.class(buffer.len()).borrow_mut().push(buffer);
    }

    #[inline]
    fn class(&self, length: usize) -> &RefCell<Vec<Vec<T>>> {
        let bits = (usize::BITS - length.leading_zeros()) as usize;
        &self.0[bits.min(CLASSES - 1)]
    }
}

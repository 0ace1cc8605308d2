//! Memory of the caller, and the ways handles go out to it.

use crate::status::{Failure, Status, guard};
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;
use std::path::PathBuf;

/// The place where a new handle goes.
pub(crate) type Out<'a, T> = Option<&'a mut MaybeUninit<Option<Box<T>>>>;

/// Puts what `make` makes into `out`, or NULL if it fails.
pub(crate) fn hand_out<T>(out: Out<'_, T>, make: impl FnOnce() -> Result<T, Failure>) -> Status {
    guard(|| {
        let place = out.ok_or_else(|| null("the place of the result"))?;
        place.write(None);
        place.write(Some(Box::new(make()?)));
        Ok(())
    })
}

/// The error for a pointer that must not be NULL.
pub(crate) fn null(what: &str) -> Failure {
    Failure::parameter(format!("{what} is NULL"))
}

/// Bytes of the caller.
///
/// # Safety
/// `data` is NULL, or `len` bytes can be read there as long as the result lives.
pub(crate) unsafe fn bytes<'a>(data: *const u8, len: usize) -> Result<&'a [u8], Failure> {
    if data.is_null() {
        return match len {
            0 => Ok(&[]),
            _ => Err(null("the data")),
        };
    }
    if len > isize::MAX as usize {
        return Err(Failure::parameter("so much data cannot be in memory"));
    }
    // SAFETY: neither NULL nor longer than memory can be; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, len) })
}

/// A path of the caller: on Unix any bytes, elsewhere UTF-8.
///
/// # Safety
/// `path` is NULL or a string that ends with a zero.
pub(crate) unsafe fn path(path: *const c_char) -> Result<PathBuf, Failure> {
    if path.is_null() {
        return Err(null("the path"));
    }
    // SAFETY: not NULL; the rest is the caller's promise.
    let path = unsafe { CStr::from_ptr(path) };
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt;
        Ok(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
    }
    #[cfg(not(unix))]
    {
        let text = path.to_str();
        Ok(text
            .map_err(|_| Failure::parameter("the path is not UTF-8"))?
            .into())
    }
}

/// Text of the caller.
///
/// # Safety
/// `text` is NULL or a string that ends with a zero and lives as long as the result.
pub(crate) unsafe fn text<'a>(text: *const c_char) -> Result<&'a str, Failure> {
    if text.is_null() {
        return Err(null("the text"));
    }
    // SAFETY: not NULL; the rest is the caller's promise.
    let text = unsafe { CStr::from_ptr(text) }.to_str();
    text.map_err(|_| Failure::parameter("the text is not UTF-8"))
}

//! Memory that JavaScript fills before it calls.

#![allow(unsafe_code, reason = "the border to JavaScript")]

/// The bytes at a place that JavaScript names.
///
/// # Safety
/// There are `len` bytes at `place` that nobody changes during the call.
pub(crate) unsafe fn bytes<'a>(place: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller keeps the promise above.
    unsafe { std::slice::from_raw_parts(place, len) }
}

/// Memory for input, or null if there is none left. It is given back by [`tessera_free`].
#[unsafe(no_mangle)]
pub extern "C" fn tessera_alloc(len: usize) -> *mut u8 {
    let mut buffer = Vec::new();
    if buffer.try_reserve_exact(len).is_err() {
        return std::ptr::null_mut();
    }
    buffer.resize(len, 0_u8);
    Box::into_raw(buffer.into_boxed_slice()).cast()
}

/// Gives memory back.
///
/// # Safety
/// `place` came from [`tessera_alloc`] with the same `len`, and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_free(place: *mut u8, len: usize) {
    let slice = std::ptr::slice_from_raw_parts_mut(place, len);
    // SAFETY: this is the box that `tessera_alloc` took apart.
    drop(unsafe { Box::from_raw(slice) });
}

//! Bytes that the library made.

use crate::status::release;

/// Bytes that the library made: a file.
#[derive(Debug)]
pub struct Buffer(pub(crate) Vec<u8>);

/// Where the bytes are; NULL for NULL. Valid until the buffer is freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_buffer_data(buffer: Option<&Buffer>) -> *const u8 {
    buffer.map_or(std::ptr::null(), |buffer| buffer.0.as_ptr())
}

/// How many bytes there are.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_buffer_size(buffer: Option<&Buffer>) -> usize {
    buffer.map_or(0, |buffer| buffer.0.len())
}

/// Frees a buffer.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_buffer_free(buffer: Option<Box<Buffer>>) {
    release(buffer);
}

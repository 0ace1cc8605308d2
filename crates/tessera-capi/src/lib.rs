//! Tessera for C: the functions behind `include/tessera.h`, which is made from them.
//!
//! Handles are boxes that C holds by their address. Pointers come in as optional references, so that NULL is a case like
//! any other, and what C promises about them is stated in the header. Every body runs inside [`status::guard`], which turns
//! errors and panics into codes.

#![allow(
    unsafe_code,
    reason = "names for the linker, and memory of a caller in another language"
)]
#![allow(
    clippy::missing_safety_doc,
    reason = "what a caller promises is said in the words of the header"
)]

mod buffer;
mod cancel;
mod decoder;
mod dictionary;
mod encoder;
mod file;
mod memory;
mod metadata;
mod picture;
mod status;

pub use buffer::*;
pub use cancel::*;
pub use decoder::*;
pub use dictionary::*;
pub use encoder::*;
pub use file::*;
pub use metadata::*;
pub use picture::*;
pub use status::*;

use std::ffi::{CStr, c_char};

/// The version of this library, as in "0.1.0".
#[unsafe(no_mangle)]
pub extern "C" fn tessera_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    CStr::from_bytes_with_nul(VERSION.as_bytes())
        .unwrap_or_default()
        .as_ptr()
}

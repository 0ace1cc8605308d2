//! A second decoder of the Tessera format, written from `spec/` alone.
//!
//! It is the oracle of the fast one: modules are named after the pages, functions after their sections, and nothing is
//! done for speed. Whoever finds the two at odds reads the page; one of the three is wrong.
//!
//! Bad input gets an [`Error`], never a panic. Memory is bounded by [`MAX_PIXELS`] and by the length of the input.

mod bitstream;
mod blake3;
mod bytes;
pub mod conformance;
mod container;
mod dictionary;
mod error;
mod inflate;
mod lossless;
mod notation;
mod pack;
mod picture;
mod plane;
mod range_coder;

pub use blake3::hash;
pub use container::MAX_PIXELS;
pub use container::metadata::{Chunk, metadata};
pub use dictionary::{Dictionary, Shelf};
pub use error::Error;
pub use pack::Pack;
pub use picture::Picture;

use error::Result;

/// Decodes a `.tsr` file whose dictionary stands on the shelf.
///
/// # Errors
/// If the file is no valid picture, or its dictionary is not there.
pub fn decode(file: &[u8], shelf: &Shelf) -> Result<Picture> {
    container::decode(file, shelf)
}

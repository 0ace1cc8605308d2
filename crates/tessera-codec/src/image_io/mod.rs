//! Pictures from and to the common formats, by way of the `image` crate.
//!
//! Reading keeps ICC, EXIF and XMP, applies the orientation once, and refuses what would be
//! silently lost: CMYK, animations, cut-off JPEG.

mod convert;
mod jpeg_probe;
mod read;
mod write;
mod xmp;

pub use convert::to_dynamic_image;
pub use read::{ReadImageError, read_picture};
pub use write::{WriteImageError, WrittenImage, write_picture};

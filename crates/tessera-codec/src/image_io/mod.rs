//! Pictures from and to the common formats, by way of the `image` crate.
//!
//! Reading keeps ICC, EXIF and XMP, applies the orientation once, and refuses what would be
//! silently lost: CMYK, animations, further pages, cut-off JPEG. PNG and binary PNM are read and
//! written row by row, so that pictures larger than memory can be converted.

mod convert;
mod input;
mod jpeg_probe;
mod png_rows;
mod pnm_rows;
mod read;
mod row_file;
mod row_sinks;
mod tiff_pages;
mod whole_sink;
mod write;
mod xmp;

pub use convert::to_dynamic_image;
pub use input::Input;
pub use read::{ReadImageError, open_picture, read_picture};
pub use write::{Losses, PictureWriter, WriteImageError, keeps_rows};

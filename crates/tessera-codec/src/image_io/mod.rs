//! Pictures from and to the common formats.
//!
//! Reading keeps ICC, EXIF and XMP, applies the orientation once, and either gives the picture
//! that is meant or refuses in a sentence; what had to be changed on the way (print colours,
//! frames left out) comes with it as a warning. PNG and binary PNM are read and written row by
//! row, so that pictures larger than memory can be converted.

#[cfg(feature = "avif")]
mod avif;
mod bmp;
mod colour;
mod contain;
mod convert;
mod error;
mod format;
mod found;
mod frames;
mod input;
mod jpeg;
#[cfg(feature = "jpeg2000")]
mod jpeg2000;
mod orientation;
mod png_metadata;
mod png_rows;
mod pnm_rows;
mod read;
mod row_file;
mod row_sinks;
mod tiff;
mod whole_sink;
mod write;
mod xmp;

pub use convert::to_dynamic_image;
pub use error::ReadImageError;
pub use format::EXTENSIONS;
pub use input::Input;
pub use read::{OpenedPicture, ReadOptions, open_picture, open_picture_with, read_picture};
pub use write::{Losses, PictureWriter, WriteImageError, keeps_rows};

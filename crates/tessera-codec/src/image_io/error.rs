//! Why a picture could not be read, in sentences that say what to do.

use crate::error::Error;
use image::ImageError;
use image::error::{LimitErrorKind, UnsupportedErrorKind};
use std::io::ErrorKind;
use thiserror::Error as ThisError;

/// Memory a foreign format may take while it is read as a whole: the largest picture we can hold
/// is larger, but no honest file needs more than this.
pub(crate) const MAX_READ_BYTES: u64 = 8 << 30;

/// Why a picture could not be read.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ReadImageError {
    /// No known format.
    #[error(
        "not a picture in a known format ({})",
        crate::image_io::format::FORMATS
    )]
    UnknownFormat,
    /// A known format that is not read.
    #[error("{0} files cannot be read; convert the picture to PNG, JPEG, WebP or TIFF first")]
    UnsupportedFormat(&'static str),
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The data ends too early.
    #[error(
        "the {0} file ends before the last row of the picture; it is truncated, fetch it again"
    )]
    Truncated(&'static str),
    /// The data cannot be right.
    #[error("the {0} data is damaged ({1}); fetch the file again or open and save it elsewhere")]
    Damaged(&'static str, &'static str),
    /// A rare variant of a format.
    #[error("{1} in {0} files cannot be read; convert the picture to PNG first")]
    Variant(&'static str, String),
    /// A page or frame that the file does not have.
    #[error("page or frame {wanted} was asked for, and the file holds {present}; choose another")]
    NoSuchPage {
        /// What was asked for, counted from 1.
        wanted: u32,
        /// How many there are.
        present: u32,
    },
    /// A decoder of others gave up in the middle.
    #[error(
        "the {0} decoder stopped over this file, which is damaged or very unusual; open and save \
         the picture elsewhere first"
    )]
    DecoderStopped(&'static str),
    /// A format that is held in memory as a whole, and too large for that.
    #[error(
        "reading this picture takes more than {} GiB of memory; convert it to PNG (not \
         interlaced) or PNM, which are read row by row",
        MAX_READ_BYTES >> 30
    )]
    TooLarge,
    /// The file cannot be read at all.
    #[error(transparent)]
    Io(std::io::Error),
    /// The codec cannot hold it.
    #[error(transparent)]
    Codec(#[from] Error),
}

impl From<std::io::Error> for ReadImageError {
    /// For what goes wrong before a format is known; later errors say more.
    fn from(error: std::io::Error) -> Self {
        Self::Io(error)
    }
}

/// What is wrong where nothing more precise is known.
pub(super) const INCONSISTENT: &str = "its parts contradict each other";

impl ReadImageError {
    /// Short form for the many checks of the readers.
    pub(super) fn variant(format: &'static str, feature: impl Into<String>) -> Self {
        Self::Variant(format, feature.into())
    }
}

/// A reading error inside a file of a known format.
pub(super) fn io_error(format: &'static str, error: std::io::Error) -> ReadImageError {
    match error.kind() {
        ErrorKind::UnexpectedEof => ReadImageError::Truncated(format),
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
            ReadImageError::Damaged(format, INCONSISTENT)
        }
        _ => ReadImageError::Io(error),
    }
}

/// What the `image` crate says, in our words.
pub(super) fn image_error(format: &'static str, error: ImageError) -> ReadImageError {
    match error {
        ImageError::IoError(error) => io_error(format, error),
        ImageError::Limits(limits) => match limits.kind() {
            LimitErrorKind::DimensionError => ReadImageError::Damaged(format, "impossible sides"),
            _ => ReadImageError::TooLarge,
        },
        ImageError::Unsupported(unsupported) => match unsupported.kind() {
            UnsupportedErrorKind::Color(_) => {
                ReadImageError::variant(format, "colours of this kind")
            }
            _ => ReadImageError::variant(format, "headers, compressions or pixels of this kind"),
        },
        _ => ReadImageError::Damaged(format, INCONSISTENT),
    }
}

/// What the `png` crate says, in our words.
pub(super) fn png_error(error: png::DecodingError) -> ReadImageError {
    const PNG: &str = "PNG";
    match error {
        png::DecodingError::IoError(error) => io_error(PNG, error),
        png::DecodingError::LimitsExceeded => ReadImageError::TooLarge,
        png::DecodingError::Format(_) => {
            ReadImageError::Damaged(PNG, "a checksum or a chunk of it is wrong")
        }
        png::DecodingError::Parameter(_) => ReadImageError::Damaged(PNG, INCONSISTENT),
    }
}

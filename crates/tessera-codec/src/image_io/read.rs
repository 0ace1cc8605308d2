//! Reading a picture with everything that belongs to it.

use super::{jpeg_probe, xmp};
use crate::error::Error;
use crate::metadata::Metadata;
use crate::picture::Picture;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits,
};
use std::io::Cursor;
use thiserror::Error as ThisError;

/// Memory a foreign format may take while it is read: the largest picture we can hold is larger,
/// but no honest file needs more than this.
const MAX_READ_BYTES: u64 = 8 << 30;

/// Why a picture could not be read.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ReadImageError {
    /// No known format.
    #[error("not a picture in a known format (PNG, JPEG, WebP, PNM, TIFF, BMP)")]
    UnknownFormat,
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// Four-colour print data.
    #[error("CMYK pictures are not supported; convert the picture to RGB first")]
    Cmyk,
    /// More than one frame.
    #[error("animated pictures are not supported; extract one frame first")]
    Animated,
    /// The data ends too early.
    #[error("the JPEG has no end; it is truncated, fetch it again")]
    TruncatedJpeg,
    /// The format's decoder refused it.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The codec cannot hold it.
    #[error(transparent)]
    Codec(#[from] Error),
}

/// Reads PNG, JPEG, WebP, PNM, TIFF or BMP, told apart by content, upright and with metadata.
///
/// # Errors
/// See [`ReadImageError`].
pub fn read_picture(file: &[u8]) -> Result<Picture, ReadImageError> {
    if file.is_empty() {
        return Err(ReadImageError::Empty);
    }
    let format = image::guess_format(file).map_err(|_| ReadImageError::UnknownFormat)?;
    refuse_what_would_be_lost(file, format)?;
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_READ_BYTES);
    reader.limits(limits);
    let mut decoder = reader.into_decoder()?;
    refuse_cmyk(&decoder)?;
    let orientation = decoder.orientation()?;
    let mut metadata = read_metadata(&mut decoder)?;
    let mut image = DynamicImage::from_decoder(decoder)?;
    image.apply_orientation(orientation);
    reset_orientation(&mut metadata);
    let mut picture = Picture::try_from(image)?;
    picture.metadata = metadata;
    Ok(picture)
}

fn refuse_what_would_be_lost(file: &[u8], format: ImageFormat) -> Result<(), ReadImageError> {
    match format {
        ImageFormat::Png if PngDecoder::new(Cursor::new(file))?.is_apng()? => {
            Err(ReadImageError::Animated)
        }
        ImageFormat::WebP if WebPDecoder::new(Cursor::new(file))?.has_animation() => {
            Err(ReadImageError::Animated)
        }
        ImageFormat::Jpeg => match jpeg_probe::probe(file) {
            Some(probe) if probe.components == 4 => Err(ReadImageError::Cmyk),
            Some(probe) if !probe.complete => Err(ReadImageError::TruncatedJpeg),
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn refuse_cmyk(decoder: &impl ImageDecoder) -> Result<(), ReadImageError> {
    match decoder.original_color_type() {
        ExtendedColorType::Cmyk8 | ExtendedColorType::Cmyk16 => Err(ReadImageError::Cmyk),
        _ => Ok(()),
    }
}

fn read_metadata(decoder: &mut impl ImageDecoder) -> Result<Metadata, ImageError> {
    let not_empty = |block: Option<Vec<u8>>| block.filter(|bytes| !bytes.is_empty());
    Ok(Metadata {
        icc: not_empty(decoder.icc_profile()?),
        exif: not_empty(decoder.exif_metadata()?),
        xmp: not_empty(decoder.xmp_metadata()?),
    })
}

/// The pixels are upright now; a reader of the metadata must not turn them again.
fn reset_orientation(metadata: &mut Metadata) {
    if let Some(exif) = &mut metadata.exif {
        let _already_applied = Orientation::remove_from_exif_chunk(exif);
    }
    if let Some(packet) = &mut metadata.xmp {
        xmp::reset_orientation(packet);
    }
}

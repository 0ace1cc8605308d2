//! Reading a picture with everything that belongs to it.

use super::input::Input;
use super::row_file::RowFile;
use super::{jpeg_probe, png_rows, pnm_rows, tiff_pages, xmp};
use crate::error::Error;
use crate::metadata::Metadata;
use crate::picture::Picture;
use crate::rows::{RowSource, WholePicture};
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::metadata::Orientation;
use image::{
    DynamicImage, ExtendedColorType, ImageDecoder, ImageError, ImageFormat, ImageReader, Limits,
};
use std::io::Cursor;
use thiserror::Error as ThisError;

/// What is read to tell the formats apart.
const SIGNATURE_LEN: u64 = 64;

/// Memory a foreign format may take while it is read as a whole: the largest picture we can hold
/// is larger, but no honest file needs more than this.
const MAX_READ_BYTES: u64 = 8 << 30;

/// Why a picture could not be read.
#[derive(Debug, ThisError)]
#[non_exhaustive]
pub enum ReadImageError {
    /// No known format.
    #[error("not a picture in a known format (PNG, JPEG, WebP, PNM, TIFF, BMP)")]
    UnknownFormat,
    /// A known format that is not read.
    #[error(
        "{0:?} pictures cannot be read; convert the picture to PNG, JPEG, WebP, PNM, TIFF or BMP"
    )]
    UnsupportedFormat(ImageFormat),
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// Four-colour print data.
    #[error("CMYK pictures are not supported; convert the picture to RGB first")]
    Cmyk,
    /// More than one frame.
    #[error("animated pictures are not supported; extract one frame first")]
    Animated,
    /// Several pages.
    #[error("files of several pages are not supported; extract one page first")]
    SeveralPages,
    /// The data ends too early.
    #[error("the JPEG has no end; it is truncated, fetch it again")]
    TruncatedJpeg,
    /// The data ends too early.
    #[error("the file ends before its last row; it is truncated, fetch it again")]
    TooFewRows,
    /// The header is not that of a PNM file.
    #[error("the header of the PNM file is damaged")]
    BadPnm,
    /// A format that is held in memory as a whole, and too large for that.
    #[error(
        "reading this picture takes more than {} GiB of memory; convert it to PNG (not \
         interlaced) or PNM, which are read row by row",
        MAX_READ_BYTES >> 30
    )]
    TooLarge,
    /// The file cannot be read at all.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The PNG decoder refused it.
    #[error(transparent)]
    Png(#[from] png::DecodingError),
    /// The format's decoder refused it.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The codec cannot hold it.
    #[error(transparent)]
    Codec(#[from] Error),
}

/// A picture that is ready to be read.
enum Readable<'a> {
    /// As its rows are asked for.
    Rows(RowFile<'a>),
    /// It had to be read as a whole.
    Whole(Picture),
}

/// Reads PNG, JPEG, WebP, PNM, TIFF or BMP, told apart by content, upright and with metadata.
///
/// # Errors
/// See [`ReadImageError`].
pub fn read_picture(file: &[u8]) -> Result<Picture, ReadImageError> {
    match open(file.into())? {
        Readable::Rows(rows) => rows.into_picture(),
        Readable::Whole(picture) => Ok(picture),
    }
}

/// Like [`read_picture`], but PNG and binary PNM are read as their rows are asked for. Interlaced
/// or turned PNG and all other formats are in memory afterwards.
///
/// # Errors
/// See [`ReadImageError`].
pub fn open_picture<'a>(
    input: impl Into<Input<'a>>,
) -> Result<Box<dyn RowSource + 'a>, ReadImageError> {
    Ok(match open(input.into())? {
        Readable::Rows(rows) => Box::new(rows),
        Readable::Whole(picture) => Box::new(WholePicture::from(picture)),
    })
}

fn open(input: Input<'_>) -> Result<Readable<'_>, ReadImageError> {
    let start = input.start(SIGNATURE_LEN)?;
    if start.is_empty() {
        return Err(ReadImageError::Empty);
    }
    let format = image::guess_format(&start).map_err(|_| ReadImageError::UnknownFormat)?;
    let rows = match format {
        ImageFormat::Png => open_png(input)?,
        ImageFormat::Pnm => RowFile::new(input, pnm_rows::open, Metadata::default())?,
        format if format.reading_enabled() => None,
        format => return Err(ReadImageError::UnsupportedFormat(format)),
    };
    match rows {
        Some(rows) => Ok(Readable::Rows(rows)),
        None => Ok(Readable::Whole(read_whole(&input.bytes()?, format)?)),
    }
}

/// Rows of a PNG that is neither animated nor turned nor interlaced.
fn open_png(input: Input<'_>) -> Result<Option<RowFile<'_>>, ReadImageError> {
    let mut decoder = PngDecoder::with_limits(input.reader()?, limits())?;
    if decoder.is_apng()? {
        return Err(ReadImageError::Animated);
    }
    if decoder.orientation()? != Orientation::NoTransforms {
        return Ok(None);
    }
    let mut metadata = read_metadata(&mut decoder)?;
    reset_orientation(&mut metadata);
    RowFile::new(input, png_rows::open, metadata)
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_READ_BYTES);
    limits
}

fn read_whole(file: &[u8], format: ImageFormat) -> Result<Picture, ReadImageError> {
    refuse_what_would_be_lost(file, format)?;
    let mut reader = ImageReader::with_format(Cursor::new(file), format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder()?;
    refuse_cmyk(&decoder)?;
    let orientation = decoder.orientation()?;
    let mut metadata = read_metadata(&mut decoder)?;
    let mut image = DynamicImage::from_decoder(decoder).map_err(too_large)?;
    image.apply_orientation(orientation);
    reset_orientation(&mut metadata);
    let mut picture = Picture::try_from(image)?;
    picture.metadata = metadata;
    Ok(picture)
}

/// Says what to do about a picture that is above the limit.
fn too_large(error: ImageError) -> ReadImageError {
    match error {
        ImageError::Limits(_) => ReadImageError::TooLarge,
        other => other.into(),
    }
}

fn refuse_what_would_be_lost(file: &[u8], format: ImageFormat) -> Result<(), ReadImageError> {
    match format {
        ImageFormat::WebP if WebPDecoder::new(Cursor::new(file))?.has_animation() => {
            Err(ReadImageError::Animated)
        }
        ImageFormat::Jpeg => match jpeg_probe::probe(file) {
            Some(probe) if probe.components == 4 => Err(ReadImageError::Cmyk),
            Some(probe) if !probe.complete => Err(ReadImageError::TruncatedJpeg),
            _ => Ok(()),
        },
        ImageFormat::Tiff if tiff_pages::more_than_one(file) => Err(ReadImageError::SeveralPages),
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

//! Reading a picture with everything that belongs to it.

use crate::image_io::contain::contained;
use crate::image_io::error::{MAX_READ_BYTES, ReadImageError, image_error};
use crate::image_io::format::{self, Format};
use crate::image_io::found::Found;
use crate::image_io::frames::{self, Animation};
use crate::image_io::input::Input;
use crate::image_io::row_file::RowFile;
use crate::image_io::{bmp, jpeg, orientation, png_metadata, png_rows, pnm_rows, tiff};
use crate::metadata::Metadata;
use crate::picture::Picture;
use crate::rows::{RowSource, WholePicture};
use image::metadata::Orientation;
use image::{DynamicImage, ImageFormat, ImageReader, Limits};
use std::io::Cursor;

/// What to read where a file offers a choice.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// The page or frame, from 1. Without it the first one is read, with a warning if there are
    /// more.
    pub page: Option<u32>,
}

impl ReadOptions {
    /// Most bytes of memory that reading a picture takes; larger ones are refused.
    pub const MAX_BYTES: u64 = MAX_READ_BYTES;
}

/// A picture that is ready to be read, and what its reader has to say.
pub struct OpenedPicture<'a> {
    /// The pixels.
    pub source: Box<dyn RowSource + 'a>,
    /// What was changed or left out on the way.
    pub warnings: Vec<String>,
}

/// A picture that is ready to be read.
enum Readable<'a> {
    /// As its rows are asked for.
    Rows(RowFile<'a>, Vec<String>),
    /// It had to be read as a whole.
    Whole(Picture, Vec<String>),
}

/// Reads a picture in any known format, told apart by content, upright and
/// with metadata.
///
/// # Errors
/// See [`ReadImageError`].
pub fn read_picture(file: &[u8]) -> Result<Picture, ReadImageError> {
    match open(file.into(), ReadOptions::default())? {
        Readable::Rows(rows, _) => rows.into_picture(),
        Readable::Whole(picture, _) => Ok(picture),
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
    Ok(open_picture_with(input, ReadOptions::default())?.source)
}

/// Like [`open_picture`], with a choice of page and with the warnings.
///
/// # Errors
/// See [`ReadImageError`].
pub fn open_picture_with<'a>(
    input: impl Into<Input<'a>>,
    options: ReadOptions,
) -> Result<OpenedPicture<'a>, ReadImageError> {
    Ok(match open(input.into(), options)? {
        Readable::Rows(rows, warnings) => OpenedPicture {
            source: Box::new(rows),
            warnings,
        },
        Readable::Whole(picture, warnings) => OpenedPicture {
            source: Box::new(WholePicture::from(picture)),
            warnings,
        },
    })
}

impl Input<'_> {
    /// Whether the format is one whose decoder needs no watching: it takes one row at a time.
    ///
    /// # Errors
    /// When the file cannot be read or is of no known format.
    pub fn is_read_by_rows(self) -> Result<bool, ReadImageError> {
        Ok(matches!(format::of(self)?, Format::Png | Format::Pnm))
    }
}

fn open(input: Input<'_>, options: ReadOptions) -> Result<Readable<'_>, ReadImageError> {
    let format = format::of(input)?;
    let rows = match format {
        Format::Png => return open_png(input, options),
        Format::Pnm => RowFile::new("PNM", input, pnm_rows::open, Metadata::default())?,
        _ => None,
    };
    if let Some(rows) = rows {
        frames::only_one(options.page)?;
        return Ok(Readable::Rows(rows, Vec::new()));
    }
    whole(format, || read_whole(&input.bytes()?, format, options.page))
}

fn whole<'a>(
    format: Format,
    read: impl FnOnce() -> Result<Found, ReadImageError>,
) -> Result<Readable<'a>, ReadImageError> {
    let (picture, warnings) = contained(format.name(), || read()?.upright())?;
    Ok(Readable::Whole(picture, warnings))
}

/// Rows of a PNG that is neither turned nor interlaced, and all others as a whole.
fn open_png(input: Input<'_>, options: ReadOptions) -> Result<Readable<'_>, ReadImageError> {
    let found = png_metadata::read(input)?;
    let frames = found.frames.unwrap_or(1);
    if let (Some(_), Some(page)) = (found.frames, options.page) {
        return whole(Format::Png, || {
            let image = frames::read(&input.bytes()?, Animation::Png, page, limits())?;
            add_png_metadata(Found::plain(image), input, found.metadata)
        });
    }
    frames::only_one(options.page)?;
    let warnings = match frames {
        0 | 1 => Vec::new(),
        _ => vec![frames::further_frames()],
    };
    if orientation::of(&found.metadata) == Orientation::NoTransforms {
        let mut metadata = found.metadata.clone();
        orientation::take(&mut metadata);
        metadata.icc = contained("PNG", || png_rows::icc_profile(input))?;
        if let Some(rows) = RowFile::new("PNG", input, png_rows::open, metadata)? {
            return Ok(Readable::Rows(rows, warnings));
        }
    }
    whole(Format::Png, || {
        let mut read = by_image(&input.bytes()?, Format::Png, ImageFormat::Png)?;
        read.warnings = warnings;
        add_png_metadata(read, input, found.metadata)
    })
}

fn add_png_metadata(
    mut found: Found,
    input: Input<'_>,
    metadata: Metadata,
) -> Result<Found, ReadImageError> {
    found.metadata = Metadata {
        icc: png_rows::icc_profile(input)?,
        ..metadata
    };
    Ok(found)
}

fn limits() -> Limits {
    let mut limits = Limits::no_limits();
    limits.max_alloc = Some(MAX_READ_BYTES);
    limits
}

fn read_whole(file: &[u8], format: Format, page: Option<u32>) -> Result<Found, ReadImageError> {
    match format {
        Format::Tiff => return tiff::read(file, page),
        Format::Gif => return frames::read_gif(file, page, limits()),
        Format::WebP => {
            if let Some(found) = frames::read_webp(file, page, limits())? {
                return Ok(found);
            }
        }
        _ => {}
    }
    frames::only_one(page)?;
    let image_format = match format {
        Format::Jpeg => return jpeg::read(file),
        Format::Avif => return read_avif(file),
        Format::Jpeg2000 => return read_jpeg2000(file),
        Format::Bmp => {
            bmp::check(file)?;
            ImageFormat::Bmp
        }
        Format::Tga => return read_targa(file),
        Format::Qoi => ImageFormat::Qoi,
        Format::WebP => ImageFormat::WebP,
        _ => ImageFormat::Pnm,
    };
    by_image(file, format, image_format)
}

/// Targa counts the bits of alpha apart; where there are none, the fourth byte is only filling.
fn read_targa(file: &[u8]) -> Result<Found, ReadImageError> {
    const BITS: usize = 16;
    let mut found = by_image(file, Format::Tga, ImageFormat::Tga)?;
    if let [32, descriptor] = file[BITS..BITS + 2]
        && descriptor & 15 == 0
    {
        found.image = found.image.into_rgb8().into();
    }
    Ok(found)
}

/// The `image` crate reads it, pixels and metadata.
fn by_image(
    file: &[u8],
    format: Format,
    image_format: ImageFormat,
) -> Result<Found, ReadImageError> {
    let failed = |error| image_error(format.name(), error);
    let mut reader = ImageReader::with_format(Cursor::new(file), image_format);
    reader.limits(limits());
    let mut decoder = reader.into_decoder().map_err(failed)?;
    let metadata = frames::metadata_of(&mut decoder);
    let image = DynamicImage::from_decoder(decoder).map_err(failed)?;
    Ok(Found {
        metadata,
        ..Found::plain(image)
    })
}

#[cfg(feature = "avif")]
fn read_avif(file: &[u8]) -> Result<Found, ReadImageError> {
    crate::image_io::avif::read(file)
}

#[cfg(not(feature = "avif"))]
fn read_avif(_file: &[u8]) -> Result<Found, ReadImageError> {
    Err(ReadImageError::UnsupportedFormat("AVIF"))
}

#[cfg(feature = "jpeg2000")]
fn read_jpeg2000(file: &[u8]) -> Result<Found, ReadImageError> {
    crate::image_io::jpeg2000::read(file)
}

#[cfg(not(feature = "jpeg2000"))]
fn read_jpeg2000(_file: &[u8]) -> Result<Found, ReadImageError> {
    Err(ReadImageError::UnsupportedFormat("JPEG 2000"))
}

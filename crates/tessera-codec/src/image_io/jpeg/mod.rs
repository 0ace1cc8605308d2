//! JPEG: complete or refused, print colours turned into screen colours.

mod bits;
mod gain_map;
mod markers;
mod scan;
mod segments;

use crate::image_io::colour::{self, Inks};
use crate::image_io::error::{INCONSISTENT, MAX_READ_BYTES, ReadImageError};
use crate::image_io::found::{self, Found};
use crate::image_io::orientation;
use crate::metadata::Metadata;
use crate::picture::{Colour, Samples};
use image::DynamicImage;
use segments::Facts;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

const JPEG: &str = "JPEG";

/// A decoded JPEG, components interleaved.
pub(super) struct Raster {
    pub(super) width: u32,
    pub(super) height: u32,
    pub(super) components: usize,
    pub(super) samples: Vec<u8>,
}

/// How the components are to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    /// As the file itself says: gray or RGB, or CMYK as stored.
    Usual,
    /// The components as they are coded.
    None,
}

/// Reads a file.
pub(super) fn read(file: &[u8]) -> Result<Found, ReadImageError> {
    let facts = segments::check(file)?;
    let mut decoder = decoder(file);
    let mut metadata = metadata(&mut decoder)?;
    metadata.gain_map = gain_map::find(file);
    let raster = decode_with(decoder, &facts, Conversion::Usual)?;
    let mut found = Found {
        metadata,
        ..Found::plain(DynamicImage::new_luma8(1, 1))
    };
    let (width, height) = (raster.width, raster.height);
    found.image = match raster.components {
        1 => plain(Colour::Gray, raster)?,
        3 => plain(Colour::Rgb, raster)?,
        _ => {
            // Adobe's programs store CMYK upside down, and say that it is theirs.
            let inks = Inks::new(width, height, raster.samples, facts.adobe);
            colour::cmyk_to_rgb(inks, &mut found.metadata.icc, &mut found.warnings)?
        }
    };
    Ok(found)
}

/// Decodes a complete JPEG stream, such as a part of a TIFF.
pub(super) fn decode(stream: &[u8], conversion: Conversion) -> Result<Raster, ReadImageError> {
    let facts = segments::check(stream)?;
    decode_with(decoder(stream), &facts, conversion)
}

type Decoder<'a> = JpegDecoder<ZCursor<&'a [u8]>>;

fn decoder(file: &[u8]) -> Decoder<'_> {
    let options = DecoderOptions::default()
        .set_strict_mode(false)
        .set_max_width(usize::MAX)
        .set_max_height(usize::MAX);
    JpegDecoder::new_with_options(ZCursor::new(file), options)
}

fn metadata(decoder: &mut Decoder<'_>) -> Result<Metadata, ReadImageError> {
    let damaged = |_| ReadImageError::Damaged(JPEG, "its headers make no sense");
    decoder.decode_headers().map_err(damaged)?;
    let not_empty = |block: Option<Vec<u8>>| block.filter(|bytes| !bytes.is_empty());
    Ok(Metadata {
        icc: not_empty(decoder.icc_profile()),
        exif: not_empty(decoder.exif().cloned()).map(orientation::without_prefix),
        xmp: not_empty(decoder.xmp().cloned()),
        ..Metadata::default()
    })
}

fn decode_with(
    mut decoder: Decoder<'_>,
    facts: &Facts,
    conversion: Conversion,
) -> Result<Raster, ReadImageError> {
    let damaged = |_| ReadImageError::Damaged(JPEG, INCONSISTENT);
    decoder.decode_headers().map_err(damaged)?;
    let stored = decoder
        .input_colorspace()
        .ok_or(ReadImageError::Damaged(JPEG, INCONSISTENT))?;
    let wanted = match (facts.components, conversion) {
        (3, Conversion::Usual) => ColorSpace::RGB,
        _ => stored,
    };
    decoder.set_options(decoder.options().jpeg_set_out_colorspace(wanted));
    let (width, height) = (facts.width, facts.height);
    let len = u64::from(width) * u64::from(height) * facts.components as u64;
    if len > MAX_READ_BYTES {
        return Err(ReadImageError::TooLarge);
    }
    let mut samples = decoder.decode().map_err(damaged)?;
    if samples.len() as u64 != len {
        return Err(ReadImageError::Damaged(JPEG, INCONSISTENT));
    }
    if stored == ColorSpace::YCCK && conversion == Conversion::Usual {
        colour::ycck_to_cmyk(&mut samples);
    }
    Ok(Raster {
        width,
        height,
        components: facts.components,
        samples,
    })
}

fn plain(colour: Colour, raster: Raster) -> Result<DynamicImage, ReadImageError> {
    let size = (raster.width, raster.height);
    found::image_of(JPEG, size, (colour, false), Samples::U8(raster.samples))
}

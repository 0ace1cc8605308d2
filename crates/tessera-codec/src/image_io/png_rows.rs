//! PNG row by row.

use crate::image_io::error::{ReadImageError, png_error};
use crate::image_io::input::{Input, InputReader};
use crate::image_io::row_file::{ByteRows, Opened};
use crate::picture::{Colour, PixelFormat};
use crate::rows::PictureInfo;
use png::{ColorType, Transformations};
use tessera_patch::colour::BitDepth;

/// Rows of one file.
struct PngRows<'a>(png::Reader<Box<dyn InputReader + 'a>>);

/// A decoder at the first row. Palettes and samples below eight bits are expanded, as everywhere.
fn start(input: Input<'_>) -> Result<png::Reader<Box<dyn InputReader + '_>>, ReadImageError> {
    let mut decoder = png::Decoder::new(input.reader()?);
    decoder.set_transformations(Transformations::EXPAND);
    decoder.read_info().map_err(png_error)
}

/// Interlaced pictures store their rows in another order and are left to be read as a whole.
pub(super) fn open(input: Input<'_>) -> Result<Option<Opened<'_>>, ReadImageError> {
    let reader = start(input)?;
    if reader.info().interlaced {
        return Ok(None);
    }
    let (colour, depth) = reader.output_color_type();
    let format = PixelFormat {
        colour: match colour {
            ColorType::Grayscale | ColorType::GrayscaleAlpha => Colour::Gray,
            _ => Colour::Rgb,
        },
        alpha: matches!(colour, ColorType::GrayscaleAlpha | ColorType::Rgba),
        depth: match depth {
            png::BitDepth::Sixteen => BitDepth::Sixteen,
            _ => BitDepth::Eight,
        },
    };
    let (width, height) = reader.info().size();
    Ok(Some(Opened {
        info: PictureInfo::new(width, height, format)?,
        rows: Box::new(PngRows(reader)),
    }))
}

/// The colour profile.
pub(super) fn icc_profile(input: Input<'_>) -> Result<Option<Vec<u8>>, ReadImageError> {
    let reader = start(input)?;
    let profile = reader.info().icc_profile.as_ref();
    Ok(profile
        .map(|profile| profile.to_vec())
        .filter(|profile| !profile.is_empty()))
}

impl ByteRows for PngRows<'_> {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ReadImageError> {
        match self.0.read_row(row).map_err(png_error)? {
            Some(_) => Ok(()),
            None => Err(ReadImageError::Truncated("PNG")),
        }
    }
}

//! Fax compressions.

use crate::image_io::error::ReadImageError;
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::chunks::Chunk;
use crate::picture::Samples;
use fax::{Color, decoder};

/// Pixels of a part, black is one.
pub(super) fn decode(
    bytes: &[u8],
    group4: bool,
    chunk: &Chunk<'_>,
) -> Result<Samples, ReadImageError> {
    let too_wide = |_| ReadImageError::variant(TIFF, "fax pictures of this width");
    let width = u16::try_from(chunk.width).map_err(too_wide)?;
    let len = chunk.width * chunk.rows;
    let mut pixels = Vec::new();
    let add_row = |row: &[u16]| {
        if pixels.len() < len {
            let row = decoder::pels(row, width);
            pixels.extend(row.map(|colour| u8::from(colour == Color::Black)));
        }
    };
    let bytes = bytes.iter().copied();
    // Where decoding ends matters more than whether it ends well: rows are counted.
    let _ended = match group4 {
        true => decoder::decode_g4(bytes, width, u16::try_from(chunk.rows).ok(), add_row),
        false => decoder::decode_g3(bytes, add_row),
    };
    match pixels.len() == len {
        true => Ok(Samples::U8(pixels)),
        false => Err(ReadImageError::Truncated(TIFF)),
    }
}

//! Binary graymaps (P5) and pixmaps (P6) row by row.

use crate::image_io::error::ReadImageError;
use crate::image_io::input::{Input, InputReader};
use crate::image_io::row_file::{ByteRows, Opened};
use crate::picture::{Colour, PixelFormat};
use crate::rows::PictureInfo;
use std::io::{BufRead, ErrorKind, Read};
use tessera_patch::colour::BitDepth;

const BAD_HEADER: ReadImageError =
    ReadImageError::Damaged("PNM", "its header holds something else than numbers");

/// Rows of one file, from behind its header.
struct PnmRows<'a>(Box<dyn InputReader + 'a>);

/// Only the two binary formats whose samples fill their bytes are read here; the others are small
/// or rare, and left to be read as a whole.
pub(super) fn open(input: Input<'_>) -> Result<Option<Opened<'_>>, ReadImageError> {
    let mut reader = input.reader()?;
    let mut magic = [0; 2];
    reader.read_exact(&mut magic)?;
    let colour = match &magic {
        b"P5" => Colour::Gray,
        b"P6" => Colour::Rgb,
        _ => return Ok(None),
    };
    let width = read_number(&mut reader)?;
    let height = read_number(&mut reader)?;
    let depth = match read_number(&mut reader)? {
        0xFF => BitDepth::Eight,
        0xFFFF => BitDepth::Sixteen,
        _ => return Ok(None),
    };
    let format = PixelFormat {
        colour,
        alpha: false,
        depth,
    };
    Ok(Some(Opened {
        info: PictureInfo::new(width, height, format)?,
        rows: Box::new(PnmRows(reader)),
    }))
}

/// A decimal number behind white space and comments, and the one white space after it.
fn read_number(reader: &mut impl BufRead) -> Result<u32, ReadImageError> {
    let mut number = None;
    loop {
        let mut byte = [0];
        reader.read_exact(&mut byte).map_err(cut_off)?;
        match (byte[0], number) {
            (digit @ b'0'..=b'9', _) => {
                let digit = u32::from(digit - b'0');
                let longer = number.unwrap_or(0u32).checked_mul(10);
                let longer = longer.and_then(|number| number.checked_add(digit));
                number = Some(longer.ok_or(BAD_HEADER)?);
            }
            (space, Some(number)) if space.is_ascii_whitespace() => return Ok(number),
            (space, None) if space.is_ascii_whitespace() => {}
            (b'#', None) => drop(reader.skip_until(b'\n')?),
            _ => return Err(BAD_HEADER),
        }
    }
}

impl ByteRows for PnmRows<'_> {
    fn next_row(&mut self, row: &mut [u8]) -> Result<(), ReadImageError> {
        self.0.read_exact(row).map_err(cut_off)
    }
}

/// Says that the file is too short where that is what went wrong.
fn cut_off(error: std::io::Error) -> ReadImageError {
    match error.kind() {
        ErrorKind::UnexpectedEof => ReadImageError::Truncated("PNM"),
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Option<u32> {
        read_number(&mut text.as_bytes()).ok()
    }

    #[test]
    fn numbers_end_at_white_space_and_skip_comments() {
        assert_eq!(number("12 34"), Some(12));
        assert_eq!(number(" \n# 5\n\t0017\n"), Some(17));
        for bad in ["", "12", "x", "12x ", "99999999999 ", "-1 "] {
            assert_eq!(number(bad), None, "{bad:?}");
        }
    }

    #[test]
    fn formats_that_need_scaling_or_text_are_left_to_others() {
        let opens = |file: &[u8]| open(Input::Bytes(file)).map(|opened| opened.is_some());
        assert!(opens(b"P6 1 1 255\nabc").unwrap());
        assert!(!opens(b"P5 1 1 100\na").unwrap());
        assert!(!opens(b"P2 1 1 255\n7").unwrap());
        assert!(opens(b"P5 0 1 255\n").is_err());
    }
}

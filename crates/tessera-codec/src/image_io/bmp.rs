//! What the BMP decoder would gloss over: pixels that start inside the palette.

use crate::image_io::error::ReadImageError;

/// Length of the file header, before the information header.
const FILE_HEADER: usize = 14;

/// Refuses a file whose header puts the pixels where its palette is: some of both would be wrong.
/// What cannot be followed is left to the decoder, which will say why.
pub(super) fn check(file: &[u8]) -> Result<(), ReadImageError> {
    match palette_end(file) {
        Some((start, end)) if start < end => Err(ReadImageError::Damaged(
            "BMP",
            "its header says that the pixels start inside the palette",
        )),
        _ => Ok(()),
    }
}

/// Where the pixels start and where the palette ends.
fn palette_end(file: &[u8]) -> Option<(usize, usize)> {
    let number = |at: usize| Some(u32::from_le_bytes(*file.get(at..)?.first_chunk()?) as usize);
    let header = number(FILE_HEADER)?;
    let bits = *file.get(FILE_HEADER + 14)?;
    // The older header has no colour count, and smaller pixels and masks follow other rules.
    if header < 40 || !matches!(bits, 1 | 2 | 4 | 8) {
        return None;
    }
    let colours = match number(FILE_HEADER + 32)? {
        0 => 1 << bits,
        colours => colours,
    };
    (colours <= 1 << bits).then_some((number(10)?, FILE_HEADER + header + 4 * colours))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(start: u8, colours: u8) -> Vec<u8> {
        let mut file = vec![0; 54];
        (file[10], file[14], file[28], file[46]) = (start, 40, 8, colours);
        file
    }

    #[test]
    fn pixels_start_behind_the_palette() {
        assert!(check(&header(62, 2)).is_ok());
        let error = check(&header(54, 2)).unwrap_err().to_string();
        assert!(error.contains("inside the palette"), "{error}");
        assert!(check(b"BM").is_ok(), "left to the decoder");
    }
}

//! The pages of a TIFF. Thumbnails and masks do not count.

use crate::image_io::error::ReadImageError;
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::directory::{Directory, Layout, tag};

/// Pages that are counted at most; a file of more is followed only that far.
const MAX_PAGES: usize = 4096;

/// Bits of the new subfile type: a smaller version or a mask of another page.
const NO_PAGE: u64 = 0b101;
/// The old subfile type of a smaller version.
const REDUCED: u64 = 2;

/// The directory of the wanted page (or the first one) and the number of pages.
pub(super) fn choose(
    file: &[u8],
    number: Option<u32>,
) -> Result<(Directory<'_>, u32), ReadImageError> {
    let damaged = ReadImageError::Damaged(TIFF, "its list of pages cannot be followed");
    let layout = Layout::of(file).ok_or(damaged)?;
    let directories = directories(file, layout);
    let first = *directories.first().ok_or(ReadImageError::Truncated(TIFF))?;
    let mut pages: Vec<_> = directories.into_iter().filter(is_page).collect();
    if pages.is_empty() {
        pages.push(first);
    }
    let present = pages.len() as u32;
    let wanted = number.unwrap_or(1);
    let chosen = pages.get((wanted as usize).wrapping_sub(1));
    match chosen {
        Some(page) => Ok((*page, present)),
        None => Err(ReadImageError::NoSuchPage { wanted, present }),
    }
}

/// All directories in order; links may lead in circles.
fn directories(file: &[u8], layout: Layout) -> Vec<Directory<'_>> {
    let mut seen = Vec::new();
    let mut found = Vec::new();
    let mut next = layout.number(file, layout.first_at, layout.offset_len);
    while let Some(offset) = next.filter(|offset| *offset != 0 && !seen.contains(offset)) {
        let Some(directory) = Directory::at(file, layout, offset) else {
            break;
        };
        seen.push(offset);
        found.push(directory);
        next = directory.next().filter(|_| found.len() < MAX_PAGES);
    }
    found
}

fn is_page(directory: &Directory<'_>) -> bool {
    let new_type = directory.number(tag::NEW_SUBFILE_TYPE).unwrap_or(0);
    new_type & NO_PAGE == 0 && directory.number(tag::SUBFILE_TYPE) != Some(REDUCED)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A classic little-endian file of two directories with one entry each; `tag` and `value` are
    /// those of the second, which links to `last`.
    fn two_directories(tag: u8, value: u8, last: u8) -> Vec<u8> {
        let mut file = b"II\x2A\0\x08\0\0\0".to_vec();
        for (tag, value, next) in [(0, 0, 26), (tag, value, last)] {
            file.extend([
                1, 0, tag, 0, 4, 0, 1, 0, 0, 0, value, 0, 0, 0, next, 0, 0, 0,
            ]);
        }
        file
    }

    fn count(file: &[u8]) -> u32 {
        choose(file, None).unwrap().1
    }

    #[test]
    fn pages_count_and_thumbnails_do_not() {
        assert_eq!(count(&two_directories(0, 0, 0)), 2);
        assert_eq!(count(&two_directories(254, 2, 0)), 2);
        assert_eq!(count(&two_directories(254, 1, 0)), 1);
        assert_eq!(count(&two_directories(254, 4, 0)), 1);
        assert_eq!(count(&two_directories(255, 2, 0)), 1);
    }

    #[test]
    fn both_orders_and_sizes_are_read() {
        let big = b"MM\0\x2A\0\0\0\x08\0\0\0\0\0\x0E\0\0\0\0\0\0";
        assert_eq!(count(big), 2);
        let mut large = b"II\x2B\0\x08\0\0\0\x10\0\0\0\0\0\0\0".to_vec();
        large.extend([0; 8]);
        large.extend([32, 0, 0, 0, 0, 0, 0, 0]);
        large.extend([0; 16]);
        assert_eq!(count(&large), 2);
    }

    #[test]
    fn circles_and_wrong_numbers_end() {
        assert_eq!(count(&two_directories(0, 0, 8)), 2);
        assert_eq!(count(&two_directories(0, 0, 26)), 2);
        assert!(choose(b"II\x2A\0\xFF\0\0\0", None).is_err());
        let error = choose(&two_directories(0, 0, 0), Some(3)).err().unwrap();
        assert!(matches!(
            error,
            ReadImageError::NoSuchPage {
                wanted: 3,
                present: 2
            }
        ));
    }
}

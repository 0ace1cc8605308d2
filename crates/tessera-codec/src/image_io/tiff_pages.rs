//! Whether a TIFF holds more than the one page its decoder would return.

/// Directories that are followed at most; links may lead in circles.
const MAX_DIRECTORIES: usize = 64;

const NEW_SUBFILE_TYPE: u64 = 254;
const SUBFILE_TYPE: u64 = 255;

/// Bits of the new subfile type: a smaller version or a mask of another page.
const NO_PAGE: u64 = 0b101;
/// The old subfile type of a smaller version.
const REDUCED: u64 = 2;

/// True when a page follows the first one. Thumbnails and masks do not count, and a file that
/// cannot be followed is left to the decoder, which will say why.
pub(super) fn more_than_one(file: &[u8]) -> bool {
    let Some(layout) = Layout::of(file) else {
        return false;
    };
    let first = layout.number(file, layout.first_at, layout.offset_len);
    let next = |&offset: &u64| Directory::at(file, &layout, offset)?.next();
    std::iter::successors(first, next)
        .take_while(|&offset| offset != 0)
        .take(MAX_DIRECTORIES)
        .skip(1)
        .any(|offset| Directory::at(file, &layout, offset).is_some_and(|d| d.is_page()))
}

/// A list of tags.
struct Directory<'a> {
    file: &'a [u8],
    layout: &'a Layout,
    /// Where the first entry is.
    start: u64,
    entries: u64,
}

impl<'a> Directory<'a> {
    fn at(file: &'a [u8], layout: &'a Layout, offset: u64) -> Option<Self> {
        let entries = layout.number(file, offset, layout.count_len)?;
        let start = offset.checked_add(layout.count_len)?;
        let end = start.checked_add(entries.checked_mul(layout.entry_len)?)?;
        (end <= file.len() as u64).then_some(Self {
            file,
            layout,
            start,
            entries,
        })
    }

    fn next(&self) -> Option<u64> {
        let end = self.start + self.entries * self.layout.entry_len;
        self.layout.number(self.file, end, self.layout.offset_len)
    }

    fn is_page(&self) -> bool {
        (0..self.entries).all(|index| {
            let entry = self.start + index * self.layout.entry_len;
            let tag = self.layout.number(self.file, entry, 2);
            // Both types fit in the two bytes that come first in either byte order.
            let value_at = entry + 4 + self.layout.offset_len;
            let value = |len| self.layout.number(self.file, value_at, len).unwrap_or(0);
            match tag {
                Some(NEW_SUBFILE_TYPE) => value(4) & NO_PAGE == 0,
                Some(SUBFILE_TYPE) => value(2) != REDUCED,
                _ => true,
            }
        })
    }
}

/// Byte order, and the sizes in which classic TIFF and BigTIFF differ.
struct Layout {
    big_endian: bool,
    first_at: u64,
    count_len: u64,
    entry_len: u64,
    offset_len: u64,
}

impl Layout {
    fn of(file: &[u8]) -> Option<Self> {
        let (big_endian, version) = match file.first_chunk::<4>()? {
            [b'I', b'I', version, 0] => (false, *version),
            [b'M', b'M', 0, version] => (true, *version),
            _ => return None,
        };
        let (first_at, count_len, entry_len, offset_len) = match version {
            42 => (4, 2, 12, 4),
            43 => (8, 8, 20, 8),
            _ => return None,
        };
        Some(Self {
            big_endian,
            first_at,
            count_len,
            entry_len,
            offset_len,
        })
    }

    /// The number of `len` bytes at `offset`.
    fn number(&self, file: &[u8], offset: u64, len: u64) -> Option<u64> {
        let start = usize::try_from(offset).ok()?;
        let bytes = file.get(start..)?.get(..len as usize)?;
        let push = |number: u64, byte: &u8| number << 8 | u64::from(*byte);
        Some(if self.big_endian {
            bytes.iter().fold(0, push)
        } else {
            bytes.iter().rev().fold(0, push)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A classic little-endian file of two directories with one entry each; `tag` and `value` are
    /// those of the second.
    fn two_directories(tag: u8, value: u8) -> Vec<u8> {
        let mut file = b"II\x2A\0\x08\0\0\0".to_vec();
        for (tag, value, next) in [(0, 0, 26), (tag, value, 0)] {
            file.extend([
                1, 0, tag, 0, 4, 0, 1, 0, 0, 0, value, 0, 0, 0, next, 0, 0, 0,
            ]);
        }
        file
    }

    #[test]
    fn pages_count_and_thumbnails_do_not() {
        assert!(more_than_one(&two_directories(0, 0)));
        assert!(more_than_one(&two_directories(254, 2)));
        assert!(!more_than_one(&two_directories(254, 1)));
        assert!(!more_than_one(&two_directories(254, 4)));
        assert!(!more_than_one(&two_directories(255, 2)));
    }

    #[test]
    fn both_orders_and_sizes_are_read() {
        let big = b"MM\0\x2A\0\0\0\x08\0\0\0\0\0\x0E\0\0\0\0\0\0";
        assert!(more_than_one(big));
        let mut large = b"II\x2B\0\x08\0\0\0\x10\0\0\0\0\0\0\0".to_vec();
        large.extend([0; 8]);
        large.extend(32u64.to_le_bytes());
        large.extend([0; 16]);
        assert!(more_than_one(&large));
    }

    #[test]
    fn circles_end() {
        let mut file = two_directories(254, 1);
        let last = file.len() - 4;
        file[last] = 26;
        assert!(!more_than_one(&file));
    }

    #[test]
    fn cut_off_files_are_left_to_the_decoder() {
        let file = two_directories(0, 0);
        assert!((0..file.len() - 4).all(|len| !more_than_one(&file[..len])));
    }
}

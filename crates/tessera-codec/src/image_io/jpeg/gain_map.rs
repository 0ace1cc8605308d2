//! The gain map behind a JPEG: a second JPEG that a table of pictures (CIPA DC-007, "multi-picture format") leads to.

use crate::image_io::jpeg::markers::{SOI, SOS};
use crate::metadata::GainMap;

const APP2: u8 = 0xE2;
const TABLE: &[u8] = b"MPF\0";
/// The list of pictures, entries of 16 bytes each.
const PICTURES: u16 = 0xB002;
const PICTURE_LEN: usize = 16;
const ENTRY_LEN: usize = 12;

/// What a picture says that is a gain map: Adobe's names in XMP, those of ISO 21496-1, and Apple's.
const MARKS: [&[u8]; 3] = [
    b"http://ns.adobe.com/hdr-gain-map/",
    b"urn:iso:std:iso:ts:21496:-1",
    b"urn:com:apple:photo:2020:aux:hdrgainmap",
];

/// The gain map of a file, if it has one.
pub(super) fn find(file: &[u8]) -> Option<GainMap> {
    let (start, table) = table(file)?;
    let pictures = Table::new(table)?.pictures()?;
    let picture = |&(offset, size): &(usize, usize)| {
        let start = start.checked_add(offset)?;
        let picture = file.get(start..start.checked_add(size)?)?;
        (picture.starts_with(&[0xFF, SOI]) && is_gain_map(picture)).then_some(picture)
    };
    // The first is the file itself, at no offset.
    let found = pictures
        .iter()
        .filter(|place| place.0 > 0)
        .find_map(picture)?;
    GainMap::new(1, found).ok()
}

fn is_gain_map(picture: &[u8]) -> bool {
    let says = |segment: &[u8]| {
        (MARKS.iter()).any(|mark| segment.windows(mark.len()).any(|window| window == *mark))
    };
    segments(picture).any(|(_, _, content)| says(content))
}

/// Marker, place and content of the segments before the pixels.
fn segments(file: &[u8]) -> impl Iterator<Item = (u8, usize, &[u8])> {
    let mut at = 2;
    std::iter::from_fn(move || {
        let &[0xFF, marker, high, low] = file.get(at..)?.first_chunk()? else {
            return None;
        };
        let len = usize::from(u16::from_be_bytes([high, low]));
        let content = file.get(at + 4..at + 2 + len)?;
        let start = at + 4;
        at += 2 + len;
        (marker != SOS).then_some((marker, start, content))
    })
}

/// The table and where it begins, which its offsets count from.
fn table(file: &[u8]) -> Option<(usize, &[u8])> {
    segments(file).find_map(|(marker, at, content)| {
        let table = content.strip_prefix(TABLE).filter(|_| marker == APP2)?;
        Some((at + TABLE.len(), table))
    })
}

/// A directory as in TIFF, in either byte order.
struct Table<'a> {
    bytes: &'a [u8],
    big: bool,
}

impl<'a> Table<'a> {
    fn new(bytes: &'a [u8]) -> Option<Self> {
        let big = match bytes.first_chunk()? {
            b"MM\0*" => true,
            b"II*\0" => false,
            _ => return None,
        };
        Some(Self { bytes, big })
    }

    fn short(&self, at: usize) -> Option<u16> {
        let pair = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u16::from_be_bytes(pair)
        } else {
            u16::from_le_bytes(pair)
        })
    }

    fn word(&self, at: usize) -> Option<usize> {
        let word = *self.bytes.get(at..)?.first_chunk()?;
        Some(if self.big {
            u32::from_be_bytes(word)
        } else {
            u32::from_le_bytes(word)
        } as usize)
    }

    /// Offset and size of every picture.
    fn pictures(&self) -> Option<Vec<(usize, usize)>> {
        let start = self.word(4)?;
        let first = start.checked_add(2)?;
        let entries = (0..usize::from(self.short(start)?)).map(|entry| first + entry * ENTRY_LEN);
        let list = entries
            .into_iter()
            .find(|&at| self.short(at) == Some(PICTURES))?;
        let (len, at) = (self.word(list + 4)?, self.word(list + 8)?);
        let places = (0..len / PICTURE_LEN).map(|picture| {
            let entry = at.checked_add(picture * PICTURE_LEN)?;
            Some((self.word(entry + 8)?, self.word(entry + 4)?))
        });
        places.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(marker: u8, content: &[u8]) -> Vec<u8> {
        let len = (content.len() as u16 + 2).to_be_bytes();
        [&[0xFF, marker], &len[..], content].concat()
    }

    /// A JPEG without pixels, with another one behind it that a table leads to.
    fn file(second: &[u8], big: bool) -> Vec<u8> {
        let short = |v: u16| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let word = |v: u32| {
            if big {
                v.to_be_bytes()
            } else {
                v.to_le_bytes()
            }
        };
        let table_at = 2 + 4 + TABLE.len();
        let end = table_at + 8 + 2 + ENTRY_LEN + 4 + 2 * PICTURE_LEN + 4;
        let mut table = if big { b"MM\0*" } else { b"II*\0" }.to_vec();
        table.extend(word(8));
        table.extend(short(1));
        table.extend(short(PICTURES));
        table.extend(short(7));
        table.extend(word(2 * PICTURE_LEN as u32));
        table.extend(word(8 + 2 + ENTRY_LEN as u32 + 4));
        table.extend(word(0));
        for (size, offset) in [(end, 0), (second.len(), end - table_at)] {
            table.extend(word(0));
            table.extend(word(size as u32));
            table.extend(word(offset as u32));
            table.extend(word(0));
        }
        let mut file = vec![0xFF, SOI];
        file.extend(segment(APP2, &[TABLE, &table].concat()));
        file.extend([0xFF, SOS, 0, 2]);
        assert_eq!(file.len(), end);
        [&file, second].concat()
    }

    #[test]
    fn the_second_picture_is_found_if_it_is_a_gain_map() {
        for big in [false, true] {
            for mark in MARKS {
                let mut map = vec![0xFF, SOI];
                map.extend(segment(0xE1, mark));
                let found = find(&file(&map, big)).unwrap();
                assert_eq!((found.orientation(), found.picture()), (1, &map[..]));
            }
            let mut other = vec![0xFF, SOI];
            other.extend(segment(0xE1, b"a preview of the camera"));
            assert_eq!(find(&file(&other, big)), None);
        }
    }

    #[test]
    fn damage_is_passed_over() {
        let mut map = vec![0xFF, SOI];
        map.extend(segment(0xE1, MARKS[0]));
        let whole = file(&map, true);
        for len in 0..whole.len() {
            assert_eq!(find(&whole[..len]), None);
        }
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0xFF;
            let _either_way = find(&damaged);
        }
    }
}

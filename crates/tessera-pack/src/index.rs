//! The index at the end of a pack and the trailer behind it (`spec/pack.md`, "Index").

use crate::entry::Template;
use crate::error::Error;
use crate::shared::LONGEST_SHARED;
use crate::{MAGIC, names};
use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::ops::Range;
use tessera_codec::internals::container::bytes::{ByteReader, put_varint};

/// The last bytes of every pack.
pub(crate) const TRAILER_MAGIC: [u8; 4] = *b"TSPI";
/// Place and length of the index, its check, the magic.
pub(crate) const TRAILER_LEN: usize = 8 + 4 + 4 + 4;
/// An index is not larger when unpacked: some millions of pictures.
const MOST: u64 = 1 << 28;
/// Headers that others are told beside.
pub(crate) const MOST_TEMPLATES: usize = 255;

const PART: &str = "the index of the pack";
const RAW: u8 = 0;
const DEFLATED: u8 = 1;

/// What is where in a pack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Where the dictionary lies; empty if there is none.
    pub(crate) dictionary: Range<u64>,
    pub(crate) templates: Vec<Template>,
    /// Names in order.
    pub(crate) names: Vec<String>,
    /// Where their entries lie.
    pub(crate) places: Vec<Range<u64>>,
    /// The number of the picture that each is predicted from, if it is.
    pub(crate) keys: Vec<Option<usize>>,
}

impl Index {
    /// The index as it is stored, packed if that is shorter.
    pub(crate) fn write(&self) -> Vec<u8> {
        let plain = self.plain();
        let mut deflate = DeflateEncoder::new(Vec::new(), Compression::best());
        let packed = deflate.write_all(&plain).and_then(|()| deflate.finish());
        let packed = packed.expect("writing to memory does not fail");
        let mut out = Vec::new();
        if packed.len() + 5 < plain.len() {
            out.push(DEFLATED);
            put_varint(&mut out, plain.len() as u64);
            out.extend(packed);
        } else {
            out.push(RAW);
            out.extend(plain);
        }
        out
    }

    fn plain(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let length = |range: &Range<u64>| range.end - range.start;
        put_varint(&mut out, self.dictionary.start);
        put_varint(&mut out, length(&self.dictionary));
        put_varint(&mut out, self.templates.len() as u64);
        for template in &self.templates {
            put_varint(&mut out, template.header.len() as u64);
            out.extend(&template.header);
            put_varint(&mut out, length(&template.shared));
            if !template.shared.is_empty() {
                put_varint(&mut out, template.shared.start);
            }
        }
        put_varint(&mut out, self.names.len() as u64);
        names::write(self.names.iter().map(String::as_str), &mut out);
        for place in &self.places {
            put_varint(&mut out, length(place));
        }
        let mut expected = MAGIC.len() as u64;
        for place in &self.places {
            put_varint(&mut out, zigzag(place.start.wrapping_sub(expected) as i64));
            expected = place.end;
        }
        for key in &self.keys {
            put_varint(&mut out, key.map_or(0, |key| key as u64 + 1));
        }
        out
    }

    /// Reads a stored index of a pack whose pictures end at `end`.
    pub(crate) fn read(stored: &[u8], end: u64) -> Result<Self, Error> {
        match stored.split_first() {
            Some((&RAW, plain)) => Self::read_plain(plain, end),
            Some((&DEFLATED, packed)) => {
                let mut reader = ByteReader::new(packed, 1, PART);
                let length = reader.varint()?;
                if length > MOST {
                    return Err(Error::Damaged("the index is too large"));
                }
                let mut plain = Vec::new();
                let unpacked = DeflateDecoder::new(&packed[reader.position()..])
                    .take(length)
                    .read_to_end(&mut plain);
                match unpacked {
                    Ok(found) if found as u64 == length => Self::read_plain(&plain, end),
                    _ => Err(Error::Damaged("the index cannot be unpacked")),
                }
            }
            _ => Err(Error::Damaged("the index is of an unknown kind")),
        }
    }

    fn read_plain(data: &[u8], end: u64) -> Result<Self, Error> {
        let reader = &mut ByteReader::new(data, 0, PART);
        let dictionary = place(reader.varint()?, reader.varint()?, end)?;
        let count = count_of(reader)?;
        if count > MOST_TEMPLATES {
            return Err(Error::Damaged("there are too many headers"));
        }
        let mut templates = Vec::with_capacity(count);
        for _ in 0..count {
            templates.push(read_template(reader, end)?);
        }
        let count = count_of(reader)?;
        let names = names::read(reader, count)?;
        let lengths = (0..count)
            .map(|_| reader.varint())
            .collect::<Result<Vec<u64>, _>>()?;
        let mut places = Vec::with_capacity(count);
        let mut expected = MAGIC.len() as u64;
        for length in lengths {
            let start = expected.wrapping_add(unzigzag(reader.varint()?) as u64);
            let range = place(start, length, end)?;
            expected = range.end;
            places.push(range);
        }
        let keys = (0..count)
            .map(|_| Ok(reader.length()?.checked_sub(1)))
            .collect::<Result<Vec<Option<usize>>, Error>>()?;
        check_keys(&keys)?;
        match reader.remaining() == 0 {
            true => Ok(Self {
                dictionary,
                templates,
                names,
                places,
                keys,
            }),
            false => Err(Error::Damaged("there is something behind the index")),
        }
    }

    /// What is told of every picture, by name: where it lies, and the name of the one it is predicted from.
    pub(crate) fn entries<T>(
        &self,
        entry: impl Fn(Range<u64>, Option<String>) -> T,
    ) -> BTreeMap<String, T> {
        let key = |key: Option<usize>| key.map(|key| self.names[key].clone());
        let told = self.places.iter().zip(&self.keys);
        let told = told.map(|(place, &number)| entry(place.clone(), key(number)));
        self.names.iter().cloned().zip(told).collect()
    }

    /// The number of a name among all.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        let found = self.names.binary_search_by(|own| own.as_str().cmp(name));
        found.ok()
    }
}

/// A number of things that take a byte each at least.
fn count_of(reader: &mut ByteReader<'_>) -> Result<usize, Error> {
    let count = reader.length()?;
    match count <= reader.remaining() {
        true => Ok(count),
        false => Err(Error::Damaged("the index ends too early")),
    }
}

fn read_template(reader: &mut ByteReader<'_>, end: u64) -> Result<Template, Error> {
    let length = reader.length()?;
    let header = reader.take(length)?.to_vec();
    let shared = match reader.length()? {
        0 => 0..0,
        length if length > LONGEST_SHARED => {
            return Err(Error::Damaged("pictures share too much metadata"));
        }
        length => place(reader.varint()?, length as u64, end)?,
    };
    Ok(Template { header, shared })
}

/// A picture is predicted from one that stands by itself, so that no more than two are decoded for any.
fn check_keys(keys: &[Option<usize>]) -> Result<(), Error> {
    let by_itself = |key: &usize| keys.get(*key) == Some(&None);
    match keys.iter().flatten().all(by_itself) {
        true => Ok(()),
        false => Err(Error::Damaged(
            "a picture is predicted from one that does not stand by itself",
        )),
    }
}

/// Signed numbers: even ones are not negative.
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63) as u64
}

fn unzigzag(value: u64) -> i64 {
    (value >> 1) as i64 ^ -((value & 1) as i64)
}

/// A part of the file that must lie before its index.
fn place(start: u64, length: u64, end: u64) -> Result<Range<u64>, Error> {
    let range = start.checked_add(length).map(|end| start..end);
    let inside = range.filter(|range| range.end <= end);
    inside.ok_or(Error::Damaged("a picture lies outside the file"))
}

/// What stands at the end of a pack whose index begins at `start`.
pub(crate) fn trailer(start: u64, stored: &[u8]) -> Vec<u8> {
    let mut out = start.to_le_bytes().to_vec();
    out.extend((stored.len() as u32).to_le_bytes());
    out.extend(crc32fast::hash(stored).to_le_bytes());
    out.extend(TRAILER_MAGIC);
    out
}

/// Place, length and check of the index that a trailer speaks of.
pub(crate) fn read_trailer(trailer: &[u8; TRAILER_LEN]) -> Option<(u64, usize, u32)> {
    let (fields, magic) = trailer.split_at(TRAILER_LEN - 4);
    let (start, rest) = fields.split_first_chunk::<8>()?;
    let (length, check) = rest.split_first_chunk::<4>()?;
    let check = check.try_into().ok()?;
    (magic == TRAILER_MAGIC).then_some((
        u64::from_le_bytes(*start),
        u32::from_le_bytes(*length) as usize,
        u32::from_le_bytes(check),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(count: u64) -> Index {
        Index {
            dictionary: 3..1003,
            templates: vec![
                Template {
                    header: vec![1, 2, 3],
                    shared: 1010..1020,
                },
                Template::default(),
            ],
            names: (0..count).map(|i| format!("folder/{i:05}")).collect(),
            places: (0..count)
                .map(|i| 1003 + 100 * i..1103 + 100 * i - i % 3)
                .collect(),
            keys: (0..count as usize)
                .map(|i| (i % 10 > 0).then_some(i / 10 * 10))
                .collect(),
        }
    }

    #[test]
    fn an_index_comes_back_and_takes_little() {
        for count in [0, 1, 2, 1000] {
            let own = index(count);
            let stored = own.write();
            assert_eq!(Index::read(&stored, 1 << 20).unwrap(), own);
            assert!(stored.len() as u64 <= 40 + 8 * count, "{}", stored.len());
        }
    }

    #[test]
    fn signed_numbers_come_back() {
        for value in [0, 1, -1, 2, 77, -3000, i64::MAX, i64::MIN] {
            assert_eq!(unzigzag(zigzag(value)), value);
        }
        assert_eq!((zigzag(-1), zigzag(1), zigzag(-2)), (1, 2, 3));
    }

    #[test]
    fn damage_is_refused() {
        let own = index(5);
        let plain = own.plain();
        for cut in 0..plain.len() {
            assert!(Index::read_plain(&plain[..cut], 1 << 20).is_err(), "{cut}");
        }
        assert!(Index::read_plain(&plain, 1400).is_err(), "behind the end");
        let mut greedy = index(0);
        greedy.templates[0].shared = 3..4 + LONGEST_SHARED as u64;
        assert!(Index::read_plain(&greedy.plain(), 1 << 30).is_err());
        assert!(Index::read(&[2, 0], 1 << 20).is_err() && Index::read(&[], 9).is_err());
        let bomb = [&[DEFLATED][..], &[0xFF, 0xFF, 0xFF, 0xFF, 0x7F], &[0; 9]].concat();
        assert!(Index::read(&bomb, 1 << 20).is_err());
    }

    #[test]
    fn keys_that_are_predicted_themselves_are_refused() {
        for keys in [
            vec![Some(0), None],
            vec![Some(1), Some(0)],
            vec![Some(2), None],
        ] {
            let own = Index { keys, ..index(2) };
            let read = Index::read(&own.write(), 1 << 20);
            assert!(matches!(read, Err(Error::Damaged(_))), "{:?}", own.keys);
        }
    }
}

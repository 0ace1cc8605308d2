//! Metadata that several pictures have alike, a colour profile above all: it lies in the pack once.

use std::collections::BTreeMap;
use std::ops::Range;
use tessera_codec::internals::container::bytes::ByteReader;

/// Longest part that pictures share; readers fetch it with each of them.
pub(crate) const LONGEST_SHARED: usize = 1 << 20;
/// Bytes of the check behind a chunk.
const CHECK_LEN: usize = 4;

/// Where the beginnings of metadata lie that were written so far, by their hash: those of photos differ in what they tell of
/// the moment, but begin with the same profile.
#[derive(Debug, Default)]
pub(crate) struct Beginnings(BTreeMap<[u8; 32], Range<u64>>);

impl Beginnings {
    /// Where the longest beginning of a metadata section lies that was there before.
    pub(crate) fn longest(&self, section: &[u8]) -> Option<Range<u64>> {
        let known = |end: usize| self.0.get(blake3::hash(&section[..end]).as_bytes());
        let mut ends = chunk_ends(section).into_iter().rev();
        ends.find_map(known).cloned()
    }

    /// Takes down a section that was written at a place.
    pub(crate) fn add(&mut self, section: &[u8], place: u64) {
        for end in chunk_ends(section) {
            let hash = *blake3::hash(&section[..end]).as_bytes();
            self.0.entry(hash).or_insert(place..place + end as u64);
        }
    }
}

/// Where the chunks of a metadata section end (`spec/container.md`, "Metadata"), as far as they may be shared.
fn chunk_ends(section: &[u8]) -> Vec<usize> {
    let mut reader = ByteReader::new(section, 0, "the metadata");
    let mut chunk = || {
        reader.u8().ok()?;
        let length = reader.length().ok()?;
        reader.take(length).ok()?;
        reader.take(CHECK_LEN).ok()?;
        Some(reader.position()).filter(|&end| end <= LONGEST_SHARED)
    };
    std::iter::from_fn(&mut chunk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chunk(kind: u8, content: &[u8]) -> Vec<u8> {
        [&[kind, content.len() as u8], content, &[0; CHECK_LEN]].concat()
    }

    #[test]
    fn the_longest_common_beginning_is_found() {
        let (profile, first, second) = (chunk(0, b"profile"), chunk(1, b"one"), chunk(1, b"two"));
        let mut known = Beginnings::default();
        assert_eq!(known.longest(&profile), None);
        known.add(&[&profile[..], &first].concat(), 100);
        let end = 100 + profile.len() as u64;
        assert_eq!(known.longest(&profile), Some(100..end));
        let other = [&profile[..], &second].concat();
        assert_eq!(known.longest(&other), Some(100..end));
        let same = [&profile[..], &first].concat();
        assert_eq!(known.longest(&same), Some(100..end + first.len() as u64));
        assert_eq!(known.longest(&second), None);
    }
}

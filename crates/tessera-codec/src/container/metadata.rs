//! The metadata section: chunks of ICC, EXIF and XMP, packed when that is smaller.
//!
//! Layout in `spec/container.md`, "Metadata".

use crate::container::bytes::ByteReader;
use crate::container::check::{CRC_LEN, Integrity, crc32};
use crate::error::{FormatError, Result};
use crate::limits::{self, Limits};
use crate::metadata::{Metadata, MetadataKind};
use std::io::Read;

const PART: &str = "the metadata";

/// Bit of the kind byte: the content is deflated.
const DEFLATED: u8 = 0x80;

/// Reads a whole metadata section, which starts at byte `base` of the file. Chunks of unknown kind
/// are skipped.
pub(crate) fn read(
    section: &[u8],
    base: usize,
    limits: &Limits,
    integrity: Integrity,
) -> Result<Metadata> {
    let mut metadata = Metadata::default();
    let mut allowed = limits.metadata;
    let mut chunks = 0;
    let mut reader = ByteReader::new(section, base, PART);
    while reader.remaining() > 0 {
        chunks += 1;
        limits::check("metadata chunks", chunks, limits.chunks)?;
        let (kind, content) = read_chunk(&mut reader, allowed, integrity)?;
        allowed -= content.len() as u64;
        store(&mut metadata, kind, content)?;
    }
    Ok(metadata)
}

/// Reads one chunk and unpacks it to at most `allowed` bytes.
fn read_chunk(
    reader: &mut ByteReader<'_>,
    allowed: u64,
    integrity: Integrity,
) -> Result<(u8, Vec<u8>)> {
    let kind = reader.u8()?;
    let len = reader.length()?;
    let stored = reader.take(len)?;
    let crc = reader.array::<CRC_LEN>()?;
    integrity.demand(crc32(&[&[kind], stored]) == crc, PART)?;
    let content = if kind & DEFLATED == 0 {
        limits::check("bytes of metadata", len as u64, allowed)?;
        stored.to_vec()
    } else {
        inflate(stored, allowed)?
    };
    Ok((kind & !DEFLATED, content))
}

/// Unpacks without trusting any stated size: the output grows only as data comes.
fn inflate(packed: &[u8], allowed: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    flate2::read::DeflateDecoder::new(packed)
        .take(allowed.saturating_add(1))
        .read_to_end(&mut content)
        .map_err(|_| FormatError::invalid(PART, "a chunk cannot be unpacked"))?;
    limits::check("bytes of metadata", content.len() as u64, allowed)?;
    Ok(content)
}

fn store(metadata: &mut Metadata, kind: u8, content: Vec<u8>) -> Result<(), FormatError> {
    let Some(kind) = MetadataKind::ALL.into_iter().find(|k| *k as u8 == kind) else {
        return Ok(());
    };
    match metadata.slot(kind).replace(content) {
        None => Ok(()),
        Some(_) => Err(FormatError::invalid(PART, "a chunk appears twice")),
    }
}

/// Writes the section; empty when there is no metadata.
#[cfg(feature = "encoder")]
pub(crate) fn write(metadata: &Metadata) -> Vec<u8> {
    let mut section = Vec::new();
    for (kind, content) in metadata.iter() {
        let packed = deflate(content);
        if packed.len() < content.len() {
            write_chunk(&mut section, kind as u8 | DEFLATED, &packed);
        } else {
            write_chunk(&mut section, kind as u8, content);
        }
    }
    section
}

#[cfg(feature = "encoder")]
fn write_chunk(section: &mut Vec<u8>, kind: u8, stored: &[u8]) {
    section.push(kind);
    crate::container::bytes::put_varint(section, stored.len() as u64);
    section.extend_from_slice(stored);
    section.extend(crc32(&[&[kind], stored]));
}

#[cfg(feature = "encoder")]
fn deflate(content: &[u8]) -> Vec<u8> {
    let mut packed = Vec::new();
    let mut encoder = flate2::bufread::DeflateEncoder::new(content, flate2::Compression::best());
    encoder
        .read_to_end(&mut packed)
        .expect("deflating from memory to memory cannot fail");
    packed
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use crate::error::Error;

    fn example() -> Metadata {
        Metadata {
            icc: Some(b"profile ".repeat(100)),
            exif: Some(vec![1, 2, 3]),
            xmp: None,
        }
    }

    #[test]
    fn chunks_round_trip_and_are_packed() {
        let section = write(&example());
        assert!(section.len() < 100);
        let back = read(&section, 0, &Limits::default(), Integrity::Checked).unwrap();
        assert_eq!(back, example());
    }

    #[test]
    fn bombs_are_stopped_by_the_limit() {
        let bomb = Metadata {
            xmp: Some(vec![0; 1 << 20]),
            ..Metadata::default()
        };
        let limits = Limits {
            metadata: 1 << 16,
            ..Limits::default()
        };
        let error = read(&write(&bomb), 0, &limits, Integrity::Checked).unwrap_err();
        assert!(matches!(error, Error::Limits(_)));
    }

    #[test]
    fn unknown_kinds_are_skipped_and_doubles_refused() {
        let mut section = write(&example());
        write_chunk(&mut section, 99, b"future");
        let back = read(&section, 0, &Limits::default(), Integrity::Checked).unwrap();
        assert_eq!(back, example());
        write_chunk(&mut section, MetadataKind::Exif as u8, b"again");
        assert!(read(&section, 0, &Limits::default(), Integrity::Checked).is_err());
    }
}

//! The metadata section: chunks of ICC, EXIF and the like, packed when that is smaller.
//!
//! Layout in `spec/container.md`, "Metadata".

use crate::container::bytes::ByteReader;
use crate::container::check::{CRC_LEN, Integrity, crc32};
use crate::error::{FormatError, Result};
use crate::limits::{self, Limits};
use crate::metadata::{Metadata, MetadataKind};
use flate2::{Decompress, FlushDecompress, Status};
#[cfg(feature = "encoder")]
use std::io::Read;

const PART: &str = "the metadata";

/// Bit of the kind byte: the content is deflated.
const DEFLATED: u8 = 0x80;

/// Kinds from here on must be known to whoever reads the picture.
const FIRST_CRITICAL: u8 = 64;

/// Bytes that an unpacked chunk grows by at least.
const GROWTH: usize = 1 << 16;

/// Reads a whole metadata section, which starts at byte `base` of the file. Chunks of unknown kind
/// are skipped if their kind allows that.
pub(crate) fn read(
    section: &[u8],
    base: usize,
    limits: &Limits,
    integrity: Integrity,
) -> Result<Metadata> {
    let mut metadata = Metadata::default();
    let mut allowed = limits.metadata;
    let mut chunks = 0;
    let mut seen = 0u128;
    let mut reader = ByteReader::new(section, base, PART);
    while reader.remaining() > 0 {
        chunks += 1;
        limits::check("metadata chunks", chunks, limits.chunks)?;
        let chunk = Chunk::read(&mut reader, integrity)?;
        if seen & (1 << chunk.kind) != 0 {
            return Err(FormatError::invalid(PART, "a chunk appears twice").into());
        }
        seen |= 1 << chunk.kind;
        if let Some(kind) = chunk.known_kind()? {
            let content = chunk.content(allowed)?;
            allowed -= content.len() as u64;
            metadata.set(kind, Some(content))?;
        }
    }
    metadata.set_upright();
    Ok(metadata)
}

/// A chunk as it is stored.
struct Chunk<'a> {
    kind: u8,
    deflated: bool,
    stored: &'a [u8],
}

impl<'a> Chunk<'a> {
    fn read(reader: &mut ByteReader<'a>, integrity: Integrity) -> Result<Self, FormatError> {
        let kind = reader.u8()?;
        let len = reader.length()?;
        let stored = reader.take(len)?;
        let crc = reader.array::<CRC_LEN>()?;
        integrity.demand(crc32(&[&[kind], stored]) == crc, PART)?;
        Ok(Self {
            kind: kind & !DEFLATED,
            deflated: kind & DEFLATED != 0,
            stored,
        })
    }

    /// The kind, if we know it; what we do not know may have to be known.
    fn known_kind(&self) -> Result<Option<MetadataKind>, FormatError> {
        let mut kinds = MetadataKind::ALL.into_iter();
        match kinds.find(|&kind| kind as u8 == self.kind) {
            None if self.kind >= FIRST_CRITICAL => {
                let reason = "a chunk that a reader must know, of an unknown kind";
                Err(FormatError::invalid(PART, reason))
            }
            known => Ok(known),
        }
    }

    /// The content, of at most `allowed` bytes.
    fn content(&self, allowed: u64) -> Result<Vec<u8>> {
        if self.deflated {
            return inflate(self.stored, allowed);
        }
        limits::check("bytes of metadata", self.stored.len() as u64, allowed)?;
        Ok(self.stored.to_vec())
    }
}

/// Unpacks without trusting any stated size: the output grows only as data comes. The stream must end where the stored
/// bytes do.
fn inflate(packed: &[u8], allowed: u64) -> Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut stream = Decompress::new(false);
    loop {
        let (read, len) = (stream.total_in(), content.len());
        // One byte above what is allowed tells that there are more.
        let most = allowed.saturating_add(1).saturating_sub(len as u64);
        let room = (len.max(GROWTH) as u64).min(most) as usize;
        limits::try_reserve(&mut content, room)?;
        let status = stream
            .decompress_vec(
                &packed[read as usize..],
                &mut content,
                FlushDecompress::None,
            )
            .map_err(|_| FormatError::invalid(PART, "a chunk cannot be unpacked"))?;
        limits::check("bytes of metadata", content.len() as u64, allowed)?;
        let reason = match status {
            Status::StreamEnd if stream.total_in() == packed.len() as u64 => return Ok(content),
            Status::StreamEnd => "a chunk goes on behind its packed content",
            _ if (read, len) == (stream.total_in(), content.len()) => {
                "the packed content of a chunk does not end"
            }
            _ => continue,
        };
        return Err(FormatError::invalid(PART, reason).into());
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
    use crate::metadata::Cicp;

    fn read_checked(section: &[u8]) -> Result<Metadata> {
        read(section, 0, &Limits::default(), Integrity::Checked)
    }

    fn example() -> Metadata {
        Metadata {
            icc: Some(b"profile ".repeat(100)),
            exif: Some(vec![1, 2, 3]),
            cicp: Some(Cicp::new(9, 16, true)),
            ..Metadata::default()
        }
    }

    #[test]
    fn chunks_round_trip_and_are_packed() {
        let section = write(&example());
        assert!(section.len() < 100);
        assert_eq!(read_checked(&section).unwrap(), example());
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
        write_chunk(&mut section, 63, b"future");
        // What is skipped is not unpacked either.
        write_chunk(&mut section, 62 | DEFLATED, b"\xFFno stream");
        assert_eq!(read_checked(&section).unwrap(), example());
        for twice in [MetadataKind::Exif as u8, 63, 63 | DEFLATED, 62] {
            let mut section = section.clone();
            write_chunk(&mut section, twice, b"again");
            assert!(read_checked(&section).is_err(), "{twice}");
        }
    }

    /// Little-endian EXIF with nothing but an orientation.
    fn turned(value: u8) -> Vec<u8> {
        let mut exif = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        exif.extend([value, 0, 0, 0, 0, 0, 0, 0]);
        exif
    }

    #[test]
    fn pixels_win_over_an_orientation() {
        let mut section = Vec::new();
        write_chunk(&mut section, MetadataKind::Exif as u8, &turned(6));
        let xmp = b"<x tiff:Orientation='8'/>";
        write_chunk(&mut section, MetadataKind::Xmp as u8, xmp);
        let read = read_checked(&section).unwrap();
        assert_eq!(read.exif, Some(turned(1)));
        assert_eq!(read.xmp.as_deref(), Some(&b"<x tiff:Orientation='1'/>"[..]));
    }

    #[test]
    fn kinds_that_must_be_known_are_refused() {
        for kind in [FIRST_CRITICAL, 127, FIRST_CRITICAL | DEFLATED] {
            let mut section = Vec::new();
            write_chunk(&mut section, kind, b"future");
            assert!(read_checked(&section).is_err(), "{kind}");
        }
    }

    #[test]
    fn packed_content_ends_where_its_chunk_does() {
        let content = b"some words, some words, some words".repeat(5000);
        let packed = deflate(&content);
        let section = |packed: &[u8]| {
            let mut section = Vec::new();
            write_chunk(&mut section, MetadataKind::Xmp as u8 | DEFLATED, packed);
            section
        };
        let whole = read_checked(&section(&packed)).unwrap();
        assert_eq!(whole.xmp, Some(content));
        for cut in 0..packed.len() {
            assert!(read_checked(&section(&packed[..cut])).is_err(), "{cut}");
        }
        let longer = [&packed[..], b"\0"].concat();
        assert!(read_checked(&section(&longer)).is_err());
    }
}

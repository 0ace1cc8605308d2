//! `container.md`, "Metadata".

use super::header::Header;
use crate::bytes::{Reader, crc32};
use crate::error::{Result, ensure, refuse};
use crate::inflate::inflate;

/// Metadata may unpack to so many bytes.
const LIMIT: usize = 64 << 20;
const CODE_POINTS: u8 = 3;
const GAIN_MAP: u8 = 4;
const LAST_KNOWN: u8 = GAIN_MAP;
/// A reader refuses kinds from here on that it does not know.
const FIRST_NEEDED: u8 = 64;

/// A chunk of metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// 0 ICC profile, 1 EXIF, 2 XMP, 3 code points, 4 gain map.
    pub kind: u8,
    /// Its content, unpacked; an orientation in it is as the file has it.
    pub content: Vec<u8>,
}

/// The metadata of a `.tsr` file, chunks of unknown kinds left out.
///
/// # Errors
/// If the header or the metadata is not valid.
pub fn metadata(file: &[u8]) -> Result<Vec<Chunk>> {
    let header = Header::read(file)?;
    let mut reader = Reader::new(file);
    reader.take(header.bytes.len())?;
    reader.take(header.preview)?;
    let mut reader = Reader::new(reader.take(header.metadata)?);
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut kinds: Vec<u8> = Vec::new();
    let mut room = LIMIT;
    while !reader.is_done() {
        let stored_kind = reader.u8()?;
        let length = reader.length()?;
        let stored = reader.take(length)?;
        let check = reader.u32()?;
        ensure(
            check == crc32(&[&[stored_kind], stored]),
            "the metadata is damaged",
        )?;
        let kind = stored_kind & 127;
        ensure(kind < FIRST_NEEDED, "metadata of a kind that must be known")?;
        ensure(!kinds.contains(&kind), "metadata of one kind appears twice")?;
        kinds.push(kind);
        if kind <= LAST_KNOWN {
            let content = unpack(stored_kind, stored, room)?;
            room -= content.len();
            check_content(kind, &content)?;
            chunks.push(Chunk { kind, content });
        }
    }
    Ok(chunks)
}

fn check_content(kind: u8, content: &[u8]) -> Result<()> {
    match (kind, content) {
        (CODE_POINTS, [_primaries, _transfer, 0, 0 | 1]) => Ok(()),
        (CODE_POINTS, _) => refuse("code points that are not valid"),
        (GAIN_MAP, [1..=8, _, ..]) => Ok(()),
        (GAIN_MAP, _) => refuse("a gain map that is not valid"),
        _ => Ok(()),
    }
}

fn unpack(kind: u8, stored: &[u8], room: usize) -> Result<Vec<u8>> {
    if kind & 128 == 0 {
        return Ok(stored.to_vec());
    }
    let (content, taken) = inflate(stored, room)?;
    ensure(taken == stored.len(), "bytes follow a DEFLATE stream")?;
    Ok(content)
}

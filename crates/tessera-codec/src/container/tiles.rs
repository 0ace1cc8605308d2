//! The tile table and the tiles (`spec/container.md`, "Tiles").
//!
//! A picture of one tile has no table: the tile goes on to the end of the file. The checksum of
//! a tile covers the header and the tile's number too, so that a tile moved to another place or
//! another file is noticed.

use super::bytes::ByteReader;
use super::check::{CRC_LEN, Integrity, crc32};
use crate::error::FormatError;
use crate::tile_grid::TileGrid;
use std::ops::Range;

#[cfg(feature = "encoder")]
use super::bytes::put_varint;

const TABLE: &str = "the tile table";
const TILE: &str = "a tile";

/// The smallest tile there can be: a checksum and nothing before it.
const MIN_TILE_LEN: usize = CRC_LEN;

/// The coded planes of one tile.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TilePayload<'a> {
    /// Gray or YCbCr.
    pub colour: &'a [u8],
    /// Alpha, when the picture has it.
    pub alpha: Option<&'a [u8]>,
}

/// Reads the table at `start` and returns where every tile lies.
///
/// Before anything is allocated the file must be long enough for a table with that many entries,
/// which bounds the number of tiles by the size of the file.
pub(crate) fn read_table(
    file: &[u8],
    header_len: usize,
    start: usize,
    grid: TileGrid,
    integrity: Integrity,
) -> Result<Vec<Range<usize>>, FormatError> {
    let count = grid.count();
    if count == 1 {
        return Ok(std::iter::once(start..file.len()).collect());
    }
    let mut reader = ByteReader::new(file, start, TABLE);
    if reader.remaining() < count + CRC_LEN {
        let offset = file.len();
        return Err(FormatError::Truncated {
            part: TABLE,
            offset,
        });
    }
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(reader.length()?);
    }
    let table = &file[start..reader.position()];
    let crc = reader.array::<CRC_LEN>()?;
    integrity.demand(crc32(&[&file[..header_len], table]) == crc, TABLE)?;
    place_tiles(&lengths, reader.position())
}

/// Turns lengths into places, one after the other.
fn place_tiles(lengths: &[usize], start: usize) -> Result<Vec<Range<usize>>, FormatError> {
    let mut position = start;
    let mut place = |len: &usize| {
        let end = position
            .checked_add(*len)
            .filter(|_| *len >= MIN_TILE_LEN)
            .ok_or(FormatError::invalid(TABLE, "an impossible tile length"))?;
        let range = position..end;
        position = end;
        Ok(range)
    };
    lengths.iter().map(&mut place).collect()
}

/// Verifies the tile in `range` and splits it into its payloads.
pub(crate) fn read_tile(
    file: &[u8],
    header_len: usize,
    index: usize,
    range: Range<usize>,
    has_alpha: bool,
    integrity: Integrity,
) -> Result<TilePayload<'_>, FormatError> {
    let bytes = file.get(range).ok_or(FormatError::Truncated {
        part: TILE,
        offset: file.len(),
    })?;
    let (body, crc) = bytes
        .split_last_chunk::<CRC_LEN>()
        .ok_or(FormatError::Truncated {
            part: TILE,
            offset: file.len(),
        })?;
    let expected = tile_crc(&file[..header_len], index, body);
    integrity.demand(expected == *crc, TILE)?;
    split_body(body, has_alpha)
}

/// With alpha a tile starts with the length of its colour payload.
fn split_body(body: &[u8], has_alpha: bool) -> Result<TilePayload<'_>, FormatError> {
    if !has_alpha {
        return Ok(TilePayload {
            colour: body,
            alpha: None,
        });
    }
    let mut reader = ByteReader::new(body, 0, TILE);
    let len = reader.length()?;
    let colour = reader.take(len)?;
    let alpha = reader.take(reader.remaining())?;
    Ok(TilePayload {
        colour,
        alpha: Some(alpha),
    })
}

fn tile_crc(header: &[u8], index: usize, body: &[u8]) -> [u8; CRC_LEN] {
    crc32(&[header, &(index as u32).to_le_bytes(), body])
}

/// The coded planes of one tile on their way into a file.
#[cfg(feature = "encoder")]
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TileData {
    /// Gray or YCbCr.
    pub colour: Vec<u8>,
    /// Alpha, when the picture has it.
    pub alpha: Option<Vec<u8>>,
}

/// Appends table and tiles to a file that holds header and metadata.
#[cfg(feature = "encoder")]
pub(crate) fn write(file: &mut Vec<u8>, header_len: usize, tiles: &[TileData]) {
    let header = file[..header_len].to_vec();
    let bodies: Vec<Vec<u8>> = tiles.iter().map(body).collect();
    if bodies.len() > 1 {
        let mut table = Vec::new();
        for body in &bodies {
            put_varint(&mut table, (body.len() + CRC_LEN) as u64);
        }
        let crc = crc32(&[&header, &table]);
        file.extend(table);
        file.extend(crc);
    }
    for (index, body) in bodies.iter().enumerate() {
        file.extend_from_slice(body);
        file.extend(tile_crc(&header, index, body));
    }
}

#[cfg(feature = "encoder")]
fn body(tile: &TileData) -> Vec<u8> {
    let Some(alpha) = &tile.alpha else {
        return tile.colour.clone();
    };
    let mut body = Vec::new();
    put_varint(&mut body, tile.colour.len() as u64);
    body.extend_from_slice(&tile.colour);
    body.extend_from_slice(alpha);
    body
}

//! The tile table and the tiles (`spec/container.md`, "Tiles").
//!
//! A picture of one tile has no table: the tile goes on to the end of the file. The checksum of
//! a tile covers the header, what the name of the dictionary leaves out, and the tile's number too, so that a tile moved
//! to another place or another file is noticed, and so is another dictionary with the same short name.

use crate::container::bytes::{ByteReader, MAX_VARINT_BYTES};
use crate::container::check::{CRC_LEN, Integrity, crc32};
use crate::container::source::Source;
use crate::error::{FormatError, Result};
use crate::tile_grid::TileGrid;
use std::borrow::Cow;
use std::ops::Range;

#[cfg(feature = "encoder")]
use crate::container::bytes::{put_varint, varint_len};

const TABLE: &str = "the tile table";
const TILE: &str = "a tile";

/// The smallest tile there can be: a checksum and nothing before it.
const MIN_TILE_LEN: usize = CRC_LEN;

/// The coded planes of one tile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TilePayload<'a> {
    bytes: Cow<'a, [u8]>,
    colour: Range<usize>,
    alpha: Option<Range<usize>>,
}

impl TilePayload<'_> {
    /// Gray or YCbCr.
    pub fn colour(&self) -> &[u8] {
        &self.bytes[self.colour.clone()]
    }

    /// Alpha, when the picture has it.
    pub fn alpha(&self) -> Option<&[u8]> {
        self.alpha.clone().map(|range| &self.bytes[range])
    }
}

/// Reads the table at `start` and returns where every tile lies.
///
/// Before anything is allocated the file must be long enough for a table with that many entries,
/// which bounds the number of tiles by the size of the file.
pub(crate) fn read_table(
    source: &Source<'_>,
    header: &[u8],
    start: usize,
    grid: TileGrid,
    integrity: Integrity,
) -> Result<Vec<Range<usize>>> {
    let count = grid.count();
    if count == 1 {
        return Ok(std::iter::once(start..source.len()).collect());
    }
    let left = source.len() - start;
    if left < count + CRC_LEN {
        let offset = source.len();
        return Err(FormatError::Truncated {
            part: TABLE,
            offset,
        }
        .into());
    }
    let longest = count * MAX_VARINT_BYTES + CRC_LEN;
    let bytes = source.read(start..start + left.min(longest))?;
    let mut reader = ByteReader::new(&bytes, start, TABLE);
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        lengths.push(reader.length()?);
    }
    let table = &bytes[..reader.position()];
    let crc = reader.array::<CRC_LEN>()?;
    integrity.demand(crc32(&[header, table]) == crc, TABLE)?;
    Ok(place_tiles(&lengths, start + reader.position())?)
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

/// Verifies the tile in `range` and splits it into its payloads. `covered` is what its checksum begins with.
pub(crate) fn read_tile<'a>(
    source: &Source<'a>,
    covered: &[u8],
    index: usize,
    range: Range<usize>,
    has_alpha: bool,
    integrity: Integrity,
) -> Result<TilePayload<'a>> {
    let truncated = FormatError::Truncated {
        part: TILE,
        offset: source.len(),
    };
    if range.end > source.len() {
        return Err(truncated.into());
    }
    let start = range.start;
    let bytes = source.read(range)?;
    let (body, crc) = bytes.split_last_chunk::<CRC_LEN>().ok_or(truncated)?;
    let expected = tile_crc(covered, index, body);
    integrity.demand(expected == *crc, TILE)?;
    let (colour, alpha) = split_body(body, start, has_alpha)?;
    Ok(TilePayload {
        bytes,
        colour,
        alpha,
    })
}

/// Where colour and alpha lie: with alpha a tile starts with the length of its colour payload.
fn split_body(
    body: &[u8],
    base: usize,
    has_alpha: bool,
) -> Result<(Range<usize>, Option<Range<usize>>), FormatError> {
    if !has_alpha {
        return Ok((0..body.len(), None));
    }
    let mut reader = ByteReader::new(body, base, TILE);
    let len = reader.length()?;
    let start = reader.position();
    reader.take(len)?;
    let end = reader.position();
    Ok((start..end, Some(end..body.len())))
}

fn tile_crc(covered: &[u8], index: usize, body: &[u8]) -> [u8; CRC_LEN] {
    crc32(&[covered, &(index as u32).to_le_bytes(), body])
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

#[cfg(feature = "encoder")]
impl TileData {
    /// Whether any payload draws blocks, if payloads begin with the length of what does.
    pub(crate) fn has_graphics(&self) -> bool {
        let mut payloads = std::iter::once(&self.colour).chain(&self.alpha);
        payloads.any(|payload| payload.first() != Some(&0))
    }

    /// Bytes of the tile in the file without its checksum.
    fn len(&self) -> usize {
        match &self.alpha {
            None => self.colour.len(),
            Some(alpha) => varint_len(self.colour.len() as u64) + self.colour.len() + alpha.len(),
        }
    }

    fn put(&self, file: &mut Vec<u8>) {
        if self.alpha.is_some() {
            put_varint(file, self.colour.len() as u64);
        }
        file.extend_from_slice(&self.colour);
        file.extend(self.alpha.iter().flatten());
    }
}

/// Appends table and tiles to a file that holds header and metadata; `covered` is what the checksums of tiles begin with.
#[cfg(feature = "encoder")]
pub(crate) fn write(file: &mut Vec<u8>, header_len: usize, covered: &[u8], tiles: &[TileData]) {
    if tiles.len() > 1 {
        let start = file.len();
        for tile in tiles {
            put_varint(file, (tile.len() + CRC_LEN) as u64);
        }
        let crc = crc32(&[&file[..header_len], &file[start..]]);
        file.extend(crc);
    }
    file.reserve_exact(tiles.iter().map(|tile| tile.len() + CRC_LEN).sum());
    for (index, tile) in tiles.iter().enumerate() {
        let start = file.len();
        tile.put(file);
        let crc = tile_crc(covered, index, &file[start..]);
        file.extend(crc);
    }
}

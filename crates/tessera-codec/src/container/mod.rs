//! The file: header, metadata, tile table, tiles (`spec/container.md`).
//!
//! [`Container::parse`] reads header and table and checks that they fit each other and the
//! length of the file; metadata and tiles are verified when they are asked for, so that damage
//! in one place does not hide what is intact elsewhere.

pub(crate) mod bytes;
mod check;
pub mod condensed;
mod header;
pub(crate) mod metadata;
mod source;
mod tiles;
mod work;

pub use check::Integrity;
pub(crate) use header::NO_DICTIONARY;
pub use header::{Header, MAGIC, MAX_SIDE, VERSION};
pub use source::{Source, StoredFile};
pub use tiles::TilePayload;
pub use work::{WorkBound, tile_work};

use crate::error::{Error, FormatError, Result};
use crate::limits::{self, Limits};
use crate::metadata::Metadata;
use crate::tile_grid::TileGrid;
use std::ops::Range;

/// A file taken apart but not decoded.
#[derive(Debug, Clone)]
pub struct Container<'a> {
    source: Source<'a>,
    header: Header,
    /// The header as stored; the checksums of table and tiles cover it.
    header_bytes: Vec<u8>,
    /// Where each tile should lie; the last ones may be beyond the end of a truncated file.
    tiles: Vec<Range<usize>>,
    limits: Limits,
    integrity: Integrity,
}

impl<'a> Container<'a> {
    /// Reads header and tile table.
    ///
    /// # Errors
    /// [`Error::Format`] when either is damaged, [`Error::Limits`] when the picture is larger
    /// than allowed. A file that is cut off after the table is accepted here.
    pub fn parse(
        source: impl Into<Source<'a>>,
        limits: &Limits,
        integrity: Integrity,
    ) -> Result<Self> {
        let source = source.into();
        let start = source.read(0..source.len().min(header::MAX_LEN))?;
        let (header, header_len) = Header::read(&start, integrity)?;
        check_limits(&header, limits)?;
        let header_bytes = start[..header_len].to_vec();
        let table = header_len
            .checked_add(header.metadata_len)
            .filter(|&start| start <= source.len())
            .ok_or(FormatError::Truncated {
                part: "the metadata",
                offset: source.len(),
            })?;
        let tiles = tiles::read_table(&source, &header_bytes, table, header.grid(), integrity)?;
        Ok(Self {
            source,
            header,
            header_bytes,
            tiles,
            limits: *limits,
            integrity,
        })
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tiles of the picture.
    pub fn grid(&self) -> TileGrid {
        self.header.grid()
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> usize {
        self.source.len()
    }

    /// Reads the metadata.
    ///
    /// # Errors
    /// [`Error::Format`] or [`Error::Limits`]; the picture may still be intact.
    pub fn metadata(&self) -> Result<Metadata> {
        let start = self.header_bytes.len();
        let section = self.source.read(start..start + self.header.metadata_len)?;
        metadata::read(&section, start, &self.limits, self.integrity)
    }

    /// The verified payload of a tile.
    ///
    /// # Errors
    /// [`Error::Format`] when the tile is cut off or damaged.
    pub fn tile(&self, index: usize) -> Result<TilePayload<'a>> {
        let payload = tiles::read_tile(
            &self.source,
            &self.header_bytes,
            index,
            self.tiles[index].clone(),
            self.header.format.alpha && self.header.lossless.is_none(),
            self.integrity,
        );
        payload.map_err(|error| self.tile_error(index, error))
    }

    /// Says in which tile a format error happened.
    pub(crate) fn tile_error(&self, index: usize, error: Error) -> Error {
        match error {
            Error::Format(cause) => Error::Format(FormatError::Tile {
                index,
                rect: self.grid().rect(index),
                cause: Box::new(cause),
            }),
            other => other,
        }
    }

    /// Compares the checksums of all tiles, so that damage is found before time is spent.
    ///
    /// # Errors
    /// [`Error::Format`] naming the first damage.
    pub fn check(&self) -> Result<()> {
        self.check_end()?;
        (0..self.tiles.len()).try_for_each(|index| self.tile(index).map(drop))
    }

    /// Bytes of a tile in the file, its checksum included.
    pub fn tile_len(&self, index: usize) -> usize {
        self.tiles[index].len()
    }

    /// Where a tile lies in the file, for those who fetch only the tiles they need. The last ones of a truncated file are
    /// beyond its end.
    pub fn tile_range(&self, index: usize) -> Range<usize> {
        self.tiles[index].clone()
    }

    /// Refuses files that are cut off or go on after the last tile.
    ///
    /// # Errors
    /// [`Error::Format`] saying which of the two it is.
    pub fn check_end(&self) -> Result<()> {
        let end = self.tiles.last().map_or(0, |tile| tile.end);
        if end > self.source.len() {
            let offset = self.source.len();
            let part = "the tiles";
            return Err(FormatError::Truncated { part, offset }.into());
        }
        if end < self.source.len() {
            let reason = "unknown data after the last tile";
            return Err(FormatError::invalid("the file", reason).into());
        }
        Ok(())
    }
}

fn check_limits(header: &Header, limits: &Limits) -> Result<()> {
    let pixels = u64::from(header.width) * u64::from(header.height);
    limits::check("pixels", pixels, limits.pixels)?;
    limits::check(
        "pixels per tile",
        header.grid().largest(),
        limits.tile_pixels,
    )?;
    limits::check("units of decode work", header.work(), limits.work)?;
    Ok(())
}

/// Puts a file together. `tiles` are the payloads in raster order.
#[cfg(feature = "encoder")]
pub fn write(mut header: Header, metadata: &Metadata, tiles: &[TileData]) -> Vec<u8> {
    debug_assert_eq!(tiles.len(), header.grid().count());
    let section = metadata::write(metadata);
    header.metadata_len = section.len();
    let mut file = header.write();
    let header_len = file.len();
    file.extend(section);
    tiles::write(&mut file, header_len, tiles);
    file
}

#[cfg(feature = "encoder")]
pub use tiles::TileData;

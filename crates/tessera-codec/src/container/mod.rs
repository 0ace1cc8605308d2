//! The file: header, preview, metadata, tile table, tiles (`spec/container.md`).
//!
//! [`Container::parse`] reads header and table and checks that they fit each other and the
//! length of the file; preview, metadata and tiles are verified when they are asked for, so that damage
//! in one place does not hide what is intact elsewhere.

pub mod bytes;
mod check;
pub mod condensed;
mod header;
pub(crate) mod metadata;
mod preview;
mod source;
mod tiles;
mod work;

pub use check::Integrity;
pub(crate) use header::NO_DICTIONARY;
pub use header::{Header, MAGIC, MAX_PREVIEW_LEN, MAX_SIDE, VERSION};
pub use preview::MAX_PREVIEW_SIDE;
pub use source::{Source, StoredFile};
pub use tiles::TilePayload;
pub use work::{WorkBound, tile_work};

use crate::error::{DictionaryError, Error, FormatError, Result};
use crate::limits::{self, Limits};
use crate::metadata::Metadata;
use crate::tile_grid::TileGrid;
use std::borrow::Cow;
use std::ops::Range;
use tessera_dict::DictId;

/// A file taken apart but not decoded.
#[derive(Debug, Clone)]
pub struct Container<'a> {
    source: Source<'a>,
    header: Header,
    /// Bytes of the header.
    header_len: usize,
    /// What the checksums of tiles begin with, as far as it is known: see [`covered`].
    covered: Option<Vec<u8>>,
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
        check_limits(&header, limits, source.len())?;
        let header_bytes = &start[..header_len];
        let table = header_len
            .checked_add(header.preview_len)
            .and_then(|start| start.checked_add(header.metadata_len))
            .filter(|&start| start <= source.len())
            .ok_or(FormatError::Truncated {
                part: "the preview or the metadata",
                offset: source.len(),
            })?;
        let tiles = tiles::read_table(&source, header_bytes, table, header.grid(), integrity)?;
        Ok(Self {
            source,
            covered: covered(header_bytes, header.dictionary, header.dictionary),
            header_len,
            header,
            tiles,
            limits: *limits,
            integrity,
        })
    }

    /// Says which dictionary it is that the header names, perhaps by the start of its identity alone: the checksums of
    /// tiles cover all of it.
    pub(crate) fn with_dictionary(mut self, identity: DictId) -> Result<Self> {
        let header = self.source.read(0..self.header_len)?;
        self.covered = covered(&header, self.header.dictionary, identity);
        Ok(self)
    }

    /// The header.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The tiles of the picture.
    pub fn grid(&self) -> TileGrid {
        self.header.grid()
    }

    /// What the file may cost.
    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Bytes of the file.
    pub fn file_len(&self) -> usize {
        self.source.len()
    }

    /// The bytes of the preview, a file of its own, if there is one.
    ///
    /// # Errors
    /// [`Error::Format`] when it is damaged or none that may stand here; the picture may still be intact.
    pub fn preview(&self) -> Result<Option<Cow<'a, [u8]>>> {
        let range = self.header_len..self.header_len + self.header.preview_len;
        read_preview(&self.source, &self.header, range, self.integrity)
    }

    /// Reads the metadata.
    ///
    /// # Errors
    /// [`Error::Format`] or [`Error::Limits`]; the picture may still be intact.
    pub fn metadata(&self) -> Result<Metadata> {
        let start = self.header_len + self.header.preview_len;
        let section = self.source.read(start..start + self.header.metadata_len)?;
        metadata::read(&section, start, &self.limits, self.integrity)
    }

    /// The verified payload of a tile.
    ///
    /// # Errors
    /// [`Error::Format`] when the tile is cut off or damaged, [`Error::Dictionary`] when the header names the dictionary by
    /// the start of its identity and nobody has said which one that is.
    pub fn tile(&self, index: usize) -> Result<TilePayload<'a>> {
        let covered = match (&self.covered, self.integrity) {
            (Some(covered), _) => covered.as_slice(),
            (None, Integrity::Ignored) => &[],
            (None, Integrity::Checked) => {
                let id = self.header.dictionary;
                return Err(DictionaryError::Missing { id }.into());
            }
        };
        let payload = tiles::read_tile(
            &self.source,
            covered,
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

    /// Compares the checksums of the preview and of all tiles, so that damage is found before time is spent.
    ///
    /// # Errors
    /// [`Error::Format`] naming the first damage.
    pub fn check(&self) -> Result<()> {
        self.check_end()?;
        self.preview()?;
        (0..self.tiles.len()).try_for_each(|index| self.tile(index).map(drop))
    }

    /// The bytes of a tile whose end is missing, as far as they are there. A picture of one tile does not state its
    /// length: any tile that is not intact may have been cut.
    pub(crate) fn cut_tile(&self, index: usize) -> Option<Cow<'a, [u8]>> {
        let Range { start, end } = self.tiles[index];
        let cut = end > self.source.len() || self.tiles.len() == 1;
        let start = start.min(self.source.len());
        cut.then(|| self.source.read(start..end.min(self.source.len())).ok())?
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

/// The preview of a file of which not more than the beginning need be there.
pub(crate) fn find_preview<'a>(
    source: &Source<'a>,
    integrity: Integrity,
) -> Result<Option<Cow<'a, [u8]>>> {
    let start = source.read(0..source.len().min(header::MAX_LEN))?;
    let (header, header_len) = Header::read(&start, integrity)?;
    let range = header_len..header_len + header.preview_len;
    read_preview(source, &header, range, integrity)
}

/// The verified preview of the file with this header.
fn read_preview<'a>(
    source: &Source<'a>,
    header: &Header,
    range: Range<usize>,
    integrity: Integrity,
) -> Result<Option<Cow<'a, [u8]>>> {
    if range.is_empty() {
        return Ok(None);
    }
    if range.end > source.len() {
        let (part, offset) = (preview::PART, source.len());
        return Err(FormatError::Truncated { part, offset }.into());
    }
    let bytes = source.read(range)?;
    let verify = || {
        let nested = Container::parse(&bytes[..], &Limits::default(), integrity)?;
        preview::check(nested.header(), header)?;
        nested.tile(0).map(drop)
    };
    verify().map_err(preview::error)?;
    Ok(Some(bytes))
}

/// What the checksums of tiles begin with: the header, and what it leaves out of the identity of its dictionary. `None` if
/// that is not the dictionary it names.
fn covered(header: &[u8], name: DictId, identity: DictId) -> Option<Vec<u8>> {
    match (name, identity) {
        (DictId::Prefix(start), DictId::Hash(hash)) => {
            let rest = hash.strip_prefix(&start)?;
            Some([header, rest].concat())
        }
        (DictId::Prefix(_), _) => None,
        _ => Some(header.to_vec()),
    }
}

fn check_limits(header: &Header, limits: &Limits, file_len: usize) -> Result<()> {
    let pixels = u64::from(header.width) * u64::from(header.height);
    limits::check("pixels", pixels, limits.pixels)?;
    limits::check(
        "pixels per tile",
        header.grid().largest(),
        limits.tile_pixels,
    )?;
    // What the header states counts the tiles at the edges as whole ones.
    let samples = pixels * header.format.channels() as u64;
    let work = header.work().min(tile_work(samples, file_len));
    limits::check("units of decode work", work, limits.work_of(file_len))?;
    Ok(())
}

/// Puts a file together. `tiles` are the payloads in raster order.
#[cfg(feature = "encoder")]
pub fn write(header: Header, metadata: &Metadata, tiles: &[TileData]) -> Vec<u8> {
    let identity = header.dictionary;
    write_with(header, identity, &Front::of(metadata), tiles)
}

/// The same with a preview and without metadata, whatever the preview is.
#[cfg(feature = "encoder")]
pub fn write_with_preview(header: Header, preview: &[u8], tiles: &[TileData]) -> Vec<u8> {
    let front = Front {
        preview: preview.to_vec(),
        ..Front::default()
    };
    let identity = header.dictionary;
    write_with(header, identity, &front, tiles)
}

/// What stands between the header and the tiles.
#[cfg(feature = "encoder")]
#[derive(Debug, Clone, Default)]
pub(crate) struct Front {
    /// A file of its own, or nothing.
    pub(crate) preview: Vec<u8>,
    pub(crate) metadata: Metadata,
}

#[cfg(feature = "encoder")]
impl Front {
    fn of(metadata: &Metadata) -> Self {
        Self {
            metadata: metadata.clone(),
            ..Self::default()
        }
    }
}

/// The same for a header that may name the dictionary with this identity by its start.
#[cfg(feature = "encoder")]
pub(crate) fn write_with(
    mut header: Header,
    identity: DictId,
    front: &Front,
    tiles: &[TileData],
) -> Vec<u8> {
    debug_assert_eq!(tiles.len(), header.grid().count());
    let mut upright = front.metadata.clone();
    upright.set_upright();
    let section = metadata::write(&upright);
    header.preview_len = front.preview.len();
    header.metadata_len = section.len();
    let mut file = header.write();
    let header_len = file.len();
    let covered = covered(&file, header.dictionary, identity);
    file.extend_from_slice(&front.preview);
    file.extend(section);
    tiles::write(&mut file, header_len, &covered.unwrap_or_default(), tiles);
    file
}

#[cfg(feature = "encoder")]
pub use tiles::TileData;

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use crate::{Decoder, Encoder, Picture};
    use tessera_dict::Dictionary;

    fn own() -> Dictionary {
        let edit = |parts: &mut tessera_dict::DictionaryBuilder| parts.provenance = "own".into();
        Dictionary::builtin().edited(edit).unwrap()
    }

    fn short_named(tile_log2: u8) -> Vec<u8> {
        let samples = (0..90 * 70).map(|i| (i % 90 * i / 70) as u8).collect();
        let encoder = Encoder::new().effort(1).tile_log2(tile_log2);
        let encoder = encoder.dictionary(own()).short_dictionary_name(true);
        let picture = Picture::gray8(90, 70, samples).unwrap();
        encoder.encode(&picture).unwrap().bytes
    }

    #[test]
    fn another_dictionary_with_the_same_short_name_is_noticed() {
        let DictId::Hash(right) = own().id() else {
            panic!("a learned dictionary is named by its hash");
        };
        let mut wrong = right;
        wrong[15] ^= 1;
        for tile_log2 in [6, 10] {
            let file = short_named(tile_log2);
            let parse = || Container::parse(&file[..], &Limits::default(), Integrity::Checked);
            let with = |hash| {
                parse()
                    .unwrap()
                    .with_dictionary(DictId::Hash(hash))
                    .unwrap()
            };
            assert!(with(right).check().is_ok());
            let Err(Error::Format(FormatError::Tile { cause, .. })) = with(wrong).check() else {
                panic!("not noticed in tiles of 2^{tile_log2}");
            };
            assert_eq!(*cause, FormatError::Damaged { part: "a tile" });
            // Without any dictionary nothing can be said.
            let unknown = parse().unwrap().check();
            assert!(matches!(unknown, Err(Error::Dictionary(_))));
        }
    }

    #[test]
    fn short_named_files_decode_and_damage_is_noticed() {
        let decoder = Decoder::new().dictionary(own());
        let file = short_named(6);
        assert!(decoder.decode(&file).is_ok());
        let mut damaged = file.clone();
        *damaged.last_mut().unwrap() ^= 1;
        assert!(matches!(decoder.decode(&damaged), Err(Error::Format(_))));
        assert!(matches!(
            Decoder::new().decode(&file),
            Err(Error::Dictionary(_))
        ));
    }
}

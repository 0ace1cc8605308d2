//! Strips and tiles put together to the whole page.

use crate::image_io::error::{INCONSISTENT, ReadImageError};
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::compression;
use crate::image_io::tiff::directory::{Directory, tag};
use crate::image_io::tiff::page::Page;
use crate::picture::Samples;

/// Where the parts of a page are.
struct Chunks<'a> {
    file: &'a [u8],
    width: usize,
    height: usize,
    across: usize,
    tiled: bool,
    offsets: Vec<u64>,
    lengths: Vec<u64>,
}

/// A part of the page in one plane or in all.
pub(super) struct Chunk<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) width: usize,
    pub(super) rows: usize,
    /// Samples per pixel in this part.
    pub(super) samples: usize,
}

/// Reads all parts; the samples are interleaved and as stored, not yet stretched.
pub(super) fn assemble(page: &Page, directory: &Directory<'_>) -> Result<Samples, ReadImageError> {
    let chunks = Chunks::new(page, directory)?;
    let down = page.height.div_ceil(chunks.height);
    let planes = if page.planar { page.samples } else { 1 };
    let per_plane = chunks.across * down;
    if chunks.offsets.len() < per_plane * planes {
        return Err(ReadImageError::Truncated(TIFF));
    }
    let decoder = compression::Decoder::new(page, directory)?;
    let len = page.width * page.height * page.samples;
    let mut whole = match page.depth_bytes() {
        1 => Samples::U8(vec![0; len]),
        _ => Samples::U16(vec![0; len]),
    };
    for index in 0..per_plane * planes {
        let place = Place {
            x: index % per_plane % chunks.across * chunks.width,
            y: index % per_plane / chunks.across * chunks.height,
            plane: index / per_plane,
        };
        let chunk = chunks.get(page, index, place.y);
        let samples = decoder.decode(page, &chunk)?;
        match (&mut whole, &samples) {
            (Samples::U8(whole), Samples::U8(part)) => copy(page, whole, part, &chunk, &place),
            (Samples::U16(whole), Samples::U16(part)) => copy(page, whole, part, &chunk, &place),
            _ => return Err(ReadImageError::Damaged(TIFF, INCONSISTENT)),
        }
    }
    Ok(whole)
}

/// Where a part belongs.
struct Place {
    x: usize,
    y: usize,
    plane: usize,
}

fn copy<T: Copy>(page: &Page, whole: &mut [T], part: &[T], chunk: &Chunk<'_>, place: &Place) {
    let columns = chunk.width.min(page.width - place.x);
    let rows = chunk.rows.min(page.height - place.y);
    for row in 0..rows {
        let from = &part[row * chunk.width * chunk.samples..][..columns * chunk.samples];
        let to = ((place.y + row) * page.width + place.x) * page.samples;
        let to = &mut whole[to..][..columns * page.samples];
        if page.planar {
            let to = to.iter_mut().skip(place.plane).step_by(page.samples);
            to.zip(from).for_each(|(to, from)| *to = *from);
        } else {
            to.copy_from_slice(from);
        }
    }
}

impl<'a> Chunks<'a> {
    fn new(page: &Page, directory: &Directory<'a>) -> Result<Self, ReadImageError> {
        let tiled = directory.get(tag::TILE_WIDTH).is_some();
        let (offsets, lengths) = match tiled {
            true => (tag::TILE_OFFSETS, tag::TILE_LENGTHS),
            false => (tag::STRIP_OFFSETS, tag::STRIP_LENGTHS),
        };
        let side = |tag, whole: usize| directory.number(tag).map_or(whole, |side| side as usize);
        let (width, height) = match tiled {
            true => (side(tag::TILE_WIDTH, 0), side(tag::TILE_HEIGHT, 0)),
            false => (
                page.width,
                side(tag::ROWS_PER_STRIP, page.height).min(page.height),
            ),
        };
        // A tile may stick out of the page, but not by more than itself.
        if !(1..=1 << 16).contains(&width) || !(1..=1 << 16).contains(&height) {
            return Err(ReadImageError::Damaged(TIFF, INCONSISTENT));
        }
        let offsets = directory
            .numbers(offsets)
            .ok_or(ReadImageError::Truncated(TIFF))?;
        Ok(Self {
            file: directory.file,
            width,
            height,
            across: page.width.div_ceil(width),
            tiled,
            lengths: directory.numbers(lengths).unwrap_or_default(),
            offsets,
        })
    }

    /// One part; what is not in the file is missing from its bytes.
    fn get(&self, page: &Page, index: usize, y: usize) -> Chunk<'a> {
        let at = usize::try_from(self.offsets[index]).unwrap_or(usize::MAX);
        let rest = self.file.get(at..).unwrap_or_default();
        let len = self
            .lengths
            .get(index)
            .map_or(rest.len(), |&len| len as usize);
        Chunk {
            bytes: &rest[..len.min(rest.len())],
            width: self.width,
            rows: match self.tiled {
                true => self.height,
                false => self.height.min(page.height - y),
            },
            samples: if page.planar { 1 } else { page.samples },
        }
    }
}

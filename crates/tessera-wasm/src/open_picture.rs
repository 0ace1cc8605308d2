//! A picture whose header and tile table are here, while its tiles arrive.

use crate::failure::Result;
use crate::pieces::PieceReader;
use crate::rgba;
use tessera_codec::{CodedPicture, Colour, Decoder, Picture};

/// Bytes that hold everything in front of the first tile, and the tile that is being decoded.
pub(crate) struct OpenPicture {
    reader: PieceReader,
    coded: CodedPicture<'static>,
}

impl OpenPicture {
    /// Opens a file of `len` bytes by its `start`, which must hold all that lies before the first tile.
    pub(crate) fn new(decoder: &Decoder, start: &[u8], len: usize) -> Result<Self> {
        let reader = PieceReader::new(start.to_vec(), len);
        let coded = decoder.open(reader.clone())?;
        // Tiles come again, each when it is to be decoded.
        reader.cut_start(coded.tile_range(0).start);
        Ok(Self { reader, coded })
    }

    /// What a page wants to know of a picture, as JSON.
    pub(crate) fn description(&self) -> Result<String> {
        description(&self.coded)
    }

    /// The profile that its colours belong to, if it has one.
    pub(crate) fn profile(&self) -> Result<Option<Vec<u8>>> {
        profile(&self.coded)
    }

    /// Number of tiles.
    pub(crate) fn tile_count(&self) -> usize {
        self.coded.grid().count()
    }

    /// Six numbers for every tile: left, top, width, height, and where it starts and ends in the file.
    pub(crate) fn tiles(&self) -> Vec<u32> {
        let grid = self.coded.grid();
        let tile = |index| {
            let (rect, range) = (grid.rect(index), self.coded.tile_range(index));
            let place = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
            let (start, end) = (place(range.start), place(range.end));
            [rect.x, rect.y, rect.width, rect.height, start, end]
        };
        (0..self.tile_count()).flat_map(tile).collect()
    }

    /// The small picture in front of this one.
    pub(crate) fn preview(&self) -> Result<Option<Picture>> {
        Ok(self.coded.decode_preview()?)
    }

    /// The rows of a tile that its first bytes hold.
    pub(crate) fn tile_start(&self, index: usize, bytes: &[u8]) -> Result<Option<Picture>> {
        let start = self.coded.decode_tile_start(index, bytes)?;
        Ok(start.map(|start| start.picture))
    }

    /// Decodes a tile of which `bytes` are all, to RGBA in the colours of its profile.
    pub(crate) fn decode_tile(&self, index: usize, bytes: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let range = self.coded.tile_range(index);
        self.reader.set_piece(range.start, bytes.to_vec());
        let band = self.coded.decode_band(self.coded.grid().rect(index));
        self.reader.set_piece(0, Vec::new());
        rgba::append(&band?.intact()?, out)
    }
}

/// Size, format and dictionary of a picture.
pub(crate) fn description(coded: &CodedPicture<'_>) -> Result<String> {
    let header = coded.header();
    let format = header.format;
    Ok(format!(
        r#"{{"width":{},"height":{},"channels":{},"gray":{},"alpha":{},"depth":{},"profile":{},"preview":{},"tiles":{},"dictionary":"{}"}}"#,
        header.width,
        header.height,
        format.channels(),
        format.colour == Colour::Gray,
        format.alpha,
        format.depth.bits(),
        profile(coded)?.is_some(),
        header.preview_len > 0,
        coded.grid().count(),
        header.dictionary,
    ))
}

/// What the colours of a picture mean, for the module that turns them into sRGB: code points or a profile. Gray is shown as it
/// is, and so is brightness beyond that of a usual screen.
fn profile(coded: &CodedPicture<'_>) -> Result<Option<Vec<u8>>> {
    if coded.header().format.colour == Colour::Gray {
        return Ok(None);
    }
    let metadata = coded.metadata()?;
    let Some(points) = metadata.cicp else {
        return Ok(metadata.icc);
    };
    let is_srgb = (points.primaries(), points.transfer()) == (1, 13);
    let usual = points.full_range() && !points.is_hdr() && !is_srgb;
    Ok(usual.then(|| points.as_bytes().to_vec()))
}

//! Reads the beginning of a tile whose end is not there (`spec/container.md`, "Arrival").

use crate::prepared::PreparedDictionary;
use crate::tile::TileConfig;
use crate::tile::decoder::Decoder;
use crate::tile::entropy::coder::Reader;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::entropy::streams::split_start;
use crate::tile::graphics::read_graphics;
use crate::tile::superblocks;
use tessera_patch::Plane;
use tessera_patch::shape::SUPERBLOCK;

/// Chroma that nothing is known of.
const NEUTRAL: u16 = 2048;

/// The rows of superblocks at the top of a tile that can be read without what is missing, before the filter.
#[derive(Debug)]
pub(crate) struct TileStart {
    /// Planes of that many rows of samples; none if not even the first row of superblocks is there.
    pub(crate) planes: Vec<Plane>,
}

/// Decodes as many rows of superblocks as `data`, the beginning of a payload, holds.
pub(crate) fn decode_tile_start(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
) -> TileStart {
    let Ok((graphics, data)) = read_graphics(data, config) else {
        return TileStart { planes: Vec::new() };
    };
    let streams = split_start(data, config);
    let mut reader = Reader::of_streams(&streams.parts, dictionary, config);
    let mut decoder = Decoder::new(config, dictionary, &mut reader);
    decoder.state.draw_graphics(graphics);
    decoder.state.code_references_in_use(decoder.reader, false);
    let mut whole = Whole::default();
    for block in superblocks(config) {
        decoder.state.code_offsets(decoder.reader, block);
        for &kind in config.layout.kinds() {
            if whole.goes_on(kind) {
                decoder.block(kind, block);
                let complete = streams.first_is_complete && kind == PlaneKind::Luma;
                let missed = decoder.reader.has_missed(kind, complete);
                whole.tell(kind, missed, block.y + SUPERBLOCK);
                if missed && !config.has_two_streams() {
                    // What comes behind a missing byte is missing too.
                    whole.tell(PlaneKind::Luma, missed, block.y + SUPERBLOCK);
                }
            }
        }
        decoder.state.finish_superblock();
        if !whole.goes_on(PlaneKind::Luma) {
            break;
        }
    }
    let planes = decoder.state.into_planes(config);
    whole.crop(planes, config)
}

/// How far down rows of superblocks are whole, for each kind of planes.
#[derive(Debug, Default)]
struct Whole {
    /// Where the superblocks end that were read last.
    bottom: [usize; 2],
    /// Where the first row of superblocks begins of which something is missing.
    cut: [Option<usize>; 2],
}

impl Whole {
    fn goes_on(&self, kind: PlaneKind) -> bool {
        self.cut[kind as usize].is_none()
    }

    fn tell(&mut self, kind: PlaneKind, missed: bool, bottom: usize) {
        self.bottom[kind as usize] = bottom;
        if missed {
            self.cut[kind as usize] = Some(bottom - SUPERBLOCK);
        }
    }

    /// Rows of samples that are whole.
    fn rows(&self, kind: PlaneKind, config: &TileConfig) -> usize {
        let rows = self.cut[kind as usize].unwrap_or(self.bottom[kind as usize]);
        rows.min(config.height as usize)
    }

    /// Leaves out the rows that are not there; where there is luma alone, chroma is neutral.
    fn crop(&self, mut planes: Vec<Plane>, config: &TileConfig) -> TileStart {
        let rows = self.rows(PlaneKind::Luma, config);
        if rows == 0 {
            return TileStart { planes: Vec::new() };
        }
        let coloured = self.rows(PlaneKind::Chroma, config).min(rows);
        for (index, plane) in planes.iter_mut().enumerate() {
            plane.height = rows;
            plane.data.truncate(rows * plane.width);
            if index > 0 {
                plane.data[coloured * plane.width..].fill(NEUTRAL);
            }
        }
        TileStart { planes }
    }
}

//! Reads a tile.

use crate::prepared::PreparedDictionary;
use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::{BinaryCoder, ModelPair, Reader};
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::entropy::range::RangeDecoder;
use crate::tile::loop_filter::FilterFlags;
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::Leaf;
use crate::tile::syntax::{Block, Split, code_split};
use crate::tile::{PlaneLayout, TileConfig, superblocks};
use tessera_dict::Dictionary;
use tessera_patch::{Plane, Shape};

/// The bytes of a tile end before its content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Where the decisions of a tile come from.
pub(crate) trait TileReader: BinaryCoder {
    /// Whether more was read than the data can hold.
    fn exhausted(&self) -> bool;

    /// Told of every leaf once it is drawn.
    fn leaf_done(&mut self, _site: &Site, _leaf: &Leaf) {}
}

impl TileReader for Reader<'_> {
    fn exhausted(&self) -> bool {
        self.range.exhausted()
    }
}

impl<'a> Reader<'a> {
    /// A reader at the start of a tile.
    pub(crate) fn new(data: &'a [u8], dictionary: &Dictionary, layout: PlaneLayout) -> Self {
        Self {
            models: ModelPair::new(dictionary, layout),
            range: RangeDecoder::new(data),
        }
    }
}

/// Decodes the planes of a tile.
///
/// # Errors
/// If `data` is shorter than what it describes.
pub fn decode_tile(
    data: &[u8],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
) -> Result<Vec<Plane>, Exhausted> {
    let mut reader = Reader::new(data, dictionary, config.layout);
    read_tile(&mut reader, config, dictionary)
}

/// Decodes the planes of a tile from any source of decisions.
pub(crate) fn read_tile<R: TileReader>(
    reader: &mut R,
    config: &TileConfig,
    dictionary: &PreparedDictionary,
) -> Result<Vec<Plane>, Exhausted> {
    let mut decoder = Decoder {
        state: TileState::new(config, dictionary),
        reader,
        leaf: Leaf::default(),
    };
    decoder.state.code_references_in_use(decoder.reader, false);
    for block in superblocks(config) {
        decoder.state.code_offsets(decoder.reader, block);
        for &kind in config.layout.kinds() {
            decoder.block(kind, block);
        }
        decoder.state.finish_superblock();
        if decoder.reader.exhausted() {
            return Err(Exhausted);
        }
    }
    for &kind in config.layout.kinds() {
        decoder.filter(kind);
    }
    Ok(decoder.state.into_planes(config))
}

struct Decoder<'a, R> {
    state: TileState<'a>,
    reader: &'a mut R,
    leaf: Leaf,
}

impl<R: TileReader> Decoder<'_, R> {
    fn block(&mut self, kind: PlaneKind, block: Block) {
        if self.outside(kind, block) {
            return;
        }
        let split = code_split(
            self.reader,
            kind,
            self.state.canvas(kind),
            self.state.guide(kind),
            block,
            Split::None,
        );
        match split {
            Split::None => {
                let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
                self.leaf(kind, block.x, block.y, shape);
            }
            Split::Quad => block
                .quarters()
                .into_iter()
                .for_each(|quarter| self.block(kind, quarter)),
            Split::Rows | Split::Columns => {
                for (x, y, shape) in block.halves(split) {
                    self.leaf(kind, x, y, shape);
                }
            }
        }
    }

    fn filter(&mut self, kind: PlaneKind) {
        let mut flags = FilterFlags::new(self.state.canvas(kind));
        flags.code(self.reader, kind);
        if flags.on.any() {
            let components = self.state.filtered(kind, &flags);
            self.state.canvas_mut(kind).components = components;
        }
    }

    fn outside(&self, kind: PlaneKind, block: Block) -> bool {
        let canvas: &Canvas = self.state.canvas(kind);
        block.x >= canvas.width || block.y >= canvas.height
    }

    fn leaf(&mut self, kind: PlaneKind, x: usize, y: usize, shape: Shape) {
        self.leaf.patches.iter_mut().for_each(|patch| patch.clear());
        let site = Site {
            kind,
            component: 0,
            x,
            y,
            shape,
        };
        self.state.code_leaf(self.reader, &site, &mut self.leaf);
        self.reader.leaf_done(&site, &self.leaf);
    }
}

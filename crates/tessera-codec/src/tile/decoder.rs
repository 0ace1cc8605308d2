//! Reads a tile.

use super::canvas::Canvas;
use super::coder::{ModelPair, Reader};
use super::filter::FilterFlags;
use super::mix::PlaneKind;
use super::range::RangeDecoder;
use super::state::{Leaf, TileState};
use super::syntax::{Block, Split, code_split};
use super::{TileConfig, superblocks};
use tessera_dict::Dictionary;
use tessera_patch::{Plane, Shape};

/// The bytes of a tile end before its content does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Decodes the planes of a tile.
///
/// # Errors
/// If `data` is shorter than what it describes.
pub fn decode_tile(
    data: &[u8],
    config: &TileConfig,
    dictionary: &Dictionary,
) -> Result<Vec<Plane>, Exhausted> {
    let mut decoder = Decoder {
        state: TileState::new(config, dictionary),
        reader: Reader {
            models: ModelPair::new(dictionary),
            range: RangeDecoder::new(data),
        },
        leaf: Leaf::default(),
    };
    for block in superblocks(config) {
        for &kind in config.layout.kinds() {
            decoder.block(kind, block);
        }
        if decoder.reader.range.exhausted() {
            return Err(Exhausted);
        }
    }
    for &kind in config.layout.kinds() {
        decoder.filter(kind);
    }
    Ok(decoder.state.into_planes(config))
}

struct Decoder<'a> {
    state: TileState<'a>,
    reader: Reader<'a>,
    leaf: Leaf,
}

impl Decoder<'_> {
    fn block(&mut self, kind: PlaneKind, block: Block) {
        if self.outside(kind, block) {
            return;
        }
        let split = code_split(
            &mut self.reader,
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
        flags.code(&mut self.reader, kind);
        if flags.on.contains(&true) {
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
        self.state
            .code_leaf(&mut self.reader, kind, x, y, shape, &mut self.leaf);
    }
}

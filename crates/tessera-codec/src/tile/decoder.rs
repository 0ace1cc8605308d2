//! Reads a tile.

use crate::prepared::PreparedDictionary;
use crate::tile::entropy::coder::{BinaryCoder, Reader};
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::graphics::{GraphicsLayer, read_graphics};
use crate::tile::loop_filter::FilterFlags;
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::Leaf;
use crate::tile::syntax::{Block, Split, code_split};
use crate::tile::{TileConfig, superblocks};
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
        Reader::exhausted(self)
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
    let (graphics, data) = read_graphics(data, config)?;
    let mut reader = Reader::new(data, dictionary, config)?;
    read_tile(&mut reader, config, dictionary, graphics)
}

/// Decodes the planes of a tile, but for its drawn blocks, from any source of decisions.
pub(crate) fn read_tile<R: TileReader>(
    reader: &mut R,
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    graphics: Option<GraphicsLayer>,
) -> Result<Vec<Plane>, Exhausted> {
    let mut decoder = Decoder::new(config, dictionary, reader);
    decoder.state.draw_graphics(graphics);
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

pub(super) struct Decoder<'a, R> {
    pub(super) state: TileState<'a>,
    pub(super) reader: &'a mut R,
    leaf: Leaf,
}

impl<'a, R: TileReader> Decoder<'a, R> {
    pub(super) fn new(
        config: &TileConfig,
        dictionary: &'a PreparedDictionary,
        reader: &'a mut R,
    ) -> Self {
        Self {
            state: TileState::new(config, dictionary),
            reader,
            leaf: Leaf::default(),
        }
    }

    pub(super) fn block(&mut self, kind: PlaneKind, block: Block) {
        if self.state.canvas(kind).is_left_out(block) {
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

    pub(super) fn filter(&mut self, kind: PlaneKind) {
        let mut flags = FilterFlags::new(self.state.canvas(kind));
        flags.code(self.reader, kind);
        if flags.on.any() {
            self.state.filter(kind, &flags);
        }
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

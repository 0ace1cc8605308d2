//! Writes a tile: searches partition, modes, bases and levels by one Lagrangian for the whole picture.

mod analysis;
mod leaf;
mod quantise;
mod search;

use super::coder::{ModelPair, Writer};
use super::mix::PlaneKind;
use super::range::RangeEncoder;
use super::state::{Site, TileState};
use super::syntax::{Block, Split, code_split};
use super::{TileConfig, superblocks};
use analysis::Analysis;
use search::Tree;
use tessera_dict::{Dictionary, Prior};
use tessera_patch::Plane;

/// Coefficients up to this size (in steps) are told apart by the rough cost estimate.
const ESTIMATE_RANGE: f32 = 64.0;

/// How much is tried before a decision.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Luma modes whose bases are tried.
    pub modes: usize,
    /// Pairs of mode and basis that are coded in full.
    pub options: usize,
    /// Chroma modes that are coded in full.
    pub chroma_modes: usize,
    /// Price of a bit in squared steps.
    pub lambda: f32,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            modes: 3,
            options: 4,
            chroma_modes: 2,
            lambda: 0.09,
        }
    }
}

/// A written tile.
#[derive(Debug)]
pub struct EncodedTile {
    /// The bitstream.
    pub bytes: Vec<u8>,
    /// What the decoder will see.
    pub planes: Vec<Plane>,
    /// Models after the last decision, for training.
    pub priors: [Prior; 2],
}

/// Encodes the planes of a tile.
pub fn encode_tile(planes: &[Plane], config: &TileConfig, dictionary: &Dictionary, effort: Effort) -> EncodedTile {
    let mut encoder = Encoder::new(planes, config, dictionary, effort);
    for block in superblocks(config) {
        for &kind in config.layout.kinds() {
            let (_, mut tree) = encoder.search(kind, block);
            encoder.erase(kind, block);
            encoder.write(kind, block, &mut tree);
        }
    }
    let Encoder { state, writer, .. } = encoder;
    EncodedTile {
        planes: state.into_planes(config),
        priors: [0, 1].map(|kind| writer.models.0[kind].to_prior()),
        bytes: writer.range.finish(),
    }
}

struct Encoder<'a> {
    state: TileState<'a>,
    writer: Writer,
    /// Padded planes.
    originals: Vec<Vec<f32>>,
    stride: usize,
    analysis: Analysis,
    effort: Effort,
    lambda: f32,
    estimates: Vec<f32>,
}

impl<'a> Encoder<'a> {
    fn new(planes: &[Plane], config: &TileConfig, dictionary: &'a Dictionary, effort: Effort) -> Self {
        let state = TileState::new(config, dictionary);
        let (stride, rows) = (state.luma.width, state.luma.height);
        Self {
            originals: planes.iter().map(|plane| padded(plane, stride, rows)).collect(),
            stride,
            analysis: Analysis::new(dictionary),
            lambda: effort.lambda,
            estimates: estimates(effort.lambda),
            effort,
            writer: Writer {
                models: ModelPair::new(dictionary),
                range: RangeEncoder::new(),
            },
            state,
        }
    }

    fn models(&self) -> &ModelPair {
        &self.writer.models
    }

    fn plane_index(&self, site: &Site) -> usize {
        match site.kind {
            PlaneKind::Luma => 0,
            PlaneKind::Chroma => 1 + site.component,
        }
    }

    /// Writes a searched partition and draws it for good.
    fn write(&mut self, kind: PlaneKind, block: Block, tree: &mut Tree) {
        let split = match tree {
            Tree::Outside => return,
            Tree::Leaf(_) => Split::None,
            Tree::Halves(split, _) => *split,
            Tree::Quarters(_) => Split::Quad,
        };
        code_split(&mut self.writer, kind, self.state.canvas(kind), self.state.guide(kind), block, split);
        match tree {
            Tree::Outside => {}
            Tree::Leaf(trial) => self.write_leaf(kind, trial),
            Tree::Halves(_, trials) => trials.iter_mut().for_each(|trial| self.write_leaf(kind, trial)),
            Tree::Quarters(trees) => {
                for (quarter, tree) in block.quarters().into_iter().zip(trees.iter_mut()) {
                    self.write(kind, quarter, tree);
                }
            }
        }
    }

    fn write_leaf(&mut self, kind: PlaneKind, trial: &mut leaf::Trial) {
        self.state.code_leaf(&mut self.writer, kind, trial.x, trial.y, trial.shape, &mut trial.leaf);
    }
}

/// A plane as floats, its last column and row repeated up to the padded size.
fn padded(plane: &Plane, stride: usize, rows: usize) -> Vec<f32> {
    let mut out = Vec::with_capacity(stride * rows);
    for y in 0..rows {
        let row = &plane.data[y.min(plane.height - 1) * plane.width..][..plane.width];
        out.extend(row.iter().map(|&v| f32::from(v)));
        out.extend(std::iter::repeat_n(f32::from(row[plane.width - 1]), stride - plane.width));
    }
    out
}

/// Rough cost of a coefficient by its size: its energy if dropped, else noise plus some bits.
fn estimates(lambda: f32) -> Vec<f32> {
    const ENTRIES: usize = 1024;
    (0..ENTRIES)
        .map(|i| {
            let size = i as f32 * ESTIMATE_RANGE / ENTRIES as f32;
            (size * size).min(0.08 + lambda * (6.3 + 2.0 * size.max(1.0).log2()))
        })
        .collect()
}

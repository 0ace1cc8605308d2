//! Writes a tile: searches partition, modes, bases and levels by one Lagrangian for the whole picture.

pub mod cost;
mod fidelity;
mod forward;
mod lookahead;
mod mode_chroma;
mod mode_luma;
mod partition;
mod rdoq;
mod reference_search;
mod single_pass;
pub mod training;

use crate::tile::canvas::PlaneBuffer;
use crate::tile::entropy::coder::{ModelPair, Writer};
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::entropy::range::RangeEncoder;
use crate::tile::loop_filter::FilterFlags;
use crate::tile::pool::Pool;
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::{Block, Split, code_split};
use crate::tile::{TileConfig, superblocks};
use cost::estimate::CostEstimator;
use cost::levels::LevelCosts;
use forward::ForwardTransform;
use lookahead::LookaheadMap;
use lookahead::cfl_stats::CflStats;
use partition::PartitionTree;
pub use partition::split_cost::SplitCostMargins;
use rdoq::deadzone::DeadzoneTables;
use reference_search::matching::ReferenceMatches;
use tessera_dict::Dictionary;
use tessera_patch::Plane;
use training::PatchObserver;

/// How much is tried before a decision.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Luma modes whose bases are tried.
    pub modes: usize,
    /// Pairs of mode and basis that are coded in full, by area from 16 to 256 and more: a second try saves ten times
    /// as many bits per sample of a small patch as of a large one.
    pub options: [Options; 5],
    /// Chroma modes whose predictions are made.
    pub chroma_candidates: usize,
    /// Chroma modes that are coded in full.
    pub chroma_modes: usize,
    /// Bases of a chroma mode that are coded in full.
    pub chroma_options: usize,
    /// How much more than the best way a block may roughly cost whole, quartered and halved to be tried so, by size
    /// from 64 down to 8: what a trial finds pays for its time most often in small blocks.
    pub prune_ratio: [[f32; 3]; 4],
    /// Halves are tried unless quarters beat the whole block by this factor, at 1 never.
    pub halves_margin: f32,
    /// Forecasts in place of patience for luma blocks by size from 32 down to 8.
    pub split_margins: Option<[SplitCostMargins; 3]>,
    /// Bits of side information the first look assumes a block to take.
    pub block_bits: f32,
    /// Whether what is unlikely to win is left out: the whole where quarters roughly cost no more, what the quarters of a
    /// block or its luma rule out.
    pub pruned: bool,
    /// Whether levels are priced by one cell on trial rather than by mixing all contexts.
    pub fast_rdoq: bool,
    /// Price of a bit in squared steps.
    pub lambda: f32,
    /// Whether the first look decides on everything, and all of the above but `chroma_candidates` and `lambda` is only
    /// for tiles that use references.
    pub direct: bool,
}

/// How many pairs of mode and basis are coded in full.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// At most so many.
    pub count: usize,
    /// Those that roughly cost at most this much more than the best one.
    pub range: f32,
}

impl Options {
    /// `count` at all areas, with no limit but the general one.
    fn always(count: usize) -> [Self; 5] {
        // Not infinite: times a price of zero it is zero.
        let range = f32::MAX;
        [Self { count, range }; 5]
    }

    fn within(counts: [usize; 5], ranges: [f32; 5]) -> [Self; 5] {
        std::array::from_fn(|at| Self {
            count: counts[at],
            range: ranges[at],
        })
    }
}

/// The same patience at all sizes, but less of it for large blocks whole: the first look flatters them, for it predicts
/// them from originals.
fn even_prune_ratio([whole, quarters, halves]: [f32; 3]) -> [[f32; 3]; 4] {
    [0.75, 0.85, 1.0, 1.0].map(|share| [(whole * share).max(1.0), quarters, halves])
}

/// By size from 64 down to 8. Halves of the largest blocks are not even looked at.
const PRUNE_RATIOS: [[f32; 3]; 4] = [
    [1.125, 1.15, 0.0],
    [1.275, 1.15, 1.1],
    [1.5, 1.0, 1.2],
    [1.5, 1.15, 1.3],
];

/// A share below which nothing is tried.
const NEVER: f32 = -1.0;

/// What pays for its time, by size from 32 down to 8.
const MARGINS: [SplitCostMargins; 3] = [
    SplitCostMargins::new(0.02, 0.1, NEVER),
    SplitCostMargins::new(0.02, 0.1, 0.0),
    SplitCostMargins::new(0.02, 0.05, 0.0),
];
/// Without halves, which take most of it.
const MARGINS_UNHALVED: [SplitCostMargins; 3] = [
    SplitCostMargins::new(0.0, 0.05, NEVER),
    SplitCostMargins::new(0.0, 0.05, NEVER),
    SplitCostMargins::new(0.0, 0.05, NEVER),
];
/// With nearly all that can win.
const MARGINS_WIDE: [SplitCostMargins; 3] = [SplitCostMargins::new(0.2, 0.3, 0.1); 3];

impl Effort {
    /// What is tried at each point of the scale from 1 (fast) to 9 (smallest files).
    pub fn level(level: u8) -> Self {
        match level {
            0 | 1 => Self {
                direct: true,
                ..Self::wide(1, 1, [2, 1, 1], 1.0, [1.0, 1.0, 1.0])
            },
            2 => Self::narrow(2, [2, 2, 2, 1, 1], 1.0, MARGINS_UNHALVED),
            3 => Self::narrow(3, [3; 5], 1.0, MARGINS_UNHALVED),
            4 => Self::narrow(3, [3; 5], 1.02, MARGINS),
            5 => Self::narrow(3, [3; 5], 1.05, MARGINS),
            // Nearly as much as the larger ones, by the rules of the smaller ones.
            6 => Self {
                chroma_candidates: 6,
                chroma_modes: 2,
                chroma_options: 2,
                ..Self::narrow(5, [8; 5], 1.2, MARGINS_WIDE)
            },
            7 => Self::wide(5, 8, [6, 2, 2], 1.2, [3.0, 1.5, 1.6]),
            8 => Self::wide(6, 12, [6, 4, 3], 1.5, [10.0, 2.0, 2.5]),
            _ => Self::wide(8, 20, [6, 6, 4], 2.0, [100.0, 4.0, 10.0]),
        }
    }

    /// What dictionaries are learned with. It does not follow the scale, so that a change of it does not change what is
    /// learned.
    pub fn for_training(modes: usize, options: usize) -> Self {
        Self {
            modes,
            options: Options::always(options),
            chroma_candidates: 3,
            chroma_modes: 1,
            chroma_options: 1,
            prune_ratio: even_prune_ratio([1.5, 1.25, 1.2]),
            halves_margin: 1.08,
            split_margins: None,
            block_bits: 5.0,
            pruned: false,
            fast_rdoq: false,
            lambda: 0.096,
            direct: false,
        }
    }

    /// Tries all that the first look does not rule out.
    fn wide(
        modes: usize,
        options: usize,
        [chroma_candidates, chroma_modes, chroma_options]: [usize; 3],
        halves_margin: f32,
        prune_ratio: [f32; 3],
    ) -> Self {
        Self {
            chroma_candidates,
            chroma_modes,
            chroma_options,
            halves_margin,
            prune_ratio: even_prune_ratio(prune_ratio),
            ..Self::for_training(modes, options)
        }
    }

    /// Tries what pays for its time, with so many options by area.
    fn narrow(
        modes: usize,
        options: [usize; 5],
        halves_margin: f32,
        split_margins: [SplitCostMargins; 3],
    ) -> Self {
        Self {
            options: Options::within(options, [1.2, 1.15, 1.1, 1.15, 1.15]),
            halves_margin,
            split_margins: Some(split_margins),
            prune_ratio: PRUNE_RATIOS,
            block_bits: 8.0,
            pruned: true,
            fast_rdoq: true,
            ..Self::for_training(modes, 1)
        }
    }

    /// What is tried with a dictionary: networks bring two more modes that often come first, and rough costs tell less
    /// about what they leave. Training keeps to its own search.
    fn with(self, dictionary: &Dictionary) -> Self {
        const NETWORK_RANGE: f32 = 1.3;
        const NETWORK_HALVES: f32 = 1.2;
        const NETWORK_HALVES_MARGIN: f32 = 1.08;
        if dictionary.patch_nets().is_none() || !self.pruned {
            return self;
        }
        Self {
            modes: self.modes + 2,
            options: self.options.map(|options| Options {
                count: 3 * options.count + 2,
                range: options.range.max(NETWORK_RANGE),
            }),
            prune_ratio: self.prune_ratio.map(|[whole, quarters, halves]| {
                let looked_at = halves > 0.0;
                let halves = if looked_at {
                    halves.max(NETWORK_HALVES)
                } else {
                    halves
                };
                [whole, quarters, halves]
            }),
            halves_margin: self.halves_margin.max(NETWORK_HALVES_MARGIN),
            fast_rdoq: false,
            split_margins: None,
            ..self
        }
    }

    /// Whether blocks of a level (from 64 down) are ever halved.
    fn tries_halves(&self, level: usize) -> bool {
        let split_margins = self.split_margins.as_ref();
        match split_margins.zip(level.checked_sub(1)) {
            Some((split_margins, size)) => split_margins[size].halves >= 0.0,
            // With no margin halves are never tried.
            None => self.prune_ratio[level][2] > 0.0 && self.halves_margin > 1.0,
        }
    }

    /// The options of a patch of this area.
    fn options_of(&self, area: usize) -> Options {
        let class = (area / 16).ilog2() as usize;
        self.options[class.min(self.options.len() - 1)]
    }
}

impl Default for Effort {
    fn default() -> Self {
        Self::level(5)
    }
}

/// A written tile.
#[derive(Debug)]
pub struct EncodedTile {
    /// The bitstream.
    pub bytes: Vec<u8>,
    /// What the decoder will see.
    pub planes: Vec<Plane>,
}

/// Encodes the planes of a tile.
pub fn encode_tile(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &Dictionary,
    effort: Effort,
) -> EncodedTile {
    let mut encoder = Encoder::new(planes, config, dictionary, effort);
    encoder.run(config, None);
    encoder.finish_tile(config)
}

/// Encodes the planes of a tile without saying what the decoder will see: less work where no decision hangs on it.
pub fn encode_tile_no_recon(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &Dictionary,
    effort: Effort,
) -> Vec<u8> {
    let mut encoder = Encoder::new(planes, config, dictionary, effort);
    encoder.run(config, None);
    encoder.finish_no_recon(config)
}

struct Encoder<'a> {
    state: TileState<'a>,
    writer: Writer,
    /// Padded planes.
    originals: Vec<Vec<u16>>,
    rough: LookaheadMap,
    /// What luma says about chroma in the present superblock, if effort and layout ask for it.
    explained: CflStats,
    /// Where the tile resembles the references.
    matches: ReferenceMatches,
    stride: usize,
    forward: ForwardTransform,
    estimator: CostEstimator,
    level_costs: LevelCosts,
    deadzone: DeadzoneTables,
    floats: Pool<f32>,
    effort: Effort,
    lambda: f32,
}

impl<'a> Encoder<'a> {
    fn new(
        planes: &[Plane],
        config: &TileConfig,
        dictionary: &'a Dictionary,
        effort: Effort,
    ) -> Self {
        let effort = effort.with(dictionary);
        let state = TileState::new(config, dictionary);
        let models = ModelPair::new(dictionary, config.layout);
        let forward = ForwardTransform::new(dictionary);
        let (stride, rows) = (state.luma.width, state.luma.height);
        let originals: Vec<Vec<u16>> = planes
            .iter()
            .map(|plane| padded(plane, stride, rows))
            .collect();
        Self {
            matches: ReferenceMatches::default(),
            rough: LookaheadMap::empty(),
            explained: CflStats::default(),
            originals,
            stride,
            estimator: CostEstimator::new(dictionary, &models, &forward, &effort),
            level_costs: LevelCosts::default(),
            forward,
            deadzone: DeadzoneTables::new(),
            floats: Pool::default(),
            lambda: effort.lambda,
            effort,
            writer: Writer {
                models,
                range: RangeEncoder::new(),
            },
            state,
        }
    }

    fn run(&mut self, config: &TileConfig, mut observer: Option<&mut dyn PatchObserver>) {
        if let Some(references) = &self.state.references {
            let all = 0..references.len() as u8;
            self.matches = ReferenceMatches::find(references, all, self.source(), self.stride);
        }
        let in_use = self.references_pay();
        (self.state).code_references_in_use(&mut self.writer, in_use);
        let direct = self.effort.direct && !in_use && observer.is_none();
        for block in superblocks(config) {
            if direct {
                for &kind in config.layout.kinds() {
                    self.write_single_pass(kind, block);
                }
                continue;
            }
            self.estimate_superblock(block);
            if config.layout.kinds().contains(&PlaneKind::Chroma) {
                self.explained = CflStats::of(&self.originals, self.stride, block.x, block.y);
            }
            for &kind in config.layout.kinds() {
                if self.effort.fast_rdoq {
                    (self.level_costs).refresh(&self.writer.models, kind, self.lambda);
                }
                let found = self.search(kind, block, f32::INFINITY);
                let (_, mut tree) = found.expect("no bound was given");
                let kept = self.within_distortion_bound(kind, block);
                self.erase(kind, block);
                if kept {
                    self.write(kind, block, &mut tree, &mut observer);
                } else {
                    self.write_exactly(kind, block);
                }
            }
            self.state.finish_superblock();
        }
    }

    fn finish_tile(mut self, config: &TileConfig) -> EncodedTile {
        for &kind in config.layout.kinds() {
            self.filter(config, kind);
        }
        EncodedTile {
            planes: self.state.into_planes(config),
            bytes: self.writer.range.finish(),
        }
    }

    fn finish_no_recon(mut self, config: &TileConfig) -> Vec<u8> {
        for &kind in config.layout.kinds() {
            if self.effort.direct {
                FilterFlags::new(self.state.canvas(kind))
                    .everywhere()
                    .code(&mut self.writer, kind);
            } else {
                self.filter(config, kind);
            }
        }
        self.writer.range.finish()
    }

    /// Filters the superblocks that come closer to the original by it, or all of them if decisions are direct.
    fn filter(&mut self, config: &TileConfig, kind: PlaneKind) {
        let mut flags = FilterFlags::new(self.state.canvas(kind)).everywhere();
        let filtered = self.state.filtered(kind, &flags);
        let gain = |block: Block| -> f32 {
            let pairs = self
                .state
                .canvas(kind)
                .components
                .iter()
                .zip(&filtered)
                .enumerate();
            pairs
                .map(|(i, (before, after))| {
                    self.error(config, kind, i, before, block)
                        - self.error(config, kind, i, after, block)
                })
                .sum()
        };
        // It nearly always helps; asking costs as much as half of the filtering.
        if !self.effort.direct {
            flags.on = superblocks(config).map(|block| gain(block) > 0.0).collect();
        }
        flags.code(&mut self.writer, kind);
        let canvas = self.state.canvas_mut(kind);
        for (block, _) in superblocks(config).zip(&flags.on).filter(|(_, on)| **on) {
            for (to, from) in canvas.components.iter_mut().zip(&filtered) {
                to.copy_block(from, block.x, block.y, block.size);
            }
        }
    }

    /// Squared error of a decoded block inside the picture.
    fn error(
        &self,
        config: &TileConfig,
        kind: PlaneKind,
        component: usize,
        decoded: &PlaneBuffer,
        block: Block,
    ) -> f32 {
        let original = &self.originals[kind as usize + component];
        let columns = block.x..(block.x + block.size).min(config.width as usize);
        let rows = block.y..(block.y + block.size).min(config.height as usize);
        rows.map(|y| {
            let range = y * self.stride + columns.start..y * self.stride + columns.end;
            let pairs = original[range.clone()].iter().zip(&decoded.data[range]);
            pairs
                .map(|(&a, &b)| (f32::from(a) - f32::from(b)).powi(2))
                .sum::<f32>()
        })
        .sum()
    }

    /// Padded luma, for predictions from original samples.
    fn source(&self) -> &[u16] {
        &self.originals[0]
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

    /// Writes a searched partition whose samples are drawn.
    fn write(
        &mut self,
        kind: PlaneKind,
        block: Block,
        tree: &mut PartitionTree,
        observer: &mut Option<&mut dyn PatchObserver>,
    ) {
        let split = match tree {
            PartitionTree::Outside => return,
            PartitionTree::Leaf(_) => Split::None,
            PartitionTree::Halves(split, _) => *split,
            PartitionTree::Quarters(_) => Split::Quad,
        };
        code_split(
            &mut self.writer,
            kind,
            self.state.canvas(kind),
            self.state.guide(kind),
            block,
            split,
        );
        match tree {
            PartitionTree::Outside => {}
            PartitionTree::Leaf(trial) => self.write_leaf(kind, trial, observer),
            PartitionTree::Halves(_, trials) => trials
                .iter_mut()
                .for_each(|trial| self.write_leaf(kind, trial, observer)),
            PartitionTree::Quarters(trees) => {
                for (quarter, tree) in block.quarters().into_iter().zip(trees.iter_mut()) {
                    self.write(kind, quarter, tree, observer);
                }
            }
        }
    }

    fn write_leaf(
        &mut self,
        kind: PlaneKind,
        trial: &mut mode_luma::LeafCandidate,
        observer: &mut Option<&mut dyn PatchObserver>,
    ) {
        let site = Site {
            kind,
            component: 0,
            x: trial.x,
            y: trial.y,
            shape: trial.shape,
        };
        if let Some(observer) = observer {
            self.observe(&site, &trial.leaf, *observer);
        }
        let mode_luma::LeafCandidate { leaf, info, .. } = trial;
        if leaf.reference.is_none() {
            (self.state).code_drawn_leaf(&mut self.writer, &site, leaf, *info);
        } else {
            self.state.code_leaf(&mut self.writer, &site, leaf);
        }
        self.reclaim(trial);
    }
}

/// A plane with its last column and row repeated up to the padded size.
fn padded(plane: &Plane, stride: usize, rows: usize) -> Vec<u16> {
    let mut out = Vec::with_capacity(stride * rows);
    for y in 0..rows {
        let row = &plane.data[y.min(plane.height - 1) * plane.width..][..plane.width];
        out.extend_from_slice(row);
        out.resize((y + 1) * stride, row[plane.width - 1]);
    }
    out
}

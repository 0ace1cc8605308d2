//! A cheap look-ahead over a superblock: what every square block would roughly cost, and its likely directions.
//!
//! Predictions here come from original samples rather than decoded ones, so that all sizes can be compared
//! before anything is coded. The search then codes only the sizes that can still win, and starts from the
//! directions found here.

pub(crate) mod cfl_stats;
pub(crate) mod orientation;

use crate::encoder::partition::HALVES;
use crate::encoder::partition::split_cost::SplitCosts;
use crate::encoder::patch_search::PatchSearch;
use crate::encoder::reference_search::ReferenceSearch;
use crate::encoder::reference_search::matching::ReferenceMatches;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{MEAN, PLANAR};
use crate::tile::state::Site;
use crate::tile::syntax::{Block, Split};
use cfl_stats::CflStats;
use orientation::Orientations;
use tessera_patch::Shape;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// Blocks of 8 samples that cost fewer bits than this are not looked at in quarters.
const DIVISIBLE_BITS: f32 = 20.0;
/// Up to this size one of the flat modes stands for both where split costs are predicted.
const SMALL: usize = 8;
/// Halves rarely win where whole and quarters differ by more than this factor.
const HALVES_RANGE: f32 = 1.5;
/// How much more than their best division three quarters of a block have to cost whole for it not to be looked at.
const CLEARLY_DIVIDED: f32 = 1.1;

/// Rough costs of a block and its best directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockEstimate {
    /// Cost as a whole.
    pub(crate) cost: f32,
    /// Cost as upper and lower half, and as left and right half.
    halves: [f32; 2],
    /// Cost coded in the best way; nothing if the block lies outside.
    best: f32,
    pub(crate) directions: [u8; 2],
    /// Costs with the planar mode, the mean mode and both directions, relative to that with the best mode.
    pub(crate) planar: f32,
    pub(crate) mean: f32,
    pub(crate) first: f32,
    pub(crate) second: f32,
}

impl BlockEstimate {
    /// Of a block that is not worth a look.
    const UNLIKELY: Self = Self {
        cost: f32::INFINITY,
        halves: [f32::INFINITY; 2],
        best: f32::INFINITY,
        directions: [0; 2],
        planar: 1.0,
        mean: 1.0,
        first: 1.0,
        second: 1.0,
    };
}

/// Rough costs of a block whole, quartered and halved both ways, relative to the least of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeCosts {
    pub(crate) whole: f32,
    pub(crate) quarters: f32,
    pub(crate) halves: [f32; 2],
}

/// What is known before anything of a superblock is coded.
#[derive(Debug, Default)]
pub(crate) struct Lookahead {
    /// Where the tile resembles the references.
    pub(crate) matches: ReferenceMatches,
    /// Rough costs of luma blocks.
    pub(crate) map: LookaheadMap,
    /// What luma says about chroma, in tiles that have both.
    pub(crate) cfl: CflStats,
}

/// The estimates of all square luma blocks of one superblock.
#[derive(Debug)]
pub(crate) struct LookaheadMap {
    /// By size from 64 down to 4, in raster order.
    levels: [Vec<BlockEstimate>; 5],
}

/// Smallest blocks in a row of a superblock.
pub(crate) const CELLS_ACROSS: usize = SUPERBLOCK / MIN_SIDE;

pub(crate) fn level_of(size: usize) -> usize {
    (SUPERBLOCK / size).trailing_zeros() as usize
}

/// The level of a block and its index in raster order among the blocks of that size in its superblock.
pub(crate) fn place_of(block: Block) -> (usize, usize) {
    let level = level_of(block.size);
    let (x, y) = (block.x % SUPERBLOCK, block.y % SUPERBLOCK);
    (level, ((y / block.size) << level) + x / block.size)
}

/// The quarters of block `at` of a level, in the next finer one.
pub(crate) fn quarters_of(level: usize, at: usize) -> [usize; 4] {
    let side = 1 << level;
    let first = at / side * 4 * side + at % side * 2;
    [first, first + 1, first + 2 * side, first + 2 * side + 1]
}

impl Default for LookaheadMap {
    fn default() -> Self {
        Self {
            levels: std::array::from_fn(|level| vec![BlockEstimate::default(); 1 << (2 * level)]),
        }
    }
}

impl LookaheadMap {
    pub(crate) fn estimate(&self, block: Block) -> BlockEstimate {
        let (level, at) = place_of(block);
        self.levels[level][at]
    }

    /// Sets a block all parts of which are set, and what its best way costs.
    fn settle(&mut self, block: Block, mut look: BlockEstimate) {
        let undivided = look.halves.into_iter().fold(look.cost, f32::min);
        look.best = undivided.min(self.divided(block));
        let (level, at) = place_of(block);
        self.levels[level][at] = look;
    }

    /// Rough costs of the ways of coding a block.
    pub(crate) fn split_costs(&self, block: Block) -> SplitCosts {
        let look = self.estimate(block);
        SplitCosts {
            whole: look.cost,
            quarters: self.divided(block),
            halves: look.halves,
        }
    }

    /// How the ways of coding a block compare; the smallest blocks have but one.
    pub(crate) fn compare(&self, block: Block) -> RelativeCosts {
        let look = self.estimate(block);
        let quarters = self.divided(block);
        let least = self.best(block).max(f32::MIN_POSITIVE);
        RelativeCosts {
            whole: look.cost / least,
            quarters: quarters / least,
            halves: look.halves.map(|cost| cost / least),
        }
    }

    fn divided(&self, block: Block) -> f32 {
        if block.size == MIN_SIDE {
            return f32::INFINITY;
        }
        let quarters = block.quarters().into_iter();
        quarters.map(|quarter| self.best(quarter)).sum()
    }

    /// Whether at least three quarters of a block are clearly better divided themselves.
    fn is_clearly_divided(&self, block: Block) -> bool {
        let divided =
            |&quarter: &Block| self.estimate(quarter).cost > CLEARLY_DIVIDED * self.best(quarter);
        block
            .quarters()
            .iter()
            .filter(|&quarter| divided(quarter))
            .count()
            >= 3
    }

    /// Cost of the block coded in the best way; nothing if it lies outside.
    pub(crate) fn best(&self, block: Block) -> f32 {
        self.estimate(block).best
    }
}

/// Estimates all luma blocks of a superblock.
pub(crate) fn estimate_superblock(
    patches: PatchSearch<'_, '_>,
    matches: &ReferenceMatches,
    superblock: Block,
) -> LookaheadMap {
    let estimator = BlockEstimator {
        patches,
        matches,
        orientations: &Orientations::of(&patches.tile.source, superblock, 1),
    };
    let mut map = LookaheadMap::default();
    let fitting = |size: usize| {
        let across = SUPERBLOCK / size;
        let at = move |i: usize| Block {
            x: superblock.x + i % across * size,
            y: superblock.y + i / across * size,
            size,
        };
        (0..across * across)
            .map(at)
            .filter(move |block| block.fits(&patches.recon.luma))
    };
    for block in fitting(2 * MIN_SIDE) {
        let whole = estimator.estimate(block);
        let divisible = whole.cost >= patches.lambda() * DIVISIBLE_BITS;
        for quarter in block.quarters() {
            let estimate = if divisible {
                estimator.estimate(quarter)
            } else {
                BlockEstimate::UNLIKELY
            };
            map.settle(quarter, estimate);
        }
        map.settle(block, estimator.with_halves(&map, block, whole));
    }
    for size in [16, 32, SUPERBLOCK] {
        for block in fitting(size) {
            let pruned = patches.tile.speed.partition.pruned;
            let estimate = if pruned && map.is_clearly_divided(block) {
                BlockEstimate::UNLIKELY
            } else {
                estimator.with_halves(&map, block, estimator.estimate(block))
            };
            map.settle(block, estimate);
        }
    }
    map
}

/// Estimates single blocks.
pub(crate) struct BlockEstimator<'s, 'd> {
    pub(crate) patches: PatchSearch<'s, 'd>,
    pub(crate) matches: &'s ReferenceMatches,
    /// Of the superblock that the blocks lie in.
    pub(crate) orientations: &'s Orientations,
}

impl BlockEstimator<'_, '_> {
    /// Estimates a block as a whole.
    pub(crate) fn estimate(&self, block: Block) -> BlockEstimate {
        let settings = &self.patches.tile.speed.partition;
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let site = luma_site(block.x, block.y, shape);
        let predictor = self.patches.original_predictor(&site);
        let cost = |mode: usize| self.patches.prediction_cost(&site, &predictor, mode);
        let planar = cost(PLANAR);
        // In small blocks the mean does well where the planar mode does, unless networks stand in for both.
        let mean = if settings.split_margins.is_some() && block.size <= SMALL {
            planar
        } else {
            cost(MEAN)
        };
        let directions: [usize; 2] = self.orientations.strongest(block);
        let mut directions = directions.map(|mode| (cost(mode), mode));
        directions.sort_by(|a, b| a.0.total_cmp(&b.0));
        let least = planar.min(mean).min(directions[0].0);
        let by_reference = ReferenceSearch::new(self.patches, self.matches).estimate(&site);
        BlockEstimate {
            cost: least.min(by_reference) + self.patches.lambda() * settings.block_bits,
            halves: [f32::INFINITY; 2],
            best: f32::INFINITY,
            directions: directions.map(|(_, mode)| mode as u8),
            planar: planar / least,
            mean: mean / least,
            first: directions[0].0 / least,
            second: directions[1].0 / least,
        }
    }

    /// Adds a look at both ways to halve a block whose quarters are looked at, if they can matter.
    fn with_halves(&self, map: &LookaheadMap, block: Block, look: BlockEstimate) -> BlockEstimate {
        let settings = &self.patches.tile.speed.partition;
        if !settings.tries_halves(level_of(block.size)) {
            return look;
        }
        let quarters = map.divided(block);
        if look.cost.max(quarters) > look.cost.min(quarters) * HALVES_RANGE {
            return look;
        }
        let [first, second] = look.directions.map(usize::from);
        let modes: &[usize] = if settings.split_margins.is_some() {
            &[PLANAR, first]
        } else if self.patches.recon.dictionary.patch_nets().is_none() {
            // The mean seldom beats these three, a network does.
            &[PLANAR, first, second]
        } else {
            &[PLANAR, first, second, MEAN]
        };
        let halves = HALVES.map(|split| self.cost_of_halves(block, split, modes));
        BlockEstimate { halves, ..look }
    }

    /// Rough cost of both halves of a block, each predicted by one of a few modes.
    fn cost_of_halves(&self, block: Block, split: Split, modes: &[usize]) -> f32 {
        let settings = &self.patches.tile.speed.partition;
        let half = |(x, y, shape): (usize, usize, Shape)| {
            let site = luma_site(x, y, shape);
            let predictor = self.patches.original_predictor(&site);
            let costs = modes
                .iter()
                .map(|&mode| self.patches.prediction_cost(&site, &predictor, mode));
            costs.fold(f32::INFINITY, f32::min) + self.patches.lambda() * settings.block_bits
        };
        block.halves(split).into_iter().map(half).sum()
    }
}

/// The site of a luma patch.
pub(crate) fn luma_site(x: usize, y: usize, shape: Shape) -> Site {
    Site {
        kind: PlaneKind::Luma,
        component: 0,
        x,
        y,
        shape,
    }
}

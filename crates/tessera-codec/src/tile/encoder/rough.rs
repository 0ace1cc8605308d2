//! A cheap first look at a superblock: what every square block would roughly cost, and its likely directions.
//!
//! Predictions here come from original samples rather than decoded ones, so that all sizes can be compared
//! before anything is coded. The search then codes only the sizes that can still win, and starts from the
//! directions found here.

use super::Encoder;
use crate::tile::mix::PlaneKind;
use crate::tile::predict::{Border, MEAN, MODES, PLANAR, Predictor};
use crate::tile::state::{Fold, Site};
use crate::tile::syntax::{Block, Split};
use tessera_patch::Shape;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// Bits of side information a block is assumed to take.
const BLOCK_BITS: f32 = 5.0;
/// Every how many directions one is looked at.
const DIRECTION_STEP: usize = 4;

/// Rough costs of a block and its best directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    /// Cost as a whole.
    pub(crate) cost: f32,
    /// Cost as upper and lower half, and as left and right half.
    halves: [f32; 2],
    pub(crate) directions: [u8; 2],
}

/// Rough costs of a block whole, quartered and halved both ways, relative to the least of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RelativeCosts {
    pub(crate) whole: f32,
    pub(crate) quarters: f32,
    pub(crate) halves: [f32; 2],
}

/// The looks at all square luma blocks of one superblock.
#[derive(Debug)]
pub(crate) struct RoughMap {
    origin: (usize, usize),
    /// By size from 64 down to 4, in raster order.
    levels: [Vec<Look>; 5],
}

fn level_of(size: usize) -> usize {
    (SUPERBLOCK / size).trailing_zeros() as usize
}

impl RoughMap {
    pub(crate) fn empty() -> Self {
        Self {
            origin: (0, 0),
            levels: std::array::from_fn(|level| vec![Look::default(); 1 << (2 * level)]),
        }
    }

    fn index(&self, block: Block) -> (usize, usize) {
        let level = level_of(block.size);
        let (x, y) = (block.x - self.origin.0, block.y - self.origin.1);
        (level, ((y / block.size) << level) + x / block.size)
    }

    pub(crate) fn look(&self, block: Block) -> Look {
        let (level, at) = self.index(block);
        self.levels[level][at]
    }

    /// How the ways of coding a block compare; the smallest blocks have but one.
    pub(crate) fn compare(&self, block: Block) -> RelativeCosts {
        let look = self.look(block);
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

    /// Cost of the block coded in the best way; nothing if it lies outside.
    pub(crate) fn best(&self, block: Block) -> f32 {
        let look = self.look(block);
        let undivided = look.halves.into_iter().fold(look.cost, f32::min);
        undivided.min(self.divided(block))
    }
}

impl Encoder<'_> {
    /// Looks at all luma blocks of a superblock.
    pub(crate) fn look_at(&mut self, superblock: Block) {
        let mut map = RoughMap::empty();
        map.origin = (superblock.x, superblock.y);
        let mut level = vec![superblock];
        while !level.is_empty() {
            for &block in level.iter().filter(|block| block.fits(&self.state.luma)) {
                let (at, index) = map.index(block);
                map.levels[at][index] = self.look(block);
            }
            let smaller = level.iter().filter(|block| block.size > MIN_SIDE);
            let quarters = smaller.flat_map(|block| block.quarters());
            level = quarters
                .filter(|block| block.x < self.state.luma.width && block.y < self.state.luma.height)
                .collect();
        }
        self.rough = map;
    }

    pub(super) fn look(&self, block: Block) -> Look {
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let site = luma_site(block.x, block.y, shape);
        let predictor = Predictor::new(self.original_border(&site), shape);
        let mut directions = [(f32::INFINITY, 0); 2];
        let mut best = f32::INFINITY;
        let mut consider = |mode: usize| {
            let cost = self.rough_cost(&site, &predictor, mode);
            best = best.min(cost);
            if mode >= 2 && cost < directions[1].0 {
                directions[1] = (cost, mode);
                directions.sort_by(|a, b| a.0.total_cmp(&b.0));
            }
            directions[0].1
        };
        consider(PLANAR);
        consider(MEAN);
        let coarse = (2..MODES).step_by(DIRECTION_STEP);
        let around = coarse
            .map(&mut consider)
            .last()
            .expect("there are directions");
        let near = [around.wrapping_sub(2), around + 2].into_iter();
        near.filter(|mode| (2..MODES).contains(mode))
            .for_each(|mode| {
                consider(mode);
            });
        let modes = [PLANAR, directions[0].1, directions[1].1];
        let halves =
            [Split::Rows, Split::Columns].map(|split| self.look_at_halves(block, split, modes));
        let cost = best.min(self.look_at_references(&site));
        Look {
            cost: cost + self.lambda * BLOCK_BITS,
            halves,
            directions: directions.map(|(_, mode)| mode as u8),
        }
    }

    /// Rough cost of both halves of a block, each predicted by one of a few modes.
    fn look_at_halves(&self, block: Block, split: Split, modes: [usize; 3]) -> f32 {
        if block.size == MIN_SIDE {
            return f32::INFINITY;
        }
        let half = |(x, y, shape): (usize, usize, Shape)| {
            let site = luma_site(x, y, shape);
            let predictor = Predictor::new(self.original_border(&site), shape);
            let costs = modes
                .into_iter()
                .map(|mode| self.rough_cost(&site, &predictor, mode));
            costs.fold(f32::INFINITY, f32::min) + self.lambda * BLOCK_BITS
        };
        block.halves(split).into_iter().map(half).sum()
    }

    fn rough_cost(&self, site: &Site, predictor: &Predictor, mode: usize) -> f32 {
        let mut prediction = self.buffers.samples.take(site.shape.area());
        predictor.predict(mode, &mut prediction);
        let fold = Fold::new(PlaneKind::Luma, mode, site.shape);
        let spectrum = self.spectrum(site, fold, &prediction);
        let cost = self.estimate(site, fold, 0, &spectrum);
        self.buffers.samples.give(prediction);
        self.buffers.floats.give(spectrum);
        cost
    }

    /// Border of original samples.
    fn original_border(&self, site: &Site) -> Border {
        let plane = &self.source;
        let Site { x, y, shape, .. } = *site;
        let at = |x: usize, y: usize| y * self.stride + x;
        let length = shape.width() + shape.height();
        let lefts = if x == 0 {
            0
        } else {
            length.min(self.state.luma.height - y)
        };
        let tops = if y == 0 {
            0
        } else {
            length.min(self.state.luma.width - x)
        };
        let left = (0..lefts).map(|away| plane[at(x - 1, y + away)]);
        let top = if tops == 0 {
            &[][..]
        } else {
            &plane[at(x, y - 1)..][..tops]
        };
        let corner = (x > 0 && y > 0).then(|| plane[at(x - 1, y - 1)]);
        Border::new(length, left, corner, top)
    }
}

/// The site of a luma patch.
pub(super) fn luma_site(x: usize, y: usize, shape: Shape) -> Site {
    Site {
        kind: PlaneKind::Luma,
        component: 0,
        x,
        y,
        shape,
    }
}

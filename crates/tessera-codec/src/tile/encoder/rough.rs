//! A cheap first look at a superblock: what every square block would roughly cost, and its likely directions.
//!
//! Predictions here come from original samples rather than decoded ones, so that all sizes can be compared
//! before anything is coded. The search then codes only the sizes that can still win, and starts from the
//! directions found here.

use super::Encoder;
use crate::tile::mix::PlaneKind;
use crate::tile::predict::{Border, MODES, Predictor};
use crate::tile::state::{Fold, Site};
use crate::tile::syntax::Block;
use tessera_patch::Shape;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// Bits of side information a block is assumed to take.
const BLOCK_BITS: f32 = 5.0;
/// Every how many directions one is looked at.
const DIRECTION_STEP: usize = 4;

/// Rough cost of a block and its best directions.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Look {
    pub(crate) cost: f32,
    pub(crate) directions: [u8; 2],
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

    /// Cost of the block as a whole over that of its best division; the smallest blocks have none.
    pub(crate) fn ratio(&self, block: Block) -> f32 {
        if block.size == MIN_SIDE {
            return 0.0;
        }
        self.look(block).cost / self.divided(block)
    }

    fn divided(&self, block: Block) -> f32 {
        block
            .quarters()
            .into_iter()
            .map(|quarter| self.best(quarter))
            .sum()
    }

    fn best(&self, block: Block) -> f32 {
        let whole = self.look(block).cost;
        if block.size == MIN_SIDE {
            whole
        } else {
            whole.min(self.divided(block))
        }
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

    fn look(&self, block: Block) -> Look {
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let site = Site {
            kind: PlaneKind::Luma,
            component: 0,
            x: block.x,
            y: block.y,
            shape,
        };
        let predictor = Predictor::new(self.original_border(block), shape);
        let mut prediction = vec![0; shape.area()];
        let mut best = f32::INFINITY;
        let mut directions = [(f32::INFINITY, 0); 2];
        for mode in [0, 1].into_iter().chain((2..MODES).step_by(DIRECTION_STEP)) {
            predictor.predict(mode, &mut prediction);
            let fold = Fold::new(PlaneKind::Luma, mode, shape);
            let cost = self.estimate(&self.spectrum(&site, fold, &prediction));
            best = best.min(cost);
            if mode >= 2 && cost < directions[1].0 {
                directions[1] = (cost, mode as u8);
                directions.sort_by(|a, b| a.0.total_cmp(&b.0));
            }
        }
        let best = best.min(self.look_at_references(&site));
        Look {
            cost: best + self.lambda * BLOCK_BITS,
            directions: directions.map(|(_, mode)| mode),
        }
    }

    /// Border of original samples.
    fn original_border(&self, block: Block) -> Border {
        let plane = &self.source;
        let Block { x, y, size } = block;
        let at = |x: usize, y: usize| y * self.stride + x;
        let length = 2 * size;
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

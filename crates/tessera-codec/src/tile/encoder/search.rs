//! The best partition of a superblock.

use super::Encoder;
use super::leaf::Trial;
use super::quantise::metered;
use crate::tile::canvas::CellInfo;
use crate::tile::mix::PlaneKind;
use crate::tile::syntax::{Block, Split, code_split};
use tessera_patch::Shape;
use tessera_patch::shape::MIN_SIDE;

/// A partition with its leaves.
#[derive(Debug)]
pub(crate) enum Tree {
    /// Outside the canvas: nothing is coded.
    Outside,
    Leaf(Box<Trial>),
    Halves(Split, Box<[Trial; 2]>),
    Quarters(Box<[Tree; 4]>),
}

/// A block whose unsplit cost is below this many bits is not split further.
const CHEAP_BITS: f32 = 12.0;

impl Encoder<'_> {
    /// Finds the cheapest partition of `block` and leaves its reconstruction on the canvas.
    pub(crate) fn search(&mut self, kind: PlaneKind, block: Block) -> (f32, Tree) {
        let canvas = self.state.canvas(kind);
        if block.x >= canvas.width || block.y >= canvas.height {
            return (0.0, Tree::Outside);
        }
        if !block.fits(canvas) {
            return self
                .search_quarters(kind, block, f32::INFINITY)
                .expect("no bound was given");
        }
        let split_bits = self.split_bits(kind, block);
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let whole = self.try_leaf(kind, block.x, block.y, shape);
        let mut cost = whole.cost + self.lambda * split_bits[0];
        let mut tree = Tree::Leaf(Box::new(whole));
        if block.size > MIN_SIDE && cost > self.lambda * CHEAP_BITS {
            let whole_cost = cost;
            self.erase(kind, block);
            let bits = self.lambda * split_bits[1];
            let quarters =
                self.search_quarters(kind, block, cost * self.effort.halves_margin - bits);
            if let Some((quarter_cost, quarters)) =
                quarters.filter(|(quarter_cost, _)| quarter_cost + bits < cost)
            {
                (cost, tree) = (quarter_cost + bits, quarters);
            }
            // Halves pay where neither the whole nor the quarters are far ahead.
            if cost * self.effort.halves_margin > whole_cost {
                for (split, bits) in [
                    (Split::Rows, split_bits[2]),
                    (Split::Columns, split_bits[3]),
                ] {
                    self.erase(kind, block);
                    if let Some((half_cost, halves)) =
                        self.search_halves(kind, block, split, self.lambda * bits, cost)
                    {
                        (cost, tree) = (half_cost, halves);
                    }
                }
            }
        }
        self.erase(kind, block);
        self.draw(kind, &tree);
        (cost, tree)
    }

    fn split_bits(&self, kind: PlaneKind, block: Block) -> [f32; 4] {
        [Split::None, Split::Quad, Split::Rows, Split::Columns].map(|split| {
            metered(self.models(), |meter| {
                code_split(
                    meter,
                    kind,
                    self.state.canvas(kind),
                    self.state.guide(kind),
                    block,
                    split,
                );
            })
        })
    }

    fn search_halves(
        &mut self,
        kind: PlaneKind,
        block: Block,
        split: Split,
        start: f32,
        bound: f32,
    ) -> Option<(f32, Tree)> {
        let [(x, y, shape), (x2, y2, _)] = block.halves(split);
        let first = self.try_leaf(kind, x, y, shape);
        if start + first.cost >= bound {
            return None;
        }
        self.draw_trial(kind, &first);
        let second = self.try_leaf(kind, x2, y2, shape);
        let cost = start + first.cost + second.cost;
        (cost < bound).then(|| (cost, Tree::Halves(split, Box::new([first, second]))))
    }

    fn search_quarters(
        &mut self,
        kind: PlaneKind,
        block: Block,
        bound: f32,
    ) -> Option<(f32, Tree)> {
        let mut cost = 0.0;
        let mut trees = Vec::with_capacity(4);
        for quarter in block.quarters() {
            let (quarter_cost, tree) = self.search(kind, quarter);
            cost += quarter_cost;
            if cost >= bound {
                return None;
            }
            trees.push(tree);
        }
        let trees: [Tree; 4] = trees.try_into().expect("a block has four quarters");
        Some((cost, Tree::Quarters(Box::new(trees))))
    }

    /// Forgets what was drawn on a block.
    pub(crate) fn erase(&mut self, kind: PlaneKind, block: Block) {
        let Block { x, y, size } = block;
        self.state
            .canvas_mut(kind)
            .mark(x, y, size, size, CellInfo::default());
    }

    fn draw(&mut self, kind: PlaneKind, tree: &Tree) {
        match tree {
            Tree::Outside => {}
            Tree::Leaf(trial) => self.draw_trial(kind, trial),
            Tree::Halves(_, trials) => trials.iter().for_each(|trial| self.draw_trial(kind, trial)),
            Tree::Quarters(trees) => trees.iter().for_each(|tree| self.draw(kind, tree)),
        }
    }

    fn draw_trial(&mut self, kind: PlaneKind, trial: &Trial) {
        let canvas = self.state.canvas_mut(kind);
        for (component, samples) in canvas.components.iter_mut().zip(&trial.samples) {
            component.store(trial.x, trial.y, trial.shape.width(), samples);
        }
        canvas.mark(
            trial.x,
            trial.y,
            trial.shape.width(),
            trial.shape.height(),
            trial.info,
        );
    }
}

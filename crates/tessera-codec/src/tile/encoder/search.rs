//! The best partition of a superblock.

use super::Encoder;
use super::leaf::Trial;
use crate::tile::canvas::CellInfo;
use crate::tile::mix::PlaneKind;
use crate::tile::syntax::{Block, Split, split_costs};
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

/// Which ways of coding a block are tried.
struct Advice {
    whole: bool,
    quarters: bool,
    /// By rows, by columns.
    halves: [bool; 2],
}

fn cost_of(best: &Option<(f32, Tree)>) -> f32 {
    best.as_ref().map_or(f32::INFINITY, |(cost, _)| *cost)
}

/// A block whose unsplit cost is below this many bits is not split further.
const CHEAP_BITS: f32 = 12.0;
/// A searched block rarely costs less than this share of what the first look says.
const LEAST_SHARE: f32 = 0.8;

impl Encoder<'_> {
    /// Finds the cheapest partition of `block` and leaves its reconstruction on the canvas; nothing, and an
    /// undefined canvas, if every one clearly costs more than `bound`.
    pub(crate) fn search(
        &mut self,
        kind: PlaneKind,
        block: Block,
        bound: f32,
    ) -> Option<(f32, Tree)> {
        let canvas = self.state.canvas(kind);
        if block.x >= canvas.width || block.y >= canvas.height {
            return Some((0.0, Tree::Outside));
        }
        if !block.fits(canvas) {
            return self.search_quarters(kind, block, bound);
        }
        let advice = self.advice(kind, block);
        let split_bits = split_costs(
            self.models(),
            kind,
            self.state.canvas(kind),
            self.state.guide(kind),
            block,
        );
        let mut best: Option<(f32, Tree)> = None;
        if advice.whole {
            let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
            best = self
                .try_leaf(kind, block.x, block.y, shape, bound)
                .map(|whole| {
                    let cost = whole.cost + self.lambda * split_bits[0];
                    (cost, Tree::Leaf(Box::new(whole)))
                });
        }
        let whole_cost = cost_of(&best);
        if !self.is_settled(kind, &best) && whole_cost > self.lambda * CHEAP_BITS {
            if advice.quarters {
                self.erase(kind, block);
                let bits = self.lambda * split_bits[1];
                let quarters_bound = bound.min(whole_cost * self.effort.halves_margin) - bits;
                if let Some((cost, quarters)) = self.search_quarters(kind, block, quarters_bound)
                    && cost + bits < whole_cost
                {
                    best = Some((cost + bits, quarters));
                }
            }
            for (i, split) in [Split::Rows, Split::Columns].into_iter().enumerate() {
                // Halves pay where neither the whole nor the quarters are far ahead.
                let open =
                    cost_of(&best) * self.effort.halves_margin > whole_cost || best.is_none();
                if advice.halves[i] && open {
                    self.erase(kind, block);
                    let bits = self.lambda * split_bits[2 + i];
                    let halves_bound = bound.min(cost_of(&best));
                    if let Some(halves) = self.search_halves(kind, block, split, bits, halves_bound)
                    {
                        best = Some(halves);
                    }
                }
            }
        }
        let (cost, tree) = best?;
        self.erase(kind, block);
        self.draw(kind, &tree);
        Some((cost, tree))
    }

    /// Whether a whole block needs no comparison with its parts: chroma that its prediction already explains.
    fn is_settled(&self, kind: PlaneKind, whole: &Option<(f32, Tree)>) -> bool {
        let empty =
            |tree: &Tree| matches!(tree, Tree::Leaf(trial) if trial.info.coded == [false; 2]);
        kind == PlaneKind::Chroma && whole.as_ref().is_some_and(|(_, tree)| empty(tree))
    }

    /// What the rough costs say is worth trying.
    fn advice(&self, kind: PlaneKind, block: Block) -> Advice {
        let divisible = block.size > MIN_SIDE;
        if kind == PlaneKind::Chroma {
            let divide = divisible && self.luma_is_divided(block);
            return Advice {
                whole: true,
                quarters: divide,
                halves: [divide; 2],
            };
        }
        let costs = self.rough.compare(block);
        let [whole, quarters, halves] = self.effort.patience;
        Advice {
            whole: costs.whole <= whole || !divisible,
            quarters: costs.quarters <= quarters && divisible,
            halves: costs.halves.map(|cost| cost <= halves && divisible),
        }
    }

    /// Whether luma patches smaller than `block` lie inside it; chroma rarely has detail where luma has none.
    fn luma_is_divided(&self, block: Block) -> bool {
        block.quarters().into_iter().any(|quarter| {
            let cell = self.state.luma.cell(quarter.x as isize, quarter.y as isize);
            cell.is_some_and(|cell| (1usize << cell.log_width.min(cell.log_height)) < block.size)
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
        let first = self.try_leaf(kind, x, y, shape, bound - start)?;
        if start + first.cost >= bound {
            return None;
        }
        self.draw_trial(kind, &first);
        let second = self.try_leaf(kind, x2, y2, shape, bound - start - first.cost)?;
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
        let quarters = block.quarters();
        for (i, quarter) in quarters.into_iter().enumerate() {
            let rest = self.least_cost(kind, &quarters[i + 1..]);
            let (quarter_cost, tree) = self.search(kind, quarter, bound - cost - rest)?;
            cost += quarter_cost;
            if cost >= bound {
                return None;
            }
            trees.push(tree);
        }
        let trees: [Tree; 4] = trees.try_into().expect("a block has four quarters");
        Some((cost, Tree::Quarters(Box::new(trees))))
    }

    /// What blocks yet to be searched will hardly cost less than, by the first look at them.
    fn least_cost(&self, kind: PlaneKind, blocks: &[Block]) -> f32 {
        if kind == PlaneKind::Chroma {
            return 0.0;
        }
        LEAST_SHARE
            * blocks
                .iter()
                .map(|&block| self.rough.best(block))
                .sum::<f32>()
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

//! The best partition of a superblock.

pub(crate) mod split_cost;

use crate::encoder::TileContext;
use crate::encoder::lookahead::{Lookahead, level_of};
use crate::encoder::mode_chroma::ChromaModeSearch;
use crate::encoder::mode_luma::LumaModeSearch;
use crate::encoder::partition::split_cost::{SplitCostMargins, SplitCostPredictor};
use crate::encoder::patch_search::{LeafCandidate, PatchSearch};
use crate::tile::entropy::coder::ModelPair;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::{Block, Split, split_costs};
use crate::tile::transform::quantiser::Step;
use tessera_patch::Shape;
use tessera_patch::shape::MIN_SIDE;

/// A partition with its leaves.
#[derive(Debug)]
pub(crate) enum PartitionTree {
    /// Outside the canvas: nothing is coded.
    Outside,
    Leaf(Box<LeafCandidate>),
    Halves(Split, Box<[LeafCandidate; 2]>),
    Quarters(Box<[PartitionTree; 4]>),
}

/// Which ways of coding a block are tried.
struct SplitCandidates {
    whole: bool,
    quarters: bool,
    /// By rows, by columns.
    halves: [bool; 2],
    /// Whether quarters are tried before the whole block.
    quarters_first: bool,
}

impl SplitCandidates {
    /// For the smallest blocks.
    const UNDIVIDED: Self = Self {
        whole: true,
        quarters: false,
        halves: [false; 2],
        quarters_first: false,
    };
}

/// The ways of coding a block that were tried.
struct BlockSearch {
    block: Block,
    /// What costs more is of no interest.
    bound: f32,
    /// Price of saying so, by [`Split`].
    split_costs: [f32; 4],
    /// Cost of the whole block, if it was tried.
    whole: f32,
    best: Option<(f32, PartitionTree)>,
    /// Whether the best way is what the canvas shows.
    drawn: bool,
}

impl BlockSearch {
    fn least(&self) -> f32 {
        self.best.as_ref().map_or(f32::INFINITY, |(cost, _)| *cost)
    }

    /// What a way has to stay below to matter.
    fn limit(&self) -> f32 {
        self.least().min(self.bound)
    }

    /// Takes a way in; what it or the best way so far leaves behind is returned.
    fn enter(&mut self, cost: f32, tree: PartitionTree) -> Option<PartitionTree> {
        if cost < self.least() {
            let beaten = self.best.replace((cost, tree));
            beaten.map(|(_, tree)| tree)
        } else {
            Some(tree)
        }
    }

    /// Whether the whole block needs no comparison with its parts: it costs next to nothing, or it is chroma that
    /// its prediction already explains.
    fn is_settled(&self, kind: PlaneKind, lambda: f32) -> bool {
        let empty = |tree: &PartitionTree| matches!(tree, PartitionTree::Leaf(trial) if trial.info.coded == [false; 2]);
        let explained = || {
            let best = self.best.as_ref();
            self.whole <= lambda * EXPLAINED_BITS && best.is_some_and(|(_, tree)| empty(tree))
        };
        self.whole <= lambda * CHEAP_BITS || kind == PlaneKind::Chroma && explained()
    }
}

/// A block whose unsplit cost is below this many bits is not split further.
const CHEAP_BITS: f32 = 12.0;
/// A chroma block that is best left as predicted is not divided below this many bits' worth of error: large ones may be
/// left so only because their finest detail cannot be coded.
const EXPLAINED_BITS: f32 = 600.0;
/// A searched block rarely costs less than this share of what the look-ahead says.
const LEAST_SHARE: f32 = 0.95;
/// The ways to halve a block.
pub(crate) const HALVES: [Split; 2] = [Split::Rows, Split::Columns];
/// Predicted costs of cheap blocks are off by some bits rather than by some share.
const SLACK_BITS: f32 = 8.0;
/// An estimate that is off by this factor is no guide.
const MISJUDGED: f32 = 1.5;
/// Up to this many times the best way so far the true cost of a whole block is worth knowing for predictions.
const WHOLE_MARGIN: f32 = 1.1;
/// Chroma blocks of this size and more are not tried whole where luma is divided and leaves this much of them, in squared
/// steps.
const LARGE_CHROMA: usize = 32;
const UNEXPLAINED: f32 = 64.0;

/// The search for the best partition of a superblock of one plane kind. It draws on the canvas what it tries.
pub(crate) struct PartitionSearch<'s, 'd> {
    pub(crate) tile: &'s TileContext<'d>,
    pub(crate) lookahead: &'s Lookahead,
    pub(crate) models: &'s ModelPair,
    pub(crate) recon: &'s mut TileState<'d>,
    pub(crate) kind: PlaneKind,
}

impl<'d> PartitionSearch<'_, 'd> {
    /// Finds the cheapest partition of `block` and leaves its reconstruction on the canvas; nothing, and an
    /// undefined canvas, if every one clearly costs more than `bound`.
    pub(crate) fn search(&mut self, block: Block, bound: f32) -> Option<(f32, PartitionTree)> {
        let kind = self.kind;
        let canvas = self.recon.canvas(kind);
        if canvas.is_left_out(block) {
            return Some((0.0, PartitionTree::Outside));
        }
        if !block.fits(canvas) {
            return self.search_quarters(block, bound);
        }
        let split_bits = split_costs(self.models, kind, canvas, self.recon.guide(kind), block);
        let mut search = BlockSearch {
            block,
            bound,
            split_costs: split_bits.map(|bits| self.tile.costs.lambda * bits),
            whole: f32::INFINITY,
            best: None,
            drawn: false,
        };
        match self.predictor(block) {
            Some((shares, predictor)) => self.try_predicted(&mut search, shares, &predictor),
            None => self.try_candidates(&mut search),
        }
        let (cost, mut tree) = search.best?;
        if !search.drawn {
            self.recon.canvas_mut(kind).erase(block);
            self.draw(&mut tree);
        }
        Some((cost, tree))
    }

    /// Tries what the rough costs say is worth it.
    fn try_candidates(&mut self, search: &mut BlockSearch) {
        let candidates = self.candidates(search.block);
        // The likely winner first: it bounds the others.
        let mut misjudged = false;
        if candidates.quarters_first {
            let quarters = self.try_quarters(search);
            misjudged = quarters.is_some_and(|quarters| {
                self.misjudged(
                    quarters,
                    self.lookahead.map.split_costs(search.block).quarters,
                )
            });
        }
        if candidates.whole || misjudged {
            self.try_whole(search, self.tile.speed.partition.halves_margin);
        }
        if search.is_settled(self.kind, self.tile.costs.lambda) {
            return;
        }
        if candidates.quarters && !candidates.quarters_first {
            self.try_quarters(search);
        }
        for (candidate, split) in candidates.halves.into_iter().zip(HALVES) {
            // Halves pay where neither the whole nor the quarters are far ahead.
            let least = search.least();
            let open = least * self.tile.speed.partition.halves_margin > search.whole
                || least == f32::INFINITY;
            if candidate && open {
                self.try_halves(search, split);
            }
        }
    }

    /// Tries the way that roughly costs least, then those that are predicted to come close to the best so far.
    fn try_predicted(
        &mut self,
        search: &mut BlockSearch,
        shares: SplitCostMargins,
        predictor: &SplitCostPredictor,
    ) {
        let slack = self.tile.costs.lambda * SLACK_BITS;
        let quarters_first = predictor.rough.quarters < predictor.rough.whole;
        let mut quarters = None;
        let mut whole_too = true;
        if quarters_first {
            quarters = self.try_quarters(search);
            let limit = search.limit() * (1.0 + shares.whole) + slack;
            whole_too = quarters.is_none_or(|quarters| {
                self.misjudged(quarters, predictor.rough.quarters)
                    || predictor.whole(quarters) <= limit
            });
        }
        if whole_too {
            self.try_whole(search, WHOLE_MARGIN);
        }
        if search.is_settled(self.kind, self.tile.costs.lambda) {
            return;
        }
        let whole = search.whole;
        if !quarters_first {
            let limit = search.limit() * (1.0 + shares.quarters) + slack;
            if whole.is_infinite() || predictor.quarters(whole) <= limit {
                quarters = self.try_quarters(search);
                quarters = quarters.or(Some(predictor.given_up_quarters(whole)));
            }
        } else if quarters.is_none() {
            quarters = Some(predictor.given_up_quarters(whole));
        }
        // Without the cost of the whole there is nothing to predict halves from.
        if whole.is_finite() {
            let costs = predictor.halves(whole, quarters);
            let likely = usize::from(costs[1] < costs[0]);
            for at in [likely, 1 - likely] {
                if costs[at] <= search.limit() * (1.0 + shares.halves) + slack {
                    self.try_halves(search, HALVES[at]);
                }
            }
        }
    }

    /// Whether the estimate of a block was far off, by what its quarters cost and what it said they would: it did not
    /// foresee how they are predicted from decoded samples, so its word on the whole block does not count either.
    fn misjudged(&self, quarters: f32, rough: f32) -> bool {
        quarters > MISJUDGED * rough + self.tile.costs.lambda * SLACK_BITS
    }

    /// The predictor of a block that may be divided by it.
    fn predictor(&self, block: Block) -> Option<(SplitCostMargins, SplitCostPredictor)> {
        let size = level_of(block.size).checked_sub(1)?;
        let shares = *self.tile.speed.partition.split_margins?.get(size)?;
        (self.kind == PlaneKind::Luma).then(|| {
            (
                shares,
                SplitCostPredictor::new(size, self.lookahead.map.split_costs(block)),
            )
        })
    }

    /// Makes room on the canvas for another way.
    fn clear(&mut self, search: &mut BlockSearch) {
        self.recon.canvas_mut(self.kind).erase(search.block);
        search.drawn = false;
    }

    /// Tries the whole block, unless it clearly costs more than `margin` times the best way so far.
    fn try_whole(&mut self, search: &mut BlockSearch, margin: f32) {
        let Block { x, y, size } = search.block;
        self.clear(search);
        let shape = Shape::new(size, size).expect("blocks are square shapes");
        let bound = search.bound.min(search.least() * margin);
        if let Some(whole) = self.search_leaf(x, y, shape, bound) {
            search.whole = whole.cost + search.split_costs[Split::None as usize];
            let beaten = search.enter(search.whole, PartitionTree::Leaf(Box::new(whole)));
            self.reclaim_tree(beaten);
        }
    }

    /// Tries quarters and tells their cost, unless it exceeds that of the whole.
    fn try_quarters(&mut self, search: &mut BlockSearch) -> Option<f32> {
        self.clear(search);
        let price = search.split_costs[Split::Quad as usize];
        // Whether halves are tried does not hang on quarters that cost more than the whole.
        let margin = if self.tile.speed.partition.pruned {
            1.0
        } else {
            self.tile.speed.partition.halves_margin
        };
        let bound = search.bound.min(search.whole * margin) - price;
        let (cost, tree) = self.search_quarters(search.block, bound)?;
        search.drawn = cost + price < search.least();
        let beaten = search.enter(cost + price, tree);
        self.reclaim_tree(beaten);
        Some(cost + price)
    }

    fn try_halves(&mut self, search: &mut BlockSearch, split: Split) {
        self.clear(search);
        let price = search.split_costs[split as usize];
        let bound = search.limit();
        let found = self.search_halves(search.block, split, price, bound);
        if let Some((cost, tree)) = found {
            let beaten = search.enter(cost, tree);
            self.reclaim_tree(beaten);
        }
    }

    /// What the rough costs say is worth trying.
    fn candidates(&self, block: Block) -> SplitCandidates {
        let divisible = block.size > MIN_SIDE;
        if self.kind == PlaneKind::Chroma {
            return if divisible {
                self.chroma_candidates(block)
            } else {
                SplitCandidates::UNDIVIDED
            };
        }
        let Some([whole, quarters, halves]) = self
            .tile
            .speed
            .partition
            .prune_ratio
            .get(level_of(block.size))
        else {
            return SplitCandidates::UNDIVIDED;
        };
        let costs = self.lookahead.map.compare(block);
        let divide = self.tile.speed.partition.pruned && costs.quarters <= costs.whole;
        let quarters = costs.quarters <= *quarters || divide;
        SplitCandidates {
            whole: costs.whole <= *whole || self.tile.speed.partition.pruned && !divide,
            quarters,
            halves: costs.halves.map(|cost| cost <= *halves),
            quarters_first: quarters && costs.whole > 1.0,
        }
    }

    /// What is worth trying with a chroma block that can be divided: it rarely has detail where luma has none, but it may.
    fn chroma_candidates(&self, block: Block) -> SplitCandidates {
        let place = (block.x, block.y);
        let index = (self.recon).quantiser_on((self.kind, 0), place, (block.size, block.size));
        let step = Step::from_index(index).value();
        let left = self.lookahead.cfl.residual_of(block, step);
        if !self.recon.luma.is_divided(block) && left.whole < UNEXPLAINED {
            return SplitCandidates::UNDIVIDED;
        }
        if !self.tile.speed.partition.pruned {
            return SplitCandidates {
                whole: true,
                quarters: true,
                halves: [true; 2],
                quarters_first: false,
            };
        }
        let [rows, columns] = left.halves;
        SplitCandidates {
            whole: block.size < LARGE_CHROMA || left.whole < UNEXPLAINED,
            quarters: true,
            halves: [rows <= columns, columns <= rows],
            quarters_first: false,
        }
    }

    fn search_halves(
        &mut self,
        block: Block,
        split: Split,
        start: f32,
        bound: f32,
    ) -> Option<(f32, PartitionTree)> {
        let [(x, y, shape), (x2, y2, _)] = block.halves(split);
        let mut first = self.search_leaf(x, y, shape, bound - start)?;
        let mut second = None;
        if start + first.cost < bound {
            self.draw_leaf(&mut first);
            second = self.search_leaf(x2, y2, shape, bound - start - first.cost);
        }
        match second {
            Some(second) if start + first.cost + second.cost < bound => {
                let cost = start + first.cost + second.cost;
                Some((
                    cost,
                    PartitionTree::Halves(split, Box::new([first, second])),
                ))
            }
            second => {
                [Some(first), second]
                    .into_iter()
                    .flatten()
                    .for_each(|mut leaf| leaf.reclaim(&self.recon.samples));
                None
            }
        }
    }

    fn search_quarters(&mut self, block: Block, bound: f32) -> Option<(f32, PartitionTree)> {
        let mut cost = 0.0;
        let mut trees = [const { PartitionTree::Outside }; 4];
        let quarters = block.quarters();
        for (i, quarter) in quarters.into_iter().enumerate() {
            let rest = self.least_cost(&quarters[i + 1..]);
            if let Some((quarter_cost, tree)) = self.search(quarter, bound - cost - rest) {
                cost += quarter_cost;
                trees[i] = tree;
            } else {
                cost = f32::INFINITY;
            }
            if cost >= bound {
                self.reclaim_tree(trees);
                return None;
            }
        }
        Some((cost, PartitionTree::Quarters(Box::new(trees))))
    }

    /// What blocks yet to be searched will hardly cost less than, by their estimates.
    fn least_cost(&self, blocks: &[Block]) -> f32 {
        if self.kind == PlaneKind::Chroma {
            return 0.0;
        }
        LEAST_SHARE
            * blocks
                .iter()
                .map(|&block| self.lookahead.map.best(block))
                .sum::<f32>()
    }

    /// Takes the buffers of partitions back.
    fn reclaim_tree(&self, trees: impl IntoIterator<Item = PartitionTree>) {
        for tree in trees {
            match tree {
                PartitionTree::Outside => {}
                PartitionTree::Leaf(mut leaf) => leaf.reclaim(&self.recon.samples),
                PartitionTree::Halves(_, mut leaves) => {
                    (leaves.iter_mut()).for_each(|leaf| leaf.reclaim(&self.recon.samples));
                }
                PartitionTree::Quarters(trees) => self.reclaim_tree(*trees),
            }
        }
    }

    fn draw(&mut self, tree: &mut PartitionTree) {
        match tree {
            PartitionTree::Outside => {}
            PartitionTree::Leaf(trial) => self.draw_leaf(trial),
            PartitionTree::Halves(_, trials) => {
                for trial in trials.iter_mut() {
                    self.draw_leaf(trial);
                }
            }
            PartitionTree::Quarters(trees) => trees.iter_mut().for_each(|tree| self.draw(tree)),
        }
    }

    /// Draws a trial on the canvas; most are never drawn, so that only here its residual is added.
    fn draw_leaf(&mut self, trial: &mut LeafCandidate) {
        let LeafCandidate { x, y, shape, .. } = *trial;
        if !trial.drawn {
            trial.drawn = true;
            let site = Site {
                kind: self.kind,
                component: 0,
                x,
                y,
                shape,
            };
            (self.recon).add_residuals(&site, &trial.leaf, &mut trial.samples);
        }
        let canvas = self.recon.canvas_mut(self.kind);
        canvas.draw(x, y, shape, &trial.samples);
        canvas.mark(x, y, shape.width(), shape.height(), trial.info);
    }

    /// Finds the cheapest leaf for a place, unless it clearly costs more than `bound`.
    fn search_leaf(&self, x: usize, y: usize, shape: Shape, bound: f32) -> Option<LeafCandidate> {
        let patches = PatchSearch {
            tile: self.tile,
            models: self.models,
            recon: self.recon,
        };
        let lookahead = self.lookahead;
        match self.kind {
            PlaneKind::Luma => LumaModeSearch { patches, lookahead }.search(x, y, shape, bound),
            PlaneKind::Chroma => ChromaModeSearch { patches, lookahead }.search(x, y, shape, bound),
        }
    }
}

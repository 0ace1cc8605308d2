//! The fastest way to write a tile: every decision is made once, from estimates on the original.
//!
//! Sizes and luma modes are compared by rough costs of what their predictions from original samples leave, chroma by
//! what is left of it beneath the luma already drawn. Nothing is coded on trial, levels are rounded where the priors
//! say they pay, and all patches use the cosine basis.

use crate::encoder::TileContext;
use crate::encoder::fidelity::within_distortion_bound;
use crate::encoder::lookahead::luma_site;
use crate::encoder::lookahead::orientation::Orientations;
use crate::encoder::patch_search::{ModeCandidate, PatchSearch};
use crate::encoder::rdoq::deadzone::Rounding;
use crate::tile::entropy::coder::Writer;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{PLANAR, Predictor};
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::{Block, CHROMA_MODES, FROM_LUMA, Split, code_split};
use crate::tile::syntax::{Coefficients, Leaf};
use crate::tile::transform::BasisOrientation;
use tessera_patch::Shape;
use tessera_patch::shape::MIN_SIDE;

/// Directions of edges are taken from every other sample.
const EDGE_STEP: usize = 2;
/// Bits of side information a luma block is assumed to take: more than it does, for rough costs flatter small blocks.
const BLOCK_BITS: f32 = 13.0;
/// Blocks of 8 samples that cost fewer bits than this are not looked at in quarters.
const DIVISIBLE_BITS: f32 = 100.0;
/// Where the first mode leaves no more bits than this, no other one is tried.
const EASY_BITS: f32 = 12.0;
/// Chroma blocks that cost fewer bits than this are not divided.
const CHROMA_DIVISIBLE_BITS: f32 = 30.0;
/// The same where luma beneath is not divided: chroma rarely has detail there, but it may.
const CHROMA_ALONE_BITS: f32 = 600.0;
/// Chroma blocks larger than this are divided wherever luma is.
const LARGE_CHROMA: usize = 16;
/// Side of the blocks that are written exactly; all their coefficients can be coded.
const EXACT_SIDE: usize = 16;

/// How a luma block is divided and predicted.
enum Plan {
    /// Outside the canvas: nothing is coded.
    Outside,
    Whole(usize),
    Quarters(Box<[Plan; 4]>),
}

/// Decides and writes at once.
pub(crate) struct SinglePass<'s, 'd> {
    pub(crate) tile: &'s TileContext<'d>,
    pub(crate) recon: &'s mut TileState<'d>,
    pub(crate) writer: &'s mut Writer,
}

impl<'d> SinglePass<'_, 'd> {
    fn patches(&self) -> PatchSearch<'_, 'd> {
        PatchSearch {
            tile: self.tile,
            models: &self.writer.models,
            recon: self.recon,
        }
    }

    /// Decides on a superblock and writes it.
    pub(crate) fn write_superblock(&mut self, kind: PlaneKind, superblock: Block) {
        match kind {
            PlaneKind::Luma => {
                let orientations = Orientations::of(&self.tile.source, superblock, EDGE_STEP);
                let (_, plan) = self.plan(superblock, &orientations);
                self.write_plan(superblock, &plan);
            }
            PlaneKind::Chroma => self.write_chroma(superblock),
        }
    }

    /// The rough cost of a luma block and the division it is for. A block is looked at as a whole only if all its
    /// quarters are better undivided.
    fn plan(&self, block: Block, orientations: &Orientations) -> (f32, Plan) {
        let luma = &self.recon.luma;
        if luma.is_left_out(block) {
            return (0.0, Plan::Outside);
        }
        if block.size == MIN_SIDE {
            return self.plan_whole(block, orientations);
        }
        let fits = block.fits(luma);
        if fits && block.size == 2 * MIN_SIDE {
            let whole = self.plan_whole(block, orientations);
            if whole.0 < self.tile.costs.lambda * DIVISIBLE_BITS {
                return whole;
            }
            let (cost, quarters) = self.plan_quarters(block, orientations);
            return if cost < whole.0 {
                (cost, Plan::Quarters(quarters))
            } else {
                whole
            };
        }
        let (cost, quarters) = self.plan_quarters(block, orientations);
        let undivided = |plan: &Plan| matches!(plan, Plan::Whole(_));
        if fits && quarters.iter().all(undivided) {
            let whole = self.plan_whole(block, orientations);
            if whole.0 <= cost {
                return whole;
            }
        }
        (cost, Plan::Quarters(quarters))
    }

    fn plan_quarters(&self, block: Block, orientations: &Orientations) -> (f32, Box<[Plan; 4]>) {
        let mut cost = 0.0;
        let plans = block.quarters().map(|quarter| {
            let (quarter_cost, plan) = self.plan(quarter, orientations);
            cost += quarter_cost;
            plan
        });
        (cost, Box::new(plans))
    }

    /// The cheaper of the planar mode and the direction most of the block's edges have.
    fn plan_whole(&self, block: Block, orientations: &Orientations) -> (f32, Plan) {
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let site = luma_site(block.x, block.y, shape);
        let predictor = self.patches().original_predictor(&site);
        let mut best = (
            self.patches().prediction_cost(&site, &predictor, PLANAR),
            PLANAR,
        );
        if best.0 > self.tile.costs.lambda * EASY_BITS {
            let [direction] = orientations.strongest(block);
            let cost = self.patches().prediction_cost(&site, &predictor, direction);
            if cost < best.0 {
                best = (cost, direction);
            }
        }
        (
            best.0 + self.tile.costs.lambda * BLOCK_BITS,
            Plan::Whole(best.1),
        )
    }

    fn write_plan(&mut self, block: Block, plan: &Plan) {
        match plan {
            Plan::Outside => {}
            Plan::Whole(mode) => self.write_luma(block, *mode, Rounding::RateAware),
            Plan::Quarters(plans) => {
                self.write_split(PlaneKind::Luma, block, Split::Quad);
                for (quarter, plan) in block.quarters().into_iter().zip(plans.iter()) {
                    self.write_plan(quarter, plan);
                }
            }
        }
    }

    fn write_split(&mut self, kind: PlaneKind, block: Block, split: Split) {
        let (canvas, guide) = (self.recon.canvas(kind), self.recon.guide(kind));
        code_split(self.writer, kind, canvas, guide, block, split);
    }

    fn write_luma(&mut self, block: Block, mode: usize, rounding: Rounding) {
        let shape = Shape::new(block.size, block.size).expect("blocks are square shapes");
        let site = luma_site(block.x, block.y, shape);
        let mut prediction = self.recon.samples.take(shape.area());
        self.recon.predictor(&site).predict(mode, &mut prediction);
        let frequencies = self.patches().frequencies(&site, &prediction);
        let patch = self.round(&site, mode, frequencies, rounding);
        let leaf = Leaf {
            mode,
            reference: None,
            patches: [patch, Coefficients::default()],
        };
        self.write_rounded(&site, leaf, vec![prediction], rounding);
    }

    fn write_chroma(&mut self, block: Block) {
        let kind = PlaneKind::Chroma;
        let canvas = self.recon.canvas(kind);
        if canvas.is_left_out(block) {
            return;
        }
        let divided = self.recon.luma.is_divided(block);
        if !block.fits(canvas) || divided && block.size > LARGE_CHROMA {
            return self.write_chroma_quarters(block);
        }
        let sites = chroma_sites(block);
        let (cost, trials) = self.estimate_chroma(&sites);
        let bits = if divided {
            CHROMA_DIVISIBLE_BITS
        } else {
            CHROMA_ALONE_BITS
        };
        if block.size > 2 * MIN_SIDE && cost > self.tile.costs.lambda * bits {
            self.patches().recycle(trials);
            return self.write_chroma_quarters(block);
        }
        self.write_chroma_leaf(&sites, trials, Rounding::RateAware);
    }

    fn write_chroma_leaf(
        &mut self,
        sites: &[Site; 2],
        trials: [ModeCandidate; 2],
        rounding: Rounding,
    ) {
        let mode = trials[0].mode;
        let [first, second] = trials;
        let leaf = Leaf {
            mode,
            reference: None,
            patches: [
                self.round(&sites[0], mode, first.spectrum, rounding),
                self.round(&sites[1], mode, second.spectrum, rounding),
            ],
        };
        let predictions = vec![first.prediction, second.prediction];
        self.write_rounded(&sites[0], leaf, predictions, rounding);
    }

    fn write_chroma_quarters(&mut self, block: Block) {
        self.write_split(PlaneKind::Chroma, block, Split::Quad);
        for quarter in block.quarters() {
            self.write_chroma(quarter);
        }
    }

    /// Chroma predicted from luma, or like luma where that is cheaper, and what it roughly costs.
    fn estimate_chroma(&self, sites: &[Site; 2]) -> (f32, [ModeCandidate; 2]) {
        let Site { x, y, shape, .. } = sites[0];
        let canvas = self.recon.canvas(PlaneKind::Chroma);
        let luma_mode = self.recon.luma.mode_beneath(x, y, shape);
        let predictors =
            [0, 1].map(|component| Predictor::new(canvas.border(component, x, y, shape), shape));
        let trials = |mode: usize| {
            let trials = [0, 1].map(|i| {
                let mut prediction = self.recon.samples.take(shape.area());
                self.recon
                    .predict(&sites[i], &predictors[i], mode, luma_mode, &mut prediction);
                self.patches()
                    .mode_candidate(&sites[i], mode, mode as f32, prediction)
            });
            (trials[0].estimate + trials[1].estimate, trials)
        };
        let mut best = trials(FROM_LUMA);
        for mode in FROM_LUMA + 1
            ..self
                .tile
                .speed
                .prediction
                .chroma_candidates
                .min(CHROMA_MODES)
        {
            if best.0 <= self.tile.costs.lambda * EASY_BITS {
                break;
            }
            let other = trials(mode);
            let loser = if other.0 < best.0 {
                std::mem::replace(&mut best, other)
            } else {
                other
            };
            self.patches().recycle(loser.1);
        }
        best
    }

    /// Levels of what a prediction leaves.
    fn round(
        &self,
        site: &Site,
        mode: usize,
        frequencies: Vec<f32>,
        rounding: Rounding,
    ) -> Coefficients {
        let orientation = BasisOrientation::new(site.kind, mode, site.shape);
        let places = self.tile.costs.deadzone.get(
            self.recon.bases(site.kind),
            (site.shape, orientation),
            (&self.tile.forward, &self.tile.costs.estimator),
        );
        let levels = match rounding {
            Rounding::RateAware => places.rate_aware_levels(&frequencies, self.tile.costs.lambda),
            Rounding::Nearest => places.nearest_levels(&frequencies),
        };
        self.tile.forward.buffers.give(frequencies);
        Coefficients {
            levels,
            ..Coefficients::default()
        }
    }

    /// Draws and writes a leaf, or its block exactly if its levels do not keep what the quantiser promises.
    fn write_rounded(
        &mut self,
        site: &Site,
        mut leaf: Leaf,
        mut samples: Vec<Vec<i32>>,
        rounding: Rounding,
    ) {
        let Site {
            kind, x, y, shape, ..
        } = *site;
        let block = Block {
            x,
            y,
            size: shape.width(),
        };
        self.recon.add_residuals(site, &leaf, &mut samples);
        (self.recon.canvas_mut(kind)).draw(x, y, shape, &samples);
        if rounding == Rounding::RateAware
            && !within_distortion_bound(&self.tile.source, self.recon, kind, block)
        {
            self.write_exactly(kind, block);
        } else {
            self.write_split(kind, block, Split::None);
            let mut info = leaf.cell_info(shape);
            self.recon.to_whole_steps(site, &mut info);
            (self.recon).code_drawn_leaf(self.writer, site, &mut leaf, info);
        }
        samples
            .into_iter()
            .for_each(|patch| self.recon.samples.give(patch));
    }

    /// Writes a block so that every coefficient is off by no more than rounding does: what is left where a search has
    /// failed. It takes many bits.
    pub(crate) fn write_exactly(&mut self, kind: PlaneKind, block: Block) {
        let canvas = self.recon.canvas(kind);
        if canvas.is_left_out(block) {
            return;
        }
        if !block.fits(canvas) || block.size > EXACT_SIDE {
            self.write_split(kind, block, Split::Quad);
            for quarter in block.quarters() {
                self.write_exactly(kind, quarter);
            }
            return;
        }
        match kind {
            PlaneKind::Luma => self.write_luma(block, PLANAR, Rounding::Nearest),
            PlaneKind::Chroma => {
                let sites = chroma_sites(block);
                let (_, trials) = self.estimate_chroma(&sites);
                self.write_chroma_leaf(&sites, trials, Rounding::Nearest);
            }
        }
    }
}

/// The sites of both components of a square chroma leaf.
fn chroma_sites(block: Block) -> [Site; 2] {
    let Block { x, y, size } = block;
    let shape = Shape::new(size, size).expect("blocks are square shapes");
    [0, 1].map(|component| Site {
        kind: PlaneKind::Chroma,
        component,
        x,
        y,
        shape,
    })
}

//! The best way to code one chroma leaf: both components share mode and partition.

use crate::encoder::lookahead::Lookahead;
use crate::encoder::mode_luma::ESTIMATE_LOWER_BOUND;
use crate::encoder::patch_search::{
    LeafCandidate, ModeCandidate, PatchCandidate, PatchPlace, PatchSearch,
};
use crate::encoder::rdoq::metered;
use crate::encoder::reference_search::ReferenceSearch;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{HORIZONTAL, Predictor, VERTICAL};
use crate::tile::state::{Site, Surroundings};
use crate::tile::syntax::{self, CHROMA_MODES, FROM_LUMA, FROM_LUMA_TAPS};
use crate::tile::syntax::{Coefficients, Leaf};
use crate::tile::transform::BasisOrientation;
use tessera_dict::basis::MAX_BASES;
use tessera_patch::Shape;

/// Chroma changes along one axis where the other one has less than this share of its squared differences.
const STRAIGHT: f32 = 0.8;
/// What luma may leave of a patch, in squared steps, for straight modes not to be worth a trial.
const EXPLAINED: f32 = 4.0;

/// The search for one leaf.
pub(crate) struct ChromaModeSearch<'s, 'd> {
    pub(crate) patches: PatchSearch<'s, 'd>,
    pub(crate) lookahead: &'s Lookahead,
}

impl ChromaModeSearch<'_, '_> {
    /// Finds the cheapest leaf for a place, unless it clearly costs more than `bound`.
    pub(crate) fn search(
        &self,
        x: usize,
        y: usize,
        shape: Shape,
        bound: f32,
    ) -> Option<LeafCandidate> {
        let kind = PlaneKind::Chroma;
        let canvas = self.patches.recon.canvas(kind);
        let sites = [0, 1].map(|component| Site {
            kind,
            component,
            x,
            y,
            shape,
        });
        let predictors =
            [0, 1].map(|component| Predictor::new(canvas.border(component, x, y, shape), shape));
        let mut modes = self.rank_modes(&sites, &predictors);
        if estimate_of(&modes[0]) * ESTIMATE_LOWER_BOUND > bound {
            self.patches.recycle(modes.into_iter().flatten());
            return None;
        }
        let surroundings = [0, 1].map(|i: usize| {
            self.patches
                .recon
                .surroundings(&sites[i], &predictors[i].raw)
        });
        let mut best: Option<(f32, usize, [Coefficients; 2])> = None;
        for (index, trials) in modes.iter().enumerate() {
            let (cost, patches) = self.code_mode(&sites, &surroundings, trials);
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, index, patches));
            }
        }
        let (cost, index, patches) = best.expect("there is at least one chroma mode");
        let chosen = modes.swap_remove(index);
        self.patches.recycle(modes.into_iter().flatten());
        let leaf = Leaf {
            mode: chosen[0].mode,
            reference: chosen[0].reference_use(),
            patches,
        };
        let predictions = chosen.map(|trial| {
            self.patches.tile.forward.buffers.give(trial.spectrum);
            trial.prediction
        });
        Some(LeafCandidate::new(
            self.patches.recon,
            &sites[0],
            leaf,
            predictions,
            cost,
        ))
    }

    /// Codes both components with one mode, and tells what that costs.
    fn code_mode(
        &self,
        sites: &[Site; 2],
        surroundings: &[Surroundings; 2],
        trials: &[ModeCandidate; 2],
    ) -> (f32, [Coefficients; 2]) {
        let mut cost = self.patches.lambda() * 2.0 * trials[0].bits;
        let mut patches = <[Coefficients; 2]>::default();
        for component in 0..2 {
            let (site, trial) = (&sites[component], &trials[component]);
            let surroundings = trial.surroundings(&surroundings[component]);
            let cb_coded = component == 1 && patches[0].coded();
            let patch = self.best_patch(site, surroundings, cb_coded, trial);
            cost += patch.cost;
            patches[component] = patch.coefficients;
        }
        (cost, patches)
    }

    /// The chroma modes that are coded in full, most promising first.
    fn rank_modes(
        &self,
        sites: &[Site; 2],
        predictors: &[Predictor; 2],
    ) -> Vec<[ModeCandidate; 2]> {
        let Site {
            kind, x, y, shape, ..
        } = sites[0];
        let canvas = self.patches.recon.canvas(kind);
        let luma_mode = self.patches.recon.luma.mode_beneath(x, y, shape);
        let trials = |mode: usize| {
            let bits = metered(self.patches.models, |meter| {
                syntax::code_chroma_mode(meter, canvas, x, y, shape, luma_mode, mode);
            });
            let taps = (mode == FROM_LUMA_TAPS).then(|| self.patches.recon.luma_taps(&sites[0]));
            [0, 1].map(|i| {
                let mut prediction = self.patches.recon.samples.take(shape.area());
                match &taps {
                    Some(taps) => taps.predict(&canvas.components[i], &mut prediction),
                    None => self.patches.recon.predict(
                        &sites[i],
                        &predictors[i],
                        mode,
                        luma_mode,
                        &mut prediction,
                    ),
                }
                self.patches
                    .mode_candidate(&sites[i], mode, bits / 2.0, prediction)
            })
        };
        let candidates = 0..self.patches.tile.speed.prediction.chroma_candidates;
        let straight = self.straight_mode(&sites[0], luma_mode);
        let straight = straight.filter(|mode| !candidates.contains(mode));
        let tried = candidates.chain(straight).chain([FROM_LUMA_TAPS]);
        let mut modes: Vec<_> = tried.map(trials).collect();
        ReferenceSearch::new(self.patches, &self.lookahead.matches)
            .add_chroma(sites, predictors, &mut modes);
        modes.sort_by(|a, b| estimate_of(a).total_cmp(&estimate_of(b)));
        let kept = self
            .patches
            .tile
            .speed
            .prediction
            .chroma_modes
            .min(modes.len());
        self.patches.recycle(modes.drain(kept..).flatten());
        for trials in &mut modes {
            for (trial, site) in trials.iter_mut().zip(sites) {
                self.patches.order_spectrum(site, trial);
            }
        }
        modes
    }

    /// The straight mode for a patch whose chroma changes along one axis, if luma does not explain it.
    fn straight_mode(&self, site: &Site, luma_mode: usize) -> Option<usize> {
        let step = self.patches.recon.step(site).value();
        let colour = (self.lookahead.cfl).colour_of(site.x, site.y, site.shape, step);
        let mode = if colour.down < STRAIGHT * colour.across {
            VERTICAL
        } else if colour.across < STRAIGHT * colour.down {
            HORIZONTAL
        } else {
            return None;
        };
        let mode = |index: &usize| syntax::chroma_base_mode(*index, luma_mode) == mode;
        let mut plain = FROM_LUMA + 1..CHROMA_MODES;
        (colour.unexplained > EXPLAINED).then(|| plain.find(mode))?
    }

    fn best_patch(
        &self,
        site: &Site,
        surroundings: &Surroundings,
        cb_coded: bool,
        trial: &ModeCandidate,
    ) -> PatchCandidate {
        let orientation = BasisOrientation::new(site.kind, trial.mode, site.shape);
        let prices = self.patches.price_bases(site, orientation, &trial.spectrum);
        let mut choices: [usize; MAX_BASES] = std::array::from_fn(|choice| choice);
        choices.sort_by(|&a, &b| prices[a].total_cmp(&prices[b]));
        let priced = prices.iter().filter(|price| price.is_finite()).count();
        let place = PatchPlace {
            site,
            surroundings,
            orientation,
            cb_coded,
        };
        let tried = self.patches.tile.speed.transform.chroma_options.min(priced);
        self.patches
            .best_patch(&place, trial, &choices[..tried], f32::INFINITY)
    }
}

fn estimate_of(trials: &[ModeCandidate; 2]) -> f32 {
    trials[0].estimate + trials[1].estimate
}

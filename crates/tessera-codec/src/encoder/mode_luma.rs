//! The best way to code one luma leaf: prediction mode, basis and levels.

use crate::encoder::lookahead::{Lookahead, luma_site};
use crate::encoder::patch_search::{
    LeafCandidate, ModeCandidate, PatchCandidate, PatchPlace, PatchSearch,
};
use crate::encoder::reference_search::ReferenceSearch;
use crate::encoder::speed::Options;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{MEAN, MODES, PLANAR, Predictor};
use crate::tile::state::{Site, Surroundings};
use crate::tile::syntax::{Block, ModeContexts};
use crate::tile::syntax::{Coefficients, Leaf};
use crate::tile::transform::BasisOrientation;
use tessera_patch::Shape;

/// The true cost is rarely below this share of its estimate.
pub(crate) const ESTIMATE_LOWER_BOUND: f32 = 0.95;
/// What no learned basis brings the estimate of the best mode below, as a share of that with the cosine basis.
const BEST_BASIS: f32 = 0.8;
/// The same of free atoms.
const BEST_ATOM: f32 = 0.7;
/// A free atom takes the place of two or three levels, and hardly ever of more than these.
const MOST_LEVELS: usize = 6;
/// With finer quantisers (above about 0.6 bits per pixel) atoms save a thousandth of the bits and take a tenth of the time.
const FINEST_WITH_ATOMS: u8 = 64;
/// A leaf whose first option exceeds the bound by this factor is not tried further.
const ABORT_RATIO: f32 = 1.05;
/// The neighbours of a direction are tried if it costs at most this much more than the best mode.
const REFINED_UP_TO: f32 = 1.3;
/// A mode the look-ahead found to cost this much more than the best one is not tried again.
const UNLIKELY_FROM: f32 = 1.4;
/// The same where split costs are predicted; the planar mode and the first direction are no exceptions then.
const PREDICTED_UNLIKELY_FROM: f32 = 1.25;

/// A mode and a basis worth coding in full.
struct LumaOption {
    price: f32,
    mode: usize,
    choice: usize,
}

/// A luma patch predicted by a trial.
fn patch_place<'a>(
    site: &'a Site,
    decoded: &'a Surroundings,
    trial: &'a ModeCandidate,
) -> PatchPlace<'a> {
    PatchPlace {
        site,
        surroundings: trial.surroundings(decoded),
        orientation: BasisOrientation::new(PlaneKind::Luma, trial.mode, site.shape),
        cb_coded: false,
    }
}

/// The search for one leaf.
pub(crate) struct LumaModeSearch<'s, 'd> {
    pub(crate) patches: PatchSearch<'s, 'd>,
    pub(crate) lookahead: &'s Lookahead,
}

impl<'s, 'd> LumaModeSearch<'s, 'd> {
    /// Finds the cheapest leaf for a place, unless it clearly costs more than `bound`.
    pub(crate) fn search(
        &self,
        x: usize,
        y: usize,
        shape: Shape,
        bound: f32,
    ) -> Option<LeafCandidate> {
        let site = luma_site(x, y, shape);
        let predictor = self.patches.recon.predictor(&site);
        let mut modes = self.rank_modes(&site, &predictor);
        (self.references()).add_luma(&site, &predictor.raw, &mut modes);
        if modes[0].estimate * BEST_BASIS > bound {
            self.patches.recycle(modes);
            return None;
        }
        let options = self.rank_options(&site, &modes);
        if options[0].price * ESTIMATE_LOWER_BOUND > bound {
            self.patches.recycle(modes);
            return None;
        }
        let surroundings = self.patches.recon.surroundings(&site, &predictor.raw);
        let (patch, mode) = self.best_option(&site, &surroundings, &modes, &options, bound);
        let trial = modes.swap_remove(mode);
        let leaf = Leaf {
            mode: trial.mode,
            reference: trial.reference_use(),
            patches: [patch.coefficients, Coefficients::default()],
        };
        self.patches.recycle(modes);
        self.patches.tile.forward.buffers.give(trial.spectrum);
        let predictions = [trial.prediction, Vec::new()];
        Some(LeafCandidate::new(
            self.patches.recon,
            &site,
            leaf,
            predictions,
            patch.cost,
        ))
    }

    /// Codes options in full; the cheapest one, and the index of its mode. The others are not tried once `bound` is out
    /// of reach.
    fn best_option(
        &self,
        site: &Site,
        surroundings: &Surroundings,
        modes: &[ModeCandidate],
        options: &[LumaOption],
        bound: f32,
    ) -> (PatchCandidate, usize) {
        let mut best: Option<(PatchCandidate, usize)> = None;
        for option in options {
            let trial = &modes[option.mode];
            let place = patch_place(site, surroundings, trial);
            let mode_price = self.patches.lambda() * trial.bits;
            let least = best.as_ref().map_or(f32::INFINITY, |(best, _)| best.cost);
            let choices = [option.choice];
            let mut patch = (self.patches).best_patch(&place, trial, &choices, least - mode_price);
            patch.cost += mode_price;
            if best.is_none() || patch.cost < least {
                best = Some((patch, option.mode));
            }
            let hopeless = |(least, _): &(PatchCandidate, usize)| least.cost > bound * ABORT_RATIO;
            if best.as_ref().is_some_and(hopeless) {
                break;
            }
        }
        let best = best.expect("there is at least one option");
        self.better_atom(site, surroundings, modes, best)
    }

    /// The best option, or one of the first modes with a free atom if that costs less.
    fn better_atom(
        &self,
        site: &Site,
        surroundings: &Surroundings,
        modes: &[ModeCandidate],
        mut best: (PatchCandidate, usize),
    ) -> (PatchCandidate, usize) {
        let PatchSearch { tile, recon, .. } = &self.patches;
        let fine = recon.quantiser(site.kind, site.component) < FINEST_WITH_ATOMS;
        let levels = best.0.coefficients.levels.iter();
        if fine && tile.speed.partition.pruned
            || levels.filter(|&&level| level != 0).count() > MOST_LEVELS
        {
            return best;
        }
        let tried = self.patches.tile.speed.transform.atom_modes;
        for (mode, trial) in modes.iter().enumerate().take(tried) {
            if trial.estimate * BEST_ATOM > best.0.cost {
                continue;
            }
            let place = patch_place(site, surroundings, trial);
            let mode_price = self.patches.lambda() * trial.bits;
            let bound = best.0.cost - mode_price;
            if let Some(mut patch) = self.patches.best_atom(&place, trial, bound) {
                patch.cost += mode_price;
                best = (patch, mode);
            }
        }
        best
    }

    /// The pairs of mode and basis that are coded in full, most promising first.
    fn rank_options(&self, site: &Site, modes: &[ModeCandidate]) -> Vec<LumaOption> {
        let limit = modes[0].estimate * 1.6 + self.patches.lambda() * 10.0;
        let mut options: Vec<LumaOption> = Vec::with_capacity(4 * modes.len());
        for (mode, trial) in modes.iter().enumerate() {
            if trial.estimate <= limit {
                let orientation = BasisOrientation::new(PlaneKind::Luma, trial.mode, site.shape);
                let prices = self.patches.price_bases(site, orientation, &trial.spectrum);
                options.extend(
                    prices
                        .into_iter()
                        .enumerate()
                        .map(|(choice, price)| LumaOption {
                            price: price + self.patches.lambda() * trial.bits,
                            mode,
                            choice,
                        }),
                );
            }
        }
        let prices = options.iter().map(|option| option.price);
        let least = prices.fold(f32::INFINITY, f32::min);
        let Options { count, range } = self
            .patches
            .tile
            .speed
            .transform
            .options_of(site.shape.area());
        let limit = (least * 1.15 + self.patches.lambda() * 5.0).min(least * range);
        options.retain(|option| option.price <= limit);
        options.sort_by(|a, b| a.price.total_cmp(&b.price));
        options.truncate(count);
        options
    }

    /// Mode bits, predictions and spectra of the most promising modes, best first.
    fn rank_modes(&self, site: &Site, predictor: &Predictor<'_>) -> Vec<ModeCandidate> {
        let contexts = ModeContexts::new(&self.patches.recon.luma, site.x, site.y, site.shape);
        let bits = contexts.costs(self.patches.models);
        let trial = |mode: usize| {
            let mut prediction = self.patches.recon.samples.take(site.shape.area());
            predictor.predict(mode, &mut prediction);
            self.patches
                .mode_candidate(site, mode, bits[mode], prediction)
        };
        let mut trials: Vec<ModeCandidate> = Vec::with_capacity(10);
        let add = |trials: &mut Vec<ModeCandidate>, mode: usize| {
            if trials.iter().all(|trial| trial.mode != mode) {
                trials.push(trial(mode));
            }
        };
        for mode in self.promising_modes(site, &contexts).into_iter().flatten() {
            add(&mut trials, mode);
        }
        let cheaper = |a: &&ModeCandidate, b: &&ModeCandidate| a.estimate.total_cmp(&b.estimate);
        let least = trials.iter().map(|trial| trial.estimate);
        let close = least.fold(f32::INFINITY, f32::min) * REFINED_UP_TO;
        let directions = trials.iter().filter(|trial| trial.mode >= 2);
        if let Some(nearest) = directions.min_by(cheaper)
            && nearest.estimate <= close
        {
            let nearest = nearest.mode;
            for mode in [nearest - 1, nearest + 1] {
                if (2..MODES).contains(&mode) {
                    add(&mut trials, mode);
                }
            }
        }
        trials.sort_by(|a, b| cheaper(&a, &b));
        let kept = self.patches.tile.speed.prediction.modes.min(trials.len());
        self.patches.recycle(trials.drain(kept..));
        trials
            .iter_mut()
            .for_each(|trial| self.patches.order_spectrum(site, trial));
        trials
    }

    /// Flat modes, the neighbours' modes and the directions found by the look-ahead.
    fn promising_modes(&self, site: &Site, contexts: &ModeContexts) -> [Option<usize>; 8] {
        let (w, h) = (site.shape.width(), site.shape.height());
        let size = w.max(h);
        let parent = Block {
            x: site.x / size * size,
            y: site.y / size * size,
            size,
        };
        let look = self.lookahead.map.estimate(parent);
        let [direction, second] = look.directions.map(usize::from);
        let mut neighbours = contexts.neighbours();
        let [usual, unlikely] = if self.patches.tile.speed.partition.split_margins.is_some() {
            [PREDICTED_UNLIKELY_FROM; 2]
        } else {
            [f32::INFINITY, UNLIKELY_FROM]
        };
        // Where the best mode leaves nothing, relative costs are no numbers.
        let likely = |cost: f32| cost <= usual || cost.is_nan();
        let side = w.min(h);
        let child = |part: usize| {
            let (dx, dy) = if w > h {
                (part * side, 0)
            } else {
                (0, part * side)
            };
            let child = Block {
                x: site.x + dx,
                y: site.y + dy,
                size: side,
            };
            (w != h).then(|| usize::from(self.lookahead.map.estimate(child).directions[0]))
        };
        [
            likely(look.planar).then_some(PLANAR),
            (look.mean <= unlikely).then_some(MEAN),
            neighbours.next(),
            neighbours.next(),
            likely(look.first).then_some(direction),
            (look.second <= unlikely).then_some(second),
            child(0),
            child(1),
        ]
    }

    fn references(&self) -> ReferenceSearch<'s, 'd> {
        ReferenceSearch::new(self.patches, &self.lookahead.matches)
    }
}

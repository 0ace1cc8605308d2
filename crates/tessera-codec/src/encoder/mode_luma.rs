//! The best way to code one leaf: prediction mode, basis and levels.

use crate::encoder::forward::{Difference, energy};
use crate::encoder::lookahead::luma_site;
use crate::encoder::rdoq::{Prices, metered};
use crate::encoder::{Encoder, Options};
use crate::tile::canvas::CellInfo;
use crate::tile::entropy::coder::costs;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{MEAN, MODES, PLANAR, Predictor};
use crate::tile::reference::ReferenceUse;
use crate::tile::state::{BasisOrientation, Coefficients, Leaf, Site, Surroundings};
use crate::tile::syntax::patch_context::{self, PatchContext};
use crate::tile::syntax::{self, Block, ModeContexts};
use std::cell::OnceCell;
use tessera_dict::basis::MAX_BASES;
use tessera_dict::layout::Element;
use tessera_patch::Shape;

/// The true cost is rarely below this share of its estimate.
pub(crate) const ESTIMATE_LOWER_BOUND: f32 = 0.95;
/// What no learned basis brings the estimate of the best mode below, as a share of that with the cosine basis.
const BEST_BASIS: f32 = 0.8;
/// A leaf whose first option exceeds the bound by this factor is not tried further.
const ABORT_RATIO: f32 = 1.05;
/// The neighbours of a direction are tried if it costs at most this much more than the best mode.
const REFINED_UP_TO: f32 = 1.3;
/// A mode the first look found to cost this much more than the best one is not tried again.
const UNLIKELY_FROM: f32 = 1.4;
/// The same where the ways of coding blocks are forecast; the planar mode and the first direction are no exceptions then.
const PREDICTED_UNLIKELY_FROM: f32 = 1.25;

/// A coded leaf that is not yet on the canvas.
#[derive(Debug)]
pub(crate) struct LeafCandidate {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) shape: Shape,
    pub(crate) leaf: Leaf,
    pub(crate) info: CellInfo,
    /// Of each component: the prediction, and from the moment it is drawn the reconstruction.
    pub(crate) samples: [Vec<i32>; 2],
    pub(crate) drawn: bool,
    /// Distortion in squared steps plus lambda times bits.
    pub(crate) cost: f32,
}

/// A prediction mode with its prediction and the spectrum of what it leaves.
pub(crate) struct ModeCandidate {
    pub(crate) mode: usize,
    pub(crate) bits: f32,
    pub(crate) estimate: f32,
    pub(crate) prediction: Vec<i32>,
    /// As the fast transform leaves it until the trial is followed up, then in scan order.
    pub(crate) spectrum: Vec<f32>,
    /// Its energy, once it was asked for.
    pub(crate) energy: OnceCell<f32>,
    /// The reference it comes from, and what its coefficients see around them then.
    pub(crate) reference: Option<(ReferenceUse, Surroundings)>,
}

impl ModeCandidate {
    /// What the coefficients see around them, `decoded` being what is seen without a reference.
    pub(crate) fn surroundings<'t>(&'t self, decoded: &'t Surroundings) -> &'t Surroundings {
        self.reference.as_ref().map_or(decoded, |used| &used.1)
    }

    pub(crate) fn reference_use(&self) -> Option<ReferenceUse> {
        self.reference.as_ref().map(|used| used.0)
    }

    /// Distortion if nothing is added to the prediction; to be asked once the spectrum is in scan order.
    fn energy(&self) -> f32 {
        *self.energy.get_or_init(|| energy(&self.spectrum))
    }
}

/// A patch whose prediction is known, as its coefficients are seen.
#[derive(Clone, Copy)]
pub(crate) struct PatchPlace<'a> {
    pub(crate) site: &'a Site,
    pub(crate) surroundings: &'a Surroundings,
    pub(crate) orientation: BasisOrientation,
    /// Whether the other chroma component carries coefficients.
    pub(crate) cb_coded: bool,
}

/// The best coefficients of one patch.
pub(crate) struct PatchCandidate {
    pub(crate) cost: f32,
    pub(crate) coefficients: Coefficients,
}

/// A mode and a basis worth coding in full.
struct LumaOption {
    price: f32,
    mode: usize,
    choice: usize,
}

impl<'d> Encoder<'d> {
    /// Finds the cheapest leaf for a place, unless it clearly costs more than `bound`.
    pub(crate) fn try_leaf(
        &self,
        kind: PlaneKind,
        x: usize,
        y: usize,
        shape: Shape,
        bound: f32,
    ) -> Option<LeafCandidate> {
        match kind {
            PlaneKind::Luma => self.try_luma(x, y, shape, bound),
            PlaneKind::Chroma => self.try_chroma(x, y, shape, bound),
        }
    }

    fn try_luma(&self, x: usize, y: usize, shape: Shape, bound: f32) -> Option<LeafCandidate> {
        let site = luma_site(x, y, shape);
        let predictor = self.state.predictor(&site);
        let mut modes = self.rank_luma_modes(&site, &predictor);
        self.add_references(&site, &predictor.raw, &mut modes);
        if modes[0].estimate * BEST_BASIS > bound {
            self.recycle(modes);
            return None;
        }
        let options = self.rank_luma_options(&site, &modes);
        if options[0].price * ESTIMATE_LOWER_BOUND > bound {
            self.recycle(modes);
            return None;
        }
        let surroundings = self.state.surroundings(&site, &predictor.raw);
        let mut best: Option<(PatchCandidate, usize)> = None;
        for option in &options {
            let trial = &modes[option.mode];
            let place = PatchPlace {
                site: &site,
                surroundings: trial.surroundings(&surroundings),
                orientation: BasisOrientation::new(PlaneKind::Luma, trial.mode, shape),
                cb_coded: false,
            };
            let mode_price = self.lambda * trial.bits;
            let least = best.as_ref().map_or(f32::INFINITY, |(best, _)| best.cost);
            let mut patch = self.best_patch(&place, trial, &[option.choice], least - mode_price);
            patch.cost += mode_price;
            if best
                .as_ref()
                .is_none_or(|(least, _)| patch.cost < least.cost)
            {
                best = Some((patch, option.mode));
            }
            if best
                .as_ref()
                .is_some_and(|(least, _)| least.cost > bound * ABORT_RATIO)
            {
                break;
            }
        }
        let (patch, mode) = best.expect("there is at least one option");
        let trial = modes.swap_remove(mode);
        let leaf = Leaf {
            mode: trial.mode,
            reference: trial.reference_use(),
            patches: [patch.coefficients, Coefficients::default()],
        };
        self.recycle(modes);
        self.floats.give(trial.spectrum);
        Some(self.finish(&site, leaf, [trial.prediction, Vec::new()], patch.cost))
    }

    /// The pairs of mode and basis that are coded in full, most promising first.
    fn rank_luma_options(&self, site: &Site, modes: &[ModeCandidate]) -> Vec<LumaOption> {
        let limit = modes[0].estimate * 1.6 + self.lambda * 10.0;
        let mut options: Vec<LumaOption> = Vec::with_capacity(4 * modes.len());
        for (mode, trial) in modes.iter().enumerate() {
            if trial.estimate <= limit {
                let orientation = BasisOrientation::new(PlaneKind::Luma, trial.mode, site.shape);
                let prices = self.price_bases(site, orientation, &trial.spectrum);
                options.extend(
                    prices
                        .into_iter()
                        .enumerate()
                        .map(|(choice, price)| LumaOption {
                            price: price + self.lambda * trial.bits,
                            mode,
                            choice,
                        }),
                );
            }
        }
        let prices = options.iter().map(|option| option.price);
        let least = prices.fold(f32::INFINITY, f32::min);
        let Options { count, range } = self.effort.options_of(site.shape.area());
        let limit = (least * 1.15 + self.lambda * 5.0).min(least * range);
        options.retain(|option| option.price <= limit);
        options.sort_by(|a, b| a.price.total_cmp(&b.price));
        options.truncate(count);
        options
    }

    /// Mode bits, predictions and spectra of the most promising modes, best first.
    fn rank_luma_modes(&self, site: &Site, predictor: &Predictor<'_>) -> Vec<ModeCandidate> {
        let contexts = ModeContexts::new(&self.state.luma, site.x, site.y, site.shape);
        let bits = contexts.costs(self.models());
        let trial = |mode: usize| {
            let mut prediction = self.state.samples.take(site.shape.area());
            predictor.predict(mode, &mut prediction);
            self.mode_candidate(site, mode, bits[mode], prediction)
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
        let kept = self.effort.modes.min(trials.len());
        self.recycle(trials.drain(kept..));
        trials
            .iter_mut()
            .for_each(|trial| self.order_spectrum(site, trial));
        trials
    }

    /// Puts the frequencies of a trial that is followed up in scan order.
    pub(crate) fn order_spectrum(&self, site: &Site, trial: &mut ModeCandidate) {
        let orientation = BasisOrientation::new(site.kind, trial.mode, site.shape);
        let frequencies = std::mem::take(&mut trial.spectrum);
        trial.spectrum = self.spectrum(site, orientation, frequencies);
    }

    /// Flat modes, the neighbours' modes and the directions found by the first look.
    fn promising_modes(&self, site: &Site, contexts: &ModeContexts) -> [Option<usize>; 8] {
        let (w, h) = (site.shape.width(), site.shape.height());
        let size = w.max(h);
        let parent = Block {
            x: site.x / size * size,
            y: site.y / size * size,
            size,
        };
        let look = self.rough.look(parent);
        let [direction, second] = look.directions.map(usize::from);
        let mut neighbours = contexts.neighbours();
        let [usual, unlikely] = if self.effort.split_margins.is_some() {
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
            (w != h).then(|| usize::from(self.rough.look(child).directions[0]))
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

    pub(crate) fn mode_candidate(
        &self,
        site: &Site,
        mode: usize,
        bits: f32,
        prediction: Vec<i32>,
    ) -> ModeCandidate {
        let orientation = BasisOrientation::new(site.kind, mode, site.shape);
        let frequencies = self.frequencies(site, &prediction);
        let estimate = self.estimate(site, orientation, &frequencies) + self.lambda * bits;
        ModeCandidate {
            mode,
            bits,
            estimate,
            prediction,
            spectrum: frequencies,
            energy: OnceCell::new(),
            reference: None,
        }
    }

    /// Takes the buffers of trials back.
    pub(crate) fn recycle(&self, trials: impl IntoIterator<Item = ModeCandidate>) {
        for trial in trials {
            self.state.samples.give(trial.prediction);
            self.floats.give(trial.spectrum);
        }
    }

    /// Frequencies (in steps) of what a prediction leaves, as the fast transform leaves them.
    pub(crate) fn frequencies(&self, site: &Site, prediction: &[i32]) -> Vec<f32> {
        let original = &self.originals[self.plane_index(site)];
        let patch = Difference {
            original: &original[site.y * self.stride + site.x..],
            stride: self.stride,
            prediction,
        };
        let scale = 1.0 / self.state.step(site.kind).value();
        let mut frequencies = self.floats.take(site.shape.area());
        self.forward
            .frequencies(site.shape, patch, scale, &mut frequencies);
        frequencies
    }

    /// Spectrum in scan order, from frequencies as the fast transform leaves them.
    pub(crate) fn spectrum(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        frequencies: Vec<f32>,
    ) -> Vec<f32> {
        let mut spectrum = self.floats.take(site.shape.area());
        self.forward.spectrum(
            site.shape,
            orientation.transposed,
            &frequencies,
            &mut spectrum,
        );
        self.floats.give(frequencies);
        spectrum
    }

    /// Rough cost of frequencies in the cosine basis.
    pub(crate) fn estimate(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        frequencies: &[f32],
    ) -> f32 {
        let bases = self.state.bases(site.kind);
        let group = bases.group_index(orientation.apply(site.shape), orientation.class);
        self.estimator
            .estimate_frequencies(site.kind, group, orientation.transposed, frequencies)
    }

    /// Rough cost of a residual in every basis it may be coded with; infinite where there are fewer.
    pub(crate) fn price_bases(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        spectrum: &[f32],
    ) -> [f32; MAX_BASES] {
        let bases = self.state.bases(site.kind);
        let group = bases.group_index(orientation.apply(site.shape), orientation.class);
        let m = site.shape.rotated();
        let peaks = self.forward.peaks(spectrum, m);
        let rotations = self.forward.rotations(bases, group);
        let (prices, rotated) = (&self.estimator, &spectrum[..m]);
        let all = prices.estimate_all(site.kind, group, rotations, rotated, &peaks);
        // What no basis rotates costs the same in all of them.
        let rest = prices.estimate(site.kind, group, m, &spectrum[m..]);
        all.map(|price| price + rest)
    }

    /// The cheapest of coding nothing and of coding the residual with one of `choices`, without the mode's bits; what
    /// costs as much as `bound` may be missed.
    pub(crate) fn best_patch(
        &self,
        place: &PatchPlace<'_>,
        trial: &ModeCandidate,
        choices: &[usize],
        bound: f32,
    ) -> PatchCandidate {
        let PatchPlace {
            site,
            surroundings,
            orientation,
            cb_coded,
        } = *place;
        let context = self
            .state
            .patch_context(site, orientation, surroundings, cb_coded);
        let [left, above] = surroundings.neighbours;
        let contexts = patch_context::coded(&context, left, above);
        let [empty, coded] = costs(self.models(), site.kind, Element::Coded, &contexts);
        let mut best = PatchCandidate {
            cost: trial.energy() + self.lambda * empty,
            coefficients: Coefficients::default(),
        };
        for &choice in choices {
            let price = self.lambda * coded;
            let bound = bound.min(best.cost) - price;
            let found = self.coded_patch(place, context, choice, &trial.spectrum, bound);
            if let Some(mut found) = found {
                found.cost += price;
                if found.cost < best.cost {
                    best = found;
                }
            }
        }
        best
    }

    /// Codes a residual with one basis; nothing if no level survives, or at a cost of `bound` and more. `context` is that
    /// of the first basis.
    fn coded_patch(
        &self,
        place: &PatchPlace<'_>,
        mut context: PatchContext<'d>,
        choice: usize,
        spectrum: &[f32],
        bound: f32,
    ) -> Option<PatchCandidate> {
        let PatchPlace {
            site, orientation, ..
        } = *place;
        let (shape, bases) = (orientation.apply(site.shape), self.state.bases(site.kind));
        let group = bases.group(shape, orientation.class);
        context.choice = choice as u32;
        context.basis = &group[choice];
        let mut values = self.floats.take(spectrum.len());
        self.forward.rotate(
            bases,
            shape,
            orientation.class,
            choice,
            spectrum,
            &mut values,
        );
        let prices = Prices {
            models: self.models(),
            lambda: self.lambda,
            points: &self.state.dictionary.shrinkage()[site.kind as usize],
            levels: self.effort.fast_rdoq.then_some(&self.level_costs),
        };
        let found = prices.quantise(&context, &values, shape.coded(), bound);
        self.floats.give(values);
        let (levels, cost) = found?;
        let basis = metered(self.models(), |meter| {
            syntax::code_basis(meter, &context, group.len(), choice as u32);
        });
        Some(PatchCandidate {
            cost: cost + self.lambda * basis,
            coefficients: Coefficients {
                choice: choice as u32,
                levels,
            },
        })
    }

    /// The trial of a chosen leaf with its predictions.
    pub(crate) fn finish(
        &self,
        place: &Site,
        leaf: Leaf,
        predictions: [Vec<i32>; 2],
        cost: f32,
    ) -> LeafCandidate {
        let Site { x, y, shape, .. } = *place;
        LeafCandidate {
            x,
            y,
            shape,
            info: leaf.cell_info(shape),
            leaf,
            samples: predictions,
            drawn: false,
            cost,
        }
    }

    /// Draws a trial on the canvas; most are never drawn, so that only here its residual is added.
    pub(crate) fn draw_leaf(&mut self, kind: PlaneKind, trial: &mut LeafCandidate) {
        let LeafCandidate { x, y, shape, .. } = *trial;
        if !trial.drawn {
            trial.drawn = true;
            let site = Site {
                kind,
                component: 0,
                x,
                y,
                shape,
            };
            (self.state).add_residuals(&site, &trial.leaf, &mut trial.samples);
        }
        let canvas = self.state.canvas_mut(kind);
        canvas.draw(x, y, shape, &trial.samples);
        canvas.mark(x, y, shape.width(), shape.height(), trial.info);
    }
}

//! Predictions and coefficients of one patch on trial: what every search is made of.

use crate::encoder::TileContext;
use crate::encoder::forward::energy;
use crate::encoder::rdoq::{Rdoq, metered};
use crate::tile::canvas::CellInfo;
use crate::tile::entropy::coder::{ModelPair, costs};
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::Predictor;
use crate::tile::pool::Pool;
use crate::tile::reference::ReferenceUse;
use crate::tile::state::{Site, Surroundings, TileState};
use crate::tile::syntax;
use crate::tile::syntax::patch_context::{self, PatchContext};
use crate::tile::syntax::{Coefficients, Leaf};
use crate::tile::transform::BasisOrientation;
use std::cell::OnceCell;
use tessera_dict::basis::MAX_BASES;
use tessera_dict::layout::Element;
use tessera_patch::Shape;

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

impl LeafCandidate {
    /// Of a leaf at a place, with the predictions of its components.
    pub(crate) fn new(
        recon: &TileState<'_>,
        place: &Site,
        leaf: Leaf,
        predictions: [Vec<i32>; 2],
        cost: f32,
    ) -> Self {
        let Site { x, y, shape, .. } = *place;
        let mut info = leaf.cell_info(shape);
        recon.to_whole_steps(place, &mut info);
        Self {
            x,
            y,
            shape,
            info,
            leaf,
            samples: predictions,
            drawn: false,
            cost,
        }
    }

    /// Gives its buffers back.
    pub(crate) fn reclaim(&mut self, pool: &Pool<i32>) {
        for samples in self
            .samples
            .iter_mut()
            .filter(|samples| !samples.is_empty())
        {
            pool.give(std::mem::take(samples));
        }
    }
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
    pub(crate) fn energy(&self) -> f32 {
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

/// What a decision about a patch reads: the original and what things cost, the models as they are, and what is decoded
/// so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchSearch<'s, 'd> {
    pub(crate) tile: &'s TileContext<'d>,
    pub(crate) models: &'s ModelPair,
    pub(crate) recon: &'s TileState<'d>,
}

impl<'s, 'd> PatchSearch<'s, 'd> {
    /// Price of a bit in squared steps.
    pub(crate) fn lambda(&self) -> f32 {
        self.tile.costs.lambda
    }

    /// Predicts a luma patch from original samples.
    pub(crate) fn original_predictor(&self, site: &Site) -> Predictor<'s> {
        let source = &self.tile.source;
        let networks = (self.recon).neural_intra(site, source.luma(), source.stride);
        let border = source.border(site.x, site.y, site.shape);
        Predictor::with_networks(border, site.shape, networks)
    }

    pub(crate) fn prediction_cost(
        &self,
        site: &Site,
        predictor: &Predictor<'_>,
        mode: usize,
    ) -> f32 {
        let mut prediction = self.recon.samples.take(site.shape.area());
        predictor.predict(mode, &mut prediction);
        let orientation = BasisOrientation::new(PlaneKind::Luma, mode, site.shape);
        let frequencies = self.frequencies(site, &prediction);
        let cost = self.estimate(site, orientation, &frequencies);
        self.recon.samples.give(prediction);
        self.tile.forward.buffers.give(frequencies);
        cost
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
        let estimate = self.estimate(site, orientation, &frequencies) + self.lambda() * bits;
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

    /// Puts the frequencies of a trial that is followed up in scan order.
    pub(crate) fn order_spectrum(&self, site: &Site, trial: &mut ModeCandidate) {
        let orientation = BasisOrientation::new(site.kind, trial.mode, site.shape);
        let frequencies = std::mem::take(&mut trial.spectrum);
        trial.spectrum = self.spectrum(site, orientation, frequencies);
    }

    /// Takes the buffers of trials back.
    pub(crate) fn recycle(&self, trials: impl IntoIterator<Item = ModeCandidate>) {
        for trial in trials {
            self.recon.samples.give(trial.prediction);
            self.tile.forward.buffers.give(trial.spectrum);
        }
    }

    /// Frequencies (in steps) of what a prediction leaves, as the fast transform leaves them.
    pub(crate) fn frequencies(&self, site: &Site, prediction: &[i32]) -> Vec<f32> {
        let TileContext {
            source, forward, ..
        } = self.tile;
        let patch = source.residual(site, prediction);
        let scale = 1.0 / self.recon.step(site).value();
        let mut frequencies = forward.buffers.take(site.shape.area());
        forward.frequencies(site.shape, patch, scale, &mut frequencies);
        frequencies
    }

    /// Spectrum in scan order, from frequencies as the fast transform leaves them.
    pub(crate) fn spectrum(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        frequencies: Vec<f32>,
    ) -> Vec<f32> {
        let mut spectrum = self.tile.forward.buffers.take(site.shape.area());
        self.tile.forward.spectrum(
            (site.kind, site.shape),
            orientation.transposed,
            &frequencies,
            &mut spectrum,
        );
        self.tile.forward.buffers.give(frequencies);
        spectrum
    }

    /// Rough cost of frequencies in the cosine basis.
    pub(crate) fn estimate(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        frequencies: &[f32],
    ) -> f32 {
        let bases = self.recon.bases(site.kind);
        let group = bases.group_index(orientation.apply(site.shape), orientation.class);
        self.tile.costs.estimator.estimate_frequencies(
            site.kind,
            group,
            orientation.transposed,
            frequencies,
        )
    }

    /// Rough cost of a residual in every basis it may be coded with; infinite where there are fewer.
    pub(crate) fn price_bases(
        &self,
        site: &Site,
        orientation: BasisOrientation,
        spectrum: &[f32],
    ) -> [f32; MAX_BASES] {
        let bases = self.recon.bases(site.kind);
        let group = bases.group_index(orientation.apply(site.shape), orientation.class);
        let m = site.shape.rotated();
        let peaks = self.tile.forward.peaks(spectrum, m);
        let rotations = self.tile.forward.rotations(bases, group);
        let (prices, rotated) = (&self.tile.costs.estimator, &spectrum[..m]);
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
            .recon
            .patch_context(site, orientation, surroundings, cb_coded);
        let [left, above] = surroundings.neighbours;
        let contexts = patch_context::coded(&context, left, above);
        let [empty, coded] = costs(self.models, site.kind, Element::Coded, &contexts);
        let mut best = PatchCandidate {
            cost: trial.energy() + self.lambda() * empty,
            coefficients: Coefficients::default(),
        };
        let [no_atom, _] = self.atom_flag_bits(&context, place);
        for &choice in choices {
            let price = self.lambda() * (coded + no_atom);
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
        let (shape, bases) = (orientation.apply(site.shape), self.recon.bases(site.kind));
        let group = bases.group(shape, orientation.class);
        context.basis = &group[choice];
        let mut values = self.tile.forward.buffers.take(spectrum.len());
        self.tile.forward.rotate(
            bases,
            shape,
            orientation.class,
            choice,
            spectrum,
            &mut values,
        );
        let rdoq = Rdoq {
            models: self.models,
            points: &self.recon.dictionary.shrinkage()[site.kind as usize],
            levels: &self.tile.costs.levels,
        };
        let found = rdoq.quantise(&context, &values, shape.coded(), bound);
        self.tile.forward.buffers.give(values);
        let (levels, cost) = found?;
        let basis = metered(self.models, |meter| {
            syntax::code_basis(meter, &context, group.len(), choice as u32);
        });
        Some(PatchCandidate {
            cost: cost + self.lambda() * basis,
            coefficients: Coefficients {
                choice: choice as u32,
                levels,
                atom: None,
            },
        })
    }
}

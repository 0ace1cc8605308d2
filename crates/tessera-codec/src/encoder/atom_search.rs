//! The best free atom for a residual: a shortlist by the products with its peaks, then the true cost.

use crate::encoder::forward::atoms::{AtomMatrix, LikelyAtom};
use crate::encoder::patch_search::{ModeCandidate, PatchCandidate, PatchPlace, PatchSearch};
use crate::tile::entropy::coder::{costs, quick_costs};
use crate::tile::entropy::mix::Contexts;
use crate::tile::syntax::patch_context::{self, PatchContext, UNARY_LIMIT};
use crate::tile::syntax::{AtomUse, Coefficients, atom_flag, atom_magnitude_cell};
use tessera_dict::layout::Element;

impl<'d> PatchSearch<'_, 'd> {
    /// Bits of saying that a coded patch is no atom, and that it is one.
    pub(crate) fn atom_flag_bits(
        &self,
        context: &PatchContext<'d>,
        place: &PatchPlace<'_>,
    ) -> [f32; 2] {
        let shape = place.orientation.apply(place.site.shape);
        match self.recon.bases(context.kind).atoms().get(shape) {
            None => [0.0, f32::INFINITY],
            Some(_) => costs(
                self.models,
                context.kind,
                Element::Atom,
                &atom_flag(context),
            ),
        }
    }

    /// The cheapest atom for the residual of a mode, if one costs less than `bound` without the mode's bits.
    pub(crate) fn best_atom(
        &self,
        place: &PatchPlace<'_>,
        trial: &ModeCandidate,
        bound: f32,
    ) -> Option<PatchCandidate> {
        let PatchPlace {
            site,
            surroundings,
            orientation,
            cb_coded,
        } = *place;
        let shape = orientation.apply(site.shape);
        let set = self.recon.bases(site.kind).atoms().get(shape)?;
        let context = (self.recon).patch_context(site, orientation, surroundings, cb_coded);
        let [left, above] = surroundings.neighbours;
        let contexts = patch_context::coded(&context, left, above);
        let [_, coded] = costs(self.models, site.kind, Element::Coded, &contexts);
        let [_, flag] = self.atom_flag_bits(&context, place);
        let (costs, dictionary) = (&self.tile.costs, &self.recon.dictionary);
        let prices = (costs.atoms).indices(self.models, set, context.class, self.lambda());
        // Of the flags and the sign; the magnitude is still to come.
        let fixed = self.lambda() * (coded + flag + 1.0);
        let budget = bound - fixed;
        let peaks = self.tile.forward.peaks(&trial.spectrum, shape.area());
        // No atom takes away more than all peaks.
        if peaks.rest() + prices.least > budget {
            return None;
        }
        let atoms = dictionary.atoms().get(dictionary, shape)?;
        let likely = atoms.likeliest(&peaks, &prices.all);
        let amplitude = Amplitude {
            search: self,
            context: &context,
            atoms,
            trial,
        };
        let found = likely
            .into_iter()
            .filter(|likely| trial.energy() - likely.gain < budget)
            .filter_map(|likely| amplitude.best(likely, &prices.all))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        (found.0 < budget).then(|| PatchCandidate {
            cost: found.0 + fixed,
            coefficients: Coefficients {
                atom: Some(found.1),
                ..Coefficients::default()
            },
        })
    }
}

/// The choice of an atom's amplitude.
struct Amplitude<'a, 's, 'd> {
    search: &'a PatchSearch<'s, 'd>,
    context: &'a PatchContext<'d>,
    atoms: &'a AtomMatrix,
    trial: &'a ModeCandidate,
}

impl Amplitude<'_, '_, '_> {
    /// The cheapest amplitude of an atom, and its cost without flags and sign; none if that is zero.
    fn best(&self, likely: LikelyAtom, prices: &[f32]) -> Option<(f32, AtomUse)> {
        let (product, energy) = self.atoms.project(likely.index, &self.trial.spectrum);
        let nearest = (product.abs() / energy + 0.5) as u32;
        let cost = |magnitude: u32| {
            let size = magnitude as f32;
            let distortion = self.trial.energy() + size * (size * energy - 2.0 * product.abs());
            distortion + prices[likely.index] + self.price(magnitude)
        };
        let levels = [nearest, nearest.saturating_sub(1)].into_iter();
        let levels = levels.filter(|&magnitude| magnitude > 0);
        let (cost, magnitude) = levels
            .map(|magnitude| (cost(magnitude), magnitude))
            .min_by(|a, b| a.0.total_cmp(&b.0))?;
        let level = if product < 0.0 {
            -(magnitude as i32)
        } else {
            magnitude as i32
        };
        Some((
            cost,
            AtomUse {
                index: likely.index as u16,
                level,
            },
        ))
    }

    /// Price of a magnitude.
    fn price(&self, magnitude: u32) -> f32 {
        let PatchSearch { models, .. } = self.search;
        let decision = |below: u32| {
            let contexts = Contexts::single(atom_magnitude_cell(self.context, below));
            let bits = quick_costs(models, self.context.kind, Element::AtomMagnitude, &contexts);
            bits[usize::from(magnitude > below + 1)]
        };
        let unary: f32 = (0..magnitude.min(UNARY_LIMIT)).map(decision).sum();
        let escape = match magnitude.checked_sub(UNARY_LIMIT + 1) {
            None => 0,
            Some(rest) => 2 * (rest + 1).ilog2() + 1,
        };
        self.search.lambda() * (unary + escape as f32)
    }
}

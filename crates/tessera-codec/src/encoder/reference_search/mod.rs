//! Trials of predictions from reference pictures.

pub(crate) mod matching;

use crate::encoder::lookahead::luma_site;
use crate::encoder::patch_search::{ModeCandidate, PatchSearch};
use crate::encoder::rdoq::metered;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::intra::{Border, PLANAR, Predictor};
use crate::tile::reference::{
    CHROMA_FROM_REFERENCE, Correction, ReferenceContexts, ReferenceUse, References, Shift,
};
use crate::tile::state::Site;
use matching::ReferenceMatches;
use tessera_patch::Shape;

/// Shifts of a leaf whose predictions are made in full.
const SHIFTS: usize = 2;
/// Steps by which the best shift of a leaf may move from where it was found.
const REFINEMENTS: usize = 4;
/// A refined shift must be better by this factor, because its name is longer.
const REFINEMENT_GAIN: u64 = 20;
/// References that leave more than this many quarters of what the best mode leaves are not tried.
const MAX_SAD_RATIO: u64 = 6;
/// Side of the blocks on which references are weighed against the border.
const PROBE: usize = 16;

/// Trials of predictions from the dictionary's reference pictures.
#[derive(Clone, Copy)]
pub(crate) struct ReferenceSearch<'s, 'd> {
    patches: PatchSearch<'s, 'd>,
    matches: &'s ReferenceMatches,
}

impl<'s, 'd> ReferenceSearch<'s, 'd> {
    pub(crate) fn new(patches: PatchSearch<'s, 'd>, matches: &'s ReferenceMatches) -> Self {
        Self { patches, matches }
    }

    /// Whether any part of the tile is closer to a reference than to its surroundings.
    pub(crate) fn references_pay(&self) -> bool {
        let Some(references) = &self.patches.recon.references else {
            return false;
        };
        let shape = Shape::new(PROBE, PROBE).expect("the probe is a shape");
        let (width, height) = (
            self.patches.recon.luma.width,
            self.patches.recon.luma.height,
        );
        let rows = (0..height - height % PROBE).step_by(PROBE);
        let mut sites = rows.flat_map(|y| {
            let columns = (0..width - width % PROBE).step_by(PROBE);
            columns.map(move |x| luma_site(x, y, shape))
        });
        width < PROBE || height < PROBE || sites.any(|site| self.reference_wins(references, &site))
    }

    fn reference_wins(&self, references: &References<'_>, site: &Site) -> bool {
        let shifts = self.matches.shifts(site);
        let best = shifts
            .map(|shift| self.mean_removed_sad(references, site, shift))
            .min();
        let flat = self.mean_abs_dev(site);
        best.is_some_and(|best| 4 * best < 3 * flat)
    }

    /// Sum of differences between a patch and its mean.
    fn mean_abs_dev(&self, site: &Site) -> u64 {
        let rows = || self.patches.tile.source.luma_rows(site);
        let sum: u64 = rows().flatten().map(|&v| u64::from(v)).sum();
        let mean = (sum / site.shape.area() as u64) as u16;
        rows().flatten().map(|&v| u64::from(v.abs_diff(mean))).sum()
    }

    /// Sum of differences between a patch and a prediction.
    fn sad(&self, site: &Site, prediction: &[i32]) -> u64 {
        let rows = prediction.chunks_exact(site.shape.width());
        let originals = self.patches.tile.source.luma_rows(site);
        rows.zip(originals)
            .map(|(values, original)| {
                let pairs = original.iter().zip(values);
                pairs
                    .map(|(&o, &v)| u64::from(i32::from(o).abs_diff(v)))
                    .sum::<u64>()
            })
            .sum()
    }

    /// Sum of differences between a patch and a reference, apart from their means.
    fn mean_removed_sad(&self, references: &References<'_>, site: &Site, shift: Shift) -> u64 {
        let mut patch = references.patch(site, shift);
        let mut sum = 0i64;
        let rows = patch.chunks_exact_mut(site.shape.width());
        for (values, original) in rows.zip(self.patches.tile.source.luma_rows(site)) {
            for (value, &original) in values.iter_mut().zip(original) {
                *value -= i32::from(original);
                sum += i64::from(*value);
            }
        }
        let mean = (sum / patch.len() as i64) as i32;
        patch.iter().map(|&v| u64::from(v.abs_diff(mean))).sum()
    }

    /// Rough cost of a block predicted from the reference that fits it best.
    pub(crate) fn estimate(&self, site: &Site) -> f32 {
        match &self.patches.recon.references {
            Some(references) => self.estimate_shifts(references, site, self.matches.shifts(site)),
            None => f32::INFINITY,
        }
    }

    /// Rough cost of a block predicted by the best of some shifts, its mean set right.
    pub(crate) fn estimate_shifts(
        &self,
        references: &References<'_>,
        site: &Site,
        shifts: impl Iterator<Item = Shift>,
    ) -> f32 {
        let best = shifts.min_by_key(|&shift| self.mean_removed_sad(references, site, shift));
        let Some(shift) = best else {
            return f32::INFINITY;
        };
        let mut patch = references.patch(site, shift);
        let mut sum = 0.0;
        let rows = patch.chunks_exact(site.shape.width());
        for (values, original) in rows.zip(self.patches.tile.source.luma_rows(site)) {
            let pairs = original.iter().zip(values);
            sum += pairs.map(|(&o, &v)| f32::from(o) - v as f32).sum::<f32>();
        }
        let mean = (sum / patch.len() as f32).round() as i32;
        patch.iter_mut().for_each(|value| *value += mean);
        self.patches
            .mode_candidate(site, PLANAR, 0.0, patch)
            .estimate
    }

    /// Adds predictions from references to those from the border, and the bits of saying which it is.
    pub(crate) fn add_luma(&self, site: &Site, border: &Border, modes: &mut Vec<ModeCandidate>) {
        let (Some(references), Some(contexts)) = (
            &self.patches.recon.references,
            ReferenceContexts::new(self.patches.recon, *site, border),
        ) else {
            return;
        };
        let bits_of = |used| {
            metered(self.patches.models, |meter| {
                contexts.code_luma(meter, used);
            })
        };
        let without = bits_of(None);
        for trial in modes.iter_mut() {
            trial.bits += without;
            trial.estimate += self.patches.lambda() * without;
        }
        let most = MAX_SAD_RATIO * self.sad(site, &modes[0].prediction) / 4;
        let shifts = self.promising_shifts(references, &contexts, site, most);
        let mut trials = Vec::new();
        for (rank, &shift) in shifts.iter().enumerate() {
            // What suits the best shift is seldom beaten by another correction of the next one.
            let corrections = match rank {
                0 => &Correction::ALL[..],
                _ => &[Correction::Smooth],
            };
            for &correction in corrections {
                let used = ReferenceUse { shift, correction };
                let bits = bits_of(Some(used));
                trials.push(self.reference_candidate(references, site, border, used, bits));
            }
        }
        trials.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        trials.truncate(self.patches.tile.speed.prediction.modes);
        trials
            .iter_mut()
            .for_each(|trial| self.patches.order_spectrum(site, trial));
        modes.extend(trials);
        modes.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
    }

    fn reference_candidate(
        &self,
        references: &References<'_>,
        site: &Site,
        border: &Border,
        used: ReferenceUse,
        bits: f32,
    ) -> ModeCandidate {
        let canvas = self.patches.recon.canvas(site.kind);
        let prediction = references.predict(canvas, site, border, used);
        let mode = match site.kind {
            PlaneKind::Luma => PLANAR,
            PlaneKind::Chroma => CHROMA_FROM_REFERENCE,
        };
        ModeCandidate {
            reference: Some((
                used,
                self.patches.recon.surroundings(site, &prediction.border),
            )),
            ..self
                .patches
                .mode_candidate(site, mode, bits, prediction.samples)
        }
    }

    /// The shifts under which a reference resembles a leaf most, best first; none that departs by more than `most`.
    fn promising_shifts(
        &self,
        references: &References<'_>,
        contexts: &ReferenceContexts<'_, '_>,
        site: &Site,
        most: u64,
    ) -> Vec<Shift> {
        let mut shifts: Vec<Shift> = contexts.candidates().to_vec();
        for shift in self.matches.shifts(site) {
            if !shifts.contains(&shift) {
                shifts.push(shift);
            }
        }
        let mut ranked: Vec<(u64, Shift)> = shifts
            .into_iter()
            .map(|shift| (self.mean_removed_sad(references, site, shift), shift))
            .collect();
        ranked.sort_by_key(|(mean_removed_sad, _)| *mean_removed_sad);
        ranked.retain(|(mean_removed_sad, _)| *mean_removed_sad <= most);
        ranked.truncate(SHIFTS);
        let refined = ranked
            .first()
            .and_then(|&best| self.refined(references, site, best));
        let ranked = ranked.into_iter().map(|(_, shift)| shift);
        refined.into_iter().chain(ranked).collect()
    }

    /// Follows falling differences from a shift to one nearby.
    fn refined(
        &self,
        references: &References<'_>,
        site: &Site,
        start: (u64, Shift),
    ) -> Option<Shift> {
        let mut best = start;
        for _ in 0..REFINEMENTS {
            let (_, at) = best;
            let near = [(-1, 0), (1, 0), (0, -1), (0, 1)].map(|(dx, dy)| Shift {
                dx: at.dx.saturating_add(dx),
                dy: at.dy.saturating_add(dy),
                ..at
            });
            let near = near.map(|shift| (self.mean_removed_sad(references, site, shift), shift));
            let nearest = near
                .into_iter()
                .min_by_key(|(mean_removed_sad, _)| *mean_removed_sad);
            match nearest {
                Some(found) if found.0 < best.0 => best = found,
                _ => break,
            }
        }
        let worth_it = best.0 + best.0 / REFINEMENT_GAIN < start.0;
        worth_it.then_some(best.1)
    }

    /// Adds the ways in which chroma may follow luma into a reference.
    pub(crate) fn add_chroma(
        &self,
        sites: &[Site; 2],
        predictors: &[Predictor; 2],
        modes: &mut Vec<[ModeCandidate; 2]>,
    ) {
        let (Some(references), Some(contexts)) = (
            &self.patches.recon.references,
            ReferenceContexts::new(self.patches.recon, sites[0], &predictors[0].raw),
        ) else {
            return;
        };
        let Some(luma) = contexts.luma_use() else {
            return;
        };
        let bits_of = |used| {
            metered(self.patches.models, |meter| {
                contexts.code_chroma(meter, used);
            })
        };
        let without = bits_of(None) / 2.0;
        for trial in modes.iter_mut().flatten() {
            trial.bits += without;
            trial.estimate += self.patches.lambda() * without;
        }
        modes.extend(Correction::ALL.map(|correction| {
            let used = ReferenceUse {
                shift: luma.shift,
                correction,
            };
            let bits = bits_of(Some(used)) / 2.0;
            [0, 1].map(|i| {
                self.reference_candidate(references, &sites[i], &predictors[i].raw, used, bits)
            })
        }));
    }
}

//! The best way to code one leaf: prediction mode, basis and levels.

use super::Encoder;
use super::analysis::Difference;
use super::quantise::{Prices, metered};
use crate::simd::vectorised;
use crate::tile::canvas::{CellInfo, level_activity};
use crate::tile::coder::costs;
use crate::tile::mix::PlaneKind;
use crate::tile::patch_context;
use crate::tile::predict::{Border, MEAN, MODES, PLANAR, Predictor};
use crate::tile::reference::ReferenceUse;
use crate::tile::state::{Coefficients, Fold, Leaf, Site};
use crate::tile::syntax::{self, Block, CHROMA_MODES, ModeContexts};
use pulp::NullaryFnOnce;
use tessera_dict::layout::Element;
use tessera_patch::Shape;

/// The true cost is rarely below this share of its estimate.
const OPTIMISM: f32 = 0.75;

/// A coded leaf that is not yet on the canvas.
#[derive(Debug)]
pub(crate) struct Trial {
    pub(crate) x: usize,
    pub(crate) y: usize,
    pub(crate) shape: Shape,
    pub(crate) leaf: Leaf,
    pub(crate) info: CellInfo,
    /// Reconstruction of each component.
    pub(crate) samples: Vec<Vec<i32>>,
    /// Distortion in squared steps plus lambda times bits.
    pub(crate) cost: f32,
}

/// A prediction mode with its prediction and the spectrum of what it leaves.
pub(super) struct ModeTrial {
    pub(super) mode: usize,
    pub(super) bits: f32,
    pub(super) estimate: f32,
    pub(super) prediction: Vec<i32>,
    pub(super) spectrum: Vec<f32>,
    /// The reference it comes from, and the border its coefficients are seen with then.
    pub(super) reference: Option<(ReferenceUse, Border)>,
}

impl ModeTrial {
    /// The border whose gradient is a context of the coefficients.
    fn border<'t>(&'t self, decoded: &'t Border) -> &'t Border {
        self.reference
            .as_ref()
            .map_or(decoded, |(_, border)| border)
    }

    fn reference_use(&self) -> Option<ReferenceUse> {
        self.reference.as_ref().map(|(used, _)| *used)
    }
}

/// The best coefficients of one patch.
struct PatchTrial {
    cost: f32,
    coefficients: Coefficients,
}

struct Estimate<'a> {
    coefficients: &'a [f32],
    lambda: f32,
}

impl NullaryFnOnce for Estimate<'_> {
    type Output = f32;

    #[inline(always)]
    fn call(self) -> f32 {
        let (floor, slope) = (0.08 + 6.3 * self.lambda, 2.0 * self.lambda);
        let mut lanes = [0f32; 8];
        for chunk in self.coefficients.chunks_exact(8) {
            for (lane, c) in lanes.iter_mut().zip(chunk) {
                // log2 of a float, linear between powers of two, from its bits.
                let log = c.abs().max(1.0).to_bits() as i32 as f32 * (1.0 / 8_388_608.0) - 127.0;
                *lane += (c * c).min(floor + slope * log);
            }
        }
        lanes.iter().sum()
    }
}

impl Encoder<'_> {
    /// Finds the cheapest leaf for a place, unless it clearly costs more than `bound`.
    pub(crate) fn try_leaf(
        &self,
        kind: PlaneKind,
        x: usize,
        y: usize,
        shape: Shape,
        bound: f32,
    ) -> Option<Trial> {
        match kind {
            PlaneKind::Luma => self.try_luma(x, y, shape, bound),
            PlaneKind::Chroma => self.try_chroma(x, y, shape, bound),
        }
    }

    fn try_luma(&self, x: usize, y: usize, shape: Shape, bound: f32) -> Option<Trial> {
        let site = Site {
            kind: PlaneKind::Luma,
            component: 0,
            x,
            y,
            shape,
        };
        let predictor = Predictor::new(self.state.luma.border(0, x, y, shape), shape);
        let mut modes = self.rank_luma_modes(&site, &predictor);
        self.add_references(&site, &predictor.raw, &mut modes);
        let mut best: Option<(f32, &ModeTrial, Coefficients)> = None;
        let limit = modes[0].estimate * 1.6 + self.lambda * 10.0;
        let mut options: Vec<(f32, usize, usize, Vec<f32>)> = Vec::new();
        for (index, trial) in modes.iter().enumerate() {
            if trial.estimate > limit {
                continue;
            }
            let fold = Fold::new(PlaneKind::Luma, trial.mode, shape);
            let folded = fold.apply(shape);
            let group = self.state.dictionary.luma.group(folded, fold.class);
            for choice in 0..group.len() {
                let mut values = vec![0.0; shape.area()];
                self.analysis.rotate(
                    &self.state.dictionary.luma,
                    folded,
                    fold.class,
                    choice,
                    &trial.spectrum,
                    &mut values,
                );
                let estimate = self.estimate(&values) + self.lambda * trial.bits;
                options.push((estimate, index, choice, values));
            }
        }
        options.sort_by(|a, b| a.0.total_cmp(&b.0));
        if options[0].0 * OPTIMISM > bound {
            return None;
        }
        let limit = options[0].0 * 1.15 + self.lambda * 5.0;
        options.retain(|option| option.0 <= limit);
        options.truncate(self.effort.options);
        let mut tried_empty = vec![false; modes.len()];
        for (_, index, choice, values) in &options {
            let trial = &modes[*index];
            let fold = Fold::new(PlaneKind::Luma, trial.mode, shape);
            let with_empty = !std::mem::replace(&mut tried_empty[*index], true);
            let border = trial.border(&predictor.raw);
            let found = self.try_patch(&site, border, fold, false, *choice, values, with_empty);
            for patch in found {
                let cost = patch.cost + self.lambda * trial.bits;
                if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                    best = Some((cost, trial, patch.coefficients));
                }
            }
        }
        let (cost, trial, coefficients) = best.expect("the best mode was tried empty");
        let mut leaf = Leaf {
            mode: trial.mode,
            reference: trial.reference_use(),
            ..Leaf::default()
        };
        leaf.patches[0] = coefficients;
        Some(self.finish(
            PlaneKind::Luma,
            x,
            y,
            shape,
            leaf,
            vec![trial.prediction.clone()],
            cost,
        ))
    }

    /// Mode bits, predictions and spectra of the most promising modes, best first.
    fn rank_luma_modes(&self, site: &Site, predictor: &Predictor) -> Vec<ModeTrial> {
        let contexts = ModeContexts::new(&self.state.luma, site.x, site.y, site.shape);
        let bits = contexts.costs(self.models());
        let trial = |mode: usize| {
            let mut prediction = vec![0; site.shape.area()];
            predictor.predict(mode, &mut prediction);
            self.mode_trial(site, mode, bits[mode], prediction)
        };
        let mut trials: Vec<ModeTrial> = Vec::with_capacity(16);
        for mode in self.promising_modes(site, &contexts) {
            if trials.iter().all(|trial| trial.mode != mode) {
                trials.push(trial(mode));
            }
        }
        trials.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        for (distance, best) in [(2, 1), (1, 2)] {
            let near: Vec<usize> = trials
                .iter()
                .map(|trial| trial.mode)
                .filter(|&mode| mode >= 2)
                .take(best)
                .collect();
            for mode in near
                .into_iter()
                .flat_map(|mode| [mode - distance, mode + distance])
            {
                if (2..MODES).contains(&mode) && trials.iter().all(|trial| trial.mode != mode) {
                    trials.push(trial(mode));
                }
            }
            trials.sort_by(|a, b| a.estimate.total_cmp(&b.estimate));
        }
        trials.truncate(self.effort.modes);
        trials
    }

    /// Flat modes, the neighbours' modes and the directions found by the first look.
    fn promising_modes(&self, site: &Site, contexts: &ModeContexts) -> Vec<usize> {
        let (w, h) = (site.shape.width(), site.shape.height());
        let size = w.max(h);
        let parent = Block {
            x: site.x / size * size,
            y: site.y / size * size,
            size,
        };
        let mut modes = vec![PLANAR, MEAN];
        modes.extend(contexts.neighbours());
        modes.extend(self.rough.look(parent).directions.map(usize::from));
        if w != h {
            let side = w.min(h);
            for part in 0..2 {
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
                modes.push(usize::from(self.rough.look(child).directions[0]));
            }
        }
        modes
    }

    pub(super) fn mode_trial(
        &self,
        site: &Site,
        mode: usize,
        bits: f32,
        prediction: Vec<i32>,
    ) -> ModeTrial {
        let fold = Fold::new(site.kind, mode, site.shape);
        let spectrum = self.spectrum(site, fold, &prediction);
        let estimate = self.estimate(&spectrum) + self.lambda * bits;
        ModeTrial {
            mode,
            bits,
            estimate,
            prediction,
            spectrum,
            reference: None,
        }
    }

    /// Spectrum (scan order, in steps) of what a prediction leaves.
    pub(crate) fn spectrum(&self, site: &Site, fold: Fold, prediction: &[i32]) -> Vec<f32> {
        let original = &self.originals[self.plane_index(site)];
        let patch = Difference {
            original: &original[site.y * self.stride + site.x..],
            stride: self.stride,
            prediction,
        };
        let scale = 1.0 / self.state.step(site.kind).value();
        self.analysis
            .spectrum(site.shape, fold.transposed, patch, scale)
    }

    /// Rough cost of coding coefficients: what is small is dropped, what is large pays a logarithm.
    pub(crate) fn estimate(&self, coefficients: &[f32]) -> f32 {
        vectorised(Estimate {
            coefficients,
            lambda: self.lambda,
        })
    }

    /// Codes one patch with one basis; and, if asked, with nothing at all.
    #[allow(clippy::too_many_arguments)]
    fn try_patch(
        &self,
        site: &Site,
        border: &Border,
        fold: Fold,
        sister: bool,
        choice: usize,
        values: &[f32],
        with_empty: bool,
    ) -> Vec<PatchTrial> {
        let context = self
            .state
            .patch_context(site, fold, border, sister, choice as u32);
        let neighbours = self.state.coded_neighbours(site);
        let contexts = patch_context::coded(&context, neighbours[0], neighbours[1]);
        let [empty, coded] = costs(self.models(), site.kind, Element::Coded, &contexts);
        let mut found = Vec::with_capacity(2);
        if with_empty {
            let energy: f32 = values.iter().map(|c| c * c).sum();
            found.push(PatchTrial {
                cost: energy + self.lambda * empty,
                coefficients: Coefficients::default(),
            });
        }
        let shape = fold.apply(site.shape);
        let prices = Prices {
            models: self.models(),
            lambda: self.lambda,
            points: &self.state.dictionary.shrinkage[site.kind as usize],
        };
        if let Some((levels, cost)) = prices.quantise(&context, values, shape.coded()) {
            let count = self.state.bases(site.kind).group(shape, fold.class).len();
            let basis = metered(self.models(), |meter| {
                syntax::code_basis(meter, &context, count, choice as u32);
            });
            found.push(PatchTrial {
                cost: cost + self.lambda * (coded + basis),
                coefficients: Coefficients {
                    choice: choice as u32,
                    levels,
                },
            });
        }
        found
    }

    fn try_chroma(&self, x: usize, y: usize, shape: Shape, bound: f32) -> Option<Trial> {
        let kind = PlaneKind::Chroma;
        let canvas = self.state.canvas(kind);
        let luma_mode = self.state.luma_mode(x, y, shape);
        let sites = [0, 1].map(|component| Site {
            kind,
            component,
            x,
            y,
            shape,
        });
        let predictors =
            [0, 1].map(|component| Predictor::new(canvas.border(component, x, y, shape), shape));
        let mut modes: Vec<[ModeTrial; 2]> = (0..CHROMA_MODES)
            .map(|mode| {
                let bits = metered(self.models(), |meter| {
                    syntax::code_chroma_mode(meter, canvas, x, y, shape, luma_mode, mode);
                });
                [0, 1].map(|component| {
                    let mut prediction = vec![0; shape.area()];
                    self.state.predict(
                        &sites[component],
                        &predictors[component],
                        mode,
                        luma_mode,
                        &mut prediction,
                    );
                    self.mode_trial(&sites[component], mode, bits / 2.0, prediction)
                })
            })
            .collect();
        self.add_chroma_references(&sites, &predictors, &mut modes);
        modes.sort_by(|a, b| {
            (a[0].estimate + a[1].estimate).total_cmp(&(b[0].estimate + b[1].estimate))
        });
        if (modes[0][0].estimate + modes[0][1].estimate) * OPTIMISM > bound {
            return None;
        }
        modes.truncate(self.effort.chroma_modes);
        let mut best: Option<(f32, usize, [Coefficients; 2])> = None;
        for (index, trials) in modes.iter().enumerate() {
            let mut cost = self.lambda * 2.0 * trials[0].bits;
            let mut patches = <[Coefficients; 2]>::default();
            for component in 0..2 {
                let sister = patches[0].coded();
                let patch = self.best_chroma_patch(
                    &sites[component],
                    trials[component].border(&predictors[component].raw),
                    sister,
                    &trials[component],
                );
                cost += patch.cost;
                patches[component] = patch.coefficients;
            }
            if best.as_ref().is_none_or(|(least, ..)| cost < *least) {
                best = Some((cost, index, patches));
            }
        }
        let (cost, index, patches) = best.expect("there is at least one chroma mode");
        let leaf = Leaf {
            mode: modes[index][0].mode,
            reference: modes[index][0].reference_use(),
            patches,
        };
        let predictions = modes
            .swap_remove(index)
            .map(|trial| trial.prediction)
            .into();
        Some(self.finish(kind, x, y, shape, leaf, predictions, cost))
    }

    fn best_chroma_patch(
        &self,
        site: &Site,
        border: &Border,
        sister: bool,
        trial: &ModeTrial,
    ) -> PatchTrial {
        let fold = Fold::new(site.kind, trial.mode, site.shape);
        let shape = fold.apply(site.shape);
        let bases = &self.state.dictionary.chroma;
        let mut options: Vec<(f32, usize, Vec<f32>)> = (0..bases.group(shape, fold.class).len())
            .map(|choice| {
                let mut values = vec![0.0; shape.area()];
                self.analysis.rotate(
                    bases,
                    shape,
                    fold.class,
                    choice,
                    &trial.spectrum,
                    &mut values,
                );
                (self.estimate(&values), choice, values)
            })
            .collect();
        options.sort_by(|a, b| a.0.total_cmp(&b.0));
        options.truncate(2);
        let sister = sister && site.component == 1;
        let found = options
            .iter()
            .enumerate()
            .flat_map(|(i, (_, choice, values))| {
                self.try_patch(site, border, fold, sister, *choice, values, i == 0)
            });
        found
            .min_by(|a, b| a.cost.total_cmp(&b.cost))
            .expect("the empty patch was tried")
    }

    /// Reconstructs a chosen leaf.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &self,
        kind: PlaneKind,
        x: usize,
        y: usize,
        shape: Shape,
        leaf: Leaf,
        mut samples: Vec<Vec<i32>>,
        cost: f32,
    ) -> Trial {
        let mut info = CellInfo {
            decoded: true,
            mode: leaf.mode as u8,
            reference: leaf.reference,
            log_width: shape.log_width() as u8,
            log_height: shape.log_height() as u8,
            ..CellInfo::default()
        };
        let fold = Fold::new(kind, leaf.mode, shape);
        for (component, samples) in samples.iter_mut().enumerate() {
            let patch = &leaf.patches[component];
            if patch.coded() {
                let site = Site {
                    kind,
                    component,
                    x,
                    y,
                    shape,
                };
                info.coded[component] = true;
                info.activity[component] = level_activity(&patch.levels, shape.area());
                self.state.add_residual(&site, fold, patch, samples);
            }
        }
        Trial {
            x,
            y,
            shape,
            leaf,
            info,
            samples,
            cost,
        }
    }
}

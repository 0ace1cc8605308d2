//! Hooks for learning a dictionary from the encoder's own closed loop.

mod decisions;

use super::{Effort, Encoder};
use crate::tile::coder::ModelPair;
pub use crate::tile::filter::FilterStatistics;
use crate::tile::mix::Models;
pub use crate::tile::net::{PLACE_INPUTS, Surroundings, place_input};
pub use crate::tile::patch_net::{fill_in_places, output_shift, place_inputs};
use crate::tile::predict::{HORIZONTAL, MEAN, PLANAR, Predictor, VERTICAL};
use crate::tile::state::{Fold, Leaf, Site};
use crate::tile::transform::geometry;
use crate::tile::{PlaneLayout, TileConfig};
pub use decisions::{CellCount, Decisions};
use tessera_dict::layout::BasisTotals;
use tessera_dict::{Dictionary, PlaneKind, Prior};
use tessera_patch::{Plane, Shape};

/// One coded patch as its basis sees it.
#[derive(Debug)]
pub struct PatchRecord<'a> {
    /// Plane kind.
    pub kind: PlaneKind,
    /// Shape after folding.
    pub shape: Shape,
    /// Mode class.
    pub class: usize,
    /// Index of the chosen basis in its group.
    pub choice: usize,
    /// Activity of the neighbours, in steps.
    pub activity: f32,
    /// Gradient of the border, in steps.
    pub gradient: f32,
    /// Cosine spectrum of the residual in scan order, in steps.
    pub spectrum: &'a [f32],
    /// The same in the chosen basis and coding order.
    pub coefficients: &'a [f32],
    /// Levels the leading coefficients were coded with.
    pub levels: &'a [i32],
}

/// What a network for luma patches may learn from one place.
#[derive(Debug)]
pub struct ForecastRecord<'a> {
    /// Shape of the patch.
    pub shape: Shape,
    /// The network's inputs but for the place, see [`fill_in_places`].
    pub inputs: &'a [i16],
    /// Column and row of the patch's middle in its picture.
    pub middle: [u32; 2],
    /// The lowest frequencies of what the planar prediction misses, row by row, in samples.
    pub frequencies: &'a [f32],
    /// Sum of the squared errors of the best of a few plain modes, in squared steps.
    pub rest: f32,
    /// Step of the quantiser, in samples.
    pub step: f32,
}

/// Receives every patch that is coded.
pub trait PatchObserver {
    /// Called once per patch, in coding order.
    fn patch(&mut self, record: PatchRecord<'_>);

    /// Whether [`Self::forecast`] is to be called.
    fn wants_forecasts(&self) -> bool {
        false
    }

    /// Called before every luma leaf for each shape that could be coded at its place.
    fn forecast(&mut self, _: ForecastRecord<'_>) {}
}

/// Adaptive models carried from picture to picture.
#[derive(Clone, Debug)]
pub struct CarriedModels(ModelPair);

impl CarriedModels {
    /// Starts from the priors of `dictionary`.
    pub fn new(dictionary: &Dictionary) -> Self {
        Self(ModelPair::new(dictionary, PlaneLayout::Ycbcr444))
    }

    /// Starts from the given priors of luma and chroma.
    pub fn from_priors(priors: &[Prior; 2], totals: [BasisTotals; 2]) -> Self {
        Self(ModelPair(
            [0, 1].map(|kind| Models::new(&priors[kind], totals[kind])),
        ))
    }

    /// What was learned, as priors of luma and chroma.
    pub fn priors(&self) -> [Prior; 2] {
        [0, 1].map(|kind| self.0.0[kind].to_prior())
    }
}

/// Encodes a tile, starting from and updating `models`, and shows every patch to `observer`.
pub fn encode_for_training(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &Dictionary,
    effort: Effort,
    models: &mut CarriedModels,
    observer: Option<&mut dyn PatchObserver>,
) -> TrainingTile {
    let mut encoder = Encoder::new(planes, config, dictionary, effort);
    std::mem::swap(&mut encoder.writer.models, &mut models.0);
    encoder.run(config, observer);
    let filters =
        [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| encoder.filter_statistics(config, kind));
    for &kind in config.layout.kinds() {
        encoder.filter(config, kind);
    }
    std::mem::swap(&mut encoder.writer.models, &mut models.0);
    TrainingTile {
        bytes: encoder.writer.range.finish(),
        planes: encoder.state.into_planes(config),
        filters,
    }
}

/// What training keeps of an encoded tile.
#[derive(Debug)]
pub struct TrainingTile {
    /// The bitstream; it decodes only if the models started from the dictionary's priors.
    pub bytes: Vec<u8>,
    /// What a decoder sees.
    pub planes: Vec<Plane>,
    /// Filter observations of luma and chroma.
    pub filters: [FilterStatistics; 2],
}

impl Encoder<'_> {
    fn filter_statistics(&self, config: &TileConfig, kind: PlaneKind) -> FilterStatistics {
        let mut statistics = FilterStatistics::new();
        if config.layout.kinds().contains(&kind) {
            let canvas = self.state.canvas(kind);
            for component in 0..canvas.components.len() {
                statistics.observe(
                    canvas,
                    component,
                    self.state.step(kind),
                    &self.originals[kind as usize + component],
                );
            }
        }
        statistics
    }

    /// Shows the patches of a leaf that is about to be written.
    pub(super) fn observe(&self, place: &Site, leaf: &Leaf, observer: &mut dyn PatchObserver) {
        let Site {
            kind, x, y, shape, ..
        } = *place;
        if kind == PlaneKind::Luma && observer.wants_forecasts() {
            self.observe_surroundings(place, leaf.mode, observer);
        }
        let canvas = self.state.canvas(kind);
        let mode = leaf.mode;
        let luma_mode = match kind {
            PlaneKind::Luma => mode,
            PlaneKind::Chroma => self.state.luma_mode(x, y, shape),
        };
        let fold = Fold::new(kind, mode, shape);
        for component in 0..canvas.components.len() {
            let site = Site {
                component,
                ..*place
            };
            let (prediction, border) = self.state.prediction(&site, leaf, luma_mode);
            let context = self.state.patch_context(&site, fold, &border, false, 0);
            let patch = &leaf.patches[component];
            let folded = fold.apply(shape);
            let spectrum = self.spectrum(&site, fold, self.frequencies(&site, &prediction));
            let mut coefficients = vec![0.0; shape.area()];
            self.analysis.rotate(
                self.state.bases(kind),
                folded,
                fold.class,
                patch.choice as usize,
                &spectrum,
                &mut coefficients,
            );
            observer.patch(PatchRecord {
                kind,
                shape: folded,
                class: fold.class,
                choice: patch.choice as usize,
                activity: context.activity as f32 / 256.0,
                gradient: context.gradient.min(1024) as f32 / 256.0,
                spectrum: &spectrum,
                coefficients: &coefficients,
                levels: &patch.levels,
            });
        }
    }

    /// Shows the surroundings of all shapes that could start where a leaf of this mode does.
    fn observe_surroundings(&self, place: &Site, mode: usize, observer: &mut dyn PatchObserver) {
        let canvas = &self.state.luma;
        let decoded = &canvas.components[0];
        for shape in Shape::all() {
            let (w, h) = (shape.width(), shape.height());
            let aligned = place.x.is_multiple_of(w) && place.y.is_multiple_of(h);
            if !aligned || place.x + w > canvas.width || place.y + h > canvas.height {
                continue;
            }
            let site = Site { shape, ..*place };
            let border = canvas.border(0, site.x, site.y, shape);
            let predictor = Predictor::new(border, shape);
            let spectrum = |mode: usize| {
                let mut prediction = self.state.samples.take(shape.area());
                predictor.predict(mode, &mut prediction);
                let frequencies = self.frequencies(&site, &prediction);
                self.state.samples.give(prediction);
                self.spectrum(&site, Fold::NONE, frequencies)
            };
            let energy = |mode: usize| -> f32 { spectrum(mode).iter().map(|c| c * c).sum() };
            let rest = [PLANAR, MEAN, mode, HORIZONTAL, VERTICAL].map(energy);
            let step = self.state.step(PlaneKind::Luma).value();
            let sight = self.state.sight(&site, &decoded.data, decoded.stride);
            observer.forecast(ForecastRecord {
                shape,
                inputs: sight.describe(shape, &predictor.raw).all(),
                middle: sight.middle(shape),
                frequencies: &lowest(shape, &spectrum(PLANAR), step),
                rest: rest.into_iter().fold(f32::INFINITY, f32::min),
                step,
            });
        }
    }
}

/// The frequencies that a network predicts, in samples, from a spectrum in scan order and steps.
fn lowest(shape: Shape, spectrum: &[f32], step: f32) -> Vec<f32> {
    let [columns, rows] = tessera_dict::patch_net::means(shape);
    let mut low = vec![0.0; columns * rows];
    for (&raster, value) in geometry(shape).scan.iter().zip(spectrum) {
        let (u, v) = (
            usize::from(raster) % shape.width(),
            usize::from(raster) / shape.width(),
        );
        if u < columns && v < rows {
            low[v * columns + u] = step * value;
        }
    }
    low
}

//! Hooks for learning a dictionary from the encoder's own closed loop.

mod decisions;
mod intra_samples;

use crate::encoder::patch_search::PatchSearch;
use crate::encoder::{SpeedSettings, TileEncoder};
use crate::prepared::PreparedDictionary;
use crate::tile::entropy::coder::ModelPair;
use crate::tile::entropy::mix::Models;
pub use crate::tile::intra::neural::{fill_in_places, output_shift, place_inputs};
pub use crate::tile::loop_filter::FilterStatistics;
pub use crate::tile::loop_filter::network::{PLACE_INPUTS, SIDE, Surroundings, place_input};
use crate::tile::state::Site;
use crate::tile::syntax::Leaf;
use crate::tile::transform::BasisOrientation;
use crate::tile::{PlaneLayout, TileConfig};
pub use decisions::{CellCount, Decisions};
pub use intra_samples::IntraSample;
use tessera_dict::layout::BasisTotals;
use tessera_dict::{Dictionary, PlaneKind, Prior};
use tessera_patch::{Plane, Shape};

/// One coded patch as its basis sees it.
#[derive(Debug)]
pub struct PatchRecord<'a> {
    /// Plane kind.
    pub kind: PlaneKind,
    /// Shape as the basis sees it.
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
    /// Index of the free atom that took their place.
    pub atom: Option<usize>,
}

/// Receives every patch that is coded.
pub trait PatchObserver {
    /// Called once per patch, in coding order.
    fn patch(&mut self, record: PatchRecord<'_>);

    /// How many places of a shape are still to be shown; nothing if [`Self::intra_sample`] is not to be called at all.
    fn intra_samples_missing(&self, _: Shape) -> Option<usize> {
        None
    }

    /// Called before every luma leaf for each shape that could be coded at its place, and at the end for as many
    /// other places as are missing.
    fn intra_sample(&mut self, _: IntraSample) {}
}

/// Adaptive models carried from picture to picture.
#[derive(Clone, Debug)]
pub struct CarriedModels(ModelPair);

impl CarriedModels {
    /// Starts from the priors of `dictionary`.
    pub fn new(dictionary: &Dictionary) -> Self {
        Self(ModelPair::new(dictionary, PlaneLayout::Ycbcr444.kinds()))
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
    dictionary: &PreparedDictionary,
    speed: SpeedSettings,
    models: &mut CarriedModels,
    observer: Option<&mut dyn PatchObserver>,
) -> TrainingTile {
    let mut encoder = TileEncoder::new(planes, config, dictionary, speed);
    std::mem::swap(&mut encoder.writer.models, &mut models.0);
    match observer {
        None => {
            encoder.run(config, None);
        }
        Some(observer) => {
            encoder.run(config, Some(&mut *observer));
            intra_samples::observe_elsewhere(encoder.patches(), observer);
        }
    }
    let filters = [PlaneKind::Luma, PlaneKind::Chroma]
        .map(|kind| filter_statistics(encoder.patches(), config, kind));
    for &kind in config.layout.kinds() {
        encoder.filter(config, kind);
    }
    std::mem::swap(&mut encoder.writer.models, &mut models.0);
    TrainingTile {
        bytes: encoder.writer.finish(),
        planes: encoder.recon.into_planes(config),
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

/// What the loop filter of a plane kind can be learned from.
fn filter_statistics(
    patches: PatchSearch<'_, '_>,
    config: &TileConfig,
    kind: PlaneKind,
) -> FilterStatistics {
    let mut statistics = FilterStatistics::new();
    if config.layout.kinds().contains(&kind) {
        let canvas = patches.recon.canvas(kind);
        for component in 0..canvas.components.len() {
            statistics.observe(
                canvas,
                component,
                &patches.recon.filter_steps(kind, component),
                patches.tile.source.component(kind, component),
            );
        }
    }
    statistics
}

/// Shows the patches of a leaf that is about to be written.
pub(crate) fn observe(
    patches: PatchSearch<'_, '_>,
    place: &Site,
    leaf: &Leaf,
    observer: &mut dyn PatchObserver,
) {
    let Site {
        kind, x, y, shape, ..
    } = *place;
    if kind == PlaneKind::Luma {
        intra_samples::observe_surroundings(patches, place, leaf.mode, observer);
    }
    let canvas = patches.recon.canvas(kind);
    let mode = leaf.mode;
    let luma_mode = match kind {
        PlaneKind::Luma => mode,
        PlaneKind::Chroma => patches.recon.luma.mode_beneath(x, y, shape),
    };
    let orientation = BasisOrientation::new(kind, mode, shape);
    for component in 0..canvas.components.len() {
        let site = Site {
            component,
            ..*place
        };
        let (prediction, surroundings) = patches.recon.prediction(&site, leaf, luma_mode);
        let context = (patches.recon).patch_context(&site, orientation, &surroundings, false);
        let patch = &leaf.patches[component];
        let oriented = orientation.apply(shape);
        let spectrum =
            patches.spectrum(&site, orientation, patches.frequencies(&site, &prediction));
        let mut coefficients = vec![0.0; shape.area()];
        patches.tile.forward.rotate(
            patches.recon.bases(kind),
            oriented,
            orientation.class,
            patch.choice as usize,
            &spectrum,
            &mut coefficients,
        );
        observer.patch(PatchRecord {
            kind,
            shape: oriented,
            class: orientation.class,
            choice: patch.choice as usize,
            activity: context.activity as f32 / 256.0,
            gradient: context.gradient.min(1024) as f32 / 256.0,
            spectrum: &spectrum,
            coefficients: &coefficients,
            levels: &patch.levels,
            atom: patch.atom.map(|atom| atom.index.into()),
        });
    }
}

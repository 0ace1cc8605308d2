//! Crops of pictures coded as an encoder would, in its closed loop: what training looks at.

use crate::error::TrainError;
use crate::gallery::{Gallery, Task};
use crate::harvest::Harvest;
use crate::net::NetSamples;
use crate::patch_net::PatchNetSamples;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::PreparedDictionary;
use tessera_codec::internals::encoder::training::{
    CarriedModels, Decisions, FilterStatistics, PatchObserver, TrainingTile, encode_for_training,
};
use tessera_codec::internals::{encoder::SpeedSettings, tile::TileConfig};
use tessera_dict::{Dictionary, FilterSet};
use tessera_patch::Plane;

/// What coding a crop showed.
#[derive(Debug)]
pub(crate) struct CodedCrop {
    /// Bytes of the bitstream.
    pub(crate) bytes: usize,
    /// Mean squared error over all samples, in squares of a twelfth-bit level.
    pub(crate) error: f64,
    /// Range of steps for the filter.
    pub(crate) band: usize,
    /// Filter observations of luma and chroma.
    pub(crate) filters: [FilterStatistics; 2],
    /// All decisions, in order.
    pub(crate) decisions: Decisions,
    /// Patches, if they were asked for.
    pub(crate) harvest: Option<Harvest>,
}

/// The search that all of training codes with.
pub(crate) fn training_speed() -> SpeedSettings {
    SpeedSettings::for_training(2, 3)
}

/// Codes crops of a gallery's pictures with one dictionary.
#[derive(Debug)]
pub(crate) struct ClosedLoopCoder<'a> {
    gallery: &'a Gallery,
    dictionary: PreparedDictionary,
}

/// A crop and what became of it.
#[derive(Debug)]
pub(crate) struct Coded {
    /// The original.
    pub(crate) planes: Vec<Plane>,
    pub(crate) config: TileConfig,
    pub(crate) tile: TrainingTile,
}

impl<'a> ClosedLoopCoder<'a> {
    /// # Errors
    /// If a reference picture of the dictionary does not decode.
    pub(crate) fn new(gallery: &'a Gallery, dictionary: &Dictionary) -> Result<Self, TrainError> {
        Ok(Self {
            gallery,
            dictionary: PreparedDictionary::new(dictionary)?,
        })
    }

    /// Codes a crop, starting from and updating `models`, and shows every patch to `observer`.
    pub(crate) fn code(
        &self,
        task: &Task,
        models: &mut CarriedModels,
        observer: Option<&mut dyn PatchObserver>,
    ) -> Result<Coded, TrainError> {
        let (planes, config) = self.gallery.part(task)?;
        let (dictionary, speed) = (&self.dictionary, training_speed());
        let tile = encode_for_training(&planes, &config, dictionary, speed, models, observer);
        Ok(Coded {
            planes,
            config,
            tile,
        })
    }

    /// Codes a crop with models that start from the dictionary's priors, as those of a file do.
    fn code_alone(
        &self,
        task: &Task,
        observer: Option<&mut dyn PatchObserver>,
    ) -> Result<Coded, TrainError> {
        self.code(task, &mut CarriedModels::new(&self.dictionary), observer)
    }

    /// Codes a crop and collects its patches.
    pub(crate) fn harvest(&self, task: &Task, seed: u64) -> Result<Harvest, TrainError> {
        let mut harvest = Harvest::new(task.picture, seed);
        self.code_alone(task, Some(&mut harvest))?;
        Ok(harvest)
    }

    /// Codes one crop; collects patches if `seed` is given.
    fn code_crop(&self, task: &Task, seed: Option<u64>) -> Result<CodedCrop, TrainError> {
        let mut harvest = seed.map(|seed| Harvest::new(task.picture, seed));
        let observer = harvest.as_mut().map(|own| own as &mut dyn PatchObserver);
        let Coded {
            planes,
            config,
            tile,
        } = self.code_alone(task, observer)?;
        let decisions = Decisions::read(&tile.bytes, &config, &self.dictionary)
            .expect("what the encoder wrote can be read");
        Ok(CodedCrop {
            bytes: tile.bytes.len(),
            error: mean_squared_error(&planes, &tile.planes),
            band: FilterSet::band(task.quantiser),
            filters: tile.filters,
            decisions,
            harvest,
        })
    }

    /// Codes several crops side by side and takes `count` decoded samples of luma and of chroma from each.
    pub(crate) fn net_samples(
        &self,
        tasks: &[Task],
        count: usize,
        seed: u64,
    ) -> Result<Vec<[NetSamples; 2]>, TrainError> {
        let one = |task: &Task| {
            let Coded {
                planes,
                config,
                tile,
            } = self.code_alone(task, None)?;
            let random = &mut Pcg64Mcg::new(u128::from(own_seed(seed, task)) << 1 | 1);
            let mut samples: [NetSamples; 2] = Default::default();
            for (i, pair) in planes.iter().zip(&tile.planes).enumerate() {
                let kind = i.min(1);
                let quantiser = match kind {
                    0 => config.quantiser,
                    _ => config
                        .quantiser
                        .saturating_add_signed(config.chroma_offsets[i - 1]),
                };
                let share = if kind == 0 { count } else { count / 2 };
                samples[kind].take([pair.0, pair.1], quantiser, config.origin, share, random);
            }
            Ok(samples)
        };
        tasks.par_iter().map(one).collect()
    }

    /// Codes several crops side by side and takes from each what one of `parts` may contribute to the networks for
    /// patches.
    pub(crate) fn patch_net_samples(
        &self,
        tasks: &[Task],
        parts: usize,
    ) -> Result<Vec<PatchNetSamples>, TrainError> {
        let one = |task: &Task| {
            let mut patch_net_samples = PatchNetSamples::new(parts);
            self.code_alone(task, Some(&mut patch_net_samples))?;
            Ok(patch_net_samples)
        };
        tasks.par_iter().map(one).collect()
    }

    /// Codes several crops side by side; results in the order of the tasks.
    pub(crate) fn code_crops(
        &self,
        tasks: &[Task],
        seed: Option<u64>,
    ) -> Result<Vec<CodedCrop>, TrainError> {
        tasks
            .par_iter()
            .map(|task| self.code_crop(task, seed.map(|seed| own_seed(seed, task))))
            .collect()
    }
}

/// A seed that differs from task to task.
fn own_seed(seed: u64, task: &Task) -> u64 {
    let place = (task.picture as u64) << 20 | (task.turn as u64) << 8;
    seed ^ place ^ u64::from(task.quantiser)
}

fn mean_squared_error(original: &[Plane], decoded: &[Plane]) -> f64 {
    let samples = |planes: &[Plane]| -> usize { planes.iter().map(|plane| plane.data.len()).sum() };
    let pairs = original.iter().zip(decoded);
    let pairs = pairs.flat_map(|(a, b)| a.data.iter().zip(&b.data));
    let sum: f64 = pairs
        .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2))
        .sum();
    sum / samples(original).max(1) as f64
}

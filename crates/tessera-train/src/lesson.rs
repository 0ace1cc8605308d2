//! Parts of pictures coded with a dictionary: what training looks at.

use crate::gallery::{Gallery, Task};
use crate::harvest::Harvest;
use crate::net::NetSamples;
use crate::patch_net::Forecasts;
use crate::pipeline::TrainError;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::PreparedDictionary;
use tessera_codec::internals::encoder::training::{
    CarriedModels, Decisions, FilterStatistics, PatchObserver, TrainingTile, encode_for_training,
};
use tessera_codec::internals::{encoder::SpeedSettings, tile::TileConfig};
use tessera_dict::FilterSet;
use tessera_patch::Plane;

/// What coding a part showed.
#[derive(Debug)]
pub(crate) struct Lesson {
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

/// Codes parts of a gallery's pictures.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Teacher<'a> {
    pub(crate) gallery: &'a Gallery,
    pub(crate) dictionary: &'a PreparedDictionary,
    pub(crate) effort: SpeedSettings,
}

impl Teacher<'_> {
    /// Codes one part as an encoder would; collects patches if `seed` is given.
    pub(crate) fn lesson(&self, task: &Task, seed: Option<u64>) -> Result<Lesson, TrainError> {
        let mut harvest = seed.map(|seed| Harvest::new(task.picture, seed));
        let observer = harvest.as_mut().map(|own| own as &mut dyn PatchObserver);
        let (planes, config, tile) = self.coded(task, observer)?;
        let decisions = Decisions::read(&tile.bytes, &config, self.dictionary)
            .expect("what the encoder wrote can be read");
        Ok(Lesson {
            bytes: tile.bytes.len(),
            error: mean_squared_error(&planes, &tile.planes),
            band: FilterSet::band(task.quantiser),
            filters: tile.filters,
            decisions,
            harvest,
        })
    }

    fn coded(
        &self,
        task: &Task,
        observer: Option<&mut dyn PatchObserver>,
    ) -> Result<(Vec<Plane>, TileConfig, TrainingTile), TrainError> {
        let (planes, config) = self.gallery.part(task)?;
        let (dictionary, effort) = (self.dictionary, self.effort);
        let mut models = CarriedModels::new(dictionary);
        let tile = encode_for_training(&planes, &config, dictionary, effort, &mut models, observer);
        Ok((planes, config, tile))
    }

    /// Codes several parts side by side and takes `count` decoded samples of luma and of chroma from each.
    pub(crate) fn net_samples(
        &self,
        tasks: &[Task],
        count: usize,
        seed: u64,
    ) -> Result<Vec<[NetSamples; 2]>, TrainError> {
        let one = |task: &Task| {
            let (planes, config, tile) = self.coded(task, None)?;
            let random = &mut Pcg64Mcg::new(u128::from(own_seed(seed, task)) << 1 | 1);
            let mut samples: [NetSamples; 2] = Default::default();
            for (i, pair) in planes.iter().zip(&tile.planes).enumerate() {
                let kind = i.min(1);
                let quantiser = match kind {
                    0 => config.quantiser,
                    _ => config.quantiser.saturating_add_signed(config.chroma_offset),
                };
                let share = if kind == 0 { count } else { count / 2 };
                samples[kind].take([pair.0, pair.1], quantiser, config.origin, share, random);
            }
            Ok(samples)
        };
        tasks.par_iter().map(one).collect()
    }

    /// Codes several parts side by side and takes from each what one of `parts` may contribute to the networks for
    /// patches.
    pub(crate) fn forecasts(
        &self,
        tasks: &[Task],
        parts: usize,
    ) -> Result<Vec<Forecasts>, TrainError> {
        let one = |task: &Task| {
            let mut forecasts = Forecasts::new(parts);
            self.coded(task, Some(&mut forecasts))?;
            Ok(forecasts)
        };
        tasks.par_iter().map(one).collect()
    }

    /// Codes several parts side by side; results in the order of the tasks.
    pub(crate) fn lessons(
        &self,
        tasks: &[Task],
        seed: Option<u64>,
    ) -> Result<Vec<Lesson>, TrainError> {
        tasks
            .par_iter()
            .map(|task| self.lesson(task, seed.map(|seed| own_seed(seed, task))))
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

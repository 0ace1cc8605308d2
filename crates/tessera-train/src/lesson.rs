//! Parts of pictures coded with a dictionary: what training looks at.

use crate::gallery::Gallery;
use crate::harvest::Harvest;
use crate::pipeline::TrainError;
use rayon::prelude::*;
use tessera_codec::tile::Effort;
use tessera_codec::tile::encoder::training::{
    CarriedModels, Decisions, FilterStatistics, PatchObserver, encode_for_training,
};
use tessera_dict::{Dictionary, FilterSet};
use tessera_patch::Plane;

/// A part of a picture to code at one quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Task {
    /// Index of the picture in its gallery.
    pub(crate) picture: usize,
    /// Varies the place of the part.
    pub(crate) turn: usize,
    /// Largest side of the part.
    pub(crate) crop: u32,
    /// Luma quantiser.
    pub(crate) quantiser: u8,
}

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
    pub(crate) dictionary: &'a Dictionary,
    pub(crate) effort: Effort,
}

impl Teacher<'_> {
    /// Codes one part as an encoder would; collects patches if `seed` is given.
    pub(crate) fn lesson(&self, task: &Task, seed: Option<u64>) -> Result<Lesson, TrainError> {
        let (planes, config) =
            (self.gallery).part(task.picture, task.crop, task.turn, task.quantiser)?;
        let mut harvest = seed.map(|seed| Harvest::new(task.picture, seed));
        let mut models = CarriedModels::new(self.dictionary);
        let tile = encode_for_training(
            &planes,
            &config,
            self.dictionary,
            self.effort,
            &mut models,
            harvest.as_mut().map(|own| own as &mut dyn PatchObserver),
        );
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

    /// Codes several parts side by side; results in the order of the tasks.
    pub(crate) fn lessons(
        &self,
        tasks: &[Task],
        seed: Option<u64>,
    ) -> Result<Vec<Lesson>, TrainError> {
        let own_seed = |task: &Task| {
            let place = (task.picture as u64) << 20 | (task.turn as u64) << 8;
            seed.map(|seed| seed ^ place ^ u64::from(task.quantiser))
        };
        tasks
            .par_iter()
            .map(|task| self.lesson(task, own_seed(task)))
            .collect()
    }
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

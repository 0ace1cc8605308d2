//! Crops of pictures coded as an encoder would, in its closed loop: what training looks at.

use crate::error::TrainError;
use crate::gallery::{Gallery, Part, Task};
use crate::harvest::Harvest;
use crate::net::NetSamples;
use crate::patch_net::PatchNetSamples;
use crate::validation::RatePoint;
use crate::workers::{Request, Workers, delegate};
use borsh::{BorshDeserialize, BorshSerialize};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::io::{self, Read, Write};
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
    /// Range of steps for the filter.
    pub(crate) band: usize,
    /// Filter observations of luma and chroma.
    pub(crate) filters: [FilterStatistics; 2],
    /// All decisions, in order.
    pub(crate) decisions: Decisions,
    /// Patches.
    pub(crate) harvest: Harvest,
}

/// The same as it travels: decisions take a hundred times the space of the bytes they are read from.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct CropStatistics {
    part: Part,
    bytes: Vec<u8>,
    #[borsh(serialize_with = "put_filters", deserialize_with = "take_filters")]
    filters: [FilterStatistics; 2],
    harvest: Harvest,
}

fn put_filters(filters: &[FilterStatistics; 2], to: &mut impl Write) -> io::Result<()> {
    (filters.iter()).try_for_each(|own| (&own.gram, &own.target).serialize(to))
}

fn take_filters(from: &mut impl Read) -> io::Result<[FilterStatistics; 2]> {
    let mut take = || {
        let (gram, target) = BorshDeserialize::deserialize_reader(from)?;
        Ok::<_, io::Error>(FilterStatistics { gram, target })
    };
    Ok([take()?, take()?])
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
    workers: Option<&'a dyn Workers>,
}

/// A crop and what became of it.
#[derive(Debug)]
pub(crate) struct Coded {
    /// The original.
    pub(crate) planes: Vec<Plane>,
    pub(crate) part: Part,
    pub(crate) tile: TrainingTile,
}

impl<'a> ClosedLoopCoder<'a> {
    /// # Errors
    /// If a reference picture of the dictionary does not decode.
    pub(crate) fn new(gallery: &'a Gallery, dictionary: &Dictionary) -> Result<Self, TrainError> {
        let dictionary = PreparedDictionary::new(dictionary)?;
        Ok(Self::prepared(gallery, dictionary))
    }

    /// With a dictionary whose references are known to decode.
    pub(crate) fn prepared(gallery: &'a Gallery, dictionary: PreparedDictionary) -> Self {
        Self {
            gallery,
            dictionary,
            workers: None,
        }
    }

    /// Has the crops coded by others, if there are any.
    pub(crate) fn by(mut self, workers: Option<&'a dyn Workers>) -> Self {
        self.workers = workers;
        self
    }

    /// Codes a crop, starting from and updating `models`, and shows every patch to `observer`.
    pub(crate) fn code(
        &self,
        task: &Task,
        models: &mut CarriedModels,
        observer: Option<&mut dyn PatchObserver>,
    ) -> Result<Coded, TrainError> {
        let (planes, part) = self.gallery.part(task)?;
        let (dictionary, speed) = (&self.dictionary, training_speed());
        let config = part.config();
        let tile = encode_for_training(&planes, &config, dictionary, speed, models, observer);
        Ok(Coded { planes, part, tile })
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

    /// Does `one` with every crop, side by side here or by those who do the same elsewhere; results in the order of the
    /// tasks.
    fn each<T: Send + BorshDeserialize>(
        &self,
        tasks: &[Task],
        request: Request,
        one: impl Fn(&Task) -> Result<T, TrainError> + Sync,
    ) -> Result<Vec<T>, TrainError> {
        match self.workers {
            Some(workers) => delegate(workers, self.gallery, &self.dictionary, tasks, request),
            None => tasks.par_iter().map(&one).collect(),
        }
    }

    /// Codes crops and takes decoded squares from each, `count` of luma and as many of both chroma planes.
    pub(crate) fn net_samples(
        &self,
        tasks: &[Task],
        count: usize,
        seed: u64,
    ) -> Result<Vec<[NetSamples; 2]>, TrainError> {
        self.each(tasks, Request::Net { count, seed }, |task| {
            let coded = self.code_alone(task, None)?;
            let config = coded.part.config();
            let random = &mut Pcg64Mcg::new(u128::from(own_seed(seed, task)) << 1 | 1);
            let mut samples: [NetSamples; 2] = Default::default();
            for (i, pair) in coded.planes.iter().zip(&coded.tile.planes).enumerate() {
                let kind = i.min(1);
                let quantiser = plane_quantiser(&config, i);
                let share = if kind == 0 { count } else { count / 2 };
                samples[kind].take([pair.0, pair.1], quantiser, config.origin, share, random);
            }
            Ok(samples)
        })
    }

    /// Codes crops and takes from each what one of `parts` may contribute to the networks for patches.
    pub(crate) fn patch_net_samples(
        &self,
        tasks: &[Task],
        parts: usize,
    ) -> Result<Vec<PatchNetSamples>, TrainError> {
        self.each(tasks, Request::PatchNets { parts }, |task| {
            let mut patch_net_samples = PatchNetSamples::new(parts);
            self.code_alone(task, Some(&mut patch_net_samples))?;
            Ok(patch_net_samples)
        })
    }

    /// Codes crops to see what they cost.
    pub(crate) fn rates(&self, tasks: &[Task]) -> Result<Vec<RatePoint>, TrainError> {
        self.each(tasks, Request::Rates, |task| {
            let Coded { planes, tile, .. } = self.code_alone(task, None)?;
            Ok(RatePoint {
                bytes: tile.bytes.len(),
                error: mean_squared_error(&planes, &tile.planes),
            })
        })
    }

    /// Codes crops and keeps what can be learned from them.
    pub(crate) fn statistics(
        &self,
        tasks: &[Task],
        seed: u64,
    ) -> Result<Vec<CropStatistics>, TrainError> {
        self.each(tasks, Request::Statistics { seed }, |task| {
            let mut harvest = Harvest::new(task.picture, own_seed(seed, task));
            let Coded { part, tile, .. } = self.code_alone(task, Some(&mut harvest))?;
            Ok(CropStatistics {
                part,
                bytes: tile.bytes,
                filters: tile.filters,
                harvest,
            })
        })
    }

    /// The same with the decisions.
    pub(crate) fn code_crops(
        &self,
        tasks: &[Task],
        seed: u64,
    ) -> Result<Vec<CodedCrop>, TrainError> {
        let read = |(task, crop): (&Task, CropStatistics)| {
            let decisions = Decisions::read(&crop.bytes, &crop.part.config(), &self.dictionary);
            Ok(CodedCrop {
                band: FilterSet::band(task.quantiser),
                filters: crop.filters,
                decisions: decisions.ok_or_else(|| {
                    TrainError::Workers("a crop was coded with another dictionary".into())
                })?,
                harvest: crop.harvest,
            })
        };
        let statistics = self.statistics(tasks, seed)?;
        tasks.par_iter().zip(statistics).map(read).collect()
    }
}

/// The quantiser of one of the planes.
fn plane_quantiser(config: &TileConfig, plane: usize) -> u8 {
    match plane {
        0 => config.quantiser,
        _ => (config.quantiser).saturating_add_signed(config.chroma_offsets[plane - 1]),
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

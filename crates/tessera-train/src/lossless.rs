//! What a collection's lossless pictures have in common: networks that expect their samples.

use crate::budget::Budget;
use crate::descent::{Examples, Schedule, learn};
use crate::error::TrainError;
use crate::gallery::Gallery;
use crate::observer::{Stage, TrainObserver, go_on};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::Encoder;
use tessera_codec::internals::lossless::{Example, examples};
use tessera_dict::lossless_net::{FIRST, INPUTS, MAX_WEIGHT, OUTPUTS, PLANES, SECOND};
use tessera_dict::{Dictionary, LosslessNet, LosslessNets};

/// Most samples the network of a plane is learned from.
const MOST_SAMPLES: usize = 3_000_000;
/// Fewest; with less the network would learn them by heart.
const FEWEST_SAMPLES: usize = 200_000;
/// Samples of one step of the descent.
const BATCH: usize = 512;
/// Times all samples are gone through.
const EPOCHS: usize = 6;
/// Weights are multiples of this: their bytes are a few thousand then, and the network makes up for it.
const STEP: i16 = 16;
/// Inputs per unit.
const INPUT_SCALE: f32 = 32.0;
/// The constant input of every layer.
const CONSTANT: f32 = 2.0;
/// Scale of the logistic distribution whose mean size is a unit.
const SPREAD: f32 = 0.6;
/// A single sample pulls no harder than this.
const LARGEST_PULL: f32 = 5.0;
/// Pictures that are looked at before the observer is asked again.
const TOGETHER: usize = 16;

/// How to learn.
#[derive(Clone, Debug)]
pub(crate) struct LosslessParams {
    pub(crate) seed: u64,
    /// Pictures that will be coded with the dictionary.
    pub(crate) pictures: f64,
    pub(crate) max_bytes: Option<usize>,
    pub(crate) budget: Budget,
    /// What the provenance says, and licence and credits.
    pub(crate) note: String,
}

/// What was learned.
#[derive(Clone, Debug)]
pub(crate) struct LosslessLearned {
    /// The start itself if nothing was better.
    pub(crate) dictionary: Dictionary,
    /// Change of the held-out pictures' lossless files against those of the built-in dictionary.
    pub(crate) change: f64,
    /// The same with the dictionary counted.
    pub(crate) total_change: f64,
}

/// Learns networks from `training` and keeps them if `validation` and the dictionary take fewer bytes together.
///
/// # Errors
/// If a picture cannot be read, or the observer wants to stop.
pub(crate) fn learn_lossless(
    training: &Gallery,
    validation: &Gallery,
    start: &Dictionary,
    params: &LosslessParams,
    observer: &mut dyn TrainObserver,
) -> Result<LosslessLearned, TrainError> {
    let samples = collect(training, params.seed, observer)?;
    let mut nets: LosslessNets = start.lossless_nets().clone();
    for (plane, (samples, net)) in samples.into_iter().zip(&mut nets).enumerate() {
        observer.progress(Stage::Network, plane, PLANES);
        go_on(observer)?;
        if samples.len() >= FEWEST_SAMPLES {
            *net = Some(learn_net(&samples, params));
        }
    }
    let learned = start.edited(|parts| {
        parts.lossless_nets = nets;
        parts.provenance = params.note.clone();
    })?;
    let bytes = learned.to_difference(Dictionary::builtin()).len();
    let fits = params.max_bytes.is_none_or(|most| bytes <= most);
    let [before, after] = [Dictionary::builtin(), &learned]
        .map(|dictionary| lossless_bytes(validation, dictionary, observer));
    let (before, after) = (before?, after?);
    let change = after / before - 1.0;
    let per_picture = bytes as f64 / params.pictures * validation.len() as f64;
    let total_change = (after + per_picture) / before - 1.0;
    observer.validated(change);
    Ok(match fits && total_change < 0.0 {
        true => LosslessLearned {
            dictionary: learned,
            change,
            total_change,
        },
        false => LosslessLearned {
            dictionary: start.clone(),
            change: 0.0,
            total_change: 0.0,
        },
    })
}

/// Samples of all pictures, plane by plane; of each as many.
fn collect(
    training: &Gallery,
    seed: u64,
    observer: &mut dyn TrainObserver,
) -> Result<[Vec<Example>; PLANES], TrainError> {
    let each = MOST_SAMPLES / training.len();
    let mut all = [const { Vec::new() }; PLANES];
    for first in (0..training.len()).step_by(TOGETHER) {
        observer.progress(Stage::Harvest, first, training.len());
        go_on(observer)?;
        let some = first..training.len().min(first + TOGETHER);
        let found = some.into_par_iter().map(|picture| {
            let random = &mut Pcg64Mcg::new(u128::from(seed) << 32 | picture as u128);
            let planes = examples(&training.load(picture)?);
            Ok(planes.map(|plane| some_of(&plane, each, random)))
        });
        for planes in found.collect::<Result<Vec<_>, TrainError>>()? {
            for (all, own) in all.iter_mut().zip(planes) {
                all.extend(own);
            }
        }
    }
    Ok(all)
}

/// Up to `count` of them, drawn at random.
fn some_of(examples: &[Example], count: usize, random: &mut Pcg64Mcg) -> Vec<Example> {
    if examples.len() <= count {
        return examples.to_vec();
    }
    let draw = |_| examples[random.random_range(0..examples.len())];
    (0..count).map(draw).collect()
}

fn learn_net(samples: &[Example], params: &LosslessParams) -> LosslessNet {
    let schedule = Schedule {
        sizes: [INPUTS, FIRST, SECOND, OUTPUTS],
        constant: CONSTANT,
        batch: BATCH,
        epochs: EPOCHS,
        seed: params.seed,
        max_weights: [MAX_WEIGHT; 3],
        steps: [STEP; 3],
        bytes: None,
        budget: params.budget.share(0.5),
    };
    let [first, second, last] = learn(&Samples(samples), &schedule);
    LosslessNet {
        first,
        second,
        last,
    }
}

/// Bytes of the pictures' lossless files.
fn lossless_bytes(
    pictures: &Gallery,
    dictionary: &Dictionary,
    observer: &mut dyn TrainObserver,
) -> Result<f64, TrainError> {
    let encoder = Encoder::new()
        .lossless(true)
        .threads(1)
        .short_dictionary_name(true)
        .strip_metadata(true)
        .dictionary(dictionary.clone());
    observer.progress(Stage::Validation, 0, pictures.len());
    let sizes = (0..pictures.len()).into_par_iter().map(|index| {
        let encoded = encoder.encode(&pictures.load(index)?);
        match encoded {
            Ok(encoded) => Ok(encoded.bytes.len() as u64),
            Err(error) => Err(pictures.unusable(index, &error)),
        }
    });
    let total: u64 = sizes.sum::<Result<u64, TrainError>>()?;
    Ok(total as f64)
}

struct Samples<'a>(&'a [Example]);

impl Examples for Samples<'_> {
    fn count(&self) -> usize {
        self.0.len()
    }

    fn input(&self, example: usize, at: usize) -> f32 {
        f32::from(self.0[example].inputs[at]) / INPUT_SCALE
    }

    /// The slope of the bits that a logistic distribution around what the network says takes for the sample.
    fn blame(&self, example: usize, said: &mut [f32], _: bool) {
        let example = &self.0[example];
        let unit = example.unit as f32 / 16.0;
        let error = example.error as f32 / 16.0;
        let slopes = slopes([said[0], said[1]], unit, error);
        said.copy_from_slice(&slopes.map(|slope| slope.clamp(-LARGEST_PULL, LARGEST_PULL)));
    }
}

/// How the cost of a sample rises with where it is expected, in units, and with the octaves of how far from there.
fn slopes([place, octaves]: [f32; 2], unit: f32, error: f32) -> [f32; 2] {
    let scale = (SPREAD * unit * octaves.clamp(-4.0, 4.0).exp2()).max(0.05);
    let away = error - place * unit;
    let ends = [(away + 0.5) / scale, (away - 0.5) / scale];
    let below = ends.map(|end| 1.0 / (1.0 + (-end).exp()));
    let share = (below[0] - below[1]).max(1e-6);
    let density = below.map(|below| below * (1.0 - below));
    let by_place = (density[0] - density[1]) / scale * unit / share;
    let by_octaves = (ends[0] * density[0] - ends[1] * density[1]) / share * std::f32::consts::LN_2;
    [by_place, by_octaves]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost([place, octaves]: [f32; 2], unit: f32, error: f32) -> f32 {
        let scale = SPREAD * unit * octaves.exp2();
        let away = error - place * unit;
        let below = |at: f32| 1.0 / (1.0 + (-(at / scale)).exp());
        -(below(away + 0.5) - below(away - 0.5)).ln()
    }

    #[test]
    fn slopes_are_those_of_the_cost() {
        for (said, unit, error) in [
            ([0.3, -0.5], 2.0, 1.0),
            ([-0.2, 0.4], 0.8, -3.0),
            ([0.0, 0.0], 5.0, 0.2),
        ] {
            let found = slopes(said, unit, error);
            for which in 0..2 {
                let moved = |by: f32| {
                    let mut said = said;
                    said[which] += by;
                    cost(said, unit, error)
                };
                let rise = (moved(0.01) - moved(-0.01)) / 0.02;
                assert!(
                    (rise - found[which]).abs() < 0.01 * (1.0 + rise.abs()),
                    "{which}"
                );
            }
        }
    }
}

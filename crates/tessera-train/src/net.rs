//! The network behind the filter, learned from decoded samples and their originals.

use crate::budget::Budget;
use crate::descent::{Examples, Schedule, learn};
use borsh::{BorshDeserialize, BorshSerialize};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::internals::encoder::training::{PLACE_INPUTS, Surroundings, place_input};
use tessera_dict::Net;
use tessera_dict::net::{FIRST, INPUTS, MAX_WEIGHT, Nets, SECOND};
use tessera_patch::Plane;

/// Most samples the network of a plane kind is learned from.
const MOST_SAMPLES: usize = 2_000_000;
/// Fewest; with less the network would learn them by heart.
const FEWEST_SAMPLES: usize = 100_000;
/// Samples of one step of the descent.
const BATCH: usize = 1024;
/// Times all samples are gone through.
const EPOCHS: usize = 8;
/// Inputs and corrections per half a step.
const INPUT_SCALE: f32 = 32.0;
/// Corrections beyond two steps teach nothing.
const LARGEST_TARGET: f32 = 4.0;
/// Mean squared error, in squared half steps, below which planes do not count more: flat ones would drown the rest.
const SMALLEST_ERROR: f32 = 2e-3;
/// The constant input of every layer.
const CONSTANT: f32 = 2.0;

/// Surroundings of decoded samples and how far their originals lie above them, in half steps.
///
/// Every sample counts by the inverse of its plane's mean squared error: what shrinks then is the logarithm of the
/// error, the same gain at every quality, and not the error of the finest ones, which is largest in steps.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct NetSamples {
    /// All but the places.
    inputs: Vec<[i8; INPUTS]>,
    /// Column and row in the picture.
    places: Vec<[u32; 2]>,
    targets: Vec<f32>,
    weights: Vec<f32>,
}

impl NetSamples {
    /// Takes `count` samples of a decoded plane that begins at `origin` in its picture, but no more than it has.
    pub(crate) fn take(
        &mut self,
        [original, decoded]: [&Plane; 2],
        quantiser: u8,
        origin: (u32, u32),
        count: usize,
        random: &mut Pcg64Mcg,
    ) {
        let count = count.min(decoded.data.len());
        let surroundings = Surroundings::new(&decoded.data, decoded.width, quantiser);
        let half_step = 2f32.powf(f32::from(quantiser) / 8.0) / 2.0;
        let start = self.targets.len();
        for _ in 0..count {
            let at = random.random_range(0..decoded.data.len());
            let (x, y) = (at % decoded.width, at / decoded.width);
            self.inputs.push(surroundings.inputs(x, y));
            self.places.push([origin.0 + x as u32, origin.1 + y as u32]);
            let error = f32::from(original.data[at]) - f32::from(decoded.data[at]);
            let target = (error / half_step).clamp(-LARGEST_TARGET, LARGEST_TARGET);
            self.targets.push(target);
        }
        let errors = self.targets[start..].iter().map(|target| target * target);
        let mean = errors.sum::<f32>() / count.max(1) as f32;
        let weight = 1.0 / mean.max(SMALLEST_ERROR);
        self.weights.resize(self.targets.len(), weight);
    }

    /// Adds the samples of another part.
    pub(crate) fn merge(&mut self, other: Self) {
        self.inputs.extend(other.inputs);
        self.places.extend(other.places);
        self.targets.extend(other.targets);
        self.weights.extend(other.weights);
    }

    fn fill_in_places(&mut self, extent: [u16; 2]) {
        for (inputs, place) in self.inputs.iter_mut().zip(&self.places) {
            for axis in [0, 1] {
                let input = place_input(place[axis], extent[axis]);
                inputs[PLACE_INPUTS[axis]] = input as i8;
            }
        }
    }
}

/// The size of the pictures, as far as these places in them show it.
pub(crate) fn extent_of<'a>(places: impl IntoIterator<Item = &'a [u32; 2]>) -> [u16; 2] {
    let furthest = |[x, y]: [u32; 2], place: &[u32; 2]| [x.max(place[0]), y.max(place[1])];
    let furthest = places.into_iter().fold([0, 0], furthest);
    furthest.map(|last| u16::try_from(last + 1).unwrap_or(u16::MAX))
}

/// Samples of luma and chroma that each of `parts` parts should give.
pub(crate) fn samples_per_part(parts: usize) -> usize {
    MOST_SAMPLES / parts.max(1)
}

/// Learns the networks of both plane kinds from the samples of all parts; none where there are too few.
///
/// Weights are multiples of `step`.
pub(crate) fn learn_nets(samples: [NetSamples; 2], seed: u64, step: i16, budget: Budget) -> Nets {
    let nets: Vec<Option<Net>> = samples
        .into_par_iter()
        .map(|samples| {
            let enough = samples.targets.len() >= FEWEST_SAMPLES;
            enough.then(|| learn_net(samples, seed, step, budget))
        })
        .collect();
    nets.try_into().expect("there are two plane kinds")
}

fn learn_net(mut samples: NetSamples, seed: u64, step: i16, budget: Budget) -> Net {
    let extent = extent_of(&samples.places);
    samples.fill_in_places(extent);
    let schedule = Schedule {
        sizes: [INPUTS, FIRST, SECOND, 1],
        constant: CONSTANT,
        batch: BATCH,
        epochs: EPOCHS,
        seed,
        max_weight: MAX_WEIGHT,
        step,
        budget,
    };
    let [first, second, last] = learn(&samples, &schedule);
    Net {
        extent,
        first,
        second,
        last,
    }
}

impl Examples for NetSamples {
    fn count(&self) -> usize {
        self.targets.len()
    }

    fn input(&self, example: usize, at: usize) -> f32 {
        f32::from(self.inputs[example][at]) / INPUT_SCALE
    }

    fn blame(&self, example: usize, said: &mut [f32], _: bool) {
        said[0] = self.weights[example] * (said[0] - self.targets[example]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descent::outputs;

    /// Samples whose original is half way to the mean of two neighbours, but only if that lies above.
    fn samples(count: usize) -> NetSamples {
        let random = &mut Pcg64Mcg::new(5);
        let mut out = NetSamples::default();
        for _ in 0..count {
            let mut inputs = [0i8; INPUTS];
            for input in &mut inputs[..INPUTS - 2] {
                *input = random.random_range(-60..=60);
            }
            inputs[INPUTS - 1] = 64;
            let mean = f32::from(inputs[0]) + f32::from(inputs[1]);
            out.inputs.push(inputs);
            out.weights.push(1.0);
            out.places.push([50, 50]);
            out.targets.push((mean / 4.0).max(0.0) / INPUT_SCALE);
        }
        out
    }

    #[test]
    fn what_is_not_linear_is_learned() {
        let mut all = samples(FEWEST_SAMPLES);
        let extent = extent_of(&all.places);
        all.fill_in_places(extent);
        let nets = learn_nets(
            [samples(FEWEST_SAMPLES), samples(10)],
            1,
            1,
            Budget::default(),
        );
        assert!(nets[1].is_none(), "ten samples are too few");
        let net = nets[0].as_ref().unwrap();
        let layers = [&net.first, &net.second, &net.last];
        let (mut before, mut after) = (0.0, 0.0);
        for (inputs, target) in all.inputs.iter().zip(&all.targets).take(2000) {
            let inputs: Vec<f32> = inputs.iter().map(|&i| f32::from(i) / INPUT_SCALE).collect();
            before += target * target;
            after += (outputs(layers, &inputs, CONSTANT)[0] - target).powi(2);
        }
        assert!(after < 0.1 * before, "{after} of {before}");
    }
}

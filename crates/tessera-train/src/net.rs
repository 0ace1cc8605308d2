//! The network behind the filter, learned from decoded samples and their originals.

use crate::budget::Budget;
use crate::descent::{Bytes, Examples, Schedule, learn};
use borsh::{BorshDeserialize, BorshSerialize};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use std::borrow::Cow;
use tessera_codec::internals::encoder::training::{PLACE_INPUTS, SIDE, Surroundings, place_input};
use tessera_dict::Net;
use tessera_dict::net::{
    FIRST, FRACTIONS, INPUTS, MOST_WEIGHT, Nets, OUTPUTS, SECOND, STRIDES, WEIGHT_BITS,
};
use tessera_patch::Plane;

/// Most squares of samples the network of a plane kind is learned from.
const MOST_SQUARES: usize = 1_500_000;
/// Fewest; with less the network would learn them by heart.
const FEWEST_SQUARES: usize = 50_000;
/// Squares of one step of the descent.
const BATCH: usize = 512;
/// Times all squares are gone through.
const EPOCHS: usize = 8;
/// Inputs, corrections and what units pass on, per half a step.
const SCALE: f32 = 16.0;
/// Corrections beyond two steps teach nothing.
const LARGEST_TARGET: f32 = 4.0;
/// Mean squared error, in squared half steps, below which planes do not count more: flat ones would drown the rest.
const SMALLEST_ERROR: f32 = 2e-3;
/// The constant input of every layer.
const CONSTANT: f32 = 2.0;
/// Part of the weight that units may have which is used: rounding may make them heavier.
const USED: f32 = 0.9;

/// Surroundings of decoded squares and how far their originals lie above them, in half steps.
///
/// Every square counts by the inverse of its plane's mean squared error: what shrinks then is the logarithm of the
/// error, the same gain at every quality, and not the error of the finest ones, which is largest in steps.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct NetSamples {
    /// All but the places.
    inputs: Vec<[i8; INPUTS]>,
    /// Column and row of the first sample in the picture.
    places: Vec<[u32; 2]>,
    /// By sample of the square.
    targets: Vec<[f32; OUTPUTS]>,
    weights: Vec<f32>,
}

impl NetSamples {
    /// Takes `count` squares of a decoded plane that begins at `origin` in its picture, but no more than it has.
    pub(crate) fn take(
        &mut self,
        [original, decoded]: [&Plane; 2],
        quantiser: u8,
        origin: (u32, u32),
        count: usize,
        random: &mut Pcg64Mcg,
    ) {
        let (width, height) = (decoded.width, decoded.data.len() / decoded.width);
        let (columns, rows) = (width / SIDE, height / SIDE);
        let count = count.min(columns * rows);
        if count == 0 {
            return;
        }
        let surroundings = Surroundings::new(&whole_squares(decoded), SIDE * columns, quantiser);
        let half_step = 2f32.powf(f32::from(quantiser) / 8.0) / 2.0;
        let start = self.targets.len();
        for _ in 0..count {
            let at = random.random_range(0..columns * rows);
            let (column, row) = (at % columns, at / columns);
            self.inputs.push(surroundings.inputs(column, row));
            let (x, y) = (SIDE * column, SIDE * row);
            self.places.push([origin.0 + x as u32, origin.1 + y as u32]);
            self.targets.push(std::array::from_fn(|i| {
                let at = (y + i / SIDE) * width + x + i % SIDE;
                let error = f32::from(original.data[at]) - f32::from(decoded.data[at]);
                (error / half_step).clamp(-LARGEST_TARGET, LARGEST_TARGET)
            }));
        }
        let errors = self.targets[start..].as_flattened().iter();
        let mean = errors.map(|target| target * target).sum::<f32>() / (count * OUTPUTS) as f32;
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

/// The samples of a plane without the last row or column if that is half of squares.
fn whole_squares(plane: &Plane) -> Cow<'_, [u16]> {
    let rows = plane.data.len() / plane.width / SIDE * SIDE;
    let columns = plane.width / SIDE * SIDE;
    let data = &plane.data[..rows * plane.width];
    match columns == plane.width {
        true => Cow::Borrowed(data),
        false => {
            let rows = data.chunks_exact(plane.width);
            Cow::Owned(rows.flat_map(|row| &row[..columns]).copied().collect())
        }
    }
}

/// The size of the pictures, as far as these places in them show it.
pub(crate) fn extent_of<'a>(places: impl IntoIterator<Item = &'a [u32; 2]>) -> [u16; 2] {
    let furthest = |[x, y]: [u32; 2], place: &[u32; 2]| [x.max(place[0]), y.max(place[1])];
    let furthest = places.into_iter().fold([0, 0], furthest);
    furthest.map(|last| u16::try_from(last + 1).unwrap_or(u16::MAX))
}

/// Squares of luma and chroma that each of `parts` parts should give.
pub(crate) fn squares_per_part(parts: usize) -> usize {
    MOST_SQUARES / parts.max(1)
}

/// Learns the networks of both plane kinds from the squares of all parts; none where there are too few.
pub(crate) fn learn_nets(samples: [NetSamples; 2], seed: u64, budget: Budget) -> Nets {
    let nets: Vec<Option<Net>> = samples
        .into_par_iter()
        .map(|samples| {
            let enough = samples.targets.len() >= FEWEST_SQUARES;
            enough.then(|| learn_net(samples, seed, budget))
        })
        .collect();
    nets.try_into().expect("there are two plane kinds")
}

fn learn_net(mut samples: NetSamples, seed: u64, budget: Budget) -> Net {
    let extent = extent_of(&samples.places);
    samples.fill_in_places(extent);
    let steps = FRACTIONS.map(|bits| 1i16 << (WEIGHT_BITS - bits));
    let schedule = Schedule {
        sizes: [INPUTS, FIRST, SECOND, OUTPUTS],
        constant: CONSTANT,
        batch: BATCH,
        epochs: EPOCHS,
        seed,
        max_weights: steps.map(|step| i16::from(i8::MAX) * step),
        steps,
        bytes: Some(Bytes {
            unit: 1.0 / SCALE,
            largest: f32::from(i8::MAX) / SCALE,
            most_weight: USED * MOST_WEIGHT as f32,
        }),
        budget,
    };
    let layers = learn(&samples, &schedule);
    let stored = |layer: usize| {
        let weights = layers[layer].iter();
        let mut weights: Vec<i8> = weights
            .map(|weight| (weight / steps[layer]) as i8)
            .collect();
        weights.chunks_exact_mut(STRIDES[layer]).for_each(lighten);
        weights
    };
    let layers = [stored(0), stored(1), stored(2)];
    Net::new(extent, layers).expect("no unit has too much weight")
}

/// Takes from the heaviest weights of a unit what rounding made too much of them.
fn lighten(unit: &mut [i8]) {
    for sign in [-1, 1] {
        let weight = |&weight: &i8| (sign * i32::from(weight)).max(0);
        let sum: i32 = unit.iter().map(weight).sum();
        for _ in MOST_WEIGHT..sum {
            let heaviest = unit.iter_mut().max_by_key(|own| weight(own));
            *heaviest.expect("units have weights") -= sign as i8;
        }
    }
}

impl Examples for NetSamples {
    fn count(&self) -> usize {
        self.targets.len()
    }

    fn input(&self, example: usize, at: usize) -> f32 {
        f32::from(self.inputs[example][at]) / SCALE
    }

    fn blame(&self, example: usize, said: &mut [f32], _: bool) {
        for (said, target) in said.iter_mut().zip(&self.targets[example]) {
            *said = self.weights[example] * (*said - target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descent::outputs;

    /// Squares whose third sample is half way to the mean of two neighbours, but only if that lies above.
    fn samples(count: usize) -> NetSamples {
        let random = &mut Pcg64Mcg::new(5);
        let mut out = NetSamples::default();
        for _ in 0..count {
            let mut inputs = [0i8; INPUTS];
            for input in &mut inputs[..INPUTS - 2] {
                *input = random.random_range(-30..=30);
            }
            inputs[INPUTS - 1] = 32;
            let mean = f32::from(inputs[0]) + f32::from(inputs[1]);
            out.inputs.push(inputs);
            out.weights.push(1.0);
            out.places.push([50, 50]);
            out.targets
                .push([0.0, 0.0, (mean / 4.0).max(0.0) / SCALE, 0.0]);
        }
        out
    }

    #[test]
    fn what_is_not_linear_is_learned() {
        let mut all = samples(FEWEST_SQUARES);
        let extent = extent_of(&all.places);
        all.fill_in_places(extent);
        let nets = learn_nets([samples(FEWEST_SQUARES), samples(10)], 1, Budget::default());
        assert!(nets[1].is_none(), "ten squares are too few");
        let net = nets[0].as_ref().unwrap();
        let wide = |layer: &Vec<i8>, bits: u32| -> Vec<i16> {
            let step = 1 << (WEIGHT_BITS - bits);
            layer
                .iter()
                .map(|&weight| i16::from(weight) * step)
                .collect()
        };
        let [first, second, last] = FRACTIONS;
        let (first, second) = (wide(&net.first, first), wide(&net.second, second));
        let last = wide(&net.last, last);
        let (mut before, mut after) = (0.0, 0.0);
        for (inputs, target) in all.inputs.iter().zip(&all.targets).take(2000) {
            let inputs: Vec<f32> = inputs.iter().map(|&i| f32::from(i) / SCALE).collect();
            let said = outputs([&first, &second, &last], &inputs, CONSTANT);
            for (said, target) in said.into_iter().zip(target) {
                before += target * target;
                after += (said - target).powi(2);
            }
        }
        assert!(after < 0.1 * before, "{after} of {before}");
    }

    #[test]
    fn odd_planes_lose_half_squares() {
        let plane = Plane {
            width: 5,
            height: 3,
            data: (0..15).collect(),
        };
        assert_eq!(whole_squares(&plane)[..], [0, 1, 2, 3, 5, 6, 7, 8]);
    }

    #[test]
    fn heavy_units_become_as_light_as_they_must() {
        let mut unit = [100, 100, 60, -3, -127, -127];
        lighten(&mut unit);
        assert_eq!(
            unit.iter().map(|&w| i32::from(w).max(0)).sum::<i32>(),
            MOST_WEIGHT
        );
        assert_eq!(unit[3..], [-3, -126, -126]);
    }
}

//! The network behind the filter, learned from decoded samples and their originals by gradient descent (Adam).

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;
use tessera_codec::tile::encoder::training::{PLACE_INPUTS, Surroundings, place_input};
use tessera_dict::Net;
use tessera_dict::net::{FIRST, INPUTS, MAX_WEIGHT, Nets, SECOND, WEIGHT_BITS};
use tessera_patch::Plane;

/// Most samples the network of a plane kind is learned from.
const MOST_SAMPLES: usize = 1_500_000;
/// Fewest; with less the network would learn them by heart.
const FEWEST_SAMPLES: usize = 100_000;
/// Samples of one step of the descent.
const BATCH: usize = 1024;
/// Times all samples are gone through.
const EPOCHS: usize = 8;
/// Rate of learning at the start; it falls to nearly zero.
const RATE: f32 = 2e-3;
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
#[derive(Debug, Default)]
pub(crate) struct NetSamples {
    /// All but the places.
    inputs: Vec<[i8; INPUTS]>,
    /// Column and row in the picture.
    places: Vec<[u16; 2]>,
    targets: Vec<f32>,
    weights: Vec<f32>,
}

impl NetSamples {
    /// Takes `count` samples of a decoded plane that begins at `origin` in its picture.
    pub(crate) fn take(
        &mut self,
        [original, decoded]: [&Plane; 2],
        quantiser: u8,
        origin: (u32, u32),
        count: usize,
        random: &mut Pcg64Mcg,
    ) {
        let surroundings = Surroundings::new(&decoded.data, decoded.width, quantiser);
        let half_step = 2f32.powf(f32::from(quantiser) / 8.0) / 2.0;
        let start = self.targets.len();
        for _ in 0..count {
            let at = random.random_range(0..decoded.data.len());
            let (x, y) = (at % decoded.width, at / decoded.width);
            self.inputs.push(surroundings.inputs(x, y));
            let (x, y) = (origin.0 + x as u32, origin.1 + y as u32);
            self.places.push([x as u16, y as u16]);
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

    /// The size of the pictures, as far as the samples show it.
    fn extent(&self) -> [u16; 2] {
        [0, 1].map(|axis| {
            let last = self.places.iter().map(|place| place[axis]).max();
            last.unwrap_or(0).saturating_add(1)
        })
    }

    fn fill_in_places(&mut self, extent: [u16; 2]) {
        for (inputs, place) in self.inputs.iter_mut().zip(&self.places) {
            for axis in [0, 1] {
                let input = place_input(u32::from(place[axis]), extent[axis]);
                inputs[PLACE_INPUTS[axis]] = input as i8;
            }
        }
    }
}

/// Samples of luma and chroma that each of `parts` parts should give.
pub(crate) fn samples_per_part(parts: usize) -> usize {
    MOST_SAMPLES / parts.max(1)
}

/// Learns the networks of both plane kinds from the samples of all parts; none where there are too few.
pub(crate) fn learn_nets(samples: [NetSamples; 2], seed: u64) -> Nets {
    let nets: Vec<Option<Net>> = samples
        .into_par_iter()
        .map(|samples| {
            let enough = samples.targets.len() >= FEWEST_SAMPLES;
            enough.then(|| Descent::new(seed).run(samples, seed))
        })
        .collect();
    nets.try_into().expect("there are two plane kinds")
}

/// A layer in floating point with the running moments of its gradient; one row per unit.
struct Layer {
    weights: Mat<f32>,
    mean: Mat<f32>,
    square: Mat<f32>,
}

impl Layer {
    fn new(units: usize, inputs: usize, scale: f32, random: &mut Pcg64Mcg) -> Self {
        // Uniform numbers of the variance 1 / inputs.
        let spread = scale * (3.0 / inputs as f32).sqrt();
        let mut weights = Mat::zeros(units, inputs);
        for unit in 0..units {
            for input in 0..inputs - 1 {
                weights[(unit, input)] = spread * (2.0 * random.random::<f32>() - 1.0);
            }
        }
        Self {
            weights,
            mean: Mat::zeros(units, inputs),
            square: Mat::zeros(units, inputs),
        }
    }

    fn forward(&self, inputs: MatRef<'_, f32>) -> Mat<f32> {
        product(self.weights.as_ref(), inputs)
    }

    /// One step against the gradient.
    fn learn(&mut self, gradient: &Mat<f32>, rate: f32, time: i32) {
        const DECAY: [f32; 2] = [0.9, 0.999];
        let [first, second] = DECAY.map(|decay| 1.0 - decay.powi(time));
        for j in 0..gradient.ncols() {
            for i in 0..gradient.nrows() {
                let g = gradient[(i, j)];
                let (mean, square) = (&mut self.mean[(i, j)], &mut self.square[(i, j)]);
                *mean += (1.0 - DECAY[0]) * (g - *mean);
                *square += (1.0 - DECAY[1]) * (g * g - *square);
                let step = rate * (*mean / first) / ((*square / second).sqrt() + 1e-8);
                self.weights[(i, j)] -= step;
            }
        }
    }

    fn rounded(&self) -> Vec<i16> {
        let scale = f32::from(1u16 << WEIGHT_BITS);
        let limit = f32::from(MAX_WEIGHT);
        let (units, inputs) = (self.weights.nrows(), self.weights.ncols());
        (0..units * inputs)
            .map(|at| self.weights[(at / inputs, at % inputs)] * scale)
            .map(|weight| weight.round().clamp(-limit, limit) as i16)
            .collect()
    }
}

struct Descent {
    layers: [Layer; 3],
    time: i32,
}

impl Descent {
    fn new(seed: u64) -> Self {
        let random = &mut Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        Self {
            layers: [
                Layer::new(FIRST, INPUTS, 1.0, random),
                Layer::new(SECOND, FIRST + 1, 1.0, random),
                Layer::new(1, SECOND + 1, 0.1, random),
            ],
            time: 0,
        }
    }

    fn run(mut self, mut samples: NetSamples, seed: u64) -> Net {
        let extent = samples.extent();
        samples.fill_in_places(extent);
        let random = &mut Pcg64Mcg::new(u128::from(seed) << 1 | 1);
        let mut order: Vec<usize> = (0..samples.targets.len()).collect();
        let steps = (EPOCHS * (order.len() / BATCH)) as f32;
        for _ in 0..EPOCHS {
            shuffle(&mut order, random);
            for batch in order.chunks_exact(BATCH) {
                self.time += 1;
                let left = 1.0 - self.time as f32 / steps;
                self.step(&samples, batch, RATE * (1.5 * left + 0.02).min(1.0));
            }
        }
        let [first, second, last] = self.layers.each_ref().map(Layer::rounded);
        Net {
            extent,
            first,
            second,
            last,
        }
    }

    fn step(&mut self, samples: &NetSamples, batch: &[usize], rate: f32) {
        let inputs = Mat::from_fn(INPUTS, batch.len(), |i, j| {
            f32::from(samples.inputs[batch[j]][i]) / INPUT_SCALE
        });
        let first = passed_on(self.layers[0].forward(inputs.as_ref()));
        let second = passed_on(self.layers[1].forward(first.as_ref()));
        let mut blame = self.layers[2].forward(second.as_ref());
        for (j, &at) in batch.iter().enumerate() {
            let error = samples.weights[at] * (blame[(0, j)] - samples.targets[at]);
            blame[(0, j)] = 2.0 * error / batch.len() as f32;
        }
        for (layer, inputs) in [(2, &second), (1, &first), (0, &inputs)] {
            let gradient = product(blame.as_ref(), inputs.transpose());
            if layer > 0 {
                blame = handed_back(&self.layers[layer].weights, &blame, inputs);
            }
            self.layers[layer].learn(&gradient, rate, self.time);
        }
    }
}

/// What units pass on: their positive sums, and the constant behind them.
fn passed_on(sums: Mat<f32>) -> Mat<f32> {
    let units = sums.nrows();
    Mat::from_fn(units + 1, sums.ncols(), |i, j| match i {
        i if i < units => sums[(i, j)].max(0.0),
        _ => CONSTANT,
    })
}

/// The share of the units before in the error of those behind; none for units that passed nothing on.
fn handed_back(weights: &Mat<f32>, blame: &Mat<f32>, passed: &Mat<f32>) -> Mat<f32> {
    let all = product(weights.transpose(), blame.as_ref());
    Mat::from_fn(passed.nrows() - 1, passed.ncols(), |i, j| {
        if passed[(i, j)] > 0.0 {
            all[(i, j)]
        } else {
            0.0
        }
    })
}

fn product(a: MatRef<'_, f32>, b: MatRef<'_, f32>) -> Mat<f32> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(&mut out, Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

fn shuffle(order: &mut [usize], random: &mut Pcg64Mcg) {
    for i in (1..order.len()).rev() {
        order.swap(i, random.random_range(0..=i));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
        all.fill_in_places(all.extent());
        let nets = learn_nets([samples(FEWEST_SAMPLES), samples(10)], 1);
        assert!(nets[1].is_none(), "ten samples are too few");
        let net = nets[0].as_ref().unwrap();
        let layer = |weights: &[i16], inputs: &[f32]| -> Vec<f32> {
            let units = weights.chunks_exact(inputs.len());
            let sum = |unit: &[i16]| -> f32 {
                let products = unit.iter().zip(inputs).map(|(&w, i)| f32::from(w) * i);
                products.sum::<f32>() / 1024.0
            };
            units.map(sum).collect()
        };
        let (mut before, mut after) = (0.0, 0.0);
        for (inputs, target) in all.inputs.iter().zip(&all.targets).take(2000) {
            let positive = |mut sums: Vec<f32>| {
                sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
                sums.push(CONSTANT);
                sums
            };
            let inputs: Vec<f32> = inputs.iter().map(|&i| f32::from(i) / INPUT_SCALE).collect();
            let first = positive(layer(&net.first, &inputs));
            let second = positive(layer(&net.second, &first));
            before += target * target;
            after += (layer(&net.last, &second)[0] - target).powi(2);
        }
        assert!(after < 0.1 * before, "{after} of {before}");
    }
}

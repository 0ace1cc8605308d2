//! Small networks of three layers learned by gradient descent (Adam), and rounded to the integers a dictionary holds.

use crate::budget::Budget;
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::borrow::Cow;
use tessera_dict::net::WEIGHT_BITS;

/// Rate of learning at the start; it falls to nearly zero.
const RATE: f32 = 2e-3;
/// Part of the descent that is called early.
const EARLY: f32 = 0.1;

/// Part of the descent, at its end, in which weights are used in the steps they will be stored with.
const COARSE: f32 = 0.5;

/// What a network learns from.
pub(crate) trait Examples {
    fn count(&self) -> usize;

    /// Input `at` of an example; the last one is constant.
    fn input(&self, example: usize, at: usize) -> f32;

    /// Turns what the network says of an example into how far it should move away from it; `early` in the first part
    /// of the descent.
    fn blame(&self, example: usize, said: &mut [f32], early: bool);
}

/// How a network is learned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    /// Inputs, units of both hidden layers, outputs.
    pub(crate) sizes: [usize; 4],
    /// What stands behind the units of the hidden layers.
    pub(crate) constant: f32,
    /// Examples of one step.
    pub(crate) batch: usize,
    /// Times all examples are gone through.
    pub(crate) epochs: usize,
    pub(crate) seed: u64,
    /// Largest magnitude of a rounded weight, by layer.
    pub(crate) max_weights: [i16; 3],
    /// Steps of a rounded weight, by layer; coarse ones are learned with, so that the network makes up for them.
    pub(crate) steps: [i16; 3],
    /// Further limits, if weights and units are bytes.
    pub(crate) bytes: Option<Bytes>,
    /// Time it may take; the rate then falls as the time does.
    pub(crate) budget: Budget,
}

/// What a network keeps to whose weights and units are bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bytes {
    /// Steps of what a unit passes on.
    pub(crate) unit: f32,
    /// The most that it passes on.
    pub(crate) largest: f32,
    /// Most that the positive weights of a unit add up to in steps, and the negative ones.
    pub(crate) most_weight: f32,
}

/// The rounded weights of the three layers, unit by unit.
pub(crate) fn learn(examples: &impl Examples, schedule: &Schedule) -> [Vec<i16>; 3] {
    let mut descent = Descent::new(schedule);
    let random = &mut Pcg64Mcg::new(u128::from(schedule.seed) << 1 | 1);
    let mut order: Vec<usize> = (0..examples.count()).collect();
    let steps = (schedule.epochs * (order.len() / schedule.batch)) as f32;
    for _ in 0..schedule.epochs {
        shuffle(&mut order, random);
        for batch in order.chunks_exact(schedule.batch) {
            descent.time += 1;
            let left = (1.0 - descent.time as f32 / steps).min(schedule.budget.part_left());
            let rate = RATE * (1.5 * left + 0.02).min(1.0);
            descent.coarse = schedule.steps != [1; 3] && left < COARSE;
            descent.step(examples, batch, rate, left > 1.0 - EARLY);
            if schedule.budget.is_over() {
                return descent.rounded();
            }
        }
    }
    descent.rounded()
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

    /// Makes units lighter whose positive or negative weights add up to more than `most`.
    fn lighten(&mut self, most: f32) {
        for unit in 0..self.weights.nrows() {
            let (mut above, mut below) = (0f32, 0f32);
            for weight in self.weights.row(unit).iter() {
                above += weight.max(0.0);
                below -= weight.min(0.0);
            }
            let weight = above.max(below);
            if weight > most {
                for input in 0..self.weights.ncols() {
                    self.weights[(unit, input)] *= most / weight;
                }
            }
        }
    }

    /// The weights in steps of `step` as they will be stored.
    fn in_steps(&self, limit: f32, step: f32) -> Mat<f32> {
        let scale = f32::from(1u16 << WEIGHT_BITS);
        let most = (limit / step).floor();
        Mat::from_fn(self.weights.nrows(), self.weights.ncols(), |i, j| {
            let steps = (self.weights[(i, j)] * scale / step).round();
            steps.clamp(-most, most) * step / scale
        })
    }

    fn rounded(&self, limit: f32, step: f32) -> Vec<i16> {
        let scale = f32::from(1u16 << WEIGHT_BITS);
        let (units, inputs) = (self.weights.nrows(), self.weights.ncols());
        let stored = self.in_steps(limit, step);
        (0..units * inputs)
            .map(|at| (stored[(at / inputs, at % inputs)] * scale).round() as i16)
            .collect()
    }
}

struct Descent<'a> {
    schedule: &'a Schedule,
    layers: [Layer; 3],
    time: i32,
    /// Whether weights are used in the steps they will be stored with.
    coarse: bool,
}

impl<'a> Descent<'a> {
    fn new(schedule: &'a Schedule) -> Self {
        let random = &mut Pcg64Mcg::new(u128::from(schedule.seed) << 1 | 1);
        let [inputs, first, second, outputs] = schedule.sizes;
        Self {
            schedule,
            layers: [
                Layer::new(first, inputs, 1.0, random),
                Layer::new(second, first + 1, 1.0, random),
                Layer::new(outputs, second + 1, 0.1, random),
            ],
            time: 0,
            coarse: false,
        }
    }

    /// What the dictionary holds.
    fn rounded(&self) -> [Vec<i16>; 3] {
        std::array::from_fn(|layer| {
            let (limit, step) = self.limit_and_step(layer);
            self.layers[layer].rounded(limit, step)
        })
    }

    fn limit_and_step(&self, layer: usize) -> (f32, f32) {
        let Schedule {
            max_weights, steps, ..
        } = self.schedule;
        (f32::from(max_weights[layer]), f32::from(steps[layer]))
    }

    /// The weights that predictions are made with; the gradient moves those behind them.
    fn used(&self) -> [Cow<'_, Mat<f32>>; 3] {
        std::array::from_fn(|layer| {
            let (limit, step) = self.limit_and_step(layer);
            let layer = &self.layers[layer];
            match self.coarse {
                true => Cow::Owned(layer.in_steps(limit, step)),
                false => Cow::Borrowed(&layer.weights),
            }
        })
    }

    fn step(&mut self, examples: &impl Examples, batch: &[usize], rate: f32, early: bool) {
        let inputs = Mat::from_fn(self.schedule.sizes[0], batch.len(), |i, j| {
            examples.input(batch[j], i)
        });
        let used = self.used();
        let first = self.passed_on(product((*used[0]).as_ref(), inputs.as_ref()));
        let second = self.passed_on(product((*used[1]).as_ref(), first.as_ref()));
        let mut blame = product((*used[2]).as_ref(), second.as_ref());
        for (j, &at) in batch.iter().enumerate() {
            let said = blame.col_as_slice_mut(j);
            examples.blame(at, said, early);
            said.iter_mut()
                .for_each(|blame| *blame *= 2.0 / batch.len() as f32);
        }
        let mut gradients = Vec::new();
        for (layer, inputs) in [(2, &second), (1, &first), (0, &inputs)] {
            gradients.push(product(blame.as_ref(), inputs.transpose()));
            if layer > 0 {
                blame = self.handed_back(&used[layer], &blame, inputs);
            }
        }
        drop(used);
        for (at, (layer, gradient)) in (self.layers.iter_mut().rev().zip(&gradients)).enumerate() {
            layer.learn(gradient, rate, self.time);
            if let Some(bytes) = self.schedule.bytes {
                let step = f32::from(self.schedule.steps[2 - at]);
                layer.lighten(bytes.most_weight * step / f32::from(1u16 << WEIGHT_BITS));
            }
        }
    }

    /// What units pass on: their positive sums, and the constant behind them.
    fn passed_on(&self, sums: Mat<f32>) -> Mat<f32> {
        let units = sums.nrows();
        let largest = self.largest();
        let steps = match self.schedule.bytes {
            Some(bytes) if self.coarse => Some(bytes.unit),
            _ => None,
        };
        Mat::from_fn(units + 1, sums.ncols(), |i, j| match i {
            i if i < units => {
                let sum = sums[(i, j)].clamp(0.0, largest);
                steps.map_or(sum, |unit| (sum / unit).round() * unit)
            }
            _ => self.schedule.constant,
        })
    }

    /// The most that a unit passes on.
    fn largest(&self) -> f32 {
        self.schedule.bytes.map_or(f32::MAX, |bytes| bytes.largest)
    }

    /// The share of the units before in the error of those behind; none for units that passed nothing on, or all they
    /// can.
    fn handed_back(&self, weights: &Mat<f32>, blame: &Mat<f32>, passed: &Mat<f32>) -> Mat<f32> {
        let all = product(weights.transpose(), blame.as_ref());
        let largest = self.largest();
        Mat::from_fn(passed.nrows() - 1, passed.ncols(), |i, j| {
            let passed = passed[(i, j)];
            if passed > 0.0 && passed < largest {
                all[(i, j)]
            } else {
                0.0
            }
        })
    }
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

/// What a network of rounded weights says.
#[cfg(test)]
pub(crate) fn outputs(layers: [&Vec<i16>; 3], inputs: &[f32], constant: f32) -> Vec<f32> {
    let sums = |weights: &[i16], inputs: &[f32]| -> Vec<f32> {
        let units = weights.chunks_exact(inputs.len());
        let sum = |unit: &[i16]| -> f32 {
            let products = unit.iter().zip(inputs).map(|(&w, i)| f32::from(w) * i);
            products.sum::<f32>() / 1024.0
        };
        units.map(sum).collect()
    };
    let passed_on = |mut sums: Vec<f32>| {
        sums.iter_mut().for_each(|sum| *sum = sum.max(0.0));
        sums.push(constant);
        sums
    };
    let first = passed_on(sums(layers[0], inputs));
    let second = passed_on(sums(layers[1], &first));
    sums(layers[2], &second)
}

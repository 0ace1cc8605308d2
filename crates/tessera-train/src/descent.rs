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
    /// Largest magnitude of a rounded weight.
    pub(crate) max_weight: i16,
    /// Steps of a rounded weight; coarse ones are learned with, so that the network makes up for them.
    pub(crate) step: i16,
    /// Time it may take; the rate then falls as the time does.
    pub(crate) budget: Budget,
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
            descent.coarse = schedule.step > 1 && left < COARSE;
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
        let (limit, step) = self.limit_and_step();
        (self.layers.each_ref()).map(|layer| layer.rounded(limit, step))
    }

    fn limit_and_step(&self) -> (f32, f32) {
        let Schedule {
            max_weight, step, ..
        } = *self.schedule;
        (f32::from(max_weight), f32::from(step))
    }

    /// The weights that predictions are made with; the gradient moves those behind them.
    fn used(&self) -> [Cow<'_, Mat<f32>>; 3] {
        let (limit, step) = self.limit_and_step();
        (self.layers.each_ref()).map(|layer| match self.coarse {
            true => Cow::Owned(layer.in_steps(limit, step)),
            false => Cow::Borrowed(&layer.weights),
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
                blame = handed_back(&used[layer], &blame, inputs);
            }
        }
        drop(used);
        for (layer, gradient) in self.layers.iter_mut().rev().zip(&gradients) {
            layer.learn(gradient, rate, self.time);
        }
    }

    /// What units pass on: their positive sums, and the constant behind them.
    fn passed_on(&self, sums: Mat<f32>) -> Mat<f32> {
        let units = sums.nrows();
        Mat::from_fn(units + 1, sums.ncols(), |i, j| match i {
            i if i < units => sums[(i, j)].max(0.0),
            _ => self.schedule.constant,
        })
    }
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

//! Recursive least squares by coordinate descent, in integers (`spec/lossless.md`, "Least squares").
//!
//! The correlations `r` of the regressors with each other fade exponentially; so does `gradient`, which is what the normal
//! equations still lack: `gradient = (correlation with the target) - r * weights`. A step along one coordinate brings one
//! of its entries to about zero. A few steps per sample are enough, because the solution moves slowly.

/// Regressors.
pub(super) const TAPS: usize = 16;
/// Fractional bits of weights.
pub(super) const WEIGHT_BITS: u32 = 16;
/// Fractional bits of correlations.
const R_BITS: u32 = 14;
/// Fractional bits of errors.
const ERROR_BITS: u32 = 4;
/// Errors beyond this teach no more than it.
const ERROR_MAX: i32 = 255 << ERROR_BITS;
/// Weights stay between minus and plus eight.
const WEIGHT_MAX: i64 = (8 << WEIGHT_BITS) - 1;
/// Added to curvatures, so that flat areas move nothing.
const RIDGE: i32 = 1 << 20;
/// Largest exponent of a sample's weight in [`LeastSquares::learn`].
pub(super) const MAX_FADE: u32 = 5;

/// 2^15 / (128 + i), rounded.
static RECIPROCAL: [i64; 128] = {
    let mut table = [0; 128];
    let mut i = 0;
    while i < 128 {
        let divisor = 128 + i as i64;
        table[i] = ((1 << 16) + divisor) / (2 * divisor);
        i += 1;
    }
    table
};

/// A predictor that learns.
#[derive(Clone, Debug)]
pub(super) struct LeastSquares {
    r: [[i32; TAPS]; TAPS],
    gradient: [i32; TAPS],
    weights: [i32; TAPS],
    next: usize,
}

/// What a sample teaches all predictors alike.
#[derive(Clone, Debug)]
pub(super) struct Lesson {
    regressors: [i32; TAPS],
    products: [[i32; TAPS]; TAPS],
    fade: u32,
}

impl Lesson {
    /// Of regressors of at most 8 bits and a sign; the sample counts 4^-`fade`.
    #[inline(always)]
    pub(super) fn new(regressors: [i32; TAPS], fade: u32) -> Self {
        let mut products = [[0; TAPS]; TAPS];
        for (row, &a) in products.iter_mut().zip(&regressors) {
            let a = a << (R_BITS - fade);
            for (product, &b) in row.iter_mut().zip(&regressors) {
                *product = (a * b) >> fade;
            }
        }
        Self {
            regressors,
            products,
            fade,
        }
    }
}

impl LeastSquares {
    /// Starts with half of each of the first two regressors.
    pub(super) fn new() -> Self {
        let mut weights = [0; TAPS];
        weights[..2].fill(1 << (WEIGHT_BITS - 1));
        Self {
            r: [[0; TAPS]; TAPS],
            gradient: [0; TAPS],
            weights,
            next: 0,
        }
    }

    /// Weighted sum of the regressors, with [`WEIGHT_BITS`] fractional bits.
    #[inline(always)]
    pub(super) fn predict(&self, regressors: &[i32; TAPS]) -> i64 {
        let products = self.weights.iter().zip(regressors);
        products
            .map(|(&weight, &regressor)| i64::from(weight) * i64::from(regressor))
            .sum()
    }

    /// Learns from a sample and from the error of its prediction; 2^`memory` samples are remembered.
    #[inline(always)]
    pub(super) fn learn(&mut self, lesson: &Lesson, error: i32, memory: u32) {
        let half = 1 << (memory - 1);
        for (row, products) in self.r.iter_mut().zip(&lesson.products) {
            for (r, product) in row.iter_mut().zip(products) {
                *r += (product - *r + half) >> memory;
            }
        }
        let fade = lesson.fade;
        let error = error.clamp(-ERROR_MAX, ERROR_MAX) << (R_BITS - ERROR_BITS - fade);
        for (g, &a) in self.gradient.iter_mut().zip(&lesson.regressors) {
            let lack = ((error * a) >> fade).wrapping_sub(*g);
            *g = g.wrapping_add(lack.wrapping_add(half) >> memory);
        }
    }

    /// Takes steps along the next coordinates.
    #[inline(always)]
    pub(super) fn descend(&mut self, steps: usize) {
        for _ in 0..steps {
            let along = self.next % TAPS;
            self.next = (along + 1) % TAPS;
            self.step(along);
        }
    }

    /// Brings one entry of the gradient to about zero.
    #[inline(always)]
    fn step(&mut self, along: usize) {
        let row = &self.r[along];
        let curvature = row[along] + RIDGE;
        let exponent = curvature.ilog2();
        let mantissa = (curvature >> (exponent - 7)) as usize % RECIPROCAL.len();
        let step = ((i64::from(self.gradient[along]) * RECIPROCAL[mantissa]) << 8) >> exponent;
        let old = self.weights[along];
        let new = (i64::from(old) + step).clamp(-WEIGHT_MAX, WEIGHT_MAX) as i32;
        self.weights[along] = new;
        let moved = i64::from(new - old);
        for (g, &r) in self.gradient.iter_mut().zip(row) {
            let gained = (i64::from(r) * moved + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
            *g = g.wrapping_sub(gained as i32);
        }
    }
}

//! Recursive least squares by coordinate descent, in integers (`spec/lossless.md`, "Least squares").
//!
//! The correlations `r` of the regressors with each other fade exponentially; so does `gradient`, which is what the normal
//! equations still lack: `gradient = (correlation with the target) - r * weights`. A step along one coordinate brings one
//! of its entries to about zero. A few steps per sample are enough, because the solution moves slowly.

use crate::simd::PairProducts;

/// Regressors.
pub(super) const TAPS: usize = 16;
/// Fractional bits of weights.
pub(super) const WEIGHT_BITS: u32 = 16;
/// Fractional bits of errors.
const ERROR_BITS: u32 = 4;
/// Errors beyond this teach no more than it.
const ERROR_MAX: i32 = 255 << ERROR_BITS;
/// Weights stay between minus and plus eight.
const WEIGHT_MAX: i64 = (8 << WEIGHT_BITS) - (1 << (WEIGHT_BITS - SHORT_BITS));
/// Added to curvatures, so that flat areas move nothing.
const RIDGE: i32 = 1 << 19;
/// Largest exponent of a sample's weight in [`Lesson::new`].
pub(super) const MAX_FADE: u32 = 5;
/// Fractional bits of what a sample of full weight teaches.
const LESSON_BITS: u32 = 6;
/// Fractional bits of weights in predictions.
pub(super) const SHORT_BITS: u32 = 12;

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
    /// The weights as predictions take them.
    short: [i16; TAPS],
    next: usize,
    /// A sample that waits for the next one.
    waiting: Option<Lesson>,
}

/// What a sample teaches: regressors and the error of a prediction, both weighted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lesson {
    regressors: [i16; TAPS],
    error: i16,
}

impl Lesson {
    /// Of regressors of at most 8 bits and a sign, and of an error; the sample counts 4^-`fade`.
    #[inline(always)]
    pub(super) fn new(regressors: &[i16; TAPS], error: i32, fade: u32) -> Self {
        let mut weighted = *regressors;
        for regressor in &mut weighted {
            *regressor <<= LESSON_BITS - fade;
        }
        let error = error.clamp(-ERROR_MAX, ERROR_MAX) << (LESSON_BITS - ERROR_BITS);
        Self {
            regressors: weighted,
            error: ((error + (1 << fade >> 1)) >> fade) as i16,
        }
    }
}

impl LeastSquares {
    /// Starts with half of each of the first two regressors.
    pub(super) fn new() -> Self {
        let mut predictor = Self {
            r: [[0; TAPS]; TAPS],
            gradient: [0; TAPS],
            weights: [0; TAPS],
            short: [0; TAPS],
            next: 0,
            waiting: None,
        };
        predictor.weights[..2].fill(1 << (WEIGHT_BITS - 1));
        predictor.short[..2].fill(1 << (SHORT_BITS - 1));
        predictor
    }

    /// Weighted sum of the regressors, with [`SHORT_BITS`] fractional bits.
    #[inline(always)]
    pub(super) fn predict(&self, simd: impl PairProducts, regressors: &[i16; TAPS]) -> i32 {
        simd.pair_products(self.short, *regressors).iter().sum()
    }

    /// The same for regressors of more bits.
    #[inline(always)]
    pub(super) fn predict_deep(&self, regressors: &[i32; TAPS]) -> i64 {
        let products = self.short.iter().zip(regressors);
        products
            .map(|(&weight, &regressor)| i64::from(weight) * i64::from(regressor))
            .sum()
    }

    /// Learns from every second sample and the one before it; 2^`memory` pairs are remembered. Then come `steps` of
    /// descent.
    #[inline(always)]
    pub(super) fn learn(
        &mut self,
        simd: impl PairProducts,
        lesson: &Lesson,
        memory: u32,
        steps: usize,
    ) {
        let Some(first) = self.waiting.take() else {
            self.waiting = Some(*lesson);
            return;
        };
        let paired = |at: usize| {
            let pair = |i: usize| pair_of(first.regressors[at + i], lesson.regressors[at + i]);
            std::array::from_fn(pair)
        };
        let others = [paired(0), paired(TAPS / 2)];
        for (i, row) in self.r.iter_mut().enumerate() {
            fade(simd, row, &others, others[i / 8][i % 8], memory);
        }
        let errors = pair_of(first.error, lesson.error);
        fade(simd, &mut self.gradient, &others, errors, memory);
        self.descend(steps);
    }

    /// Takes steps along the next coordinates.
    #[inline(always)]
    fn descend(&mut self, steps: usize) {
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
        let cut = WEIGHT_BITS - SHORT_BITS;
        self.short[along] = ((new + (1 << (cut - 1))) >> cut) as i16;
        let moved = i64::from(new - old);
        for (g, &r) in self.gradient.iter_mut().zip(row) {
            let gained = (i64::from(r) * moved + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
            *g = g.wrapping_sub(gained as i32);
        }
    }
}

/// Two numbers side by side.
#[inline(always)]
fn pair_of(first: i16, second: i16) -> i32 {
    i32::from(first as u16) | i32::from(second) << 16
}

/// Moves numbers towards sums of products of pairs with one pair.
#[inline(always)]
fn fade(
    simd: impl PairProducts,
    row: &mut [i32; TAPS],
    others: &[[i32; TAPS / 2]; 2],
    pair: i32,
    memory: u32,
) {
    let pair = pulp::cast([pair; TAPS / 2]);
    let half = 1 << (memory - 1);
    for (row, &other) in row.as_chunks_mut::<8>().0.iter_mut().zip(others) {
        let products = simd.pair_products(pair, pulp::cast(other));
        for (r, product) in row.iter_mut().zip(products) {
            *r = r.wrapping_add(product.wrapping_sub(*r).wrapping_add(half) >> memory);
        }
    }
}

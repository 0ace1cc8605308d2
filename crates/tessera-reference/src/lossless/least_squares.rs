//! `lossless.md`, "Least squares" and "Levels".

use crate::notation::bits;

/// A predictor of a level: log2 of the columns that share it, and m.
pub(super) type Kind = (u32, u32);

/// The predictors of a level, and the steps of each.
pub(super) fn level(level: usize) -> (&'static [Kind], usize) {
    match level {
        0 => (&[(5, 6)], 4),
        1 | 3 => (&[(5, 6), (16, 10)], 4),
        _ => (&[(5, 6), (4, 6), (6, 7), (16, 10)], 16),
    }
}

/// Weights that follow the samples.
#[derive(Debug, Clone)]
pub(super) struct Predictor {
    correlations: [[i32; 16]; 16],
    gradient: [i32; 16],
    weights: [i32; 16],
    /// The coordinate that is next.
    next: usize,
    /// Regressors and error of a sample that waits for the next one.
    waiting: Option<([i32; 16], i32)>,
}

impl Predictor {
    pub(super) fn new() -> Self {
        let mut weights = [0; 16];
        weights[..2].fill(32768);
        Self {
            correlations: [[0; 16]; 16],
            gradient: [0; 16],
            weights,
            next: 0,
            waiting: None,
        }
    }

    /// A prediction with 4 fractional bits.
    pub(super) fn predict(&self, regressors: &[i32; 16], mean: i32, max: i32) -> i32 {
        let products = self
            .weights
            .iter()
            .zip(regressors)
            .map(|(&w, &r)| i64::from((w + 8) >> 4) * i64::from(r));
        let s: i64 = products.sum();
        let (mean, max) = (i64::from(mean), i64::from(max));
        (16 * mean + ((s + 128) >> 8)).clamp(-16 * max, 32 * max) as i32
    }

    /// After the sample, whose error is `error`; k is its scale and 2^m the pairs that are remembered.
    pub(super) fn learn(
        &mut self,
        regressors: &[i32; 16],
        error: i32,
        k: u32,
        m: u32,
        excess: u32,
        steps: usize,
    ) {
        let f = k.saturating_sub(excess).min(5);
        let z = regressors.map(|regressor| (regressor >> excess) << (6 - f));
        let limited = (error >> excess).clamp(-4080, 4080);
        let e = (4 * limited + (1 << f >> 1)) >> f;
        let Some((z0, e0)) = self.waiting.take() else {
            self.waiting = Some((z, e));
            return;
        };
        for i in 0..16 {
            for j in 0..16 {
                let r = &mut self.correlations[i][j];
                *r = toward(*r, z0[i] * z0[j] + z[i] * z[j], m);
            }
            self.gradient[i] = toward(self.gradient[i], e0 * z0[i] + e * z[i], m);
        }
        (0..steps).for_each(|_| self.descend());
    }

    /// A step along the next coordinate.
    fn descend(&mut self) {
        let i = self.next;
        self.next = (i + 1) % 16;
        let c = i64::from(self.correlations[i][i]) + (1 << 19);
        let exponent = bits(c as u64) - 1;
        let d = c >> (exponent - 7);
        let q = ((1 << 16) + d) / (2 * d);
        let old = i64::from(self.weights[i]);
        let step = ((i64::from(self.gradient[i]) * q) << 8) >> exponent;
        let new = (old + step).clamp(-524_272, 524_272);
        for (g, &r) in self.gradient.iter_mut().zip(&self.correlations[i]) {
            *g = g.wrapping_sub(((i64::from(r) * (new - old) + 32768) >> 16) as i32);
        }
        self.weights[i] = new as i32;
    }
}

/// A mean that forgets.
fn toward(mean: i32, sum: i32, m: u32) -> i32 {
    let lack = sum.wrapping_sub(mean).wrapping_add(1 << (m - 1));
    mean.wrapping_add(lack >> m)
}

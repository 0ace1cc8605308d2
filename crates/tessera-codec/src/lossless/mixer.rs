//! Logistic mixing of opinions (`spec/lossless.md`, "Mixing").

use super::logistic::{LOGIT_BITS, STRETCH_BITS, squash};

/// Fractional bits of a weight.
const WEIGHT_BITS: u32 = 16;
/// Weights stay between minus and plus two.
const WEIGHT_MAX: i32 = (2 << WEIGHT_BITS) - 1;

/// Sets of weights for `N` opinions.
#[derive(Clone, Debug)]
pub(super) struct Mixer<const N: usize> {
    weights: Vec<[i32; N]>,
    rate: u32,
}

/// A mixed probability and its log-odds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mixed {
    pub(super) one: u32,
    pub(super) logit: i32,
}

impl<const N: usize> Mixer<N> {
    pub(super) fn new(sets: usize, start: i32, rate: u32) -> Self {
        Self {
            weights: vec![[start; N]; sets],
            rate,
        }
    }

    /// Mixes with the weights of one set.
    #[inline(always)]
    pub(super) fn mix(&self, set: usize, opinions: &[i32; N]) -> Mixed {
        let weights = &self.weights[set];
        let mut sum = 0i32;
        for (weight, opinion) in weights.iter().zip(opinions) {
            sum += (weight * opinion) >> 4;
        }
        let logit = sum >> (WEIGHT_BITS + STRETCH_BITS - 4 - LOGIT_BITS);
        Mixed {
            one: squash(logit),
            logit,
        }
    }

    /// Moves the weights of a set to where `bit` would have been more likely.
    #[inline(always)]
    pub(super) fn update(&mut self, set: usize, opinions: &[i32; N], one: u32, bit: bool) {
        let error = ((i32::from(bit) << 16) - one as i32) >> 2;
        let half = 1 << (self.rate - 1);
        for (weight, opinion) in self.weights[set].iter_mut().zip(opinions) {
            let step = (opinion * error + half) >> self.rate;
            *weight = (*weight + step).clamp(-WEIGHT_MAX, WEIGHT_MAX);
        }
    }
}

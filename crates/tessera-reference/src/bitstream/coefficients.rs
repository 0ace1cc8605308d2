//! `bitstream.md`, "Coefficient contexts".

use super::elements::log_class;
use super::shapes::Shape;
use crate::dictionary::Basis;

/// What is expected of the magnitudes of a patch.
pub(super) struct Expectation<'a> {
    basis: &'a Basis,
    m: usize,
    /// `E[j]`, 12 fractional bits.
    e: Vec<i64>,
    mean: i64,
}

impl<'a> Expectation<'a> {
    pub(super) fn new(basis: &'a Basis, act: i64, grad: i64, last: usize, shape: Shape) -> Self {
        let m = shape.rotated();
        let (act, grad) = (act as u32, grad.min(1024) as u32);
        let expected = |j: usize| {
            let from_activity = u32::from(basis.fact[j]).wrapping_mul(act);
            let from_gradient = u32::from(basis.fgrad[j]).wrapping_mul(grad);
            i64::from(basis.base[j]) + i64::from(from_activity.wrapping_add(from_gradient) >> 8)
        };
        Self {
            basis,
            m,
            e: (0..m.min(last + 1)).map(expected).collect(),
            mean: 0,
        }
    }

    /// `x`, the class of what is expected at position i.
    pub(super) fn class(&self, i: usize) -> usize {
        let expected = if i < self.m {
            self.e[i]
        } else {
            (self.mean * 205) >> 8
        };
        log_class(expected, 12, 6, 18, 31)
    }

    /// After position i with magnitude a.
    pub(super) fn learn(&mut self, i: usize, a: i64) {
        if i >= self.m {
            self.mean = (self.mean * 205 + a.min(4096) * 4096 * 51) >> 8;
            return;
        }
        for j in 0..i {
            self.e[j] += i64::from(self.basis.weight(i, j)) * 16 * a.min(12);
        }
    }
}

//! `lossless.md`, "Cells".

use super::logistic::stretch;
use crate::range_coder::RangeCoder;

/// A probability that learns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cell {
    /// Of a one, 22 bits.
    p: i32,
    n: u8,
}

impl Cell {
    pub(crate) const NEW: Self = Self { p: 1 << 21, n: 0 };
    pub(crate) const LIMIT: u8 = 250;

    pub(super) fn opinion(&self) -> i32 {
        let n = i32::from(self.n);
        (stretch(self.p >> 10) * ((512 * n + 64) / (2 * n + 3))) >> 8
    }

    pub(super) fn learn(&mut self, bit: bool, limit: u8) {
        let target = if bit { (1 << 22) - 1 } else { 0 };
        let rate = (1 << 17) / (2 * i64::from(self.n) + 3);
        self.p += ((i64::from(target - self.p) * rate) >> 16) as i32;
        if self.n < limit {
            self.n += 1;
        }
    }

    /// Reads a decision that is coded by this cell alone.
    pub(crate) fn decide(&mut self, coder: &mut RangeCoder<'_>, limit: u8) -> bool {
        let bit = coder.decode((self.p >> 6).clamp(32, 65504) as u32);
        self.learn(bit, limit);
        bit
    }
}

//! Adaptive probabilities (`spec/lossless.md`, "Cells").

use super::logistic::stretch;

/// The probability of a one in the upper 22 bits, how often it was updated in the lower ten.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell(u32);

const COUNT_BITS: u32 = 10;
const COUNT_MASK: u32 = (1 << COUNT_BITS) - 1;
const P_BITS: u32 = 22;

/// 2^16 / (n + 1.5), rounded down.
static RATE: [u32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[n] = (1 << 17) / (2 * n as u32 + 3);
        n += 1;
    }
    table
};

/// How much an opinion of so many updates counts, out of 256.
static CONFIDENCE: [i32; 256] = {
    let mut table = [256; 256];
    let mut n = 0;
    while n < 256 {
        table[n] = (256 * n as i32 * 2 + 64) / (2 * n as i32 + 3);
        n += 1;
    }
    table
};

impl Cell {
    /// Even odds, never updated.
    pub(super) const EVEN: Self = Self(1 << 31);

    /// Log-odds, drawn towards zero while the cell has seen little.
    #[inline(always)]
    pub(super) fn opinion(self) -> i32 {
        let n = (self.0 & COUNT_MASK) as usize & 255;
        (stretch(self.0 >> (P_BITS + COUNT_BITS - 12)) * CONFIDENCE[n]) >> 8
    }

    /// Probability of a one, 16 bits, never 0 or 2^16.
    #[inline(always)]
    pub(super) fn one(self) -> u32 {
        (self.0 >> 16).clamp(32, 65536 - 32)
    }

    /// Moves towards `bit`, by less the more was seen, up to `limit` (at most 255) updates.
    #[inline(always)]
    pub(super) fn update(&mut self, bit: bool, limit: u32) {
        let n = self.0 & COUNT_MASK;
        let p = (self.0 >> COUNT_BITS) as i32;
        let target = if bit { (1 << P_BITS) - 1 } else { 0 };
        let step = (i64::from(target - p) * i64::from(RATE[n as usize & 255])) >> 16;
        let n = n + u32::from(n < limit);
        self.0 = (((p + step as i32) as u32) << COUNT_BITS) | n;
    }
}

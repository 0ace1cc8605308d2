//! `lossless.md`, "Samples".

use super::cells::Cell;
use super::contexts::PlaneModel;
use super::neighbours::Sources;
use crate::range_coder::RangeCoder;

impl PlaneModel<'_> {
    /// Reads a sample and learns from it.
    pub(super) fn sample(
        &mut self,
        coder: &mut RangeCoder<'_>,
        sources: Sources<'_>,
        before: Option<i32>,
        x: usize,
        y: usize,
    ) -> i32 {
        let context = self.context(sources, before, x, y);
        let b = (context.m >> 4) + 1;
        let up = self.decide(coder, &context, 0);
        let (mut start, mut size, mut j) = (0, context.k, 0);
        while start <= self.max && self.decide(coder, &context, 1 + usize::from(up) + 2 * j.min(14))
        {
            start += 1 << size;
            j += 1;
            if j >= 4 {
                size += 1;
            }
        }
        let magnitude = start + self.low_bits(coder, size, j);
        let value = if up { b + magnitude } else { b - 1 - magnitude };
        let value = value.clamp(0, self.max);
        self.learn(&context, value, x, y);
        value
    }

    fn low_bits(&mut self, coder: &mut RangeCoder<'_>, size: u32, j: usize) -> i32 {
        let mut bits = 0;
        for i in 0..size {
            let c = match i {
                0 => j.min(3),
                1 => 4,
                _ => 5,
            };
            let cell = &mut self.low[8 * size as usize + c];
            bits = 2 * bits + i32::from(cell.decide(coder, Cell::LIMIT));
        }
        bits
    }
}

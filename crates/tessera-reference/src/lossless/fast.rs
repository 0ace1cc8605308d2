//! `lossless.md`, "Fast".

use super::contexts::{half, quarter};
use super::neighbours::{Around, med};
use crate::notation::bits;
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

const SYMBOL_BITS: u32 = 14;

/// The ends of sixteen parts.
#[derive(Debug, Clone)]
struct Alphabet {
    ends: [i32; 16],
    symbols: u32,
}

impl Alphabet {
    fn new() -> Self {
        Self {
            ends: std::array::from_fn(|i| 1024 * (i as i32 + 1)),
            symbols: 0,
        }
    }

    fn learn(&mut self, symbol: usize) {
        let r = (2 + self.symbols / 8).min(7);
        for (i, end) in self.ends.iter_mut().enumerate() {
            let target = match i >= symbol {
                true => 16384 - 4 * (15 - i as i32),
                false => 4 * (i as i32 + 1),
            };
            *end += (target - *end) >> r;
        }
        self.symbols += 1;
    }
}

/// What is learned of a plane.
pub(super) struct FastPlane {
    max: i32,
    by_activity: Vec<Alphabet>,
    by_neighbours: Vec<Alphabet>,
    pub(super) errors: Plane,
}

impl FastPlane {
    pub(super) fn new(width: usize, height: usize, max: i32) -> Self {
        Self {
            max,
            by_activity: vec![Alphabet::new(); 64],
            by_neighbours: vec![Alphabet::new(); 10 * 10 * 8],
            errors: Plane::new(width, height),
        }
    }

    /// Reads a sample, beside the colour plane before if there is one.
    pub(super) fn sample(
        &mut self,
        coder: &mut RangeCoder<'_>,
        own: &Plane,
        before: Option<&Plane>,
        x: usize,
        y: usize,
    ) -> i32 {
        let m = self.prediction(own, before, x, y);
        let e = Around::new(&self.errors, x, y);
        let a = i64::from(2 * (e.w + e.n) + e.nw + e.ne);
        let k = bits((a / 6 * 3) as u64 >> 6).saturating_sub(1);
        let neighbour = |error: i32| half(i64::from(error >> 4)).min(9) as usize;
        let first = quarter(a >> 3).min(63) as usize;
        let second = (neighbour(e.w) * 10 + neighbour(e.n)) * 8 + k.min(7) as usize;
        let mut u = self.symbol(coder, first, second) as i64;
        if u == 15 {
            u += beyond(coder);
        }
        if k > 0 {
            u = u << k | i64::from(coder.raw(k));
        }
        let difference = if u % 2 == 1 { (u + 1) / 2 } else { -(u / 2) };
        let centre = i64::from((m + 8) >> 4);
        let value = (centre + difference).clamp(0, i64::from(self.max)) as i32;
        self.errors.set(x, y, (16 * value - m).abs());
        value
    }

    fn prediction(&self, own: &Plane, before: Option<&Plane>, x: usize, y: usize) -> i32 {
        let around = Around::new(own, x, y);
        let (d, h) = match before {
            Some(before) => (around.minus(&Around::new(before, x, y)), before.get(x, y)),
            None => (around, 0),
        };
        let line = 2 * (2 * (d.w + d.n) + d.ne - d.nw);
        (16 * h + 8 * med(d.w, d.n, d.nw) + line).clamp(0, 16 * self.max)
    }

    fn symbol(&mut self, coder: &mut RangeCoder<'_>, first: usize, second: usize) -> usize {
        let (first, second) = (
            &mut self.by_activity[first],
            &mut self.by_neighbours[second],
        );
        let ends: Vec<u64> = first
            .ends
            .iter()
            .zip(second.ends)
            .map(|(a, b)| (a + b) as u64 >> 1)
            .collect();
        let q = coder.part(SYMBOL_BITS);
        let symbol = ends.iter().filter(|&&end| end <= q).count().min(15);
        let start = if symbol == 0 { 0 } else { ends[symbol - 1] };
        coder.take_part(start, ends[symbol], SYMBOL_BITS);
        first.learn(symbol);
        second.learn(symbol);
        symbol
    }
}

/// What goes beyond symbol 15.
fn beyond(coder: &mut RangeCoder<'_>) -> i64 {
    let length = coder.raw(5).min(17);
    (0..length).fold(1, |v, _| 2 * v + i64::from(coder.raw(1))) - 1
}

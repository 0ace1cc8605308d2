//! `lossless.md`, "Mixing".

use super::cells::Cell;
use super::logistic::squash;
use crate::range_coder::RangeCoder;

/// Sets of weights, one weight per opinion.
#[derive(Debug)]
pub(super) struct Mixer {
    opinions: usize,
    weights: Vec<i32>,
    rate: u32,
}

impl Mixer {
    pub(super) fn new(sets: usize, opinions: usize, rate: u32, start: i32) -> Self {
        Self {
            opinions,
            weights: vec![start; sets * opinions],
            rate,
        }
    }

    fn set(&self, set: usize) -> std::ops::Range<usize> {
        set * self.opinions..(set + 1) * self.opinions
    }

    fn log_odds(&self, set: usize, opinions: &[i32]) -> i32 {
        let weights = &self.weights[self.set(set)];
        weights
            .iter()
            .zip(opinions)
            .map(|(w, o)| (w * o) >> 4)
            .sum::<i32>()
            >> 8
    }

    fn learn(&mut self, set: usize, opinions: &[i32], log_odds: i32, bit: bool) {
        let e = (i32::from(bit) * 65536 - squash(log_odds)) >> 2;
        let (range, r) = (self.set(set), self.rate);
        for (w, o) in self.weights[range].iter_mut().zip(opinions) {
            *w = (*w + ((o * e + (1 << (r - 1))) >> r)).clamp(-131_071, 131_071);
        }
    }
}

/// Reads a decision from the opinions of one cell of each table, mixed by one or two mixers with a set of each.
pub(super) fn decide(
    coder: &mut RangeCoder<'_>,
    tables: &mut [Vec<Cell>],
    cells: &[usize],
    mixers: &mut [Mixer],
    sets: &[usize],
) -> bool {
    let opinions: Vec<i32> = tables
        .iter()
        .zip(cells)
        .map(|(table, &cell)| table[cell].opinion())
        .collect();
    let log_odds: Vec<i32> = mixers
        .iter()
        .zip(sets)
        .map(|(mixer, &set)| mixer.log_odds(set, &opinions))
        .collect();
    let mixed = match log_odds[..] {
        [a, b] => (a + b) >> 1,
        _ => log_odds[0],
    };
    let bit = coder.decode(squash(mixed) as u32);
    for ((mixer, &set), &odds) in mixers.iter_mut().zip(sets).zip(&log_odds) {
        mixer.learn(set, &opinions, odds, bit);
    }
    for (table, &cell) in tables.iter_mut().zip(cells) {
        table[cell].learn(bit, Cell::LIMIT);
    }
    bit
}

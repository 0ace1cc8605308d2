//! `lossless.md`, "Odds".

use super::logistic::squash;
use crate::range_coder::RangeCoder;

/// First shares of the last context, by bucket; the decision about the side starts with none.
const FIRST: [i32; 7] = [-1936, -1374, -370, 280, -3300, -7100, -8500];

/// A part of log-odds that learns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Share {
    /// 12 fractional bits.
    s: i32,
    rate: i32,
}

impl Share {
    pub(super) fn new() -> Self {
        Self { s: 0, rate: 8000 }
    }

    /// What the last context starts with at a node.
    pub(super) fn first(node: usize) -> Self {
        let s = match node {
            0 => 0,
            _ => FIRST[((node - 1) / 2).min(6)],
        };
        Self { s, ..Self::new() }
    }

    fn learn(&mut self, e: i32) {
        let step = (((e * self.rate) >> 16) + 4) >> 3;
        self.s = (self.s + step).clamp(-32768, 32767);
        let q = (self.rate * self.rate) >> 16;
        self.rate = (self.rate - q - q / 2).max(700);
    }
}

/// Reads a decision whose log-odds are the sum of one share of each table.
pub(super) fn decide(
    coder: &mut RangeCoder<'_>,
    tables: &mut [Vec<Share>],
    places: &[usize],
) -> bool {
    let shares = tables.iter().zip(places);
    let one = squash(shares.map(|(table, &place)| table[place].s).sum());
    let bit = coder.decode(one as u32);
    let e = (32768 * i32::from(bit) - (one >> 1)).min(32767);
    for (table, &place) in tables.iter_mut().zip(places) {
        table[place].learn(e);
    }
    bit
}

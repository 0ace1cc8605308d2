//! The sums of the filter, for a block of samples at a time.

use super::classes::CELL;
use super::classes::{BLOCK, MARGIN, Windows, block_at};
use super::{OFFSETS, PAIRS, Strip};
use crate::tile::intra::SAMPLE_MAX;
use std::marker::PhantomData;
use tessera_dict::filter::COEFFICIENT_BITS;

/// Weights of a row of samples, as those of a strip.
type Weights = [[i16; 2 * BLOCK]; PAIRS];

/// The weights of the cells of a block side by side, for vectors longer than a cell.
pub(super) struct BlockWeights<'a> {
    weights: Weights,
    strips: PhantomData<&'a Strip>,
}

impl Default for BlockWeights<'_> {
    fn default() -> Self {
        Self {
            weights: [[0; 2 * BLOCK]; PAIRS],
            strips: PhantomData,
        }
    }
}

impl<'a> BlockWeights<'a> {
    /// Gives a cell its weights.
    #[inline(always)]
    pub(super) fn set(&mut self, cell: usize, strip: &'a Strip) {
        for (row, strip) in self.weights.iter_mut().zip(strip) {
            row[cell * 2 * CELL..][..2 * CELL].copy_from_slice(strip);
        }
    }

    /// The filtered samples of a block.
    #[inline(always)]
    pub(super) fn filtered_block(&self, windows: &Windows<'_>, clip: i16) -> [u16; BLOCK] {
        let sums = weighted_sums(windows, &self.weights, clip);
        let centre = block_at(windows[MARGIN], MARGIN);
        let mut values = [0; BLOCK];
        for i in 0..BLOCK {
            let moved = i32::from(centre[i]) + (sums[i] >> COEFFICIENT_BITS);
            values[i] = moved.clamp(0, SAMPLE_MAX) as u16;
        }
        values
    }
}

/// Sums of weighted differences to the neighbours, clipped; half a unit is added for rounding.
#[inline(always)]
fn weighted_sums(windows: &Windows<'_>, weights: &Weights, clip: i16) -> [i32; BLOCK] {
    let mut sums = [1 << (COEFFICIENT_BITS - 1); BLOCK];
    add_pair::<0>(windows, weights, clip, &mut sums);
    add_pair::<1>(windows, weights, clip, &mut sums);
    add_pair::<2>(windows, weights, clip, &mut sums);
    add_pair::<3>(windows, weights, clip, &mut sums);
    add_pair::<4>(windows, weights, clip, &mut sums);
    add_pair::<5>(windows, weights, clip, &mut sums);
    sums
}

/// Adds what two pairs of opposite neighbours say; their places are known to the compiler, or bounds would be checked.
#[inline(always)]
fn add_pair<const PAIR: usize>(
    windows: &Windows<'_>,
    weights: &Weights,
    clip: i16,
    sums: &mut [i32; BLOCK],
) {
    let first = differences_of(windows, OFFSETS[2 * PAIR], clip);
    let second = differences_of(windows, OFFSETS[2 * PAIR + 1], clip);
    let mut pairs = [0; 2 * BLOCK];
    for i in 0..BLOCK {
        pairs[2 * i] = first[i];
        pairs[2 * i + 1] = second[i];
    }
    subtract_pairs(&pairs, &weights[PAIR], sums);
}

/// Clipped differences from a neighbour and the opposite one, added.
#[inline(always)]
fn differences_of(windows: &Windows<'_>, (dx, dy): (isize, isize), clip: i16) -> [i16; BLOCK] {
    let at = |dx: isize, dy: isize| {
        let window = windows[MARGIN.wrapping_add_signed(dy)];
        block_at(window, MARGIN.wrapping_add_signed(dx))
    };
    let (centre, one, other) = (at(0, 0), at(dx, dy), at(-dx, -dy));
    let mut differences = [0; BLOCK];
    for i in 0..BLOCK {
        let near = (centre[i] - one[i]).max(-clip).min(clip);
        let far = (centre[i] - other[i]).max(-clip).min(clip);
        differences[i] = near + far;
    }
    differences
}

/// Takes the products of neighbours, added up, off `sums`: the one product of pairs that compilers find by themselves.
#[inline(always)]
fn subtract_pairs(a: &[i16; 2 * BLOCK], b: &[i16; 2 * BLOCK], sums: &mut [i32; BLOCK]) {
    for (i, sum) in sums.iter_mut().enumerate() {
        let product = |at: usize| i32::from(a[at]) * i32::from(b[at]);
        *sum -= product(2 * i) + product(2 * i + 1);
    }
}

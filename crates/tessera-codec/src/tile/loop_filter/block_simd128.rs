//! The sums of the filter by the instructions of WebAssembly, eight samples at a time, so that they stay in registers: of a
//! whole block they do not, and for eight samples compilers find neither vectors nor the products of pairs.

use super::classes::{BLOCK, CELL, CELLS, MARGIN, Windows};
use super::{OFFSETS, PAIRS, Strip};
use crate::tile::intra::SAMPLE_MAX;
use std::arch::wasm32::{
    i16x8_add, i16x8_add_sat, i16x8_max, i16x8_min, i16x8_narrow_i32x4, i16x8_shuffle, i16x8_splat,
    i16x8_sub, i32x4_dot_i16x8, i32x4_shr, i32x4_splat, i32x4_sub, v128,
};
use tessera_dict::filter::COEFFICIENT_BITS;

/// Samples in a vector.
const LANES: usize = 8;

/// The weights of the cells of a block: a vector of them is one cell's, so that they are used where they lie.
pub(super) struct BlockWeights<'a>([&'a Strip; CELLS]);

impl Default for BlockWeights<'_> {
    fn default() -> Self {
        Self([&[[0; 2 * CELL]; PAIRS]; CELLS])
    }
}

impl<'a> BlockWeights<'a> {
    /// Gives a cell its weights.
    #[inline(always)]
    pub(super) fn set(&mut self, cell: usize, strip: &'a Strip) {
        self.0[cell] = strip;
    }

    /// The filtered samples of a block.
    #[inline(always)]
    pub(super) fn filtered_block(&self, windows: &Windows<'_>, clip: i16) -> [u16; BLOCK] {
        let mut values = [0; BLOCK];
        let runs = values.as_chunks_mut::<LANES>().0.iter_mut();
        for (run, (values, strips)) in runs.zip(self.0.as_chunks().0).enumerate() {
            *values = filtered_run(windows, *strips, clip, run * LANES);
        }
        values
    }
}

/// The filtered samples from `start` on, which belong to two cells.
#[inline(always)]
fn filtered_run(
    windows: &Windows<'_>,
    strips: [&Strip; 2],
    clip: i16,
    start: usize,
) -> [u16; LANES] {
    let clips = [i16x8_splat(-clip), i16x8_splat(clip)];
    let centre = vector(windows[MARGIN], MARGIN + start);
    let mut sums = [i32x4_splat(1 << (COEFFICIENT_BITS - 1)); 2];
    for pair in 0..PAIRS {
        let [first, second] = [2 * pair, 2 * pair + 1]
            .map(|tap| differences(windows, centre, OFFSETS[tap], clips, start));
        let pairs = [
            i16x8_shuffle::<0, 8, 1, 9, 2, 10, 3, 11>(first, second),
            i16x8_shuffle::<4, 12, 5, 13, 6, 14, 7, 15>(first, second),
        ];
        for half in 0..2 {
            let weights = pulp::cast(strips[half][pair]);
            sums[half] = i32x4_sub(sums[half], i32x4_dot_i16x8(pairs[half], weights));
        }
    }
    let [low, high] = sums.map(|sum| i32x4_shr(sum, COEFFICIENT_BITS));
    let moved = i16x8_add_sat(centre, i16x8_narrow_i32x4(low, high));
    let bounded = i16x8_max(moved, i16x8_splat(0));
    pulp::cast(i16x8_min(bounded, i16x8_splat(SAMPLE_MAX as i16)))
}

/// Clipped differences from a neighbour and the opposite one, added.
#[inline(always)]
fn differences(
    windows: &Windows<'_>,
    centre: v128,
    (dx, dy): (isize, isize),
    [least, most]: [v128; 2],
    start: usize,
) -> v128 {
    let clipped = |dx: isize, dy: isize| {
        let window = windows[MARGIN.wrapping_add_signed(dy)];
        let other = vector(window, MARGIN.wrapping_add_signed(dx) + start);
        i16x8_min(i16x8_max(i16x8_sub(centre, other), least), most)
    };
    i16x8_add(clipped(dx, dy), clipped(-dx, -dy))
}

/// Eight numbers from `start` on.
#[inline(always)]
fn vector<const N: usize>(numbers: &[i16; N], start: usize) -> v128 {
    let run: Option<&[i16; LANES]> = numbers[start..].first_chunk();
    pulp::cast(*run.expect("a run lies in its block"))
}

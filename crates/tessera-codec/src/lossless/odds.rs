//! Decisions whose log-odds are sums (`spec/lossless.md`, "Odds").
//!
//! Every context of a decision has a cell that holds its share of the log-odds. All shares of a decision move by the error
//! of their sum, the less the more they have moved before: logistic regression, in which a decision costs a few vectors.

use super::coder::Coder;
use super::logistic::squash;
use super::residual::NODES;
use crate::simd::PairProducts;

/// Shares of a decision.
pub(super) const SHARES: usize = 8;
/// First log-odds of the decisions of a sample: the sign, then above and below for every bucket.
pub(super) const FIRST_ODDS: [i16; NODES] = {
    let buckets = [
        -1936, -1374, -370, 280, -3300, -7100, -8500, -8500, -8500, -8500, -8500, -8500, -8500,
        -8500, -8500,
    ];
    let mut odds = [0; NODES];
    let mut node = 1;
    while node < NODES - 1 {
        odds[node] = buckets[(node - 1) / 2];
        node += 1;
    }
    odds
};

/// Cells there is room for.
const ROOM: usize = 1 << 17;
/// The rate of a cell that has not moved, in 2^-16.
const FIRST_RATE: u32 = 8000;
/// The rate that it never falls below.
const LAST_RATE: i16 = 700;

/// Shares of log-odds with 12 fractional bits in the lower halves, rates in the upper ones.
pub(super) struct Odds(Box<[u32; ROOM]>);

impl std::fmt::Debug for Odds {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Odds").finish_non_exhaustive()
    }
}

impl Odds {
    /// Cells whose first shares are given, at most [`ROOM`].
    pub(super) fn new(first: impl Iterator<Item = i16>) -> Self {
        let mut cells = vec![FIRST_RATE << 16; ROOM].into_boxed_slice();
        for (cell, share) in cells.iter_mut().zip(first) {
            *cell |= u32::from(share as u16);
        }
        Self(cells.try_into().expect("it has this length"))
    }

    /// Codes a decision with the shares of these cells, which differ.
    #[inline(always)]
    pub(super) fn code(
        &mut self,
        simd: impl PairProducts,
        coder: &mut impl Coder,
        places: &[usize; SHARES],
        bit: bool,
    ) -> bool {
        let mut cells = [0; SHARES];
        for (cell, &place) in cells.iter_mut().zip(places) {
            *cell = self.0[place % ROOM];
        }
        let lower = pulp::cast([1u32; SHARES]);
        let one = squash(simd.pair_products(pulp::cast(cells), lower).iter().sum());
        let bit = coder.code(bit, one);
        let error = (i32::from(bit) << 15) - (one >> 1) as i32;
        let moved = moved(simd, cells, error.min(i32::from(i16::MAX)) as i16);
        for (cell, &place) in moved.iter().zip(places) {
            self.0[place % ROOM] = *cell;
        }
        bit
    }
}

/// Cells after a decision with an error, which has 15 fractional bits.
#[inline(always)]
fn moved(simd: impl PairProducts, cells: [u32; SHARES], error: i16) -> [u32; SHARES] {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = simd.v3() {
        return moved_at_once(simd, cells, error);
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = simd;
    cells.map(
        #[inline(always)]
        |cell| {
            let (share, rate) = (cell as i16, (cell >> 16) as i16);
            let high = |a: i16, b: i16| ((i32::from(a) * i32::from(b)) >> 16) as i16;
            let share = share.saturating_add((high(error, rate) + 4) >> 3);
            let square = high(rate, rate);
            let rate = (rate - square - (square >> 1)).max(LAST_RATE);
            u32::from(share as u16) | u32::from(rate as u16) << 16
        },
    )
}

/// The same by vectors, which compilers do not find behind cells that lie apart.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn moved_at_once(simd: pulp::x86::V3, cells: [u32; SHARES], error: i16) -> [u32; SHARES] {
    let simd = simd.avx2;
    let least = pulp::cast([u32::from(LAST_RATE as u16) << 16 | 1 << 15; SHARES]);
    let cells = pulp::cast(cells);
    // Rates in the lower halves, zeros in the upper ones.
    let rates = simd._mm256_srli_epi32::<16>(cells);
    let steps = simd._mm256_mulhi_epi16(rates, pulp::cast([error; 2 * SHARES]));
    let steps = simd._mm256_add_epi16(steps, pulp::cast([4i16; 2 * SHARES]));
    let cells = simd._mm256_adds_epi16(cells, simd._mm256_srai_epi16::<3>(steps));
    let squares = simd._mm256_mulhi_epi16(rates, rates);
    let squares = simd._mm256_add_epi16(squares, simd._mm256_srli_epi16::<1>(squares));
    let cells = simd._mm256_sub_epi16(cells, simd._mm256_slli_epi32::<16>(squares));
    pulp::cast(simd._mm256_max_epi16(cells, least))
}

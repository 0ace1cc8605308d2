//! The fast method: one prediction, one symbol of sixteen for most samples (`spec/lossless.md`, "Fast").

use super::coder::{Coder, Ends, SYMBOL_BITS, SYMBOLS};
use super::planes::BORDER;
use super::residual::{FRACTION, half_octaves, quarter_octaves, scale_of};
use super::taps::{Around, median};
use crate::simd::PairProducts;

/// Levels of the expected error.
const LEVELS: usize = 64;
/// Levels of the nearest errors.
const NEAREST: usize = 10;
/// Scales that have alphabets of their own.
const SCALES: usize = 8;
/// The smallest part of a symbol.
const FLOOR: i16 = 4;
/// Symbols adapt by 2^-2 at first and by 2^-SLOWEST in the end.
const SLOWEST: u32 = 7;
/// The symbol of sizes beyond all others.
const ESCAPE: usize = SYMBOLS - 1;

/// Adaptive probabilities of symbols.
#[derive(Clone, Debug)]
struct Alphabet {
    ends: Ends,
    seen: u32,
}

impl Alphabet {
    fn new() -> Self {
        let part = 1 << (SYMBOL_BITS - 4);
        Self {
            ends: std::array::from_fn(|symbol| (symbol as i16 + 1) * part),
            seen: 0,
        }
    }

    #[inline(always)]
    fn learn(&mut self, simd: impl PairProducts, symbol: usize) {
        let rate = (2 + (self.seen >> 3)).min(SLOWEST);
        self.seen += 1;
        #[cfg(target_arch = "x86_64")]
        if let Some(simd) = simd.v3() {
            self.ends = learned_at_once(simd, self.ends, symbol, rate);
            return;
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = simd;
        for (i, end) in self.ends.iter_mut().enumerate() {
            let target = if i >= symbol { ABOVE[i] } else { BELOW[i] };
            *end += (target - *end) >> rate;
        }
    }
}

/// Where the ends of the symbols below go.
const BELOW: Ends = {
    let mut ends = [0; SYMBOLS];
    let mut i = 0;
    while i < SYMBOLS {
        ends[i] = (i as i16 + 1) * FLOOR;
        i += 1;
    }
    ends
};
/// Where those of a symbol and of the symbols above go.
const ABOVE: Ends = {
    let mut ends = [0; SYMBOLS];
    let mut i = 0;
    while i < SYMBOLS {
        ends[i] = (1 << SYMBOL_BITS) - (SYMBOLS as i16 - 1 - i as i16) * FLOOR;
        i += 1;
    }
    ends
};
const NUMBERS: Ends = {
    let mut numbers = [0; SYMBOLS];
    let mut i = 0;
    while i < SYMBOLS {
        numbers[i] = i as i16;
        i += 1;
    }
    numbers
};

/// What [`Alphabet::learn`] does, by vectors, which compilers do not find there.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn learned_at_once(simd: pulp::x86::V3, ends: Ends, symbol: usize, rate: u32) -> Ends {
    let simd = simd.avx2;
    let symbol = pulp::cast([symbol as i16; SYMBOLS]);
    let below = simd._mm256_cmpgt_epi16(symbol, pulp::cast(NUMBERS));
    let target = simd._mm256_blendv_epi8(pulp::cast(ABOVE), pulp::cast(BELOW), below);
    let ends = pulp::cast(ends);
    let lack = simd._mm256_sub_epi16(target, ends);
    let step = simd._mm256_sra_epi16(lack, pulp::cast([rate, 0, 0, 0]));
    pulp::cast(simd._mm256_add_epi16(ends, step))
}

/// Codes a symbol with the mean of two alphabets.
#[inline(always)]
fn code_symbol(
    simd: impl PairProducts,
    coder: &mut impl Coder,
    alphabets: [&mut Alphabet; 2],
    symbol: usize,
) -> usize {
    let [first, second] = alphabets;
    let mut ends = first.ends;
    for (end, other) in ends.iter_mut().zip(&second.ends) {
        // The mean, rounded down; the sum may not fit.
        *end = (*end & other) + ((*end ^ other) >> 1);
    }
    let symbol = coder.symbol(&ends, symbol);
    first.learn(simd, symbol);
    second.learn(simd, symbol);
    symbol
}

/// Everything that adapts in one plane.
#[derive(Debug)]
pub(super) struct FastModel<P> {
    simd: P,
    /// By the expected error.
    by_level: Vec<Alphabet>,
    /// By scale and the two nearest errors.
    by_nearest: Vec<Alphabet>,
    /// Sizes of errors of the row in work and of the row above, with a border.
    row: Vec<u32>,
    above: Vec<u32>,
    max: i32,
}

impl<P: PairProducts> FastModel<P> {
    /// For samples from 0 to `max`.
    pub(super) fn new(simd: P, width: usize, max: u16) -> Self {
        Self {
            simd,
            by_level: vec![Alphabet::new(); LEVELS],
            by_nearest: vec![Alphabet::new(); NEAREST * NEAREST * SCALES],
            row: vec![0; width + 2 * BORDER],
            above: vec![0; width + 2 * BORDER],
            max: i32::from(max),
        }
    }

    pub(super) fn open_row(&mut self) {
        std::mem::swap(&mut self.row, &mut self.above);
        self.row[BORDER - 1] = self.above[BORDER];
    }

    pub(super) fn close_row(&mut self) {
        let end = self.row.len() - BORDER;
        self.row[end] = self.row[end - 1];
    }

    /// Codes the sample of column `x`; `previous` is the plane before.
    #[inline(always)]
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        own: Around<'_>,
        previous: Option<Around<'_>>,
        x: usize,
        value: u16,
    ) -> u16 {
        let prediction = predict(own, previous).clamp(0, self.max << FRACTION);
        let at = x + BORDER;
        let errors =
            2 * (self.row[at - 1] + self.above[at]) + self.above[at - 1] + self.above[at + 1];
        let level = quarter_octaves(errors >> (FRACTION - 1)).min(LEVELS as u32 - 1);
        let scale = scale_of(errors / 6);
        let centre = (prediction + (1 << (FRACTION - 1))) >> FRACTION;
        let folded = fold(i32::from(value) - centre);
        let nearest = |error: u32| half_octaves(error >> FRACTION).min(NEAREST as u32 - 1) as usize;
        let pair = nearest(self.row[at - 1]) * NEAREST + nearest(self.above[at]);
        let pair = pair * SCALES + (scale as usize).min(SCALES - 1);
        let alphabets = [
            &mut self.by_level[level as usize],
            &mut self.by_nearest[pair],
        ];
        let folded = code_folded(self.simd, coder, alphabets, scale, folded);
        let value = (centre + unfold(folded)).clamp(0, self.max);
        self.row[at] = (value << FRACTION).abs_diff(prediction);
        value as u16
    }
}

/// 0, 1, -1, 2, -2, ... as 0, 1, 2, 3, 4, ...
#[inline(always)]
fn fold(difference: i32) -> u32 {
    2 * difference.unsigned_abs() - u32::from(difference > 0)
}

#[inline(always)]
fn unfold(folded: u32) -> i32 {
    let size = folded.div_ceil(2) as i32;
    if folded % 2 == 1 { size } else { -size }
}

/// Codes a number as a symbol for its upper bits, then `scale` lower bits.
#[inline(always)]
fn code_folded(
    simd: impl PairProducts,
    coder: &mut impl Coder,
    alphabets: [&mut Alphabet; 2],
    scale: u32,
    folded: u32,
) -> u32 {
    let upper = folded >> scale;
    let symbol = code_symbol(simd, coder, alphabets, (upper as usize).min(ESCAPE));
    let mut found = symbol as u32;
    if symbol == ESCAPE {
        found += code_rest(coder, upper.wrapping_sub(ESCAPE as u32));
    }
    let lower = match scale {
        0 => 0,
        _ => coder.raw(scale, folded & ((1 << scale) - 1)),
    };
    (found << scale) | lower
}

/// An Elias gamma code with even odds.
#[cold]
#[inline(never)]
fn code_rest(coder: &mut impl Coder, rest: u32) -> u32 {
    let plus = (rest & 0x1_FFFF) + 1;
    let length = coder.raw(5, plus.ilog2()).min(17);
    let mut value = 1;
    for bit in (0..length).rev() {
        value = 2 * value + coder.raw(1, plus >> bit & 1);
    }
    value - 1
}

/// The mean of the median predictor and a smooth one, of differences from the plane before if there is one.
#[inline(always)]
fn predict(own: Around<'_>, previous: Option<Around<'_>>) -> i32 {
    let difference =
        |left, up| own.sample(left, up) - previous.map_or(0, |previous| previous.sample(left, up));
    let here = previous.map_or(0, |previous| previous.sample(0, 0));
    let (w, n, nw, ne) = (
        difference(1, 0),
        difference(0, 1),
        difference(1, 1),
        difference(-1, 1),
    );
    let smooth = 2 * (w + n) + ne - nw;
    (here << FRACTION) + (median(w, n, nw) << (FRACTION - 1)) + (smooth << (FRACTION - 3))
}

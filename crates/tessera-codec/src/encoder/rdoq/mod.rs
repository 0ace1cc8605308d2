//! Rate-distortion optimised choice of levels.

pub(crate) mod choose;
pub(crate) mod deadzone;

use crate::encoder::cost::levels::LevelCosts;
use crate::encoder::forward::energy;
use crate::encoder::rdoq::choose::{ChooseLevels, choose_levels};
use crate::tile::entropy::coder::{Meter, ModelPair};
use crate::tile::syntax::last_class;
use crate::tile::syntax::patch_context::PatchContext;

/// Below this magnitude (in steps) a coefficient is never the last one.
const SMALLEST_LAST: f32 = 0.62;

/// What the choice of levels depends on beside the patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rdoq<'a> {
    pub(crate) models: &'a ModelPair,
    /// Reconstruction points.
    pub(crate) points: &'a [u8; 3],
    /// Prices of levels.
    pub(crate) levels: &'a LevelCosts,
}

/// Best choice for one coefficient.
pub(crate) struct Choice {
    pub(crate) magnitude: u32,
    pub(crate) cost: f32,
    /// Cost if this coefficient is the last one, whose significance is implied.
    pub(crate) cost_as_last: f32,
}

impl Choice {
    #[inline(always)]
    pub(crate) fn zero(cost: f32) -> Self {
        Self {
            magnitude: 0,
            cost,
            cost_as_last: f32::INFINITY,
        }
    }

    /// A level that costs so much as the last one, and the price of its significance more before it.
    #[inline(always)]
    pub(crate) fn coded(magnitude: u32, cost_as_last: f32, significance: f32) -> Self {
        Self {
            magnitude,
            cost: cost_as_last + significance,
            cost_as_last,
        }
    }

    /// The other one if it costs less.
    #[inline(always)]
    pub(crate) fn cheaper(self, other: Self) -> Self {
        if other.cost < self.cost { other } else { self }
    }
}

impl Rdoq<'_> {
    /// The levels of `coefficients` (coding order, in steps) that minimise distortion plus the price of
    /// their bits, and that cost without mode, basis and coded flag; `None` if no level survives, or if
    /// all cost as much as `bound`.
    pub(crate) fn quantise(
        &self,
        context: &PatchContext<'_>,
        coefficients: &[f32],
        limit: usize,
        bound: f32,
    ) -> Option<(Vec<i32>, f32)> {
        let end = last_large(&coefficients[..limit])?;
        let tail = energy(&coefficients[end + 1..]);
        let (levels, cost) = choose_levels(ChooseLevels {
            rdoq: self,
            context,
            coefficients: &coefficients[..=end],
            bound: bound - tail,
        })?;
        Some((levels, cost + tail))
    }
}

/// Where the last coefficient that can be the last level lies.
fn last_large(coefficients: &[f32]) -> Option<usize> {
    let large = |value: &f32| value.abs() > SMALLEST_LAST;
    let (chunks, rest) = coefficients.as_chunks::<8>();
    if let Some(at) = rest.iter().rposition(large) {
        return Some(8 * chunks.len() + at);
    }
    let any = |chunk: &[f32; 8]| chunk.iter().fold(false, |any, value| any | large(value));
    let chunk = chunks.iter().rposition(any)?;
    let at = chunks[chunk].iter().rposition(large)?;
    Some(8 * chunk + at)
}

/// Bits of a last position by the bits of the decisions that lead to it.
#[inline(always)]
pub(crate) fn last_bits(last: usize, mut decision: impl FnMut(u32, u32) -> f32) -> f32 {
    let (class, extra, rest) = last_class(last);
    let mut node = 1;
    let mut bits = 0.0;
    for i in (0..5).rev() {
        let bit = class >> i & 1;
        bits += decision(node, bit);
        node = node << 1 | bit;
    }
    if extra > 0 {
        bits += decision(32 + class, rest >> (extra - 1) & 1) + (extra - 1) as f32;
    }
    bits
}

/// Bits that `code` would write.
pub(crate) fn metered(models: &ModelPair, code: impl FnOnce(&mut Meter<'_>)) -> f32 {
    let mut meter = Meter::new(models);
    code(&mut meter);
    meter.bits
}

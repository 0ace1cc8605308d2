//! Rate-distortion optimised choice of levels.

pub(crate) mod deadzone;
pub(crate) mod fast;

use crate::encoder::cost::levels::LevelCosts;
use crate::encoder::forward::energy;
use crate::encoder::rdoq::fast::{FastRdoq, choose_fast};
use crate::simd::kernel;
use crate::tile::entropy::coder::{self, Meter, ModelPair, costs, quick_zero_cost};
use crate::tile::syntax::last_class;
use crate::tile::syntax::patch_context::{
    CoefficientState, Expected, PatchContext, UNARY_LIMIT, last_position,
};
use crate::tile::transform::quantiser::shrinkage;
use tessera_dict::layout::Element;

/// Below this magnitude (in steps) a coefficient is never the last one.
const SMALLEST_LAST: f32 = 0.62;

/// What the choice of levels depends on beside the patch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rdoq<'a> {
    pub(crate) models: &'a ModelPair,
    /// Price of a bit in squared steps.
    pub(crate) lambda: f32,
    /// Reconstruction points.
    pub(crate) points: &'a [u8; 3],
    /// Rdoq of levels to choose by, instead of what mixing all contexts says.
    pub(crate) levels: Option<&'a LevelCosts>,
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

kernel! {
    /// See [`Rdoq::quantise`].
    fn choose_levels(
        prices: &Rdoq<'_>,
        context: &PatchContext<'_>,
        coefficients: &[f32],
    ) -> Option<(Vec<i32>, f32)> {
        let choices = prices.choose_all(context, coefficients);
        let (last, cost) = prices.choose_last(context, coefficients, &choices)?;
        let signed = |(choice, c): (&Choice, &f32)| {
            let magnitude = choice.magnitude as i32;
            if *c < 0.0 { -magnitude } else { magnitude }
        };
        let levels = choices[..=last].iter().zip(coefficients).map(signed);
        Some((levels.collect(), cost))
    }
}

impl Rdoq<'_> {
    /// The levels of `coefficients` (coding order, in steps) that minimise distortion plus the price of
    /// their bits, and that cost without mode, basis and coded flag; `None` if no level survives, or if quick prices
    /// say that all cost as much as `bound`.
    pub(crate) fn quantise(
        &self,
        context: &PatchContext<'_>,
        coefficients: &[f32],
        limit: usize,
        bound: f32,
    ) -> Option<(Vec<i32>, f32)> {
        let end = last_large(&coefficients[..limit])?;
        let tail = energy(&coefficients[end + 1..]);
        let coefficients = &coefficients[..=end];
        let (levels, cost) = match self.levels {
            Some(levels) => choose_fast(FastRdoq {
                prices: self,
                levels,
                context,
                coefficients,
                bound: bound - tail,
            }),
            None => choose_levels(self, context, coefficients),
        }?;
        Some((levels, cost + tail))
    }

    /// The best choice for every coefficient given those behind it.
    #[inline(always)]
    fn choose_all(&self, context: &PatchContext<'_>, coefficients: &[f32]) -> Vec<Choice> {
        let mut expected = Expected::default();
        let mut state = CoefficientState::new(context, coefficients.len() - 1, &mut expected);
        let mut choices: Vec<Choice> = Vec::with_capacity(coefficients.len());
        for (position, coefficient) in coefficients.iter().enumerate().rev() {
            let choice = self.choose(context, &state, position, coefficient.abs());
            state.push(context, position, choice.magnitude);
            choices.push(choice);
        }
        choices.reverse();
        choices
    }

    #[inline(always)]
    fn choose(
        &self,
        context: &PatchContext<'_>,
        state: &CoefficientState<'_>,
        position: usize,
        size: f32,
    ) -> Choice {
        let nearest = (size + 0.5) as u32;
        if nearest == 0 {
            // Nothing to choose: one cell tells the price of a zero well enough.
            let cell = state.quick_significance(context, position);
            let bits = quick_zero_cost(self.models, context.kind, cell);
            return Choice::zero(size * size + self.lambda * bits);
        }
        let contexts = state.significance(context, position);
        let [zero, one] = costs(self.models, context.kind, Element::Significance, &contexts);
        let mut best = Choice::zero(size * size + self.lambda * zero);
        let choice = |magnitude: u32, bits: f32| {
            let cost_as_last = self.distortion(size, magnitude) + self.lambda * bits;
            Choice::coded(magnitude, cost_as_last, self.lambda * one)
        };
        let mut longer = 0.0;
        for magnitude in 1..=nearest.min(UNARY_LIMIT) {
            // Often the larger of the two candidates is ruled out before its end is priced.
            if magnitude == nearest && choice(magnitude, longer + 1.0).cost >= best.cost {
                return best;
            }
            let contexts = state.magnitude(context, position, magnitude - 1);
            let [stop, go_on] = costs(self.models, context.kind, Element::Magnitude, &contexts);
            if magnitude + 1 >= nearest {
                best = best.cheaper(choice(magnitude, longer + stop + 1.0));
            }
            longer += go_on;
        }
        for magnitude in (nearest - 1).max(UNARY_LIMIT + 1)..=nearest {
            let length = 32 - (magnitude - UNARY_LIMIT).leading_zeros();
            best = best.cheaper(choice(magnitude, longer + (2 * length) as f32));
        }
        best
    }

    /// Squared error of a coefficient of this size coded as `magnitude`.
    #[inline(always)]
    fn distortion(&self, size: f32, magnitude: u32) -> f32 {
        let error = size - magnitude as f32 + shrinkage(magnitude, self.points) as f32 / 256.0;
        error * error
    }

    /// Where to stop: everything behind the last level is dropped.
    #[inline(always)]
    fn choose_last(
        &self,
        context: &PatchContext<'_>,
        coefficients: &[f32],
        choices: &[Choice],
    ) -> Option<(usize, f32)> {
        let mut before: f32 = choices.iter().map(|choice| choice.cost).sum();
        let mut dropped = 0.0;
        let mut prices = LastPrices::new(self.models, context);
        let mut best = None;
        for (position, choice) in choices.iter().enumerate().rev() {
            before -= choice.cost;
            if choice.magnitude > 0 {
                let levels = before + choice.cost_as_last + dropped;
                // Where the levels alone cost too much the position need not be priced.
                if best.is_none_or(|(_, least)| levels < least) {
                    let cost = levels + self.lambda * prices.bits(position);
                    if best.is_none_or(|(_, least)| cost < least) {
                        best = Some((position, cost));
                    }
                }
            }
            dropped += coefficients[position] * coefficients[position];
        }
        best
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

/// Bits of last positions; every node of their tree is asked at most once.
struct LastPrices<'a, 'p> {
    models: &'a ModelPair,
    context: &'a PatchContext<'p>,
    nodes: [[f32; 2]; 64],
}

impl<'a, 'p> LastPrices<'a, 'p> {
    fn new(models: &'a ModelPair, context: &'a PatchContext<'p>) -> Self {
        Self {
            models,
            context,
            nodes: [[f32::NAN; 2]; 64],
        }
    }

    #[inline(always)]
    fn node(&mut self, node: u32, bit: u32) -> f32 {
        let costs = &mut self.nodes[node as usize];
        if costs[0].is_nan() {
            let contexts = last_position(self.context, node);
            *costs = coder::costs(self.models, self.context.kind, Element::Last, &contexts);
        }
        costs[bit as usize]
    }

    #[inline(always)]
    fn bits(&mut self, last: usize) -> f32 {
        last_bits(last, |node, bit| self.node(node, bit))
    }
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

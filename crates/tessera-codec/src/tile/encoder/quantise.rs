//! Rate-distortion optimised choice of levels.

use crate::tile::coder::{Meter, ModelPair, costs, quick_zero_cost};
use crate::tile::patch_context::{CoefficientState, PatchContext, UNARY_LIMIT};
use crate::tile::quantiser::shrinkage;
use crate::tile::state::Coefficients;
use crate::tile::syntax::{code_last, last_class};
use tessera_dict::layout::Element;

/// Below this magnitude (in steps) a coefficient is never the last one.
const SMALLEST_LAST: f32 = 0.62;

/// Where a level is reconstructed, in steps.
fn reconstruction(magnitude: u32) -> f32 {
    magnitude as f32 - shrinkage(magnitude) as f32 / 256.0
}

/// Best choice for one coefficient.
struct Choice {
    magnitude: u32,
    cost: f32,
    /// Cost if this coefficient is the last one, whose significance is implied.
    cost_as_last: f32,
}

/// Fills `patch` with the levels of `coefficients` (coding order, in steps) that minimise distortion
/// plus `lambda` times bits; returns that cost without mode, basis and coded flag, or `None` if no level survives.
pub(crate) fn quantise(
    models: &ModelPair,
    context: &PatchContext<'_>,
    lambda: f32,
    coefficients: &[f32],
    limit: usize,
    patch: &mut Coefficients,
) -> Option<f32> {
    let end = coefficients[..limit]
        .iter()
        .rposition(|c| c.abs() > SMALLEST_LAST)?;
    let mut state = CoefficientState::new(context, end);
    let mut choices: Vec<Choice> = Vec::with_capacity(end + 1);
    for position in (0..=end).rev() {
        let choice = choose(
            models,
            context,
            &state,
            lambda,
            position,
            coefficients[position].abs(),
        );
        state.push(context, position, choice.magnitude);
        choices.push(choice);
    }
    choices.reverse();
    let (last, cost) = choose_last(models, context, lambda, coefficients, &choices)?;
    let chosen = choices[..=last].iter().zip(coefficients);
    patch.levels.clear();
    patch.levels.extend(chosen.map(|(choice, c)| {
        let magnitude = choice.magnitude as i32;
        if *c < 0.0 { -magnitude } else { magnitude }
    }));
    let tail: f32 = coefficients[end + 1..].iter().map(|c| c * c).sum();
    Some(cost + tail)
}

fn choose(
    models: &ModelPair,
    context: &PatchContext<'_>,
    state: &CoefficientState,
    lambda: f32,
    position: usize,
    size: f32,
) -> Choice {
    let nearest = (size + 0.5) as u32;
    if nearest == 0 {
        // Nothing to choose: one cell tells the price of a zero well enough.
        let zero = quick_zero_cost(
            models,
            context.kind,
            state.quick_significance(context, position),
        );
        return Choice {
            magnitude: 0,
            cost: size * size + lambda * zero,
            cost_as_last: f32::INFINITY,
        };
    }
    let [zero, one] = costs(
        models,
        context.kind,
        Element::Significance,
        &state.significance(context, position),
    );
    let mut best = Choice {
        magnitude: 0,
        cost: size * size + lambda * zero,
        cost_as_last: f32::INFINITY,
    };
    let mut longer = 0.0;
    for magnitude in 1..=nearest.min(UNARY_LIMIT) {
        let [stop, go_on] = costs(
            models,
            context.kind,
            Element::Magnitude,
            &state.magnitude(context, position, magnitude - 1),
        );
        if magnitude + 1 >= nearest {
            best.consider(magnitude, size, lambda, longer + stop + 1.0, one);
        }
        longer += go_on;
    }
    if nearest > UNARY_LIMIT {
        for magnitude in [nearest - 1, nearest]
            .into_iter()
            .filter(|&m| m > UNARY_LIMIT)
        {
            let length = 32 - (magnitude - UNARY_LIMIT).leading_zeros();
            best.consider(magnitude, size, lambda, longer + (2 * length) as f32, one);
        }
    }
    best
}

impl Choice {
    fn consider(&mut self, magnitude: u32, size: f32, lambda: f32, bits: f32, significance: f32) {
        let error = size - reconstruction(magnitude);
        let as_last = error * error + lambda * bits;
        let cost = as_last + lambda * significance;
        if cost < self.cost {
            *self = Self {
                magnitude,
                cost,
                cost_as_last: as_last,
            };
        }
    }
}

/// Where to stop: everything behind the last level is dropped.
fn choose_last(
    models: &ModelPair,
    context: &PatchContext<'_>,
    lambda: f32,
    coefficients: &[f32],
    choices: &[Choice],
) -> Option<(usize, f32)> {
    let mut before: f32 = choices.iter().map(|choice| choice.cost).sum();
    let mut dropped = 0.0;
    let mut memo = [f32::NAN; 32];
    let mut best = None;
    for (position, choice) in choices.iter().enumerate().rev() {
        before -= choice.cost;
        if choice.magnitude > 0 {
            let bits = &mut memo[last_class(position).0 as usize];
            if bits.is_nan() {
                *bits = last_bits(models, context, position);
            }
            let cost = before + choice.cost_as_last + dropped + lambda * *bits;
            if best.is_none_or(|(_, least)| cost < least) {
                best = Some((position, cost));
            }
        }
        dropped += coefficients[position] * coefficients[position];
    }
    best
}

fn last_bits(models: &ModelPair, context: &PatchContext<'_>, position: usize) -> f32 {
    let mut meter = Meter::new(models);
    code_last(&mut meter, context, position + 1, position);
    meter.bits
}

/// Bits that `code` would write.
pub(crate) fn metered(models: &ModelPair, code: impl FnOnce(&mut Meter<'_>)) -> f32 {
    let mut meter = Meter::new(models);
    code(&mut meter);
    meter.bits
}

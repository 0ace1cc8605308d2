//! Rate-distortion optimised choice of levels by prices that hang on the expected magnitude alone.
//!
//! Most coefficients are too small to be coded, and what is expected of them only changes where a level is chosen: eight
//! at a time are priced as zeros.

use crate::encoder::cost::levels::{MAGNITUDES, SignificancePrices};
use crate::encoder::rdoq::{Choice, Rdoq};
use crate::simd::kernel;
use crate::tile::syntax::patch_context::{CoefficientState, Expected, PatchContext, UNARY_LIMIT};
use crate::tile::transform::quantiser::shrinkage;

/// From this magnitude (in steps) on a coefficient is worth a choice.
const SMALLEST_LEVEL: f32 = 0.5;
/// Coefficients that are looked at together.
const LANES: usize = 8;

/// Memory that serves one patch after the other.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    kept: Vec<Kept>,
    expected: Expected,
}

/// A level worth coding.
#[derive(Clone, Copy, Debug)]
struct Kept {
    position: u32,
    magnitude: u32,
    /// Cost of it and of all behind it.
    cost: f32,
    /// The same if it is the last one.
    cost_as_last: f32,
}

/// Chooses the levels of `coefficients`, the last of which is large; see [`Rdoq::quantise`].
pub(crate) struct ChooseLevels<'a, 'p> {
    pub(crate) rdoq: &'a Rdoq<'a>,
    pub(crate) context: &'a PatchContext<'p>,
    pub(crate) coefficients: &'a [f32],
    /// What costs as much is of no interest.
    pub(crate) bound: f32,
}

kernel! {
    /// The levels chosen, and what they cost; nothing if that reaches the bound.
    pub(super) fn choose_levels(job: ChooseLevels<'_, '_>) -> Option<(Vec<i32>, f32)> {
        let ChooseLevels { rdoq, context, .. } = job;
        let levels = rdoq.levels;
        let Scratch { kept, expected } = &mut *levels.scratch.borrow_mut();
        kept.clear();
        let end = job.coefficients.len();
        let points = job.rdoq.points;
        let mut walk = Walk {
            context,
            coefficients: job.coefficients,
            significance: levels.significance(context),
            magnitudes: levels.magnitudes(context.kind),
            escape: levels.lambda(),
            points: [0, 1, 2, 3].map(|magnitude| shrinkage(magnitude, points) as f32 / 256.0),
            state: CoefficientState::new(context, end - 1, expected),
            kept,
            cost: 0.0,
            dropped: 0.0,
        };
        let whole = end.min(context.basis.model.base.len()) / LANES * LANES;
        for position in (whole..end).rev() {
            walk.step(position);
        }
        for first in (0..whole).step_by(LANES).rev() {
            walk.step_by_lanes(first);
        }
        let cost = walk.cost;
        job.cut_off(kept, cost)
    }
}

impl ChooseLevels<'_, '_> {
    /// Where to stop: everything behind the last level is dropped.
    #[inline(always)]
    fn cut_off(&self, kept: &[Kept], total: f32) -> Option<(Vec<i32>, f32)> {
        let last_prices = self
            .rdoq
            .levels
            .last_positions(self.rdoq.models, self.context);
        let (mut last, mut least) = (None, self.bound);
        for (at, level) in kept.iter().enumerate() {
            let levels = total - level.cost + level.cost_as_last;
            // Where the levels alone cost too much the position need not be priced.
            if levels < least {
                let cost = levels + last_prices.of(level.position as usize);
                if cost < least {
                    (last, least) = (Some(at), cost);
                }
            }
        }
        let kept = &kept[last?..];
        let mut levels = vec![0; kept[0].position as usize + 1];
        for level in kept {
            let position = level.position as usize;
            let magnitude = level.magnitude as i32;
            levels[position] = if self.coefficients[position] < 0.0 {
                -magnitude
            } else {
                magnitude
            };
        }
        Some((levels, least))
    }
}

/// The way from the last coefficient to the first.
struct Walk<'a, 'p> {
    context: &'a PatchContext<'p>,
    coefficients: &'a [f32],
    significance: &'a SignificancePrices,
    /// Prices of magnitudes by the class of the expected one, and of every bit behind an escape.
    magnitudes: &'a [[f32; MAGNITUDES]],
    escape: f32,
    /// How far below their magnitude levels are drawn.
    points: [f32; 4],
    state: CoefficientState<'a>,
    /// From the last one to the first.
    kept: &'a mut Vec<Kept>,
    /// Of all coefficients so far, and of all so far if none is coded.
    cost: f32,
    dropped: f32,
}

impl Walk<'_, '_> {
    /// Takes in the coefficient at `position`.
    #[inline(always)]
    fn step(&mut self, position: usize) {
        let size = self.coefficients[position].abs();
        let expected = self.state.magnitude_class(position);
        let zero = self.significance.zero(position, expected);
        if size < SMALLEST_LEVEL {
            self.drop(size * size, zero);
            (self.state).push(self.context, position, 0);
            return;
        }
        let magnitude = self.choose(position, size, expected, zero);
        (self.state).push(self.context, position, magnitude);
    }

    /// Takes in the coefficients from `first` on, all of them rotated ones.
    #[inline(always)]
    fn step_by_lanes(&mut self, first: usize) {
        let values: &[f32; LANES] = self.coefficients[first..]
            .first_chunk()
            .expect("lanes are whole");
        let large = |any: bool, value: &f32| any | (value.abs() >= SMALLEST_LEVEL);
        if values.iter().fold(false, large) {
            for position in (first..first + LANES).rev() {
                self.step(position);
            }
            return;
        }
        let expected = self.state.magnitude_classes(first);
        let squares = values.map(|value| value * value);
        let zeros = self.significance.zeros(first, &expected);
        self.drop(sum(squares), sum(zeros));
    }

    /// Takes in zeros of some energy and price.
    #[inline(always)]
    fn drop(&mut self, energy: f32, price: f32) {
        self.cost += energy + price;
        self.dropped += energy;
    }

    /// The best magnitude of a coefficient whose price as a zero is known.
    #[inline(always)]
    fn choose(&mut self, position: usize, size: f32, expected: u32, zero: f32) -> u32 {
        let nearest = (size + 0.5) as u32;
        let one = self.significance.one(position, expected);
        let mut best = Choice::zero(size * size + zero);
        if nearest > 1 {
            let cost = self.cost_as_last(size, expected, nearest - 1);
            best = best.cheaper(Choice::coded(nearest - 1, cost, one));
        }
        let cost = self.cost_as_last(size, expected, nearest);
        best = best.cheaper(Choice::coded(nearest, cost, one));
        self.cost += best.cost;
        if best.magnitude > 0 {
            self.kept.push(Kept {
                position: position as u32,
                magnitude: best.magnitude,
                cost: self.cost,
                cost_as_last: best.cost_as_last + self.dropped,
            });
        }
        self.dropped += size * size;
        best.magnitude
    }

    /// Distortion and price of a level without its significance.
    #[inline(always)]
    fn cost_as_last(&self, size: f32, expected: u32, magnitude: u32) -> f32 {
        let prices = &self.magnitudes[expected as usize];
        let price = if magnitude <= UNARY_LIMIT {
            prices[magnitude as usize - 1]
        } else {
            let length = 32 - (magnitude - UNARY_LIMIT).leading_zeros();
            prices[MAGNITUDES - 1] + self.escape * (2 * length) as f32
        };
        let error = size - magnitude as f32 + self.points[magnitude.min(3) as usize];
        error * error + price
    }
}

/// Sum of all lanes, by halves.
#[inline(always)]
fn sum(mut values: [f32; LANES]) -> f32 {
    for half in [4, 2, 1] {
        for lane in 0..half {
            values[lane] += values[lane + half];
        }
    }
    values[0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::cost::levels::LevelCosts;
    use crate::tile::PlaneLayout;
    use crate::tile::entropy::coder::ModelPair;
    use crate::tile::entropy::mix::PlaneKind;
    use tessera_dict::Dictionary;
    use tessera_patch::Shape;

    const LAMBDA: f32 = 0.1;

    /// Cost of given levels by the definition, position by position.
    fn cost(job: &ChooseLevels<'_, '_>, levels: &[i32]) -> f32 {
        let (prices, context) = (job.rdoq.levels, job.context);
        let significance = prices.significance(context);
        let mut expected = Expected::default();
        let last = levels.len() - 1;
        let mut state = CoefficientState::new(context, last, &mut expected);
        let mut sum = prices.last_positions(job.rdoq.models, context).of(last);
        for (position, &coefficient) in job.coefficients.iter().enumerate().rev() {
            let magnitude = levels[position].unsigned_abs();
            let class = state.magnitude_class(position);
            let point = shrinkage(magnitude, job.rdoq.points) as f32 / 256.0;
            sum += (coefficient.abs() - magnitude as f32 + point).powi(2);
            if magnitude > 0 {
                sum += prices.magnitudes(context.kind)[class as usize][magnitude as usize - 1];
            }
            sum += match (position == last, magnitude) {
                (true, _) => 0.0,
                (_, 0) => significance.zero(position, class),
                _ => significance.one(position, class),
            };
            state.push(context, position, magnitude);
        }
        sum
    }

    #[test]
    fn costs_are_those_of_the_levels_chosen() {
        let dictionary = Dictionary::untrained();
        let models = ModelPair::new(&dictionary, PlaneLayout::Gray.kinds());
        let mut levels = LevelCosts::default();
        levels.refresh(&models, PlaneKind::Luma, LAMBDA);
        let rdoq = Rdoq {
            models: &models,
            points: &dictionary.shrinkage()[0],
            levels: &levels,
        };
        for (side, length) in [(4, 9), (4, 16), (8, 37), (16, 250), (32, 700)] {
            let context = PatchContext::plain(dictionary.luma(), Shape::new(side, side).unwrap());
            // Falling magnitudes of changing sign, and a last one that is worth its zeros.
            let coefficient = |i: usize| {
                let noise = (i * 37 % 101) as f32 / 50.0 - 1.0;
                9.0 * noise / (1.0 + i as f32 / 4.0)
            };
            let mut coefficients: Vec<f32> = (0..length).map(coefficient).collect();
            coefficients[length - 1] = 12.0;
            let job = |bound: f32| ChooseLevels {
                rdoq: &rdoq,
                context: &context,
                coefficients: &coefficients,
                bound,
            };
            let (chosen, found) = choose_levels(job(f32::INFINITY)).expect("large levels survive");
            assert_eq!(chosen.len(), length);
            let wanted = cost(&job(0.0), &chosen);
            assert!(
                (found / wanted - 1.0).abs() < 1e-4,
                "{side}: {found} {wanted}"
            );
            assert!(choose_levels(job(found * 1.001)).is_some());
            assert!(choose_levels(job(found * 0.999)).is_none());
        }
    }
}

//! Contexts of a patch and of its coefficients (`spec/bitstream.md`, section "Contexts").

use crate::tile::entropy::mix::{Contexts, PlaneKind};
use tessera_dict::Basis;
use tessera_dict::basis::LANES;
use tessera_patch::shape::MAX_ROTATED;

/// Fractional bits of predicted magnitudes.
const MAGNITUDE_BITS: u32 = 12;
/// Magnitudes above this no longer move predictions.
const MAGNITUDE_CLIP: u32 = 12;
/// Largest magnitude coded in unary; the rest is Exp-Golomb.
pub(crate) const UNARY_LIMIT: u32 = 15;

/// Classes of expected magnitudes.
#[cfg(feature = "encoder")]
pub(crate) const EXPECTED_CLASSES: usize = 32;

/// Position along the coding order in four classes, as part of a cell of significance.
#[inline(always)]
pub(crate) fn place_bits(position: usize) -> u32 {
    match position {
        0..4 => 0,
        4..31 => 1 << 5,
        31..161 => 2 << 5,
        _ => 3 << 5,
    }
}

/// log2 with 8 fractional bits, linear between powers of two.
#[inline(always)]
fn log2_fixed(value: u32) -> i32 {
    let exponent = 31 - value.leading_zeros();
    let mantissa = ((u64::from(value) << 8) >> exponent) as i32 & 255;
    (exponent as i32) << 8 | mantissa
}

/// Logarithmic class of `value` (with `bits` fractional bits): 0 for zero, else
/// 1 + floor(log2(value) * half_steps / 2 + offset), within 1..=max.
#[inline(always)]
pub(crate) fn log_class(value: u32, bits: u32, half_steps: i32, offset: i32, max: u32) -> u32 {
    if value == 0 {
        return 0;
    }
    let log = log2_fixed(value) - ((bits as i32) << 8);
    let class = ((log * half_steps) / 2 + (offset << 8)).max(0) >> 8;
    (class as u32 + 1).min(max)
}

/// What is known about a patch before its coefficients.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PatchContext<'a> {
    pub(crate) kind: PlaneKind,
    pub(crate) basis: &'a Basis,
    /// Shape as the basis sees it: horizontal modes are turned onto vertical ones.
    pub(crate) shape: u32,
    pub(crate) size_group: u32,
    /// Mode class, or for chroma the component and whether Cb carries coefficients.
    pub(crate) class: u32,
    /// Neighbours' activity, 8 fractional bits, and its class.
    pub(crate) activity: u32,
    pub(crate) activity_class: u32,
    /// Border gradient in steps, 8 fractional bits, and its class.
    pub(crate) gradient: u32,
    pub(crate) gradient_class: u32,
}

#[cfg(all(test, feature = "encoder"))]
impl<'a> PatchContext<'a> {
    /// A patch of `shape` in the first basis of its first class, with some activity around it.
    pub(crate) fn plain(bases: &'a tessera_dict::BasisSet, shape: tessera_patch::Shape) -> Self {
        Self {
            kind: bases.kind(),
            basis: &bases.group(shape, 0)[0],
            shape: shape.index() as u32,
            size_group: shape.size_group() as u32,
            class: 0,
            activity: 300,
            activity_class: activity_class(300),
            gradient: 200,
            gradient_class: gradient_class(200),
        }
    }
}

/// Class of a residual activity.
pub(crate) fn activity_class(activity: u32) -> u32 {
    log_class(activity, 8, 4, 9, 15)
}

/// Class of a border gradient.
pub(crate) fn gradient_class(gradient: u32) -> u32 {
    log_class(gradient, 8, 4, 7, 15)
}

/// Memory for what is expected of the coefficients of a patch.
#[derive(Debug)]
pub(crate) struct Expected([u32; MAX_ROTATED]);

impl Default for Expected {
    fn default() -> Self {
        Self([0; MAX_ROTATED])
    }
}

/// The magnitude expected by the surroundings alone; factors have 12 fractional bits, what they belong to 8.
#[inline(always)]
fn expected_alone(base: u16, surroundings: [(u16, u32); 2]) -> u32 {
    let [by_activity, by_gradient] = surroundings.map(|(factor, of)| u32::from(factor) * of);
    // A hostile dictionary under a hostile tile can leave 32 bits: sums are modulo 2^32.
    u32::from(base) + (by_activity.wrapping_add(by_gradient) >> 8)
}

/// Class of an expected magnitude: `log_class(expected, MAGNITUDE_BITS, 6, 18, 31)` in fewer steps.
#[inline(always)]
fn magnitude_class(expected: u32) -> u32 {
    /// Of the logarithm's offset, less what leading zeros and the mantissa count too much.
    const OFFSET: i32 = 3 * ((30 - MAGNITUDE_BITS as i32) << 8) + (18 << 8);
    if expected == 0 {
        return 0;
    }
    let zeros = expected.leading_zeros();
    let mantissa = ((expected << zeros) >> 23) as i32;
    let class = (3 * mantissa - 768 * zeros as i32 + OFFSET).max(0) >> 8;
    (class as u32 + 1).min(31)
}

/// The cell of the decision "the level at `position`, where a magnitude of this class is expected, is not zero".
#[inline(always)]
pub(crate) fn significance_cell(expected: u32, position: usize, size_group: u32) -> u32 {
    expected | place_bits(position) | size_group << 7
}

/// The cell of the decision "the magnitude, expected to be of this class, is larger than `level` + 1".
#[inline(always)]
pub(crate) fn magnitude_cell(expected: u32, level: u32) -> u32 {
    level | expected << 4
}

/// What the coefficients coded so far say about the next one; coefficients run from last to first.
#[derive(Debug)]
pub(crate) struct CoefficientState<'a> {
    predicted: &'a mut [u32; MAX_ROTATED],
    rotated: usize,
    /// Decaying mean of the magnitudes behind the rotated ones.
    mean: u32,
}

impl<'a> CoefficientState<'a> {
    #[inline(always)]
    pub(crate) fn new(
        patch: &PatchContext<'_>,
        last: usize,
        Expected(predicted): &'a mut Expected,
    ) -> Self {
        let model = &patch.basis.model;
        let rotated = model.base.len().min(last + 1);
        let gradient = patch.gradient.min(1024);
        let factors = model.base.iter().zip(&model.activity).zip(&model.gradient);
        for (value, ((&base, &by_activity), &by_gradient)) in
            predicted[..rotated].iter_mut().zip(factors)
        {
            *value = expected_alone(
                base,
                [(by_activity, patch.activity), (by_gradient, gradient)],
            );
        }
        Self {
            predicted,
            rotated,
            mean: 0,
        }
    }

    #[inline(always)]
    fn predicted(&self, position: usize) -> u32 {
        if position < self.rotated {
            self.predicted[position]
        } else {
            (self.mean * 205) >> 8
        }
    }

    #[inline(always)]
    pub(crate) fn magnitude_class(&self, position: usize) -> u32 {
        magnitude_class(self.predicted(position))
    }

    /// Takes in the magnitude at `position`.
    #[inline(always)]
    pub(crate) fn push(&mut self, patch: &PatchContext<'_>, position: usize, magnitude: u32) {
        if magnitude != 0 {
            self.expect(patch, position, magnitude);
        }
        if position >= self.rotated {
            self.remember(magnitude);
        }
    }

    /// Follows a level that is not zero in what is expected of those before it.
    #[inline(always)]
    fn expect(&mut self, patch: &PatchContext<'_>, position: usize, magnitude: u32) {
        let model = &patch.basis.model;
        if position >= model.base.len() {
            return;
        }
        let clipped = magnitude.min(MAGNITUDE_CLIP) << 4;
        // Nobody asks again for what was expected from `position` on, so that whole lanes may spoil it.
        let (lanes, rest) = model.lanes(position);
        let (values, others) = (self.predicted)
            .as_chunks_mut::<LANES>()
            .0
            .split_at_mut(lanes.len());
        for (values, weights) in values.iter_mut().zip(lanes) {
            let mut sums = *values;
            for lane in 0..LANES {
                sums[lane] = sums[lane].wrapping_add(u32::from(weights[lane]) * clipped);
            }
            *values = sums;
        }
        for (value, &weight) in others.as_flattened_mut().iter_mut().zip(rest) {
            *value = value.wrapping_add(u32::from(weight) * clipped);
        }
    }

    /// Takes a magnitude into the decaying mean.
    #[inline(always)]
    fn remember(&mut self, magnitude: u32) {
        let clipped = magnitude.min(1 << 12) << MAGNITUDE_BITS;
        self.mean = ((u64::from(self.mean) * 205 + u64::from(clipped) * 51) >> 8) as u32;
    }

    /// [`Self::magnitude_class`] of as many rotated positions from `first` on.
    #[cfg(feature = "encoder")]
    #[inline(always)]
    pub(crate) fn magnitude_classes<const N: usize>(&self, first: usize) -> [u32; N] {
        let predicted: &[u32; N] = self.predicted[first..]
            .first_chunk()
            .expect("the positions are rotated");
        let mut classes = [0; N];
        for (class, &value) in classes.iter_mut().zip(predicted) {
            // A float of so many bits is exact, and its bits begin with the logarithm.
            let value = value.min(1 << 24) as i32;
            let log =
                ((value as f32).to_bits() >> 15) as i32 - ((127 + MAGNITUDE_BITS as i32) << 8);
            let positive = ((log * 3 + (18 << 8)).max(0) >> 8) + 1;
            *class = if value == 0 {
                0
            } else {
                positive.min(31) as u32
            };
        }
        classes
    }
}

/// The cell of significance at a place of a basis in usual surroundings, nothing being known of the levels behind it.
#[cfg(feature = "encoder")]
pub(crate) fn usual_significance(shape: tessera_patch::Shape, basis: &Basis, place: usize) -> u32 {
    /// Activity and gradient where a patch is worth coding, with 8 fractional bits, and what the levels behind add. Chosen
    /// by bits on training photos, like these.
    const ACTIVITY: u32 = 1000;
    const GRADIENT: u32 = 700;
    const WITH_LEVELS: u32 = 2;
    let model = &basis.model;
    let at = place.min(model.base.len() - 1);
    let surroundings = [
        (model.activity[at], ACTIVITY),
        (model.gradient[at], GRADIENT),
    ];
    let predicted = WITH_LEVELS * expected_alone(model.base[at], surroundings);
    significance_cell(magnitude_class(predicted), place, shape.size_group() as u32)
}

/// Contexts of node `node` of the tree that codes the class of the last position.
#[inline(always)]
pub(crate) fn last_position(patch: &PatchContext<'_>, node: u32) -> Contexts {
    Contexts::new(
        [
            node | patch.shape << 6 | (patch.activity_class / 2) << 10,
            node | patch.activity_class << 6 | patch.size_group << 10,
            node | patch.basis.id << 6,
        ],
        node,
    )
}

/// Contexts of the decision "this patch has coefficients".
#[inline(always)]
pub(crate) fn coded(patch: &PatchContext<'_>, left: u32, above: u32) -> Contexts {
    Contexts::new(
        [
            patch.shape | left << 4 | above << 6,
            patch.shape | patch.activity_class << 4,
            patch.gradient_class | patch.activity_class << 4 | patch.size_group << 8,
            patch.shape | patch.gradient_class << 4,
        ],
        patch.shape,
    )
}

/// Cell of node `node` of the tree that codes the basis.
#[inline(always)]
pub(crate) fn basis(patch: &PatchContext<'_>, node: u32) -> Contexts {
    Contexts::single(node | patch.shape << 4 | patch.class << 8)
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use tessera_dict::{BasisSet, Dictionary};
    use tessera_patch::Shape;

    #[test]
    fn magnitudes_have_logarithmic_classes() {
        let around =
            (0..32).flat_map(|log| (0..64).map(move |i| (1u32 << log) + ((i << log) >> 6)));
        for value in around.chain([0, u32::MAX]) {
            for value in [value.saturating_sub(1), value] {
                assert_eq!(magnitude_class(value), log_class(value, 12, 6, 18, 31));
            }
        }
    }

    #[test]
    fn classes_in_lanes_are_the_classes() {
        let dictionary = Dictionary::untrained();
        let patch = PatchContext::plain(dictionary.luma(), Shape::new(16, 16).unwrap());
        let mut expected = Expected::default();
        let state = CoefficientState::new(&patch, MAX_ROTATED - 1, &mut expected);
        // Around all powers of two, zero among them, and random ones.
        for (at, to) in state.predicted.iter_mut().enumerate() {
            let (shift, more) = (at as u32 / 4 % 32, at as u32 % 4);
            let random = (at as u32).wrapping_mul(2_654_435_761) >> (at % 31);
            *to = if at < 128 {
                (1 << shift) - 1 + more
            } else {
                random
            };
        }
        for first in (0..MAX_ROTATED).step_by(8) {
            let classes: [u32; 8] = state.magnitude_classes(first);
            let one_by_one = std::array::from_fn(|lane| state.magnitude_class(first + lane));
            assert_eq!(
                classes,
                one_by_one,
                "{:?}",
                &state.predicted[first..first + 8]
            );
        }
    }

    #[test]
    fn levels_move_what_is_expected_of_those_before_them() {
        let shape = Shape::new(16, 16).unwrap();
        let untrained = BasisSet::untrained(PlaneKind::Luma);
        let mut groups = untrained.groups().to_vec();
        let weights = &mut groups[untrained.group_index(shape, 0)][0].model.weights;
        for (i, weight) in weights.to_mut().iter_mut().enumerate() {
            *weight = (i * 7 % 251) as u8;
        }
        let bases = BasisSet::new(PlaneKind::Luma, groups);
        let patch = PatchContext::plain(&bases, shape);
        let mut expected = Expected::default();
        let mut state = CoefficientState::new(&patch, MAX_ROTATED - 1, &mut expected);
        for position in (0..MAX_ROTATED).rev() {
            let mut wanted = *state.predicted;
            for (value, &weight) in wanted.iter_mut().zip(patch.basis.model.row(position)) {
                *value += u32::from(weight) * (5 << 4);
            }
            state.push(&patch, position, 5);
            assert_eq!(
                state.predicted[..position],
                wanted[..position],
                "{position}"
            );
        }
    }
}

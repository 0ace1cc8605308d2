//! Contexts of a patch and of its coefficients (`spec/bitstream.md`, section "Contexts").

use super::mix::{Contexts, PlaneKind};
use tessera_dict::Basis;
use tessera_patch::shape::MAX_ROTATED;

/// Fractional bits of predicted magnitudes.
const MAGNITUDE_BITS: u32 = 12;
/// Magnitudes above this no longer move predictions.
const MAGNITUDE_CLIP: u32 = 12;
/// Largest magnitude coded in unary; the rest is Exp-Golomb.
pub(crate) const UNARY_LIMIT: u32 = 15;

/// Position along the coding order in 16 classes of growing width.
#[inline(always)]
pub(crate) fn position_class(position: usize) -> u32 {
    u32::from(POSITION_CLASSES[position.min(512)])
}

const POSITION_CLASSES: [u8; 513] = {
    const STARTS: [usize; 15] = [1, 2, 3, 4, 6, 9, 14, 21, 31, 45, 65, 101, 161, 256, 512];
    let mut table = [0; 513];
    let (mut position, mut class) = (0, 0);
    while position < table.len() {
        if class < STARTS.len() && STARTS[class] == position {
            class += 1;
        }
        table[position] = class as u8;
        position += 1;
    }
    table
};

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
    /// Index of `basis` within its group.
    pub(crate) choice: u32,
    /// Shape after folding horizontal modes onto vertical ones.
    pub(crate) shape: u32,
    pub(crate) size_group: u32,
    /// Mode class, or for chroma the component and what its sister carries.
    pub(crate) class: u32,
    /// Neighbours' activity, 8 fractional bits, and its class.
    pub(crate) activity: u32,
    pub(crate) activity_class: u32,
    /// Border gradient in steps, 8 fractional bits, and its class.
    pub(crate) gradient: u32,
    pub(crate) gradient_class: u32,
}

/// Class of a residual activity.
pub(crate) fn activity_class(activity: u32) -> u32 {
    log_class(activity, 8, 4, 9, 15)
}

/// Class of a border gradient.
pub(crate) fn gradient_class(gradient: u32) -> u32 {
    log_class(gradient, 8, 4, 7, 15)
}

/// What the coefficients coded so far say about the next one; coefficients run from last to first.
#[derive(Clone, Debug)]
pub(crate) struct CoefficientState {
    predicted: [u32; MAX_ROTATED],
    rotated: usize,
    last: usize,
    /// The latest three magnitudes, newest first.
    recent: [u32; 3],
    /// Decaying mean of magnitudes.
    mean: u32,
    nonzeros: u32,
    sum: u32,
}

impl CoefficientState {
    #[inline(always)]
    pub(crate) fn new(patch: &PatchContext<'_>, last: usize) -> Self {
        let model = &patch.basis.model;
        let rotated = model.base.len().min(last + 1);
        let mut predicted = [0; MAX_ROTATED];
        let gradient = patch.gradient.min(1024);
        for (j, value) in predicted[..rotated].iter_mut().enumerate() {
            // A hostile dictionary under a hostile tile can leave 32 bits: sums are modulo 2^32.
            let surroundings = (u32::from(model.activity[j]) * patch.activity)
                .wrapping_add(u32::from(model.gradient[j]) * gradient);
            *value = u32::from(model.base[j]) + (surroundings >> 8);
        }
        Self {
            predicted,
            rotated,
            last,
            recent: [0; 3],
            mean: 0,
            nonzeros: 0,
            sum: 0,
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
        log_class(self.predicted(position), MAGNITUDE_BITS, 6, 18, 31)
    }

    /// Takes in the magnitude at `position`.
    #[inline(always)]
    pub(crate) fn push(&mut self, patch: &PatchContext<'_>, position: usize, magnitude: u32) {
        if magnitude != 0 {
            if position < patch.basis.model.base.len() {
                let clipped = magnitude.min(MAGNITUDE_CLIP) << 4;
                let row = patch.basis.model.row(position);
                for (value, &weight) in self.predicted.iter_mut().zip(row) {
                    *value += u32::from(weight) * clipped;
                }
            }
            self.nonzeros += 1;
            self.sum = self.sum.saturating_add(magnitude);
        }
        let clipped = magnitude.min(1 << 12) << MAGNITUDE_BITS;
        self.mean = ((u64::from(self.mean) * 205 + u64::from(clipped) * 51) >> 8) as u32;
        self.recent = [magnitude, self.recent[0], self.recent[1]];
    }

    /// The first of the significance contexts, and the class of the expected magnitude.
    #[cfg(feature = "encoder")]
    #[inline(always)]
    pub(crate) fn quick_significance(
        &self,
        patch: &PatchContext<'_>,
        position: usize,
    ) -> (u32, u32) {
        let place = position_class(position);
        let expected = self.magnitude_class(position);
        (
            expected | (place / 4) << 5 | patch.size_group << 7,
            expected,
        )
    }

    /// Contexts of the decision "the coefficient at `position` is not zero".
    #[inline(always)]
    pub(crate) fn significance(&self, patch: &PatchContext<'_>, position: usize) -> Contexts {
        let place = position_class(position);
        let expected = self.magnitude_class(position);
        let to_last = (32 - ((self.last - position) as u32).leading_zeros()).min(7);
        let mean = log_class(self.mean, MAGNITUDE_BITS, 4, 10, 15);
        let [m1, m2, m3] = self.recent;
        let own =
            patch.basis.first_position + (position as u32).min(patch.basis.order.len() as u32 - 1);
        Contexts::new(
            [
                expected | (place / 4) << 5 | patch.size_group << 7,
                own,
                patch.shape | place << 4 | patch.activity_class << 8,
                patch.shape | self.nonzeros.min(7) << 4 | to_last << 7 | (place / 2) << 10,
                m1.min(2) | m2.min(2) << 2 | m3.min(1) << 4 | place << 5,
                expected | patch.activity_class << 5 | (patch.gradient_class / 2) << 9,
                patch.class | patch.choice << 3 | patch.shape << 5 | (expected / 2) << 9,
                mean | place << 4 | patch.size_group << 8,
            ],
            [patch.size_group * 8 + place / 2, expected],
        )
    }

    /// Contexts of the decision "the magnitude at `position` is larger than `level` + 1".
    #[inline(always)]
    pub(crate) fn magnitude(
        &self,
        patch: &PatchContext<'_>,
        position: usize,
        level: u32,
    ) -> Contexts {
        let place = position_class(position);
        let expected = self.magnitude_class(position);
        let level = level.min(14);
        let average = (self.sum << 4)
            .checked_div(self.nonzeros)
            .map_or(0, |mean| log_class(mean, 4, 4, 0, 7));
        let [m1, m2, _] = self.recent;
        let own =
            patch.basis.first_position + (position as u32).min(patch.basis.order.len() as u32 - 1);
        Contexts::new(
            [
                level | expected << 4,
                level.min(3) | own << 2,
                level | patch.activity_class << 4 | place << 8,
                level | m1.max(m2).min(7) << 4 | (place / 2) << 7,
                level | patch.shape << 4 | average << 8 | self.nonzeros.min(3) << 11,
                level | expected << 4 | patch.shape << 9,
                level | patch.gradient_class << 4 | (place / 2) << 8,
                level | m1.min(3) << 4 | m2.min(3) << 6 | (expected / 2) << 8,
            ],
            [
                level.min(3) * 8 + patch.size_group,
                level.min(3) * 32 + expected,
            ],
        )
    }
}

/// Contexts of node `node` of the tree that codes the class of the last position.
#[inline(always)]
pub(crate) fn last_position(patch: &PatchContext<'_>, node: u32) -> Contexts {
    Contexts::new(
        [
            node | patch.shape << 6 | (patch.activity_class / 2) << 10,
            node | patch.activity_class << 6 | patch.size_group << 10,
            node | patch.gradient_class << 6 | patch.shape << 10,
            node | patch.shape << 6 | patch.class << 10 | patch.choice << 13,
            node | patch.basis.id << 6,
        ],
        [node, patch.shape],
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
        [patch.shape, 0],
    )
}

/// Contexts of node `node` of the tree that codes the basis.
#[inline(always)]
pub(crate) fn basis(patch: &PatchContext<'_>, node: u32) -> Contexts {
    Contexts::new(
        [
            node | patch.shape << 4 | patch.class << 8,
            node | patch.shape << 4 | patch.activity_class << 8,
            node | patch.gradient_class << 4 | patch.size_group << 8,
        ],
        [node, 0],
    )
}

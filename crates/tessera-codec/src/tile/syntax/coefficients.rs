//! The coefficients of one patch (`spec/bitstream.md`, "Coefficients").

use super::code_tree;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::syntax::patch_context::{
    self, CoefficientState, Expected, PatchContext, UNARY_LIMIT, magnitude_cell, significance_cell,
};
use tessera_dict::layout::Element;

/// Codes whether the patch carries coefficients.
#[inline(always)]
pub(crate) fn code_coded<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    neighbours: [u32; 2],
    coded: bool,
) -> bool {
    let contexts = patch_context::coded(patch, neighbours[0], neighbours[1]);
    coder.bit(patch.kind, Element::Coded, &contexts, coded)
}

/// Codes which of `count` bases the patch uses.
#[inline(always)]
pub(crate) fn code_basis<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    count: usize,
    choice: u32,
) -> u32 {
    for i in 0..count.saturating_sub(1) as u32 {
        if !coder.bit(
            patch.kind,
            Element::Basis,
            &patch_context::basis(patch, i),
            choice > i,
        ) {
            return i;
        }
    }
    count.saturating_sub(1) as u32
}

/// Class of a last position, number of extra bits, and their value.
#[inline(always)]
pub(crate) fn last_class(last: usize) -> (u32, u32, u32) {
    let v = last as u32 + 1;
    let log = 31 - v.leading_zeros();
    if log < 2 {
        return (v - 1, 0, 0);
    }
    let half = v >> (log - 1) & 1;
    (
        3 + 2 * (log - 2) + half,
        log - 1,
        v & ((1 << (log - 1)) - 1),
    )
}

/// Codes the last coded position, below `limit`.
#[inline(always)]
pub(crate) fn code_last<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    limit: usize,
    last: usize,
) -> usize {
    let (class, _, rest) = last_class(last);
    let class = code_tree(
        5,
        class,
        #[inline(always)]
        |node, bit| {
            coder.bit(
                patch.kind,
                Element::Last,
                &patch_context::last_position(patch, node),
                bit,
            )
        },
    );
    if class < 3 {
        return (class as usize).min(limit - 1);
    }
    let extra = (class - 3) / 2 + 1;
    let mut value = 2 | (class - 3) & 1;
    for i in (0..extra).rev() {
        let bit = rest >> i & 1 == 1;
        let bit = if i + 1 == extra {
            coder.bit(
                patch.kind,
                Element::Last,
                &patch_context::last_position(patch, 32 + class),
                bit,
            )
        } else {
            coder.raw(patch.kind, bit)
        };
        value = value << 1 | u32::from(bit);
    }
    (value as usize - 1).min(limit - 1)
}

/// Codes levels from last to first; the last one is not zero.
#[inline(always)]
pub(crate) fn code_levels<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    expected: &mut Expected,
    levels: &mut [i32],
) {
    let last = levels.len() - 1;
    let mut state = CoefficientState::new(patch, last, expected);
    for position in (0..=last).rev() {
        let (level, expected) = (levels[position], state.magnitude_class(position));
        let significant = position == last || {
            let cell = significance_cell(expected, position, patch.size_group);
            let contexts = Contexts::single(cell);
            coder.bit(patch.kind, Element::Significance, &contexts, level != 0)
        };
        let mut magnitude = 0;
        if significant {
            magnitude = code_magnitude(coder, patch.kind, expected, level.unsigned_abs());
            let negative = coder.raw(patch.kind, level < 0);
            let value = magnitude as i32;
            levels[position] = if negative { -value } else { value };
        } else {
            levels[position] = 0;
        }
        state.push(patch, position, magnitude);
    }
}

/// Largest magnitude a level can have.
const MAX_MAGNITUDE: u32 = 1 << 20;

#[inline(always)]
fn code_magnitude<C: BinaryCoder>(
    coder: &mut C,
    kind: PlaneKind,
    expected: u32,
    magnitude: u32,
) -> u32 {
    for level in 0..UNARY_LIMIT {
        let contexts = Contexts::single(magnitude_cell(expected, level));
        if !coder.bit(kind, Element::Magnitude, &contexts, magnitude > level + 1) {
            return level + 1;
        }
    }
    UNARY_LIMIT + code_exp_golomb(coder, kind, magnitude.saturating_sub(UNARY_LIMIT))
}

/// Codes a positive number: its bit length in unary, then its lower bits.
#[inline(always)]
pub(super) fn code_exp_golomb<C: BinaryCoder>(coder: &mut C, kind: PlaneKind, value: u32) -> u32 {
    let wanted = 32 - value.max(1).leading_zeros();
    let mut length = 1;
    while length < 20 && coder.raw(kind, length < wanted) {
        length += 1;
    }
    let mut result = 1;
    for i in (0..length - 1).rev() {
        result = result << 1 | u32::from(coder.raw(kind, value >> i & 1 == 1));
    }
    result.min(MAX_MAGNITUDE)
}

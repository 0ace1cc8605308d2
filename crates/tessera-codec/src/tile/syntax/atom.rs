//! One free atom in place of basis and levels (`spec/bitstream.md`, "Atom").

use super::code_tree;
use super::coefficients::code_exp_golomb;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::Contexts;
use crate::tile::syntax::patch_context::{PatchContext, UNARY_LIMIT};
use tessera_dict::atoms::AtomSet;
use tessera_dict::layout::Element;

/// The atom a patch consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtomUse {
    /// Its index in the set of the patch's shape.
    pub(crate) index: u16,
    /// Its amplitude in steps, never zero.
    pub(crate) level: i32,
}

/// Contexts of the decision "the patch is one atom".
#[inline(always)]
pub(crate) fn atom_flag(patch: &PatchContext<'_>) -> Contexts {
    let PatchContext {
        shape,
        class,
        activity_class,
        gradient_class,
        ..
    } = *patch;
    Contexts::new(
        [
            shape | class << 3,
            shape | activity_class << 3,
            gradient_class | activity_class << 4,
        ],
        shape,
    )
}

/// Cell of the decision "the magnitude is larger than `below` + 1".
#[inline(always)]
pub(crate) fn atom_magnitude_cell(patch: &PatchContext<'_>, below: u32) -> u32 {
    below | patch.activity_class << 4 | patch.size_group << 8
}

/// Codes whether a coded patch is one of the atoms of its shape, and which.
#[inline(always)]
pub(crate) fn code_atom<C: BinaryCoder>(
    coder: &mut C,
    patch: &PatchContext<'_>,
    set: AtomSet<'_>,
    atom: Option<AtomUse>,
) -> Option<AtomUse> {
    if !coder.bit(patch.kind, Element::Atom, &atom_flag(patch), atom.is_some()) {
        return None;
    }
    let wanted = atom.unwrap_or(AtomUse { index: 0, level: 1 });
    let index = code_tree(
        set.index_bits(),
        u32::from(wanted.index),
        #[inline(always)]
        |node, bit| {
            let contexts = Contexts::single(set.cell(patch.class, node));
            coder.bit(patch.kind, Element::AtomIndex, &contexts, bit)
        },
    );
    let magnitude = code_magnitude(coder, patch, wanted.level.unsigned_abs()) as i32;
    let negative = coder.raw(patch.kind, wanted.level < 0);
    Some(AtomUse {
        index: index as u16,
        level: if negative { -magnitude } else { magnitude },
    })
}

#[inline(always)]
fn code_magnitude<C: BinaryCoder>(coder: &mut C, patch: &PatchContext<'_>, magnitude: u32) -> u32 {
    for below in 0..UNARY_LIMIT {
        let contexts = Contexts::single(atom_magnitude_cell(patch, below));
        let larger = magnitude > below + 1;
        if !coder.bit(patch.kind, Element::AtomMagnitude, &contexts, larger) {
            return below + 1;
        }
    }
    UNARY_LIMIT + code_exp_golomb(coder, patch.kind, magnitude.saturating_sub(UNARY_LIMIT))
}

//! The bitstream below the tile header, written once for readers and writers (`spec/bitstream.md`, "Syntax").

mod atom;
mod coefficients;
mod leaf;
mod mode;
mod partition;
pub(crate) mod patch_context;

pub(crate) use atom::{AtomUse, code_atom};
#[cfg(feature = "encoder")]
pub(crate) use atom::{atom_flag, atom_magnitude_cell};
#[cfg(feature = "encoder")]
pub(crate) use coefficients::last_class;
pub(crate) use coefficients::{code_basis, code_coded, code_last, code_levels};
pub(crate) use leaf::{Coefficients, Leaf};
pub(crate) use mode::{
    CHROMA_MODES, FROM_LUMA, FROM_LUMA_TAPS, ModeContexts, chroma_base_mode, code_chroma_mode,
    code_luma_mode,
};
#[cfg(feature = "encoder")]
pub(crate) use partition::split_costs;
pub(crate) use partition::{Block, Split, code_split};

/// Codes `bits` bits of `value`, highest first, each with the node reached so far as context.
#[inline(always)]
fn code_tree(bits: u32, value: u32, mut bit: impl FnMut(u32, bool) -> bool) -> u32 {
    let mut node = 1;
    for i in (0..bits).rev() {
        node = node << 1 | u32::from(bit(node, value >> i & 1 == 1));
    }
    node - (1 << bits)
}

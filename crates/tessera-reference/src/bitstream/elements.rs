//! `bitstream.md`, "Elements".

use crate::notation::bits;

/// Which decision it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Element {
    Significance,
    Magnitude,
    Last,
    Coded,
    Mode,
    ModeTree,
    Partition,
    Basis,
    ChromaMode,
    Filter,
    QuantiserOffset,
    Atom,
    AtomIndex,
    AtomMagnitude,
    Reference,
    Candidate,
    Shift,
    Correction,
    ChromaReference,
}

use Element::*;

/// Whether only dictionaries with references have tables for it.
pub(crate) fn is_of_references(element: Element) -> bool {
    element >= Reference
}

/// Whether only dictionaries with free atoms have tables for it.
pub(crate) fn is_of_atoms(element: Element) -> bool {
    (Atom..=AtomMagnitude).contains(&element)
}

/// The cells of an element's input tables and the number of its weight vectors.
pub(crate) type Sizes = Vec<(Element, Vec<usize>, usize)>;

/// The elements of a kind, for a number of bases and, where there are any, of free atoms.
pub(crate) fn sizes(kind: usize, bases: usize, atoms: Option<usize>, references: bool) -> Sizes {
    let there = |element: Element| {
        element.is_of_kind(kind)
            && (references || !is_of_references(element))
            && (atoms.is_some() || !is_of_atoms(element))
    };
    let all = table(bases, atoms.unwrap_or(0)).into_iter();
    all.filter(|&(element, _, _)| there(element)).collect()
}

/// All elements in order, with the number of their input tables.
pub(crate) fn all() -> Vec<(Element, usize)> {
    table(0, 0)
        .into_iter()
        .map(|(element, tables, _)| (element, tables.len()))
        .collect()
}

fn table(bases: usize, atoms: usize) -> [(Element, Vec<usize>, usize); 19] {
    [
        (Significance, vec![1024], 0),
        (Magnitude, vec![512], 0),
        (Last, vec![8192, 8192, 64 * bases], 64),
        (Coded, vec![256, 256, 2048, 256], 16),
        (Mode, vec![4096, 32768, 8192], 8),
        (ModeTree, vec![64, 1024, 16384], 64),
        (Partition, vec![1024, 512, 20736, 2048], 32),
        (Basis, vec![2048], 0),
        (ChromaMode, vec![512, 512, 512], 8),
        (Filter, vec![9, 1], 1),
        (QuantiserOffset, vec![64, 16], 1),
        (Atom, vec![64, 128, 256], 8),
        (AtomIndex, vec![6 * atoms], 0),
        (AtomMagnitude, vec![1280], 0),
        (Reference, vec![256, 256, 256, 1024], 16),
        (Candidate, vec![64, 128, 512], 8),
        (Shift, vec![64, 512], 64),
        (Correction, vec![32, 32, 32], 2),
        (ChromaReference, vec![16, 8, 4], 1),
    ]
}

impl Element {
    fn is_of_kind(self, kind: usize) -> bool {
        match self {
            ChromaMode | ChromaReference => kind == 1,
            Mode | ModeTree | QuantiserOffset | Atom | AtomIndex | AtomMagnitude | Reference
            | Candidate | Shift => kind == 0,
            _ => true,
        }
    }
}

/// "Classes": the logarithm of `v`, which has `f` fractional bits, in steps.
pub(crate) fn log_class(v: i64, f: i64, s: i64, o: i64, max: i64) -> usize {
    if v == 0 {
        return 0;
    }
    let e = i64::from(bits(v as u64)) - 1;
    let g = ((256 * e) | (((256 * v) >> e) & 255)) - 256 * f;
    (((g * s / 2 + 256 * o).max(0) >> 8) + 1).min(max) as usize
}

//! Which probability cells and mixing weights a dictionary carries.
//!
//! Every binary decision of the bitstream belongs to an [`Element`]. Significance and magnitudes of coefficients, which are
//! nearly all decisions, and the choice of a basis follow one adaptive cell each. The other elements mix the predictions of
//! up to [`MAX_INPUTS`] adaptive cells, one from each of their input tables, with a weight vector. This module only says how large those tables are; which context picks which
//! cell is the codec's business (`spec/bitstream.md`, section "Contexts").

use crate::atoms::CLASSES;
use crate::basis::PlaneKind;

/// Largest number of inputs an element mixes.
pub const MAX_INPUTS: usize = 4;

/// A kind of binary decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub enum Element {
    /// Is this coefficient non-zero?
    Significance,
    /// Is this magnitude larger than k?
    Magnitude,
    /// Where the last coefficient lies.
    Last,
    /// Does this patch carry coefficients at all?
    Coded,
    /// Is this candidate the prediction mode?
    Mode,
    /// The mode, when no candidate is.
    ModeTree,
    /// How a block is split.
    Partition,
    /// Which basis of the union codes this patch.
    Basis,
    /// Is this candidate the chroma prediction mode?
    ChromaMode,
    /// Is this superblock filtered?
    Filter,
    /// How the quantiser of a block differs from what its neighbours predict.
    QuantiserOffset,
    /// Is this patch one free atom?
    Atom,
    /// Which one.
    AtomIndex,
    /// Is its magnitude larger than k?
    AtomMagnitude,
    /// Is this patch predicted from a reference picture?
    Reference,
    /// Is this candidate the shift into the reference?
    Candidate,
    /// The shift, when no candidate is.
    Shift,
    /// How what the reference gives is corrected.
    Correction,
    /// Does chroma follow luma into the reference?
    ChromaReference,
}

/// All elements in the order their tables are stored; see [`REFERENCE_ELEMENTS`].
pub const ELEMENTS: [Element; 19] = [
    Element::Significance,
    Element::Magnitude,
    Element::Last,
    Element::Coded,
    Element::Mode,
    Element::ModeTree,
    Element::Partition,
    Element::Basis,
    Element::ChromaMode,
    Element::Filter,
    Element::QuantiserOffset,
    Element::Atom,
    Element::AtomIndex,
    Element::AtomMagnitude,
    Element::Reference,
    Element::Candidate,
    Element::Shift,
    Element::Correction,
    Element::ChromaReference,
];

/// The last so many elements matter with reference pictures only; files without references leave their
/// tables out.
pub const REFERENCE_ELEMENTS: usize = 5;

/// Table sizes of one element.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementLayout {
    /// Number of cells of every input table; its length is the number of inputs.
    pub inputs: Vec<usize>,
    /// Number of weight vectors.
    pub vectors: usize,
}

/// What the table sizes depend on: a plane kind and its bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasisTotals {
    /// The plane kind.
    pub kind: PlaneKind,
    /// Number of bases.
    pub bases: usize,
    /// Number of free atoms.
    pub atoms: usize,
}

impl Element {
    /// How many predictions a decision of this kind mixes; a single one is the probability itself.
    #[inline(always)]
    pub const fn inputs(self) -> usize {
        match self {
            Self::Significance
            | Self::Magnitude
            | Self::Basis
            | Self::AtomIndex
            | Self::AtomMagnitude => 1,
            Self::Coded | Self::Partition | Self::Reference => 4,
            Self::Last
            | Self::Mode
            | Self::ModeTree
            | Self::ChromaMode
            | Self::Atom
            | Self::Candidate
            | Self::Correction
            | Self::ChromaReference => 3,
            Self::Filter | Self::QuantiserOffset | Self::Shift => 2,
        }
    }

    /// Whether it takes part only where there are free atoms.
    pub const fn is_about_atoms(self) -> bool {
        matches!(self, Self::Atom | Self::AtomIndex | Self::AtomMagnitude)
    }

    /// Whether decisions of this kind are made about planes of a kind, with what it has.
    fn concerns(self, totals: BasisTotals) -> bool {
        let kind = totals.kind;
        match self {
            _ if self.is_about_atoms() => totals.atoms > 0,
            Self::Mode
            | Self::ModeTree
            | Self::QuantiserOffset
            | Self::Reference
            | Self::Candidate
            | Self::Shift => kind == PlaneKind::Luma,
            Self::ChromaMode | Self::ChromaReference => kind == PlaneKind::Chroma,
            _ => true,
        }
    }

    /// The table sizes of this element for a plane kind whose bases have these totals.
    pub fn layout(self, totals: BasisTotals) -> ElementLayout {
        let BasisTotals { bases, atoms, .. } = totals;
        let (inputs, vectors): (Vec<usize>, _) = match self {
            Self::Significance => (vec![1024], 0),
            Self::Magnitude => (vec![512], 0),
            Self::Last => (vec![64 * 128, 64 * 128, 64 * bases], 64),
            Self::Coded => (vec![256, 256, 2048, 256], 16),
            Self::Mode => (vec![4096, 32768, 8192], 8),
            Self::ModeTree => (vec![64, 1024, 16384], 64),
            Self::Partition => (vec![1024, 512, 4 * 4 * 1296, 2048], 32),
            Self::Basis => (vec![2048], 0),
            Self::ChromaMode => (vec![512, 512, 512], 8),
            Self::Filter => (vec![9, 1], 1),
            Self::QuantiserOffset => (vec![64, 16], 1),
            Self::Atom => (vec![64, 128, 256], 8),
            Self::AtomIndex => (vec![CLASSES * atoms], 0),
            Self::AtomMagnitude => (vec![5 * 256], 0),
            Self::Reference => (vec![256, 256, 256, 1024], 16),
            Self::Candidate => (vec![64, 128, 512], 8),
            Self::Shift => (vec![64, 512], 64),
            Self::Correction => (vec![32, 32, 32], 2),
            Self::ChromaReference => (vec![16, 8, 4], 1),
        };
        debug_assert_eq!(inputs.len(), self.inputs());
        if !self.concerns(totals) {
            return ElementLayout {
                inputs: vec![0; inputs.len()],
                vectors: 0,
            };
        }
        ElementLayout { inputs, vectors }
    }
}

/// Where the cells of an element begin among those of all elements.
pub fn first_cell(element: Element, bases: BasisTotals) -> usize {
    totals_of(&ELEMENTS[..element as usize], bases).0
}

/// Total numbers of cells and of weight vectors over all elements.
pub fn totals(bases: BasisTotals) -> (usize, usize) {
    totals_of(&ELEMENTS, bases)
}

/// The same without the elements that only reference pictures need.
pub fn totals_without_references(bases: BasisTotals) -> (usize, usize) {
    totals_of(&ELEMENTS[..ELEMENTS.len() - REFERENCE_ELEMENTS], bases)
}

fn totals_of(elements: &[Element], bases: BasisTotals) -> (usize, usize) {
    elements.iter().fold((0, 0), |(cells, weights), element| {
        let layout = element.layout(bases);
        (
            cells + layout.inputs.iter().sum::<usize>(),
            weights + layout.vectors,
        )
    })
}

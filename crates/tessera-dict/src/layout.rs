//! Which probability cells and mixing weights a dictionary carries.
//!
//! Every binary decision of the bitstream belongs to an [`Element`]. Significance and magnitudes of coefficients, which are
//! nearly all decisions, follow one adaptive cell each. The other elements mix the predictions of
//! up to [`MAX_INPUTS`] adaptive cells, one from each of their input tables, with two weight vectors chosen by
//! two small selectors. This module only says how large those tables are; which context picks which
//! cell is the codec's business (`spec/bitstream.md`, section "Contexts").

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
pub const ELEMENTS: [Element; 16] = [
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
    /// Number of weight vectors each of the two selectors chooses from.
    pub selectors: [usize; 2],
}

/// What the table sizes depend on: the bases of one plane kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BasisTotals {
    /// Number of bases.
    pub bases: usize,
}

impl Element {
    /// How many predictions a decision of this kind mixes; a single one is the probability itself.
    #[inline(always)]
    pub const fn inputs(self) -> usize {
        match self {
            Self::Significance | Self::Magnitude => 1,
            Self::Coded | Self::Partition | Self::Reference => 4,
            Self::Last
            | Self::Mode
            | Self::ModeTree
            | Self::Basis
            | Self::ChromaMode
            | Self::Candidate
            | Self::Correction
            | Self::ChromaReference => 3,
            Self::Filter | Self::QuantiserOffset | Self::Shift => 2,
        }
    }

    /// The table sizes of this element for a plane kind whose bases have these totals.
    pub fn layout(self, totals: BasisTotals) -> ElementLayout {
        let BasisTotals { bases } = totals;
        let (inputs, selectors): (Vec<usize>, _) = match self {
            Self::Significance => (vec![1024], [0, 0]),
            Self::Magnitude => (vec![512], [0, 0]),
            Self::Last => (vec![64 * 128, 64 * 128, 64 * bases], [64, 16]),
            Self::Coded => (vec![256, 256, 2048, 256], [16, 1]),
            Self::Mode => (vec![4096, 32768, 8192], [8, 1]),
            Self::ModeTree => (vec![64, 1024, 16384], [64, 1]),
            Self::Partition => (vec![1024, 512, 4 * 4 * 1296, 2048], [32, 16]),
            Self::Basis => (vec![2048, 4096, 2048], [16, 1]),
            Self::ChromaMode => (vec![512, 512, 512], [8, 1]),
            Self::Filter => (vec![9, 1], [1, 1]),
            Self::QuantiserOffset => (vec![64, 16], [1, 1]),
            Self::Reference => (vec![256, 256, 256, 1024], [16, 16]),
            Self::Candidate => (vec![64, 128, 512], [8, 1]),
            Self::Shift => (vec![64, 512], [64, 1]),
            Self::Correction => (vec![32, 32, 32], [2, 1]),
            Self::ChromaReference => (vec![16, 8, 4], [1, 1]),
        };
        debug_assert_eq!(inputs.len(), self.inputs());
        ElementLayout { inputs, selectors }
    }
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
            weights + layout.selectors.iter().sum::<usize>(),
        )
    })
}

//! Prediction from the reference pictures of a dictionary (`spec/bitstream.md`, section "References").
//!
//! A leaf may take its prediction from a reference, at a shift, as video takes it from an earlier frame. The mean
//! picture of an aligned collection and the exemplar of a templated one are both used this way.

mod predict;
mod syntax;

use crate::prepared::{PreparedDictionary, ReferencePlanes};
use crate::tile::TileConfig;
use crate::tile::canvas::CellInfo;
use tessera_patch::Plane;

#[cfg(feature = "encoder")]
pub(crate) use predict::copy_row;
pub(crate) use syntax::ReferenceContexts;

/// Chroma mode index that cells of chroma leaves from a reference show to their neighbours.
pub(crate) const CHROMA_FROM_REFERENCE: usize = crate::tile::syntax::CHROMA_MODES;

/// Which reference, and where its samples lie relative to those of the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Shift {
    pub(crate) reference: u8,
    pub(crate) dx: i16,
    pub(crate) dy: i16,
}

impl Shift {
    /// No shift, into a reference.
    pub(crate) fn zero(reference: u8) -> Self {
        Self {
            reference,
            ..Self::default()
        }
    }
}

/// What is done to the samples of a reference before they are a prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Correction {
    /// They are taken as they are.
    Plain,
    /// What the border differs from the reference's own is carried into the patch smoothly.
    Smooth,
    /// The same, after the reference's contrast is fitted to the border's.
    Scaled,
}

impl Correction {
    #[cfg(feature = "encoder")]
    pub(crate) const ALL: [Self; 3] = [Self::Plain, Self::Smooth, Self::Scaled];
}

/// How a leaf is predicted from a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReferenceUse {
    pub(crate) shift: Shift,
    pub(crate) correction: Correction,
}

/// Number of shifts that are remembered from one superblock to the next.
const RECENT: usize = 4;

/// The references of one payload and what was used of them lately.
#[derive(Debug)]
pub(crate) struct References<'a> {
    /// The planes of every reference: luma, then chroma if it has colour.
    pictures: Vec<&'a [Plane]>,
    /// Place of the tile in its picture.
    origin: (isize, isize),
    /// Shifts of earlier superblocks, latest first.
    recent: Vec<Shift>,
    /// Shifts of the present superblock in coding order.
    present: Vec<Shift>,
}

impl<'a> References<'a> {
    /// The references a payload may use; `None` if the dictionary has none for its planes.
    pub(crate) fn new(config: &TileConfig, dictionary: &'a PreparedDictionary) -> Option<Self> {
        let planes = |planes: &'a ReferencePlanes| match config.alpha {
            false => Some(planes.colour.as_slice()),
            true => planes.alpha.as_ref().map(std::slice::from_ref),
        };
        let pictures: Vec<&[Plane]> = dictionary.references().iter().filter_map(planes).collect();
        let recent = (0..pictures.len().min(RECENT) as u8)
            .map(Shift::zero)
            .collect();
        (!pictures.is_empty()).then_some(Self {
            pictures,
            origin: (config.origin.0 as isize, config.origin.1 as isize),
            recent,
            present: Vec::new(),
        })
    }

    /// Number of references.
    pub(crate) fn len(&self) -> usize {
        self.pictures.len()
    }

    /// A plane of a reference: 0 luma, 1 and 2 chroma if there is any.
    pub(crate) fn plane(&self, reference: u8, plane: usize) -> Option<&'a Plane> {
        self.pictures[usize::from(reference)].get(plane)
    }

    /// Where sample (x, y) of the tile lies in a reference; may be outside of it.
    pub(crate) fn place(&self, shift: Shift, x: isize, y: isize) -> (isize, isize) {
        let (left, top) = self.origin;
        (
            left + x + isize::from(shift.dx),
            top + y + isize::from(shift.dy),
        )
    }

    /// Takes note of a coded luma leaf.
    pub(crate) fn used(&mut self, shift: Shift) {
        self.present.push(shift);
    }

    /// Moves the shifts of a finished superblock to the front of the recent ones, the last one first.
    pub(crate) fn finish_superblock(&mut self) {
        for shift in std::mem::take(&mut self.present) {
            self.recent.retain(|&other| other != shift);
            self.recent.insert(0, shift);
        }
        self.recent.truncate(RECENT);
    }
}

/// Whether a neighbour is predicted from a reference: 0 no, 1 yes, 2 there is no neighbour.
fn uses_reference(cell: Option<&CellInfo>) -> u32 {
    cell.map_or(2, |cell| u32::from(cell.reference.is_some()))
}

/// The correction of a neighbour, 3 if there is none.
fn correction_of(cell: Option<&CellInfo>) -> u32 {
    let used = cell.and_then(|cell| cell.reference);
    used.map_or(3, |used| used.correction as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_shift_of_a_superblock_comes_first() {
        let shift = |dx| Shift {
            dx,
            ..Shift::default()
        };
        let mut references = References {
            pictures: Vec::new(),
            origin: (0, 0),
            recent: vec![shift(0), shift(1)],
            present: Vec::new(),
        };
        [2, 0, 3, 2, 4]
            .into_iter()
            .for_each(|dx| references.used(shift(dx)));
        assert_eq!(references.recent, [shift(0), shift(1)]);
        references.finish_superblock();
        assert_eq!(references.recent, [4, 2, 3, 0].map(shift));
    }
}

//! What is coded for one leaf of the partition.

#[cfg(feature = "encoder")]
use crate::tile::canvas::CellInfo;
use crate::tile::reference::ReferenceUse;
use crate::tile::syntax::AtomUse;
#[cfg(feature = "encoder")]
use tessera_patch::Shape;

/// The coefficients of one patch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coefficients {
    /// Index of the basis in its group.
    pub(crate) choice: u32,
    /// Levels in coding order up to the last non-zero one; empty if the patch carries none.
    pub(crate) levels: Vec<i32>,
    /// The free atom that takes the place of levels.
    pub(crate) atom: Option<AtomUse>,
}

impl Coefficients {
    pub(crate) fn clear(&mut self) {
        self.choice = 0;
        self.atom = None;
        self.levels.clear();
    }

    pub(crate) fn coded(&self) -> bool {
        self.atom.is_some() || !self.levels.is_empty()
    }

    /// The levels, or the amplitude of the atom.
    pub(crate) fn amplitudes(&self) -> &[i32] {
        match &self.atom {
            Some(atom) => std::slice::from_ref(&atom.level),
            None => &self.levels,
        }
    }
}

/// Everything coded for a leaf of the partition.
#[derive(Clone, Debug, Default)]
pub(crate) struct Leaf {
    /// Luma mode, or index of the chroma mode.
    pub(crate) mode: usize,
    /// The reference it is predicted from; the mode is planar then, or [`CHROMA_FROM_REFERENCE`].
    pub(crate) reference: Option<ReferenceUse>,
    /// One entry for luma, two for chroma.
    pub(crate) patches: [Coefficients; 2],
}

#[cfg(feature = "encoder")]
impl Leaf {
    /// What it leaves in its cells.
    pub(crate) fn cell_info(&self, shape: Shape) -> CellInfo {
        let mut info = CellInfo::of(shape, self.mode, self.reference);
        for (component, patch) in self.patches.iter().enumerate() {
            if patch.coded() {
                info.carry(component, patch.amplitudes(), shape);
            }
        }
        info
    }
}

//! What a learned dictionary must look like.

use crate::Error;

/// Structure of the dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Structure {
    /// Any unit atoms: the paper's problem.
    Free,
    /// One orthonormal basis; the number of atoms is the samples' dimension.
    Orthonormal,
    /// Several orthonormal bases, of which every sample uses one; the number of atoms is
    /// `blocks` times the samples' dimension.
    UnionOfOrthonormal {
        /// Number of bases.
        blocks: usize,
    },
}

impl Structure {
    pub(crate) fn check(self) -> Result<(), Error> {
        match self {
            Self::UnionOfOrthonormal { blocks: 0 } => {
                Err(Error::parameter("structure", "needs at least one block"))
            }
            _ => Ok(()),
        }
    }

    /// Number of orthonormal blocks, if that is the structure.
    pub(crate) fn blocks(self) -> Option<usize> {
        match self {
            Self::Free => None,
            Self::Orthonormal => Some(1),
            Self::UnionOfOrthonormal { blocks } => Some(blocks),
        }
    }
}

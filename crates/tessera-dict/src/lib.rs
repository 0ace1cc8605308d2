//! The shared dictionary of the Tessera codec: atoms, predictors, priors, file format and store.

pub mod basis;
mod identity;
pub mod layout;
pub mod prior;

pub use basis::{Basis, BasisSet};
pub use identity::{DictId, Error};
pub use prior::Prior;

/// Everything sender and receiver must both hold to understand a picture.
#[derive(Clone, Debug)]
pub struct Dictionary {
    /// Bases of luma (and gray, and alpha) planes.
    pub luma: BasisSet,
    /// Bases of chroma planes.
    pub chroma: BasisSet,
    /// Starting probabilities of luma planes.
    pub luma_prior: Prior,
    /// Starting probabilities of chroma planes.
    pub chroma_prior: Prior,
    identity: DictId,
}

impl Dictionary {
    /// Cosine bases and flat priors: what training starts from.
    pub fn untrained() -> Self {
        let (luma, chroma) = (BasisSet::untrained(), BasisSet::untrained());
        let (luma_prior, chroma_prior) = (
            Prior::untrained(luma.totals()),
            Prior::untrained(chroma.totals()),
        );
        Self {
            luma,
            chroma,
            luma_prior,
            chroma_prior,
            identity: DictId::Builtin(0),
        }
    }
}

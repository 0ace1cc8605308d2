//! The shared dictionary of the Tessera codec: atoms, predictors, priors, file format and store.

pub mod basis;
mod error;
pub mod filter;
pub mod format;
mod identity;
pub mod layout;
pub mod net;
mod pack;
pub mod patch_net;
pub mod prior;
pub mod reference;

pub use basis::{Basis, BasisSet, PlaneKind};
pub use error::Error;
pub use filter::FilterSet;
pub use identity::DictId;
pub use net::Net;
pub use patch_net::{PatchNet, PatchNets};
pub use prior::Prior;
pub use reference::Reference;

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
    /// Filters of luma planes.
    pub luma_filter: FilterSet,
    /// Filters of chroma planes.
    pub chroma_filter: FilterSet,
    /// Networks that restore luma and chroma behind the filters.
    pub nets: net::Nets,
    /// Networks that predict luma patches.
    pub patch_nets: Option<PatchNets>,
    /// Reconstruction points of luma and chroma: how far below its level a coefficient of magnitude 1, 2,
    /// and 3 or more is expected to lie, in 1/256 step.
    pub shrinkage: [[u8; 3]; 2],
    /// Pictures that patches may be predicted from; their sizes keep to the limits of [`mod@reference`].
    pub references: Vec<Reference>,
    /// Where the dictionary comes from: training set, seed, trace, licences. Human-readable.
    pub provenance: String,
    identity: DictId,
}

impl Dictionary {
    /// Cosine bases and flat priors: what training starts from.
    pub fn untrained() -> Self {
        let (luma, chroma) = (
            BasisSet::untrained(PlaneKind::Luma),
            BasisSet::untrained(PlaneKind::Chroma),
        );
        let (luma_prior, chroma_prior) = (
            Prior::untrained(luma.totals()),
            Prior::untrained(chroma.totals()),
        );
        Self {
            luma,
            chroma,
            luma_prior,
            chroma_prior,
            luma_filter: FilterSet::neutral(),
            chroma_filter: FilterSet::neutral(),
            nets: [None, None],
            patch_nets: None,
            shrinkage: [[8, 5, 5]; 2],
            references: Vec::new(),
            provenance: String::new(),
            identity: DictId::Builtin(0),
        }
    }

    /// Reads a dictionary file and validates all of it.
    ///
    /// # Errors
    /// If the bytes are no dictionary of this version, or contradict themselves.
    pub fn from_bytes(data: &[u8]) -> Result<Self, Error> {
        format::read(data, DictId::of(data))
    }

    /// The dictionary as a file.
    pub fn to_bytes(&self) -> Vec<u8> {
        format::write(self)
    }
}

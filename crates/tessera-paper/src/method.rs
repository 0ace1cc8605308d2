//! The methods that are compared, and their names.

use serde::{Serialize, Serializer};

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Online dictionary learning with an l1 penalty; the error is that of its own l1 code.
    Online,
    /// K-SVD, the same number of atoms for every sample.
    Ksvd,
    /// Overcomplete Haar wavelets and OMP.
    Wavelet,
    /// Gaussian random atoms and OMP.
    Random,
    /// K-SVD whose OMP stops at an error instead of a count.
    Esvd,
    /// The K-SVD dictionary re-coded with Block OMP: the batchwise budget without its dictionary.
    KsvdRecoded,
    /// The start of BatchSVD alone (Algorithm 5).
    Start,
    /// BatchSVD with the paper's steps only (Algorithms 1 to 5).
    RowSwitching,
    /// BatchSVD with our exchange step.
    Batch,
    /// Our best pipeline.
    Best,
}

impl Method {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Ksvd => "ksvd",
            Self::Wavelet => "wavelet",
            Self::Random => "random",
            Self::Esvd => "esvd",
            Self::KsvdRecoded => "ksvd-recoded",
            Self::Start => "start",
            Self::RowSwitching => "row-switching",
            Self::Batch => "batch",
            Self::Best => "best",
        }
    }

    /// The head of the method's column.
    pub fn label(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Ksvd => "KSVD",
            Self::Wavelet => "Wvlet",
            Self::Random => "Rnd",
            Self::Esvd => "ESVD",
            Self::KsvdRecoded => "KSVD recoded",
            Self::Start => "Alg 5 start",
            Self::RowSwitching => "Alg 1-5",
            Self::Batch => "Batch",
            Self::Best => "Best",
        }
    }
}

impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

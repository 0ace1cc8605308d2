//! The methods BatchSVD is compared with, so that every comparison runs in one program.
//!
//! - [`Ksvd`]: K-SVD with the approximate or the exact atom update, stopping its pursuit at a
//!   number of atoms (K-SVD) or at an error (error-based K-SVD, "ESVD").
//! - [`online`]: online dictionary learning with an l1 penalty (Mairal et al.).
//! - [`overcomplete_haar`] and [`gaussian`]: fixed dictionaries, to be used with OMP.

mod fixed;
mod ksvd;

pub use fixed::{gaussian, overcomplete_haar};
pub use ksvd::{AtomUpdate, Ksvd, KsvdParams};

use crate::online::{OnlineParams, Penalty};
use crate::{Dictionary, Error, SampleMatrix, SparseCode, lasso};

/// Online dictionary learning, and the l1 code of the samples over what was learned.
///
/// Both use the same `lambda`. The errors of this code include the shrinkage of its
/// amplitudes, as in the published comparisons.
///
/// # Errors
/// [`Error::Parameter`] for a size or a penalty of zero, [`Error::AllZero`] for samples without
/// a direction.
pub fn online(
    samples: &SampleMatrix,
    atoms: usize,
    lambda: f64,
    seed: u64,
) -> Result<(Dictionary, SparseCode), Error> {
    let params = OnlineParams {
        seed,
        ..OnlineParams::new(atoms, Penalty::Lambda(lambda))
    };
    let dictionary = params.check()?.fit(samples)?;
    let code = lasso::code(&dictionary, samples, lambda)?;
    Ok((dictionary, code))
}

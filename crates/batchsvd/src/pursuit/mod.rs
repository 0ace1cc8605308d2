//! Sparse coding of samples over a given dictionary.
//!
//! All pursuits share one engine, [`expansion::Expansion`]: the orthogonal expansion of one
//! sample, grown atom by atom. Samples are independent given the dictionary, so every
//! pursuit is parallel over samples and gives the same bits for any number of threads. Even
//! the one budget of a whole batch keeps this: see [`block`].

mod block;
pub(crate) mod expansion;
mod sample;

pub(crate) use block::BlockPursuit;

use crate::code::check_dimension;
use crate::linalg::Columns;
use crate::{Dictionary, Error, SampleMatrix, SparseCode};
use expansion::Expansion;
use rayon::prelude::*;
use std::ops::Range;

/// Samples handled together: enough for an efficient matrix product, few enough that their
/// correlations stay in the cache.
const CHUNK: usize = 256;

/// How a greedy pursuit ranks the atoms it might add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rule {
    /// Orthogonal matching pursuit: largest correlation `|a'r|` with the residual.
    Omp,
    /// Orthogonal least squares: largest decrease of the error after refitting.
    Ols,
}

/// When a pursuit stops.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Budget {
    /// The same number of non-zeros for every sample.
    PerSample(usize),
    /// As many non-zeros as bring `||y - Ax||` of every sample to this value.
    Error(f64),
    /// One number of non-zeros for the whole batch, spent where they help most.
    Batch(usize),
}

/// Codes samples over a dictionary.
///
/// The code holds as many non-zeros as the budget allows; fewer only where a sample is
/// represented exactly, up to rounding, or no independent atom is left.
///
/// # Errors
/// [`Error::Shape`] for atoms of another length than the samples, [`Error::Parameter`] for a
/// budget of zero or a negative error, [`Error::BudgetAboveCapacity`] for a budget that no
/// independent code can spend.
pub fn code(
    dictionary: &Dictionary,
    samples: &SampleMatrix,
    budget: Budget,
    rule: Rule,
) -> Result<SparseCode, Error> {
    check_dimension(dictionary, samples)?;
    let scaled = code_scaled(dictionary.columns(), samples, budget, rule)?;
    Ok(scaled.scaled(samples.scale()))
}

/// [`code`] in the scaled units of the samples, over unit atoms of the samples' dimension.
pub(crate) fn code_scaled(
    atoms: &Columns,
    samples: &SampleMatrix,
    budget: Budget,
    rule: Rule,
) -> Result<SparseCode, Error> {
    check_budget(budget, atoms, samples)?;
    Ok(match budget {
        Budget::PerSample(k) => sample::pursue(atoms, samples, rule, k, 0.0),
        Budget::Error(target) => {
            let target = target / samples.scale();
            sample::pursue(atoms, samples, rule, usize::MAX, target * target)
        }
        Budget::Batch(nonzeros) => BlockPursuit::new(rule, nonzeros).run(atoms, samples),
    })
}

/// Most non-zeros a batch can use with independent atoms in every sample.
pub(crate) fn capacity(dimension: usize, atoms: usize, samples: usize) -> usize {
    samples.saturating_mul(dimension.min(atoms))
}

/// Fails unless `1 <= budget <= capacity`.
pub(crate) fn check_batch_budget(budget: usize, capacity: usize) -> Result<(), Error> {
    if budget == 0 {
        return Err(Error::parameter("budget", "must be at least one"));
    }
    if budget > capacity {
        return Err(Error::BudgetAboveCapacity { budget, capacity });
    }
    Ok(())
}

fn check_budget(budget: Budget, atoms: &Columns, samples: &SampleMatrix) -> Result<(), Error> {
    let (m, n, p) = (samples.dimension(), atoms.count(), samples.count());
    match budget {
        Budget::PerSample(k) => check_batch_budget(k.saturating_mul(p), capacity(m, n, p)),
        Budget::Batch(nonzeros) => check_batch_budget(nonzeros, capacity(m, n, p)),
        Budget::Error(target) if target.is_finite() && target >= 0.0 => Ok(()),
        Budget::Error(target) => {
            let reason = format!("error target {target} is not a finite non-negative number");
            Err(Error::parameter("budget", reason))
        }
    }
}

/// The ranges into which a batch is cut for parallel work. They depend on the batch only.
pub(crate) fn chunks(count: usize) -> Vec<Range<usize>> {
    (0..count)
        .step_by(CHUNK)
        .map(|start| start..(start + CHUNK).min(count))
        .collect()
}

/// Runs `work` on the correlations `A'y` of every chunk of samples, in parallel; results
/// come back in order.
///
/// `work` gets a scratch expansion, the range of samples, and their correlations.
pub(crate) fn for_chunks<T: Send>(
    atoms: &Columns,
    samples: &SampleMatrix,
    work: impl Fn(&mut Expansion, Range<usize>, &[f64]) -> T + Sync,
) -> Vec<T> {
    let (m, n) = (atoms.rows(), atoms.count());
    let scratch = || (Expansion::new(m, n), vec![0.0; n * CHUNK]);
    chunks(samples.count())
        .into_par_iter()
        .map_init(scratch, |(expansion, correlations), range| {
            let part = &mut correlations[..n * range.len()];
            let data = &samples.columns().data()[m * range.start..m * range.end];
            atoms.correlate(data, part);
            work(expansion, range, part)
        })
        .collect()
}

//! Spherical k-means in which opposite directions are the same.

use super::random_samples;
use crate::dictionary::normalise;
use crate::linalg::Columns;
use crate::linalg::kernels::axpy;
use crate::pursuit::for_chunks;
use crate::{Error, SampleMatrix};

/// Centres after `iterations` rounds from random samples.
///
/// Samples weigh in with their energy; a centre that attracts none stays where it is.
pub(crate) fn atoms(
    samples: &SampleMatrix,
    count: usize,
    iterations: usize,
    seed: u64,
) -> Result<Columns, Error> {
    let mut centres = random_samples(samples, count, seed)?;
    for _ in 0..iterations {
        let nearest = assign(&centres, samples);
        let mut sums = Columns::zeros(centres.rows(), count);
        for (sample, (centre, correlation)) in nearest.into_iter().enumerate() {
            axpy(
                correlation,
                samples.columns().col(sample),
                sums.col_mut(centre),
            );
        }
        for j in 0..count {
            if normalise(sums.col_mut(j)).is_some() {
                centres.col_mut(j).copy_from_slice(sums.col(j));
            }
        }
    }
    Ok(centres)
}

/// The best correlated centre of every sample and that correlation.
pub(crate) fn assign(centres: &Columns, samples: &SampleMatrix) -> Vec<(usize, f64)> {
    let parts = for_chunks(centres, samples, |_, _, correlations| {
        let best_of = |row: &[f64]| {
            let mut best = (0, row[0]);
            for (j, &value) in row.iter().enumerate() {
                if value.abs() > best.1.abs() {
                    best = (j, value);
                }
            }
            best
        };
        let rows = correlations.chunks_exact(centres.count());
        rows.map(best_of).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

//! First dictionaries.

mod dct;
pub(crate) mod kmeans;

use crate::dictionary::normalise;
use crate::error::same_size;
use crate::linalg::Columns;
use crate::online::{OnlineParams, Penalty};
use crate::{Dictionary, Error, SampleMatrix};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Where the first dictionary comes from.
#[derive(Clone, Debug, PartialEq)]
pub enum Start {
    /// Random samples, normalised.
    Samples,
    /// Overcomplete separable cosine transform of samples that are grids.
    Dct {
        /// Rows of a grid; values of a column follow one another.
        rows: usize,
        /// Columns of a grid.
        columns: usize,
    },
    /// Centres of a k-means over directions, opposite directions being the same.
    KMeans {
        /// Number of rounds.
        iterations: usize,
    },
    /// Online l1 learning, which ends lowest.
    Online {
        /// Penalty `lambda` of the l1 code; `None` adapts it until the l1 code spends the
        /// batch's budget, whatever the scale of the data.
        lambda: Option<f64>,
        /// Number of mini-batches of 512.
        iterations: usize,
    },
    /// This dictionary.
    Given(Dictionary),
}

impl Start {
    /// The first unit atoms for a batch with the given budget of non-zeros.
    pub(crate) fn atoms(
        &self,
        samples: &SampleMatrix,
        count: usize,
        budget: usize,
        seed: u64,
    ) -> Result<Columns, Error> {
        match self {
            Self::Samples => random_samples(samples, count, seed),
            Self::Dct { rows, columns } => {
                same_size(
                    "rows * columns of the grid",
                    samples.dimension(),
                    rows * columns,
                )?;
                Ok(dct::atoms(*rows, *columns, count))
            }
            Self::KMeans { iterations } => kmeans::atoms(samples, count, *iterations, seed),
            Self::Online { lambda, iterations } => {
                let average = budget as f64 / samples.count() as f64;
                let penalty = lambda.map_or(Penalty::Nonzeros(average), Penalty::Lambda);
                let params = OnlineParams {
                    iterations: *iterations,
                    seed,
                    ..OnlineParams::new(count, penalty)
                };
                params.check()?.fit_scaled(samples)
            }
            Self::Given(dictionary) => {
                same_size(
                    "the length of an atom",
                    samples.dimension(),
                    dictionary.dimension(),
                )?;
                same_size("the number of atoms", count, dictionary.count())?;
                Ok(dictionary.columns().clone())
            }
        }
    }
}

/// Directions of randomly chosen samples, each used once before any is used again.
///
/// Repeated directions get a small random turn, so that no two atoms are the same.
pub(crate) fn random_samples(
    samples: &SampleMatrix,
    count: usize,
    seed: u64,
) -> Result<Columns, Error> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let mut order: Vec<usize> = (0..samples.count())
        .filter(|&j| samples.energy(j) > 0.0)
        .collect();
    if order.is_empty() {
        return Err(Error::AllZero);
    }
    order.shuffle(&mut random);
    let mut atoms = Columns::zeros(samples.dimension(), count);
    for (j, &sample) in (0..count).zip(order.iter().cycle()) {
        let atom = atoms.col_mut(j);
        atom.copy_from_slice(samples.columns().col(sample));
        normalise(atom);
        if j >= order.len() {
            atom.iter_mut()
                .for_each(|v| *v += random.random_range(-0.5..0.5));
            if normalise(atom).is_none() {
                atom[0] = 1.0;
            }
        }
    }
    Ok(atoms)
}

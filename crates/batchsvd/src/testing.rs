//! Small random problems for unit tests.

use crate::linalg::Columns;
use crate::{Budget, Dictionary, Factorization, Rule, SampleMatrix, code};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Values uniform in -1..1.
pub(crate) fn random_mat(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| random.random_range(-1.0..1.0))
}

pub(crate) fn random_samples(dimension: usize, count: usize, seed: u64) -> SampleMatrix {
    SampleMatrix::new(random_mat(dimension, count, seed).as_ref()).unwrap()
}

/// The samples coded over random atoms with one budget.
pub(crate) fn random_factorization(
    samples: &SampleMatrix,
    atoms: usize,
    budget: usize,
    seed: u64,
) -> Factorization<'_> {
    let matrix = random_mat(samples.dimension(), atoms, seed + 1000);
    let dictionary = Dictionary::new(matrix.as_ref()).unwrap();
    let code = code(&dictionary, samples, Budget::Batch(budget), Rule::Omp).unwrap();
    Factorization::new(samples, &dictionary, &code).unwrap()
}

/// Random unit atoms.
pub(crate) fn random_atoms(dimension: usize, count: usize, seed: u64) -> Columns {
    let dictionary = Dictionary::new(random_mat(dimension, count, seed).as_ref()).unwrap();
    dictionary.columns().clone()
}

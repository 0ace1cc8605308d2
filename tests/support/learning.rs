//! Small dictionary-learning problems, and slow plain versions of what the library does.

use batchsvd::{Budget, Dictionary, Factorization, Rule, SampleMatrix, SparseCode, code};
use faer::linalg::solvers::SolveLstsq;
use faer::{Mat, MatRef};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// What makes a batch awkward.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Nothing.
    Random,
    /// Many equal magnitudes: small integers over small-integer atoms.
    Ties,
    /// Every sample twice, and two equal atoms.
    Duplicates,
    /// A third of the samples is zero.
    ZeroSamples,
    /// All samples on one line.
    RankOne,
}

/// All kinds.
pub const KINDS: [Kind; 5] = [
    Kind::Random,
    Kind::Ties,
    Kind::Duplicates,
    Kind::ZeroSamples,
    Kind::RankOne,
];

/// Samples in columns, atoms in columns.
#[derive(Clone, Debug)]
pub struct Problem {
    /// m x p.
    pub samples: Mat<f64>,
    /// m x n.
    pub atoms: Mat<f64>,
}

/// Values uniform in -1..1.
pub fn random_mat(rows: usize, columns: usize, seed: u64) -> Mat<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    Mat::from_fn(rows, columns, |_, _| random.random_range(-1.0..1.0))
}

/// A problem with m values, n atoms and p samples.
pub fn problem(kind: Kind, (m, n, p): (usize, usize, usize), seed: u64) -> Problem {
    let mut samples = random_mat(m, p, seed);
    let mut atoms = random_mat(m, n, seed ^ 0xa70e5);
    match kind {
        Kind::Random => {}
        Kind::Ties => {
            samples = Mat::from_fn(m, p, |i, j| (2.0 * samples[(i, j)]).round());
            let sign = |value: f64| if value < 0.0 { -1.0 } else { 1.0 };
            atoms = Mat::from_fn(m, n, |i, j| sign(atoms[(i, j)]));
        }
        Kind::Duplicates => {
            samples = Mat::from_fn(m, p, |i, j| samples[(i, j / 2)]);
            atoms = Mat::from_fn(m, n, |i, j| atoms[(i, if j == 1 { 0 } else { j })]);
        }
        Kind::ZeroSamples => {
            samples = Mat::from_fn(m, p, |i, j| if j % 3 == 1 { 0.0 } else { samples[(i, j)] });
        }
        Kind::RankOne => {
            samples = Mat::from_fn(m, p, |i, j| samples[(i, 0)] * (1.0 + j as f64));
        }
    }
    Problem { samples, atoms }
}

/// Samples that are sparse over hidden atoms, plus a little noise.
pub fn planted(m: usize, n: usize, p: usize, k: usize, seed: u64) -> Mat<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let atoms = random_mat(m, n, seed + 1);
    let mut samples = random_mat(m, p, seed + 2);
    samples *= faer::Scale(0.01);
    for j in 0..p {
        for _ in 0..random.random_range(0..=2 * k) {
            let (atom, value) = (random.random_range(0..n), random.random_range(-1.0..1.0));
            for i in 0..m {
                samples[(i, j)] += value * atoms[(i, atom)];
            }
        }
    }
    samples
}

/// `||Y - AX||^2`, computed densely.
pub fn dense_objective(samples: MatRef<'_, f64>, atoms: MatRef<'_, f64>, code: &SparseCode) -> f64 {
    (samples - atoms * code.to_mat()).squared_norm_l2()
}

/// The problem's samples coded over its atoms by Block OMP with one budget.
pub fn coded<'s>(
    samples: &'s SampleMatrix,
    atoms: MatRef<'_, f64>,
    budget: usize,
) -> Factorization<'s> {
    let dictionary = Dictionary::new(atoms).expect("usable atoms");
    let code = code(&dictionary, samples, Budget::Batch(budget), Rule::Omp).expect("a fair budget");
    Factorization::new(samples, &dictionary, &code).expect("parts of one batch")
}

/// Residual of one sample after least squares on the given atoms.
pub fn residual(sample: MatRef<'_, f64>, atoms: MatRef<'_, f64>, support: &[usize]) -> Mat<f64> {
    if support.is_empty() {
        return sample.to_owned();
    }
    let chosen = Mat::from_fn(atoms.nrows(), support.len(), |i, j| atoms[(i, support[j])]);
    let amplitudes = chosen.qr().solve_lstsq(sample);
    sample - &chosen * amplitudes
}

/// Least possible squared error of each sample for each number of atoms `0..=most`.
pub fn best_errors(samples: MatRef<'_, f64>, atoms: MatRef<'_, f64>, most: usize) -> Vec<Vec<f64>> {
    let n = atoms.ncols();
    let mut best = vec![vec![f64::INFINITY; most + 1]; samples.ncols()];
    for mask in 0u32..1 << n {
        let support: Vec<usize> = (0..n).filter(|j| mask >> j & 1 == 1).collect();
        if support.len() > most {
            continue;
        }
        for (j, best) in best.iter_mut().enumerate() {
            let error = residual(samples.subcols(j, 1), atoms, &support).squared_norm_l2();
            let slot = &mut best[support.len()];
            *slot = slot.min(error);
        }
    }
    best
}

/// Least possible squared error of the batch with `budget` non-zeros, from [`best_errors`].
pub fn best_allocation(errors: &[Vec<f64>], budget: usize) -> f64 {
    let mut reachable = vec![f64::INFINITY; budget + 1];
    reachable[0] = 0.0;
    for sample in errors {
        let mut next = vec![f64::INFINITY; budget + 1];
        for (spent, &so_far) in reachable.iter().enumerate() {
            for (more, error) in sample.iter().enumerate().take(budget + 1 - spent) {
                next[spent + more] = next[spent + more].min(so_far + error);
            }
        }
        reachable = next;
    }
    reachable.into_iter().fold(f64::INFINITY, f64::min)
}

//! The best code for fixed blocks and a fixed choice of block: one threshold for the batch.

use super::Sparsity;
use super::blocks::Blocks;
use crate::linalg::kernels::{dot, vectorised};
use crate::pursuit::chunks;
use crate::{SampleMatrix, SparseCode};
use pulp::NullaryFnOnce;
use rayon::prelude::*;

/// Coefficients below this share of the last threshold are left out of the selection at first.
const MARGIN: f64 = 0.7;

/// Coefficients of every sample in its own block.
pub(super) struct Coefficients<'a> {
    dimension: usize,
    atom_count: usize,
    assignment: &'a [u32],
    values: Vec<f64>,
}

/// The code after the cut.
pub(super) struct Cut {
    /// Magnitude of the smallest coefficient the budget allows (before annealing).
    pub(super) threshold: f64,
    /// Scaled code.
    pub(super) code: SparseCode,
    /// Squared error of every scaled sample.
    pub(super) errors: Vec<f64>,
    /// What the rounds must lower: the squared error, plus the price of the
    /// coefficients where the sparsity is given by a threshold.
    pub(super) cost: f64,
}

impl Cut {
    /// Squared error of the scaled batch.
    pub(super) fn objective(&self) -> f64 {
        self.errors.iter().sum()
    }
}

impl<'a> Coefficients<'a> {
    pub(super) fn new(blocks: &Blocks, samples: &SampleMatrix, assignment: &'a [u32]) -> Self {
        let m = samples.dimension();
        let mut values = vec![0.0; m * samples.count()];
        let columns = samples.columns();
        values
            .par_chunks_mut(m)
            .zip(assignment)
            .enumerate()
            .for_each(|(sample, (out, &block))| {
                let block = blocks.block(block as usize);
                let sample = columns.col(sample);
                vectorised(Analyse { block, sample, out });
            });
        Self {
            dimension: m,
            atom_count: blocks.columns().count(),
            assignment,
            values,
        }
    }

    /// Keeps the largest coefficients of the batch. `factor` raises the threshold above the
    /// one the sparsity asks for; `hint` is a threshold of a similar batch.
    pub(super) fn cut(&self, sparsity: Sparsity, factor: f64, hint: Option<f64>) -> Cut {
        let (threshold, spare) = match sparsity {
            Sparsity::Threshold(threshold) => (threshold, usize::MAX),
            Sparsity::Budget(budget) => self.rank(budget, hint),
        };
        let spare = if factor > 1.0 { usize::MAX } else { spare };
        let (code, errors) = self.keep(threshold * factor, spare);
        let price = match sparsity {
            Sparsity::Threshold(_) => threshold * threshold * code.nonzeros() as f64,
            Sparsity::Budget(_) => 0.0,
        };
        let cost = errors.iter().sum::<f64>() + price;
        Cut {
            threshold,
            code,
            errors,
            cost,
        }
    }

    /// The `budget`-th largest magnitude, and how many coefficients of exactly this
    /// magnitude the budget has room for.
    fn rank(&self, budget: usize, hint: Option<f64>) -> (f64, usize) {
        let floor = hint.map_or(0.0, |hint| hint * MARGIN);
        let mut sizes = self.magnitudes(floor);
        if sizes.len() < budget {
            sizes = self.magnitudes(0.0);
        }
        let (above, threshold, _) = sizes.select_nth_unstable_by(budget - 1, |a, b| b.total_cmp(a));
        let threshold = *threshold;
        let larger = above.iter().filter(|&&size| size > threshold).count();
        (threshold, budget - larger)
    }

    fn magnitudes(&self, floor: f64) -> Vec<f64> {
        let sizes = self.values.par_iter().map(|value| value.abs());
        sizes.filter(|&size| size >= floor).collect()
    }

    /// Keeps what is above the threshold, and the first `spare` coefficients equal to it.
    fn keep(&self, threshold: f64, mut spare: usize) -> (SparseCode, Vec<f64>) {
        let mut code = SparseCode::new(self.atom_count);
        let mut errors = Vec::with_capacity(self.assignment.len());
        let m = self.dimension;
        for range in chunks(self.assignment.len()) {
            for sample in range {
                let first = self.assignment[sample] * m as u32;
                let mut error = 0.0;
                let values = &self.values[sample * m..][..m];
                let entries = values.iter().enumerate().filter_map(|(at, &value)| {
                    let tied = value.abs() >= threshold && value.abs() <= threshold;
                    let kept = value.abs() > threshold || (tied && spare > 0);
                    spare -= usize::from(tied && kept);
                    error += if kept { 0.0 } else { value * value };
                    kept.then_some((first + at as u32, value))
                });
                code.push_sorted(entries);
                errors.push(error);
            }
        }
        (code, errors)
    }
}

/// Products of a sample with all atoms of a block.
struct Analyse<'a> {
    block: &'a [f64],
    sample: &'a [f64],
    out: &'a mut [f64],
}

impl NullaryFnOnce for Analyse<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let atoms = self.block.chunks_exact(self.sample.len());
        for (value, atom) in self.out.iter_mut().zip(atoms) {
            *value = dot(atom, self.sample);
        }
    }
}

//! l1-penalised coding: `min 1/2 ||y - Ax||^2 + lambda |x|_1` for every sample.
//!
//! A working set grows by the atoms that violate the optimality conditions most; on the
//! working set, coordinate descent runs on the small Gram matrix alone, so that a sweep
//! costs k^2 and only the outer step touches all n atoms. The answer is the exact minimiser up
//! to a tolerance relative to lambda.

use crate::code::check_dimension;
use crate::linalg::Columns;
use crate::linalg::kernels::{axpy, first_maximum, vectorised};
use crate::pursuit::for_chunks;
use crate::{Dictionary, Error, Samples, SparseCode};
use pulp::NullaryFnOnce;

/// Atoms whose correlation exceeds lambda by this share violate optimality.
const SLACK: f64 = 1e-4;
/// Coordinate descent stops once no amplitude moves by more than this share of lambda.
const SETTLED: f64 = 1e-5;
/// Bounds the time spent on a badly conditioned working set.
const MOST_SWEEPS: usize = 200;

/// Codes every sample with penalty `lambda`, in the sense of SPAMS mode 2.
///
/// # Errors
/// [`Error::Shape`] for atoms of another length than the samples, [`Error::Parameter`] for a
/// `lambda` that is not positive and finite.
pub fn code(dictionary: &Dictionary, samples: &Samples, lambda: f64) -> Result<SparseCode, Error> {
    check_dimension(dictionary, samples)?;
    check_lambda(lambda)?;
    let scaled = code_scaled(dictionary.columns(), samples, lambda / samples.scale());
    Ok(scaled.scaled(samples.scale()))
}

pub(crate) fn check_lambda(lambda: f64) -> Result<(), Error> {
    if lambda.is_finite() && lambda > 0.0 {
        return Ok(());
    }
    let reason = format!("{lambda} is not a positive finite number");
    Err(Error::parameter("lambda", reason))
}

/// The same for a penalty in scaled units.
pub(crate) fn code_scaled(atoms: &Columns, samples: &Samples, lambda: f64) -> SparseCode {
    let gram = atoms.gram();
    let parts = for_chunks(atoms, samples, |_, _, correlations| {
        let mut coder = Coder::new(&gram, lambda);
        let mut coded = Vec::new();
        for correlations in correlations.chunks_exact(gram.rows()) {
            coded.push(coder.solve(correlations));
        }
        coded
    });
    let mut code = SparseCode::new(atoms.count());
    for entries in parts.into_iter().flatten() {
        code.push_sorted(entries);
    }
    code
}

/// Solves one sample after another over the same atoms.
struct Coder<'a> {
    gram: &'a Columns,
    lambda: f64,
    /// Correlations with the residual of the present amplitudes.
    correlations: Vec<f64>,
    working: Vec<usize>,
    amplitudes: Vec<f64>,
    small_gram: Vec<f64>,
}

impl<'a> Coder<'a> {
    fn new(gram: &'a Columns, lambda: f64) -> Self {
        Self {
            gram,
            lambda,
            correlations: vec![0.0; gram.rows()],
            working: Vec::new(),
            amplitudes: Vec::new(),
            small_gram: Vec::new(),
        }
    }

    /// Amplitudes of the sample with the given correlations `A'y`, sorted by atom.
    fn solve(&mut self, correlations: &[f64]) -> Vec<(u32, f64)> {
        self.working.clear();
        self.amplitudes.clear();
        self.correlations.copy_from_slice(correlations);
        while self.working.len() < self.gram.rows() {
            let best = vectorised(Violation(&self.correlations));
            let Some((atom, _)) = best.filter(|b| b.1 > self.lambda * (1.0 + SLACK)) else {
                break;
            };
            if self.working.contains(&atom) {
                break; // within the tolerance of the sweeps
            }
            self.working.push(atom);
            self.amplitudes.push(0.0);
            self.descend(correlations);
            self.drop_zeros();
            self.refresh(correlations);
        }
        let mut entries: Vec<(u32, f64)> = (self.working.iter().map(|&atom| atom as u32))
            .zip(self.amplitudes.iter().copied())
            .collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        entries
    }

    /// Coordinate descent on the working set.
    fn descend(&mut self, correlations: &[f64]) {
        let k = self.working.len();
        self.small_gram.clear();
        for &atom in &self.working {
            let products = self.gram.col(atom);
            self.small_gram
                .extend(self.working.iter().map(|&other| products[other]));
        }
        let mut gradient: Vec<f64> = self.working.iter().map(|&j| correlations[j]).collect();
        for (i, &value) in self.amplitudes.iter().enumerate() {
            axpy(-value, &self.small_gram[i * k..][..k], &mut gradient);
        }
        for _ in 0..MOST_SWEEPS {
            let mut largest: f64 = 0.0;
            for i in 0..k {
                let pull = gradient[i] + self.amplitudes[i];
                let value = shrink(pull, self.lambda);
                let change = value - self.amplitudes[i];
                if change.abs() > 0.0 {
                    self.amplitudes[i] = value;
                    axpy(-change, &self.small_gram[i * k..][..k], &mut gradient);
                    largest = largest.max(change.abs());
                }
            }
            if largest <= SETTLED * self.lambda {
                return;
            }
        }
    }

    fn drop_zeros(&mut self) {
        let amplitudes = std::mem::take(&mut self.amplitudes);
        let mut used = amplitudes.iter().map(|value| value.abs() > 0.0);
        self.working.retain(|_| used.next().unwrap_or(false));
        self.amplitudes = amplitudes
            .into_iter()
            .filter(|value| value.abs() > 0.0)
            .collect();
    }

    /// Recomputes the correlations with the residual.
    fn refresh(&mut self, correlations: &[f64]) {
        vectorised(Refresh {
            start: correlations,
            gram: self.gram,
            atoms: &self.working,
            amplitudes: &self.amplitudes,
            out: &mut self.correlations,
        });
    }
}

/// Soft threshold.
#[inline(always)]
fn shrink(value: f64, by: f64) -> f64 {
    if value > by {
        value - by
    } else if value < -by {
        value + by
    } else {
        0.0
    }
}

/// Largest correlation in magnitude.
struct Violation<'a>(&'a [f64]);

impl NullaryFnOnce for Violation<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        first_maximum(self.0.len(), |j| self.0[j].abs())
    }
}

/// `out = start - G_S x`.
struct Refresh<'a> {
    start: &'a [f64],
    gram: &'a Columns,
    atoms: &'a [usize],
    amplitudes: &'a [f64],
    out: &'a mut [f64],
}

impl NullaryFnOnce for Refresh<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.out.copy_from_slice(self.start);
        for (&atom, &value) in self.atoms.iter().zip(self.amplitudes) {
            axpy(-value, self.gram.col(atom), self.out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_atoms, random_samples};

    /// The conditions that characterise the minimiser: `|a'r| <= lambda`, with equality and
    /// the sign of the amplitude on the support.
    #[test]
    fn solutions_are_optimal() {
        let samples = random_samples(10, 50, 1);
        let atoms = random_atoms(10, 25, 2);
        let lambda = 0.2;
        let code = code_scaled(&atoms, &samples, lambda);
        let mut correlations = vec![0.0; 25];
        for sample in 0..samples.count() {
            let mut residual = samples.columns().col(sample).to_vec();
            for (atom, value) in code.entries(sample) {
                axpy(-value, atoms.col(atom), &mut residual);
            }
            atoms.correlate(&residual, &mut correlations);
            assert!(
                correlations
                    .iter()
                    .all(|c| c.abs() <= lambda * (1.0 + 2.0 * SLACK))
            );
            for (atom, value) in code.entries(sample) {
                let gap = correlations[atom] - lambda * value.signum();
                assert!(gap.abs() < lambda * 1e-3, "sample {sample}: {gap}");
            }
        }
        assert!(code.nonzeros() > samples.count());
    }

    #[test]
    fn a_large_penalty_gives_an_empty_code() {
        let samples = random_samples(4, 5, 3);
        let code = code_scaled(&random_atoms(4, 6, 4), &samples, 100.0);
        assert_eq!((code.nonzeros(), code.count()), (0, 5));
    }
}

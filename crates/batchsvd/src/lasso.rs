//! l1-penalised coding: `min 1/2 ||y - Ax||^2 + lambda |x|_1` for every sample.
//!
//! An active-set method. The atom that violates the optimality conditions most joins the
//! active ones; with their signs fixed the problem is linear and solved exactly. If an
//! amplitude would change sign, the step ends where the first one reaches zero, that atom
//! leaves, and the rest is solved again. Every step lowers the cost, so the method ends,
//! usually after about as many steps as there are non-zeros.

use crate::code::check_dimension;
use crate::linalg::Columns;
use crate::linalg::cholesky::solve_in_place;
use crate::linalg::kernels::{axpy, first_maximum, vectorised};
use crate::pursuit::for_chunks;
use crate::{Dictionary, Error, SampleMatrix, SparseCode};
use pulp::NullaryFnOnce;

/// Atoms whose correlation exceeds lambda by this share violate optimality.
const SLACK: f64 = 1e-4;
/// Steps after which a sample is left as it is, in multiples of the number of atoms. Only
/// rounding in a degenerate problem could ever lead there.
const PATIENCE: usize = 4;

/// Codes every sample with penalty `lambda`, in the sense of SPAMS mode 2.
///
/// # Errors
/// [`Error::Shape`] for atoms of another length than the samples, [`Error::Parameter`] for a
/// `lambda` that is not positive and finite.
pub fn code(
    dictionary: &Dictionary,
    samples: &SampleMatrix,
    lambda: f64,
) -> Result<SparseCode, Error> {
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
pub(crate) fn code_scaled(atoms: &Columns, samples: &SampleMatrix, lambda: f64) -> SparseCode {
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
    sizes: Vec<f64>,
    active: Vec<Active>,
    refused: Vec<usize>,
    system: Vec<f64>,
    target: Vec<f64>,
}

/// An atom with its amplitude and the sign that amplitude must keep.
#[derive(Clone, Copy, Debug)]
struct Active {
    atom: usize,
    amplitude: f64,
    sign: f64,
}

impl<'a> Coder<'a> {
    fn new(gram: &'a Columns, lambda: f64) -> Self {
        Self {
            gram,
            lambda,
            correlations: vec![0.0; gram.rows()],
            sizes: vec![0.0; gram.rows()],
            active: Vec::new(),
            refused: Vec::new(),
            system: Vec::new(),
            target: Vec::new(),
        }
    }

    /// Amplitudes of the sample with the given correlations `A'y`, sorted by atom.
    fn solve(&mut self, correlations: &[f64]) -> Vec<(u32, f64)> {
        self.active.clear();
        self.refused.clear();
        self.correlations.copy_from_slice(correlations);
        for _ in 0..PATIENCE * self.gram.rows() {
            let best = vectorised(Violation(&self.correlations, &mut self.sizes));
            let Some((atom, _)) = best.filter(|b| b.1 > self.lambda * (1.0 + SLACK)) else {
                break;
            };
            self.join(atom);
            self.settle(correlations);
            self.refresh(correlations);
        }
        let mut entries: Vec<(u32, f64)> =
            (self.active.iter().map(|a| (a.atom as u32, a.amplitude))).collect();
        entries.sort_unstable_by_key(|entry| entry.0);
        entries
    }

    fn join(&mut self, atom: usize) {
        self.active.push(Active {
            atom,
            amplitude: 0.0,
            sign: self.correlations[atom].signum(),
        });
    }

    /// Moves to the minimum over the active atoms; atoms whose amplitude reaches zero leave.
    fn settle(&mut self, correlations: &[f64]) {
        while !self.active.is_empty() {
            if !self.solve_signed(correlations) {
                if !self.slide() {
                    self.refuse_last();
                }
                continue;
            }
            let Some((at, share)) = self.first_zero() else {
                for (active, &target) in self.active.iter_mut().zip(&self.target) {
                    active.amplitude = target;
                }
                return;
            };
            for (active, &target) in self.active.iter_mut().zip(&self.target) {
                active.amplitude += share * (target - active.amplitude);
            }
            let newcomer = at + 1 == self.active.len() && share <= 0.0;
            if newcomer {
                self.refuse_last();
            } else {
                self.active.remove(at);
            }
        }
    }

    /// Drops the atom that joined last and does not offer it again for this sample.
    fn refuse_last(&mut self) {
        self.refused.extend(self.active.pop().map(|last| last.atom));
    }

    /// Lets the newest atom in when it depends on the others: its amplitude grows, theirs
    /// make up for it, the residual stays, and the penalty falls, until one of theirs reaches
    /// zero and that atom leaves. `false` if none would.
    fn slide(&mut self) -> bool {
        let Some((newest, others)) = self.active.split_last() else {
            return false;
        };
        let products = self.gram.col(newest.atom);
        self.target.clear();
        self.target
            .extend(others.iter().map(|other| products[other.atom]));
        let k = others.len();
        self.fill_system(k);
        if !solve_in_place(&mut self.system[..k * k], &mut self.target) {
            return false;
        }
        let sign = self.active[k].sign;
        let mut first: Option<(usize, f64)> = None;
        for (at, (active, weight)) in self.active.iter().zip(&self.target).enumerate() {
            let falling = weight * sign * active.sign > 0.0;
            let length = active.amplitude / (weight * sign);
            if falling && first.is_none_or(|(_, least)| length < least) {
                first = Some((at, length));
            }
        }
        let Some((leaving, length)) = first else {
            return false;
        };
        for (active, weight) in self.active.iter_mut().zip(&self.target) {
            active.amplitude -= length * weight * sign;
        }
        self.active[k].amplitude += length * sign;
        self.active.remove(leaving);
        true
    }

    /// Writes the Gram matrix of the first `k` active atoms into `system`.
    fn fill_system(&mut self, k: usize) {
        self.system.resize(k * k, 0.0);
        for (i, active) in self.active[..k].iter().enumerate() {
            let products = self.gram.col(active.atom);
            for (entry, other) in self.system[i * k..].iter_mut().zip(&self.active[..=i]) {
                *entry = products[other.atom];
            }
        }
    }

    /// Solves `G_S x = c_S - lambda s` into `target`; `false` if the atoms are dependent.
    fn solve_signed(&mut self, correlations: &[f64]) -> bool {
        let k = self.active.len();
        self.fill_system(k);
        self.target.clear();
        let right_side = |a: &Active| correlations[a.atom] - self.lambda * a.sign;
        self.target.extend(self.active.iter().map(right_side));
        solve_in_place(&mut self.system[..k * k], &mut self.target)
    }

    /// The first amplitude to reach zero on the way to `target`, and the share of the way.
    fn first_zero(&self) -> Option<(usize, f64)> {
        let mut first: Option<(usize, f64)> = None;
        for (at, (active, target)) in self.active.iter().zip(&self.target).enumerate() {
            if target * active.sign > 0.0 {
                continue;
            }
            let way = active.amplitude - target;
            let share = if way.abs() > 0.0 {
                active.amplitude / way
            } else {
                0.0
            };
            if first.is_none_or(|(_, least)| share < least) {
                first = Some((at, share));
            }
        }
        first
    }

    /// Recomputes the correlations with the residual.
    fn refresh(&mut self, correlations: &[f64]) {
        vectorised(Refresh {
            start: correlations,
            gram: self.gram,
            active: &self.active,
            out: &mut self.correlations,
        });
        for &atom in &self.refused {
            self.correlations[atom] = 0.0;
        }
    }
}

/// Largest correlation in magnitude; the second slice is working memory.
struct Violation<'a>(&'a [f64], &'a mut [f64]);

impl NullaryFnOnce for Violation<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        for (size, value) in self.1.iter_mut().zip(self.0) {
            *size = value.abs();
        }
        first_maximum(self.1)
    }
}

/// `out = start - G_S x`.
struct Refresh<'a> {
    start: &'a [f64],
    gram: &'a Columns,
    active: &'a [Active],
    out: &'a mut [f64],
}

impl NullaryFnOnce for Refresh<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.out.copy_from_slice(self.start);
        for active in self.active {
            axpy(-active.amplitude, self.gram.col(active.atom), self.out);
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
    fn equal_atoms_do_no_harm() {
        let mut atoms = random_atoms(6, 12, 5);
        let twin = atoms.col(0).to_vec();
        atoms.col_mut(7).copy_from_slice(&twin);
        let samples = random_samples(6, 40, 6);
        let code = code_scaled(&atoms, &samples, 0.05);
        let both = |j: usize| code.support(j).contains(&0) && code.support(j).contains(&7);
        assert!((0..40).all(|j| !both(j)));
        assert!(code.nonzeros() > 40);
    }

    #[test]
    fn a_large_penalty_gives_an_empty_code() {
        let samples = random_samples(4, 5, 3);
        let code = code_scaled(&random_atoms(4, 6, 4), &samples, 100.0);
        assert_eq!((code.nonzeros(), code.count()), (0, 5));
    }
}

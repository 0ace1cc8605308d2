//! Algorithm 3: amplitude adjustment, and the proximal dictionary update it rests on.

use crate::Factorization;
use crate::factorization::{SampleTask, for_samples};
use crate::linalg::Columns;
use crate::linalg::cholesky::solve_in_place;
use crate::linalg::kernels::{axpy, dot, sum_of_squares, vectorised};
use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};
use pulp::NullaryFnOnce;
use rayon::prelude::*;
use std::ops::Range;

/// Damping of the dictionary update, relative to the mean diagonal of XX'.
const DAMPING: f64 = 1e-10;
/// Damping of a sample's refit when its atoms are dependent, relative to the trace.
const REFIT_DAMPING: f64 = 1e4 * f64::EPSILON;
/// Into how many parts at most the sums over samples are cut. A constant, so that the order
/// of additions does not depend on the number of threads.
const PARTS: usize = 16;

/// Proximal MOD: `A += R X' (XX' + dI)^-1`, then unit atoms.
///
/// For any `d >= 0` the objective does not rise: the step minimises it plus `d` times the
/// squared change. A plain ridge would pull the atoms towards zero and raise it. Rows
/// without non-zeros get a diagonal of their own, so that their atoms stay.
pub(crate) fn update_atoms(state: &mut Factorization<'_>) {
    let (gram, cross) = products(state);
    let n = state.atoms.count();
    let mean = (0..n).map(|i| gram[(i, i)]).sum::<f64>() / n as f64;
    if mean <= 0.0 {
        return;
    }
    let Some(step) = solve_damped(&gram, &cross, mean) else {
        return;
    };
    let before = state.atoms.clone();
    for j in 0..n {
        for (i, value) in state.atoms.col_mut(j).iter_mut().enumerate() {
            *value += step[(j, i)];
        }
    }
    state.normalise_atoms(&before);
    state.refresh_residual();
}

/// Solves `(XX' + D) Z = X R'`, raising the damping until the factorisation succeeds.
fn solve_damped(gram: &Mat<f64>, cross: &Mat<f64>, mean: f64) -> Option<Mat<f64>> {
    let mut damping = DAMPING * mean;
    while damping <= mean {
        let mut damped = gram.clone();
        for i in 0..gram.nrows() {
            let empty = gram[(i, i)] <= 0.0;
            damped[(i, i)] += if empty { mean } else { damping };
        }
        if let Ok(factor) = Llt::new(damped.as_ref(), Side::Lower) {
            return Some(factor.solve(cross));
        }
        damping *= 100.0;
    }
    None
}

/// The lower triangle of `XX'` (n x n) and `X R'` (n x m), summed in a fixed order.
fn products(state: &Factorization<'_>) -> (Mat<f64>, Mat<f64>) {
    let count = state.samples.count();
    let size = count.div_ceil(PARTS).max(1024);
    let starts: Vec<usize> = (0..count).step_by(size).collect();
    let parts: Vec<(Columns, Columns)> = starts
        .into_par_iter()
        .map(|start| partial_products(state, start..(start + size).min(count)))
        .collect();
    let (n, m) = (state.atoms.count(), state.atoms.rows());
    let mut gram = Columns::zeros(n, n);
    let mut cross = Columns::zeros(m, n);
    for (part_gram, part_cross) in parts {
        axpy(1.0, part_gram.data(), gram.data_mut());
        axpy(1.0, part_cross.data(), cross.data_mut());
    }
    (
        gram.as_mat().to_owned(),
        cross.as_mat().transpose().to_owned(),
    )
}

fn partial_products(state: &Factorization<'_>, range: Range<usize>) -> (Columns, Columns) {
    let (n, m) = (state.atoms.count(), state.atoms.rows());
    let mut gram = Columns::zeros(n, n);
    let mut cross = Columns::zeros(m, n);
    for sample in range {
        let (support, values) = (state.code.support(sample), state.code.values(sample));
        let residual = state.residual.col(sample);
        for (at, (&atom, &value)) in support.iter().zip(values).enumerate() {
            axpy(value, residual, cross.col_mut(atom as usize));
            let column = gram.col_mut(atom as usize);
            for (&other, &other_value) in support[at..].iter().zip(&values[at..]) {
                column[other as usize] += value * other_value;
            }
        }
    }
    (gram, cross)
}

/// Least-squares amplitudes of every sample on its own support.
pub(crate) fn refit(state: &mut Factorization<'_>) {
    let gram = state.atoms.gram();
    let atoms = &state.atoms;
    for_samples(
        &mut state.code,
        &mut state.residual,
        Scratch::default,
        |scratch, task| {
            vectorised(RefitSample {
                atoms,
                gram: &gram,
                scratch,
                task,
            });
        },
    );
}

#[derive(Default)]
struct Scratch {
    system: Vec<f64>,
    step: Vec<f64>,
    residual: Vec<f64>,
}

/// `x += (G_S + dI)^-1 A_S' r`, taken only if the sample's error does not rise.
struct RefitSample<'a, 't> {
    atoms: &'a Columns,
    gram: &'a Columns,
    scratch: &'a mut Scratch,
    task: SampleTask<'t>,
}

impl NullaryFnOnce for RefitSample<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self {
            atoms,
            gram,
            scratch,
            task,
        } = self;
        let solved = scratch.solve(atoms, gram, &task, 0.0)
            || scratch.solve(
                atoms,
                gram,
                &task,
                REFIT_DAMPING * task.support.len() as f64,
            );
        if !solved {
            return;
        }
        scratch.residual.clear();
        scratch.residual.extend_from_slice(task.residual);
        for (&atom, &change) in task.support.iter().zip(&scratch.step) {
            axpy(-change, atoms.col(atom as usize), &mut scratch.residual);
        }
        if sum_of_squares(&scratch.residual) <= sum_of_squares(task.residual) {
            task.residual.copy_from_slice(&scratch.residual);
            axpy(1.0, &scratch.step, task.values);
        }
    }
}

impl Scratch {
    /// Computes the step; `false` if the damped system is singular.
    #[inline(always)]
    fn solve(
        &mut self,
        atoms: &Columns,
        gram: &Columns,
        task: &SampleTask<'_>,
        damping: f64,
    ) -> bool {
        let k = task.support.len();
        self.system.clear();
        self.system.resize(k * k, 0.0);
        self.step.clear();
        for (i, &atom) in task.support.iter().enumerate() {
            self.step.push(dot(atoms.col(atom as usize), task.residual));
            let products = gram.col(atom as usize);
            for (entry, &other) in self.system[i * k..].iter_mut().zip(&task.support[..=i]) {
                *entry = products[other as usize];
            }
            self.system[i * k + i] += damping;
        }
        solve_in_place(&mut self.system, &mut self.step)
    }
}

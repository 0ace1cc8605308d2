//! Algorithm 1: inner-row switching.
//!
//! With everything but atom `a` and its row fixed, the row's own problem is the best rank-one
//! approximation of `Y~ = R + a x` that uses only k samples. Two steps take turns, neither
//! of which can raise the objective: the leading singular vector on the current k samples, and
//! the k samples with the largest `|a'y~|`. Rows are handled one after another on an
//! up-to-date residual; updating them in parallel on a stale one would lose the guarantee.

use crate::Factorization;
use crate::linalg::kernels::{axpy, dot, vectorised};
use crate::linalg::{Columns, Leading};
use crate::rows::Rows;
use pulp::NullaryFnOnce;
use rayon::prelude::*;

/// Samples projected by one task; below this, threads cost more than they bring.
const TASK: usize = 2048;

/// Switches the given rows, `steps` times each.
pub(crate) fn switch(
    state: &mut Factorization<'_>,
    order: impl Iterator<Item = usize>,
    steps: usize,
    leading: Leading,
) {
    let mut rows = Rows::of(&state.code);
    let mut projections = vec![0.0; state.samples.count()];
    for row in order.filter(|_| steps > 0) {
        if !rows.row(row).is_empty() {
            let problem = RowProblem {
                residual: &state.residual,
                atom: state.atoms.col(row),
                entries: rows.row(row),
            };
            let (atom, entries) = problem.solve(steps, leading, &mut projections);
            apply(state, row, rows.row(row), &atom, &entries);
            rows.replace(row, entries);
        }
    }
    state.code = rows.to_code(state.samples.count());
    state.refresh_residual();
}

/// Puts a row's new atom and entries in place and brings the residual up to date.
fn apply(
    state: &mut Factorization<'_>,
    row: usize,
    old: &[(u32, f64)],
    atom: &[f64],
    new: &[(u32, f64)],
) {
    for &(sample, value) in old {
        axpy(
            value,
            state.atoms.col(row),
            state.residual.col_mut(sample as usize),
        );
    }
    for &(sample, value) in new {
        axpy(-value, atom, state.residual.col_mut(sample as usize));
    }
    state.atoms.col_mut(row).copy_from_slice(atom);
}

/// The rank-one problem of one row.
struct RowProblem<'a> {
    residual: &'a Columns,
    atom: &'a [f64],
    entries: &'a [(u32, f64)],
}

impl RowProblem<'_> {
    fn solve(
        &self,
        steps: usize,
        leading: Leading,
        projections: &mut [f64],
    ) -> (Vec<f64>, Vec<(u32, f64)>) {
        let mut atom = self.atom.to_vec();
        let mut entries = self.entries.to_vec();
        let mut columns = Vec::with_capacity(entries.len() * atom.len());
        for _ in 0..steps {
            self.gather(&entries, &mut columns);
            leading.improve(&columns, &mut atom);
            self.project(&atom, projections);
            entries = largest(projections, &entries);
        }
        (atom, entries)
    }

    /// The columns of Y~ at the given entries, packed.
    fn gather(&self, entries: &[(u32, f64)], columns: &mut Vec<f64>) {
        columns.clear();
        for &(sample, _) in entries {
            let start = columns.len();
            columns.extend_from_slice(self.residual.col(sample as usize));
            if let Ok(at) = self.entries.binary_search_by_key(&sample, |entry| entry.0) {
                axpy(self.entries[at].1, self.atom, &mut columns[start..]);
            }
        }
    }

    /// `a'Y~` for all samples.
    fn project(&self, atom: &[f64], projections: &mut [f64]) {
        let m = atom.len();
        projections
            .par_chunks_mut(TASK)
            .zip(self.residual.data().par_chunks(TASK * m))
            .for_each(|(out, columns)| vectorised(Project { atom, columns, out }));
        let overlap = dot(atom, self.atom);
        for &(sample, value) in self.entries {
            projections[sample as usize] += overlap * value;
        }
    }
}

/// The k samples of largest `|projection|`, where k is the number of current entries.
///
/// Among equals, samples that hold an entry now go first, then the lower index.
fn largest(projections: &[f64], current: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let size = |entry: &(u32, f64)| projections[entry.0 as usize].abs();
    let floor = current.iter().map(size).fold(f64::INFINITY, f64::min);
    let mut held = current.iter().map(|entry| entry.0).peekable();
    let mut candidates: Vec<(f64, bool, u32)> = Vec::with_capacity(2 * current.len());
    for (sample, projection) in projections.iter().enumerate() {
        if projection.abs() >= floor {
            let sample = sample as u32;
            while held.next_if(|&other| other < sample).is_some() {}
            let newcomer = held.peek() != Some(&sample);
            candidates.push((projection.abs(), newcomer, sample));
        }
    }
    let k = current.len();
    if candidates.len() > k {
        let rank = |a: &(f64, bool, u32), b: &(f64, bool, u32)| {
            b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2)))
        };
        candidates.select_nth_unstable_by(k - 1, rank);
        candidates.truncate(k);
    }
    let mut entries: Vec<(u32, f64)> = candidates
        .iter()
        .map(|&(_, _, sample)| (sample, projections[sample as usize]))
        .collect();
    entries.sort_unstable_by_key(|entry| entry.0);
    entries
}

/// Inner products of one vector with packed columns.
struct Project<'a> {
    atom: &'a [f64],
    columns: &'a [f64],
    out: &'a mut [f64],
}

impl NullaryFnOnce for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let columns = self.columns.chunks_exact(self.atom.len());
        for (value, column) in self.out.iter_mut().zip(columns) {
            *value = dot(self.atom, column);
        }
    }
}

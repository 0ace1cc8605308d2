//! The state every phase of BatchSVD works on: atoms, code and residual of one batch.

use crate::amplitude;
use crate::dictionary::normalise;
use crate::exchange::{self, Swaps};
use crate::inner;
use crate::inter::{self, Pairs};
use crate::linalg::kernels::{axpy, sum_of_squares};
use crate::linalg::{Columns, Leading};
use crate::pursuit::chunks;
use crate::{Dictionary, Error, SampleMatrix, SparseCode};
use rayon::prelude::*;

/// A batch with its current dictionary and code, `Y = A X + R`.
///
/// Every phase keeps the number of non-zeros and never raises [`objective`], up to rounding.
/// Inside, everything is in the scaled units of [`SampleMatrix`]. Invariants between calls: atoms
/// are unit, `residual` is `Y - A X` of exactly these atoms and this code.
///
/// [`objective`]: Factorization::objective
#[derive(Clone, Debug)]
pub struct Factorization<'s> {
    pub(crate) samples: &'s SampleMatrix,
    pub(crate) atoms: Columns,
    pub(crate) code: SparseCode,
    pub(crate) residual: Columns,
}

impl<'s> Factorization<'s> {
    /// Puts a dictionary and a code of the batch together.
    ///
    /// # Errors
    /// [`Error::Shape`] when the three do not belong together, [`Error::NonFinite`] for an
    /// unusable amplitude.
    pub fn new(
        samples: &'s SampleMatrix,
        dictionary: &Dictionary,
        code: &SparseCode,
    ) -> Result<Self, Error> {
        code.check_fits(dictionary, samples)?;
        code.check_finite()?;
        let scaled = code.clone().scaled(samples.scale().recip());
        Ok(Self::from_scaled(
            samples,
            dictionary.columns().clone(),
            scaled,
        ))
    }

    /// The same for unit atoms and a code in scaled units.
    pub(crate) fn from_scaled(samples: &'s SampleMatrix, atoms: Columns, code: SparseCode) -> Self {
        let residual = Columns::zeros(samples.dimension(), samples.count());
        let mut state = Self {
            samples,
            atoms,
            code,
            residual,
        };
        state.refresh_residual();
        state
    }

    /// `||Y - AX||_F^2` in the caller's units.
    pub fn objective(&self) -> f64 {
        self.scaled_objective() * self.samples.scale() * self.samples.scale()
    }

    /// Non-zeros of the whole batch.
    pub fn nonzeros(&self) -> usize {
        self.code.nonzeros()
    }

    /// The code in the caller's units, belonging to [`Factorization::atoms`].
    pub fn code(&self) -> SparseCode {
        self.code.clone().scaled(self.samples.scale())
    }

    /// The current atoms; sign and order are not canonical while a run is under way.
    pub fn atoms(&self) -> faer::MatRef<'_, f64> {
        self.atoms.as_mat()
    }

    /// Dictionary in canonical form and the code that belongs to it.
    pub fn finish(&self) -> (Dictionary, SparseCode) {
        let (dictionary, code) = Dictionary::canonical(&self.atoms, &self.code, self.atoms.count());
        (dictionary, code.scaled(self.samples.scale()))
    }

    /// Algorithm 1 for one row: re-fits atom `row` and moves its non-zeros to the samples
    /// that gain most, `steps` times. The row keeps its number of non-zeros.
    ///
    /// # Panics
    /// If there is no such atom.
    pub fn switch_inner_row(&mut self, row: usize, steps: usize, leading: Leading) {
        inner::switch(self, std::iter::once(row), steps, leading);
    }

    /// Algorithm 1 for every row, the most used atoms first.
    pub fn switch_inner_rows(&mut self, steps: usize, leading: Leading) {
        let uses = self.code.uses();
        let mut order: Vec<usize> = (0..self.atoms.count()).collect();
        order.sort_by_key(|&row| std::cmp::Reverse(uses[row]));
        inner::switch(self, order.into_iter(), steps, leading);
    }

    /// Algorithm 2 for the given pairs of rows: moves non-zeros between the two rows and
    /// between samples. The pair keeps its number of non-zeros.
    pub fn switch_inter_rows(&mut self, pairs: &Pairs) {
        inter::switch(self, pairs, inter::Search::Pruned);
    }

    /// Algorithm 3: `steps` times, all atoms by least squares given the code, then every
    /// sample's amplitudes by least squares on its own support.
    pub fn adjust_amplitudes(&mut self, steps: usize) {
        for _ in 0..steps {
            amplitude::update_atoms(self);
            amplitude::refit(self);
        }
        self.refresh_residual();
    }

    /// Moves non-zeros from the samples that lose least to those that gain most, until no
    /// move pays; with [`Swaps::Within`] also trades atoms inside samples. Returns the number
    /// of moves and swaps.
    pub fn exchange(&mut self, swaps: Swaps) -> usize {
        exchange::run(self, swaps)
    }

    /// Replaces atoms that no sample uses by the residuals of the worst represented
    /// samples. Returns how many were replaced. The objective is untouched.
    pub fn repair_dead_atoms(&mut self) -> usize {
        let uses = self.code.uses();
        let dead: Vec<usize> = (0..uses.len()).filter(|&atom| uses[atom] == 0).collect();
        if dead.is_empty() {
            return 0;
        }
        let mut worst: Vec<(f64, usize)> = (0..self.samples.count())
            .map(|sample| (sum_of_squares(self.residual.col(sample)), sample))
            .filter(|&(energy, _)| energy > 0.0)
            .collect();
        worst.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        for (&atom, &(_, sample)) in dead.iter().zip(&worst) {
            let target = self.atoms.col_mut(atom);
            target.copy_from_slice(self.residual.col(sample));
            normalise(target);
        }
        dead.len().min(worst.len())
    }

    pub(crate) fn scaled_objective(&self) -> f64 {
        let m = self.samples.dimension();
        let energies: Vec<f64> = chunks(self.samples.count())
            .into_par_iter()
            .map(|range| sum_of_squares(&self.residual.data()[m * range.start..m * range.end]))
            .collect();
        energies.iter().sum()
    }

    /// Recomputes `R = Y - AX`, so that rounding does not pile up over phases.
    pub(crate) fn refresh_residual(&mut self) {
        let (samples, atoms) = (self.samples, &self.atoms);
        for_samples(
            &mut self.code,
            &mut self.residual,
            || (),
            |_, task| {
                task.residual
                    .copy_from_slice(samples.columns().col(task.sample));
                for (&atom, &value) in task.support.iter().zip(&*task.values) {
                    axpy(-value, atoms.col(atom as usize), task.residual);
                }
            },
        );
    }

    /// Scales every atom to unit norm and its amplitudes accordingly.
    ///
    /// An atom that has vanished keeps its former direction from `before`, with amplitudes
    /// of zero.
    pub(crate) fn normalise_atoms(&mut self, before: &Columns) {
        let factors: Vec<f64> = (0..self.atoms.count())
            .map(|j| {
                normalise(self.atoms.col_mut(j)).unwrap_or_else(|| {
                    self.atoms.col_mut(j).copy_from_slice(before.col(j));
                    0.0
                })
            })
            .collect();
        let (_, atoms, values) = self.code.all_values_mut();
        for (value, &atom) in values.iter_mut().zip(atoms) {
            *value *= factors[atom as usize];
        }
    }
}

/// One sample's share of a factorization, open for change.
pub(crate) struct SampleTask<'a> {
    pub(crate) sample: usize,
    pub(crate) support: &'a [u32],
    pub(crate) values: &'a mut [f64],
    pub(crate) residual: &'a mut [f64],
}

/// Runs `work` on every sample, in parallel; supports are fixed, amplitudes and residuals
/// may change. `scratch` makes the working memory of one thread.
pub(crate) fn for_samples<S>(
    code: &mut SparseCode,
    residual: &mut Columns,
    scratch: impl Fn() -> S + Sync + Send,
    work: impl Fn(&mut S, SampleTask<'_>) + Sync + Send,
) {
    let m = residual.rows();
    let (offsets, atoms, mut values) = code.all_values_mut();
    let mut residuals = residual.data_mut();
    let mut parts = Vec::new();
    for range in chunks(offsets.len() - 1) {
        let entries = offsets[range.end] - offsets[range.start];
        let (own_values, other_values) = values.split_at_mut(entries);
        let (own_residuals, other_residuals) = residuals.split_at_mut(m * range.len());
        parts.push((range, own_values, own_residuals));
        (values, residuals) = (other_values, other_residuals);
    }
    parts
        .into_par_iter()
        .for_each_init(scratch, |scratch, (range, mut values, residuals)| {
            for (sample, residual) in range.zip(residuals.chunks_exact_mut(m)) {
                let support = &atoms[offsets[sample]..offsets[sample + 1]];
                let (own, others) = values.split_at_mut(support.len());
                work(
                    scratch,
                    SampleTask {
                        sample,
                        support,
                        values: own,
                        residual,
                    },
                );
                values = others;
            }
        });
}

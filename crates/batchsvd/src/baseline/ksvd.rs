//! K-SVD: pursuit sample by sample, then one atom after another refitted to the samples that use it.
//!
//! Unlike BatchSVD it is not monotone: every new pursuit may raise the objective, and the
//! non-zeros of a sample are fixed in number (or by an error target), never moved to another one.

use crate::dictionary::normalise;
use crate::linalg::Leading;
use crate::linalg::kernels::{axpy, dot};
use crate::pursuit::code_scaled;
use crate::rows::Rows;
use crate::start::random_samples;
use crate::{
    Budget, Dictionary, Error, Factorization, Observer, Phase, Progress, Rule, SampleMatrix,
    SparseCode,
};

/// How K-SVD refits an atom to the samples that use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AtomUpdate {
    /// One step of alternating least squares (Rubinstein, Zibulevsky and Elad 2008): as good in
    /// practice and much cheaper.
    Approximate,
    /// The leading singular vectors (Aharon, Elad and Bruckstein 2006).
    Exact,
}

/// Parameters of K-SVD.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct KsvdParams {
    /// Number of atoms.
    pub atoms: usize,
    /// When the pursuit of a sample stops: [`Budget::PerSample`] is K-SVD, [`Budget::Error`] is
    /// error-based K-SVD. One budget for the batch is not K-SVD and is refused.
    pub budget: Budget,
    /// Number of iterations of pursuit and update.
    pub iterations: usize,
    /// How atoms are refitted.
    pub update: AtomUpdate,
    /// Seed of the choice of the first atoms.
    pub seed: u64,
}

/// K-SVD with checked parameters.
#[derive(Clone, Copy, Debug)]
pub struct Ksvd(KsvdParams);

impl KsvdParams {
    /// Checks what can be checked without samples.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the field.
    pub fn check(self) -> Result<Ksvd, Error> {
        for (name, value) in [("atoms", self.atoms), ("iterations", self.iterations)] {
            if value == 0 {
                return Err(Error::parameter(name, "must be at least one"));
            }
        }
        if let Budget::Batch(_) = self.budget {
            return Err(Error::parameter(
                "budget",
                "K-SVD has a budget per sample, not one for the batch",
            ));
        }
        Ok(Ksvd(self))
    }
}

impl Ksvd {
    /// Learns from `samples`, beginning with the directions of randomly chosen samples.
    ///
    /// # Errors
    /// [`Error::AllZero`], or an error of the pursuit for a budget the samples cannot have.
    pub fn fit(
        &self,
        samples: &SampleMatrix,
        observer: &mut dyn Observer,
    ) -> Result<(Dictionary, SparseCode), Error> {
        let mut atoms = random_samples(samples, self.0.atoms, self.0.seed)?;
        let mut iteration = 0;
        loop {
            let code = code_scaled(&atoms, samples, self.0.budget, Rule::Omp)?;
            let mut state = Factorization::from_scaled(samples, atoms, code);
            update_rows(&mut state, self.0.update);
            let progress = Progress {
                phase: Phase::Iteration,
                iteration,
                objective: state.objective(),
                nonzeros: state.nonzeros(),
            };
            iteration += 1;
            if observer.observe(&progress).is_break() || iteration == self.0.iterations {
                return Ok(state.finish());
            }
            state.repair_dead_atoms();
            atoms = state.atoms;
        }
    }
}

/// Refits every used atom and its amplitudes to the samples that use it, one after another.
fn update_rows(state: &mut Factorization<'_>, update: AtomUpdate) {
    let mut rows = Rows::of(&state.code);
    for row in 0..state.atoms.count() {
        let entries = rows.row(row);
        if !entries.is_empty() {
            let mut columns = without_atom(state, row, entries);
            let mut atom = state.atoms.col(row).to_vec();
            match update {
                AtomUpdate::Approximate => weighted_sum(&columns, entries, &mut atom),
                AtomUpdate::Exact => Leading::Exact.improve(&columns, &mut atom),
            }
            let entries = project(&atom, &mut columns, entries);
            put(state, row, &atom, &columns, &entries);
            rows.replace(row, entries);
        }
    }
    state.code = rows.to_code(state.samples.count());
    state.refresh_residual();
}

/// What the atom has to explain: the residuals of its samples with its own share added back.
fn without_atom(state: &Factorization<'_>, row: usize, entries: &[(u32, f64)]) -> Vec<f64> {
    let mut columns = Vec::with_capacity(entries.len() * state.atoms.rows());
    for &(sample, value) in entries {
        let start = columns.len();
        columns.extend_from_slice(state.residual.col(sample as usize));
        axpy(value, state.atoms.col(row), &mut columns[start..]);
    }
    columns
}

/// Replaces the atom by the normalised sum of the columns times its amplitudes, unless they cancel.
fn weighted_sum(columns: &[f64], entries: &[(u32, f64)], atom: &mut [f64]) {
    let mut sum = vec![0.0; atom.len()];
    for (column, &(_, value)) in columns.chunks_exact(atom.len()).zip(entries) {
        axpy(value, column, &mut sum);
    }
    if normalise(&mut sum).is_some() {
        atom.copy_from_slice(&sum);
    }
}

/// The atom's best amplitudes; leaves in `columns` what they do not explain.
fn project(atom: &[f64], columns: &mut [f64], entries: &[(u32, f64)]) -> Vec<(u32, f64)> {
    let columns = columns.chunks_exact_mut(atom.len());
    let fitted = columns.zip(entries).map(|(column, &(sample, _))| {
        let value = dot(atom, column);
        axpy(-value, atom, column);
        (sample, value)
    });
    fitted.collect()
}

fn put(
    state: &mut Factorization<'_>,
    row: usize,
    atom: &[f64],
    columns: &[f64],
    entries: &[(u32, f64)],
) {
    for (column, &(sample, _)) in columns.chunks_exact(atom.len()).zip(entries) {
        state
            .residual
            .col_mut(sample as usize)
            .copy_from_slice(column);
    }
    state.atoms.col_mut(row).copy_from_slice(atom);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::baseline::gaussian;
    use faer::Mat;

    /// Sums of two out of six random atoms.
    fn mixtures(count: usize) -> SampleMatrix {
        let dictionary = gaussian(8, 6, 11).unwrap();
        let atoms = dictionary.atoms();
        let matrix = Mat::from_fn(8, count, |row, sample| {
            let (first, second) = (sample % 6, (sample + 1 + sample / 6 % 5) % 6);
            let weight = 1.0 + (sample % 7) as f64 * 0.3;
            atoms[(row, first)] * weight - atoms[(row, second)] * 2.0
        });
        SampleMatrix::new(matrix.as_ref()).unwrap()
    }

    fn objectives(params: KsvdParams, samples: &SampleMatrix) -> (Vec<f64>, SparseCode) {
        let mut trace = Vec::new();
        let mut observer = |progress: &Progress| {
            trace.push(progress.objective);
            std::ops::ControlFlow::Continue(())
        };
        let (dictionary, code) = params.check().unwrap().fit(samples, &mut observer).unwrap();
        let errors = dictionary.errors(samples, &code).unwrap();
        let recomputed: f64 = errors.iter().map(|error| error * error).sum();
        let reported = trace.last().copied().unwrap();
        assert!(
            (recomputed - reported).abs() <= 1e-9 * (1.0 + reported),
            "{recomputed} {reported}"
        );
        (trace, code)
    }

    const PARAMS: KsvdParams = KsvdParams {
        atoms: 12,
        budget: Budget::PerSample(2),
        iterations: 30,
        update: AtomUpdate::Approximate,
        seed: 2,
    };

    #[test]
    fn explains_sums_of_two_atoms() {
        let samples = mixtures(240);
        for update in [AtomUpdate::Approximate, AtomUpdate::Exact] {
            let (trace, code) = objectives(KsvdParams { update, ..PARAMS }, &samples);
            // K-SVD is not monotone: coding each sample anew can undo what the atoms gained.
            let least = trace.iter().copied().fold(f64::INFINITY, f64::min);
            assert!(least < 0.3 * trace[0], "{update:?}: {trace:?}");
            assert!((0..240).all(|sample| code.support(sample).len() <= 2));
        }
    }

    #[test]
    fn one_exact_update_is_at_least_as_good_as_an_approximate_one() {
        let samples = mixtures(60);
        let once = |update| {
            let params = KsvdParams {
                atoms: 1,
                budget: Budget::PerSample(1),
                iterations: 1,
                update,
                seed: 5,
            };
            objectives(params, &samples).0[0]
        };
        assert!(once(AtomUpdate::Exact) <= once(AtomUpdate::Approximate) * (1.0 + 1e-12));
    }

    #[test]
    fn an_error_target_spends_more_on_harder_samples() {
        let samples = mixtures(120);
        let params = KsvdParams {
            budget: Budget::Error(0.5),
            ..PARAMS
        };
        let (dictionary, code) = params.check().unwrap().fit(&samples, &mut ()).unwrap();
        let counts: Vec<usize> = (0..120).map(|sample| code.support(sample).len()).collect();
        assert!(counts.iter().min() != counts.iter().max(), "{counts:?}");
        // The last update moved the atoms after the pursuit, so single samples may miss the target.
        let errors = dictionary.errors(&samples, &code).unwrap();
        let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / 120.0;
        assert!(mean_square <= 0.25, "{mean_square}");
    }

    #[test]
    fn an_observer_ends_the_run() {
        let mut calls = 0;
        let mut observer = |_: &Progress| {
            calls += 1;
            std::ops::ControlFlow::Break(())
        };
        PARAMS
            .check()
            .unwrap()
            .fit(&mixtures(30), &mut observer)
            .unwrap();
        assert_eq!(calls, 1);
    }

    #[test]
    fn bad_parameters_are_refused() {
        assert!(
            KsvdParams {
                iterations: 0,
                ..PARAMS
            }
            .check()
            .is_err()
        );
        assert!(KsvdParams { atoms: 0, ..PARAMS }.check().is_err());
        assert!(
            KsvdParams {
                budget: Budget::Batch(9),
                ..PARAMS
            }
            .check()
            .is_err()
        );
        let greedy = KsvdParams {
            budget: Budget::PerSample(9),
            ..PARAMS
        }
        .check()
        .unwrap();
        assert!(greedy.fit(&mixtures(30), &mut ()).is_err());
    }
}

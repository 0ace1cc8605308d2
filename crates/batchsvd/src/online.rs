//! Online l1 dictionary learning in mini-batches (after Mairal et al., 2009).
//!
//! Every mini-batch is coded with the [`lasso`](crate::lasso); sums of `xx'` and `yx'` with a
//! slowly fading memory stand for all samples seen, and one pass of block coordinate
//! descent over the atoms follows. It is cheap at any number of samples, and among the starts
//! tried it is the one from which batchwise learning ends lowest.

use crate::dictionary::normalise;
use crate::lasso::{check_lambda, code_scaled};
use crate::linalg::Columns;
use crate::linalg::kernels::{axpy, sum_of_squares};
use crate::start::random_samples;
use crate::{Dictionary, Error, SampleMatrix, SparseCode};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// How strongly old mini-batches fade: the memory at step t is `(1 - 1/t)^FADING`.
const FADING: f64 = 5.0;
/// An atom used by less than this share of the average is replaced by a sample.
const STARVED: f64 = 1e-3;
/// First guess of an adapted penalty, relative to the root mean square of the values.
const FIRST_GUESS: f64 = 0.2;
/// Largest change of an adapted penalty from one mini-batch to the next.
const ADAPTATION: f64 = 0.25;

/// The penalty of the l1 code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Penalty {
    /// A fixed `lambda` in `1/2 ||y - Ax||^2 + lambda |x|_1`.
    Lambda(f64),
    /// Adapted while learning, so that a sample has this many non-zeros on average. The
    /// natural choice in front of a batchwise budget, and free of the data's scale.
    Nonzeros(f64),
}

/// Parameters of the online stage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OnlineParams {
    /// Number of atoms.
    pub atoms: usize,
    /// Penalty of the l1 code.
    pub penalty: Penalty,
    /// Number of mini-batches.
    pub iterations: usize,
    /// Samples of a mini-batch.
    pub batch: usize,
    /// Seed of the first atoms and of the order of samples.
    pub seed: u64,
}

impl OnlineParams {
    /// The setting of the paper's experiments: 100 mini-batches of 512.
    pub fn new(atoms: usize, penalty: Penalty) -> Self {
        Self {
            atoms,
            penalty,
            iterations: 100,
            batch: 512,
            seed: 0,
        }
    }

    /// Checks the parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] for a count of zero or a penalty that is not positive and finite.
    pub fn check(self) -> Result<ValidOnlineParams, Error> {
        for (name, value) in [
            ("atoms", self.atoms),
            ("iterations", self.iterations),
            ("batch", self.batch),
        ] {
            if value == 0 {
                return Err(Error::parameter(name, "must be at least one"));
            }
        }
        let (Penalty::Lambda(value) | Penalty::Nonzeros(value)) = self.penalty;
        check_lambda(value)?;
        Ok(ValidOnlineParams(self))
    }
}

/// Parameters that passed [`OnlineParams::check`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ValidOnlineParams(OnlineParams);

impl ValidOnlineParams {
    /// Learns a dictionary.
    ///
    /// # Errors
    /// [`Error::AllZero`] when no sample has a direction.
    pub fn fit(&self, samples: &SampleMatrix) -> Result<Dictionary, Error> {
        let atoms = self.fit_scaled(samples)?;
        Dictionary::new(atoms.as_mat())
    }

    /// The learned unit atoms, without canonical sign.
    pub(crate) fn fit_scaled(&self, samples: &SampleMatrix) -> Result<Columns, Error> {
        let params = &self.0;
        let mut atoms = random_samples(samples, params.atoms, params.seed)?;
        let mut memory = Memory::new(samples.dimension(), params.atoms);
        let mut shuffle = Shuffle::new(samples.count(), params.seed);
        let mut lambda = first_lambda(params.penalty, samples);
        for step in 1..=params.iterations {
            let batch = samples.select(&shuffle.next(params.batch));
            let code = code_scaled(&atoms, &batch, lambda);
            memory.fade((1.0 - 1.0 / step as f64).powf(FADING));
            memory.add(&batch, &code);
            memory.descend(&mut atoms, &batch, &mut shuffle.random);
            if let Penalty::Nonzeros(target) = params.penalty {
                lambda = adapted(
                    lambda,
                    code.nonzeros() as f64 / batch.count() as f64,
                    target,
                );
            }
        }
        Ok(atoms)
    }
}

/// A fixed penalty in scaled units, or a first guess for an adapted one.
fn first_lambda(penalty: Penalty, samples: &SampleMatrix) -> f64 {
    match penalty {
        Penalty::Lambda(lambda) => lambda / samples.scale(),
        Penalty::Nonzeros(_) => {
            let values = samples.count() as f64 * samples.dimension() as f64;
            FIRST_GUESS * (samples.total_energy() / values).sqrt()
        }
    }
}

/// Moves the penalty towards the one with `target` non-zeros per sample.
fn adapted(lambda: f64, found: f64, target: f64) -> f64 {
    let pressure = (found / target).ln().clamp(-1.0, 1.0);
    lambda * (ADAPTATION * pressure).exp()
}

/// Endless random order of sample indices, a new permutation whenever one is used up.
struct Shuffle {
    order: Vec<usize>,
    at: usize,
    random: Pcg64Mcg,
}

impl Shuffle {
    fn new(count: usize, seed: u64) -> Self {
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ 0x5eed);
        let mut order: Vec<usize> = (0..count).collect();
        order.shuffle(&mut random);
        Self {
            order,
            at: 0,
            random,
        }
    }

    fn next(&mut self, size: usize) -> Vec<usize> {
        let size = size.min(self.order.len());
        if self.at + size > self.order.len() {
            self.order.shuffle(&mut self.random);
            self.at = 0;
        }
        self.at += size;
        self.order[self.at - size..self.at].to_vec()
    }
}

/// Faded sums of `xx'` (n x n) and `yx'` (m x n).
struct Memory {
    gram: Columns,
    cross: Columns,
}

impl Memory {
    fn new(dimension: usize, atoms: usize) -> Self {
        Self {
            gram: Columns::zeros(atoms, atoms),
            cross: Columns::zeros(dimension, atoms),
        }
    }

    fn fade(&mut self, factor: f64) {
        for value in self.gram.data_mut().iter_mut().chain(self.cross.data_mut()) {
            *value *= factor;
        }
    }

    fn add(&mut self, batch: &SampleMatrix, code: &SparseCode) {
        for sample in 0..batch.count() {
            for (atom, value) in code.entries(sample) {
                axpy(value, batch.columns().col(sample), self.cross.col_mut(atom));
                let column = self.gram.col_mut(atom);
                for (other, other_value) in code.entries(sample) {
                    column[other] += value * other_value;
                }
            }
        }
    }

    /// One pass over the atoms: each becomes the best unit atom given all others.
    ///
    /// For atom j that is the direction of `b_j - A g_j + a_j g_jj`.
    fn descend(&self, atoms: &mut Columns, batch: &SampleMatrix, random: &mut Pcg64Mcg) {
        let (m, n) = (atoms.rows(), atoms.count());
        let usage: f64 = (0..n).map(|j| self.gram.col(j)[j]).sum::<f64>() / n as f64;
        let mut direction = vec![0.0; m];
        for j in 0..n {
            let weights = self.gram.col(j);
            if weights[j] <= STARVED * usage {
                replace_by_sample(atoms.col_mut(j), batch, random);
                continue;
            }
            direction.copy_from_slice(self.cross.col(j));
            let out = MatMut::from_column_major_slice_mut(&mut direction, m, 1);
            let weights_column = MatRef::from_column_major_slice(weights, n, 1);
            matmul(
                out,
                Accum::Add,
                atoms.as_mat(),
                weights_column,
                -1.0,
                Par::Seq,
            );
            axpy(weights[j], atoms.col(j), &mut direction);
            if normalise(&mut direction).is_some() {
                atoms.col_mut(j).copy_from_slice(&direction);
            }
        }
    }
}

/// Puts the direction of a random sample in place of an atom, unless that sample is zero.
fn replace_by_sample(atom: &mut [f64], batch: &SampleMatrix, random: &mut Pcg64Mcg) {
    let sample = batch.columns().col(random.random_range(0..batch.count()));
    if sum_of_squares(sample) > 0.0 {
        atom.copy_from_slice(sample);
        normalise(atom);
    }
}

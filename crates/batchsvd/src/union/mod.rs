//! Unions of orthonormal blocks under one budget for the batch.
//!
//! Every sample uses one block. For fixed blocks and a fixed choice of block per sample, the
//! best code under a batchwise budget keeps the largest `|a'y|` **of the whole batch**: one
//! threshold for all samples. For a fixed code, the best block is a Procrustes problem. Both
//! steps are exact, so neither raises the objective. Samples choose their block by the
//! same cost, see `assign`; that step is taken only if it lowers the objective.
//!
//! The first rounds run with a threshold that falls from twice to once its final value:
//! few large coefficients shape the blocks before many small ones join. Monotonicity
//! starts after this annealing.

mod assign;
mod blocks;
mod threshold;

use crate::observer::Reporter;
use crate::pursuit::{capacity, check_batch_budget};
use crate::{
    BatchSvdParams, Dictionary, Error, Fit, Observer, Phase, Progress, SampleMatrix, SparseCode,
    Start,
};
use blocks::Blocks;
use faer::{Mat, MatRef};
use threshold::{Coefficients, Cut};

/// How many coefficients a batch may keep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Sparsity {
    /// This many in the whole batch. Monotone in `||Y - AX||^2`.
    Budget(usize),
    /// All above this magnitude. Monotone in `||Y - AX||^2 + T^2 ||X||_0`.
    Threshold(f64),
}

/// First blocks.
#[derive(Clone, Debug, PartialEq)]
pub enum UnionStart {
    /// Principal axes of clusters of similar directions.
    Clusters,
    /// These square matrices, brought to the nearest orthonormal ones.
    Blocks(Vec<Mat<f64>>),
    /// These, which stay as they are (but for order and sign of their atoms), and clusters for
    /// the blocks after them.
    Beside(Vec<Mat<f64>>),
}

/// Parameters of the learning of orthonormal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionParams {
    /// Number of blocks.
    pub blocks: usize,
    /// Coefficients kept.
    pub sparsity: Sparsity,
    /// First blocks.
    pub start: UnionStart,
    /// Rounds with a falling threshold.
    pub annealing: usize,
    /// Rounds at the final threshold.
    pub rounds: usize,
    /// Stop once a round lowers the objective by no more than this share.
    pub tolerance: f64,
    /// Seed of the clusters.
    pub seed: u64,
}

impl UnionParams {
    /// Six annealing rounds, then up to 20 more.
    pub fn new(blocks: usize, sparsity: Sparsity) -> Self {
        Self {
            blocks,
            sparsity,
            start: UnionStart::Clusters,
            annealing: 6,
            rounds: 20,
            tolerance: 1e-4,
            seed: 0,
        }
    }

    /// Checks everything that can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first field outside its domain.
    pub fn check(self) -> Result<ValidUnionParams, Error> {
        if self.blocks == 0 {
            return Err(Error::parameter("blocks", "must be at least one"));
        }
        let valid = match self.sparsity {
            Sparsity::Budget(budget) => budget > 0,
            Sparsity::Threshold(threshold) => threshold.is_finite() && threshold > 0.0,
        };
        if !valid {
            return Err(Error::parameter("sparsity", "must be positive and finite"));
        }
        if !(0.0..=1.0).contains(&self.tolerance) {
            return Err(Error::parameter("tolerance", "must be within 0..=1"));
        }
        if let UnionStart::Blocks(blocks) = &self.start
            && blocks.len() != self.blocks
        {
            let reason = format!("{} given for {} blocks", blocks.len(), self.blocks);
            return Err(Error::parameter("start", reason));
        }
        if let UnionStart::Beside(fixed) = &self.start
            && fixed.len() >= self.blocks
        {
            return Err(Error::parameter("start", "leaves no block to learn"));
        }
        Ok(ValidUnionParams(self))
    }
}

/// Parameters that passed [`UnionParams::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct ValidUnionParams(UnionParams);

/// Learned orthonormal blocks.
#[derive(Clone, Debug, PartialEq)]
pub struct UnionFit {
    /// All blocks side by side. Inside a block, atoms are canonical in sign and order.
    pub dictionary: Dictionary,
    /// The code of the batch; all atoms of a sample belong to its block.
    pub code: SparseCode,
    /// The block of every sample.
    pub assignment: Vec<u32>,
    /// Magnitude of the smallest coefficient kept.
    pub threshold: f64,
    /// `||Y - AX||_F^2`.
    pub objective: f64,
    /// What the observer was told.
    pub trace: Vec<Progress>,
    /// Whether the run ended by itself rather than on the observer's wish.
    pub finished: bool,
}

impl UnionFit {
    /// The atoms of one block, a square orthonormal matrix.
    ///
    /// # Panics
    /// If there is no such block.
    pub fn block(&self, block: usize) -> MatRef<'_, f64> {
        let m = self.dictionary.dimension();
        self.dictionary.atoms().subcols(block * m, m)
    }
}

impl ValidUnionParams {
    /// Learns blocks from a batch.
    ///
    /// # Errors
    /// [`Error::BudgetAboveCapacity`], or [`Error::Shape`] and [`Error::NonFinite`] for
    /// first blocks that do not fit.
    pub fn fit(&self, samples: &SampleMatrix) -> Result<UnionFit, Error> {
        self.fit_observed(samples, &mut ())
    }

    /// [`fit`](Self::fit) with an observer.
    ///
    /// # Errors
    /// As [`fit`](Self::fit).
    pub fn fit_observed(
        &self,
        samples: &SampleMatrix,
        observer: &mut dyn Observer,
    ) -> Result<UnionFit, Error> {
        let params = &self.0;
        let (m, p) = (samples.dimension(), samples.count());
        if let Sparsity::Budget(budget) = params.sparsity {
            check_batch_budget(budget, capacity(m, m, p))?;
        }
        let blocks = match &params.start {
            UnionStart::Clusters => Blocks::from_clusters(samples, params.blocks, params.seed)?,
            UnionStart::Blocks(given) => Blocks::from_given(samples, given)?,
            UnionStart::Beside(fixed) => {
                let learned = params.blocks - fixed.len();
                let clusters = Blocks::from_clusters(samples, learned, params.seed)?;
                Blocks::from_given(samples, fixed)?
                    .fix()
                    .followed_by(&clusters)
            }
        };
        let run = Run::new(params, samples, blocks, Reporter::new(observer));
        Ok(run.complete())
    }
}

/// A run under way. The code belongs to the blocks and the assignment.
struct Run<'r> {
    params: &'r UnionParams,
    samples: &'r SampleMatrix,
    blocks: Blocks,
    assignment: Vec<u32>,
    cut: Cut,
    reporter: Reporter<'r>,
}

impl<'r> Run<'r> {
    fn new(
        params: &'r UnionParams,
        samples: &'r SampleMatrix,
        blocks: Blocks,
        reporter: Reporter<'r>,
    ) -> Self {
        let assignment = assign::by_largest(&blocks, samples);
        let coefficients = Coefficients::new(&blocks, samples, &assignment);
        let cut = coefficients.cut(scaled(params.sparsity, samples), anneal(params, 0), None);
        Self {
            params,
            samples,
            blocks,
            assignment,
            cut,
            reporter,
        }
    }

    fn complete(mut self) -> UnionFit {
        let total = self.params.annealing + self.params.rounds;
        let mut finished = true;
        for round in 0..total {
            let before = self.cut.cost;
            self.round(round);
            self.report(round);
            if self.reporter.stopped {
                finished = round + 1 == total;
                break;
            }
            let settled = before - self.cut.cost <= self.params.tolerance * before;
            if round > self.params.annealing && settled {
                break;
            }
        }
        self.into_fit(finished)
    }

    /// Rotates the blocks, then lets the samples choose and codes them anew.
    fn round(&mut self, round: usize) {
        let factor = anneal(self.params, round);
        let sparsity = scaled(self.params.sparsity, self.samples);
        self.blocks.rotate(self.samples, &self.cut.code);
        self.blocks
            .revive(self.samples, &self.assignment, &self.cut.errors);
        let hint = Some(self.cut.threshold);
        let coefficients = Coefficients::new(&self.blocks, self.samples, &self.assignment);
        let stay = coefficients.cut(sparsity, factor, hint);
        if self.params.blocks > 1 {
            let target = (stay.threshold, stay.code.nonzeros());
            let choice = assign::by_cost(&self.blocks, self.samples, &self.assignment, target);
            let coefficients = Coefficients::new(&self.blocks, self.samples, &choice);
            let moved = coefficients.cut(sparsity, factor, hint);
            if moved.cost < stay.cost || round < self.params.annealing {
                (self.assignment, self.cut) = (choice, moved);
                return;
            }
        }
        self.cut = stay;
    }

    fn report(&mut self, round: usize) {
        let scale = self.samples.scale();
        self.reporter.tell(Progress {
            phase: Phase::Orthonormal,
            iteration: round,
            objective: self.cut.objective() * scale * scale,
            nonzeros: self.cut.code.nonzeros(),
        });
    }

    fn into_fit(self, finished: bool) -> UnionFit {
        let scale = self.samples.scale();
        let m = self.samples.dimension();
        let (dictionary, code) = Dictionary::canonical(self.blocks.columns(), &self.cut.code, m);
        UnionFit {
            dictionary,
            code: code.scaled(scale),
            assignment: self.assignment,
            threshold: self.cut.threshold * scale,
            objective: self.cut.objective() * scale * scale,
            trace: self.reporter.trace,
            finished,
        }
    }
}

/// The sparsity in scaled units.
fn scaled(sparsity: Sparsity, samples: &SampleMatrix) -> Sparsity {
    match sparsity {
        Sparsity::Budget(budget) => Sparsity::Budget(budget),
        Sparsity::Threshold(threshold) => Sparsity::Threshold(threshold / samples.scale()),
    }
}

/// Factor on the threshold: from two down to one during the annealing.
fn anneal(params: &UnionParams, round: usize) -> f64 {
    if round >= params.annealing {
        return 1.0;
    }
    2.0 - round as f64 / params.annealing as f64
}

/// A run of [`BatchSvdParams`] with an orthonormal structure.
pub(crate) fn fit_structured(
    params: &BatchSvdParams,
    blocks: usize,
    samples: &SampleMatrix,
    observer: &mut dyn Observer,
) -> Result<Fit, Error> {
    let m = samples.dimension();
    crate::error::same_size("the number of atoms", blocks * m, params.atoms)?;
    let start = match &params.start {
        Start::Given(dictionary) => {
            crate::error::same_size("the number of atoms", params.atoms, dictionary.count())?;
            let block = |b: usize| dictionary.atoms().subcols(b * m, m).to_owned();
            UnionStart::Blocks((0..blocks).map(block).collect())
        }
        _ => UnionStart::Clusters,
    };
    let union = UnionParams {
        start,
        rounds: params.iterations,
        tolerance: params.tolerance,
        seed: params.seed,
        ..UnionParams::new(blocks, Sparsity::Budget(params.budget))
    };
    let fit = union.check()?.fit_observed(samples, observer)?;
    Ok(Fit {
        dictionary: fit.dictionary,
        code: fit.code,
        objective: fit.objective,
        trace: fit.trace,
        finished: fit.finished,
    })
}

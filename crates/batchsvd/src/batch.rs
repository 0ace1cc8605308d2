//! Algorithm 4: BatchSVD, and the parameters of a whole run.

use crate::alternate::{coded, keep_better, step};
use crate::amplitude::refit;
use crate::checkpoint::{Checkpoint, Stage};
use crate::observer::Reporter;
use crate::pursuit::{BlockPursuit, capacity, check_batch_budget};
use crate::{
    Alternate, Dictionary, Error, Factorization, Leading, Observer, Pairs, Phase, Progress, Rule,
    SampleMatrix, SparseCode, Start, Structure, Swaps, union,
};

/// When Algorithm 2 runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Inter {
    /// Never.
    Never,
    /// When Algorithm 1 lowered the objective by less than this share.
    WhenSlow(f64),
    /// In every iteration.
    Always,
}

/// Parameters of a run; [`check`](BatchSvdParams::check) them, then `fit`.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchSvdParams {
    /// Number of atoms n.
    pub atoms: usize,
    /// Non-zeros of the whole batch.
    pub budget: usize,
    /// What the dictionary must look like.
    pub structure: Structure,
    /// Where the first dictionary comes from.
    pub start: Start,
    /// Algorithm 5 in front of the main loop.
    pub alternate: Alternate,
    /// Iterations of the main loop, or rounds for orthonormal structures.
    pub iterations: usize,
    /// Repetitions inside Algorithm 1 (the paper's N1); zero leaves it out.
    pub inner_steps: usize,
    /// How Algorithm 1 finds the leading vector.
    pub leading: Leading,
    /// When Algorithm 2 runs.
    pub inter: Inter,
    /// Share of all pairs that Algorithm 2 visits, chosen at random anew each time.
    pub inter_share: f64,
    /// Exchange between samples, beyond the paper.
    pub exchange: Option<Swaps>,
    /// Repetitions inside Algorithm 3 (the paper's N2).
    pub amplitude_steps: usize,
    /// Stop once an iteration lowers the objective by no more than this share.
    pub tolerance: f64,
    /// Seed of everything random.
    pub seed: u64,
}

impl BatchSvdParams {
    /// The paper's method: random samples, 80 alternations with Block OMP, then at most 20
    /// iterations with N1 = 3, N2 = 10 and the 0.05 gate.
    pub fn paper(atoms: usize, budget: usize) -> Self {
        Self {
            atoms,
            budget,
            structure: Structure::Free,
            start: Start::Samples,
            alternate: Alternate {
                rule: Rule::Omp,
                iterations: 80,
            },
            iterations: 20,
            inner_steps: 3,
            leading: Leading::Power { steps: 4 },
            inter: Inter::WhenSlow(0.05),
            inter_share: 1.0,
            exchange: None,
            amplitude_steps: 10,
            tolerance: 1e-6,
            seed: 0,
        }
    }

    /// The pipeline that ends lowest: online l1 start, 80 alternations with Block OLS, then
    /// 15 iterations of exchange, swaps and amplitude adjustment.
    pub fn best(atoms: usize, budget: usize) -> Self {
        Self {
            start: Start::Online {
                lambda: None,
                iterations: 100,
            },
            alternate: Alternate {
                rule: Rule::Ols,
                iterations: 80,
            },
            iterations: 15,
            inner_steps: 0,
            inter: Inter::Never,
            exchange: Some(Swaps::Within),
            amplitude_steps: 3,
            ..Self::paper(atoms, budget)
        }
    }

    /// The same for large batches, where passes over the data are what costs: 4
    /// alternations and 2 iterations.
    pub fn large(atoms: usize, budget: usize) -> Self {
        Self {
            alternate: Alternate {
                rule: Rule::Ols,
                iterations: 4,
            },
            iterations: 2,
            ..Self::best(atoms, budget)
        }
    }

    /// Checks everything that can be checked without data.
    ///
    /// # Errors
    /// [`Error::Parameter`] naming the first field outside its domain.
    pub fn check(self) -> Result<ValidBatchSvdParams, Error> {
        let at_least_one = [("atoms", self.atoms), ("budget", self.budget)];
        for (name, value) in at_least_one {
            if value == 0 {
                return Err(Error::parameter(name, "must be at least one"));
            }
        }
        if self.atoms > u32::MAX as usize {
            return Err(Error::parameter("atoms", "must fit in 32 bits"));
        }
        if matches!(self.leading, Leading::Power { steps: 0 }) {
            return Err(Error::parameter("leading", "needs at least one power step"));
        }
        let share = |name, value: f64| {
            if (0.0..=1.0).contains(&value) {
                return Ok(());
            }
            Err(Error::parameter(
                name,
                format!("{value} is not within 0..=1"),
            ))
        };
        share("inter_share", self.inter_share)?;
        share("tolerance", self.tolerance)?;
        if let Inter::WhenSlow(gate) = self.inter {
            share("inter", gate)?;
        }
        self.structure.check()?;
        Ok(ValidBatchSvdParams(self))
    }
}

/// Parameters that passed [`BatchSvdParams::check`].
#[derive(Clone, Debug, PartialEq)]
pub struct ValidBatchSvdParams(BatchSvdParams);

/// What a run learned.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// The atoms, canonical in sign and order (orthonormal structures keep their blocks).
    pub dictionary: Dictionary,
    /// The code of the batch over these atoms.
    pub code: SparseCode,
    /// `||Y - AX||_F^2`.
    pub objective: f64,
    /// What the observer was told.
    pub trace: Vec<Progress>,
    /// Whether the run ended by itself rather than on the observer's wish.
    pub finished: bool,
}

impl ValidBatchSvdParams {
    /// The checked parameters.
    pub fn params(&self) -> &BatchSvdParams {
        &self.0
    }

    /// Learns a dictionary and a code from a batch.
    ///
    /// # Errors
    /// [`Error::BudgetAboveCapacity`], [`Error::AllZero`], or [`Error::Shape`] for a start
    /// that does not fit the samples.
    pub fn fit(&self, samples: &SampleMatrix) -> Result<Fit, Error> {
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
    ) -> Result<Fit, Error> {
        let params = &self.0;
        let limit = capacity(samples.dimension(), params.atoms, samples.count());
        check_batch_budget(params.budget, limit)?;
        if let Some(blocks) = params.structure.blocks() {
            return union::fit_structured(params, blocks, samples, observer);
        }
        let atoms = params
            .start
            .atoms(samples, params.atoms, params.budget, params.seed)?;
        let mut pursuit = BlockPursuit::new(params.alternate.rule, params.budget);
        let state = coded(samples, atoms, &mut pursuit);
        let mut run = Run {
            params: self,
            pursuit,
            state,
            best: None,
            stage: Stage::Alternate(0),
            reporter: Reporter::new(observer),
        };
        run.reporter.report(Phase::Start, 0, &run.state);
        Ok(run.complete())
    }

    /// Goes on from a checkpoint of the same run: the result is the same to the bit as if
    /// the run had never stopped.
    ///
    /// # Errors
    /// [`Error::Checkpoint`] if it belongs to other parameters or samples.
    pub fn resume(
        &self,
        samples: &SampleMatrix,
        checkpoint: &Checkpoint,
        observer: &mut dyn Observer,
    ) -> Result<Fit, Error> {
        checkpoint.check_belongs(self, samples)?;
        let (state, best) = checkpoint.restore(samples);
        let mut reporter = Reporter::new(observer);
        reporter.trace = checkpoint.trace.clone();
        let run = Run {
            params: self,
            pursuit: BlockPursuit::new(self.0.alternate.rule, self.0.budget),
            state,
            best,
            stage: checkpoint.stage,
            reporter,
        };
        Ok(run.complete())
    }
}

/// A run under way. `best` is present during the alternations only.
struct Run<'r, 's> {
    params: &'r ValidBatchSvdParams,
    pursuit: BlockPursuit,
    state: Factorization<'s>,
    best: Option<Factorization<'s>>,
    stage: Stage,
    reporter: Reporter<'r>,
}

impl Run<'_, '_> {
    fn complete(mut self) -> Fit {
        while !self.reporter.stopped {
            let next = match self.stage {
                Stage::Alternate(iteration) => self.alternate(iteration),
                Stage::Main(iteration) => self.iterate(iteration),
                Stage::Done => break,
            };
            self.stage = next;
            let Self {
                params,
                state,
                best,
                reporter,
                ..
            } = &mut self;
            let snapshot = || Checkpoint::of(params, next, state, best.as_ref(), &reporter.trace);
            reporter.observer.between_iterations(&snapshot);
        }
        let finished = self.stage == Stage::Done;
        let state = self.best.unwrap_or(self.state);
        let (dictionary, code) = state.finish();
        Fit {
            dictionary,
            code,
            objective: state.objective(),
            trace: self.reporter.trace,
            finished,
        }
    }

    /// One alternation of Algorithm 5; returns what comes next.
    fn alternate(&mut self, iteration: usize) -> Stage {
        let planned = self.params.0.alternate.iterations;
        if iteration < planned {
            step(&mut self.state, &mut self.pursuit, iteration > 0);
            keep_better(&mut self.best, &self.state);
            self.reporter
                .report(Phase::Alternate, iteration, &self.state);
        }
        if iteration + 1 < planned {
            return Stage::Alternate(iteration + 1);
        }
        if let Some(best) = self.best.take() {
            self.state = best;
        }
        Stage::main_or_done(0, self.params.0.iterations)
    }

    /// One iteration of Algorithm 4; returns what comes next.
    fn iterate(&mut self, iteration: usize) -> Stage {
        let params = &self.params.0;
        let before = self.state.scaled_objective();
        if params.inner_steps > 0 {
            self.state
                .switch_inner_rows(params.inner_steps, params.leading);
            self.reporter.report(Phase::Inner, iteration, &self.state);
        }
        if params.inter.is_due(before, self.state.scaled_objective()) {
            refit(&mut self.state);
            self.state.switch_inter_rows(&params.pairs(iteration));
            self.reporter.report(Phase::Inter, iteration, &self.state);
        }
        if let Some(swaps) = params.exchange {
            self.state.exchange(swaps);
            self.reporter
                .report(Phase::Exchange, iteration, &self.state);
        }
        self.state.repair_dead_atoms();
        self.state.adjust_amplitudes(params.amplitude_steps);
        self.reporter
            .report(Phase::Amplitude, iteration, &self.state);
        if before - self.state.scaled_objective() <= params.tolerance * before {
            return Stage::Done;
        }
        Stage::main_or_done(iteration + 1, params.iterations)
    }
}

impl Inter {
    fn is_due(self, before: f64, after_inner: f64) -> bool {
        match self {
            Self::Never => false,
            Self::WhenSlow(gate) => before - after_inner < gate * before,
            Self::Always => true,
        }
    }
}

impl BatchSvdParams {
    fn pairs(&self, iteration: usize) -> Pairs {
        if self.inter_share >= 1.0 {
            return Pairs::All;
        }
        Pairs::Random {
            share: self.inter_share,
            seed: self.seed.wrapping_add(iteration as u64),
        }
    }
}

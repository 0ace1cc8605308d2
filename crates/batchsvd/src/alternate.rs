//! Algorithm 5: the start, alternating a pursuit of the whole batch with a dictionary update.
//!
//! Not monotone: recoding from scratch may raise the objective before the update wins it back.
//! So every step is taken, and the best state ever seen is what comes out.

use crate::amplitude::update_atoms;
use crate::code::check_dimension;
use crate::observer::Reporter;
use crate::pursuit::{BlockPursuit, capacity, check_batch_budget};
use crate::{Dictionary, Error, Factorization, Observer, Phase, Rule, SampleMatrix};

/// Parameters of Algorithm 5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Alternate {
    /// How the batch pursuit ranks atoms.
    pub rule: Rule,
    /// Number of alternations; at least one is made, because a code is needed.
    pub iterations: usize,
}

/// Runs Algorithm 5 from a given dictionary with `budget` non-zeros for the batch.
///
/// # Errors
/// [`Error::Shape`] for atoms of another length than the samples, [`Error::Parameter`] or
/// [`Error::BudgetAboveCapacity`] for a budget that cannot be spent.
pub fn alternate<'s>(
    samples: &'s SampleMatrix,
    dictionary: &Dictionary,
    budget: usize,
    params: Alternate,
    observer: &mut dyn Observer,
) -> Result<Factorization<'s>, Error> {
    check_dimension(dictionary, samples)?;
    let limit = capacity(samples.dimension(), dictionary.count(), samples.count());
    check_batch_budget(budget, limit)?;
    let mut pursuit = BlockPursuit::new(params.rule, budget);
    let mut reporter = Reporter::new(observer);
    let mut state = coded(samples, dictionary.columns().clone(), &mut pursuit);
    let mut best: Option<Factorization<'s>> = None;
    for iteration in 0..params.iterations.max(1) {
        step(&mut state, &mut pursuit, iteration > 0);
        keep_better(&mut best, &state);
        reporter.report(Phase::Alternate, iteration, &state);
        if reporter.stopped {
            break;
        }
    }
    Ok(best.unwrap_or(state))
}

/// Codes the batch over the given atoms.
pub(crate) fn coded<'s>(
    samples: &'s SampleMatrix,
    atoms: crate::linalg::Columns,
    pursuit: &mut BlockPursuit,
) -> Factorization<'s> {
    let code = pursuit.run(&atoms, samples);
    Factorization::from_scaled(samples, atoms, code)
}

/// One alternation: unless the code is fresh, dead atoms are replaced and the batch is coded
/// anew; then the dictionary is updated.
pub(crate) fn step(state: &mut Factorization<'_>, pursuit: &mut BlockPursuit, recode: bool) {
    if recode {
        state.repair_dead_atoms();
        state.code = pursuit.run(&state.atoms, state.samples);
        state.refresh_residual();
    }
    update_atoms(state);
}

/// Replaces `best` by `state` if that has a lower objective.
pub(crate) fn keep_better<'s>(best: &mut Option<Factorization<'s>>, state: &Factorization<'s>) {
    let better = best
        .as_ref()
        .is_none_or(|best| state.scaled_objective() < best.scaled_objective());
    if better {
        *best = Some(state.clone());
    }
}

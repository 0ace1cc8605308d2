//! Exchange of non-zeros between samples, and swaps inside them (beyond the paper).
//!
//! Given the dictionary, the objective is a sum over samples. A sample that gives up its
//! cheapest atom loses `x_j^2 / [(G_S)^-1]_jj`; one that receives its best new atom gains
//! `c_j^2 / rho_j`; both after refitting, so both are exact. Moving a non-zero from a donor to
//! a receiver with `gain > loss` therefore lowers the objective by exactly the difference,
//! and moves between disjoint samples do not disturb one another. So a round pairs the
//! cheapest donors with the neediest receivers, every sample at most once, carries out all
//! profitable pairs at the same time, and evaluates only the samples that changed. Rounds
//! are parallel over samples and give the same result for any number of threads.

mod sample_state;

use crate::Factorization;
use crate::SparseCode;
use bitvec::prelude::bitvec;
use rayon::prelude::*;
use sample_state::{Evaluator, SampleState};

/// A move must gain this much more than it costs.
const TOLERANCE: f64 = 1e-10;
/// Rounds stop once fewer than this share of the samples is involved.
const WORTHWHILE: f64 = 1e-3;
/// Samples evaluated together, sharing one matrix product.
const GROUP: usize = 64;

/// Whether the exchange also trades atoms inside a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Swaps {
    /// Only moves between samples.
    None,
    /// Also replaces an atom of a sample by a better one, as long as that pays.
    Within,
}

/// Runs rounds until moves no longer pay; returns how many moves and swaps were made.
pub(crate) fn run(state: &mut Factorization<'_>, swaps: Swaps) -> usize {
    let evaluator = Evaluator::new(&state.atoms, state.samples, swaps);
    let supports = |sample: usize| state.code.support(sample).to_vec();
    let everyone: Vec<(usize, Vec<u32>)> = (0..state.samples.count())
        .map(|sample| (sample, supports(sample)))
        .collect();
    let mut sample_states = evaluate(&evaluator, &everyone);
    let mut changes = sample_states
        .iter()
        .map(|sample_state| sample_state.swaps)
        .sum();
    let enough = (state.samples.count() as f64 * WORTHWHILE) as usize;
    loop {
        let pairs = pair_up(&sample_states);
        changes += carry_out(&pairs, &mut sample_states, &evaluator);
        if pairs.len() <= enough {
            break;
        }
    }
    let code = collect(&sample_states, &state.code);
    if adopt(state, code) { changes } else { 0 }
}

/// Puts the new code in place of the old one unless the objective would rise; tells whether.
///
/// The states come from normal equations. Over nearly dependent atoms these lose what the
/// old amplitudes, corrected by residuals, had: where nothing is left to gain, that is a rise.
fn adopt(state: &mut Factorization<'_>, code: SparseCode) -> bool {
    let before = state.scaled_objective();
    let old = std::mem::replace(&mut state.code, code);
    state.refresh_residual();
    let lower = state.scaled_objective() <= before;
    if !lower {
        state.code = old;
        state.refresh_residual();
    }
    lower
}

/// Carries out the moves that prove profitable; returns how many, with the swaps they led to.
///
/// A move that does not (the receiver's atoms turn out dependent to working precision) is
/// undone on both sides, so that the budget holds, and its samples take no further part.
fn carry_out(
    pairs: &[(usize, usize)],
    sample_states: &mut [SampleState],
    evaluator: &Evaluator<'_>,
) -> usize {
    let moved: Vec<(usize, Vec<u32>)> = pairs
        .iter()
        .flat_map(|&(donor, receiver)| {
            let less = sample_states[donor].without_cheapest();
            let more = sample_states[receiver].with_best();
            [(donor, less), (receiver, more)]
        })
        .collect();
    let mut evaluated = evaluate(evaluator, &moved).into_iter();
    let mut changes = 0;
    for &(donor, receiver) in pairs {
        let (Some(less), Some(more)) = (evaluated.next(), evaluated.next()) else {
            break;
        };
        let before = sample_states[donor].error() + sample_states[receiver].error();
        if less.error() + more.error() < before {
            changes += 1 + less.swaps + more.swaps;
            (sample_states[donor], sample_states[receiver]) = (less, more);
        } else {
            sample_states[donor].retire();
            sample_states[receiver].retire();
        }
    }
    changes
}

/// States of the given samples with the given supports, in order.
fn evaluate(evaluator: &Evaluator<'_>, work: &[(usize, Vec<u32>)]) -> Vec<SampleState> {
    work.par_chunks(GROUP)
        .map_init(
            || evaluator.scratch(),
            |scratch, group| evaluator.evaluate(scratch, group),
        )
        .flatten_iter()
        .collect()
}

/// Profitable (donor, receiver) pairs: cheapest with neediest, every sample at most once.
fn pair_up(sample_states: &[SampleState]) -> Vec<(usize, usize)> {
    let ranked = |key: fn(&SampleState) -> Option<f64>, sign: f64| {
        let mut list: Vec<(f64, usize)> = (sample_states.iter().enumerate())
            .filter_map(|(sample, sample_state)| key(sample_state).map(|value| (value, sample)))
            .collect();
        list.par_sort_unstable_by(|a, b| (sign * a.0).total_cmp(&(sign * b.0)).then(a.1.cmp(&b.1)));
        list
    };
    let donors = ranked(SampleState::loss, 1.0);
    let receivers = ranked(SampleState::gain, -1.0);
    let mut taken = bitvec![0; sample_states.len()];
    let mut pairs = Vec::new();
    let mut candidates = donors.iter();
    for &(gain, receiver) in &receivers {
        if taken.replace(receiver, true) {
            continue;
        }
        match candidates.find(|donor| !taken[donor.1]) {
            Some(&(loss, donor)) if gain > loss * (1.0 + TOLERANCE) => {
                taken.set(donor, true);
                pairs.push((donor, receiver));
            }
            _ => break,
        }
    }
    pairs
}

/// The code that belongs to the states; samples that could not take part keep theirs.
fn collect(sample_states: &[SampleState], old: &SparseCode) -> SparseCode {
    let mut code = SparseCode::new(old.atom_count());
    for (sample, sample_state) in sample_states.iter().enumerate() {
        match sample_state.entries() {
            Some(entries) => code.push_sorted(entries.iter().copied()),
            None => {
                let kept = old.support(sample).iter().zip(old.values(sample));
                code.push_sorted(kept.map(|(&atom, &value)| (atom, value)));
            }
        }
    }
    code
}

//! Greedy pursuit of a whole batch under one budget (Block OMP and Block OLS), without a heap.
//!
//! The definition: repeatedly take the (sample, atom) pair with the best score over the
//! whole batch, refit that sample, until the budget is spent. A sample's sequence of choices
//! does not depend on the other samples, only the moment at which it stops does. A heap
//! would take step t of a sample once the score has fallen to the smallest score among
//! the sample's first t steps, so with these running minima as keys the budget goes to the
//! N largest keys of the batch (ties: lower sample, then earlier step; exactly the heap's
//! order). Each sample is therefore expanded on its own until its score falls below a guess
//! of the final cut, and one selection over all keys replaces the heap. If the guess was too
//! high to collect N keys, it is lowered and the batch runs again; the result never depends
//! on the guess.

use super::expansion::{Expansion, packed, sorted_entries};
use super::{Rule, for_chunks};
use crate::linalg::Columns;
use crate::{SampleMatrix, SparseCode};

/// Samples from which the first cut is guessed.
const PROBES: usize = 300;
/// How many times the average number of steps a probed sample is expanded.
const PROBE_DEPTH: usize = 4;
/// How far below the estimated cut the samples are expanded the first time.
const FIRST_MARGIN: f64 = 0.7;
/// The same when the cut of an earlier run with a similar dictionary is known.
const WARM_MARGIN: f64 = 0.85;

/// Pursuit of batches under one budget; remembers the cut to make the next run cheaper.
#[derive(Clone, Debug)]
pub(crate) struct BlockPursuit {
    rule: Rule,
    budget: usize,
    last_cut: Option<f64>,
}

/// The expansions of a chunk of samples, one after another.
#[derive(Default)]
struct Paths {
    lengths: Vec<usize>,
    atoms: Vec<u32>,
    projections: Vec<f64>,
    keys: Vec<f64>,
    factors: Vec<f64>,
}

impl BlockPursuit {
    pub(crate) fn new(rule: Rule, budget: usize) -> Self {
        Self {
            rule,
            budget,
            last_cut: None,
        }
    }

    /// Codes the scaled samples.
    pub(crate) fn run(&mut self, atoms: &Columns, samples: &SampleMatrix) -> SparseCode {
        let gram = atoms.gram();
        let mut floor = match self.last_cut {
            Some(cut) => cut * WARM_MARGIN,
            None => self.probe(atoms, &gram, samples) * FIRST_MARGIN,
        };
        loop {
            let paths = self.expand(atoms, &gram, samples, floor, usize::MAX);
            let found: usize = paths.iter().map(|part| part.keys.len()).sum();
            if found < self.budget && floor > 0.0 {
                floor = lowered(floor, found, self.budget);
                continue;
            }
            let (counts, cut) = allocate(&paths, self.budget);
            self.last_cut = Some(cut);
            return assemble(atoms.count(), &paths, &counts);
        }
    }

    /// Estimates the cut from a few samples; zero if they cannot tell.
    fn probe(&self, atoms: &Columns, gram: &Columns, samples: &SampleMatrix) -> f64 {
        let step = samples.count().div_ceil(PROBES);
        let indices: Vec<usize> = (0..samples.count()).step_by(step).collect();
        let share = self.budget as f64 * indices.len() as f64 / samples.count() as f64;
        let most = PROBE_DEPTH * (self.budget / samples.count() + 1);
        let paths = self.expand(atoms, gram, &samples.select(&indices), 0.0, most);
        let mut keys: Vec<f64> = paths.into_iter().flat_map(|part| part.keys).collect();
        let share = share as usize;
        if share >= keys.len() {
            return 0.0;
        }
        *keys.select_nth_unstable_by(share, |a, b| b.total_cmp(a)).1
    }

    /// Expands every sample while its score is at least `floor`, by at most `most` steps.
    fn expand(
        &self,
        atoms: &Columns,
        gram: &Columns,
        samples: &SampleMatrix,
        floor: f64,
        most: usize,
    ) -> Vec<Paths> {
        for_chunks(atoms, samples, |expansion, range, correlations| {
            let mut paths = Paths::default();
            for (sample, correlations) in range.zip(correlations.chunks_exact(gram.rows())) {
                expansion.reset(correlations, samples.energy(sample));
                let mut key = f64::INFINITY;
                while expansion.len() < most
                    && let Some(score) = expansion.grow(gram, self.rule, floor)
                {
                    key = score.min(key);
                    paths.keys.push(key);
                }
                paths.store(expansion);
            }
            paths
        })
    }
}

/// The next guess after one that collected too few keys.
fn lowered(floor: f64, found: usize, budget: usize) -> f64 {
    let factor = if found * 2 < budget { 0.05 } else { 0.5 };
    let next = floor * factor;
    if next > f64::MIN_POSITIVE { next } else { 0.0 }
}

impl Paths {
    fn store(&mut self, expansion: &Expansion) {
        self.lengths.push(expansion.len());
        self.atoms.extend_from_slice(expansion.chosen());
        self.projections.extend_from_slice(expansion.projections());
        self.factors.extend_from_slice(expansion.factor());
    }
}

/// How many steps every sample keeps, and the smallest key kept.
fn allocate(paths: &[Paths], budget: usize) -> (Vec<usize>, f64) {
    let mut keys: Vec<(f64, u32)> = Vec::with_capacity(paths.iter().map(|p| p.keys.len()).sum());
    let mut sample = 0u32;
    for part in paths {
        let mut rest = part.keys.as_slice();
        for &length in &part.lengths {
            let (own, others) = rest.split_at(length);
            keys.extend(own.iter().map(|&key| (key, sample)));
            rest = others;
            sample += 1;
        }
    }
    if budget < keys.len() {
        keys.select_nth_unstable_by(budget - 1, |a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        keys.truncate(budget);
    }
    let mut counts = vec![0; sample as usize];
    let mut cut = f64::INFINITY;
    for (key, sample) in keys {
        counts[sample as usize] += 1;
        cut = cut.min(key);
    }
    (counts, if cut.is_finite() { cut } else { 0.0 })
}

/// Amplitudes of the kept prefix of every sample.
fn assemble(atom_count: usize, paths: &[Paths], counts: &[usize]) -> SparseCode {
    let mut code = SparseCode::new(atom_count);
    let mut entries = Vec::new();
    let mut counts = counts.iter();
    for part in paths {
        let (mut at, mut factor_at) = (0, 0);
        for (&length, &kept) in part.lengths.iter().zip(&mut counts) {
            let factor = &part.factors[factor_at..][..packed(length)];
            let steps = at..at + kept;
            let (atoms, projections) = (&part.atoms[steps.clone()], &part.projections[steps]);
            sorted_entries(atoms, projections, factor, &mut entries);
            code.push_sorted(entries.iter().copied());
            at += length;
            factor_at += packed(length);
        }
    }
    code
}

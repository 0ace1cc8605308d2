//! Pursuit of every sample on its own: a fixed number of atoms, or an error target.

use super::expansion::Expansion;
use super::{Rule, for_chunks};
use crate::linalg::Columns;
use crate::{SampleMatrix, SparseCode};

/// Codes each scaled sample with at most `most` atoms, stopping once the residual's energy
/// is at most `target`.
pub(super) fn pursue(
    atoms: &Columns,
    samples: &SampleMatrix,
    rule: Rule,
    most: usize,
    target: f64,
) -> SparseCode {
    let gram = atoms.gram();
    let parts = for_chunks(atoms, samples, |expansion, range, correlations| {
        let mut entries = Vec::new();
        let mut coded = Vec::with_capacity(range.len());
        for (sample, correlations) in range.zip(correlations.chunks_exact(gram.rows())) {
            expansion.reset(correlations, samples.energy(sample));
            grow(expansion, &gram, rule, most, target);
            expansion.entries(&mut entries);
            coded.push(entries.clone());
        }
        coded
    });
    let mut code = SparseCode::new(atoms.count());
    for entries in parts.into_iter().flatten() {
        code.push_sorted(entries);
    }
    code
}

fn grow(expansion: &mut Expansion, gram: &Columns, rule: Rule, most: usize, target: f64) {
    while expansion.len() < most && expansion.energy() > target {
        if expansion.grow(gram, rule, 0.0).is_none() {
            break;
        }
    }
}

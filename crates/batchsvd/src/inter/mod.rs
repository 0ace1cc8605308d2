//! Algorithm 2: inter-row switching.
//!
//! For two rows, the samples that hold both atoms are left alone. Every other sample may hold
//! at most one of the two; the candidates are its better atom of the pair, and as many
//! candidates as there were non-zeros are kept, the largest first. Atoms must be unit
//! for the ranking to mean decrease of the objective, which a [`Factorization`] guarantees.
//!
//! All n(n-1)/2 pairs are affordable because a pair looks only at blocks of samples whose
//! best correlation could beat its weakest current non-zero: see [`correlations`].

mod correlations;
mod pair;

use crate::Factorization;
use crate::rows::Rows;
use correlations::Correlations;
use pair::PairSwitch;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Which pairs of rows Algorithm 2 visits.
#[derive(Clone, Debug, PartialEq)]
pub enum Pairs {
    /// Every pair.
    All,
    /// A random share of all pairs.
    Random {
        /// Probability with which a pair is visited.
        share: f64,
        /// Seed of the choice.
        seed: u64,
    },
    /// These pairs, in this order; a pair of an atom with itself is skipped.
    List(Vec<(usize, usize)>),
}

/// Whether blocks of samples that cannot win are skipped. Both give the same result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Search {
    Pruned,
    #[cfg(test)]
    Full,
}

impl Pairs {
    fn visit(&self, atoms: usize, mut visit: impl FnMut(usize, usize)) {
        let all = (0..atoms).flat_map(|i| (i + 1..atoms).map(move |j| (i, j)));
        match self {
            Self::All => all.for_each(|(i, j)| visit(i, j)),
            Self::Random { share, seed } => {
                let mut random = Pcg64Mcg::seed_from_u64(*seed);
                all.filter(|_| random.random::<f64>() < *share)
                    .for_each(|(i, j)| visit(i, j));
            }
            Self::List(pairs) => pairs
                .iter()
                .filter(|(i, j)| i != j)
                .for_each(|&(i, j)| visit(i, j)),
        }
    }
}

/// Switches the given pairs one after another.
pub(crate) fn switch(state: &mut Factorization<'_>, pairs: &Pairs, search: Search) {
    let mut rows = Rows::of(&state.code);
    let mut correlations = Correlations::new(&state.atoms, &state.residual, &rows);
    pairs.visit(state.atoms.count(), |i, j| {
        PairSwitch {
            correlations: &mut correlations,
            rows: &mut rows,
            pair: [i, j],
        }
        .run(search);
    });
    state.code = rows.to_code(state.samples.count());
    state.refresh_residual();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::random_factorization;

    #[test]
    fn pruned_equals_full() {
        for seed in 0..4 {
            let samples = crate::testing::random_samples(6, 300, seed);
            let mut pruned = random_factorization(&samples, 12, 700, seed);
            let mut full = pruned.clone();
            switch(&mut pruned, &Pairs::All, Search::Pruned);
            switch(&mut full, &Pairs::All, Search::Full);
            assert_eq!(pruned.code, full.code, "seed {seed}");
        }
    }
}

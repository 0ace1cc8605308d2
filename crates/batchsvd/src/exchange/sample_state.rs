//! What a sample would lose by giving up an atom, gain by another, or win by a swap.

use super::Swaps;
use crate::SampleMatrix;
use crate::linalg::Columns;
use crate::linalg::kernels::{first_maximum, maximum, subtract_combination, vectorised};
use crate::pursuit::Rule;
use crate::pursuit::expansion::{Expansion, packed, quotient};
use pulp::NullaryFnOnce;

/// Swaps tried in a sample before moving on; each lowers its error, so this only bounds time.
const MOST_SWAPS: usize = 20;
/// A swap must win this share of what it gives up, or it is rounding.
const TOLERANCE: f64 = 1e-9;

/// A sample's position in the exchange.
#[derive(Clone, Debug, Default)]
pub(super) struct SampleState {
    entries: Option<Vec<(u32, f64)>>,
    cheapest: Option<(u32, f64)>,
    best: Option<(u32, f64)>,
    error: f64,
    /// Swaps made while evaluating.
    pub(super) swaps: usize,
}

impl SampleState {
    /// Error added by giving up the cheapest atom.
    pub(super) fn loss(&self) -> Option<f64> {
        self.cheapest.map(|(_, loss)| loss)
    }

    /// Error removed by the best new atom.
    pub(super) fn gain(&self) -> Option<f64> {
        self.best.map(|(_, gain)| gain)
    }

    /// Squared error of the sample; infinite if its atoms are dependent.
    pub(super) fn error(&self) -> f64 {
        match self.entries {
            Some(_) => self.error,
            None => f64::INFINITY,
        }
    }

    /// Takes the sample out of the exchange with the support it has.
    pub(super) fn retire(&mut self) {
        (self.cheapest, self.best) = (None, None);
    }

    /// Least-squares entries, sorted; `None` for a sample whose atoms are dependent, which
    /// takes no part.
    pub(super) fn entries(&self) -> Option<&[(u32, f64)]> {
        self.entries.as_deref()
    }

    fn atoms(&self) -> impl Iterator<Item = u32> + '_ {
        self.entries.iter().flatten().map(|entry| entry.0)
    }

    pub(super) fn without_cheapest(&self) -> Vec<u32> {
        let cheapest = self.cheapest.map(|(atom, _)| atom);
        self.atoms()
            .filter(|&atom| Some(atom) != cheapest)
            .collect()
    }

    pub(super) fn with_best(&self) -> Vec<u32> {
        self.atoms()
            .chain(self.best.map(|(atom, _)| atom))
            .collect()
    }
}

/// Evaluates samples over one dictionary.
pub(super) struct Evaluator<'a> {
    atoms: &'a Columns,
    gram: Columns,
    samples: &'a SampleMatrix,
    swaps: Swaps,
}

/// Working memory of one thread.
pub(super) struct Scratch {
    expansion: Expansion,
    gathered: Vec<f64>,
    correlations: Vec<f64>,
    inverse: Vec<f64>,
    weights: Vec<f64>,
    direction: Vec<f64>,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(atoms: &'a Columns, samples: &'a SampleMatrix, swaps: Swaps) -> Self {
        Self {
            atoms,
            gram: atoms.gram(),
            samples,
            swaps,
        }
    }

    pub(super) fn scratch(&self) -> Scratch {
        Scratch {
            expansion: Expansion::new(self.atoms.rows(), self.atoms.count()),
            gathered: Vec::new(),
            correlations: Vec::new(),
            inverse: Vec::new(),
            weights: Vec::new(),
            direction: vec![0.0; self.atoms.count()],
        }
    }

    /// States of a group of samples with the given supports.
    pub(super) fn evaluate(
        &self,
        scratch: &mut Scratch,
        group: &[(usize, Vec<u32>)],
    ) -> Vec<SampleState> {
        let n = self.atoms.count();
        scratch.gathered.clear();
        for (sample, _) in group {
            scratch
                .gathered
                .extend_from_slice(self.samples.columns().col(*sample));
        }
        let mut correlations = std::mem::take(&mut scratch.correlations);
        correlations.resize(n * group.len(), 0.0);
        self.atoms.correlate(&scratch.gathered, &mut correlations);
        let sample_states = (group.iter().zip(correlations.chunks_exact(n)))
            .map(|((sample, support), correlations)| {
                let energy = self.samples.energy(*sample);
                self.evaluate_one(scratch, support.clone(), correlations, energy)
            })
            .collect();
        scratch.correlations = correlations;
        sample_states
    }

    fn evaluate_one(
        &self,
        scratch: &mut Scratch,
        mut support: Vec<u32>,
        correlations: &[f64],
        energy: f64,
    ) -> SampleState {
        let mut sample_state = SampleState::default();
        loop {
            scratch.expansion.reset(correlations, energy);
            let independent = support
                .iter()
                .all(|&atom| scratch.expansion.push(&self.gram, atom as usize));
            if !independent {
                return SampleState::default();
            }
            let losses = scratch.losses();
            let swap = match self.swaps {
                Swaps::Within if sample_state.swaps < MOST_SWAPS => scratch.best_swap(&losses),
                _ => None,
            };
            if let Some((at, atom)) = swap {
                support[at] = atom;
                sample_state.swaps += 1;
                continue;
            }
            scratch.describe(&losses, &mut sample_state);
            return sample_state;
        }
    }
}

/// What giving up one atom of the support means.
struct Loss {
    /// Error added.
    error: f64,
    /// Amplitude of the atom divided by `diagonal`.
    weight: f64,
    /// Its diagonal entry of `(G_S)^-1`.
    diagonal: f64,
}

impl Scratch {
    /// The loss of every atom of the expansion, in its order.
    fn losses(&mut self) -> Vec<Loss> {
        invert(
            self.expansion.factor(),
            self.expansion.len(),
            &mut self.inverse,
        );
        let projections = self.expansion.projections();
        (0..projections.len())
            .map(|j| {
                let column = (j..projections.len()).map(|t| self.inverse[packed(t) + j]);
                let (mut diagonal, mut amplitude) = (0.0, 0.0);
                for (entry, projection) in column.zip(&projections[j..]) {
                    diagonal += entry * entry;
                    amplitude += entry * projection;
                }
                Loss {
                    error: amplitude * amplitude / diagonal,
                    weight: amplitude / diagonal,
                    diagonal,
                }
            })
            .collect()
    }

    /// The swap that lowers the error most, as position in the support and new atom.
    ///
    /// Taking atom j out turns the correlations into `c + w h` and the outside parts into
    /// `rho + h^2 / d`, where `h = A' A_S (G_S)^-1 e_j` is a combination of basis rows.
    fn best_swap(&mut self, losses: &[Loss]) -> Option<(usize, u32)> {
        let mut best = None;
        let mut most = TOLERANCE * self.expansion.energy();
        for (j, loss) in losses.iter().enumerate() {
            let win = vectorised(self.swap_scan(j, loss, Wanted::Score)).1 - loss.error;
            if win > most && win > TOLERANCE * loss.error {
                most = win;
                best = Some(j);
            }
        }
        let j = best?;
        let (atom, _) = vectorised(self.swap_scan(j, &losses[j], Wanted::Atom));
        Some((j, atom? as u32))
    }

    /// The search for a replacement of atom `j` of the support.
    fn swap_scan<'a>(&'a mut self, j: usize, loss: &'a Loss, wanted: Wanted) -> SwapScan<'a> {
        let size = self.expansion.len();
        self.weights.clear();
        (self.weights).extend((j..size).map(|t| -self.inverse[packed(t) + j]));
        SwapScan {
            expansion: &self.expansion,
            weights: &self.weights,
            direction: &mut self.direction,
            removed: j,
            loss,
            wanted,
        }
    }

    fn describe(&mut self, losses: &[Loss], sample_state: &mut SampleState) {
        let mut entries = Vec::new();
        self.expansion.entries(&mut entries);
        sample_state.entries = Some(entries);
        sample_state.error = self.expansion.energy();
        sample_state.cheapest = (self.expansion.chosen().iter().zip(losses))
            .map(|(&atom, loss)| (atom, loss.error))
            .min_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        if !self.expansion.is_full() {
            sample_state.best =
                (self.expansion.best(Rule::Ols)).map(|(atom, gain)| (atom as u32, gain));
        }
    }
}

/// Inverse of a packed lower triangle.
fn invert(factor: &[f64], size: usize, inverse: &mut Vec<f64>) {
    inverse.clear();
    inverse.resize(packed(size), 0.0);
    for i in 0..size {
        let pivot = factor[packed(i) + i];
        for j in 0..i {
            let known: f64 = (j..i)
                .map(|t| factor[packed(i) + t] * inverse[packed(t) + j])
                .sum();
            inverse[packed(i) + j] = -known / pivot;
        }
        inverse[packed(i) + i] = pivot.recip();
    }
}

/// Finds the best atom once atom `removed` is out.
struct SwapScan<'a> {
    expansion: &'a Expansion,
    /// Column `removed` of the inverse factor, negated.
    weights: &'a [f64],
    direction: &'a mut [f64],
    removed: usize,
    loss: &'a Loss,
    wanted: Wanted,
}

/// What a scan is for: finding the atom costs another look at the scores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wanted {
    Score,
    Atom,
}

impl NullaryFnOnce for SwapScan<'_> {
    type Output = (Option<usize>, f64);

    #[inline(always)]
    fn call(self) -> Self::Output {
        self.direction.fill(0.0);
        let rows = self.expansion.basis_from(self.removed);
        subtract_combination(self.weights, rows, self.direction);
        let share = self.loss.diagonal.recip();
        let parts = (self.expansion.correlations().iter()).zip(self.expansion.outside());
        for (h, (&c, &rho)) in self.direction.iter_mut().zip(parts) {
            *h = quotient(c + self.loss.weight * *h, rho + *h * *h * share);
        }
        let scores = &*self.direction;
        match self.wanted {
            Wanted::Score => (None, maximum(scores)),
            Wanted::Atom => {
                let found = first_maximum(scores);
                (found.map(|best| best.0), found.map_or(0.0, |best| best.1))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{random_factorization, random_samples};

    /// Error of a sample coded by least squares on a support.
    fn error_of(atoms: &Columns, samples: &SampleMatrix, support: &[u32]) -> f64 {
        let mut correlations = vec![0.0; atoms.count()];
        atoms.correlate(samples.columns().col(0), &mut correlations);
        let mut expansion = Expansion::new(atoms.rows(), atoms.count());
        expansion.reset(&correlations, samples.energy(0));
        let gram = atoms.gram();
        assert!(
            support
                .iter()
                .all(|&atom| expansion.push(&gram, atom as usize))
        );
        expansion.energy()
    }

    #[test]
    fn losses_gains_and_swaps_are_exact() {
        for seed in 0..20 {
            let samples = random_samples(6, 1, seed);
            let state = random_factorization(&samples, 9, 3, seed);
            let support = state.code.support(0).to_vec();
            let before = error_of(&state.atoms, &samples, &support);
            let evaluator = Evaluator::new(&state.atoms, &samples, Swaps::None);
            let sample_state = evaluator
                .evaluate(&mut evaluator.scratch(), &[(0, support)])
                .remove(0);
            let without = error_of(&state.atoms, &samples, &sample_state.without_cheapest());
            assert!((without - before - sample_state.loss().unwrap()).abs() < 1e-12);
            let with = error_of(&state.atoms, &samples, &sample_state.with_best());
            assert!((before - with - sample_state.gain().unwrap()).abs() < 1e-12);
        }
    }

    #[test]
    fn swaps_reach_the_best_neighbour() {
        for seed in 0..20 {
            let samples = random_samples(5, 1, seed);
            let state = random_factorization(&samples, 8, 2, seed);
            let evaluator = Evaluator::new(&state.atoms, &samples, Swaps::Within);
            let work = [(0, state.code.support(0).to_vec())];
            let sample_state = evaluator
                .evaluate(&mut evaluator.scratch(), &work)
                .remove(0);
            let reached: Vec<u32> = sample_state.atoms().collect();
            let error = error_of(&state.atoms, &samples, &reached);
            for at in 0..reached.len() {
                for atom in (0..8).filter(|atom| !reached.contains(atom)) {
                    let mut neighbour = reached.clone();
                    neighbour[at] = atom;
                    assert!(error_of(&state.atoms, &samples, &neighbour) > error * (1.0 - 1e-8));
                }
            }
        }
    }
}

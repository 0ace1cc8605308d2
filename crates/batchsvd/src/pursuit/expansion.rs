//! The orthogonal expansion of one sample over chosen atoms.
//!
//! With q_1, q_2, ... the orthonormalised chosen atoms, the expansion stores A'q_t for every
//! step. A step then costs one combination of stored rows, and both the correlations A'r with
//! the residual and the part of every atom outside the span (rho) come for free. Nothing
//! of length m is ever touched: the sample enters only through A'y and ||y||^2.

use super::Rule;
use crate::linalg::Columns;
use crate::linalg::kernels::{first_maximum, subtract_combination, vectorised};
use pulp::NullaryFnOnce;

/// An atom with less than this share of its energy outside the span counts as dependent.
pub(crate) const DEPENDENT: f64 = 1e-8;
/// The same for the choice by least squares, which divides by that share.
const RISKY_QUOTIENT: f64 = 1e-6;
/// A gain below this share of the sample's energy is rounding noise.
const NOISE: f64 = 1e4 * f64::EPSILON * f64::EPSILON;

/// Growing orthogonal expansion; see the module's text.
///
/// Invariants: `chosen`, `projections` have one element per step t; `basis` holds t rows of
/// n values; `factor` holds the rows of the lower triangular L with `G_S = L L'`, packed.
/// Correlations of chosen and refused atoms are exactly zero.
#[derive(Debug)]
pub(crate) struct Expansion {
    atom_count: usize,
    limit: usize,
    correlations: Vec<f64>,
    outside: Vec<f64>,
    scores: Vec<f64>,
    basis: Vec<f64>,
    chosen: Vec<u32>,
    refused: Vec<u32>,
    projections: Vec<f64>,
    factor: Vec<f64>,
    energy: f64,
    noise: f64,
}

impl Expansion {
    pub(crate) fn new(dimension: usize, atom_count: usize) -> Self {
        Self {
            atom_count,
            limit: dimension.min(atom_count),
            correlations: vec![0.0; atom_count],
            outside: vec![1.0; atom_count],
            scores: vec![0.0; atom_count],
            basis: Vec::new(),
            chosen: Vec::new(),
            refused: Vec::new(),
            projections: Vec::new(),
            factor: Vec::new(),
            energy: 0.0,
            noise: 0.0,
        }
    }

    /// Starts over with a sample given by its correlations `A'y` and energy `||y||^2`.
    pub(crate) fn reset(&mut self, correlations: &[f64], energy: f64) {
        self.correlations.copy_from_slice(correlations);
        self.outside.fill(1.0);
        self.chosen.clear();
        self.refused.clear();
        self.projections.clear();
        self.factor.clear();
        self.energy = energy;
        self.noise = energy * NOISE;
    }

    /// The chosen atoms, in the order of choice.
    pub(crate) fn chosen(&self) -> &[u32] {
        &self.chosen
    }

    /// Number of steps taken.
    pub(crate) fn len(&self) -> usize {
        self.chosen.len()
    }

    /// Whether no independent atom can be left.
    pub(crate) fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// Energy of the residual.
    pub(crate) fn energy(&self) -> f64 {
        self.energy
    }

    /// The orthonormal coordinates z = Q'y, one per step.
    pub(crate) fn projections(&self) -> &[f64] {
        &self.projections
    }

    /// The packed rows of L.
    pub(crate) fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// The correlations A'r with the residual.
    pub(crate) fn correlations(&self) -> &[f64] {
        &self.correlations
    }

    /// The part of every atom's energy outside the span of the chosen ones.
    pub(crate) fn outside(&self) -> &[f64] {
        &self.outside
    }

    /// A'q_t for all steps from `t` on, one after another.
    pub(crate) fn basis_from(&self, t: usize) -> &[f64] {
        &self.basis[t * self.atom_count..self.len() * self.atom_count]
    }

    /// The atom that `rule` would add next and its score, if any helps beyond rounding.
    pub(crate) fn best(&mut self, rule: Rule) -> Option<(usize, f64)> {
        let scan = Scan {
            correlations: &self.correlations,
            outside: &self.outside,
            scores: &mut self.scores,
            rule,
        };
        vectorised(scan).filter(|best| best.1 > self.noise)
    }

    /// Takes one greedy step with a score of at least `floor`; returns the score.
    pub(crate) fn grow(&mut self, gram: &Columns, rule: Rule, floor: f64) -> Option<f64> {
        while !self.is_full() {
            let (atom, score) = self.best(rule).filter(|best| best.1 >= floor)?;
            if self.push(gram, atom) {
                return Some(score);
            }
        }
        None
    }

    /// Adds an atom. Refuses (and never offers again) one that depends on the chosen ones.
    pub(crate) fn push(&mut self, gram: &Columns, atom: usize) -> bool {
        let remaining = self.outside[atom];
        if remaining <= DEPENDENT {
            self.refused.push(atom as u32);
            self.correlations[atom] = 0.0;
            return false;
        }
        let (n, t) = (self.atom_count, self.len());
        let pivot = remaining.sqrt();
        let row = self.factor.len();
        for step in 0..t {
            self.factor.push(self.basis[step * n + atom]);
        }
        self.factor.push(pivot);
        self.basis.resize((t + 1) * n, 0.0);
        let (done, new) = self.basis.split_at_mut(t * n);
        let projection = self.correlations[atom] / pivot;
        vectorised(Orthogonalise {
            gram: gram.col(atom),
            weights: &self.factor[row..row + t],
            basis: done,
            pivot,
            projection,
            new,
            correlations: &mut self.correlations,
            outside: &mut self.outside,
        });
        self.chosen.push(atom as u32);
        self.projections.push(projection);
        self.energy = (self.energy - projection * projection).max(0.0);
        for &taken in self.chosen.iter().chain(&self.refused) {
            self.correlations[taken as usize] = 0.0;
        }
        true
    }

    /// Least-squares amplitudes of all chosen atoms, sorted by atom.
    pub(crate) fn entries(&self, out: &mut Vec<(u32, f64)>) {
        sorted_entries(&self.chosen, &self.projections, &self.factor, out);
    }
}

/// Solves `L' x = z` for a prefix of an expansion and sorts the result by atom.
pub(crate) fn sorted_entries(
    atoms: &[u32],
    projections: &[f64],
    factor: &[f64],
    out: &mut Vec<(u32, f64)>,
) {
    out.clear();
    out.extend(atoms.iter().copied().zip(projections.iter().copied()));
    for i in (0..out.len()).rev() {
        let mut value = out[i].1;
        for t in i + 1..out.len() {
            value -= factor[packed(t) + i] * out[t].1;
        }
        out[i].1 = value / factor[packed(i) + i];
    }
    out.sort_unstable_by_key(|entry| entry.0);
}

/// Where row `t` of a packed lower triangle starts.
pub(crate) fn packed(t: usize) -> usize {
    t * (t + 1) / 2
}

/// Scans all atoms for the best score.
struct Scan<'a> {
    correlations: &'a [f64],
    outside: &'a [f64],
    scores: &'a mut [f64],
    rule: Rule,
}

impl NullaryFnOnce for Scan<'_> {
    type Output = Option<(usize, f64)>;

    #[inline(always)]
    fn call(self) -> Self::Output {
        let parts = self.scores.iter_mut().zip(self.correlations);
        match self.rule {
            Rule::Omp => parts.for_each(|(score, c)| *score = c * c),
            Rule::Ols => {
                for ((score, &c), &rho) in parts.zip(self.outside) {
                    *score = quotient(c, rho);
                }
            }
        }
        first_maximum(self.scores)
    }
}

/// Decrease of the error by an atom with correlation `c` and outside part `rho`.
#[inline(always)]
pub(crate) fn quotient(c: f64, rho: f64) -> f64 {
    let safe = if rho > RISKY_QUOTIENT {
        rho
    } else {
        f64::INFINITY
    };
    c * c / safe
}

/// One Gram-Schmidt step in correlation space.
struct Orthogonalise<'a> {
    gram: &'a [f64],
    weights: &'a [f64],
    basis: &'a [f64],
    pivot: f64,
    projection: f64,
    new: &'a mut [f64],
    correlations: &'a mut [f64],
    outside: &'a mut [f64],
}

impl NullaryFnOnce for Orthogonalise<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        self.new.copy_from_slice(self.gram);
        subtract_combination(self.weights, self.basis, self.new);
        let inverse = self.pivot.recip();
        let parts = self.correlations.iter_mut().zip(self.outside.iter_mut());
        for (value, (correlation, outside)) in self.new.iter_mut().zip(parts) {
            *value *= inverse;
            *correlation -= self.projection * *value;
            *outside -= *value * *value;
        }
    }
}

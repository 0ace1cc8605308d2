//! Algorithms 1 to 3 written out plainly, with the mistakes that break monotonicity.
//!
//! The plain versions without a mistake must agree with the library; with a mistake,
//! the invariants that the other tests rely on must notice it.

use batchsvd::{Factorization, Leading, Pairs, SampleMatrix, SparseCode};
use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use tessera_workspace::learning::{KINDS, coded, dense_objective, problem};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    None,
    /// Ranking by |M| although the atoms are not unit.
    AtomsNotUnit,
    /// Samples with both atoms projected on each of them separately.
    BothReprojected,
    /// Samples with both atoms treated as if they could keep only one.
    BothCollapsed,
    /// The rows' own terms not added back to the residual.
    OwnTermsForgotten,
    /// Signed values ranked instead of magnitudes.
    SignedRanking,
    /// Dictionary update by plain ridge regression.
    PlainRidge,
}

/// Dense atoms and code with an explicit support.
#[derive(Clone)]
struct Plain {
    samples: Mat<f64>,
    atoms: Mat<f64>,
    code: Mat<f64>,
    held: Vec<Vec<bool>>,
}

impl Plain {
    fn of(samples: &Mat<f64>, state: &Factorization<'_>) -> Self {
        let code = state.code();
        let mut held = vec![vec![false; code.count()]; code.atom_count()];
        let supports = (0..code.count()).map(|sample| code.support(sample));
        for (sample, support) in supports.enumerate() {
            support
                .iter()
                .for_each(|&atom| held[atom as usize][sample] = true);
        }
        Self {
            samples: samples.clone(),
            atoms: state.atoms().to_owned(),
            code: code.to_mat(),
            held,
        }
    }

    fn objective(&self) -> f64 {
        (&self.samples - &self.atoms * &self.code).squared_norm_l2()
    }

    fn nonzeros(&self) -> usize {
        self.held.iter().flatten().filter(|held| **held).count()
    }

    fn set(&mut self, atom: usize, sample: usize, value: Option<f64>) {
        self.held[atom][sample] = value.is_some();
        self.code[(atom, sample)] = value.unwrap_or(0.0);
    }

    /// The residual with the given rows' own terms added back, unless that is the mistake.
    fn without(&self, rows: &[usize], mistake: Mistake) -> Mat<f64> {
        let mut others = self.code.clone();
        if mistake != Mistake::OwnTermsForgotten {
            for &row in rows {
                others.row_mut(row).fill(0.0);
            }
        }
        &self.samples - &self.atoms * others
    }

    /// Algorithm 2.
    fn inter(&mut self, i: usize, j: usize, mistake: Mistake) {
        if mistake == Mistake::AtomsNotUnit {
            let factor = 3.0;
            self.atoms.col_mut(i).iter_mut().for_each(|v| *v *= factor);
            self.code.row_mut(i).iter_mut().for_each(|v| *v /= factor);
        }
        let target = self.without(&[i, j], mistake);
        let pair = [i, j];
        let mut candidates = Vec::new();
        let mut kept = 0;
        for sample in 0..self.samples.ncols() {
            let project = |atom: usize| self.atoms.col(atom).transpose() * target.col(sample);
            let values = pair.map(project);
            let holds = pair.map(|atom| self.held[atom][sample]);
            if holds == [true, true] && mistake != Mistake::BothCollapsed {
                if mistake == Mistake::BothReprojected {
                    for (atom, value) in pair.into_iter().zip(values) {
                        self.code[(atom, sample)] = value;
                    }
                }
                continue;
            }
            kept += holds.iter().filter(|held| **held).count();
            let size = |value: f64| {
                if mistake == Mistake::SignedRanking {
                    value
                } else {
                    value.abs()
                }
            };
            let better = usize::from(size(values[1]) > size(values[0]));
            candidates.push((size(values[better]), sample, pair[better], values[better]));
        }
        candidates.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (rank, &(_, sample, atom, value)) in candidates.iter().enumerate() {
            for other in pair {
                self.set(other, sample, None);
            }
            if rank < kept {
                let norm = match mistake {
                    Mistake::AtomsNotUnit => self.atoms.col(atom).squared_norm_l2(),
                    _ => 1.0,
                };
                self.set(atom, sample, Some(value / norm));
            }
        }
    }

    /// Algorithm 1 with one step and the atom kept as it is: only the support moves.
    fn inner_support(&mut self, row: usize, mistake: Mistake) {
        let target = self.without(&[row], mistake);
        let kept = self.held[row].iter().filter(|held| **held).count();
        let mut ranked: Vec<(f64, usize, f64)> = (0..self.samples.ncols())
            .map(|sample| {
                let value = self.atoms.col(row).transpose() * target.col(sample);
                let size = if mistake == Mistake::SignedRanking {
                    value
                } else {
                    value.abs()
                };
                (size, sample, value)
            })
            .collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
        for (rank, &(_, sample, value)) in ranked.iter().enumerate() {
            self.set(row, sample, (rank < kept).then_some(value));
        }
    }

    /// The dictionary half of Algorithm 3.
    fn update_atoms(&mut self, mistake: Mistake) {
        let n = self.atoms.ncols();
        let mut gram = &self.code * self.code.transpose();
        let trace: f64 = (0..n).map(|i| gram[(i, i)]).sum();
        for i in 0..n {
            gram[(i, i)] += 0.1 * trace / n as f64;
        }
        let factor = gram.llt(Side::Lower).expect("positive definite");
        let ridge = mistake == Mistake::PlainRidge;
        let source = if ridge {
            self.samples.clone()
        } else {
            self.without(&[], Mistake::None)
        };
        let step = factor.solve(&self.code * source.transpose());
        let start = if ridge {
            Mat::zeros(self.atoms.nrows(), n)
        } else {
            self.atoms.clone()
        };
        self.atoms = start + step.transpose();
    }
}

/// What the other tests check after every phase.
fn is_sound(before: &Plain, after: &Plain) -> bool {
    let rounding = 1e-11 * before.samples.squared_norm_l2();
    after.nonzeros() == before.nonzeros() && after.objective() <= before.objective() + rounding
}

/// Seeds for which a step is sound, out of ten random problems and all pairs or rows.
fn all_sound(step: impl Fn(&mut Plain, usize, usize)) -> bool {
    (0..10).all(|seed| {
        let problem = problem(KINDS[0], (4, 8, 40), seed);
        let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
        let mut state = coded(&samples, problem.atoms.as_ref(), 90);
        state.adjust_amplitudes(1);
        let start = Plain::of(&problem.samples, &state);
        (0..8).all(|i| {
            let mut after = start.clone();
            step(&mut after, i, (i + 3) % 8);
            is_sound(&start, &after)
        })
    })
}

#[test]
fn without_a_mistake_all_is_sound() {
    assert!(all_sound(|plain, i, j| plain.inter(i, j, Mistake::None)));
    assert!(all_sound(
        |plain, i, _| plain.inner_support(i, Mistake::None)
    ));
    assert!(all_sound(|plain, _, _| plain.update_atoms(Mistake::None)));
}

#[test]
fn mistakes_of_inter_row_switching_are_noticed() {
    for mistake in [
        Mistake::AtomsNotUnit,
        Mistake::BothReprojected,
        Mistake::BothCollapsed,
        Mistake::OwnTermsForgotten,
        Mistake::SignedRanking,
    ] {
        assert!(
            !all_sound(|plain, i, j| plain.inter(i, j, mistake)),
            "{mistake:?}"
        );
    }
}

#[test]
fn mistakes_of_inner_row_switching_are_noticed() {
    for mistake in [Mistake::OwnTermsForgotten, Mistake::SignedRanking] {
        assert!(
            !all_sound(|plain, i, _| plain.inner_support(i, mistake)),
            "{mistake:?}"
        );
    }
}

#[test]
fn plain_ridge_is_noticed() {
    assert!(!all_sound(
        |plain, _, _| plain.update_atoms(Mistake::PlainRidge)
    ));
}

fn assert_same(code: &SparseCode, plain: &Plain) {
    let dense = code.to_mat();
    for sample in 0..code.count() {
        for (atom, held) in plain.held.iter().enumerate() {
            assert_eq!(code.support(sample).contains(&(atom as u32)), held[sample]);
            assert!((dense[(atom, sample)] - plain.code[(atom, sample)]).abs() < 1e-9);
        }
    }
}

#[test]
fn the_library_does_what_the_plain_inter_switching_does() {
    for seed in 0..10 {
        let problem = problem(KINDS[0], (5, 8, 150), seed);
        let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
        let mut state = coded(&samples, problem.atoms.as_ref(), 300);
        let mut plain = Plain::of(&problem.samples, &state);
        let pairs = vec![(0, 5), (2, 3), (5, 7), (0, 2)];
        for &(i, j) in &pairs {
            plain.inter(i, j, Mistake::None);
        }
        state.switch_inter_rows(&Pairs::List(pairs));
        assert_same(&state.code(), &plain);
    }
}

#[test]
fn the_library_does_what_the_plain_inner_switching_does() {
    let problem = problem(KINDS[0], (5, 8, 150), 3);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    let mut state = coded(&samples, problem.atoms.as_ref(), 300);
    let before = Plain::of(&problem.samples, &state);
    state.switch_inner_row(4, 1, Leading::Exact);
    let mut plain = Plain {
        atoms: state.atoms().to_owned(),
        ..before.clone()
    };
    let target = before.without(&[4], Mistake::None);
    let own: Vec<usize> = (0..150).filter(|&j| before.held[4][j]).collect();
    let columns = Mat::from_fn(5, own.len(), |i, j| target[(i, own[j])]);
    let svd = columns.svd().unwrap();
    let alignment = (svd.U().col(0).transpose() * state.atoms().col(4)).abs();
    assert!(
        (alignment - 1.0).abs() < 1e-9,
        "the atom is the leading singular vector"
    );
    plain.inner_support(4, Mistake::None);
    assert_same(&state.code(), &plain);
    let true_value = dense_objective(problem.samples.as_ref(), state.atoms(), &state.code());
    assert!(true_value <= before.objective());
}

//! The pursuits against slow plain versions of themselves.

use batchsvd::{Budget, Dictionary, Error, Rule, SampleMatrix, SparseCode, code};
use faer::{Mat, MatRef};
use tessera_workspace::learning::{KINDS, Kind, best_allocation, best_errors, problem, residual};

/// The next atom of a sample and its score, by plain least squares.
fn next_atom(
    sample: MatRef<'_, f64>,
    atoms: MatRef<'_, f64>,
    support: &[usize],
    rule: Rule,
) -> Option<(usize, f64)> {
    let left = residual(sample, atoms, support);
    let mut best: Option<(usize, f64)> = None;
    for atom in (0..atoms.ncols()).filter(|atom| !support.contains(atom)) {
        let outside = residual(atoms.subcols(atom, 1), atoms, support).squared_norm_l2();
        if outside < 1e-6 {
            continue;
        }
        let correlation = (left.transpose() * atoms.subcols(atom, 1))[(0, 0)];
        let score = match rule {
            Rule::Omp => correlation * correlation,
            Rule::Ols => correlation * correlation / outside,
        };
        if score > 1e-20 && best.is_none_or(|b| score > b.1) {
            best = Some((atom, score));
        }
    }
    best
}

/// Block pursuit by its definition: the best pair of the whole batch, again and again.
fn naive_block(
    samples: MatRef<'_, f64>,
    atoms: MatRef<'_, f64>,
    budget: usize,
    rule: Rule,
) -> Vec<Vec<usize>> {
    let p = samples.ncols();
    let mut supports: Vec<Vec<usize>> = vec![Vec::new(); p];
    let find = |j: usize, support: &[usize]| next_atom(samples.subcols(j, 1), atoms, support, rule);
    let mut next: Vec<Option<(usize, f64)>> = (0..p).map(|j| find(j, &[])).collect();
    for _ in 0..budget {
        let mut best: Option<(usize, usize, f64)> = None;
        for (j, candidate) in next.iter().enumerate() {
            if let &Some((atom, score)) = candidate
                && best.is_none_or(|b| score > b.2)
            {
                best = Some((j, atom, score));
            }
        }
        let Some((j, atom, _)) = best else { break };
        supports[j].push(atom);
        next[j] = find(j, &supports[j]);
    }
    supports
        .iter_mut()
        .for_each(|support| support.sort_unstable());
    supports
}

fn supports(code: &SparseCode) -> Vec<Vec<usize>> {
    let support = |j| code.support(j).iter().map(|&atom| atom as usize).collect();
    (0..code.count()).map(support).collect()
}

fn parts(
    kind: Kind,
    shape: (usize, usize, usize),
    seed: u64,
) -> (Mat<f64>, SampleMatrix, Dictionary) {
    let problem = problem(kind, shape, seed);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    let dictionary = Dictionary::new(problem.atoms.as_ref()).unwrap();
    (problem.samples, samples, dictionary)
}

#[test]
fn block_pursuit_equals_its_definition() {
    for seed in 0..6 {
        for rule in [Rule::Omp, Rule::Ols] {
            for budget in [1, 2, 17, 60, 90] {
                let (matrix, samples, dictionary) = parts(Kind::Random, (10, 16, 30), seed);
                let fast = code(&dictionary, &samples, Budget::Batch(budget), rule).unwrap();
                let slow = naive_block(matrix.as_ref(), dictionary.atoms(), budget, rule);
                assert_eq!(
                    supports(&fast),
                    slow,
                    "seed {seed}, {rule:?}, budget {budget}"
                );
            }
        }
    }
}

#[test]
fn amplitudes_are_least_squares() {
    let (matrix, samples, dictionary) = parts(Kind::Random, (8, 20, 40), 3);
    let coded = code(&dictionary, &samples, Budget::Batch(120), Rule::Ols).unwrap();
    let errors = dictionary.errors(&samples, &coded).unwrap();
    for (j, support) in supports(&coded).iter().enumerate() {
        let plain = residual(matrix.as_ref().subcols(j, 1), dictionary.atoms(), support);
        assert!((plain.norm_l2() - errors[j]).abs() < 1e-10, "sample {j}");
    }
}

#[test]
fn one_non_zero_goes_to_the_largest_correlation() {
    for seed in 0..20 {
        let (matrix, samples, dictionary) = parts(Kind::Random, (5, 9, 14), seed);
        let coded = code(&dictionary, &samples, Budget::Batch(1), Rule::Omp).unwrap();
        let products = dictionary.atoms().transpose() * &matrix;
        let mut best = (0, 0);
        for j in 0..14 {
            for i in 0..9 {
                if products[(i, j)].abs() > products[best].abs() {
                    best = (i, j);
                }
            }
        }
        assert_eq!(coded.nonzeros(), 1);
        assert_eq!(coded.support(best.1), &[best.0 as u32]);
    }
}

#[test]
fn column_counts_vary() {
    let (_, samples, dictionary) = parts(Kind::Random, (16, 32, 200), 7);
    let coded = code(&dictionary, &samples, Budget::Batch(600), Rule::Omp).unwrap();
    let counts: Vec<usize> = (0..200).map(|j| coded.support(j).len()).collect();
    assert_eq!(coded.nonzeros(), 600);
    assert!(counts.iter().max() > counts.iter().min());
}

#[test]
fn per_sample_budget_is_per_sample() {
    for rule in [Rule::Omp, Rule::Ols] {
        let (matrix, samples, dictionary) = parts(Kind::Random, (7, 12, 25), 5);
        let coded = code(&dictionary, &samples, Budget::PerSample(3), rule).unwrap();
        for (j, support) in supports(&coded).iter().enumerate() {
            let sample = matrix.as_ref().subcols(j, 1);
            let mut slow = Vec::new();
            for _ in 0..3 {
                slow.extend(next_atom(sample, dictionary.atoms(), &slow, rule).map(|best| best.0));
            }
            slow.sort_unstable();
            assert_eq!(support, &slow, "sample {j}, {rule:?}");
        }
    }
}

#[test]
fn error_target_is_met_with_no_atom_too_many() {
    let (matrix, samples, dictionary) = parts(Kind::Random, (7, 12, 25), 6);
    let coded = code(&dictionary, &samples, Budget::Error(0.4), Rule::Omp).unwrap();
    let one_less = |support: &[usize], j: usize| {
        let sample = matrix.as_ref().subcols(j, 1);
        let mut slow = Vec::new();
        while slow.len() + 1 < support.len() {
            slow.push(
                next_atom(sample, dictionary.atoms(), &slow, Rule::Omp)
                    .unwrap()
                    .0,
            );
        }
        residual(sample, dictionary.atoms(), &slow).norm_l2()
    };
    let errors = dictionary.errors(&samples, &coded).unwrap();
    for (j, support) in supports(&coded).iter().enumerate() {
        assert!(errors[j] <= 0.4 + 1e-12);
        assert!(
            support.is_empty() || one_less(support, j) > 0.4,
            "sample {j}"
        );
    }
}

#[test]
fn brute_force_is_never_beaten() {
    for seed in 0..10 {
        let (matrix, samples, dictionary) = parts(Kind::Random, (4, 6, 5), seed);
        let errors = best_errors(matrix.as_ref(), dictionary.atoms(), 4);
        for budget in 1..=20 {
            let optimum = best_allocation(&errors, budget);
            for rule in [Rule::Omp, Rule::Ols] {
                let coded = code(&dictionary, &samples, Budget::Batch(budget), rule).unwrap();
                let norms = dictionary.errors(&samples, &coded).unwrap();
                let found: f64 = norms.iter().map(|e| e * e).sum();
                assert!(found >= optimum - 1e-12, "seed {seed}, budget {budget}");
                assert!(coded.nonzeros() <= budget);
            }
        }
    }
}

#[test]
fn awkward_batches_stay_within_the_budget() {
    for kind in KINDS {
        for shape in [(4, 6, 5), (5, 3, 12), (3, 20, 4)] {
            for budget in [1, 5, shape.2 * shape.0.min(shape.1)] {
                let (_, samples, dictionary) = parts(kind, shape, 9);
                let coded = code(&dictionary, &samples, Budget::Batch(budget), Rule::Ols).unwrap();
                assert!(coded.nonzeros() <= budget, "{kind:?} {shape:?} {budget}");
                let left = dictionary.errors(&samples, &coded).unwrap();
                let exact = left.iter().all(|error| *error < 1e-6);
                let spent = coded.nonzeros() == budget;
                assert!(spent || exact || shape.1 < shape.0 || kind == Kind::Duplicates);
            }
        }
    }
}

#[test]
fn bad_budgets_are_refused() {
    let (_, samples, dictionary) = parts(Kind::Random, (4, 6, 5), 1);
    let of = |budget| code(&dictionary, &samples, budget, Rule::Omp);
    assert!(matches!(of(Budget::Batch(0)), Err(Error::Parameter { .. })));
    assert!(matches!(
        of(Budget::PerSample(0)),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        of(Budget::Error(-1.0)),
        Err(Error::Parameter { .. })
    ));
    assert!(matches!(
        of(Budget::Error(f64::NAN)),
        Err(Error::Parameter { .. })
    ));
    let refused = of(Budget::Batch(21));
    assert!(matches!(
        refused,
        Err(Error::BudgetAboveCapacity {
            budget: 21,
            capacity: 20
        })
    ));
    assert!(matches!(
        of(Budget::PerSample(5)),
        Err(Error::BudgetAboveCapacity { .. })
    ));
    let (_, other, _) = parts(Kind::Random, (5, 6, 5), 1);
    let refused = code(&dictionary, &other, Budget::Batch(3), Rule::Omp);
    assert!(matches!(
        refused,
        Err(Error::Shape {
            expected: 5,
            found: 4,
            ..
        })
    ));
}

#[test]
fn zero_samples_get_an_empty_code() {
    let samples = SampleMatrix::new(Mat::<f64>::zeros(4, 3).as_ref()).unwrap();
    let (_, _, dictionary) = parts(Kind::Random, (4, 6, 5), 1);
    let coded = code(&dictionary, &samples, Budget::Batch(6), Rule::Omp).unwrap();
    assert_eq!((coded.nonzeros(), coded.count()), (0, 3));
}

#[test]
fn scaling_by_powers_of_two_changes_no_bit() {
    let (matrix, samples, dictionary) = parts(Kind::Random, (6, 9, 20), 2);
    let plain = code(&dictionary, &samples, Budget::Batch(40), Rule::Ols).unwrap();
    for factor in [60.0f64.exp2(), (-60.0f64).exp2()] {
        let scaled = SampleMatrix::new((&matrix * faer::Scale(factor)).as_ref()).unwrap();
        let coded = code(&dictionary, &scaled, Budget::Batch(40), Rule::Ols).unwrap();
        assert_eq!(coded.to_mat(), plain.to_mat() * faer::Scale(factor));
    }
}

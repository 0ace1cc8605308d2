//! Orthonormal structures: exact budget, orthonormality, monotone rounds.

use batchsvd::union::{Sparsity, UnionFit, UnionParams, UnionStart};
use batchsvd::{BatchSvdParams, Error, SampleMatrix, Start, Structure};
use faer::Mat;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use tessera_workspace::learning::{KINDS, best_allocation, dense_objective, problem, random_mat};

/// Samples that are sparse in one of several random bases, plus a little noise.
fn planted_union(m: usize, blocks: usize, p: usize, seed: u64) -> Mat<f64> {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let bases: Vec<Mat<f64>> = (0..blocks)
        .map(|b| random_mat(m, m, seed + 100 + b as u64).qr().compute_Q())
        .collect();
    let mut samples = random_mat(m, p, seed) * faer::Scale(0.02);
    for j in 0..p {
        let basis = &bases[random.random_range(0..blocks)];
        for _ in 0..2 {
            let (atom, value) = (random.random_range(0..m), random.random_range(-1.0..1.0));
            for i in 0..m {
                samples[(i, j)] += value * basis[(i, atom)];
            }
        }
    }
    samples
}

fn fit(params: UnionParams, matrix: &Mat<f64>) -> UnionFit {
    let samples = SampleMatrix::new(matrix.as_ref()).unwrap();
    params.check().unwrap().fit(&samples).unwrap()
}

fn assert_sound(fit: &UnionFit, matrix: &Mat<f64>, blocks: usize) {
    let m = matrix.nrows();
    let truth = dense_objective(matrix.as_ref(), fit.dictionary.atoms(), &fit.code);
    assert!((truth - fit.objective).abs() <= 1e-9 * matrix.squared_norm_l2());
    for b in 0..blocks {
        let gram = fit.block(b).transpose() * fit.block(b);
        assert!((gram - Mat::<f64>::identity(m, m)).norm_max() < 1e-10);
    }
    for (sample, &block) in fit.assignment.iter().enumerate() {
        let own = |&atom: &u32| atom as usize / m == block as usize;
        assert!(fit.code.support(sample).iter().all(own), "sample {sample}");
    }
}

#[test]
fn rounds_are_monotone_after_annealing_and_exact_in_budget() {
    for blocks in [1, 3] {
        for kind in KINDS {
            let matrix = problem(kind, (6, 6, 400), 3).samples;
            let params = UnionParams::new(blocks, Sparsity::Budget(700));
            let annealing = params.annealing;
            let fit = fit(params, &matrix);
            assert_sound(&fit, &matrix, blocks);
            assert_eq!(fit.code.nonzeros(), 700, "{kind:?}");
            let settled = &fit.trace[annealing..];
            let rounding = 1e-11 * matrix.squared_norm_l2();
            assert!(settled.is_sorted_by(|a, b| b.objective <= a.objective + rounding));
            assert!(settled.iter().all(|p| p.nonzeros == 700));
        }
    }
}

#[test]
fn a_threshold_is_monotone_in_its_own_cost() {
    let matrix = planted_union(8, 3, 600, 1);
    let threshold = 0.1;
    let params = UnionParams::new(3, Sparsity::Threshold(threshold));
    let annealing = params.annealing;
    let fit = fit(params, &matrix);
    assert_sound(&fit, &matrix, 3);
    let cost = |p: &batchsvd::Progress| p.objective + threshold * threshold * p.nonzeros as f64;
    assert!(fit.trace[annealing..].is_sorted_by(|a, b| cost(b) <= cost(a) * (1.0 + 1e-12)));
    for sample in 0..600 {
        assert!(
            fit.code
                .values(sample)
                .iter()
                .all(|v| v.abs() >= threshold * (1.0 - 1e-12))
        );
    }
}

#[test]
fn the_right_number_of_blocks_wins() {
    let matrix = planted_union(8, 3, 1500, 2);
    let objective = |blocks| {
        let params = UnionParams {
            rounds: 40,
            ..UnionParams::new(blocks, Sparsity::Budget(3000))
        };
        fit(params, &matrix).objective
    };
    let (one, three) = (objective(1), objective(3));
    assert!(three < 0.4 * one, "{three} against {one}");
}

#[test]
fn the_code_of_one_basis_is_the_best_one() {
    for seed in 0..5 {
        let matrix = random_mat(4, 5, seed);
        for budget in [1, 4, 9, 20] {
            let params = UnionParams::new(1, Sparsity::Budget(budget));
            let fit = fit(params, &matrix);
            let coefficients = fit.dictionary.atoms().transpose() * &matrix;
            let errors: Vec<Vec<f64>> = (0..5)
                .map(|j| {
                    let mut squares: Vec<f64> = coefficients.col(j).iter().map(|c| c * c).collect();
                    squares.sort_by(f64::total_cmp);
                    (0..=4)
                        .map(|kept| squares[..4 - kept].iter().sum())
                        .collect()
                })
                .collect();
            let optimum = best_allocation(&errors, budget);
            assert!(
                (fit.objective - optimum).abs() < 1e-12,
                "seed {seed}, budget {budget}"
            );
        }
    }
}

#[test]
fn a_warm_start_does_not_get_worse() {
    let matrix = planted_union(8, 3, 800, 4);
    let first = fit(UnionParams::new(3, Sparsity::Budget(1600)), &matrix);
    let blocks = (0..3).map(|b| first.block(b).to_owned()).collect();
    let params = UnionParams {
        start: UnionStart::Blocks(blocks),
        annealing: 0,
        ..UnionParams::new(3, Sparsity::Budget(1600))
    };
    let second = fit(params, &matrix);
    assert!(second.objective <= first.objective * 1.02);
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let matrix = planted_union(6, 2, 3000, 5);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| fit(UnionParams::new(2, Sparsity::Budget(6000)), &matrix))
    };
    let one = with(1);
    assert!(one == with(2));
    assert!(one == with(3));
}

#[test]
fn the_general_parameters_lead_here() {
    let matrix = planted_union(6, 2, 300, 6);
    let samples = SampleMatrix::new(matrix.as_ref()).unwrap();
    let structured = |structure, atoms| {
        let params = BatchSvdParams {
            structure,
            ..BatchSvdParams::paper(atoms, 600)
        };
        params.check().unwrap().fit(&samples)
    };
    let union = Structure::UnionOfOrthonormal { blocks: 2 };
    let one = structured(Structure::Orthonormal, 6).unwrap();
    let two = structured(union, 12).unwrap();
    assert_eq!((one.code.nonzeros(), two.code.nonzeros()), (600, 600));
    assert!(two.objective < one.objective);
    assert!(matches!(structured(union, 11), Err(Error::Shape { .. })));
    let again = BatchSvdParams {
        structure: union,
        start: Start::Given(two.dictionary.clone()),
        ..BatchSvdParams::paper(12, 600)
    };
    let again = again.check().unwrap().fit(&samples).unwrap();
    assert_eq!(again.code.nonzeros(), 600);
}

#[test]
fn bad_input_is_refused() {
    let samples = SampleMatrix::new(random_mat(4, 10, 1).as_ref()).unwrap();
    let refused = |params: UnionParams| params.check().is_err();
    assert!(refused(UnionParams::new(0, Sparsity::Budget(5))));
    assert!(refused(UnionParams::new(1, Sparsity::Budget(0))));
    assert!(refused(UnionParams::new(1, Sparsity::Threshold(f64::NAN))));
    let too_few = UnionParams {
        start: UnionStart::Blocks(vec![random_mat(4, 4, 1)]),
        ..UnionParams::new(2, Sparsity::Budget(5))
    };
    assert!(refused(too_few));
    let params = UnionParams::new(1, Sparsity::Budget(41)).check().unwrap();
    assert!(matches!(
        params.fit(&samples),
        Err(Error::BudgetAboveCapacity { .. })
    ));
    let wrong_size = UnionParams {
        start: UnionStart::Blocks(vec![random_mat(3, 4, 1)]),
        ..UnionParams::new(1, Sparsity::Budget(5))
    };
    assert!(matches!(
        wrong_size.check().unwrap().fit(&samples),
        Err(Error::Shape { .. })
    ));
}

//! Whole runs: traces, bad input, threads, checkpoints, starts, and the notes' figure.

use batchsvd::online::{OnlineParams, Penalty};
use batchsvd::{
    Alternate, BatchSvdParams, Checkpoint, Dictionary, Error, Fit, Observer, Phase, Progress, Rule,
    SampleMatrix, Start, Structure, alternate, lasso,
};
use faer::Mat;
use std::ops::ControlFlow;
use tessera_workspace::learning::{dense_objective, planted, random_mat};

fn samples_of(matrix: &Mat<f64>) -> SampleMatrix {
    SampleMatrix::new(matrix.as_ref()).unwrap()
}

/// The presets with few iterations.
fn short(mut params: BatchSvdParams) -> BatchSvdParams {
    params.alternate.iterations = 5;
    params.iterations = 3;
    params
}

fn presets(atoms: usize, budget: usize) -> [BatchSvdParams; 2] {
    [
        short(BatchSvdParams::paper(atoms, budget)),
        short(BatchSvdParams::best(atoms, budget)),
    ]
}

fn fit(params: BatchSvdParams, samples: &SampleMatrix) -> Fit {
    params.check().unwrap().fit(samples).unwrap()
}

#[test]
fn runs_are_monotone_within_budget_and_truthful() {
    let matrix = planted(10, 20, 400, 3, 1);
    let samples = samples_of(&matrix);
    for params in presets(20, 900) {
        let fit = fit(params, &samples);
        assert!(fit.finished);
        assert_eq!(fit.code.nonzeros(), 900);
        let truth = dense_objective(matrix.as_ref(), fit.dictionary.atoms(), &fit.code);
        assert!((truth - fit.objective).abs() <= 1e-9 * matrix.squared_norm_l2());
        let main: Vec<&Progress> = fit
            .trace
            .iter()
            .filter(|p| !matches!(p.phase, Phase::Start | Phase::Alternate))
            .collect();
        assert!(main.len() >= 2);
        assert!(main.is_sorted_by(|a, b| b.objective <= a.objective * (1.0 + 1e-12)));
        assert!(fit.trace.iter().all(|p| p.nonzeros == 900));
        let start = fit.trace.iter().filter(|p| p.phase == Phase::Alternate);
        let best_start = start.map(|p| p.objective).fold(f64::INFINITY, f64::min);
        assert!(main[0].objective <= best_start * (1.0 + 1e-12));
    }
}

#[test]
fn atoms_have_a_canonical_sign_and_order() {
    let samples = samples_of(&planted(10, 20, 400, 3, 2));
    for params in presets(20, 800) {
        let fit = fit(params, &samples);
        assert!(fit.code.uses().is_sorted_by(|a, b| a >= b));
        for j in 0..20 {
            let atom = fit.dictionary.atoms().col(j);
            let peak = atom
                .iter()
                .fold(0.0f64, |p, v| if v.abs() > p.abs() { *v } else { p });
            assert!(peak > 0.0);
            assert!((atom.norm_l2() - 1.0).abs() < 1e-12);
        }
    }
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let samples = samples_of(&planted(8, 16, 5_000, 2, 3));
    for params in presets(16, 9_000) {
        let with = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| fit(params.clone(), &samples))
        };
        let one = with(1);
        assert!(one == with(2));
        assert!(one == with(5));
    }
}

#[test]
fn the_seed_decides() {
    let samples = samples_of(&planted(8, 16, 300, 2, 4));
    for params in presets(16, 600) {
        let seeded = |seed| {
            fit(
                BatchSvdParams {
                    seed,
                    ..params.clone()
                },
                &samples,
            )
        };
        assert!(seeded(1) == seeded(1));
        assert!(seeded(1).dictionary != seeded(2).dictionary);
    }
}

#[test]
fn scales_change_nothing_but_the_scale() {
    let matrix = planted(8, 12, 200, 2, 5);
    for params in presets(12, 400) {
        let plain = fit(params.clone(), &samples_of(&matrix));
        for factor in [60.0f64.exp2(), (-60.0f64).exp2()] {
            let scaled = fit(
                params.clone(),
                &samples_of(&(&matrix * faer::Scale(factor))),
            );
            assert_eq!(scaled.dictionary, plain.dictionary);
            assert_eq!(
                scaled.code.to_mat(),
                plain.code.to_mat() * faer::Scale(factor)
            );
        }
        for factor in [1e18, 1e-18] {
            let scaled = fit(
                params.clone(),
                &samples_of(&(&matrix * faer::Scale(factor))),
            );
            let ratio = scaled.objective / (plain.objective * factor * factor);
            assert!((0.8..1.25).contains(&ratio), "{ratio}");
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let good = BatchSvdParams::paper(10, 50);
    let refused = |change: fn(&mut BatchSvdParams)| {
        let mut params = good.clone();
        change(&mut params);
        matches!(params.check(), Err(Error::Parameter { .. }))
    };
    assert!(good.clone().check().is_ok());
    assert!(refused(|p| p.atoms = 0));
    assert!(refused(|p| p.budget = 0));
    assert!(refused(|p| p.tolerance = f64::NAN));
    assert!(refused(|p| p.inter_share = 1.5));
    assert!(refused(
        |p| p.leading = batchsvd::Leading::Power { steps: 0 }
    ));
    assert!(refused(
        |p| p.structure = Structure::UnionOfOrthonormal { blocks: 0 }
    ));
    let online = OnlineParams::new(10, Penalty::Lambda(0.0));
    assert!(matches!(online.check(), Err(Error::Parameter { .. })));
}

#[test]
fn bad_batches_are_refused_or_defined() {
    let run = |params: BatchSvdParams, matrix: &Mat<f64>| {
        params.check().unwrap().fit(&samples_of(matrix))
    };
    let matrix = planted(6, 9, 20, 2, 6);
    let too_much = run(BatchSvdParams::paper(9, 121), &matrix);
    assert!(matches!(
        too_much,
        Err(Error::BudgetAboveCapacity {
            budget: 121,
            capacity: 120
        })
    ));
    let zero = run(BatchSvdParams::paper(9, 10), &Mat::zeros(6, 20));
    assert!(matches!(zero, Err(Error::AllZero)));
    let wrong_start = BatchSvdParams {
        start: Start::Dct {
            rows: 2,
            columns: 2,
        },
        ..BatchSvdParams::paper(9, 10)
    };
    assert!(matches!(
        run(wrong_start, &matrix),
        Err(Error::Shape { .. })
    ));
    for budget in [1, 120] {
        let full = run(short(BatchSvdParams::best(9, budget)), &matrix).unwrap();
        assert!(full.code.nonzeros() <= budget && full.objective.is_finite());
    }
    let few_samples = run(
        short(BatchSvdParams::paper(30, 12)),
        &planted(6, 9, 3, 2, 7),
    )
    .unwrap();
    assert_eq!(few_samples.dictionary.count(), 30);
}

#[test]
fn every_start_leads_to_a_fit() {
    let samples = samples_of(&planted(12, 20, 300, 2, 8));
    let given = Dictionary::new(random_mat(12, 20, 9).as_ref()).unwrap();
    for start in [
        Start::Samples,
        Start::Dct {
            rows: 4,
            columns: 3,
        },
        Start::KMeans { iterations: 5 },
        Start::Online {
            lambda: None,
            iterations: 20,
        },
        Start::Online {
            lambda: Some(0.1),
            iterations: 20,
        },
        Start::Given(given),
    ] {
        let params = BatchSvdParams {
            start: start.clone(),
            ..short(BatchSvdParams::best(20, 600))
        };
        let fit = fit(params, &samples);
        assert_eq!(fit.code.nonzeros(), 600, "{start:?}");
        assert!(fit.objective < 0.9 * fit.trace[0].objective, "{start:?}");
    }
}

#[test]
fn online_learning_lowers_the_penalised_error() {
    let matrix = planted(12, 20, 600, 2, 10);
    let samples = samples_of(&matrix);
    let lambda = 0.1;
    let cost = |dictionary: &Dictionary| {
        let code = lasso::code(dictionary, &samples, lambda).unwrap();
        let error = dense_objective(matrix.as_ref(), dictionary.atoms(), &code);
        0.5 * error + lambda * code.to_mat().norm_l1()
    };
    let learned = |iterations| {
        let params = OnlineParams {
            iterations,
            ..OnlineParams::new(20, Penalty::Lambda(lambda))
        };
        cost(&params.check().unwrap().fit(&samples).unwrap())
    };
    assert!(learned(60) < 0.8 * learned(1));
}

#[test]
fn an_adapted_penalty_spends_what_it_should() {
    let samples = samples_of(&planted(12, 20, 600, 2, 11));
    let params = OnlineParams::new(20, Penalty::Nonzeros(3.0))
        .check()
        .unwrap();
    let dictionary = params.fit(&samples).unwrap();
    assert_eq!(dictionary.count(), 20);
}

#[test]
fn alternation_keeps_the_best() {
    let samples = samples_of(&planted(10, 15, 300, 2, 12));
    let start = Dictionary::new(random_mat(10, 15, 13).as_ref()).unwrap();
    let mut lowest = f64::INFINITY;
    let mut observer = |progress: &Progress| {
        lowest = lowest.min(progress.objective);
        ControlFlow::Continue(())
    };
    let params = Alternate {
        rule: Rule::Omp,
        iterations: 12,
    };
    let state = alternate(&samples, &start, 500, params, &mut observer).unwrap();
    assert!((state.objective() - lowest).abs() <= 1e-12 * lowest);
    assert_eq!(state.nonzeros(), 500);
}

/// Stops after a number of iterations and keeps the last checkpoint.
struct StopAfter {
    left: usize,
    last: Option<Checkpoint>,
}

impl Observer for StopAfter {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        let ends_iteration = matches!(progress.phase, Phase::Alternate | Phase::Amplitude);
        self.left -= usize::from(ends_iteration);
        if self.left == 0 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    }

    fn between_iterations(&mut self, snapshot: &dyn Fn() -> Checkpoint) {
        self.last = Some(snapshot());
    }
}

#[test]
fn a_resumed_run_ends_in_the_same_bits() {
    let samples = samples_of(&planted(8, 12, 300, 2, 14));
    for params in presets(12, 500) {
        let params = params.check().unwrap();
        let whole = params.fit(&samples).unwrap();
        for left in [1, 4, 5, 6, 7] {
            let mut observer = StopAfter { left, last: None };
            let part = params.fit_observed(&samples, &mut observer).unwrap();
            assert!(!part.finished && part.trace.len() < whole.trace.len());
            let mut file = Vec::new();
            observer.last.unwrap().write(&mut file).unwrap();
            let checkpoint = Checkpoint::read(&file[..]).unwrap();
            let resumed = params.resume(&samples, &checkpoint, &mut ()).unwrap();
            assert!(resumed == whole, "stopped after {left}");
        }
    }
}

#[test]
fn damaged_or_foreign_checkpoints_are_refused() {
    let samples = samples_of(&planted(8, 12, 100, 2, 15));
    let params = short(BatchSvdParams::paper(12, 200)).check().unwrap();
    let mut observer = StopAfter {
        left: 2,
        last: None,
    };
    params.fit_observed(&samples, &mut observer).unwrap();
    let checkpoint = observer.last.unwrap();
    let mut file = Vec::new();
    checkpoint.write(&mut file).unwrap();
    for at in [0, 9, 20, file.len() / 2, file.len() - 1] {
        let mut damaged = file.clone();
        damaged[at] ^= 0x10;
        assert!(
            matches!(Checkpoint::read(&damaged[..]), Err(Error::Checkpoint(_))),
            "byte {at}"
        );
    }
    for length in [0, 3, 11, file.len() - 1] {
        assert!(matches!(
            Checkpoint::read(&file[..length]),
            Err(Error::Checkpoint(_))
        ));
    }
    let other_samples = samples_of(&planted(8, 12, 100, 2, 16));
    assert!(params.resume(&other_samples, &checkpoint, &mut ()).is_err());
    let other_params = short(BatchSvdParams::paper(12, 201)).check().unwrap();
    assert!(other_params.resume(&samples, &checkpoint, &mut ()).is_err());
}

//! Every phase keeps the budget, never raises the objective, and reports it truthfully.

use arbtest::{
    arbitrary::{self, Unstructured},
    arbtest,
};
use batchsvd::{Factorization, Leading, Pairs, SampleMatrix, Swaps};
use faer::Mat;
use tessera_workspace::learning::{
    KINDS, best_allocation, best_errors, coded, dense_objective, problem,
};

type Phase = fn(&mut Factorization<'_>);

const PHASES: [(&str, Phase); 8] = [
    ("inner, one power step", |s| {
        s.switch_inner_rows(1, Leading::Power { steps: 1 })
    }),
    ("inner, exact", |s| s.switch_inner_rows(3, Leading::Exact)),
    ("inter, all pairs", |s| s.switch_inter_rows(&Pairs::All)),
    ("inter, some pairs", |s| {
        s.switch_inter_rows(&Pairs::Random {
            share: 0.5,
            seed: 1,
        })
    }),
    ("amplitude", |s| s.adjust_amplitudes(2)),
    ("exchange", |s| {
        s.exchange(Swaps::None);
    }),
    ("exchange and swaps", |s| {
        s.exchange(Swaps::Within);
    }),
    ("repair", |s| {
        s.repair_dead_atoms();
    }),
];

/// Runs a phase and checks all that must hold after it.
fn checked(name: &str, phase: Phase, state: &mut Factorization<'_>, matrix: &Mat<f64>) {
    let rounding = 1e-11 * matrix.squared_norm_l2();
    let (before, budget) = (state.objective(), state.nonzeros());
    phase(state);
    let after = state.objective();
    assert_eq!(
        state.nonzeros(),
        budget,
        "{name} changed the number of non-zeros"
    );
    assert!(
        after <= before + rounding,
        "{name} raised the objective from {before} to {after}"
    );
    let true_value = dense_objective(matrix.as_ref(), state.atoms(), &state.code());
    assert!(
        (true_value - after).abs() <= rounding,
        "{name} reports {after}, is {true_value}"
    );
    for j in 0..state.atoms().ncols() {
        let norm = state.atoms().col(j).norm_l2();
        assert!(
            (norm - 1.0).abs() < 1e-12,
            "{name} left an atom of norm {norm}"
        );
    }
}

/// Six phases in any order on a small problem of any kind.
fn any_phases_in_any_order(u: &mut Unstructured<'_>) -> arbitrary::Result<()> {
    let kind = *u.choose(&KINDS)?;
    let shape = (
        u.int_in_range(1..=7)?,
        u.int_in_range(1..=12)?,
        u.int_in_range(1..=40)?,
    );
    let budget = u.int_in_range(1..=shape.2 * shape.0.min(shape.1))?;
    let scale = *u.choose(&[1.0, 1e18, 1e-18])?;
    let problem = problem(kind, shape, u.arbitrary()?);
    let matrix = &problem.samples * faer::Scale(scale);
    let samples = SampleMatrix::new(matrix.as_ref()).expect("finite");
    let mut state = coded(&samples, problem.atoms.as_ref(), budget);
    for _ in 0..6 {
        let &(name, phase) = u.choose(&PHASES)?;
        checked(name, phase, &mut state, &matrix);
    }
    Ok(())
}

#[test]
fn phases_are_monotone_and_keep_the_budget() {
    // Found by the search below: nearly dependent atoms, all samples on one line.
    arbtest(any_phases_in_any_order).seed(0x240a_351c_0001_0000);
    for case in 0..30_000 {
        arbtest(any_phases_in_any_order).seed(case << 32 | 64);
    }
}

/// New cases every time, `ARBTEST_BUDGET_MS` long; what it finds becomes a seed above.
#[test]
#[ignore = "a search: it may find what no change of yours has done"]
fn search_for_phases_that_are_not_monotone() {
    arbtest(any_phases_in_any_order);
}

#[test]
fn every_phase_survives_every_kind() {
    for kind in KINDS {
        for shape in [(4, 6, 5), (6, 4, 70), (3, 20, 7), (1, 1, 1), (5, 9, 200)] {
            let problem = problem(kind, shape, 11);
            let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
            let budget = (shape.2 * shape.0.min(shape.1) / 2).max(1);
            for (name, phase) in PHASES {
                let mut state = coded(&samples, problem.atoms.as_ref(), budget);
                checked(name, phase, &mut state, &problem.samples);
            }
        }
    }
}

#[test]
fn phases_do_lower_the_objective() {
    let problem = problem(KINDS[0], (12, 24, 300), 5);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    for (name, phase) in PHASES.iter().filter(|(name, _)| *name != "repair") {
        let mut state = coded(&samples, problem.atoms.as_ref(), 900);
        let before = state.objective();
        phase(&mut state);
        assert!(state.objective() < before * 0.999, "{name} did nothing");
    }
}

#[test]
fn inner_switching_keeps_row_counts() {
    let problem = problem(KINDS[0], (6, 10, 80), 2);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    let mut state = coded(&samples, problem.atoms.as_ref(), 200);
    let before = state.code().uses();
    state.switch_inner_rows(3, Leading::Exact);
    assert_eq!(state.code().uses(), before);
    state.switch_inner_row(3, 2, Leading::Power { steps: 2 });
    assert_eq!(state.code().uses(), before);
}

#[test]
fn inter_switching_keeps_the_pair_and_leaves_the_others() {
    let problem = problem(KINDS[0], (6, 10, 80), 4);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    let mut state = coded(&samples, problem.atoms.as_ref(), 200);
    let before = state.code();
    state.switch_inter_rows(&Pairs::List(vec![(2, 7)]));
    let after = state.code();
    let total = |uses: Vec<usize>| uses[2] + uses[7];
    assert_eq!(total(after.uses()), total(before.uses()));
    let (dense_before, dense_after) = (before.to_mat(), after.to_mat());
    for i in (0..10).filter(|i| ![2, 7].contains(i)) {
        for j in 0..80 {
            assert_eq!(dense_before[(i, j)], dense_after[(i, j)]);
        }
    }
    for j in 0..80 {
        let holds = |code: &batchsvd::SparseCode, atom| code.support(j).contains(&atom);
        if holds(&before, 2) && holds(&before, 7) {
            assert_eq!(
                dense_before.col(j),
                dense_after.col(j),
                "sample {j} holds both"
            );
        }
    }
}

#[test]
fn exchange_with_swaps_comes_close_to_brute_force() {
    let (mut found, mut optimal) = (0.0, 0.0);
    for seed in 0..10 {
        let problem = problem(KINDS[0], (4, 6, 5), seed);
        let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
        for budget in [3, 6, 9] {
            let mut state = coded(&samples, problem.atoms.as_ref(), budget);
            let optimum = {
                let errors = best_errors(problem.samples.as_ref(), state.atoms(), 4);
                best_allocation(&errors, budget)
            };
            state.exchange(Swaps::Within);
            assert!(state.objective() >= optimum - 1e-12);
            (found, optimal) = (found + state.objective(), optimal + optimum);
        }
    }
    assert!(found < 1.06 * optimal, "{found} against {optimal}");
}

#[test]
fn dead_atoms_are_replaced_from_the_data() {
    let problem = problem(KINDS[0], (6, 10, 8), 4);
    let samples = SampleMatrix::new(problem.samples.as_ref()).unwrap();
    let mut state = coded(&samples, problem.atoms.as_ref(), 4);
    let dead = state
        .code()
        .uses()
        .iter()
        .filter(|&&uses| uses == 0)
        .count();
    assert!(dead > 0);
    assert_eq!(state.repair_dead_atoms(), dead.min(8));
    let before = state.objective();
    state.exchange(Swaps::Within);
    assert!(state.objective() < before);
}

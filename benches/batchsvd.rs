//! Every phase of BatchSVD at m = 64, n = 256, nine non-zeros per sample, and what bounds them.

use batchsvd::{
    Budget, Dictionary, Factorization, Leading, Pairs, Rule, SampleMatrix, Swaps, code,
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, unzip, zip};
use tessera_workspace::learning::{planted, random_mat};

const DIMENSION: usize = 64;
const ATOMS: usize = 256;
const NONZEROS: usize = 9;

/// Phases of one batch size.
fn phases(criterion: &mut Criterion, count: usize, repetitions: usize) {
    let matrix = planted(DIMENSION, ATOMS, count, NONZEROS, 1);
    let samples = SampleMatrix::new(matrix.as_ref()).expect("finite samples");
    let dictionary = Dictionary::new(random_mat(DIMENSION, ATOMS, 2).as_ref()).expect("atoms");
    let budget = Budget::Batch(NONZEROS * count);
    let coded = code(&dictionary, &samples, budget, Rule::Omp).expect("a fair budget");
    let state = Factorization::new(&samples, &dictionary, &coded).expect("parts of one batch");

    let mut group = criterion.benchmark_group(format!("p{count}"));
    group.sample_size(repetitions);
    for (name, rule) in [("block omp", Rule::Omp), ("block ols", Rule::Ols)] {
        group.bench_function(name, |b| {
            b.iter(|| code(&dictionary, &samples, budget, rule))
        });
    }
    let mut phase = |name: &str, run: fn(&mut Factorization<'_>)| {
        group.bench_function(name, |b| {
            b.iter_batched_ref(|| state.clone(), run, BatchSize::LargeInput);
        });
    };
    phase("inner, N1 = 1", |s| {
        s.switch_inner_rows(1, Leading::Power { steps: 4 })
    });
    phase("inter, all pairs", |s| s.switch_inter_rows(&Pairs::All));
    phase("exchange", |s| {
        s.exchange(Swaps::None);
    });
    phase("exchange and swaps", |s| {
        s.exchange(Swaps::Within);
    });
    phase("amplitude, N2 = 1", |s| s.adjust_amplitudes(1));
    group.finish();
}

/// What the phases are held against: products by the matrix library, and a pass over samples that stay in a cache and
/// over ones that do not.
fn limits(criterion: &mut Criterion) {
    let atoms = random_mat(DIMENSION, ATOMS, 2);
    let mut group = criterion.benchmark_group("limits");
    group.sample_size(20);
    for count in [3_000, 100_000] {
        let samples = random_mat(DIMENSION, count, 3);
        let mut products = Mat::zeros(ATOMS, count);
        group.bench_function(format!("products p{count}"), |b| {
            b.iter(|| {
                let (left, right) = (atoms.transpose(), samples.as_ref());
                matmul(
                    products.as_mut(),
                    Accum::Replace,
                    left,
                    right,
                    1.0,
                    Par::Seq,
                );
            });
        });
        let mut residual = samples.clone();
        group.bench_function(format!("pass p{count}"), |b| {
            b.iter(|| {
                zip!(&mut residual, &samples).for_each(|unzip!(to, from)| *to -= 0.5 * *from)
            });
        });
    }
    group.finish();
}

fn small(criterion: &mut Criterion) {
    phases(criterion, 3_000, 20);
}

fn large(criterion: &mut Criterion) {
    phases(criterion, 100_000, 10);
}

criterion_group!(benches, limits, small, large);
criterion_main!(benches);

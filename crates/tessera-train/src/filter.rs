//! Filter weights from their normal equations.

use batchsvd::dense::solve_positive;
use faer::Mat;
use tessera_codec::internals::encoder::training::FilterStatistics;
use tessera_dict::filter::{CLASSES, COEFFICIENT_BITS, EDGES, FilterBand, TAPS};

/// Strength of the pull towards the weights of the parent class, in squared steps.
const PULL: f64 = 30.0;

/// Filter observations by range of steps and plane kind.
pub(crate) type BandStatistics = Vec<[FilterStatistics; 2]>;

/// Weights of every class, pulled towards those of `start`.
pub(crate) fn solve_filter_from(statistics: &FilterStatistics, start: &FilterBand) -> FilterBand {
    let scale = f64::from(1u32 << COEFFICIENT_BITS);
    let class = |(class, start): (usize, &[i16; TAPS])| {
        let parent = start.map(|weight| f64::from(weight) / scale);
        let (gram, target) = (&statistics.gram[class], &statistics.target[class]);
        rounded(solve(gram, target, &parent))
    };
    start.iter().enumerate().map(class).collect()
}

fn rounded(weights: [f64; TAPS]) -> [i16; TAPS] {
    let scale = f64::from(1u32 << COEFFICIENT_BITS);
    weights.map(|weight| (weight * scale).round().clamp(-8192.0, 8191.0) as i16)
}

/// Weights of every class; classes with few observations lean on their parents: the same surroundings
/// anywhere in a patch, and behind those all samples together.
pub(crate) fn solve_filter(statistics: &FilterStatistics) -> FilterBand {
    let sum = |classes: std::ops::Range<usize>| {
        let mut gram = [[0.0; TAPS]; TAPS];
        let mut target = [0.0; TAPS];
        for class in classes {
            for (sum, value) in target.iter_mut().zip(&statistics.target[class]) {
                *sum += value;
            }
            let values = statistics.gram[class].iter().flatten();
            for (sum, value) in gram.iter_mut().flatten().zip(values) {
                *sum += value;
            }
        }
        (gram, target)
    };
    let (gram, target) = sum(0..CLASSES);
    let all = solve(&gram, &target, &[0.0; TAPS]);
    let mut band = Vec::with_capacity(CLASSES);
    for group in (0..CLASSES).step_by(EDGES) {
        let (gram, target) = sum(group..group + EDGES);
        let parent = solve(&gram, &target, &all);
        for class in group..group + EDGES {
            let weights = solve(&statistics.gram[class], &statistics.target[class], &parent);
            band.push(rounded(weights));
        }
    }
    band
}

fn solve(gram: &[[f64; TAPS]; TAPS], target: &[f64; TAPS], parent: &[f64; TAPS]) -> [f64; TAPS] {
    let matrix = Mat::from_fn(TAPS, TAPS, |i, j| {
        gram[i][j] + if i == j { PULL } else { 0.0 }
    });
    let right = Mat::from_fn(TAPS, 1, |i, _| target[i] + PULL * parent[i]);
    match solve_positive(matrix.as_ref(), right.as_ref()) {
        Some(solution) => std::array::from_fn(|i| solution[(i, 0)]),
        None => *parent,
    }
}

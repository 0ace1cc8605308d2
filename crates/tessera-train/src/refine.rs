//! Bases of a dictionary fitted to a collection, each pulled towards what it was.
//!
//! The step is that of the batchwise problem with orthonormal blocks: keep what lies above one threshold, then
//! rotate every block to the best one for the code (Procrustes). The pull adds `k R` to the cross products, as if
//! every atom of the block R had been seen k times; how strong it must be is judged on patches that did not take
//! part in the fit, and a group that does not gain there stays as it was.

use crate::harvest::Sample;
use crate::union::worthwhile;
use faer::Mat;

/// Strengths of the pull that are tried, in energy (squared steps) per atom and dimension.
const PULLS: [f32; 3] = [0.1, 0.4, 1.6];
/// Alternations of code and blocks.
const ROUNDS: usize = 6;
/// Every so many-th picture judges.
const JUDGE: u32 = 5;
/// Held-out cost must fall to this share, or the change is not worth its bytes.
const WORTH_CHANGING: f64 = 0.998;
/// Fewer patches than this per group and nothing is tried.
const FEWEST: usize = 200;

/// The learned blocks of one group (rows are atoms), without the cosine basis.
pub(crate) type Blocks = Vec<Mat<f32>>;

/// Fits the blocks of a group to its patches; `None` if that does not help patches outside the fit.
pub(crate) fn refine(samples: &[Sample], start: &Blocks, lambda: f32) -> Option<Blocks> {
    if start.is_empty() || samples.len() < FEWEST {
        return None;
    }
    let square = worthwhile(lambda).powi(2) as f32;
    let judging = |sample: &&Sample| sample.picture % JUDGE == 0;
    let (judges, fitted): (Vec<&Sample>, Vec<&Sample>) = samples.iter().partition(judging);
    let (judges, fitted) = (spectra(&judges), spectra(&fitted));
    if judges.ncols() < FEWEST / 10 {
        return None;
    }
    let before = cost(start, &judges, square);
    let mut best: Option<(f64, f32)> = None;
    for pull in PULLS {
        let own = cost(&fit(&fitted, start, pull, square), &judges, square);
        if own < best.map_or(WORTH_CHANGING * before, |(least, _)| least) {
            best = Some((own, pull));
        }
    }
    let (_, pull) = best?;
    let all: Vec<&Sample> = samples.iter().collect();
    Some(fit(&spectra(&all), start, pull, square))
}

/// Which block codes each column of `data` cheapest; 0 is the cosine basis.
pub(crate) fn assign(blocks: &Blocks, data: &Mat<f32>, lambda: f32) -> Vec<usize> {
    let square = worthwhile(lambda).powi(2) as f32;
    choose(&coefficients(blocks, data), data, square).0
}

/// Spectra as columns.
pub(crate) fn spectra(samples: &[&Sample]) -> Mat<f32> {
    let m = samples.first().map_or(0, |sample| sample.dimension());
    let mut data = Mat::zeros(m, samples.len());
    for (j, sample) in samples.iter().enumerate() {
        for (i, value) in sample.spectrum().enumerate() {
            data[(i, j)] = value;
        }
    }
    data
}

fn fit(data: &Mat<f32>, start: &Blocks, pull: f32, square: f32) -> Blocks {
    let m = data.nrows();
    let mut blocks = start.clone();
    for _ in 0..ROUNDS {
        let coded = coefficients(&blocks, data);
        let (choice, _) = choose(&coded, data, square);
        for (b, block) in blocks.iter_mut().enumerate() {
            let members: Vec<usize> = (0..data.ncols()).filter(|&j| choice[j] == b + 1).collect();
            let kept = Mat::from_fn(m, members.len(), |i, j| {
                let c = coded[b][(i, members[j])];
                if c * c > square { c } else { 0.0 }
            });
            let own = Mat::from_fn(m, members.len(), |i, j| data[(i, members[j])]);
            let cross = &kept * own.transpose() + &start[b] * faer::Scale(pull * m as f32);
            if let Some(rotated) = nearest_orthonormal(&cross) {
                *block = rotated;
            }
        }
    }
    blocks
}

fn coefficients(blocks: &Blocks, data: &Mat<f32>) -> Vec<Mat<f32>> {
    blocks.iter().map(|block| block * data).collect()
}

/// The cheapest basis of every patch, and the sum of their costs.
fn choose(coded: &[Mat<f32>], data: &Mat<f32>, square: f32) -> (Vec<usize>, f64) {
    let price = |values: &Mat<f32>, j: usize| -> f32 {
        values.col(j).iter().map(|c| (c * c).min(square)).sum()
    };
    let mut total = 0.0;
    let choice = (0..data.ncols()).map(|j| {
        let mut best = (0, price(data, j));
        for (b, values) in coded.iter().enumerate() {
            let own = price(values, j);
            if own < best.1 {
                best = (b + 1, own);
            }
        }
        total += f64::from(best.1);
        best.0
    });
    (choice.collect(), total)
}

fn cost(blocks: &Blocks, data: &Mat<f32>, square: f32) -> f64 {
    choose(&coefficients(blocks, data), data, square).1
}

fn nearest_orthonormal(matrix: &Mat<f32>) -> Option<Mat<f32>> {
    let svd = matrix.svd().ok()?;
    Some(svd.U() * svd.V().transpose())
}

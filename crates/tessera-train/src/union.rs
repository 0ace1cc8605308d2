//! The union of orthonormal bases of one group.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par, Side};

/// Learned blocks (rows are atoms) and which one each sample chose; 0 is the fixed identity.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) blocks: Vec<Mat<f32>>,
    pub(crate) assignment: Vec<usize>,
}

const ROUNDS: usize = 12;
/// Bits a patch pays for not choosing the first basis.
const CHOICE_BITS: f32 = 0.7;

/// Rate-distortion cost of a coefficient.
fn price(value: f32, lambda: f32) -> f32 {
    let size = value.abs();
    (size * size).min(0.08 + lambda * (6.3 + 2.0 * size.max(1.0).log2()))
}

fn prices(values: &Mat<f32>, lambda: f32) -> Vec<f32> {
    (0..values.ncols())
        .map(|j| values.col(j).iter().map(|&v| price(v, lambda)).sum())
        .collect()
}

fn product(a: &Mat<f32>, b: &Mat<f32>) -> Mat<f32> {
    let mut out = Mat::zeros(a.nrows(), b.ncols());
    matmul(&mut out, Accum::Replace, a, b, 1.0, Par::Seq);
    out
}

/// Learns `count` blocks beside the identity for the columns of `data`.
pub(crate) fn learn_union(data: &Mat<f32>, count: usize, lambda: f32) -> Union {
    let n = data.ncols();
    if count == 0 {
        return Union {
            blocks: Vec::new(),
            assignment: vec![0; n],
        };
    }
    let identity = prices(data, lambda);
    let mut blocks = start(data, count);
    for round in 0..ROUNDS {
        let assignment = assign(data, &identity, &blocks, lambda);
        let anneal = (1.0 - round as f32 / (0.6 * ROUNDS as f32)).max(0.0);
        let threshold = (0.08 + 6.3 * lambda) * (1.0 + anneal);
        for (index, block) in blocks.iter_mut().enumerate() {
            let members: Vec<usize> = (0..n).filter(|&j| assignment[j] == index + 1).collect();
            if members.len() >= data.nrows() {
                *block = procrustes(data, &members, block, threshold);
            }
        }
    }
    let assignment = assign(data, &identity, &blocks, lambda);
    Union { blocks, assignment }
}

fn assign(data: &Mat<f32>, identity: &[f32], blocks: &[Mat<f32>], lambda: f32) -> Vec<usize> {
    let mut best: Vec<(f32, usize)> = identity.iter().map(|&cost| (cost, 0)).collect();
    for (index, block) in blocks.iter().enumerate() {
        let costs = prices(&product(block, data), lambda);
        for (best, cost) in best.iter_mut().zip(costs) {
            let cost = cost + CHOICE_BITS * lambda;
            if cost < best.0 {
                *best = (cost, index + 1);
            }
        }
    }
    best.into_iter().map(|(_, index)| index).collect()
}

/// Best orthonormal block for the thresholded coefficients of `members`.
fn procrustes(data: &Mat<f32>, members: &[usize], block: &Mat<f32>, threshold: f32) -> Mat<f32> {
    let m = data.nrows();
    let own = Mat::from_fn(m, members.len(), |i, j| data[(i, members[j])]);
    let mut code = product(block, &own);
    for j in 0..code.ncols() {
        for i in 0..m {
            if code[(i, j)] * code[(i, j)] < threshold {
                code[(i, j)] = 0.0;
            }
        }
    }
    let mut moment = Mat::<f32>::zeros(m, m);
    matmul(
        &mut moment,
        Accum::Replace,
        &code,
        own.transpose(),
        1.0,
        Par::Seq,
    );
    let pull = 1e-4 * members.len() as f32;
    for j in 0..m {
        for i in 0..m {
            moment[(i, j)] += pull * block[(i, j)];
        }
    }
    match moment.svd() {
        Ok(svd) => svd.U() * svd.V().transpose(),
        Err(_) => block.clone(),
    }
}

/// Clusters samples by the shape of their spectra and takes each cluster's principal axes.
fn start(data: &Mat<f32>, count: usize) -> Vec<Mat<f32>> {
    let (m, n) = (data.nrows(), data.ncols());
    let mut shapes = Mat::from_fn(m, n, |i, j| data[(i, j)].abs().sqrt());
    for j in 0..n {
        let norm = shapes.col(j).iter().map(|v| v * v).sum::<f32>().sqrt() + 1e-6;
        (0..m).for_each(|i| shapes[(i, j)] /= norm);
    }
    let mut centres = Mat::from_fn(m, count, |i, k| shapes[(i, k * n / count)]);
    let mut assignment = vec![0; n];
    for _ in 0..8 {
        let scores = product(&centres.transpose().to_owned(), &shapes);
        for (j, own) in assignment.iter_mut().enumerate() {
            *own = (0..count)
                .max_by(|&a, &b| scores[(a, j)].total_cmp(&scores[(b, j)]))
                .unwrap_or(0);
        }
        for k in 0..count {
            let members: Vec<usize> = (0..n).filter(|&j| assignment[j] == k).collect();
            if members.len() < 6 {
                continue;
            }
            let mut mean: Vec<f32> = (0..m)
                .map(|i| members.iter().map(|&j| shapes[(i, j)]).sum())
                .collect();
            let norm = mean.iter().map(|v| v * v).sum::<f32>().sqrt() + 1e-6;
            mean.iter_mut().for_each(|v| *v /= norm);
            (0..m).for_each(|i| centres[(i, k)] = mean[i]);
        }
    }
    (0..count)
        .map(|k| {
            let mut members: Vec<usize> = (0..n).filter(|&j| assignment[j] == k).collect();
            if members.len() < m {
                members = (k..n).step_by(count).collect();
            }
            principal_axes(data, &members)
        })
        .collect()
}

fn principal_axes(data: &Mat<f32>, members: &[usize]) -> Mat<f32> {
    let m = data.nrows();
    let own = Mat::from_fn(m, members.len(), |i, j| data[(i, members[j])]);
    let mut covariance = Mat::<f32>::zeros(m, m);
    matmul(
        &mut covariance,
        Accum::Replace,
        &own,
        own.transpose(),
        1.0 / members.len() as f32,
        Par::Seq,
    );
    for i in 0..m {
        covariance[(i, i)] += 1e-3 * (1.0 - 0.9 * i as f32 / m as f32);
    }
    match covariance.self_adjoint_eigen(Side::Lower) {
        Ok(eigen) => Mat::from_fn(m, m, |i, j| eigen.U()[(j, m - 1 - i)]),
        Err(_) => Mat::identity(m, m),
    }
}

//! Bases of a dictionary fitted to a collection, each pulled towards what it was.
//!
//! The step is that of the batchwise problem with orthonormal blocks: keep what lies above one threshold, then
//! rotate every block to the best one for the code (Procrustes). The pull adds `k R` to the cross products, as if
//! every atom of the block R had been seen k times; how strong it must be is decided by patches that did not take
//! part in the fit, and a group that does not gain there stays as it was. Blocks are added, each starting from the
//! principal axes of the patches that are coded worst, as long as the same patches gain from them.

use crate::harvest::Sample;
use crate::union::worthwhile;
use batchsvd::dense;
use faer::Mat;

/// Strengths of the pull that are tried, in energy (squared steps) per atom and dimension.
const PULLS: [f32; 2] = [0.05, 0.5];
/// Pull of an added block towards the principal axes it starts from.
const NEW_PULL: f32 = 0.1;
/// Alternations of code and blocks.
const ROUNDS: usize = 6;
/// Every so many-th picture is for validation.
const VALIDATION_STRIDE: u32 = 5;
/// The cost of validation patches must fall to this share, or a change is not worth making.
const WORTH_CHANGING: f64 = 0.998;
/// The same for one more block, which costs bytes in the dictionary and bits to choose.
const WORTH_ADDING: f64 = 0.99;
/// Fewer patches than this per group and nothing is tried.
const FEWEST: usize = 200;
/// Patches per dimension that a fit uses at most; more take time and change nothing.
const ENOUGH: usize = 48;

/// The learned blocks of one group (rows are atoms), without the cosine basis.
pub(crate) type Blocks = Vec<Mat<f32>>;

/// Fits the blocks of a group to its patches and adds others, up to `most`; `None` if patches outside the fit do
/// not gain from it.
pub(crate) fn refine(
    samples: &[Sample],
    start: &Blocks,
    most: usize,
    lambda: f32,
) -> Option<Blocks> {
    if samples.len() < FEWEST {
        return None;
    }
    let (validation, fitted): (Vec<&Sample>, Vec<&Sample>) = enough(samples.iter())
        .into_iter()
        .partition(|sample| sample.picture % VALIDATION_STRIDE == 0);
    if validation.len() < FEWEST / 10 {
        return None;
    }
    let square = worthwhile(lambda).powi(2) as f32;
    let (validation, fitted) = (spectra(&validation), spectra(&fitted));
    let mut found = Found {
        cost: cost(start, &validation, square),
        blocks: start.clone(),
    };
    let mut changed = false;
    for pull in PULLS {
        let pulls = vec![pull; start.len()];
        let own = fit(&fitted, start, &pulls, square);
        changed |= !start.is_empty() && found.improve(own, &validation, square, WORTH_CHANGING);
    }
    while found.blocks.len() < most {
        let mut more = found.blocks.clone();
        more.push(axes_of_worst(&found.blocks, &fitted, square)?);
        let mut pulls = vec![PULLS[0]; more.len()];
        pulls[more.len() - 1] = NEW_PULL;
        let own = fit(&fitted, &more, &pulls, square);
        if !found.improve(own, &validation, square, WORTH_ADDING) {
            break;
        }
        changed = true;
    }
    changed.then_some(found.blocks)
}

/// The best blocks so far and what they cost the validation patches.
struct Found {
    cost: f64,
    blocks: Blocks,
}

impl Found {
    /// Takes over `blocks` if they lower the cost of validation patches to `share` of the present one.
    fn improve(&mut self, blocks: Blocks, validation: &Mat<f32>, square: f32, share: f64) -> bool {
        let own = cost(&blocks, validation, square);
        let better = own < share * self.cost;
        if better {
            *self = Self { cost: own, blocks };
        }
        better
    }
}

/// Which block codes each column of `data` cheapest; 0 is the cosine basis.
pub(crate) fn assign(blocks: &Blocks, data: &Mat<f32>, lambda: f32) -> Vec<usize> {
    let square = worthwhile(lambda).powi(2) as f32;
    let costs = costs(&coefficients(blocks, data), data, square);
    costs.into_iter().map(|(choice, _)| choice).collect()
}

/// All patches, or an even selection of very many.
pub(crate) fn enough<'a>(samples: impl ExactSizeIterator<Item = &'a Sample>) -> Vec<&'a Sample> {
    let count = samples.len();
    let mut samples = samples.peekable();
    let m = samples.peek().map_or(1, |sample| sample.dimension());
    let step = count.div_ceil(ENOUGH * m.max(16)).max(1);
    samples.step_by(step).collect()
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

fn fit(data: &Mat<f32>, start: &Blocks, pulls: &[f32], square: f32) -> Blocks {
    let m = data.nrows();
    let mut blocks = start.clone();
    for _ in 0..ROUNDS {
        let coded = coefficients(&blocks, data);
        let choice = costs(&coded, data, square);
        for (b, block) in blocks.iter_mut().enumerate() {
            let members: Vec<usize> = (0..data.ncols())
                .filter(|&j| choice[j].0 == b + 1)
                .collect();
            let kept = Mat::from_fn(m, members.len(), |i, j| {
                let c = coded[b][(i, members[j])];
                if c * c > square { c } else { 0.0 }
            });
            let own = Mat::from_fn(m, members.len(), |i, j| data[(i, members[j])]);
            let cross = &kept * own.transpose() + &start[b] * faer::Scale(pulls[b] * m as f32);
            if let Some(rotated) = nearest_orthonormal(&cross) {
                *block = rotated;
            }
        }
    }
    blocks
}

/// Principal axes of the half of the patches whose cost is the largest part of their energy.
fn axes_of_worst(blocks: &Blocks, data: &Mat<f32>, square: f32) -> Option<Mat<f32>> {
    let m = data.nrows();
    let costs = costs(&coefficients(blocks, data), data, square);
    let mut order: Vec<(f32, usize)> = (costs.iter().enumerate())
        .map(|(j, &(_, cost))| {
            let energy: f32 = data.col(j).iter().map(|c| c * c).sum();
            (cost / energy.max(1e-6), j)
        })
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    order.truncate(data.ncols().div_ceil(2));
    let worst = Mat::from_fn(m, order.len(), |i, j| data[(i, order[j].1)]);
    let axes = dense::eigenvectors(double(&(&worst * worst.transpose())).as_ref())?;
    Some(Mat::from_fn(m, m, |i, j| axes[(j, m - 1 - i)] as f32))
}

fn coefficients(blocks: &Blocks, data: &Mat<f32>) -> Vec<Mat<f32>> {
    blocks.iter().map(|block| block * data).collect()
}

/// The cheapest basis of every patch and its cost: the error of what is dropped and the price of what is kept.
fn costs(coded: &[Mat<f32>], data: &Mat<f32>, square: f32) -> Vec<(usize, f32)> {
    let price = |values: &Mat<f32>, j: usize| -> f32 {
        values.col(j).iter().map(|c| (c * c).min(square)).sum()
    };
    let cheapest = |j: usize| {
        let mut best = (0, price(data, j));
        for (b, values) in coded.iter().enumerate() {
            let own = price(values, j);
            if own < best.1 {
                best = (b + 1, own);
            }
        }
        best
    };
    (0..data.ncols()).map(cheapest).collect()
}

fn cost(blocks: &Blocks, data: &Mat<f32>, square: f32) -> f64 {
    let costs = costs(&coefficients(blocks, data), data, square);
    costs.iter().map(|&(_, cost)| f64::from(cost)).sum()
}

fn nearest_orthonormal(matrix: &Mat<f32>) -> Option<Mat<f32>> {
    let found = dense::nearest_orthonormal(double(matrix).as_ref())?;
    Some(Mat::from_fn(found.nrows(), found.ncols(), |i, j| {
        found[(i, j)] as f32
    }))
}

/// In the precision that decompositions are compiled for.
fn double(matrix: &Mat<f32>) -> Mat<f64> {
    Mat::from_fn(matrix.nrows(), matrix.ncols(), |i, j| {
        f64::from(matrix[(i, j)])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAMBDA: f32 = 0.08;
    const M: usize = 16;

    /// Patches that are sparse in a rotated basis, from ten pictures.
    fn sparse_patches(count: usize) -> Vec<Sample> {
        let (s, c) = 0.6f32.sin_cos();
        let mut state = 7u64;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            (state >> 40) as f32 / (1 << 24) as f32 - 0.5
        };
        (0..count)
            .map(|i| {
                let mut values = vec![0.0; M];
                let pair = 2 * (i % (M / 2));
                let size = 20.0 * random();
                values[pair] = c * size;
                values[pair + 1] = s * size;
                values.iter_mut().for_each(|v| *v += 0.3 * random());
                Sample::new(i as u32 % 10, &values)
            })
            .collect()
    }

    #[test]
    fn a_block_is_added_where_the_cosine_basis_is_not_sparse() {
        let samples = sparse_patches(2000);
        let blocks = refine(&samples, &vec![], 3, LAMBDA).expect("there is much to gain");
        let data = spectra(&enough(samples.iter()));
        let square = worthwhile(LAMBDA).powi(2) as f32;
        assert!(cost(&blocks, &data, square) < 0.75 * cost(&vec![], &data, square));
        let product = &blocks[0] * blocks[0].transpose();
        assert!((product[(0, 0)] - 1.0).abs() < 1e-3 && product[(0, 1)].abs() < 1e-3);
    }

    #[test]
    fn noise_and_small_groups_change_nothing() {
        let few = sparse_patches(50);
        assert!(refine(&few, &vec![], 3, LAMBDA).is_none());
        let mut state = 1u64;
        let noise: Vec<Sample> = (0..600)
            .map(|i| {
                let values: Vec<f32> = (0..M)
                    .map(|_| {
                        state = state
                            .wrapping_mul(6_364_136_223_846_793_005)
                            .wrapping_add(1);
                        (state >> 40) as f32 / (1 << 22) as f32 - 2.0
                    })
                    .collect();
                Sample::new(i % 10, &values)
            })
            .collect();
        assert!(refine(&noise, &vec![Mat::identity(M, M)], 1, LAMBDA).is_none());
    }
}

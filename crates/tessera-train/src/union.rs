//! The union of orthonormal bases of one group, learned by `batchsvd` under one threshold for the batch.

use batchsvd::union::{Sparsity, UnionParams, UnionStart};
use batchsvd::{Error, SampleMatrix};
use faer::Mat;

/// Learned blocks (rows are atoms) and which one each sample chose; 0 is the cosine basis itself.
#[derive(Debug)]
pub(crate) struct Union {
    pub(crate) blocks: Vec<Mat<f32>>,
    pub(crate) assignment: Vec<usize>,
}

/// Magnitude (in steps) from which a coefficient is worth its bits: the encoder's rough estimate of
/// what a coefficient costs is 0.08 of noise and 6.3 bits.
pub(crate) fn worthwhile(lambda: f32) -> f64 {
    f64::from(0.08 + 6.3 * lambda).sqrt()
}

/// Learns `count` blocks beside the cosine basis for the columns of `data`, which are cosine spectra.
pub(crate) fn learn_union(data: &Mat<f32>, count: usize, lambda: f32) -> Result<Union, Error> {
    if count == 0 {
        return Ok(Union {
            blocks: Vec::new(),
            assignment: vec![0; data.ncols()],
        });
    }
    let m = data.nrows();
    let matrix = Mat::from_fn(m, data.ncols(), |i, j| f64::from(data[(i, j)]));
    let samples = SampleMatrix::new(matrix.as_ref())?;
    let params = UnionParams {
        start: UnionStart::Beside(vec![Mat::identity(m, m)]),
        ..UnionParams::new(count + 1, Sparsity::Threshold(worthwhile(lambda)))
    };
    let fit = params.check()?.fit(&samples)?;
    let block = |b: usize| Mat::from_fn(m, m, |i, j| fit.block(b)[(j, i)] as f32);
    Ok(Union {
        blocks: (1..=count).map(block).collect(),
        assignment: fit.assignment.iter().map(|&b| b as usize).collect(),
    })
}

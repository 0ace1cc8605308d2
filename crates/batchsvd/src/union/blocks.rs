//! Orthonormal blocks side by side, and the steps that change them.

use crate::dense;
use crate::error::same_size;
use crate::linalg::Columns;
use crate::linalg::kernels::axpy;
use crate::samples::checked_magnitude;
use crate::start::kmeans;
use crate::{Error, SampleMatrix, SparseCode};
use bitvec::prelude::bitvec;
use faer::{Mat, MatRef};
use rayon::prelude::*;

/// Pull towards the old block, relative to the size of `Y X'`: keeps atoms without
/// coefficients where they are and cannot raise the objective.
const PROXIMITY: f64 = 1e-10;
/// Parts into which sums over samples are cut; a constant, for the same bits on any machine.
const PARTS: usize = 16;
/// Rounds of the clustering that starts the blocks.
const CLUSTER_ROUNDS: usize = 10;

/// `count` orthonormal m x m blocks in the columns of one matrix.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    columns: Columns,
    count: usize,
    /// Number of leading blocks that never change.
    fixed: usize,
}

impl Blocks {
    /// Principal axes of clusters of similar directions.
    pub(super) fn from_clusters(
        samples: &SampleMatrix,
        count: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        let centres = kmeans::atoms(samples, count, CLUSTER_ROUNDS, seed)?;
        let nearest = kmeans::assign(&centres, samples);
        let parts: Vec<Vec<f64>> = (0..count)
            .into_par_iter()
            .map(|cluster| {
                let own = (nearest.iter().enumerate()).filter(|(_, near)| near.0 == cluster);
                principal_axes(samples, own.map(|(sample, _)| sample))
            })
            .collect();
        let columns = Columns::from_vec(samples.dimension(), parts.concat());
        Ok(Self {
            columns,
            count,
            fixed: 0,
        })
    }

    /// The orthonormal matrices nearest to the given ones.
    pub(super) fn from_given(samples: &SampleMatrix, given: &[Mat<f64>]) -> Result<Self, Error> {
        let m = samples.dimension();
        let mut data = Vec::with_capacity(m * m * given.len());
        for block in given {
            same_size("the rows of a block", m, block.nrows())?;
            same_size("the columns of a block", m, block.ncols())?;
            checked_magnitude("a block", block.as_ref())?;
            let polar = nearest_orthonormal(block.as_ref())
                .ok_or_else(|| Error::parameter("start", "a block cannot be decomposed"))?;
            data.extend(polar);
        }
        let columns = Columns::from_vec(m, data);
        Ok(Self {
            columns,
            count: given.len(),
            fixed: 0,
        })
    }

    /// The same blocks, never to change.
    pub(super) fn fix(self) -> Self {
        Self {
            fixed: self.count,
            ..self
        }
    }

    /// These blocks and then `others`.
    pub(super) fn followed_by(self, others: &Self) -> Self {
        let data = [self.columns.data(), others.columns.data()].concat();
        Self {
            columns: Columns::from_vec(self.columns.rows(), data),
            count: self.count + others.count,
            fixed: self.fixed,
        }
    }

    pub(super) fn count(&self) -> usize {
        self.count
    }

    pub(super) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The packed atoms of one block.
    pub(super) fn block(&self, block: usize) -> &[f64] {
        let size = self.columns.rows() * self.columns.rows();
        &self.columns.data()[block * size..][..size]
    }

    fn set_block(&mut self, block: usize, data: &[f64]) {
        let size = data.len();
        self.columns.data_mut()[block * size..][..size].copy_from_slice(data);
    }

    /// Every block that may change becomes the best one for the code: Procrustes, one SVD each.
    pub(super) fn rotate(&mut self, samples: &SampleMatrix, code: &SparseCode) {
        let m = samples.dimension();
        let cross = cross_products(samples, code, m, self.columns.count());
        let rotated: Vec<Option<Vec<f64>>> = (self.fixed..self.count)
            .into_par_iter()
            .map(|block| {
                let size = m * m;
                let mut target = cross.data()[block * size..][..size].to_vec();
                let peak = target.iter().fold(0.0f64, |peak, v| peak.max(v.abs()));
                if peak <= 0.0 {
                    return None;
                }
                axpy(PROXIMITY * peak, self.block(block), &mut target);
                nearest_orthonormal(MatRef::from_column_major_slice(&target, m, m))
            })
            .collect();
        for (block, data) in rotated.iter().enumerate() {
            if let Some(data) = data {
                self.set_block(self.fixed + block, data);
            }
        }
    }

    /// Gives blocks that no sample uses to the samples with the largest errors.
    pub(super) fn revive(&mut self, samples: &SampleMatrix, assignment: &[u32], errors: &[f64]) {
        let mut used = bitvec![0; self.count];
        for &block in assignment {
            used.set(block as usize, true);
        }
        used[..self.fixed].fill(true);
        if used.all() {
            return;
        }
        let mut worst: Vec<usize> = (0..samples.count()).collect();
        worst.sort_by(|&a, &b| errors[b].total_cmp(&errors[a]).then(a.cmp(&b)));
        let share = worst.len().div_ceil(2 * self.count);
        for (block, group) in used.iter_zeros().zip(worst.chunks(share)) {
            self.set_block(block, &principal_axes(samples, group.iter().copied()));
        }
    }
}

/// `Y X'`, one column per atom, summed in a fixed order.
fn cross_products(samples: &SampleMatrix, code: &SparseCode, m: usize, atoms: usize) -> Columns {
    let size = samples.count().div_ceil(PARTS);
    let starts: Vec<usize> = (0..samples.count()).step_by(size).collect();
    let parts: Vec<Columns> = starts
        .into_par_iter()
        .map(|start| {
            let mut sum = Columns::zeros(m, atoms);
            for sample in start..(start + size).min(samples.count()) {
                for (atom, value) in code.entries(sample) {
                    axpy(value, samples.columns().col(sample), sum.col_mut(atom));
                }
            }
            sum
        })
        .collect();
    let mut total = Columns::zeros(m, atoms);
    for part in parts {
        axpy(1.0, part.data(), total.data_mut());
    }
    total
}

/// The orthogonal factor of the polar decomposition, packed; `None` if the SVD fails.
fn nearest_orthonormal(matrix: MatRef<'_, f64>) -> Option<Vec<f64>> {
    let polar = dense::nearest_orthonormal(matrix)?;
    Some(Columns::from_mat(polar.as_ref()).data().to_vec())
}

/// Eigenvectors of the samples' second moments, largest first, packed.
fn principal_axes(samples: &SampleMatrix, members: impl Iterator<Item = usize>) -> Vec<f64> {
    let m = samples.dimension();
    let data: Vec<f64> = members
        .flat_map(|j| samples.columns().col(j))
        .copied()
        .collect();
    let matrix = MatRef::from_column_major_slice(&data, m, data.len() / m);
    let moments: Mat<f64> = matrix * matrix.transpose();
    match dense::eigenvectors(moments.as_ref()) {
        Some(axes) => (0..m)
            .rev()
            .flat_map(|j| axes.col(j).iter().copied().collect::<Vec<_>>())
            .collect(),
        None => Columns::from_mat(Mat::<f64>::identity(m, m).as_ref())
            .data()
            .to_vec(),
    }
}

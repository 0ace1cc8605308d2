//! A column-major matrix without padding between columns.

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

/// Column-major storage in which column `j` is `data[j * rows..][..rows]`.
///
/// Invariant: `rows > 0` and `data.len()` is a multiple of `rows`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Columns {
    rows: usize,
    data: Vec<f64>,
}

impl Columns {
    pub(crate) fn zeros(rows: usize, columns: usize) -> Self {
        Self::from_vec(rows, vec![0.0; rows * columns])
    }

    pub(crate) fn from_vec(rows: usize, data: Vec<f64>) -> Self {
        debug_assert!(rows > 0 && data.len().is_multiple_of(rows));
        Self { rows, data }
    }

    pub(crate) fn from_mat(matrix: MatRef<'_, f64>) -> Self {
        let mut data = Vec::with_capacity(matrix.nrows() * matrix.ncols());
        for j in 0..matrix.ncols() {
            data.extend(matrix.col(j).iter());
        }
        Self::from_vec(matrix.nrows(), data)
    }

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn count(&self) -> usize {
        self.data.len() / self.rows
    }

    pub(crate) fn data(&self) -> &[f64] {
        &self.data
    }

    pub(crate) fn data_mut(&mut self) -> &mut [f64] {
        &mut self.data
    }

    pub(crate) fn col(&self, j: usize) -> &[f64] {
        &self.data[j * self.rows..][..self.rows]
    }

    pub(crate) fn col_mut(&mut self, j: usize) -> &mut [f64] {
        &mut self.data[j * self.rows..][..self.rows]
    }

    pub(crate) fn as_mat(&self) -> MatRef<'_, f64> {
        MatRef::from_column_major_slice(&self.data, self.rows, self.count())
    }

    /// Writes `self' * other` into `out`, where `other` is column-major with `self.rows()` rows.
    pub(crate) fn correlate(&self, other: &[f64], out: &mut [f64]) {
        let columns = other.len() / self.rows;
        let right = MatRef::from_column_major_slice(other, self.rows, columns);
        let product = MatMut::from_column_major_slice_mut(out, self.count(), columns);
        let left = self.as_mat().transpose();
        matmul(product, Accum::Replace, left, right, 1.0, Par::Seq);
    }

    /// `self' * self`, an n x n matrix whose column `j` holds all products with column `j`.
    pub(crate) fn gram(&self) -> Columns {
        let n = self.count();
        let mut gram = Columns::zeros(n, n);
        self.correlate(&self.data, &mut gram.data);
        gram
    }
}

//! A checked batch of samples.

use crate::Error;
use crate::linalg::Columns;
use crate::linalg::kernels::{Dot, vectorised};
use faer::{Mat, MatRef};

/// Squares and fourth powers of magnitudes inside this range are ordinary doubles.
const MAGNITUDES: std::ops::RangeInclusive<f64> = 1e-140..=1e140;

/// A batch of samples, one per column, checked once and ready for every algorithm.
///
/// The values are kept divided by a power of two, so that the largest magnitude lies in
/// `[1, 2)`. The division is exact: learning from `Y` and from `2^k Y` gives the same atoms
/// to the bit. Everything handed out (codes, errors, objectives) is in the caller's units.
#[derive(Clone, Debug)]
pub struct SampleMatrix {
    columns: Columns,
    scale: f64,
}

impl SampleMatrix {
    /// Checks and copies a batch; samples are the columns of `matrix`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`], or [`Error::OutOfRange`] when the largest
    /// magnitude is outside `1e-140..1e140`. A batch of zeros is accepted.
    pub fn new(matrix: MatRef<'_, f64>) -> Result<Self, Error> {
        let magnitude = checked_magnitude("the sample matrix", matrix)?;
        let scale = power_of_two_below(magnitude);
        let mut columns = Columns::from_mat(matrix);
        let inverse = scale.recip();
        for value in columns.data_mut() {
            *value *= inverse;
        }
        Ok(Self { columns, scale })
    }

    /// Number of values in a sample.
    pub fn dimension(&self) -> usize {
        self.columns.rows()
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.columns.count()
    }

    /// The samples in the caller's units, one per column.
    pub fn to_mat(&self) -> Mat<f64> {
        let scaled = self.columns.as_mat();
        Mat::from_fn(self.dimension(), self.count(), |i, j| {
            scaled[(i, j)] * self.scale
        })
    }

    /// The batch made of the given samples, in that order.
    ///
    /// # Panics
    /// If an index is not below [`SampleMatrix::count`], or `indices` is empty.
    pub fn select(&self, indices: &[usize]) -> SampleMatrix {
        assert!(!indices.is_empty(), "a batch holds at least one sample");
        let data = indices.iter().flat_map(|&j| self.columns.col(j)).copied();
        SampleMatrix {
            columns: Columns::from_vec(self.dimension(), data.collect()),
            scale: self.scale,
        }
    }

    /// The scaled samples.
    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// The power of two by which the stored values were divided.
    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }

    /// Squared norm of a scaled sample.
    pub(crate) fn energy(&self, sample: usize) -> f64 {
        let column = self.columns.col(sample);
        vectorised(Dot(column, column))
    }

    /// Squared norm of the scaled batch.
    pub(crate) fn total_energy(&self) -> f64 {
        (0..self.count()).map(|j| self.energy(j)).sum()
    }
}

/// Largest magnitude of a matrix after checking that it can be worked with.
pub(crate) fn checked_magnitude(what: &'static str, matrix: MatRef<'_, f64>) -> Result<f64, Error> {
    let (rows, columns) = (matrix.nrows(), matrix.ncols());
    if rows == 0 || columns == 0 {
        return Err(Error::Empty {
            what,
            rows,
            columns,
        });
    }
    let mut magnitude: f64 = 0.0;
    for column in 0..columns {
        for (row, value) in matrix.col(column).iter().enumerate() {
            if !value.is_finite() {
                return Err(Error::NonFinite { what, row, column });
            }
            magnitude = magnitude.max(value.abs());
        }
    }
    if magnitude > 0.0 && !MAGNITUDES.contains(&magnitude) {
        return Err(Error::OutOfRange { what, magnitude });
    }
    Ok(magnitude)
}

/// The largest power of two not above `magnitude`, or one for zero.
fn power_of_two_below(magnitude: f64) -> f64 {
    const EXPONENT_BITS: u64 = 0x7ff0_0000_0000_0000;
    if magnitude > 0.0 {
        f64::from_bits(magnitude.to_bits() & EXPONENT_BITS)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scaling_is_exact() {
        let matrix = Mat::from_fn(3, 2, |i, j| 0.1 + i as f64 * 1e18 + j as f64);
        let samples = SampleMatrix::new(matrix.as_ref()).unwrap();
        assert_eq!(samples.to_mat(), matrix);
        let top = samples
            .columns()
            .data()
            .iter()
            .fold(0.0f64, |m, v| m.max(v.abs()));
        assert!((1.0..2.0).contains(&top));
    }

    #[test]
    fn bad_matrices_are_refused() {
        let of = |value: f64| SampleMatrix::new(Mat::from_fn(2, 2, |_, _| value).as_ref());
        assert!(matches!(
            of(f64::NAN),
            Err(Error::NonFinite {
                row: 0,
                column: 0,
                ..
            })
        ));
        assert!(matches!(of(f64::INFINITY), Err(Error::NonFinite { .. })));
        assert!(matches!(of(1e200), Err(Error::OutOfRange { .. })));
        assert!(matches!(of(1e-200), Err(Error::OutOfRange { .. })));
        assert!(of(0.0).is_ok() && of(1e18).is_ok() && of(1e-18).is_ok());
        let empty = Mat::<f64>::zeros(0, 3);
        assert!(matches!(
            SampleMatrix::new(empty.as_ref()),
            Err(Error::Empty { .. })
        ));
    }
}

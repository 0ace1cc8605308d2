//! The leading left singular vector of a set of columns.

use super::kernels::{axpy, dot, vectorised};
use crate::dense::eigenvectors;
use crate::dictionary::normalise;
use faer::{Mat, MatRef};
use pulp::NullaryFnOnce;

/// How Algorithm 1 (and K-SVD) finds the best direction for a set of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Leading {
    /// Power steps from the current atom. One step is enough for monotonicity, a few come
    /// close to the exact vector at a quarter of its cost.
    Power {
        /// Number of steps, at least one.
        steps: usize,
    },
    /// Eigenvector of the exact decomposition.
    Exact,
}

impl Leading {
    /// Turns `atom` towards the direction that explains most energy of `columns` (packed,
    /// each as long as the atom). Leaves it unchanged when the columns are all zero.
    pub(crate) fn improve(self, columns: &[f64], atom: &mut [f64]) {
        match self {
            Self::Power { steps } => {
                for _ in 0..steps {
                    let mut next = vec![0.0; atom.len()];
                    vectorised(PowerStep {
                        columns,
                        atom,
                        next: &mut next,
                    });
                    if normalise(&mut next).is_none() {
                        return;
                    }
                    atom.copy_from_slice(&next);
                }
            }
            Self::Exact => exact(columns, atom),
        }
    }
}

/// `next += E E' atom`.
struct PowerStep<'a> {
    columns: &'a [f64],
    atom: &'a [f64],
    next: &'a mut [f64],
}

impl NullaryFnOnce for PowerStep<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        for column in self.columns.chunks_exact(self.atom.len()) {
            axpy(dot(self.atom, column), column, self.next);
        }
    }
}

/// Exact leading vector through the smaller of the two Gram matrices.
///
/// The sign follows the old atom, and a failed decomposition (which needs non-finite
/// input) leaves it as it is.
fn exact(columns: &[f64], atom: &mut [f64]) {
    let m = atom.len();
    let matrix = MatRef::from_column_major_slice(columns, m, columns.len() / m);
    let wide = matrix.ncols() >= m;
    let gram: Mat<f64> = if wide {
        matrix * matrix.transpose()
    } else {
        matrix.transpose() * matrix
    };
    let Some(axes) = eigenvectors(gram.as_ref()) else {
        return;
    };
    let last = axes.col(gram.ncols() - 1);
    let mut next: Vec<f64> = if wide {
        last.iter().copied().collect()
    } else {
        (matrix * last).iter().copied().collect()
    };
    if normalise(&mut next).is_some() {
        let sign = if dot(&next, atom) < 0.0 { -1.0 } else { 1.0 };
        atom.fill(0.0);
        axpy(sign, &next, atom);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_agree_on_a_dominant_direction() {
        let columns = [3.0, 0.1, 0.0, -6.0, 0.1, 0.2, 3.0, -0.3, 0.1, 1.0, 0.1, 0.1];
        let start = [0.6, 0.0, 0.8];
        let (mut power, mut precise) = (start, start);
        Leading::Power { steps: 50 }.improve(&columns, &mut power);
        Leading::Exact.improve(&columns, &mut precise);
        for (a, b) in power.iter().zip(precise) {
            assert!((a - b).abs() < 1e-9);
        }
    }

    #[test]
    fn zero_columns_leave_the_atom() {
        let mut atom = [0.6, 0.8];
        Leading::Power { steps: 3 }.improve(&[0.0; 4], &mut atom);
        Leading::Exact.improve(&[0.0; 4], &mut atom);
        assert!((dot(&atom, &atom) - 1.0).abs() < 1e-12);
    }
}

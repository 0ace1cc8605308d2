//! Decompositions of dense matrices.
//!
//! They are here, and not where they are used, so that they are compiled once: every crate that calls those of
//! `faer` itself has all of their generic code compiled anew.

use faer::linalg::solvers::Solve;
use faer::{Mat, MatRef, Side};

/// The orthogonal factor of the polar decomposition; `None` if the SVD fails.
pub fn nearest_orthonormal(matrix: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let svd = matrix.svd().ok()?;
    Some(svd.U() * svd.V().transpose())
}

/// Eigenvectors of a symmetric matrix as columns, those of the largest eigenvalues last; `None` if they are not found.
pub fn eigenvectors(symmetric: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let eigen = symmetric.self_adjoint_eigen(Side::Lower).ok()?;
    Some(eigen.U().to_owned())
}

/// Solves a system with a positive definite matrix; `None` if it is not positive definite.
pub fn solve_positive(matrix: MatRef<'_, f64>, right: MatRef<'_, f64>) -> Option<Mat<f64>> {
    let factor = matrix.llt(Side::Lower).ok()?;
    Some(factor.solve(right))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn a_stretched_rotation_is_turned_back() {
        let turned = mat![[0.0, -3.0], [2.0, 0.0]];
        let found = nearest_orthonormal(turned.as_ref()).unwrap();
        let wanted = mat![[0.0, -1.0], [1.0, 0.0]];
        assert!((found - wanted).norm_max() < 1e-12);
    }

    #[test]
    fn the_main_axis_comes_last() {
        let axes = eigenvectors(mat![[1.0, 0.0], [0.0, 5.0]].as_ref()).unwrap();
        assert!((axes[(1, 1)].abs() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn only_positive_systems_are_solved() {
        let right = mat![[4.0], [9.0]];
        let solved = solve_positive(mat![[2.0, 0.0], [0.0, 3.0]].as_ref(), right.as_ref());
        assert!((solved.unwrap() - mat![[2.0], [3.0]]).norm_max() < 1e-12);
        let indefinite = mat![[1.0, 0.0], [0.0, -1.0]];
        assert!(solve_positive(indefinite.as_ref(), right.as_ref()).is_none());
    }
}

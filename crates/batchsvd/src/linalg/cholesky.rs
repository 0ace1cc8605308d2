//! Cholesky solution of the small systems that belong to one sample's support.

/// A pivot below this share of its diagonal entry means numerically dependent atoms.
const SINGULAR: f64 = 64.0 * f64::EPSILON;

/// Solves `S x = b` in place for a symmetric positive definite `S`.
///
/// Only the lower triangle of the row-major `s` is read; it is overwritten by the factor.
/// Returns `false`, with `b` unusable, when `S` is not positive definite to working precision.
#[inline]
pub(crate) fn solve_in_place(s: &mut [f64], b: &mut [f64]) -> bool {
    let k = b.len();
    for j in 0..k {
        let diagonal = s[j * k + j];
        let (upper, lower) = s.split_at_mut((j + 1) * k);
        let row = &upper[j * k..j * k + j];
        let pivot = diagonal - row.iter().map(|v| v * v).sum::<f64>();
        let positive = pivot > diagonal * SINGULAR;
        if !positive {
            return false;
        }
        let root = pivot.sqrt();
        for below in lower.chunks_exact_mut(k) {
            let known: f64 = below[..j].iter().zip(row).map(|(x, y)| x * y).sum();
            below[j] = (below[j] - known) / root;
        }
        upper[j * k + j] = root;
    }
    substitute(s, b);
    true
}

/// Forward and backward substitution with the factor in the lower triangle of `s`.
fn substitute(s: &[f64], b: &mut [f64]) {
    let k = b.len();
    for i in 0..k {
        let known: f64 = (0..i).map(|t| s[i * k + t] * b[t]).sum();
        b[i] = (b[i] - known) / s[i * k + i];
    }
    for i in (0..k).rev() {
        let known: f64 = (i + 1..k).map(|t| s[t * k + i] * b[t]).sum();
        b[i] = (b[i] - known) / s[i * k + i];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_small_system() {
        let mut s = [4.0, 0.0, 0.0, 2.0, 5.0, 0.0, 1.0, 3.0, 6.0];
        let mut b = [4.0 + 4.0 + 3.0, 2.0 + 10.0 + 9.0, 1.0 + 6.0 + 18.0];
        assert!(solve_in_place(&mut s, &mut b));
        for (value, expected) in b.iter().zip([1.0, 2.0, 3.0]) {
            assert!((value - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn refuses_a_singular_system() {
        assert!(!solve_in_place(&mut [1.0, 1.0, 1.0, 1.0], &mut [1.0, 1.0]));
        assert!(!solve_in_place(&mut [0.0], &mut [1.0]));
    }
}

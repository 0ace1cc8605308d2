//! Vector kernels, written so that the compiler vectorises them.
//!
//! The plain functions are `inline(always)`: inside an operation handed to [`vectorised`]
//! they are compiled for the best instruction set found at run time. Products and sums are
//! kept apart (no fused multiply-add), so that every instruction set gives the same bits.

use pulp::{Arch, NullaryFnOnce};

const LANES: usize = 8;

/// Runs `operation` compiled for the widest vector instructions of this machine.
///
/// `operation.call` must be `inline(always)`, otherwise it stays on the baseline.
#[inline]
pub(crate) fn vectorised<Op: NullaryFnOnce>(operation: Op) -> Op::Output {
    Arch::new().dispatch(operation)
}

/// Inner product, summed in eight interleaved lanes.
#[inline(always)]
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut lanes = [0.0; LANES];
    let (a_chunks, b_chunks) = (a.chunks_exact(LANES), b.chunks_exact(LANES));
    let tail: f64 = (a_chunks.remainder().iter())
        .zip(b_chunks.remainder())
        .map(|(x, y)| x * y)
        .sum();
    for (x, y) in a_chunks.zip(b_chunks) {
        for lane in 0..LANES {
            lanes[lane] += x[lane] * y[lane];
        }
    }
    lanes.iter().sum::<f64>() + tail
}

/// `y += alpha * x`.
#[inline(always)]
pub(crate) fn axpy(alpha: f64, x: &[f64], y: &mut [f64]) {
    for (target, value) in y.iter_mut().zip(x) {
        *target += alpha * value;
    }
}

/// `||a||^2`.
#[inline(always)]
pub(crate) fn sum_of_squares(a: &[f64]) -> f64 {
    dot(a, a)
}

/// `out -= sum_r weights[r] * rows[r]`, with `rows` stored one after another.
///
/// Works on a strip of columns at a time, so that the strip stays in registers while all
/// rows pass by.
#[inline(always)]
pub(crate) fn subtract_combination(weights: &[f64], rows: &[f64], out: &mut [f64]) {
    const STRIP: usize = 16;
    let n = out.len();
    let whole = n - n % STRIP;
    for start in (0..whole).step_by(STRIP) {
        let mut strip = [0.0; STRIP];
        strip.copy_from_slice(&out[start..start + STRIP]);
        for (r, &weight) in weights.iter().enumerate() {
            let row = &rows[r * n + start..][..STRIP];
            for lane in 0..STRIP {
                strip[lane] -= weight * row[lane];
            }
        }
        out[start..start + STRIP].copy_from_slice(&strip);
    }
    for (r, &weight) in weights.iter().enumerate() {
        axpy(
            -weight,
            &rows[r * n + whole..][..n - whole],
            &mut out[whole..],
        );
    }
}

/// The largest value, or zero if none is above zero.
///
/// Eight running maxima: a single one would be a chain of dependent comparisons, which the
/// compiler must not reorder and so cannot vectorise.
#[inline(always)]
pub(crate) fn maximum(values: &[f64]) -> f64 {
    let mut tops = [0.0; LANES];
    let chunks = values.chunks_exact(LANES);
    let rest = chunks.remainder();
    for chunk in chunks {
        for (top, &value) in tops.iter_mut().zip(chunk) {
            *top = if value > *top { value } else { *top };
        }
    }
    tops.iter().chain(rest).copied().fold(0.0, f64::max)
}

/// Index and value of the first largest value; `None` if none is above zero.
#[inline(always)]
pub(crate) fn first_maximum(values: &[f64]) -> Option<(usize, f64)> {
    let best = maximum(values);
    if best <= 0.0 {
        return None;
    }
    let mut start = 0;
    for chunk in values.chunks(4 * LANES) {
        let hits: u64 = chunk.iter().map(|&value| u64::from(value >= best)).sum();
        if hits > 0 {
            break;
        }
        start += chunk.len();
    }
    let place = values[start..].iter().position(|&value| value >= best)?;
    Some((start + place, best))
}

/// [`dot`] as an operation for [`vectorised`].
pub(crate) struct Dot<'a>(pub(crate) &'a [f64], pub(crate) &'a [f64]);

impl NullaryFnOnce for Dot<'_> {
    type Output = f64;

    #[inline(always)]
    fn call(self) -> f64 {
        dot(self.0, self.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dot_handles_every_remainder() {
        for n in 0..20 {
            let a: Vec<f64> = (0..n).map(|i| i as f64 + 1.0).collect();
            let expected: f64 = a.iter().map(|v| v * 2.0).sum();
            assert_eq!(dot(&a, &vec![2.0; n]), expected, "length {n}");
        }
    }

    #[test]
    fn combination_equals_repeated_axpy() {
        for n in [1, 15, 16, 17, 40] {
            let rows: Vec<f64> = (0..3 * n).map(|i| (i % 7) as f64).collect();
            let weights = [0.5, -2.0, 1.0];
            let mut fast = vec![1.0; n];
            subtract_combination(&weights, &rows, &mut fast);
            let mut slow = vec![1.0; n];
            for (r, w) in weights.iter().enumerate() {
                axpy(-w, &rows[r * n..][..n], &mut slow);
            }
            assert_eq!(fast, slow, "width {n}");
        }
    }

    #[test]
    fn first_maximum_prefers_the_lower_index() {
        assert_eq!(first_maximum(&[0.0, 3.0, 1.0, 3.0]), Some((1, 3.0)));
        let mut long = vec![0.0; 50];
        (long[20], long[40]) = (2.0, 2.0);
        assert_eq!(first_maximum(&long), Some((20, 2.0)));
        long[49] = 3.0;
        assert_eq!(first_maximum(&long), Some((49, 3.0)));
        assert_eq!(first_maximum(&[0.0; 5]), None);
    }
}

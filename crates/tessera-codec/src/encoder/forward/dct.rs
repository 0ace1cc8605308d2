//! Fast cosine transforms of many columns at once, in floats.
//!
//! Each size splits into the half-size transform of mirrored sums and, of mirrored differences, a matrix or the half-size
//! transform once more. Results are not normalised: output k is the sum of cos(pi (2 i + 1) k / 2 n) x_i.

use super::add_scaled;
use crate::tile::transform::cosine;
use std::sync::LazyLock;

/// cos(pi turn / 128).
fn float_cosine(turn: usize) -> f64 {
    cosine(turn % 256) as f64 / f64::from(1u32 << 30)
}

/// What mirrored differences are multiplied with, by n = 4, 8, 16, 32, 64. Not constants: compilers unroll what they know
/// until it no longer fits their registers.
static ODD: LazyLock<[OddFactors; 5]> = LazyLock::new(|| [4, 8, 16, 32, 64].map(OddFactors::new));

#[derive(Debug)]
struct OddFactors {
    /// cos(pi (2 i + 1) (2 k + 1) / 2 n) for i, k < n / 2, row-major by k.
    cosines: Vec<f32>,
    /// 1 / (2 cos(pi (2 i + 1) / 2 n)) for i < n / 2.
    secants: Vec<f32>,
}

impl OddFactors {
    fn new(n: usize) -> Self {
        let half = n / 2;
        let turn = |i: usize, k: usize| (2 * i + 1) * (2 * k + 1) * (64 / n);
        let cosine = |at: usize| float_cosine(turn(at % half, at / half)) as f32;
        let secant = |i: usize| (0.5 / float_cosine(turn(i, 0))) as f32;
        Self {
            cosines: (0..half * half).map(cosine).collect(),
            secants: (0..half).map(secant).collect(),
        }
    }
}

/// cos(pi (2 i + 1) k / 2 n) for n = 4, 8, 16, row-major by i.
static WHOLE: LazyLock<[Vec<f32>; 3]> = LazyLock::new(|| [4, 8, 16].map(cosines));

fn cosines(n: usize) -> Vec<f32> {
    let entry = |at: usize| float_cosine((2 * (at / n) + 1) * (at % n) * (64 / n)) as f32;
    (0..n * n).map(entry).collect()
}

/// From so many differences on the half-size transform takes less work than their matrix: cos((2 k + 1) a) is
/// (cos(2 k a) + cos((2 k + 2) a)) / 2 cos(a).
const FACTORED_FROM: usize = 8;

/// Transforms rows of at most 16 samples, by one product of each sample with all its frequencies.
#[inline(always)]
pub(crate) fn transform_rows<const W: usize>(rows: &[[f32; W]], out: &mut [[f32; W]]) {
    let cosines = WHOLE[W.trailing_zeros() as usize - 2].as_chunks::<W>().0;
    let cosines: &[[f32; W]; W] = cosines.try_into().expect("the matrix is square");
    for (row, out) in rows.iter().zip(out) {
        let mut sums = [0f32; W];
        for (&sample, cosines) in row.iter().zip(cosines) {
            add_scaled(&mut sums, sample, cosines);
        }
        *out = sums;
    }
}

/// Transforms the columns of `N` rows of `W` samples.
#[inline(always)]
pub(crate) fn transform_columns<const W: usize, const N: usize>(rows: &mut [[f32; W]]) {
    match N {
        4 => four::<W>(&ODD, rows),
        8 => eight::<W>(&ODD, rows),
        16 => sixteen::<W>(&ODD, rows),
        32 => thirty_two::<W>(&ODD, rows),
        _ => sixty_four::<W>(&ODD, rows),
    }
}

macro_rules! even_and_odd {
    ($name:ident, $half:ident, $n:literal) => {
        #[inline(always)]
        fn $name<const W: usize>(factors: &[OddFactors; 5], rows: &mut [[f32; W]]) {
            const HALF: usize = $n / 2;
            let mut sums = [[0f32; W]; HALF];
            let mut differences = [[0f32; W]; HALF];
            for i in 0..HALF {
                let (a, b) = (&rows[i], &rows[$n - 1 - i]);
                for x in 0..W {
                    sums[i][x] = a[x] + b[x];
                    differences[i][x] = a[x] - b[x];
                }
            }
            $half::<W>(factors, &mut sums);
            let OddFactors { cosines, secants } = &factors[HALF.ilog2() as usize - 1];
            if HALF >= FACTORED_FROM {
                for (row, secant) in differences.iter_mut().zip(secants) {
                    for x in 0..W {
                        row[x] *= secant;
                    }
                }
                $half::<W>(factors, &mut differences);
                for k in 0..HALF - 1 {
                    rows[2 * k] = sums[k];
                    for x in 0..W {
                        rows[2 * k + 1][x] = differences[k][x] + differences[k + 1][x];
                    }
                }
                rows[$n - 2] = sums[HALF - 1];
                rows[$n - 1] = differences[HALF - 1];
                return;
            }
            for (k, cosines) in cosines.chunks_exact(HALF).enumerate() {
                rows[2 * k] = sums[k];
                let mut odd = [0f32; W];
                for (&factor, row) in cosines.iter().zip(&differences) {
                    add_scaled(&mut odd, factor, row);
                }
                rows[2 * k + 1] = odd;
            }
        }
    };
}

even_and_odd!(sixty_four, thirty_two, 64);
even_and_odd!(thirty_two, sixteen, 32);
even_and_odd!(sixteen, eight, 16);
even_and_odd!(eight, four, 8);
even_and_odd!(four, two, 4);

#[inline(always)]
fn two<const W: usize>(_: &[OddFactors; 5], rows: &mut [[f32; W]]) {
    let [first, second, ..] = rows else {
        unreachable!("the halved transform has two rows");
    };
    for (a, b) in first.iter_mut().zip(second) {
        (*a, *b) = (*a + *b, (*a - *b) * std::f32::consts::FRAC_1_SQRT_2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agrees_with_the_definition<const N: usize>() {
        let input: Vec<[f32; 4]> = (0..N)
            .map(|i| std::array::from_fn(|x| ((i * 7 + x * 13) % 31) as f32 - 15.0))
            .collect();
        let mut rows = input.clone();
        transform_columns::<4, N>(&mut rows);
        for (k, row) in rows.iter().enumerate() {
            for x in 0..4 {
                let turn = |i: usize| ((2 * i + 1) * k) as f64 / (2 * N) as f64;
                let expected: f64 = (0..N)
                    .map(|i| (std::f64::consts::PI * turn(i)).cos() * f64::from(input[i][x]))
                    .sum();
                assert!((f64::from(row[x]) - expected).abs() < 1e-3, "{N}: {k}, {x}");
            }
        }
    }

    #[test]
    fn every_size_agrees_with_the_definition() {
        agrees_with_the_definition::<4>();
        agrees_with_the_definition::<8>();
        agrees_with_the_definition::<16>();
        agrees_with_the_definition::<32>();
        agrees_with_the_definition::<64>();
    }
}

//! Multi-scale structural similarity of luma (Wang, Simoncelli and Bovik, 2003).
//!
//! Five scales, an 11-tap Gaussian of sigma 1.5 over the valid area only, 2x2 means between the
//! scales, contrast-structure at every scale and luminance at the last. The plain separable
//! filter is fast enough beside the codecs that are measured.

/// Exponent of each scale, finest first.
const WEIGHTS: [f64; 5] = [0.0448, 0.2856, 0.3001, 0.2363, 0.1333];
const TAPS: usize = 11;
const SIGMA: f64 = 1.5;
const C1: f64 = (0.01 * 255.0) * (0.01 * 255.0);
const C2: f64 = (0.03 * 255.0) * (0.03 * 255.0);

/// Smallest side that leaves one full window at the coarsest scale.
pub const MIN_SIDE: usize = TAPS << (WEIGHTS.len() - 1);

/// MS-SSIM of two planes in 0..255, or `None` if a side is shorter than [`MIN_SIDE`].
///
/// # Panics
/// If the planes differ in length or are no whole number of rows of `width`.
#[must_use]
pub fn ms_ssim(a: &[f64], b: &[f64], width: usize) -> Option<f64> {
    assert!(
        a.len() == b.len() && a.len().is_multiple_of(width),
        "planes of one shape"
    );
    let mut a = Plane::new(a.to_vec(), width);
    let mut b = Plane::new(b.to_vec(), width);
    if a.width.min(a.height()) < MIN_SIDE {
        return None;
    }
    let mut product = 1.0;
    for (scale, weight) in WEIGHTS.into_iter().enumerate() {
        let coarsest = scale + 1 == WEIGHTS.len();
        product *= similarity(&a, &b, coarsest).max(0.0).powf(weight);
        if !coarsest {
            (a, b) = (a.halved(), b.halved());
        }
    }
    Some(product)
}

/// The scale on which MS-SSIM does not saturate; identical pictures get 100.
pub(super) fn decibels(value: f64) -> f64 {
    -10.0 * (1.0 - value).max(1e-10).log10()
}

/// Mean contrast-structure of one scale, times luminance if asked.
fn similarity(a: &Plane, b: &Plane, with_luminance: bool) -> f64 {
    let mean_a = a.blurred();
    let mean_b = b.blurred();
    let square_a = a.times(a).blurred();
    let square_b = b.times(b).blurred();
    let cross = a.times(b).blurred();
    let local = |i: usize| {
        let (ma, mb) = (mean_a.values[i], mean_b.values[i]);
        let variances = square_a.values[i] - ma * ma + square_b.values[i] - mb * mb;
        let structure = (2.0 * (cross.values[i] - ma * mb) + C2) / (variances + C2);
        if with_luminance {
            structure * (2.0 * ma * mb + C1) / (ma * ma + mb * mb + C1)
        } else {
            structure
        }
    };
    let count = mean_a.values.len();
    (0..count).map(local).sum::<f64>() / count as f64
}

struct Plane {
    values: Vec<f64>,
    width: usize,
}

impl Plane {
    fn new(values: Vec<f64>, width: usize) -> Self {
        Self { values, width }
    }

    fn height(&self) -> usize {
        self.values.len() / self.width
    }

    fn times(&self, other: &Self) -> Self {
        let products = self.values.iter().zip(&other.values).map(|(a, b)| a * b);
        Self::new(products.collect(), self.width)
    }

    /// Means of 2x2 cells; an odd last row or column is dropped.
    fn halved(&self) -> Self {
        let width = self.width / 2;
        let mut values = Vec::with_capacity(width * (self.height() / 2));
        for rows in self.values.chunks_exact(2 * self.width) {
            let (top, bottom) = rows.split_at(self.width);
            let cells = top.chunks_exact(2).zip(bottom.chunks_exact(2));
            values.extend(cells.map(|(t, b)| (t[0] + t[1] + b[0] + b[1]) / 4.0));
        }
        Self::new(values, width)
    }

    /// Gaussian blur where the whole window fits: each side shrinks by `TAPS - 1`.
    fn blurred(&self) -> Self {
        let kernel = gaussian();
        let width = self.width + 1 - TAPS;
        let mut across = Vec::with_capacity(width * self.height());
        for row in self.values.chunks_exact(self.width) {
            let window = |w: &[f64]| w.iter().zip(kernel).map(|(v, k)| v * k).sum::<f64>();
            across.extend(row.windows(TAPS).map(window));
        }
        let height = self.height() + 1 - TAPS;
        let mut values = vec![0.0; width * height];
        for (y, out) in values.chunks_exact_mut(width).enumerate() {
            let rows = across[y * width..].chunks_exact(width);
            for (row, tap) in rows.zip(kernel) {
                out.iter_mut().zip(row).for_each(|(o, v)| *o += v * tap);
            }
        }
        Self::new(values, width)
    }
}

fn gaussian() -> [f64; TAPS] {
    let centre = (TAPS / 2) as f64;
    let weight = |i: usize| (-(i as f64 - centre).powi(2) / (2.0 * SIGMA * SIGMA)).exp();
    let raw: [f64; TAPS] = std::array::from_fn(weight);
    let sum: f64 = raw.iter().sum();
    raw.map(|w| w / sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(width: usize, height: usize, offset: f64) -> Vec<f64> {
        let value = |i: usize| (((i % width) * 7 + (i / width) * 13) % 256) as f64 + offset;
        (0..width * height).map(value).collect()
    }

    #[test]
    fn identical_planes_score_one() {
        let plane = ramp(MIN_SIDE, MIN_SIDE, 0.0);
        let value = ms_ssim(&plane, &plane, MIN_SIDE).unwrap();
        assert!((value - 1.0).abs() < 1e-12, "{value}");
        assert!((decibels(1.0) - 100.0).abs() < 1e-9);
    }

    #[test]
    fn a_shift_of_brightness_touches_luminance_only() {
        let value = ms_ssim(&ramp(180, 190, 0.0), &ramp(180, 190, 5.0), 180).unwrap();
        assert!(value < 1.0 && value > 0.99, "{value}");
    }

    #[test]
    fn one_pixel_too_small_is_none() {
        let plane = ramp(MIN_SIDE, MIN_SIDE - 1, 0.0);
        assert_eq!(ms_ssim(&plane, &plane, MIN_SIDE), None);
    }
}

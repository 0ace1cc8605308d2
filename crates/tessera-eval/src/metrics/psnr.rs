//! Peak signal-to-noise ratio of 8-bit samples.

/// What an error of exactly zero is reported as.
pub const IDENTICAL_DB: f64 = 99.0;

/// PSNR in dB from the sample differences, for a peak of 255.
///
/// ```
/// let db = tessera_eval::metrics::psnr([1.0, -1.0, 1.0, -1.0].into_iter());
/// assert!((db - 48.1308).abs() < 1e-4);
/// ```
#[must_use]
pub fn psnr(differences: impl Iterator<Item = f64>) -> f64 {
    let mut count = 0_u64;
    let mut energy = 0.0;
    for difference in differences {
        count += 1;
        energy += difference * difference;
    }
    if energy <= 0.0 {
        return IDENTICAL_DB;
    }
    10.0 * (255.0 * 255.0 * count as f64 / energy).log10()
}

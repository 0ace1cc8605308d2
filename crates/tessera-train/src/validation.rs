//! Dictionaries compared on held-out pictures: bits at equal quality.

use borsh::{BorshDeserialize, BorshSerialize};

/// Bytes a file takes beside its tile when it names a learned dictionary.
const FIXED_BYTES: f64 = 32.0;
/// How many of these it does without if it names a built-in one.
const NAME_BYTES: f64 = 16.0;

/// One held-out part coded at one quality.
#[derive(Clone, Copy, Debug, PartialEq, BorshSerialize, BorshDeserialize)]
pub(crate) struct RatePoint {
    /// Bytes of the tile.
    pub(crate) bytes: usize,
    /// Mean squared error.
    pub(crate) error: f64,
}

impl RatePoint {
    fn log_rate(self) -> f64 {
        (self.bytes as f64 + FIXED_BYTES).ln()
    }

    fn log_error(self) -> f64 {
        self.error.max(1e-3).ln()
    }
}

/// How the held-out pictures fare with a dictionary: one row per picture, in the order of the qualities.
pub(crate) type ValidationCurves = Vec<Vec<RatePoint>>;

/// Mean change of the rate at equal error from one dictionary to another, as a fraction; negative is better.
///
/// Every point of `after` is brought to the error of its counterpart along the slope of the curve of `before`.
pub(crate) fn change(before: &ValidationCurves, after: &ValidationCurves) -> f64 {
    let mut changes = Vec::new();
    for (before, after) in before.iter().zip(after) {
        for at in 0..before.len() {
            let (old, new) = (before[at], after[at]);
            let moved = slope(before, at) * (new.log_error() - old.log_error());
            changes.push(new.log_rate() - old.log_rate() - moved);
        }
    }
    let mean = changes.iter().sum::<f64>() / changes.len().max(1) as f64;
    mean.exp_m1()
}

/// What a change of the rate amounts to for whole files, if those of `before` name a built-in dictionary and those
/// after the change a learned one, by a longer name.
pub(crate) fn change_of_files(change: f64, before: &ValidationCurves) -> f64 {
    let points: Vec<&RatePoint> = before.iter().flatten().collect();
    let name = |point: &&RatePoint| -(-NAME_BYTES / (point.bytes as f64 + FIXED_BYTES)).ln_1p();
    let mean = points.iter().map(name).sum::<f64>() / points.len().max(1) as f64;
    (1.0 + change) * mean.exp() - 1.0
}

/// Change of log-rate per log-error around a point of a curve.
fn slope(curve: &[RatePoint], at: usize) -> f64 {
    let (a, b) = (at.saturating_sub(1), (at + 1).min(curve.len() - 1));
    let run = curve[b].log_error() - curve[a].log_error();
    let rise = curve[b].log_rate() - curve[a].log_rate();
    // Flat pictures hardly change their error with the quality; a usual slope serves them as well.
    const USUAL: f64 = -0.7;
    if run.abs() < 1e-3 {
        return USUAL;
    }
    (rise / run).clamp(-2.0, -0.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(scale: f64) -> Vec<RatePoint> {
        let at = |k: i32| RatePoint {
            bytes: (scale * 4000.0 * 0.5f64.powi(k) - FIXED_BYTES).round() as usize,
            error: 10.0 * 2f64.powi(k),
        };
        (0..4).map(at).collect()
    }

    #[test]
    fn fewer_bytes_at_the_same_error() {
        let found = change(&vec![curve(1.0)], &vec![curve(0.9)]);
        assert!((found + 0.1).abs() < 0.01, "{found}");
    }

    #[test]
    fn the_name_of_a_dictionary_counts_in_small_files() {
        let point = |bytes| RatePoint { bytes, error: 1.0 };
        // 64 bytes with a learned name, 48 without.
        let found = change_of_files(0.0, &vec![vec![point(32)]]);
        assert!((found - 1.0 / 3.0).abs() < 1e-9, "{found}");
        let found = change_of_files(-0.5, &vec![vec![point(32)]]);
        assert!((found + 1.0 / 3.0).abs() < 1e-9, "{found}");
        let found = change_of_files(-0.5, &vec![vec![point(1_000_000)]]);
        assert!((found + 0.5).abs() < 1e-4, "{found}");
    }

    #[test]
    fn a_step_along_the_curve_is_no_gain() {
        let before = curve(1.0);
        let mut after = before.clone();
        after[1] = before[2];
        let found = change(&vec![before], &vec![after]);
        assert!(found.abs() < 0.01, "{found}");
    }
}

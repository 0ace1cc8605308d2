//! BD-rate: the average change of rate at equal quality between two curves of one picture.
//!
//! Log-rate is a monotone cubic ([`Pchip`]) of the metric, integrated over the quality range that
//! both curves reach. A comparison that would not mean anything is refused with its reason, and
//! what was left out of a curve is counted, so that a report can say so.

use crate::curve::Pchip;
use crate::metrics::Metric;
use serde::Serialize;
use thiserror::Error;

/// Fewest usable points of a curve.
pub const MIN_POINTS: usize = 3;

/// A shared range below this part of either curve's own range deserves a warning.
pub const SMALL_OVERLAP: f64 = 0.5;

/// One picture's curve, ready for BD-rate.
///
/// Invariant: both coordinates of `points` (oriented metric, log-rate) increase strictly in the
/// metric and weakly in the rate.
#[derive(Clone, Debug, PartialEq)]
pub struct RdCurve {
    metric: Metric,
    points: Vec<(f64, f64)>,
    /// Points that cost more than a cheaper one without being better.
    pub non_monotone: usize,
    /// Points at the metric's ceiling.
    pub saturated: usize,
}

impl RdCurve {
    /// Builds the curve from (bits per pixel, metric) pairs in any order; NaN is left out.
    #[must_use]
    pub fn new(metric: Metric, measured: impl IntoIterator<Item = (f64, f64)>) -> Self {
        let mut sorted: Vec<(f64, f64)> = measured
            .into_iter()
            .filter(|(bpp, value)| *bpp > 0.0 && !value.is_nan())
            .map(|(bpp, value)| (bpp, metric.oriented(value)))
            .collect();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut curve = Self {
            metric,
            points: Vec::with_capacity(sorted.len()),
            non_monotone: 0,
            saturated: 0,
        };
        for (bpp, quality) in sorted {
            curve.add(bpp, quality);
        }
        curve
    }

    fn add(&mut self, bpp: f64, quality: f64) {
        let best = self.points.last().map_or(f64::NEG_INFINITY, |p| p.0);
        if quality >= self.metric.ceiling() {
            self.saturated += 1;
        } else if quality <= best {
            self.non_monotone += 1;
        } else {
            self.points.push((quality, bpp.ln()));
        }
    }

    /// Number of points that count.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no point counts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    fn interpolated(&self) -> Result<Pchip, BdRefusal> {
        let usable = self.points.len();
        if usable < MIN_POINTS && self.saturated > 0 {
            let saturated = self.saturated;
            return Err(BdRefusal::Saturated { saturated, usable });
        }
        let enough = usable >= MIN_POINTS;
        enough
            .then(|| Pchip::new(&self.points))
            .flatten()
            .ok_or(BdRefusal::TooFewPoints { usable })
    }
}

/// A BD-rate and what it rests on.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct BdRate {
    /// Change of rate as a fraction: -0.2 means 20 % fewer bits at equal quality.
    pub change: f64,
    /// Lowest quality of the shared range, in the metric's own orientation.
    pub from: f64,
    /// Highest quality of the shared range.
    pub to: f64,
    /// The shared range as a part of the anchor's range.
    pub overlap_anchor: f64,
    /// The shared range as a part of the tested codec's range.
    pub overlap_test: f64,
}

impl BdRate {
    /// Whether the shared range is small against either curve.
    #[must_use]
    pub fn small_overlap(&self) -> bool {
        self.overlap_anchor.min(self.overlap_test) < SMALL_OVERLAP
    }
}

/// Why there is no BD-rate.
#[derive(Clone, Copy, Debug, PartialEq, Error, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BdRefusal {
    /// The metric's scale is unfit.
    #[error("{0}")]
    SaturatingMetric(&'static str),
    /// Too much of a curve lies at the metric's ceiling.
    #[error(
        "saturated: {saturated} points at the metric's ceiling leave {usable}, {MIN_POINTS} are needed"
    )]
    Saturated {
        /// Points at the ceiling.
        saturated: usize,
        /// Points that remain.
        usable: usize,
    },
    /// A curve has too few usable points.
    #[error("{usable} usable points, {MIN_POINTS} are needed")]
    TooFewPoints {
        /// Points that count.
        usable: usize,
    },
    /// The curves share no quality.
    #[error("the curves share no quality range")]
    NoOverlap,
}

/// The BD-rate of `test` against `anchor`, two curves of one picture in one metric.
///
/// # Errors
/// [`BdRefusal`] where a figure would mislead.
pub fn bd_rate(anchor: &RdCurve, test: &RdCurve) -> Result<BdRate, BdRefusal> {
    if let Some(reason) = anchor.metric.bd_refusal() {
        return Err(BdRefusal::SaturatingMetric(reason));
    }
    let (a, t) = (anchor.interpolated()?, test.interpolated()?);
    let ((a_low, a_high), (t_low, t_high)) = (a.range(), t.range());
    let (low, high) = (a_low.max(t_low), a_high.min(t_high));
    if high <= low {
        return Err(BdRefusal::NoOverlap);
    }
    let span = high - low;
    let log_ratio = (t.integral(low, high) - a.integral(low, high)) / span;
    let (x, y) = (anchor.metric.oriented(low), anchor.metric.oriented(high));
    Ok(BdRate {
        change: log_ratio.exp_m1(),
        from: x,
        to: y,
        overlap_anchor: span / (a_high - a_low),
        overlap_test: span / (t_high - t_low),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANCHOR: [(f64, f64); 4] = [(0.1, 28.0), (0.3, 32.0), (0.8, 37.0), (2.0, 43.0)];

    fn curve(points: &[(f64, f64)]) -> RdCurve {
        RdCurve::new(Metric::PsnrY, points.iter().copied())
    }

    #[test]
    fn a_curve_at_four_fifths_of_the_rate_is_minus_twenty_percent() {
        let test: Vec<_> = ANCHOR.iter().map(|(b, m)| (b * 0.8, *m)).collect();
        let bd = bd_rate(&curve(&ANCHOR), &curve(&test)).unwrap();
        assert!((bd.change + 0.2).abs() < 1e-12, "{bd:?}");
        assert!((bd.overlap_anchor - 1.0).abs() < 1e-12);
        assert!(!bd.small_overlap());
    }

    #[test]
    fn overlap_is_stated() {
        let test = [(0.9, 40.0), (1.5, 43.0), (3.0, 48.0), (5.0, 52.0)];
        let bd = bd_rate(&curve(&ANCHOR), &curve(&test)).unwrap();
        assert!((bd.overlap_anchor - 0.2).abs() < 1e-12 && (bd.overlap_test - 0.25).abs() < 1e-12);
        assert!(bd.small_overlap());
        let apart = [(0.9, 50.0), (1.5, 53.0), (3.0, 58.0)];
        let refusal = bd_rate(&curve(&ANCHOR), &curve(&apart));
        assert_eq!(refusal, Err(BdRefusal::NoOverlap));
    }

    #[test]
    fn non_monotone_points_are_counted_and_left_out() {
        let bumpy = [
            (0.1, 28.0),
            (0.3, 32.0),
            (0.4, 31.0),
            (0.8, 37.0),
            (2.0, 43.0),
        ];
        let curve = curve(&bumpy);
        assert_eq!((curve.len(), curve.non_monotone), (4, 1));
    }

    #[test]
    fn saturation_is_refused_with_its_reason() {
        let lossless = [(0.1, 28.0), (0.3, 32.0), (2.8, 99.0), (3.0, 99.0)];
        let refusal = bd_rate(&curve(&ANCHOR), &curve(&lossless)).unwrap_err();
        assert_eq!(
            refusal,
            BdRefusal::Saturated {
                saturated: 2,
                usable: 2
            }
        );
        let linear = RdCurve::new(Metric::MsSsimLinear, [(0.1, 0.9), (0.2, 0.95), (0.4, 0.99)]);
        let refusal = bd_rate(&linear, &linear).unwrap_err();
        assert!(
            refusal.to_string().contains("use ms-ssim (in dB)"),
            "{refusal}"
        );
    }

    #[test]
    fn lower_is_better_metrics_are_turned_round() {
        let at = |scale: f64| [(0.1 * scale, 8.0), (0.3 * scale, 4.0), (0.8 * scale, 2.0)];
        let curve = |scale| RdCurve::new(Metric::Butteraugli, at(scale));
        let bd = bd_rate(&curve(1.0), &curve(1.5)).unwrap();
        assert!((bd.change - 0.5).abs() < 1e-12, "{bd:?}");
        assert!(bd.from > bd.to);
    }
}

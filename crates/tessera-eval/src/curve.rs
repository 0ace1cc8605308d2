//! Monotone piecewise-cubic interpolation (PCHIP, Fritsch and Butland 1984).
//!
//! Rate-distortion curves are monotone; this interpolant is too, so it cannot invent the bumps
//! that a polynomial fit or a plain spline puts between the points of a ladder.

/// A monotone cubic through points of strictly increasing abscissa.
#[derive(Clone, Debug, PartialEq)]
pub struct Pchip {
    x: Vec<f64>,
    y: Vec<f64>,
    slope: Vec<f64>,
}

impl Pchip {
    /// Interpolates the points, or `None` for fewer than two or a non-increasing abscissa.
    #[must_use]
    pub fn new(points: &[(f64, f64)]) -> Option<Self> {
        let increasing = points.windows(2).all(|w| w[0].0 < w[1].0);
        if points.len() < 2 || !increasing {
            return None;
        }
        let (x, y): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        let slope = slopes(&x, &y);
        Some(Self { x, y, slope })
    }

    /// First and last abscissa.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.x[0], self.x[self.x.len() - 1])
    }

    /// The value at `x`, or `None` outside the range: extrapolated quality is fiction.
    #[must_use]
    pub fn at(&self, x: f64) -> Option<f64> {
        let (low, high) = self.range();
        if !(low..=high).contains(&x) {
            return None;
        }
        let segment = self.segment(x);
        let t = x - self.x[segment];
        let [a, b, c, d] = self.coefficients(segment);
        Some(a + t * (b + t * (c + t * d)))
    }

    /// The integral from `low` to `high`, both clamped to the range.
    #[must_use]
    pub fn integral(&self, low: f64, high: f64) -> f64 {
        let piece = |segment: usize| {
            let (start, end) = (self.x[segment], self.x[segment + 1]);
            let from = low.clamp(start, end) - start;
            let to = high.clamp(start, end) - start;
            let [a, b, c, d] = self.coefficients(segment);
            let primitive = |t: f64| t * (a + t * (b / 2.0 + t * (c / 3.0 + t * d / 4.0)));
            primitive(to) - primitive(from)
        };
        (0..self.x.len() - 1).map(piece).sum()
    }

    fn segment(&self, x: f64) -> usize {
        let after = self.x.partition_point(|&knot| knot <= x);
        after.clamp(1, self.x.len() - 1) - 1
    }

    /// Power-basis coefficients of a segment, in the distance from its left knot.
    fn coefficients(&self, segment: usize) -> [f64; 4] {
        let h = self.x[segment + 1] - self.x[segment];
        let secant = (self.y[segment + 1] - self.y[segment]) / h;
        let (left, right) = (self.slope[segment], self.slope[segment + 1]);
        let c = (3.0 * secant - 2.0 * left - right) / h;
        let d = (left + right - 2.0 * secant) / (h * h);
        [self.y[segment], left, c, d]
    }
}

/// The slope at every knot: a weighted harmonic mean of the two secants inside (zero where they
/// disagree in sign), a shape-preserving three-point formula at the ends.
fn slopes(x: &[f64], y: &[f64]) -> Vec<f64> {
    let h: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    let secant: Vec<f64> = y
        .windows(2)
        .zip(&h)
        .map(|(w, h)| (w[1] - w[0]) / h)
        .collect();
    let last = secant.len() - 1;
    if last == 0 {
        return vec![secant[0]; 2];
    }
    let mut slope = vec![end_slope(h[0], h[1], secant[0], secant[1])];
    for k in 1..=last {
        slope.push(inner_slope(h[k - 1], h[k], secant[k - 1], secant[k]));
    }
    slope.push(end_slope(
        h[last],
        h[last - 1],
        secant[last],
        secant[last - 1],
    ));
    slope
}

fn inner_slope(h0: f64, h1: f64, secant0: f64, secant1: f64) -> f64 {
    if secant0 * secant1 <= 0.0 {
        return 0.0;
    }
    let (w0, w1) = (2.0 * h1 + h0, h1 + 2.0 * h0);
    (w0 + w1) / (w0 / secant0 + w1 / secant1)
}

fn end_slope(h0: f64, h1: f64, secant0: f64, secant1: f64) -> f64 {
    let slope = ((2.0 * h0 + h1) * secant0 - h0 * secant1) / (h0 + h1);
    if slope * secant0 <= 0.0 {
        0.0
    } else if secant0 * secant1 <= 0.0 && slope.abs() > 3.0 * secant0.abs() {
        3.0 * secant0
    } else {
        slope
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of `scipy.interpolate.PchipInterpolator` (SciPy 1.17.1) through the knots below.
    const SCIPY_VALUES: [(f64, f64); 5] = [
        (0.3, 0.058263157894736836),
        (1.0, 0.5),
        (1.8, 2.4979563952616592),
        (2.9, 4.07554120157215),
        (5.5, 7.664183852778743),
    ];
    const SCIPY_INTEGRAL: f64 = 16.98309681902804;

    #[test]
    fn agrees_with_scipy() {
        let knots = [(0.0, 0.0), (1.0, 0.5), (2.5, 4.0), (3.0, 4.1), (6.0, 9.0)];
        let curve = Pchip::new(&knots).unwrap();
        for (x, expected) in SCIPY_VALUES {
            let value = curve.at(x).unwrap();
            assert!((value - expected).abs() < 1e-12, "{x}: {value} {expected}");
        }
        let integral = curve.integral(0.7, 5.2);
        assert!((integral - SCIPY_INTEGRAL).abs() < 1e-12, "{integral}");
    }

    #[test]
    fn two_points_make_a_line() {
        let line = Pchip::new(&[(1.0, 2.0), (3.0, 6.0)]).unwrap();
        assert!((line.at(2.0).unwrap() - 4.0).abs() < 1e-12);
        assert!((line.integral(1.0, 3.0) - 8.0).abs() < 1e-12);
        assert_eq!(line.at(3.1), None);
    }

    #[test]
    fn disordered_points_are_refused() {
        assert_eq!(Pchip::new(&[(1.0, 0.0), (1.0, 1.0)]), None);
        assert_eq!(Pchip::new(&[(1.0, 0.0)]), None);
    }
}

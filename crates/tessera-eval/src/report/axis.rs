//! Axes: from values to pixels, and ticks at round numbers.

/// A linear or logarithmic scale onto a pixel range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axis {
    low: f64,
    high: f64,
    pixels: (f64, f64),
    logarithmic: bool,
}

impl Axis {
    /// A linear axis over the values, with a little air at both ends.
    pub(super) fn linear(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let (low, high) = range(values);
        let air = if high > low { 0.04 * (high - low) } else { 1.0 };
        Self {
            low: low - air,
            high: high + air,
            pixels,
            logarithmic: false,
        }
    }

    /// A logarithmic axis over positive values.
    pub(super) fn logarithmic(values: impl Iterator<Item = f64>, pixels: (f64, f64)) -> Self {
        let (low, high) = range(values.filter(|v| *v > 0.0));
        Self {
            low: (low * 0.9).max(f64::MIN_POSITIVE).ln(),
            high: (high * 1.1).max(f64::MIN_POSITIVE).ln(),
            pixels,
            logarithmic: true,
        }
    }

    /// The same axis running the other way.
    pub(super) fn reversed(self) -> Self {
        Self {
            pixels: (self.pixels.1, self.pixels.0),
            ..self
        }
    }

    /// The pixel of a value.
    pub(super) fn at(&self, value: f64) -> f64 {
        let value = if self.logarithmic { value.ln() } else { value };
        let part = (value - self.low) / (self.high - self.low);
        self.pixels.0 + part * (self.pixels.1 - self.pixels.0)
    }

    /// Round values inside the range, with labels.
    pub(super) fn ticks(&self) -> Vec<(f64, String)> {
        let values = if self.logarithmic {
            log_ticks(self.low.exp(), self.high.exp())
        } else {
            linear_ticks(self.low, self.high)
        };
        values.into_iter().map(|v| (v, label(v))).collect()
    }
}

/// Smallest and largest value; 0..1 if there is none.
fn range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    let empty = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = finite.fold(empty, |(low, high), v| (low.min(v), high.max(v)));
    if low <= high { (low, high) } else { (0.0, 1.0) }
}

fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 7.0;
    let decade = 10_f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0]
        .map(|factor| factor * decade)
        .into_iter()
        .find(|step| *step >= rough)
        .unwrap_or(10.0 * decade);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    (first..=last).map(|k| k as f64 * step).collect()
}

fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = low.log10().floor() as i32..=high.log10().ceil() as i32;
    decades
        .flat_map(|d| [1.0, 2.0, 3.0, 5.0].map(|factor| factor * 10_f64.powi(d)))
        .filter(|tick| (low..=high).contains(tick))
        .collect()
}

/// Six significant decimals, no trailing zeros, no negative zero.
fn label(value: f64) -> String {
    let rounded = (value * 1e6).round() / 1e6;
    (rounded + 0.0).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        let axis = Axis::linear([23.1, 41.7].into_iter(), (0.0, 100.0));
        let labels: Vec<String> = axis.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["25", "30", "35", "40"]);
        let axis = Axis::logarithmic([0.1, 2.0].into_iter(), (0.0, 100.0));
        let labels: Vec<String> = axis.ticks().into_iter().map(|t| t.1).collect();
        assert_eq!(labels, ["0.1", "0.2", "0.3", "0.5", "1", "2"]);
    }

    #[test]
    fn pixels_follow_the_direction() {
        let axis = Axis::logarithmic([0.1, 10.0].into_iter(), (0.0, 100.0));
        assert!(axis.at(0.1) < axis.at(1.0) && axis.at(1.0) < axis.at(10.0));
        assert!(axis.reversed().at(0.1) > axis.reversed().at(1.0));
    }

    #[test]
    fn no_values_still_make_an_axis() {
        let axis = Axis::linear(std::iter::empty(), (0.0, 10.0));
        assert!(axis.at(0.5).is_finite());
    }
}

//! Average and extremes of per-picture figures: a codec's worst picture matters.

use serde::Serialize;

/// A figure and the picture it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extreme {
    /// The picture.
    pub picture: String,
    /// Its figure.
    pub change: f64,
}

/// How changes of rate are spread over the pictures.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Number of pictures.
    pub count: usize,
    /// Average.
    pub mean: f64,
    /// Middle value; the mean of the two middle ones if the count is even.
    pub median: f64,
    /// Standard deviation over the pictures.
    pub deviation: f64,
    /// The picture that saves most bits.
    pub best: Extreme,
    /// The picture that saves least or costs most.
    pub worst: Extreme,
}

impl Spread {
    /// Condenses (picture, change) pairs; `None` if there are none.
    #[must_use]
    pub fn of<'a>(changes: impl Iterator<Item = (&'a str, f64)>) -> Option<Self> {
        let mut sorted: Vec<(&str, f64)> = changes.collect();
        sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
        let (best, worst) = (extreme(sorted.first()?), extreme(sorted.last()?));
        let count = sorted.len();
        let mean = sorted.iter().map(|(_, c)| c).sum::<f64>() / count as f64;
        let squares = sorted.iter().map(|(_, c)| (c - mean) * (c - mean));
        Some(Self {
            count,
            mean,
            median: (sorted[(count - 1) / 2].1 + sorted[count / 2].1) / 2.0,
            deviation: (squares.sum::<f64>() / count as f64).sqrt(),
            best,
            worst,
        })
    }
}

fn extreme((picture, change): &(&str, f64)) -> Extreme {
    Extreme {
        picture: (*picture).to_owned(),
        change: *change,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extremes_keep_their_pictures() {
        let changes = [("a", -0.1), ("b", -0.4), ("c", 0.2), ("d", -0.3)];
        let spread = Spread::of(changes.into_iter()).unwrap();
        assert_eq!(spread.best.picture, "b");
        assert_eq!(spread.worst.picture, "c");
        assert!((spread.mean + 0.15).abs() < 1e-12 && (spread.median + 0.2).abs() < 1e-12);
        assert!(
            (spread.deviation - 0.0525_f64.sqrt()).abs() < 1e-9,
            "{}",
            spread.deviation
        );
        assert_eq!(Spread::of(std::iter::empty()), None);
    }
}

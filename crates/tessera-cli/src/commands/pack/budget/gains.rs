//! What one budget for all gains.

use super::choice::{Sets, Sum, Trial, cheapest_that_fits};
use crate::verbosity;

/// What stands for no error where its logarithm is taken.
const LEAST_ERROR: f64 = 1e-12;

/// Says what one budget for all gains over the same PSNR for all and over the same bytes per pixel, in total squared error at
/// the same number of bytes, as far as what was measured tells. Pictures that may be lossless are left out: what they take hangs
/// on no budget.
pub(super) fn tell_gains(sets: &Sets, fits: &impl Fn(Sum) -> bool) {
    let Some(choice) = cheapest_that_fits(sets, fits) else {
        return;
    };
    let lossy: Vec<usize> = (0..choice.len())
        .filter(|&at| is_lossy(sets, at, choice[at]))
        .collect();
    if lossy.is_empty() {
        return;
    }
    let own: Sum = lossy.iter().map(|&at| &sets[&choice[at]][at]).sum();
    let curves: Vec<Curve> = lossy.iter().map(|&at| Curve::new(sets, at)).collect();
    let same_psnr = |curve: &Curve, log: f64| curve.at_error(log + curve.samples.ln());
    let same_rate = |curve: &Curve, log: f64| curve.at_bytes(log + curve.samples.ln());
    let evenly = |point: &dyn Fn(&Curve, f64) -> Sum| {
        let whole = |log: f64| {
            let sums = curves.iter().map(|curve| point(curve, log));
            sums.sum::<Sum>()
        };
        // Bytes rise or fall along the scale; look for the place where they are those of the choice.
        let rising = whole(1.0).bytes > whole(0.0).bytes;
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match (whole(middle).bytes > own.bytes) == rising {
                true => high = middle,
                false => low = middle,
            }
        }
        whole((low + high) / 2.0).error
    };
    let change = |error: f64| 100.0 * (own.error / error - 1.0);
    verbosity::note(format_args!(
        "one budget for all: {:+.1} % squared error against the same PSNR for every picture, {:+.1} % against the same bits per pixel (from {} encodes of each)",
        change(evenly(&same_psnr)),
        change(evenly(&same_rate)),
        sets.len()
    ));
}

/// Whether a picture was lossy at all quantisers and as it was chosen.
fn is_lossy(sets: &Sets, at: usize, chosen: i32) -> bool {
    let trials = sets.range(0..).map(|(_, set)| &set[at]);
    !(trials.chain([&sets[&chosen][at]])).any(|trial| trial.coded.lossless)
}

/// Logarithms of bytes and error of a picture, from the finest quantiser to the coarsest.
struct Curve {
    points: Vec<[f64; 2]>,
    samples: f64,
}

impl Curve {
    fn new(sets: &Sets, at: usize) -> Self {
        let point = |set: &Vec<Trial>| {
            let trial = &set[at];
            [trial.bytes().ln(), trial.error.max(LEAST_ERROR).ln()]
        };
        let samples = sets
            .values()
            .next()
            .map_or(1, |set| set[at].coded.samples.max(1));
        Self {
            points: sets.range(0..).map(|(_, set)| point(set)).collect(),
            samples: samples as f64,
        }
    }

    fn at_error(&self, log_error: f64) -> Sum {
        self.at(log_error, 1)
    }

    fn at_bytes(&self, log_bytes: f64) -> Sum {
        self.at(log_bytes, 0)
    }

    /// The point with this logarithm, on the line through the two measured ones around or nearest to it.
    fn at(&self, log: f64, axis: usize) -> Sum {
        let distance = |pair: &&[[f64; 2]]| ((pair[0][axis] + pair[1][axis]) / 2.0 - log).abs();
        let pairs = self.points.windows(2);
        let nearest = pairs.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let [from, to] = match nearest {
            Some(&[from, to]) => [from, to],
            _ => [self.points[0]; 2],
        };
        let span = to[axis] - from[axis];
        let part = if span.abs() < 1e-9 {
            0.0
        } else {
            (log - from[axis]) / span
        };
        let value = |axis: usize| (from[axis] + part * (to[axis] - from[axis])).exp();
        Sum {
            bytes: value(0),
            error: value(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::choice::tests::sets;
    use super::*;

    #[test]
    fn curves_go_through_what_was_measured() {
        let curve = Curve::new(&sets(), 1);
        let there = curve.at_bytes(200f64.ln());
        assert!((there.error - 20.0).abs() < 1e-9 && (there.bytes - 200.0).abs() < 1e-9);
        let between = curve.at_error(30f64.ln());
        assert!((100.0..200.0).contains(&between.bytes));
    }
}

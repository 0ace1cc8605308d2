//! Least squares: the logarithm of the visible loss from the logarithms of what the looks measure.

use faer::linalg::solvers::Solve;
use faer::{Mat, Side};
use std::fmt;

/// Shares of the usual measure below this do not matter; the same as in the encoder.
const LEAST: f64 = 0.03;
/// Holds slopes back that the photos say little about.
const RIDGE: f64 = 1e-3;

/// A photo at a quantiser.
#[derive(Clone, Debug)]
pub(super) struct Observation<const N: usize = 6> {
    pub(super) quantiser: u8,
    pub(super) measures: [Option<f32>; N],
    /// 100 less its SSIMULACRA2.
    pub(super) visible_loss: f64,
}

/// A line for every quantiser.
#[derive(Debug)]
pub(super) struct Table(Vec<Line>);

#[derive(Debug)]
struct Line {
    quantiser: u8,
    visible: f64,
    usual: Vec<f64>,
    slopes: Vec<f64>,
}

impl Table {
    pub(super) fn fitted<const N: usize>(observations: &[Observation<N>]) -> Self {
        let mut quantisers: Vec<u8> = observations.iter().map(|seen| seen.quantiser).collect();
        quantisers.sort_unstable();
        quantisers.dedup();
        let line = |quantiser: u8| {
            let here = observations
                .iter()
                .filter(|seen| seen.quantiser == quantiser);
            Line::fitted(quantiser, &here.collect::<Vec<_>>())
        };
        Self(quantisers.into_iter().map(line).collect())
    }
}

impl Line {
    fn fitted<const N: usize>(quantiser: u8, seen: &[&Observation<N>]) -> Self {
        let measure =
            |seen: &Observation<N>, look: usize| f64::from(seen.measures[look].unwrap_or(0.0));
        let usual: Vec<f64> = (0..N)
            .map(|look| median(seen.iter().map(|seen| measure(seen, look)).collect()))
            .collect();
        let log = |row: usize, look: usize| (measure(seen[row], look) / usual[look] + LEAST).log2();
        // Centred and of equal spread, so that the ridge treats all alike.
        let spreads: Vec<(f64, f64)> = (0..N)
            .map(|look| super::spread((0..seen.len()).map(|row| log(row, look))))
            .collect();
        let centred = Mat::from_fn(seen.len(), N, |row, look| {
            (log(row, look) - spreads[look].0) / spreads[look].1
        });
        let losses = seen.iter().map(|seen| seen.visible_loss.log2());
        let (mean, _) = super::spread(losses.clone());
        let target = Mat::from_fn(seen.len(), 1, |row, _| seen[row].visible_loss.log2() - mean);
        let mut normal = centred.transpose() * &centred;
        for look in 0..N {
            normal[(look, look)] += RIDGE * seen.len() as f64;
        }
        let solver = normal.llt(Side::Lower).expect("a ridge makes it definite");
        let weights = solver.solve(centred.transpose() * &target);
        let slopes: Vec<f64> = (0..N)
            .map(|look| weights[(look, 0)] / spreads[look].1)
            .collect();
        let moved: f64 = slopes
            .iter()
            .zip(&spreads)
            .map(|(slope, (mean, _))| slope * mean)
            .sum();
        Self {
            quantiser,
            visible: mean - moved,
            usual,
            slopes,
        }
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for line in &self.0 {
            let usual: Vec<String> = line.usual.iter().map(|usual| short(*usual)).collect();
            let slopes: Vec<String> = line
                .slopes
                .iter()
                .map(|slope| format!("{slope:.3}"))
                .collect();
            let (quantiser, visible) = (line.quantiser, line.visible);
            let (usual, slopes) = (usual.join(", "), slopes.join(", "));
            writeln!(
                f,
                "    photos({quantiser}, {visible:.3}, [{usual}], [{slopes}]),"
            )?;
        }
        Ok(())
    }
}

/// Four digits, wherever they begin.
fn short(value: f64) -> String {
    let digits = (3 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_known_law_is_found() {
        let seen: Vec<Observation<2>> = (0..60)
            .map(|i| {
                let (a, b) = (f64::from(i % 7) * 0.3, f64::from(i % 5) * 0.4);
                Observation {
                    quantiser: 60,
                    measures: [Some(a.exp2() as f32), Some((b - 3.0).exp2() as f32)],
                    visible_loss: (4.0 + 0.25 * (a.exp2() + 0.03).log2() - 0.5 * b).exp2(),
                }
            })
            .collect();
        let table = Table::fitted(&seen);
        let line = &table.0[0];
        assert!((line.slopes[0] - 0.25).abs() < 0.02, "{table}");
        assert!((line.slopes[1] + 0.5).abs() < 0.02, "{table}");
    }
}

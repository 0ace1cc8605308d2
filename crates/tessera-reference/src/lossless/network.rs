//! `lossless.md`, "Network".

use super::contexts::{PlaneModel, quarter};
use super::neighbours::{Around, Place, Sources, continued};
use crate::bitstream::learned::sums;
use crate::dictionary::Network;
use crate::plane::Plane;

const BIAS: i32 = 64;
/// Samples further away than the regressors.
const FAR: [Place; 10] = [
    (-1, 3),
    (1, 3),
    (-2, 3),
    (2, 3),
    (-3, 2),
    (3, 2),
    (4, 0),
    (0, 4),
    (4, 1),
    (-4, 1),
];
/// Raw errors further away than the six.
const FAR_ERRORS: [Place; 5] = [(2, 1), (-2, 1), (1, 2), (-1, 2), (-3, 1)];
/// `2^(12 + i/16)`, rounded, for i = -32..32.
const POWERS: [i64; 65] = [
    1024, 1069, 1117, 1166, 1218, 1272, 1328, 1387, 1448, 1512, 1579, 1649, 1722, 1798, 1878, 1961,
    2048, 2139, 2233, 2332, 2435, 2543, 2656, 2774, 2896, 3025, 3158, 3298, 3444, 3597, 3756, 3922,
    4096, 4277, 4467, 4664, 4871, 5087, 5312, 5547, 5793, 6049, 6317, 6597, 6889, 7194, 7512, 7845,
    8192, 8555, 8933, 9329, 9742, 10173, 10624, 11094, 11585, 12098, 12634, 13193, 13777, 14387,
    15024, 15689, 16384,
];

/// What the network sees of a sample.
pub(super) struct Seen<'a> {
    pub(super) sources: &'a Sources<'a>,
    pub(super) regressors: &'a [i32; 16],
    pub(super) small: &'a [i32; 3],
    pub(super) predictions: &'a [i32],
    /// The prediction that is corrected.
    pub(super) blend: i32,
    /// The final error of the colour plane before, if that was coded.
    pub(super) before: Option<i32>,
    pub(super) x: usize,
    pub(super) y: usize,
}

impl PlaneModel<'_> {
    /// The final prediction, and `a`.
    pub(super) fn corrected(&self, network: &Network, seen: &Seen<'_>) -> (i32, i64) {
        let errors = Around::new(&self.raw_errors, seen.x, seen.y);
        let e = errors.weighted_sizes();
        let unit = (e >> 3) + 5;
        let q = (1 << 21) / unit;
        let input = |v: i64| (((v.clamp(-4 * unit, 4 * unit) * q) >> 16).clamp(-127, 127)) as i32;
        let mut t: Vec<i32> = self
            .numbers(seen, &errors, unit)
            .into_iter()
            .map(input)
            .collect();
        let blend = i64::from(seen.blend);
        let activity = 3 * (i64::from(quarter(e)) - 20);
        let brightness = (blend >> (4 + self.excess)) - 128;
        let fraction = 8 * (blend.rem_euclid(16) - 8);
        t.extend([activity, brightness, fraction].map(|v| v.clamp(-127, 127) as i32));
        t.push(BIAS);
        let [o0, o1] = outputs(network, &t);
        let m = blend + ((i64::from(o0.clamp(-8192, 8192)) * unit) >> 11);
        let power = (16 * o1.clamp(-4096, 4096)) >> 11;
        let a = (8 * unit * POWERS[(power + 32) as usize]) >> 12;
        (m.clamp(0, 16 * i64::from(self.max)) as i32, a)
    }

    /// `v[0..59]`, in sixteenths of samples.
    fn numbers(&self, seen: &Seen<'_>, errors: &Around, unit: i64) -> Vec<i64> {
        let Seen { x, y, .. } = *seen;
        let blend = i64::from(seen.blend);
        let own = seen.sources.own;
        let around = Around::new(own, x, y);
        let at = |plane: &Plane, (left, up): Place| {
            i64::from(continued(plane, x as i64 - left, y as i64 - up))
        };
        let mut v: Vec<i64> = seen.regressors.iter().map(|&r| 16 * i64::from(r)).collect();
        v.push(16 * i64::from(around.mean()) - blend);
        v.extend(seen.predictions.iter().map(|&p| i64::from(p) - blend));
        v.extend(seen.small.iter().map(|&s| 16 * i64::from(s) - blend));
        let six = [
            errors.w, errors.n, errors.ne, errors.nw, errors.ww, errors.nn,
        ]
        .map(i64::from);
        v.extend(six);
        v.extend(six.map(|error| error.abs() - unit));
        for plane in &self.predictor_errors {
            let e = Around::new(plane, x, y);
            v.push((i64::from(e.w) + i64::from(e.n) + i64::from(e.ne)) / 3 - unit);
        }
        v.extend(FAR.map(|place| 16 * at(own, place) - blend));
        v.extend(FAR_ERRORS.map(|place| at(&self.raw_errors, place).abs() - unit));
        let before = seen.before.map(i64::from);
        v.extend(before.map_or([0, 0], |error| [error, error.abs() - unit]));
        let Around {
            w,
            n,
            nw,
            ne,
            ww,
            nn,
        } = around;
        let steps = [w - nw, n - nw, n - ne, w - ww, n - nn];
        v.extend(steps.map(|step| 16 * i64::from(step.abs()) - unit));
        let (largest, smallest) = (w.max(n).max(nw).max(ne), w.min(n).min(nw).min(ne));
        v.extend([largest, smallest].map(|sample| 16 * i64::from(sample) - blend));
        v
    }
}

fn outputs(network: &Network, t: &[i32]) -> [i32; 2] {
    let unit = |sum: i32| ((sum + 512) >> 10).clamp(0, 4095);
    let mut u: Vec<i32> = sums(&network.a, t).map(unit).collect();
    u.push(BIAS);
    let mut s: Vec<i32> = sums(&network.b, &u).map(unit).collect();
    s.push(BIAS);
    let mut outputs = sums(&network.c, &s).map(|sum| sum >> 4);
    [outputs.next(), outputs.next()].map(|output| output.unwrap_or(0))
}

//! `bitstream.md`, "Network".

use super::quantiser::step;
use crate::dictionary::FilterNetwork;
use crate::plane::Plane;

const CONSTANT: i32 = 32;

/// Corrects the filtered samples of a component wherever they are flagged.
pub(super) fn correct(
    network: &FilterNetwork,
    filtered: &Plane,
    index: i32,
    place: [i64; 2],
    flagged: impl Fn(usize, usize) -> bool,
) -> Plane {
    let mut corrected = filtered.clone();
    for y in (0..filtered.height).step_by(2) {
        for x in (0..filtered.width).step_by(2) {
            if flagged(x, y) {
                let inputs = inputs(network, filtered, index, place, [x as i64, y as i64]);
                for (k, o) in outputs(network, &inputs).into_iter().enumerate() {
                    let (x, y) = (x + k % 2, y + k / 2);
                    let change = (o * (step(index) >> 6) + (1 << 13)) >> 14;
                    let sample = i64::from(filtered.get(x, y)) + change;
                    corrected.set(x, y, sample.clamp(0, 4095) as i32);
                }
            }
        }
    }
    corrected
}

/// `m` of the square whose first sample is (x, y).
fn mean(plane: &Plane, x: i64, y: i64) -> i32 {
    let sample = |dx, dy| plane.nearest(x + dx, y + dy);
    (sample(0, 0) + sample(1, 0) + sample(0, 1) + sample(1, 1) + 2) >> 2
}

/// `M` of the square whose first sample is (x, y).
fn smooth_mean(plane: &Plane, x: i64, y: i64) -> i32 {
    let weight = |d: i64| 2 - d.abs() as i32;
    let mut sum = 8;
    for dy in -1..=1 {
        for dx in -1..=1 {
            sum += weight(dx) * weight(dy) * mean(plane, x + 2 * dx, y + 2 * dy);
        }
    }
    sum >> 4
}

/// `v` of the square whose first sample is (x, y).
fn around(plane: &Plane, x: i64, y: i64) -> Vec<i32> {
    let mut v = Vec::new();
    for dy in -2..=3 {
        for dx in -2..=3 {
            let corner = (dx == -2 || dx == 3) && (dy == -2 || dy == 3);
            if !corner {
                v.push(plane.nearest(x + dx, y + dy));
            }
        }
    }
    for dy in -2i64..=2 {
        for dx in -2i64..=2 {
            let ring = dx.abs().max(dy.abs()) == 2;
            let corner = dx.abs() + dy.abs() == 4;
            if ring && !corner {
                v.push(mean(plane, x + 2 * dx, y + 2 * dy));
            }
        }
    }
    for dy in [-4, 0, 4] {
        for dx in [-4, 0, 4] {
            if (dx, dy) != (0, 0) {
                v.push(smooth_mean(plane, x + 2 * dx, y + 2 * dy));
            }
        }
    }
    v
}

fn inputs(
    network: &FilterNetwork,
    plane: &Plane,
    index: i32,
    place: [i64; 2],
    [x, y]: [i64; 2],
) -> Vec<i32> {
    let r = ((1 << 26) / step(index)).min(32767);
    let m = mean(plane, x, y);
    let difference = |v: i32| ((i64::from(8 * (v - m)) * r) >> 16).clamp(-64, 63) as i32;
    let mut t: Vec<i32> = around(plane, x, y).into_iter().map(difference).collect();
    for (at, extent) in [
        (place[0] + x, network.extent[0]),
        (place[1] + y, network.extent[1]),
    ] {
        t.push((128 * at / i64::from(extent)).min(127) as i32 - 64);
    }
    t.push((index - 76).clamp(-64, 63));
    t.push(CONSTANT);
    t
}

fn sums(weights: &[i8], inputs: &[i32]) -> Vec<i32> {
    let units = weights.chunks_exact(inputs.len());
    units
        .map(|unit| {
            unit.iter()
                .zip(inputs)
                .map(|(&w, i)| i32::from(w) * i)
                .sum()
        })
        .collect()
}

fn outputs(network: &FilterNetwork, t: &[i32]) -> Vec<i64> {
    let unit = |sum: i32| ((sum + 16) >> 5).clamp(0, 127);
    let mut u: Vec<i32> = sums(&network.a, t).into_iter().map(unit).collect();
    u.push(CONSTANT);
    let mut v: Vec<i32> = sums(&network.b, &u).into_iter().map(unit).collect();
    v.push(CONSTANT);
    let o = sums(&network.c, &v).into_iter();
    o.map(|sum| i64::from(sum.clamp(-8192, 8191))).collect()
}

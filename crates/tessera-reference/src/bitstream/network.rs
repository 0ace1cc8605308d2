//! `bitstream.md`, "Network".

use super::learned::sums;
use super::quantiser::step;
use crate::dictionary::Network;
use crate::plane::Plane;

const BIAS: i32 = 64;

/// Corrects the filtered samples of a component wherever they are flagged.
pub(super) fn correct(
    network: &Network,
    filtered: &Plane,
    index: i32,
    place: [i64; 2],
    flagged: impl Fn(usize, usize) -> bool,
) -> Plane {
    let mut corrected = filtered.clone();
    for y in 0..filtered.height {
        for x in 0..filtered.width {
            if flagged(x, y) {
                let inputs = inputs(network, filtered, index, place, x as i64, y as i64);
                let change = (output(network, &inputs) * step(index) + (1 << 19)) >> 20;
                let sample = i64::from(filtered.get(x, y)) + change;
                corrected.set(x, y, sample.clamp(0, 4095) as i32);
            }
        }
    }
    corrected
}

/// `s_c`: the mean over the samples up to `c` away. Outside the canvas it is that of samples repeated there, which the
/// nearest mean inside would not be.
fn mean(plane: &Plane, c: i64, x: i64, y: i64) -> i32 {
    let square = (-c..=c).flat_map(|dy| (-c..=c).map(move |dx| (dx, dy)));
    let sum: i32 = square.map(|(dx, dy)| plane.nearest(x + dx, y + dy)).sum();
    match c {
        0 => sum,
        1 => (sum + 4) / 9,
        _ => (sum + 12) / 25,
    }
}

/// The places around a sample that the network sees, with `c` of each.
fn places() -> Vec<(i64, i64, i64)> {
    let square = (-2..=2).flat_map(|dy| (-2..=2).map(move |dx| (0, dx, dy)));
    let mut places: Vec<_> = square.filter(|&(_, dx, dy)| (dx, dy) != (0, 0)).collect();
    places.extend([(0, 0, -3), (0, -3, 0), (0, 3, 0), (0, 0, 3)]);
    for (c, far, near) in [(1, 4, 3), (2, 8, 6)] {
        places.extend([(c, 0, -far), (c, -far, 0), (c, far, 0), (c, 0, far)]);
        places.extend([
            (c, -near, -near),
            (c, near, -near),
            (c, -near, near),
            (c, near, near),
        ]);
    }
    places
}

fn inputs(
    network: &Network,
    plane: &Plane,
    index: i32,
    place: [i64; 2],
    x: i64,
    y: i64,
) -> Vec<i32> {
    let s = plane.nearest(x, y);
    let around = |(c, dx, dy)| {
        let difference = i64::from(mean(plane, c, x + dx, y + dy) - s);
        ((difference * ((1 << 26) / step(index))) >> 12).clamp(-127, 127) as i32
    };
    let mut t: Vec<i32> = places().into_iter().map(around).collect();
    t.push((3 * (index - 76)).clamp(-127, 127));
    for (at, extent) in [
        (place[0] + x, network.extent[0]),
        (place[1] + y, network.extent[1]),
    ] {
        t.push(((256 * at / i64::from(extent)).min(255) as i32 - 128).max(-127));
    }
    t.push(BIAS);
    t
}

fn output(network: &Network, t: &[i32]) -> i64 {
    let unit = |sum: i32| ((sum + 512) >> 10).clamp(0, 4095);
    let mut u: Vec<i32> = sums(&network.a, t).map(unit).collect();
    u.push(BIAS);
    let mut v: Vec<i32> = sums(&network.b, &u).map(unit).collect();
    v.push(BIAS);
    let o: i32 = sums(&network.c, &v).sum();
    i64::from((o >> 4).clamp(-8192, 8191))
}

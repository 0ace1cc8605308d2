//! The network that restores samples behind the filter (`spec/bitstream.md`, section "Network").
//!
//! It sees a sample's surroundings at three scales, as differences to the sample in units of the step, and says how
//! far the original lies above it.

use crate::simd::{PairOperation, PairProducts, kernel, with_pairs};
use crate::threads;
use crate::tile::canvas::PlaneBuffer;
use crate::tile::intra::SAMPLE_MAX;
use crate::tile::loop_filter::FilterFlags;
use crate::tile::transform::quantiser::Step;
use tessera_dict::Net;
use tessera_dict::net::{FIRST, INPUTS, SECOND, WEIGHT_BITS};

/// Reach of the inputs: eight samples to the middle of a square of 5x5.
const MARGIN: usize = 10;
/// Samples that are worked on side by side; divides the side of a superblock.
const LANES: usize = 32;
/// Groups of samples whose products one instruction makes.
const GROUPS: usize = LANES / 8;
/// Two inputs of a layer side by side, sample by sample: what instructions that multiply pairs read.
type Pair = [[i16; 16]; GROUPS];
/// Pairs of inputs that nothing is known of yet.
const NO_INPUTS: Pair = [[0; 16]; GROUPS];
/// Pairs of the inputs of each layer, the constant included.
const PAIRS: [usize; 3] = [INPUTS / 2, FIRST / 2 + 1, SECOND / 2 + 1];
/// Fractional bits of the inputs, which are in steps.
const INPUT_BITS: u32 = 6;
/// Inputs are clipped at two steps.
const INPUT_MAX: i32 = 127;
/// The input that never changes.
const CONSTANT: i16 = 1 << INPUT_BITS;
/// Largest output of a unit.
const UNIT_MAX: i32 = 4095;
/// Quantiser index in the middle of the usual range.
const MIDDLE_QUANTISER: i32 = 76;

/// Scale of an input: single samples, means of 3x3 and of 5x5.
const SCALES: usize = 3;

/// Inputs that depend on the surroundings; rate, place and constant follow.
const AROUND: usize = INPUTS - 4;
/// Scale, columns right and rows down of every input that depends on the surroundings.
const PLACES: [(usize, isize, isize); AROUND] = {
    let mut places = [(0, 0, 0); AROUND];
    let (mut count, mut at) = (0, 0);
    while at < 25 {
        if at != 12 {
            places[count] = (0, at % 5 - 2, at / 5 - 2);
            count += 1;
        }
        at += 1;
    }
    // Straight and diagonal distances of the places around, by scale.
    let rings: [[isize; 2]; SCALES] = [[3, 0], [4, 3], [8, 6]];
    let directions = [(0, -1), (-1, 0), (1, 0), (0, 1)];
    let diagonals = [(-1, -1), (1, -1), (-1, 1), (1, 1)];
    let mut scale = 0;
    while scale < SCALES {
        let mut k = 0;
        while k < 8 {
            let ((x, y), distance) = match k {
                0..4 => (directions[k], rings[scale][0]),
                _ => (diagonals[k - 4], rings[scale][1]),
            };
            if distance != 0 {
                places[count] = (scale, distance * x, distance * y);
                count += 1;
            }
            k += 1;
        }
        scale += 1;
    }
    places
};

/// A plane at three scales, its outermost samples repeated on every side.
#[derive(Debug)]
pub struct Surroundings {
    scales: [Vec<i16>; SCALES],
    stride: usize,
    quantiser: u8,
}

impl Surroundings {
    /// Of a plane of `width` samples per row, coded with this quantiser.
    pub fn new(samples: &[u16], width: usize, quantiser: u8) -> Self {
        let (height, stride) = (samples.len() / width, width + 2 * MARGIN);
        let mut framed = Vec::with_capacity(stride * (height + 2 * MARGIN));
        for y in 0..height + 2 * MARGIN {
            let row = &samples[y.saturating_sub(MARGIN).min(height - 1) * width..][..width];
            framed.extend([row[0] as i16; MARGIN]);
            framed.extend(row.iter().map(|&sample| sample as i16));
            framed.extend([row[width - 1] as i16; MARGIN]);
        }
        let (small, large) = (means::<3>(&framed, stride), means::<5>(&framed, stride));
        Self {
            scales: [framed, small, large],
            stride,
            quantiser,
        }
    }

    fn index(&self, x: usize, y: usize) -> usize {
        (y + MARGIN) * self.stride + x + MARGIN
    }

    /// The inputs of samples of a row but their places; where the row ends before they do, the rest mean nothing.
    #[inline(always)]
    fn describe(&self, x: usize, y: usize, inputs: &mut [Pair; PAIRS[0]]) {
        let at = self.index(x, y);
        // No row is so near the end of the frame that there would be fewer.
        let lanes = |scale: usize, at: usize| -> &[i16; LANES] {
            let lanes = self.scales[scale][at..].first_chunk();
            lanes.expect("rows of the frame follow")
        };
        let own = lanes(0, at);
        let reciprocal = ((1 << 26) / Step::from_index(self.quantiser).fixed()) as i32;
        let difference = |(scale, dx, dy): (usize, isize, isize)| {
            let other = at.wrapping_add_signed(dy * self.stride as isize + dx);
            let others = lanes(scale, other);
            let mut line = [0; LANES];
            for lane in 0..LANES {
                // Of 12 bits both.
                let difference = i32::from(others[lane] - own[lane]);
                let steps = (difference * reciprocal) >> 12;
                line[lane] = steps.clamp(-INPUT_MAX, INPUT_MAX) as i16;
            }
            line
        };
        for (pair, places) in inputs.iter_mut().zip(PLACES.as_chunks::<2>().0) {
            *pair = side_by_side(&difference(places[0]), &difference(places[1]));
        }
        let rate = 3 * (i32::from(self.quantiser) - MIDDLE_QUANTISER);
        let rate = rate.clamp(-INPUT_MAX, INPUT_MAX) as i16;
        inputs[AROUND / 2] = side_by_side(&[rate; LANES], &[0; LANES]);
        inputs[AROUND / 2 + 1] = side_by_side(&[0; LANES], &[CONSTANT; LANES]);
    }

    /// The inputs of one sample but its place.
    #[cfg(feature = "encoder")]
    pub fn inputs(&self, x: usize, y: usize) -> [i8; INPUTS] {
        let mut inputs = [NO_INPUTS; PAIRS[0]];
        self.describe(x, y, &mut inputs);
        std::array::from_fn(|at| inputs[at / 2][0][at % 2] as i8)
    }
}

#[inline(always)]
fn side_by_side(first: &[i16; LANES], second: &[i16; LANES]) -> Pair {
    let mut pair = NO_INPUTS;
    for lane in 0..LANES {
        pair[lane / 8][2 * (lane % 8)] = first[lane];
        pair[lane / 8][2 * (lane % 8) + 1] = second[lane];
    }
    pair
}

/// Where [`place_input`] goes among the inputs: along the width, along the height.
pub const PLACE_INPUTS: [usize; 2] = [AROUND + 1, AROUND + 2];

/// The place of a sample along one side of its picture, as an input.
#[inline(always)]
pub fn place_input(place: u32, side: u16) -> i32 {
    let part = (u64::from(place) << 8) / u64::from(side);
    (part.min(255) as i32 - 128).max(-INPUT_MAX)
}

/// Means of the squares of `SIDE` samples around every sample that is far enough from the frame.
fn means<const SIDE: usize>(framed: &[i16], stride: usize) -> Vec<i16> {
    let reach = SIDE / 2;
    let mut sums = vec![0; framed.len()];
    let rows = framed.chunks_exact(stride);
    for (row, sums) in rows.zip(sums.chunks_exact_mut(stride)) {
        add_shifted::<SIDE>(row, &mut sums[reach..]);
    }
    let mut out = vec![0; framed.len()];
    let inside = &mut out[reach * stride..framed.len() - reach * stride];
    for (row, means) in inside.chunks_exact_mut(stride).enumerate() {
        mean_rows::<SIDE>(&sums[row * stride..], means);
    }
    out
}

kernel! {
    /// Sums of `SIDE` samples of a row each.
    fn add_shifted<const SIDE: usize>(row: &[i16], sums: &mut [u16]) {
        for at in 0..SIDE {
            for (sum, &sample) in sums.iter_mut().zip(&row[at..row.len() + 1 + at - SIDE]) {
                *sum += sample as u16;
            }
        }
    }
}

kernel! {
    /// Means of sums of `SIDE` samples, over as many rows of them.
    fn mean_rows<const SIDE: usize>(sums: &[u16], means: &mut [i16]) {
        let (stride, area) = (means.len(), (SIDE * SIDE) as u32);
        let rows: [&[u16]; SIDE] = std::array::from_fn(|y| &sums[y * stride..][..stride]);
        for (x, mean) in means.iter_mut().enumerate() {
            let mut sum = area / 2;
            for row in rows {
                sum += u32::from(row[x]);
            }
            *mean = (sum / area) as i16;
        }
    }
}

/// The plane with the filter's and the network's corrections wherever `flags` say so.
///
/// The network always sees the whole plane filtered, so that a superblock does not depend on the flags of others.
/// `origin` is the place of the plane's first sample in its picture.
pub(crate) fn restored(
    [before, filtered]: [&PlaneBuffer; 2],
    quantiser: u8,
    origin: (u32, u32),
    net: &Net,
    flags: &FilterFlags,
) -> PlaneBuffer {
    let width = before.stride;
    let mut out = before.clone();
    let weights = [
        paired(&net.first, INPUTS),
        paired(&net.second, FIRST + 1),
        paired(&net.last, SECOND + 1),
    ];
    let surroundings = Surroundings::new(&filtered.data, width, quantiser);
    let columns: Vec<i16> = (0..width.next_multiple_of(LANES) as u32)
        .map(|x| place_input(origin.0 + x, net.extent[0]) as i16)
        .collect();
    threads::for_each_chunk(&mut out.data, width, |y, row| {
        let row_place = place_input(origin.1 + y as u32, net.extent[1]) as i16;
        for (run, samples) in row.chunks_mut(LANES).enumerate() {
            let x = run * LANES;
            if flags.get(x, y) {
                samples.copy_from_slice(&filtered.data[y * width + x..][..samples.len()]);
                with_pairs(Restore {
                    weights: &weights,
                    surroundings: &surroundings,
                    start: (x, y),
                    places: (&columns[x..][..LANES], row_place),
                    step: i64::from(Step::from_index(quantiser).fixed()),
                    samples,
                });
            }
        }
    });
    out
}

/// Corrects a run of samples.
struct Restore<'a> {
    /// Of the three layers.
    weights: &'a [Vec<WeightPair>; 3],
    surroundings: &'a Surroundings,
    /// Column and row of the first sample.
    start: (usize, usize),
    /// Inputs that say where the samples are: along the width, and along the height.
    places: (&'a [i16], i16),
    step: i64,
    samples: &'a mut [u16],
}

impl PairOperation for Restore<'_> {
    #[inline(always)]
    fn call(self, pairs: impl PairProducts) {
        let mut inputs = [NO_INPUTS; PAIRS[0]];
        let (x, y) = self.start;
        (self.surroundings).describe(x, y, &mut inputs);
        let [across, down] = PLACE_INPUTS;
        for (lane, &place) in self.places.0.iter().enumerate() {
            inputs[across / 2][lane / 8][2 * (lane % 8) + across % 2] = place;
            inputs[down / 2][lane / 8][2 * (lane % 8) + down % 2] = self.places.1;
        }
        let [to_first, to_second, to_last] = self.weights;
        let mut first = [NO_INPUTS; PAIRS[1]];
        layer(pairs, to_first, &inputs, &mut first);
        let mut second = [NO_INPUTS; PAIRS[2]];
        layer(pairs, to_second, &first, &mut second);
        let [sums] = weighted(pairs, [to_last], &second);
        for (sample, &sum) in self.samples.iter_mut().zip(sums.as_flattened()) {
            let correction = i64::from((sum >> 4).clamp(-8192, 8191));
            let correction = (correction * self.step + (1 << 19)) >> 20;
            *sample = (i64::from(*sample) + correction).clamp(0, i64::from(SAMPLE_MAX)) as u16;
        }
    }
}

/// Two weights of a unit as one number, in the order of memory: copies of it are what pairs of inputs are multiplied by.
type WeightPair = u32;

/// The weights of a layer whose units have `inputs` inputs, in pairs like these.
fn paired(weights: &[i16], inputs: usize) -> Vec<WeightPair> {
    let units = weights.chunks_exact(inputs);
    let pair = |pair: &[i16]| pulp::cast([pair[0], pair.get(1).copied().unwrap_or(0)]);
    units.flat_map(|unit| unit.chunks(2).map(pair)).collect()
}

/// Units that add up their inputs and pass on what is above zero; the constant stands behind them.
#[inline(always)]
fn layer(pairs: impl PairProducts, weights: &[WeightPair], inputs: &[Pair], units: &mut [Pair]) {
    let (constant, units) = units.split_last_mut().expect("the constant");
    *constant = side_by_side(&[CONSTANT; LANES], &[0; LANES]);
    let weights = weights.chunks_exact(2 * inputs.len());
    for (unit, weights) in units.iter_mut().zip(weights) {
        let (first, second) = weights.split_at(inputs.len());
        let [first, second] = weighted(pairs, [first, second], inputs);
        for (unit, (first, second)) in unit.iter_mut().zip(first.iter().zip(&second)) {
            for lane in 0..8 {
                unit[2 * lane] = output(first[lane]);
                unit[2 * lane + 1] = output(second[lane]);
            }
        }
    }
}

/// What a unit passes on.
#[inline(always)]
fn output(sum: i32) -> i16 {
    let sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
    sum.clamp(0, UNIT_MAX) as i16
}

/// The weighted sums of some units.
#[inline(always)]
fn weighted<const UNITS: usize>(
    pairs: impl PairProducts,
    weights: [&[WeightPair]; UNITS],
    inputs: &[Pair],
) -> [[[i32; 8]; GROUPS]; UNITS] {
    let mut sums = [[[0; 8]; GROUPS]; UNITS];
    for (at, input) in inputs.iter().enumerate() {
        for unit in 0..UNITS {
            let weights: [i16; 16] = pulp::cast([weights[unit][at]; 8]);
            for group in 0..GROUPS {
                let products = pairs.pair_products(input[group], weights);
                for lane in 0..8 {
                    sums[unit][group][lane] += products[lane];
                }
            }
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_dict::net::{MAX_WEIGHT, WEIGHTS};

    const WIDTH: usize = 40;
    const QUANTISER: u8 = 64;

    fn plane() -> PlaneBuffer {
        let sample = |i: usize| (1000 + 37 * (i % WIDTH) + 11 * (i / WIDTH) % 400) as u16;
        PlaneBuffer {
            data: (0..WIDTH * 24).map(sample).collect(),
            stride: WIDTH,
        }
    }

    fn flags(on: bool) -> FilterFlags {
        let mut flags = FilterFlags::new(&crate::tile::canvas::Canvas::new(WIDTH, 24, 1));
        flags.on.fill(on);
        flags
    }

    fn net(constant: i16) -> Net {
        let [first, second, last] = WEIGHTS.map(|count| vec![0; count]);
        let mut net = Net {
            extent: [40, 24],
            first,
            second,
            last,
        };
        *net.last.last_mut().unwrap() = constant;
        net
    }

    /// The plane after a network that adds a constant.
    fn moved(constant: i16, on: bool) -> Vec<u16> {
        let (plane, net) = (plane(), net(constant));
        restored([&plane, &plane], QUANTISER, (0, 0), &net, &flags(on)).data
    }

    #[test]
    fn a_network_without_weights_changes_nothing() {
        assert_eq!(moved(0, true), plane().data);
    }

    #[test]
    fn a_constant_moves_every_sample_of_flagged_superblocks_by_a_part_of_the_step() {
        // The step is 256 samples; 256 / 1024 of it are 64.
        let out = moved(256, true);
        assert!(out.iter().zip(plane().data).all(|(a, b)| *a == b + 64));
        assert_eq!(moved(256, false), plane().data);
    }

    #[test]
    fn places_are_different_and_inside_the_frame() {
        let reach_of_means = [0, 1, 2];
        for (i, &(scale, dx, dy)) in PLACES.iter().enumerate() {
            assert!(!PLACES[..i].contains(&(scale, dx, dy)));
            assert!((dx, dy) != (0, 0));
            assert!(dx.abs().max(dy.abs()) as usize + reach_of_means[scale] <= MARGIN);
        }
    }

    #[test]
    fn places_run_from_end_to_end() {
        assert_eq!(place_input(0, 100), -127);
        assert_eq!(place_input(50, 100), 0);
        assert_eq!(place_input(99, 100), 125);
        assert_eq!(place_input(u32::MAX, 1), 127);
    }

    #[test]
    fn extreme_weights_do_not_overflow() {
        for weight in [-MAX_WEIGHT, MAX_WEIGHT] {
            let [first, second, last] = WEIGHTS.map(|count| vec![weight; count]);
            let net = Net {
                extent: [1, 1],
                first,
                second,
                last,
            };
            for quantiser in [0, 127] {
                restored(
                    [&plane(), &plane()],
                    quantiser,
                    (65000, 65000),
                    &net,
                    &flags(true),
                );
            }
        }
    }
}

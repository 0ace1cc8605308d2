//! The network that restores samples behind the filter (`spec/bitstream.md`, section "Network").
//!
//! It corrects squares of 2x2 samples: it sees a square and what is around it at three scales, as differences to the
//! mean of the square in units of the step, and says how far the original lies above each of its samples.

use crate::simd::{PairOperation, PairProducts, kernel, with_pairs};
use crate::threads;
use crate::tile::canvas::PlaneBuffer;
use crate::tile::intra::SAMPLE_MAX;
use crate::tile::loop_filter::FilterFlags;
use crate::tile::transform::quantiser::Step;
use tessera_dict::Net;
use tessera_dict::net::{FIRST, FRACTIONS, INPUTS, SECOND};

/// Side of what is corrected in one go.
pub const SIDE: usize = 2;
/// Reach of the inputs in squares: four to the middle of three.
const MARGIN: usize = 5;
/// Squares that are worked on side by side: those of a superblock.
const LANES: usize = 32;
/// Squares whose products one instruction makes.
const GROUP: usize = 16;
const GROUPS: usize = LANES / GROUP;
/// Units whose sums grow side by side.
const UNITS: usize = 4;
/// Two inputs of a layer side by side, square by square: what instructions that multiply pairs read.
type Pair = [[u8; 2 * GROUP]; GROUPS];
/// Pairs of inputs that nothing is known of yet.
const NO_INPUTS: Pair = [[0; 2 * GROUP]; GROUPS];
/// Inputs lie in -64..63; multiplied are they with this added.
const MIDDLE: i32 = 64;
/// Fractional bits of a weight of the hidden layers.
const WEIGHT_BITS: u32 = FRACTIONS[0];
/// Largest output of a unit, and of an input with the middle added.
const LARGEST: i16 = 127;
/// The input that never changes.
const CONSTANT: i32 = 32;
/// Quantiser index in the middle of the usual range.
const MIDDLE_QUANTISER: i32 = 76;

/// Inputs that depend on the surroundings; place, rate and constant follow.
const AROUND: usize = INPUTS - 4;
/// Inputs that are not the same for all squares.
const VARYING: usize = AROUND + 2;
/// Where [`place_input`] goes among the inputs: along the width, along the height.
pub const PLACE_INPUTS: [usize; 2] = [AROUND, AROUND + 1];
/// The input that tells the quantiser.
const RATE_INPUT: usize = AROUND + 2;

/// Phases: which of the samples of a square, row by row. Behind them the means of squares, and smoothed means.
const PHASES: usize = SIDE * SIDE;
const MEANS: usize = PHASES;
const SMOOTH: usize = PHASES + 1;

/// Phase or scale, squares to the right and squares down of every input that depends on the surroundings.
const PLACES: [(usize, isize, isize); AROUND] = {
    let mut places = [(0, 0, 0); AROUND];
    let mut count = 0;
    // The 6x6 samples in the middle, without the corners.
    let mut at = 0;
    while at < 36 {
        let (x, y) = (at % 6, at / 6);
        if !(x % 5 == 0 && y % 5 == 0) {
            let phase = y % 2 * 2 + x % 2;
            places[count] = (phase as usize, x / 2 - 1, y / 2 - 1);
            count += 1;
        }
        at += 1;
    }
    // The ring of squares around them, without the corners.
    at = 0;
    while at < 25 {
        let (x, y) = (at % 5 - 2, at / 5 - 2);
        if x * x + y * y == 4 || x * x + y * y == 5 {
            places[count] = (MEANS, x, y);
            count += 1;
        }
        at += 1;
    }
    // What is further away, in eight directions.
    at = 0;
    while at < 9 {
        if at != 4 {
            places[count] = (SMOOTH, 4 * (at % 3 - 1), 4 * (at / 3 - 1));
            count += 1;
        }
        at += 1;
    }
    places
};

/// A plane taken apart into the samples of its squares, with their means; what is outside repeats the nearest.
#[derive(Debug)]
pub struct Surroundings {
    /// Phases, means and smoothed means, a number for every square of the plane and its margin.
    scales: [Vec<i16>; SMOOTH + 1],
    /// Squares in a row, the margin included.
    stride: usize,
    quantiser: u8,
}

impl Surroundings {
    /// Of a plane of `width` samples per row, coded with this quantiser. Sides are even.
    pub fn new(samples: &[u16], width: usize, quantiser: u8) -> Self {
        let (columns, height) = (width / SIDE, samples.len() / width);
        let stride = columns + 2 * MARGIN;
        let rows = height / SIDE + 2 * MARGIN;
        // Whoever looks at as many squares as fit side by side looks beyond the last one.
        let length = stride * rows + LANES;
        let mut scales: [Vec<i16>; SMOOTH + 1] = std::array::from_fn(|_| vec![0; length]);
        for y in 0..SIDE * rows {
            let row = y.saturating_sub(SIDE * MARGIN).min(height - 1);
            let row = &samples[row * width..][..width];
            let (even, odd) = scales.split_at_mut(y % SIDE * SIDE + 1);
            let [even, odd] = [&mut even[y % SIDE * SIDE], &mut odd[0]];
            let [even, odd] = [even, odd].map(|phase| &mut phase[y / SIDE * stride..][..stride]);
            for phase in [&mut *even, &mut *odd] {
                phase[..MARGIN].fill(row[0] as i16);
                phase[MARGIN + columns..].fill(row[width - 1] as i16);
            }
            split(
                row,
                &mut even[MARGIN..][..columns],
                &mut odd[MARGIN..][..columns],
            );
        }
        let [a, b, c, d, mean, smooth] = &mut scales;
        means([a, b, c, d], mean);
        smoothed(mean, stride, smooth);
        Self {
            scales,
            stride,
            quantiser,
        }
    }

    fn index(&self, column: usize, row: usize) -> usize {
        (row + MARGIN) * self.stride + column + MARGIN
    }

    /// A number of each of the squares from `at` on.
    #[inline(always)]
    fn lanes(&self, scale: usize, at: usize) -> &[i16; LANES] {
        let lanes = self.scales[scale][at..].first_chunk();
        lanes.expect("there are as many behind the last square")
    }

    /// The inputs of the squares of a row that depend on what is around them, the middle added; where the row ends before
    /// they do, the rest mean nothing.
    #[inline(always)]
    fn describe(&self, column: usize, row: usize, inputs: &mut [Pair; AROUND / 2]) {
        let at = self.index(column, row);
        let own = self.lanes(MEANS, at);
        let reciprocal = (1 << 26) / Step::from_index(self.quantiser).fixed();
        let reciprocal = reciprocal.min(i16::MAX as u32) as i16;
        let others = |(scale, dx, dy): (usize, isize, isize)| {
            let other = at.wrapping_add_signed(dy * self.stride as isize + dx);
            self.lanes(scale, other)
        };
        for (pair, places) in inputs.iter_mut().zip(PLACES.as_chunks::<2>().0) {
            let (first, second) = (others(places[0]), others(places[1]));
            let mut merged = [0; LANES];
            for (lane, merged) in merged.iter_mut().enumerate() {
                let first = difference(first[lane], own[lane], reciprocal);
                let second = difference(second[lane], own[lane], reciprocal);
                *merged = side_by_side(first, second);
            }
            *pair = pulp::cast(merged);
        }
    }

    /// The inputs of one square but its place.
    #[cfg(feature = "encoder")]
    pub fn inputs(&self, column: usize, row: usize) -> [i8; INPUTS] {
        let mut around = [NO_INPUTS; AROUND / 2];
        self.describe(column, row, &mut around);
        let mut inputs = [0; INPUTS];
        for (at, input) in inputs[..AROUND].iter_mut().enumerate() {
            *input = (i32::from(around[at / 2][0][at % 2]) - MIDDLE) as i8;
        }
        inputs[RATE_INPUT] = rate_input(self.quantiser) as i8;
        inputs[INPUTS - 1] = CONSTANT as i8;
        inputs
    }
}

/// An input with the middle added: how far a number lies above another, in 1/32 of a step. Both have 12 bits.
#[inline(always)]
fn difference(other: i16, own: i16, reciprocal: i16) -> i16 {
    let difference = (other - own) << 3;
    let steps = (i32::from(difference) * i32::from(reciprocal)) >> 16;
    (steps as i16 + MIDDLE as i16).clamp(0, LARGEST)
}

/// Two numbers of 7 bits in the order of memory.
#[inline(always)]
fn side_by_side(first: i16, second: i16) -> i16 {
    if cfg!(target_endian = "little") {
        first | second << 8
    } else {
        first << 8 | second
    }
}

/// The quantiser as an input.
fn rate_input(quantiser: u8) -> i32 {
    (i32::from(quantiser) - MIDDLE_QUANTISER).clamp(-MIDDLE, MIDDLE - 1)
}

/// The place of a square's first sample along one side of its picture, as an input.
pub fn place_input(place: u32, side: u16) -> i32 {
    let part = (u64::from(place) << 7) / u64::from(side);
    part.min(127) as i32 - MIDDLE
}

kernel! {
    /// Every other sample of a row, and the rest.
    fn split(row: &[u16], even: &mut [i16], odd: &mut [i16]) {
        let pairs = row.as_chunks::<2>().0;
        for ((even, odd), pair) in even.iter_mut().zip(odd.iter_mut()).zip(pairs) {
            *even = pair[0] as i16;
            *odd = pair[1] as i16;
        }
    }
}

kernel! {
    /// Means of squares.
    fn means(phases: [&[i16]; PHASES], to: &mut [i16]) {
        let [a, b, c, d] = phases;
        let (a, b, c, d) = (&a[..to.len()], &b[..to.len()], &c[..to.len()], &d[..to.len()]);
        for (i, mean) in to.iter_mut().enumerate() {
            // Of 12 bits each.
            *mean = (a[i] + b[i] + c[i] + d[i] + 2) >> 2;
        }
    }
}

kernel! {
    /// Means of squares and those around them, weighted 1 2 1 in both directions; nothing along the frame.
    fn smoothed(means: &[i16], stride: usize, to: &mut [i16]) {
        let inside = means.len() - 2 * stride - 2;
        let across = |row: usize| {
            let line = |at: usize| &means[row * stride + at..][..inside];
            let (left, own, right) = (line(0), line(1), line(2));
            // Sixteen numbers of 12 bits are added up in all.
            move |i: usize| (left[i] + 2 * own[i] + right[i]) as u16
        };
        let (above, own, below) = (across(0), across(1), across(2));
        for (i, smooth) in to[stride + 1..][..inside].iter_mut().enumerate() {
            *smooth = ((above(i) + 2 * own(i) + below(i) + 8) >> 4) as i16;
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
    let weights = Weights::new(net, quantiser);
    let surroundings = Surroundings::new(&filtered.data, width, quantiser);
    let place = |place: u32, side: u16| (place_input(place, side) + MIDDLE) as i16;
    let across: Vec<i16> = (0..(width / SIDE).next_multiple_of(LANES) as u32)
        .map(|column| place(origin.0 + SIDE as u32 * column, net.extent[0]))
        .collect();
    threads::for_each_chunk(&mut out.data, SIDE * width, |row, samples| {
        let down = place(origin.1 + (SIDE * row) as u32, net.extent[1]);
        for (run, across) in across.as_chunks::<LANES>().0.iter().enumerate() {
            let x = run * SIDE * LANES;
            if flags.get(x, SIDE * row) {
                with_pairs(Restore {
                    weights: &weights,
                    surroundings: &surroundings,
                    start: (run * LANES, row),
                    places: (across, down),
                    step: Step::from_index(quantiser),
                    filtered: &filtered.data[SIDE * row * width..][..SIDE * width],
                    samples,
                });
            }
        }
    });
    out
}

/// What some units of a layer are multiplied with.
struct FourUnits {
    /// What their sums start from: inputs that are the same everywhere, and what rounds.
    starts: [i16; UNITS],
    /// Weights of all of them for every pair of inputs.
    pairs: Vec<[[i8; 2]; UNITS]>,
}

/// The weights of the three layers as they are multiplied with.
struct Weights([Vec<FourUnits>; 3]);

impl Weights {
    /// For squares of one plane.
    fn new(net: &Net, quantiser: u8) -> Self {
        let rate = rate_input(quantiser);
        let constant = |weight: i8| CONSTANT * i32::from(weight);
        let half = 1 << (WEIGHT_BITS - 1);
        let first = |unit: &[i8]| {
            let added: i32 = unit[..VARYING]
                .iter()
                .map(|&weight| i32::from(weight))
                .sum();
            half + rate * i32::from(unit[RATE_INPUT]) + constant(unit[INPUTS - 1]) - MIDDLE * added
        };
        Self([
            by_fours(&net.first, INPUTS, VARYING, first),
            by_fours(&net.second, FIRST + 1, FIRST, |unit| {
                half + constant(unit[FIRST])
            }),
            by_fours(&net.last, SECOND + 1, SECOND, |unit| constant(unit[SECOND])),
        ])
    }
}

/// The weights of units that have `inputs` inputs, the first of them `varying`; `start` says what sums start from. That
/// may not fit 16 bits, but the sums do, so that what is lost on the way does not matter.
fn by_fours(
    weights: &[i8],
    inputs: usize,
    varying: usize,
    start: impl Fn(&[i8]) -> i32,
) -> Vec<FourUnits> {
    let four = |four: &[i8]| {
        let unit = |unit: usize| &four[unit * inputs..][..inputs];
        let pair = |at: usize| std::array::from_fn(|i| [unit(i)[2 * at], unit(i)[2 * at + 1]]);
        FourUnits {
            starts: std::array::from_fn(|i| start(unit(i)) as i16),
            pairs: (0..varying / 2).map(pair).collect(),
        }
    };
    weights.chunks_exact(UNITS * inputs).map(four).collect()
}

/// Corrects the squares of one superblock that lie side by side.
struct Restore<'a> {
    weights: &'a Weights,
    surroundings: &'a Surroundings,
    /// Column and row of the first square.
    start: (usize, usize),
    /// Inputs that say where the squares are, the middle added: along the width, and along the height.
    places: (&'a [i16; LANES], i16),
    step: Step,
    /// The rows of the plane that the squares lie in, filtered and as they become.
    filtered: &'a [u16],
    samples: &'a mut [u16],
}

impl PairOperation for Restore<'_> {
    #[inline(always)]
    fn call(self, pairs: impl PairProducts) {
        let mut inputs = [NO_INPUTS; VARYING / 2];
        let (around, places) = inputs.split_at_mut(AROUND / 2);
        let around = around.first_chunk_mut().expect("all that is around");
        (self.surroundings).describe(self.start.0, self.start.1, around);
        let mut merged = [0; LANES];
        for (merged, &across) in merged.iter_mut().zip(self.places.0) {
            *merged = side_by_side(across, self.places.1);
        }
        places[0] = pulp::cast(merged);
        let [to_first, to_second, to_last] = &self.weights.0;
        let mut first = [NO_INPUTS; FIRST / 2];
        layer(pairs, to_first, &inputs, &mut first);
        let mut second = [NO_INPUTS; SECOND / 2];
        layer(pairs, to_second, &first, &mut second);
        let said = weighted(pairs, &to_last[0], &second);
        let (x, width) = (SIDE * self.start.0, self.filtered.len() / SIDE);
        let count = (width - x).min(SIDE * LANES);
        for y in 0..SIDE {
            let [even, odd] = [&said[SIDE * y], &said[SIDE * y + 1]];
            let samples = &mut self.samples[y * width + x..][..count];
            let filtered = &self.filtered[y * width + x..][..count];
            correct(even, odd, self.step, filtered, samples);
        }
    }
}

/// One row of samples corrected by what the network says of the first and the second sample of every square.
#[inline(always)]
fn correct(
    even: &[i16; LANES],
    odd: &[i16; LANES],
    step: Step,
    filtered: &[u16],
    samples: &mut [u16],
) {
    let step = (step.fixed() >> 6) as i32;
    let correction = |said: i16| (i32::from(said.clamp(-8192, 8191)) * step + (1 << 13)) >> 14;
    let mut corrections = [[0; SIDE]; LANES];
    for (lane, corrections) in corrections.iter_mut().enumerate() {
        *corrections = [correction(even[lane]), correction(odd[lane])];
    }
    let from = filtered.iter().zip(corrections.as_flattened());
    for (sample, (&filtered, correction)) in samples.iter_mut().zip(from) {
        *sample = (i32::from(filtered) + correction).clamp(0, SAMPLE_MAX) as u16;
    }
}

/// Units that add up their inputs and pass on what is above zero.
#[inline(always)]
fn layer(pairs: impl PairProducts, weights: &[FourUnits], inputs: &[Pair], units: &mut [Pair]) {
    for (units, weights) in units
        .as_chunks_mut::<{ UNITS / 2 }>()
        .0
        .iter_mut()
        .zip(weights)
    {
        let sums = weighted(pairs, weights, inputs);
        for (units, sums) in units.iter_mut().zip(sums.as_chunks::<2>().0) {
            let mut merged = [0; LANES];
            for (lane, merged) in merged.iter_mut().enumerate() {
                *merged = side_by_side(output(sums[0][lane]), output(sums[1][lane]));
            }
            *units = pulp::cast(merged);
        }
    }
}

/// What a unit passes on.
#[inline(always)]
fn output(sum: i16) -> i16 {
    (sum >> WEIGHT_BITS).clamp(0, LARGEST)
}

/// The weighted sums of some units for every square.
#[inline(always)]
fn weighted(
    pairs: impl PairProducts,
    weights: &FourUnits,
    inputs: &[Pair],
) -> [[i16; LANES]; UNITS] {
    let mut sums = [[pairs.narrow(0); UNITS]; GROUPS];
    for sums in &mut sums {
        for (sum, &start) in sums.iter_mut().zip(&weights.starts) {
            *sum = pairs.narrow(start);
        }
    }
    for (input, weights) in inputs.iter().zip(&weights.pairs) {
        for (sums, input) in sums.iter_mut().zip(input) {
            for (sum, &weights) in sums.iter_mut().zip(weights) {
                *sum = pairs.add_weighted(*sum, input, weights);
            }
        }
    }
    let mut values = [[0; LANES]; UNITS];
    for (unit, values) in values.iter_mut().enumerate() {
        for (values, sums) in values.as_chunks_mut().0.iter_mut().zip(&sums) {
            *values = pairs.narrow_values(sums[unit]);
        }
    }
    values
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use tessera_dict::net::{MOST_WEIGHT, OUTPUTS, STRIDES, WEIGHTS};

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

    /// A network that adds a constant to the second sample of every square.
    fn net(constant: i8) -> Net {
        let mut layers = WEIGHTS.map(|count| vec![0; count]);
        layers[2][2 * STRIDES[2] - 1] = constant;
        Net::new([40, 24], layers).unwrap()
    }

    /// The plane after a network that adds a constant.
    fn moved(constant: i8, on: bool) -> Vec<u16> {
        let (plane, net) = (plane(), net(constant));
        restored([&plane, &plane], QUANTISER, (0, 0), &net, &flags(on)).data
    }

    #[test]
    fn a_network_without_weights_changes_nothing() {
        assert_eq!(moved(0, true), plane().data);
    }

    #[test]
    fn a_constant_moves_one_sample_of_every_square_of_flagged_superblocks_by_a_part_of_the_step() {
        // The step is 256 samples; 64 x 32 / 4096 of it are 128.
        for (i, (after, before)) in moved(64, true).iter().zip(plane().data).enumerate() {
            let (x, y) = (i % WIDTH, i / WIDTH);
            let expected = if x % 2 == 1 && y % 2 == 0 { 128 } else { 0 };
            assert_eq!(*after, before + expected, "{x}, {y}");
        }
        assert_eq!(moved(64, false), plane().data);
    }

    #[test]
    fn places_are_different_and_inside_the_frame() {
        let reach_of_scales = [0, 0, 0, 0, 0, 1];
        for (i, &(scale, dx, dy)) in PLACES.iter().enumerate() {
            assert!(!PLACES[..i].contains(&(scale, dx, dy)));
            assert!(scale < PHASES || (dx, dy) != (0, 0));
            assert!(dx.abs().max(dy.abs()) as usize + reach_of_scales[scale] <= MARGIN);
        }
    }

    #[test]
    fn places_run_from_end_to_end() {
        assert_eq!(place_input(0, 100), -64);
        assert_eq!(place_input(50, 100), 0);
        assert_eq!(place_input(99, 100), 62);
        assert_eq!(place_input(u32::MAX, 1), 63);
    }

    /// What the network says of a square, added up one product after the other.
    fn plainly(net: &Net, inputs: &[i8; INPUTS]) -> Vec<i32> {
        let sums = |weights: &[i8], inputs: &[i32]| -> Vec<i32> {
            let units = weights.chunks_exact(inputs.len());
            let sum = |unit: &[i8]| {
                unit.iter()
                    .zip(inputs)
                    .map(|(&w, i)| i32::from(w) * i)
                    .sum()
            };
            units.map(sum).collect()
        };
        let passed_on = |sums: Vec<i32>| -> Vec<i32> {
            assert!(sums.iter().all(|&sum| i16::try_from(sum + 16).is_ok()));
            let units = sums.into_iter().map(|sum| ((sum + 16) >> 5).clamp(0, 127));
            units.chain([32]).collect()
        };
        let first = passed_on(sums(&net.first, &inputs.map(i32::from)));
        sums(&net.last, &passed_on(sums(&net.second, &first)))
    }

    /// Weights as heavy as they may be, positive and negative in turn.
    fn heavy_net(sign: i8) -> Net {
        let mut state = 1u32;
        let mut layers = WEIGHTS.map(|count| vec![0; count]);
        for (layer, stride) in layers.iter_mut().zip(STRIDES) {
            for unit in layer.chunks_exact_mut(stride) {
                let mut left = [MOST_WEIGHT; 2];
                for at in 0..1000 {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    let (place, side) = ((state >> 16) as usize % stride, at % 2);
                    let towards = if side == 0 { sign } else { -sign };
                    if left[side] > 0 && unit[place] * towards >= 0 && unit[place].abs() < 120 {
                        unit[place] += towards;
                        left[side] -= 1;
                    }
                }
            }
        }
        Net::new([1, 1], layers).unwrap()
    }

    #[test]
    fn fast_sums_are_plain_sums_and_the_heaviest_weights_fit() {
        let edges = |i: usize| if i * 7919 % 11 < 5 { 0 } else { 4095 };
        let plane = PlaneBuffer {
            data: (0..WIDTH * 24).map(edges).collect(),
            stride: WIDTH,
        };
        for (sign, quantiser) in [(1, 0), (-1, 64), (1, 90), (-1, 127)] {
            let net = heavy_net(sign);
            let origin = (65000, 65000);
            let out = restored([&plane, &plane], quantiser, origin, &net, &flags(true));
            let surroundings = Surroundings::new(&plane.data, WIDTH, quantiser);
            let step = i64::from(Step::from_index(quantiser).fixed() >> 6);
            for (column, row) in [(0, 0), (7, 3), (19, 11)] {
                let mut inputs = surroundings.inputs(column, row);
                for place in PLACE_INPUTS {
                    inputs[place] = 63;
                }
                let said = plainly(&net, &inputs);
                assert_eq!(said.len(), OUTPUTS);
                for (at, said) in said.into_iter().enumerate() {
                    let at = (2 * row + at / 2) * WIDTH + 2 * column + at % 2;
                    let said = i64::from(said.clamp(-8192, 8191));
                    let wanted = i64::from(plane.data[at]) + ((said * step + (1 << 13)) >> 14);
                    assert_eq!(i64::from(out.data[at]), wanted.clamp(0, 4095));
                }
            }
        }
    }
}

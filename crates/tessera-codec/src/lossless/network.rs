//! The network of a dictionary that expects samples (`spec/lossless.md`, "Network").
//!
//! It sees a sample's surroundings in units of the errors made there, and says how far from the blend of the
//! least-squares predictions the sample lies, and how far from that it may be. A picture is too small to learn this
//! from; a collection is not.

use super::errors::{ErrorRows, SampleErrors};
use super::residual::{FRACTION, quarter_octaves};
use super::taps::{FAR, Taps};
use tessera_dict::LosslessNet;
use tessera_dict::lossless_net::{FIRST, INPUTS, OUTPUTS, SECOND};
use tessera_dict::net::WEIGHT_BITS;

/// Fractional bits of inputs, which are in units of the expected error.
const INPUT_BITS: u32 = 5;
/// Inputs are clipped at four units.
const INPUT_MAX: i32 = (4 << INPUT_BITS) - 1;
/// The input that never changes.
const CONSTANT: i16 = 2 << INPUT_BITS;
/// Largest output of a unit.
const UNIT_MAX: i32 = 4095;
/// Fractional bits of what the network says.
pub(super) const OUTPUT_BITS: u32 = 11;
/// What it says about the place is clipped at four units, about the size at two octaves.
const OUTPUT_MAX: [i32; OUTPUTS] = [4 << OUTPUT_BITS, 2 << OUTPUT_BITS];
/// Steps of an octave of sizes.
const STEPS: i32 = 16;
const POWER_BITS: u32 = 12;
/// Expected errors are at least this many sixteenths.
const LEAST: u32 = 5;

/// 2^(12 + i / 16) rounded, for i from -32 to 32.
const POWERS: [u32; 65] = [
    1024, 1069, 1117, 1166, 1218, 1272, 1328, 1387, 1448, 1512, 1579, 1649, 1722, 1798, 1878, 1961,
    2048, 2139, 2233, 2332, 2435, 2543, 2656, 2774, 2896, 3025, 3158, 3298, 3444, 3597, 3756, 3922,
    4096, 4277, 4467, 4664, 4871, 5087, 5312, 5547, 5793, 6049, 6317, 6597, 6889, 7194, 7512, 7845,
    8192, 8555, 8933, 9329, 9742, 10173, 10624, 11094, 11585, 12098, 12634, 13193, 13777, 14387,
    15024, 15689, 16384,
];

/// Weights, inputs in pairs side by side.
#[derive(Clone, Debug)]
pub(super) struct Network {
    first: Vec<[i16; 2 * FIRST]>,
    second: Vec<[i16; 2 * SECOND]>,
    last: Vec<i16>,
}

/// A sample's surroundings as the network sees them.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    pub(super) inputs: [i16; INPUTS],
    /// The expected error, which inputs are in units of, in sixteenths.
    pub(super) unit: u32,
}

/// What the network says of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Expectation {
    /// How far above the blend it lies, in sixteenths.
    pub(super) lift: i32,
    /// Eight times the error that is to be expected, in sixteenths.
    pub(super) eighths: u32,
}

impl Network {
    pub(super) fn new(net: &LosslessNet) -> Self {
        Self {
            first: paired(&net.first, INPUTS),
            second: paired(&net.second, FIRST + 1),
            last: net.last.clone(),
        }
    }

    #[inline(always)]
    pub(super) fn expect(&self, view: &View) -> Expectation {
        let mut units = [CONSTANT; FIRST + 2];
        units[..FIRST].copy_from_slice(&passed_on::<FIRST, _>(&self.first, &view.inputs));
        let mut last = [CONSTANT; SECOND + 1];
        last[..SECOND].copy_from_slice(&passed_on::<SECOND, _>(&self.second, &units));
        let say = |which: usize| {
            let weights = &self.last[which * (SECOND + 1)..][..SECOND + 1];
            let products = weights.iter().zip(&last);
            let sum: i32 = products.map(|(&w, &u)| i32::from(w) * i32::from(u)).sum();
            (sum >> (WEIGHT_BITS + INPUT_BITS - OUTPUT_BITS))
                .clamp(-OUTPUT_MAX[which], OUTPUT_MAX[which])
        };
        let lift = (i64::from(say(0)) * i64::from(view.unit)) >> OUTPUT_BITS;
        let step = (say(1) * STEPS) >> OUTPUT_BITS;
        let power = POWERS[(step + 2 * STEPS) as usize % POWERS.len()];
        let eighths = (u64::from(8 * view.unit) * u64::from(power)) >> POWER_BITS;
        Expectation {
            lift: lift as i32,
            eighths: eighths as u32,
        }
    }
}

/// The weights of units side by side, two inputs at a time.
fn paired<const N: usize>(weights: &[i16], inputs: usize) -> Vec<[i16; N]> {
    let weight = |unit: usize, input: usize| match input < inputs {
        true => weights[unit * inputs + input],
        false => 0,
    };
    let pair = |pair: usize| std::array::from_fn(|at| weight(at / 2, 2 * pair + at % 2));
    (0..inputs.div_ceil(2)).map(pair).collect()
}

/// What the units of a layer make of its inputs.
#[inline(always)]
fn passed_on<const N: usize, const M: usize>(weights: &[[i16; M]], inputs: &[i16]) -> [i16; N] {
    // What is taken off is the sum; half a unit rounds it.
    let mut sums = [-(1 << (WEIGHT_BITS - 1)); N];
    for (weights, pair) in weights.iter().zip(inputs.as_chunks::<2>().0) {
        // Products of pairs, added up and taken off: in this form compilers find the instruction for them.
        for (sum, weights) in sums.iter_mut().zip(weights.as_chunks::<2>().0) {
            let product = |which: usize| i32::from(weights[which]) * i32::from(pair[which]);
            *sum -= product(0) + product(1);
        }
    }
    let mut outputs = [0; N];
    for (output, sum) in outputs.iter_mut().zip(sums) {
        *output = (-sum >> WEIGHT_BITS).clamp(0, UNIT_MAX) as i16;
    }
    outputs
}

/// What is known of a sample beside its neighbours, as [`View::new`] takes it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known<'a> {
    pub(super) taps: &'a Taps,
    /// The two least-squares predictions and their blend.
    pub(super) squares: [i32; 2],
    pub(super) blend: i32,
    /// Error of the plane before at this place, if there is one.
    pub(super) before: Option<i32>,
    pub(super) excess: u32,
}

/// Further errors whose sizes are seen, as (left, up).
const MORE_ERRORS: [(isize, usize); 5] = [(2, 1), (-2, 1), (1, 2), (-1, 2), (-3, 1)];
/// Inputs that are in units of the expected error.
const SCALED: usize = INPUTS - 4;

impl View {
    /// Of the sample of column `x`.
    #[inline(always)]
    pub(super) fn new(known: &Known<'_>, errors: &ErrorRows, x: usize) -> Self {
        let around = errors.around(x);
        let sizes = around.map(|errors| errors.raw.unsigned_abs());
        let eighths = sizes[0] + sizes[1] + sizes.iter().sum::<u32>();
        let unit = (eighths >> 3) + LEAST;
        let scaled = scaled_inputs(known, errors, around, x, unit as i32);
        let most = 4 * unit as i32;
        let reciprocal = (1 << (16 + INPUT_BITS)) / unit as i32;
        let mut inputs = [0; INPUTS];
        for (input, value) in inputs.iter_mut().zip(scaled) {
            let value = (value.clamp(-most, most) * reciprocal) >> 16;
            *input = value.clamp(-INPUT_MAX, INPUT_MAX) as i16;
        }
        let level = 3 * (quarter_octaves(eighths) as i32 - 20);
        let value = (known.blend >> (FRACTION + known.excess)) - 128;
        let fraction = 8 * ((known.blend & 15) - 8);
        for (input, value) in inputs[SCALED..].iter_mut().zip([level, value, fraction]) {
            *input = value.clamp(-INPUT_MAX, INPUT_MAX) as i16;
        }
        inputs[INPUTS - 1] = CONSTANT;
        Self { inputs, unit }
    }
}

/// What is measured in units, in sixteenths of samples.
#[inline(always)]
fn scaled_inputs(
    known: &Known<'_>,
    errors: &ErrorRows,
    around: [&SampleErrors; 6],
    x: usize,
    unit: i32,
) -> [i32; SCALED] {
    let taps = known.taps;
    let away = |value: i32| (value << FRACTION) - known.blend;
    let mut inputs = [0; SCALED];
    let mut places = inputs.iter_mut();
    let mut put = |value: i32| {
        if let Some(place) = places.next() {
            *place = value;
        }
    };
    for regressor in taps.regressors {
        put(regressor << FRACTION);
    }
    put(away(taps.mean));
    for prediction in known.squares {
        put(prediction - known.blend);
    }
    for small in taps.small {
        put(away(small));
    }
    for errors in around {
        put(errors.raw);
    }
    for errors in around {
        put(errors.raw.abs() - unit);
    }
    for which in 0..2 {
        let recent: u32 = around[..3].iter().map(|errors| errors.squares[which]).sum();
        put(recent as i32 / 3 - unit);
    }
    for far in taps.far {
        put(away(far));
    }
    for (left, up) in MORE_ERRORS {
        put(errors.at(x, left, up).raw.abs() - unit);
    }
    put(known.before.unwrap_or(0));
    put(known.before.map_or(0, |error| error.abs() - unit));
    let [west, north, north_west, north_east, west2, north2] = taps.near;
    for (one, other) in [
        (west, north_west),
        (north, north_west),
        (north, north_east),
        (west, west2),
        (north, north2),
    ] {
        put(((one - other).abs() << FRACTION) - unit);
    }
    put(away(west.max(north).max(north_west).max(north_east)));
    put(away(west.min(north).min(north_west).min(north_east)));
    inputs
}

const _: () = assert!(16 + 1 + 2 + 3 + 6 + 6 + 2 + FAR + MORE_ERRORS.len() + 2 + 5 + 2 == SCALED);

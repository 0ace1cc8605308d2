//! Samples of a plane, coded around their prediction (`spec/lossless.md`, "Prediction" and "Contexts").

use super::cell::Cell;
use super::coder::Coder;
use super::errors::{ErrorRows, MAX_SQUARES, SampleErrors};
use super::least_squares::{LeastSquares, Lesson, MAX_FADE, TAPS, WEIGHT_BITS};
use super::level::{Level, Memory};
use super::logistic::squash;
use super::mixer::Mixer;
use super::network::{Expectation, Known, Network, View};
use super::residual::{
    Decisions, Expected, FRACTION, LOW_CONTEXTS, NODES, SIGNED_LEVELS, half_octaves,
    quarter_octaves, scale_of, signed_level,
};
use super::taps::{SMALL, Taps};
#[cfg(feature = "encoder")]
use super::training::Example;
use tessera_dict::LosslessNet;

/// Opinions on every decision.
const INPUTS: usize = 8;
/// Scales that have cells of their own.
const SCALES: usize = 8;
/// Levels of a predictor's own error beside that of all.
const RELATIVE: usize = 6;
/// Contexts of every opinion.
const CONTEXTS: [usize; INPUTS] = [
    64 * 4,
    SIGNED_LEVELS * RELATIVE,
    SIGNED_LEVELS * RELATIVE,
    SIGNED_LEVELS * RELATIVE,
    SIGNED_LEVELS * RELATIVE,
    SIGNED_LEVELS * SIGNED_LEVELS * 4,
    64 * RELATIVE,
    256,
];
/// Where the contexts of every opinion start.
const STARTS: [usize; INPUTS] = {
    let mut starts = [0; INPUTS];
    let mut i = 1;
    while i < INPUTS {
        starts[i] = starts[i - 1] + CONTEXTS[i - 1] * SCALES;
        i += 1;
    }
    starts
};
const TOTAL: usize = STARTS[INPUTS - 1] + CONTEXTS[INPUTS - 1] * SCALES;

/// Log2 of the updates after which a mixer's weights move by their error times opinion.
const MIXING_RATE: u32 = 12;
/// Updates after which cells adapt no slower.
const CELL_LIMIT: u32 = 250;

/// Everything that adapts in one plane.
#[derive(Debug)]
pub(super) struct PlaneModel {
    /// For every least-squares predictor one per group of columns.
    squares: Vec<(Memory, Vec<LeastSquares>)>,
    steps: usize,
    decisions: DecisionModel,
    errors: ErrorRows,
    max: i32,
    /// Bits above eight: what regressors lose before they are learned from.
    excess: u32,
    network: Option<Network>,
    #[cfg(feature = "encoder")]
    record: Option<Vec<Example>>,
}

/// The adaptive part of decisions.
#[derive(Debug)]
struct DecisionModel {
    cells: Vec<[Cell; NODES]>,
    low: Vec<Cell>,
    mixers: [Mixer<INPUTS>; 2],
}

/// What the decisions of a sample hang on.
#[derive(Clone, Copy, Debug)]
struct Contexts {
    cells: [usize; INPUTS],
    mixers: [usize; 2],
}

/// One sample's decisions on their way.
struct Deciding<'a, C> {
    coder: &'a mut C,
    model: &'a mut DecisionModel,
    contexts: Contexts,
}

/// Predictions of a sample with [`FRACTION`] bits.
#[derive(Clone, Copy, Debug)]
struct Predictions {
    squares: [i32; MAX_SQUARES],
    blend: i32,
    /// The blend that the network corrected.
    raw: i32,
    /// Eight times the error the network expects.
    expected: Option<u32>,
}

impl PlaneModel {
    /// For samples from 0 to `max`.
    pub(super) fn new(width: usize, max: u16, level: Level) -> Self {
        let start = (1 << 16) * 3 / 10;
        let squares = level.memories().iter().map(|&memory| {
            let groups = ((width - 1) >> memory.columns) + 1;
            (memory, vec![LeastSquares::new(); groups])
        });
        Self {
            squares: squares.collect(),
            steps: level.steps(),
            decisions: DecisionModel {
                cells: vec![[Cell::EVEN; NODES]; TOTAL],
                low: vec![Cell::EVEN; LOW_CONTEXTS],
                mixers: [SCALES, 64].map(|sets| Mixer::new(sets * NODES, start, MIXING_RATE)),
            },
            errors: ErrorRows::new(width),
            network: None,
            #[cfg(feature = "encoder")]
            record: None,
            max: i32::from(max),
            excess: (u32::from(max) | 1).ilog2().saturating_sub(7),
        }
    }

    /// The same, with a network to correct its predictions.
    pub(super) fn with_network(mut self, net: Option<&LosslessNet>) -> Self {
        self.network = net.map(Network::new);
        self
    }

    /// Whether samples farther away are looked at.
    #[inline(always)]
    pub(super) fn looks_far(&self) -> bool {
        #[cfg(feature = "encoder")]
        if self.record.is_some() {
            return true;
        }
        self.network.is_some()
    }

    pub(super) fn open_row(&mut self) {
        self.errors.open_row();
    }

    pub(super) fn close_row(&mut self) {
        self.errors.close_row();
    }

    /// A sample that was coded by other means.
    #[inline(always)]
    pub(super) fn skip(&mut self, x: usize) {
        self.errors.set(x, SampleErrors::default());
    }

    /// Codes the sample of column `x`. `before` is the error of the plane before at this place, if there is one. Also
    /// returns the error of this prediction.
    #[inline(always)]
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        taps: &Taps,
        before: Option<i32>,
        x: usize,
        value: u16,
    ) -> (u16, i32) {
        let mut predictions = self.predict(taps, x);
        if let Some(view) = self.view(taps, &predictions, before, x) {
            self.correct(&mut predictions, &view, value);
        }
        let (expected, contexts) = self.contexts(taps, &predictions, before, x);
        let mut deciding = Deciding {
            coder,
            model: &mut self.decisions,
            contexts,
        };
        let value = expected.code(&mut deciding, value);
        self.learn(taps, &predictions, expected.scale, x, value);
        let error = (i32::from(value) << FRACTION) - predictions.blend;
        (value, error)
    }

    /// What a network, or whoever learns one, sees.
    #[inline(always)]
    fn view(
        &self,
        taps: &Taps,
        predictions: &Predictions,
        before: Option<i32>,
        x: usize,
    ) -> Option<View> {
        let known = Known {
            taps,
            squares: [predictions.squares[0], predictions.squares[1]],
            blend: predictions.blend,
            before,
            excess: self.excess,
        };
        (self.looks_far()).then(|| View::new(&known, &self.errors, x))
    }

    /// Lets the network correct a blend of predictions; records what there is to learn about `value`.
    #[inline(always)]
    fn correct(&mut self, predictions: &mut Predictions, view: &View, value: u16) {
        #[cfg(feature = "encoder")]
        if let Some(record) = &mut self.record {
            let error = (i32::from(value) << FRACTION) - predictions.blend;
            record.push(Example::new(view, error));
        }
        #[cfg(not(feature = "encoder"))]
        let _known_to_writers_only = value;
        if let Some(network) = &self.network {
            let Expectation { lift, eighths } = network.expect(view);
            predictions.blend = (predictions.raw + lift).clamp(0, self.max << FRACTION);
            predictions.expected = Some(eighths);
        }
    }

    /// The least-squares predictions, and their mean weighted by one over their squared recent errors.
    #[inline(always)]
    fn predict(&self, taps: &Taps, x: usize) -> Predictions {
        let mut predictions = Predictions {
            squares: [0; MAX_SQUARES],
            blend: 0,
            raw: 0,
            expected: None,
        };
        let around = self.errors.around(x);
        let (mut sum, mut total) = (0i64, 0i64);
        for (i, (memory, groups)) in self.squares.iter().enumerate() {
            let lift = groups[x >> memory.columns].predict(&taps.regressors);
            let shift = WEIGHT_BITS - FRACTION;
            let lift = (lift + (1 << (shift - 1))) >> shift;
            let (low, high) = (-(self.max << FRACTION), self.max << (FRACTION + 1));
            let prediction =
                (i64::from(taps.mean << FRACTION) + lift).clamp(low.into(), high.into());
            predictions.squares[i % MAX_SQUARES] = prediction as i32;
            let errors: u32 = around
                .iter()
                .map(|errors| errors.squares[i % MAX_SQUARES])
                .sum();
            let error = u64::from((errors >> self.excess) + 4);
            let weight = ((1 << 40) / (error * error)) as i64 + 1;
            sum += weight * prediction;
            total += weight;
        }
        predictions.raw = ((sum / total) as i32).clamp(0, self.max << FRACTION);
        predictions.blend = predictions.raw;
        predictions
    }

    #[inline(always)]
    fn contexts(
        &self,
        taps: &Taps,
        predictions: &Predictions,
        before: Option<i32>,
        x: usize,
    ) -> (Expected, Contexts) {
        let around = self.errors.around(x);
        let [west, north, north_east, north_west, ..] = around;
        let mut eighths = west.signed.unsigned_abs() + north.signed.unsigned_abs();
        for errors in around {
            eighths += errors.signed.unsigned_abs();
        }
        let eighths = match (predictions.expected, before) {
            (Some(expected), _) => expected,
            (None, None) => eighths,
            (None, Some(error)) => (eighths * 5 + error.unsigned_abs() * 24) >> 3,
        };
        let scale = scale_of(eighths >> 3);
        let blend = predictions.blend;
        let offset = |prediction: i32| signed_level((prediction - blend) >> scale);
        let all = half_octaves(eighths) as i32;
        let relative = |size: u32| (half_octaves(size) as i32 - all + 5).clamp(0, 5) as usize;
        let fraction = (blend >> (FRACTION - 2)) as usize & 3;
        let level = quarter_octaves(eighths >> 1).min(63) as usize;

        let mut cells = [0; INPUTS];
        cells[0] = level * 4 + fraction;
        for i in 0..SMALL {
            let recent = west.small[i] + north.small[i] + north_east.small[i];
            cells[1 + i] = offset(taps.small[i] << FRACTION) * RELATIVE + relative(recent << 2);
        }
        let recent = west.squares[0] + north.squares[0] + north_east.squares[0];
        cells[4] = offset(predictions.squares[0]) * RELATIVE + relative(recent >> 2);
        let third = before.unwrap_or(north_west.signed);
        let signed = |error: i32| signed_level((2 * error) >> scale);
        let pair = signed(third) * SIGNED_LEVELS + signed((west.signed + north.signed) >> 1);
        cells[5] = pair * 4 + fraction;
        let slope = relative_slope(taps, all);
        cells[6] = texture(taps, blend >> FRACTION) * RELATIVE + slope / 2;
        cells[7] = ((blend >> (FRACTION + self.excess)) as usize).min(255);

        let row = (scale as usize).min(SCALES - 1);
        for (cell, start) in cells.iter_mut().zip(STARTS) {
            *cell = start + *cell * SCALES + row;
        }
        let expected = Expected {
            prediction: blend,
            scale,
            max: self.max,
        };
        let steep = (level / 2).min(31) + 32 * usize::from(slope > 5);
        let mixers = [row, steep];
        (expected, Contexts { cells, mixers })
    }

    #[inline(always)]
    fn learn(&mut self, taps: &Taps, predictions: &Predictions, scale: u32, x: usize, value: u16) {
        let value = i32::from(value);
        let mut short = [0; TAPS];
        for (short, regressor) in short.iter_mut().zip(&taps.regressors) {
            *short = regressor >> self.excess;
        }
        let fade = scale.saturating_sub(self.excess).min(MAX_FADE);
        let lesson = Lesson::new(short, fade);
        let mut errors = SampleErrors {
            signed: (value << FRACTION) - predictions.blend,
            raw: (value << FRACTION) - predictions.raw,
            small: [0; SMALL],
            squares: [0; MAX_SQUARES],
        };
        for (error, small) in errors.small.iter_mut().zip(&taps.small) {
            *error = (value - small).unsigned_abs();
        }
        for (i, (memory, groups)) in self.squares.iter_mut().enumerate() {
            let error = (value << FRACTION) - predictions.squares[i % MAX_SQUARES];
            let predictor = &mut groups[x >> memory.columns];
            predictor.learn(&lesson, error >> self.excess, memory.samples);
            predictor.descend(self.steps);
            errors.squares[i % MAX_SQUARES] = error.unsigned_abs();
        }
        self.errors.set(x, errors);
    }
}

#[cfg(feature = "encoder")]
impl PlaneModel {
    /// The same, recording what a network could learn from.
    pub(super) fn recording(mut self) -> Self {
        self.record = Some(Vec::new());
        self
    }

    pub(super) fn into_record(self) -> Vec<Example> {
        self.record.unwrap_or_default()
    }
}

/// Which neighbours lie above the prediction.
#[inline(always)]
fn texture(taps: &Taps, prediction: i32) -> usize {
    let [west, north, north_west, north_east, west2, north2] = taps.near;
    let seen = [
        west,
        north,
        north_west,
        north_east,
        2 * west - west2,
        2 * north - north2,
    ];
    (seen.iter().enumerate()).fold(0, |bits, (i, &value)| {
        bits | usize::from(value > prediction) << i
    })
}

/// How steep the neighbourhood is beside the usual error, 0 to 11.
#[inline(always)]
fn relative_slope(taps: &Taps, all: i32) -> usize {
    let [west, north, north_west, north_east, ..] = taps.near;
    let slope = west.abs_diff(north_west) + north.abs_diff(north_west) + north.abs_diff(north_east);
    (half_octaves(slope << FRACTION) as i32 - all + 9).clamp(0, 11) as usize
}

impl<C: Coder> Decisions for Deciding<'_, C> {
    #[inline(always)]
    fn node(&mut self, node: usize, bit: bool) -> bool {
        let node = node % NODES;
        let model = &mut *self.model;
        let rows = &self.contexts.cells;
        let mut opinions = [0; INPUTS];
        for (opinion, &row) in opinions.iter_mut().zip(rows) {
            *opinion = model.cells[row][node].opinion();
        }
        let [first, second] = self.contexts.mixers;
        let (first, second) = (first * NODES + node, second * NODES + node);
        let by_scale = model.mixers[0].mix(first, &opinions);
        let by_level = model.mixers[1].mix(second, &opinions);
        let one = squash((by_scale.logit + by_level.logit) >> 1);
        let bit = self.coder.code(bit, one);
        model.mixers[0].update(first, &opinions, by_scale.one, bit);
        model.mixers[1].update(second, &opinions, by_level.one, bit);
        for &row in rows {
            model.cells[row][node].update(bit, CELL_LIMIT);
        }
        bit
    }

    #[inline(always)]
    fn low(&mut self, context: usize, bit: bool) -> bool {
        let cell = &mut self.model.low[context];
        let bit = self.coder.code(bit, cell.one());
        cell.update(bit, CELL_LIMIT);
        bit
    }
}

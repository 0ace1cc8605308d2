//! Samples of a plane, coded around their prediction (`spec/lossless.md`, "Prediction" and "Contexts").

use super::coder::Coder;
use super::decisions::{
    Adding, ContextModel, Contexts, DecisionModel, INPUTS, Mixing, RELATIVE, SCALES,
};
use super::errors::{ErrorRows, MAX_SQUARES, SampleErrors};
use super::least_squares::{LeastSquares, Lesson, MAX_FADE, SHORT_BITS, TAPS};
use super::level::{Level, Memory};
use super::network::{Expectation, Known, Network, View};
use super::residual::{
    Expected, FRACTION, SIGNED_LEVELS, half_octaves, quarter_octaves, scale_of, signed_level,
};
use super::taps::{SMALL, Taps};
#[cfg(feature = "encoder")]
use super::training::Example;
use crate::simd::PairProducts;
use tessera_dict::LosslessNet;

/// Everything that adapts in one plane.
#[derive(Debug)]
pub(super) struct PlaneModel<P> {
    simd: P,
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

impl<P: PairProducts> PlaneModel<P> {
    /// For samples from 0 to `max`.
    pub(super) fn new(simd: P, width: usize, max: u16, level: Level) -> Self {
        let squares = level.memories().iter().map(|&memory| {
            let groups = ((width - 1) >> memory.columns) + 1;
            (memory, vec![LeastSquares::new(); groups])
        });
        Self {
            simd,
            squares: squares.collect(),
            steps: level.steps(),
            decisions: DecisionModel::new(level),
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
        let low = &mut self.decisions.low;
        let value = match &mut self.decisions.contexts {
            ContextModel::Added(odds) => {
                let mut adding = Adding::new(self.simd, coder, (odds, low), &contexts);
                expected.code(&mut adding, value)
            }
            ContextModel::Mixed(model) => {
                let mut mixing = Mixing::new(coder, (model, low), &contexts);
                expected.code(&mut mixing, value)
            }
        };
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

    /// Regressors of at most eight bits and a sign.
    #[inline(always)]
    fn short(&self, taps: &Taps) -> [i16; TAPS] {
        let mut short = [0; TAPS];
        for (short, regressor) in short.iter_mut().zip(&taps.regressors) {
            *short = (regressor >> self.excess) as i16;
        }
        short
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
        let short = self.short(taps);
        let (mut sum, mut total) = (0i64, 0i64);
        for (i, (memory, groups)) in self.squares.iter().enumerate() {
            let predictor = &groups[x >> memory.columns];
            let shift = SHORT_BITS - FRACTION;
            let lift = if self.excess == 0 {
                i64::from((predictor.predict(self.simd, &short) + (1 << (shift - 1))) >> shift)
            } else {
                (predictor.predict_deep(&taps.regressors) + (1 << (shift - 1))) >> shift
            };
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

        let mut numbers = [0; INPUTS];
        numbers[0] = level * 4 + fraction;
        for i in 0..SMALL {
            let recent = west.small[i] + north.small[i] + north_east.small[i];
            numbers[1 + i] = offset(taps.small[i] << FRACTION) * RELATIVE + relative(recent << 2);
        }
        let recent = west.squares[0] + north.squares[0] + north_east.squares[0];
        numbers[4] = offset(predictions.squares[0]) * RELATIVE + relative(recent >> 2);
        let third = before.unwrap_or(north_west.signed);
        let signed = |error: i32| signed_level((2 * error) >> scale);
        let pair = signed(third) * SIGNED_LEVELS + signed((west.signed + north.signed) >> 1);
        numbers[5] = pair * 4 + fraction;
        let slope = relative_slope(taps, all);
        numbers[6] = texture(taps, blend >> FRACTION) * RELATIVE + slope / 2;
        numbers[7] = ((blend >> (FRACTION + self.excess)) as usize).min(255);

        let expected = Expected {
            prediction: blend,
            scale,
            max: self.max,
        };
        let contexts = Contexts {
            numbers,
            scale: (scale as usize).min(SCALES - 1),
            steep: (level / 2).min(31) + 32 * usize::from(slope > 5),
        };
        (expected, contexts)
    }

    #[inline(always)]
    fn learn(&mut self, taps: &Taps, predictions: &Predictions, scale: u32, x: usize, value: u16) {
        let value = i32::from(value);
        let short = self.short(taps);
        let fade = scale.saturating_sub(self.excess).min(MAX_FADE);
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
            let lesson = Lesson::new(&short, error >> self.excess, fade);
            predictor.learn(self.simd, &lesson, memory.pairs, self.steps);
            errors.squares[i % MAX_SQUARES] = error.unsigned_abs();
        }
        self.errors.set(x, errors);
    }
}

#[cfg(feature = "encoder")]
impl<P: PairProducts> PlaneModel<P> {
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

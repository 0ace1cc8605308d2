//! `lossless.md`, "Prediction and contexts".

use super::cells::Cell;
use super::least_squares::{self, Kind, Predictor};
use super::mixing::{self, Mixer};
use super::neighbours::{Around, Sources};
use super::network;
use super::odds::{self, Share};
use crate::dictionary::Network;
use crate::notation::bits;
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

pub(super) const NODES: usize = 31;
const CONTEXTS: [usize; 8] = [256, 66, 66, 66, 66, 484, 384, 256];

/// Scales that shares tell apart.
const SHARE_SCALES: [usize; 8] = [1, 8, 8, 8, 1, 1, 1, 1];
const RATE: u32 = 12;
const START: i32 = 19660;

/// What the decisions hang on.
enum Decisions {
    Added(Vec<Vec<Share>>),
    Mixed(Vec<Vec<Cell>>, [Mixer; 2]),
}

impl Decisions {
    fn new(level: usize) -> Self {
        if level < 2 {
            let table = |contexts: usize| vec![Share::new(); contexts * NODES];
            let mut tables: Vec<Vec<Share>> = (CONTEXTS.iter().zip(SHARE_SCALES))
                .map(|(contexts, scales)| table(contexts * scales))
                .collect();
            for (place, share) in tables[7].iter_mut().enumerate() {
                *share = Share::first(place % NODES);
            }
            Self::Added(tables)
        } else {
            let table = |contexts| vec![Cell::NEW; contexts * 8 * NODES];
            let mixers = [8, 64].map(|sets| Mixer::new(NODES * sets, 8, RATE, START));
            Self::Mixed(CONTEXTS.map(table).to_vec(), mixers)
        }
    }
}

/// Everything that is learned of a plane.
pub(super) struct PlaneModel<'a> {
    network: Option<&'a Network>,
    /// Errors of the prediction before the network.
    pub(super) raw_errors: Plane,
    pub(super) max: i32,
    pub(super) excess: u32,
    kinds: &'static [Kind],
    steps: usize,
    /// By kind, then by shared columns.
    predictors: Vec<Vec<Predictor>>,
    /// Of the final prediction, signed.
    pub(super) errors: Plane,
    small_errors: [Plane; 3],
    pub(super) predictor_errors: Vec<Plane>,
    decisions: Decisions,
    pub(super) low: Vec<Cell>,
}

/// The prediction of a sample and its contexts.
pub(super) struct Context {
    regressors: [i32; 16],
    small: [i32; 3],
    predictions: Vec<i32>,
    /// The prediction before the network.
    blend: i32,
    /// The final prediction, 4 fractional bits.
    pub(super) m: i32,
    /// The scale.
    pub(super) k: u32,
    contexts: [usize; 8],
    /// The set of the second mixer, but for the node.
    set: usize,
}

impl<'a> PlaneModel<'a> {
    pub(super) fn new(
        width: usize,
        height: usize,
        max: i32,
        level: usize,
        network: Option<&'a Network>,
    ) -> Self {
        let (kinds, steps) = least_squares::level(level);
        let shared = |&(columns, _): &Kind| vec![Predictor::new(); ((width - 1) >> columns) + 1];
        let plane = Plane::new(width, height);
        Self {
            network,
            raw_errors: plane.clone(),
            max,
            excess: bits(max as u64).saturating_sub(8),
            kinds,
            steps,
            predictors: kinds.iter().map(shared).collect(),
            small_errors: [plane.clone(), plane.clone(), plane.clone()],
            predictor_errors: vec![plane.clone(); kinds.len()],
            errors: plane,
            decisions: Decisions::new(level),
            // Sizes stay below 18, whatever the depth.
            low: vec![Cell::NEW; 8 * 18],
        }
    }

    /// What is known of a sample before it is read; `before` is the final error of the colour plane before.
    pub(super) fn context(
        &self,
        sources: Sources<'_>,
        before: Option<i32>,
        x: usize,
        y: usize,
    ) -> Context {
        let regressors = sources.regressors(x, y);
        let small = sources.small(x, y);
        let around = Around::new(sources.own, x, y);
        let predict = |(predictors, kind): (&Vec<Predictor>, &Kind)| {
            predictors[x >> kind.0].predict(&regressors, around.mean(), self.max)
        };
        let predictions: Vec<i32> = self
            .predictors
            .iter()
            .zip(self.kinds)
            .map(predict)
            .collect();
        let blend = self.final_prediction(&predictions, x, y);
        let errors = Around::new(&self.errors, x, y);
        let (m, a) = match self.network {
            None => (blend, activity(&errors, before)),
            Some(network) => {
                let seen = network::Seen {
                    sources: &sources,
                    regressors: &regressors,
                    small: &small,
                    predictions: &predictions,
                    blend,
                    before,
                    x,
                    y,
                };
                self.corrected(network, &seen)
            }
        };
        let t = ((a >> 3) * 3) >> 6;
        let k = bits(t as u64).saturating_sub(1);
        let seen = Seen {
            m,
            k,
            a,
            around: &around,
            errors: &errors,
        };
        let l = quarter(a >> 1).min(63) as usize;
        let slope = seen.slope();
        Context {
            set: (l / 2).min(31) + 32 * usize::from(slope > 5),
            contexts: self.contexts(&seen, &small, predictions[0], before, x, y),
            regressors,
            small,
            predictions,
            blend,
            m,
            k,
        }
    }

    /// The mean of the predictions, weighted by how well each did around.
    fn final_prediction(&self, predictions: &[i32], x: usize, y: usize) -> i32 {
        let (mut products, mut weights) = (0, 0);
        for (&prediction, errors) in predictions.iter().zip(&self.predictor_errors) {
            let e = Around::new(errors, x, y);
            let sum = i64::from(e.w)
                + i64::from(e.n)
                + i64::from(e.ne)
                + i64::from(e.nw)
                + i64::from(e.ww)
                + i64::from(e.nn);
            let e = (sum >> self.excess) + 4;
            let weight = (1 << 40) / (e * e) + 1;
            products += weight * i64::from(prediction);
            weights += weight;
        }
        (products / weights).clamp(0, 16 * i64::from(self.max)) as i32
    }

    fn contexts(
        &self,
        seen: &Seen<'_>,
        small: &[i32; 3],
        first: i32,
        before: Option<i32>,
        x: usize,
        y: usize,
    ) -> [usize; 8] {
        let near = |errors: &Plane| {
            let e = Around::new(errors, x, y);
            i64::from(e.w) + i64::from(e.n) + i64::from(e.ne)
        };
        let fr = ((seen.m >> 2) & 3) as usize;
        let l = quarter(seen.a >> 1).min(63) as usize;
        let of_small =
            |i: usize| 6 * seen.offset(16 * small[i]) + seen.own(4 * near(&self.small_errors[i]));
        let e = seen.errors;
        let u = level(i64::from(2 * before.unwrap_or(e.nw)) >> seen.k);
        let v = level(i64::from(2 * ((e.w + e.n) >> 1)) >> seen.k);
        [
            4 * l + fr,
            of_small(0),
            of_small(1),
            of_small(2),
            6 * seen.offset(first) + seen.own(near(&self.predictor_errors[0]) >> 2),
            4 * (11 * u + v) + fr,
            6 * seen.texture() + seen.slope() as usize / 2,
            (seen.m >> (4 + self.excess)).min(255) as usize,
        ]
    }

    /// Reads the decision of a node.
    pub(super) fn decide(
        &mut self,
        coder: &mut RangeCoder<'_>,
        context: &Context,
        node: usize,
    ) -> bool {
        let k = context.k.min(7) as usize;
        match &mut self.decisions {
            Decisions::Added(tables) => {
                let mut places = context.contexts;
                for (place, scales) in places.iter_mut().zip(SHARE_SCALES) {
                    *place = (*place * scales + k.min(scales - 1)) * NODES + node;
                }
                odds::decide(coder, tables, &places)
            }
            Decisions::Mixed(tables, mixers) => {
                let cells = context.contexts.map(|c| (c * 8 + k) * NODES + node);
                let sets = [node * 8 + k, node * 64 + context.set];
                mixing::decide(coder, tables, &cells, mixers, &sets)
            }
        }
    }

    /// After a sample was read.
    pub(super) fn learn(&mut self, context: &Context, value: i32, x: usize, y: usize) {
        self.errors.set(x, y, 16 * value - context.m);
        self.raw_errors.set(x, y, 16 * value - context.blend);
        for (errors, small) in self.small_errors.iter_mut().zip(context.small) {
            errors.set(x, y, (value - small).abs());
        }
        for (i, &(columns, m)) in self.kinds.iter().enumerate() {
            let error = 16 * value - context.predictions[i];
            self.predictor_errors[i].set(x, y, error.abs());
            let predictor = &mut self.predictors[i][x >> columns];
            predictor.learn(
                &context.regressors,
                error,
                context.k,
                m,
                self.excess,
                self.steps,
            );
        }
    }
}

/// `a`: how large the final errors around are.
fn activity(errors: &Around, before: Option<i32>) -> i64 {
    let a = errors.weighted_sizes();
    match before {
        Some(b) => (5 * a + 24 * i64::from(b.abs())) >> 3,
        None => a,
    }
}

/// What several contexts are made of.
struct Seen<'a> {
    m: i32,
    k: u32,
    a: i64,
    around: &'a Around,
    errors: &'a Around,
}

impl Seen<'_> {
    fn offset(&self, prediction: i32) -> usize {
        level(i64::from(prediction - self.m) >> self.k)
    }

    fn own(&self, v: i64) -> usize {
        (half(v) - half(self.a) + 5).clamp(0, 5) as usize
    }

    fn texture(&self) -> usize {
        let Around {
            w,
            n,
            nw,
            ne,
            ww,
            nn,
        } = *self.around;
        let above = [w, n, nw, ne, 2 * w - ww, 2 * n - nn].map(|v| usize::from(v > self.m >> 4));
        above.iter().rev().fold(0, |bits, bit| 2 * bits + bit)
    }

    fn slope(&self) -> i32 {
        let Around { w, n, nw, ne, .. } = *self.around;
        let steps = (w - nw).abs() + (n - nw).abs() + (n - ne).abs();
        (half(16 * i64::from(steps)) - half(self.a) + 9).clamp(0, 11)
    }
}

pub(super) fn half(v: i64) -> i32 {
    let l = bits(v as u64 + 1) as i32 - 1;
    2 * l + (((v + 1) << 1 >> l) & 1) as i32
}

pub(super) fn quarter(v: i64) -> i32 {
    let l = bits(v as u64 + 4) as i32 - 1;
    4 * (l - 2) + (((v + 4) << 2 >> l) & 3) as i32
}

fn level(d: i64) -> usize {
    let s = bits(d.unsigned_abs() >> 2).min(5) as usize;
    if d < 0 { 5 - s } else { 5 + s }
}

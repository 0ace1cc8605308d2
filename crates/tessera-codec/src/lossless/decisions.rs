//! What the decisions about a sample learn (`spec/lossless.md`, "Contexts").

use super::cell::Cell;
use super::coder::Coder;
use super::level::Level;
use super::logistic::squash;
use super::mixer::Mixer;
use super::odds::{FIRST_ODDS, Odds, SHARES};
use super::residual::{Decisions, LOW_CONTEXTS, NODES, SIGNED_LEVELS};
use crate::simd::PairProducts;

/// Opinions on every decision.
pub(super) const INPUTS: usize = SHARES;
/// Scales that have cells of their own.
pub(super) const SCALES: usize = 8;
/// Levels of a predictor's own error beside that of all.
pub(super) const RELATIVE: usize = 6;
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
/// Scales that shares tell apart.
const SHARE_SCALES: [usize; INPUTS] = [1, SCALES, SCALES, SCALES, 1, 1, 1, 1];
/// Where the shares of every context start.
const SHARE_STARTS: [usize; INPUTS + 1] = starts(SHARE_SCALES);
/// Where the cells of every opinion start.
const CELL_STARTS: [usize; INPUTS + 1] = starts([SCALES; INPUTS]);

const fn starts(scales: [usize; INPUTS]) -> [usize; INPUTS + 1] {
    let mut starts = [0; INPUTS + 1];
    let mut i = 0;
    while i < INPUTS {
        starts[i + 1] = starts[i] + CONTEXTS[i] * scales[i];
        i += 1;
    }
    starts
}

/// Log2 of the updates after which a mixer's weights move by their error times opinion.
const MIXING_RATE: u32 = 12;
/// Updates after which cells adapt no slower.
const CELL_LIMIT: u32 = 250;

/// What the decisions of a sample hang on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Contexts {
    /// The context of every opinion.
    pub(super) numbers: [usize; INPUTS],
    /// The scale, below [`SCALES`].
    pub(super) scale: usize,
    /// What a mixer chooses its weights by, below 64.
    pub(super) steep: usize,
}

/// The adaptive part of decisions.
#[derive(Debug)]
pub(super) struct DecisionModel {
    pub(super) contexts: ContextModel,
    pub(super) low: Vec<Cell>,
}

/// That of decisions with full context.
#[derive(Debug)]
pub(super) enum ContextModel {
    /// Fast: log-odds are sums.
    Added(Odds),
    Mixed(Mixed),
}

/// Small: opinions of cells, mixed by weights.
#[derive(Debug)]
pub(super) struct Mixed {
    cells: Vec<[Cell; NODES]>,
    mixers: [Mixer<INPUTS>; 2],
}

impl DecisionModel {
    pub(super) fn new(level: Level) -> Self {
        let start = (1 << 16) * 3 / 10;
        let contexts = match level {
            Level::One | Level::Two => ContextModel::Added(Odds::new(first_shares())),
            Level::Four | Level::Learned => ContextModel::Mixed(Mixed {
                cells: vec![[Cell::EVEN; NODES]; CELL_STARTS[INPUTS]],
                mixers: [SCALES, 64].map(|sets| Mixer::new(sets * NODES, start, MIXING_RATE)),
            }),
        };
        Self {
            contexts,
            low: vec![Cell::EVEN; LOW_CONTEXTS],
        }
    }
}

/// What shares start with: nothing, but for those of the last context.
fn first_shares() -> impl Iterator<Item = i16> {
    let last = SHARE_STARTS[INPUTS - 1];
    let nothing = std::iter::repeat_n(0, last * NODES);
    let rows = std::iter::repeat_n(FIRST_ODDS, SHARE_STARTS[INPUTS] - last);
    nothing.chain(rows.flatten())
}

/// Codes a bit inside a bucket.
#[inline(always)]
fn code_low(coder: &mut impl Coder, low: &mut [Cell], context: usize, bit: bool) -> bool {
    let cell = &mut low[context];
    let bit = coder.code(bit, cell.one());
    cell.update(bit, CELL_LIMIT);
    bit
}

/// One sample's decisions on their way, with log-odds that are sums.
pub(super) struct Adding<'a, P, C> {
    simd: P,
    coder: &'a mut C,
    odds: &'a mut Odds,
    low: &'a mut [Cell],
    /// The shares of the first node.
    places: [usize; SHARES],
}

impl<'a, P, C> Adding<'a, P, C> {
    #[inline(always)]
    pub(super) fn new(
        simd: P,
        coder: &'a mut C,
        (odds, low): (&'a mut Odds, &'a mut [Cell]),
        contexts: &Contexts,
    ) -> Self {
        let mut places = contexts.numbers;
        for (i, place) in places.iter_mut().enumerate() {
            let scale = if SHARE_SCALES[i] == 1 {
                0
            } else {
                contexts.scale
            };
            *place = (SHARE_STARTS[i] + *place * SHARE_SCALES[i] + scale) * NODES;
        }
        Self {
            simd,
            coder,
            odds,
            low,
            places,
        }
    }
}

impl<P: PairProducts, C: Coder> Decisions for Adding<'_, P, C> {
    #[inline(always)]
    fn node(&mut self, node: usize, bit: bool) -> bool {
        let mut places = self.places;
        for place in &mut places {
            *place += node;
        }
        self.odds.code(self.simd, self.coder, &places, bit)
    }

    #[inline(always)]
    fn low(&mut self, context: usize, bit: bool) -> bool {
        code_low(self.coder, self.low, context, bit)
    }
}

/// The same with opinions that are mixed.
pub(super) struct Mixing<'a, C> {
    coder: &'a mut C,
    model: &'a mut Mixed,
    low: &'a mut [Cell],
    rows: [usize; INPUTS],
    sets: [usize; 2],
}

impl<'a, C> Mixing<'a, C> {
    #[inline(always)]
    pub(super) fn new(
        coder: &'a mut C,
        (model, low): (&'a mut Mixed, &'a mut [Cell]),
        contexts: &Contexts,
    ) -> Self {
        let mut rows = contexts.numbers;
        for (row, start) in rows.iter_mut().zip(CELL_STARTS) {
            *row = start + *row * SCALES + contexts.scale;
        }
        Self {
            coder,
            model,
            low,
            rows,
            sets: [contexts.scale, contexts.steep],
        }
    }
}

impl<C: Coder> Decisions for Mixing<'_, C> {
    #[inline(always)]
    fn node(&mut self, node: usize, bit: bool) -> bool {
        let node = node % NODES;
        let model = &mut *self.model;
        let mut opinions = [0; INPUTS];
        for (opinion, &row) in opinions.iter_mut().zip(&self.rows) {
            *opinion = model.cells[row][node].opinion();
        }
        let [first, second] = self.sets;
        let (first, second) = (first * NODES + node, second * NODES + node);
        let by_scale = model.mixers[0].mix(first, &opinions);
        let by_level = model.mixers[1].mix(second, &opinions);
        let one = squash((by_scale.logit + by_level.logit) >> 1);
        let bit = self.coder.code(bit, one);
        model.mixers[0].update(first, &opinions, by_scale.one, bit);
        model.mixers[1].update(second, &opinions, by_level.one, bit);
        for &row in &self.rows {
            model.cells[row][node].update(bit, CELL_LIMIT);
        }
        bit
    }

    #[inline(always)]
    fn low(&mut self, context: usize, bit: bool) -> bool {
        code_low(self.coder, self.low, context, bit)
    }
}

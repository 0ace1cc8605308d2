//! Adaptive probabilities, taken as they are or mixed in the logistic domain (`spec/bitstream.md`, "Adaptive decisions").

use crate::tile::entropy::logistic::{LOGIT_BITS, STRETCH, STRETCH_BITS, squash};
pub(crate) use tessera_dict::PlaneKind;
use tessera_dict::Prior;
use tessera_dict::layout::{BasisTotals, ELEMENTS, Element, MAX_INPUTS};
use tessera_dict::prior::PriorCell;

/// The cells and weight vectors one decision uses, relative to the tables of its element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) cells: [u32; MAX_INPUTS],
    pub(crate) selectors: [u32; 2],
}

impl Contexts {
    /// Of an element whose decisions hang on one cell.
    #[inline(always)]
    pub(crate) fn single(cell: u32) -> Self {
        Self::new([cell], [0; 2])
    }

    pub(crate) fn new<const N: usize>(cells: [u32; N], selectors: [u32; 2]) -> Self {
        let mut all = [0; MAX_INPUTS];
        all[..N].copy_from_slice(&cells);
        Self {
            cells: all,
            selectors,
        }
    }
}

/// Fractional bits of mixing weights.
const WEIGHT_BITS: u32 = 14;
/// Keeps the sum of eight products of weight and stretch inside 32 bits.
const WEIGHT_MAX: i32 = (8 << WEIGHT_BITS) - 1;
/// Learning rate of the weights, in units of 2^-20 per (16-bit error x 8-bit stretch).
const LEARNING_RATE: i32 = 10;
const COUNT_MAX: u32 = 255;

/// What the number of times a cell was seen says about it.
#[derive(Clone, Copy)]
struct AdaptState {
    count: u32,
    /// Confidence n / (n + 1/2), 8 fractional bits.
    confidence: u16,
    /// Adaptation rate 1 / (n + 1.6), at least 1 / 250, 16 fractional bits.
    rate: u16,
}

impl AdaptState {
    const fn of(count: u32) -> Self {
        Self {
            count,
            confidence: (256 * 2 * count / (2 * count + 1)) as u16,
            rate: if count < 249 {
                (655_360 / (10 * count + 16)) as u16
            } else {
                262
            },
        }
    }
}

/// The experience of a cell by its count.
static STATES: [AdaptState; 256] = states(0);
/// The experience of a cell after one more observation, by its count before.
static NEXT_STATE: [AdaptState; 256] = states(1);

const fn states(more: u32) -> [AdaptState; 256] {
    let mut table = [AdaptState::of(COUNT_MAX); 256];
    let mut count = 0;
    while count + more < COUNT_MAX {
        table[count as usize] = AdaptState::of(count + more);
        count += 1;
    }
    table
}

/// An adaptive probability, and what follows from it: one line of the cache serves the prediction and the update.
#[derive(Clone, Copy, Debug)]
struct Cell {
    /// Probability of a one in the upper 22 bits, observation count in the lower 10.
    state: u32,
    /// What the cell tells the mixer: its log-odds, less the fewer times it was seen.
    stretched: i16,
    /// How far the next observation moves the probability.
    rate: u16,
}

impl Cell {
    #[inline(always)]
    const fn new(prior: &PriorCell) -> Self {
        let (probability, odds) = STARTS[prior.log_odds as u8 as usize];
        let adapt_state = &STATES[prior.count as usize];
        Self {
            state: (probability as u32) << 16 | prior.count as u32,
            stretched: stretched(odds, adapt_state.confidence),
            rate: adapt_state.rate,
        }
    }

    /// Probability of a one, 16 bits, kept away from certainty.
    #[inline(always)]
    fn probability(&self) -> u32 {
        (self.state >> 16).clamp(32, 65504)
    }

    /// Takes in an observation; what the mixer is told stays as it was.
    #[inline(always)]
    fn learn(&mut self, bit: bool) -> &'static AdaptState {
        let probability = i64::from(self.state >> 10);
        let target = if bit { (1 << 22) - 1 } else { 0 };
        let step = ((target - probability) * i64::from(self.rate)) >> 16;
        let next = &NEXT_STATE[(self.state & COUNT_MAX) as usize];
        self.state = ((probability + step) as u32) << 10 | next.count;
        self.rate = next.rate;
        next
    }

    /// Takes in an observation as an input of the mixer.
    #[inline(always)]
    fn learn_mixed(&mut self, bit: bool) {
        let next = self.learn(bit);
        self.stretched = stretched(STRETCH[(self.state >> 20) as usize], next.confidence);
    }
}

/// The cell of a prior; more than half of them know nothing.
#[inline(always)]
fn starting_cell(prior: &PriorCell) -> Cell {
    const UNTRAINED: PriorCell = PriorCell {
        log_odds: 0,
        count: 0,
    };
    const BLANK: Cell = Cell::new(&UNTRAINED);
    if *prior == UNTRAINED {
        BLANK
    } else {
        Cell::new(prior)
    }
}

#[inline(always)]
const fn stretched(odds: i16, confidence: u16) -> i16 {
    ((odds as i32 * confidence as i32) >> 8) as i16
}

#[derive(Clone, Copy, Debug, Default)]
struct Tables {
    cells: [u32; MAX_INPUTS],
    weights: [u32; 2],
}

/// What the mixer thinks of the next bit, and what it needs to learn from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prediction {
    stretched_inputs: [i32; MAX_INPUTS],
    /// Log-odds by each weight vector alone.
    logits: [i32; 2],
    /// Probability of a one, 16 bits.
    pub(crate) one: u32,
}

/// Probability of 16 bits, and its log-odds as the mixer sees them, for every log-odds a dictionary can store (as a byte
/// without sign).
static STARTS: [(u16, i16); 256] = {
    let mut table = [(0, 0); 256];
    let mut key = 0;
    while key < 256 {
        let log_odds = key as u8 as i8 as i32;
        let probability = squash(log_odds << (LOGIT_BITS - 4));
        table[key] = (probability as u16, STRETCH[(probability >> 4) as usize]);
        key += 1;
    }
    table
};

/// All adaptive state of one plane kind.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    cells: Vec<Cell>,
    weights: Vec<[i32; MAX_INPUTS]>,
    tables: [Tables; ELEMENTS.len()],
}

impl Models {
    pub(crate) fn new(prior: &Prior, bases: BasisTotals) -> Self {
        Self {
            cells: prior.cells.iter().map(starting_cell).collect(),
            weights: prior.weights.clone(),
            tables: tables(bases),
        }
    }

    /// Models of a plane kind that the tile does not have.
    pub(crate) fn absent() -> Self {
        Self {
            cells: Vec::new(),
            weights: Vec::new(),
            tables: [Tables::default(); ELEMENTS.len()],
        }
    }

    #[inline(always)]
    pub(crate) fn predict(&self, element: Element, contexts: &Contexts) -> Prediction {
        let tables = &self.tables[element as usize];
        let mut stretched_inputs = [0; MAX_INPUTS];
        if element.inputs() == 1 {
            let cell = &self.cells[(tables.cells[0] + contexts.cells[0]) as usize];
            return Prediction {
                stretched_inputs,
                logits: [0; 2],
                one: cell.probability(),
            };
        }
        for (input, stretched) in stretched_inputs
            .iter_mut()
            .enumerate()
            .take(element.inputs())
        {
            let cell = (tables.cells[input] + contexts.cells[input]) as usize;
            *stretched = i32::from(self.cells[cell].stretched);
        }
        let mut logits = [0; 2];
        for (set, logit) in logits.iter_mut().enumerate() {
            let weights = &self.weights[(tables.weights[set] + contexts.selectors[set]) as usize];
            *logit = dot(weights, &stretched_inputs) >> (WEIGHT_BITS + STRETCH_BITS - LOGIT_BITS);
        }
        Prediction {
            stretched_inputs,
            logits,
            one: squash((logits[0] + logits[1]) >> 1),
        }
    }

    #[inline(always)]
    pub(crate) fn update(
        &mut self,
        element: Element,
        contexts: &Contexts,
        prediction: &Prediction,
        bit: bool,
    ) {
        let tables = &self.tables[element as usize];
        if element.inputs() == 1 {
            self.cells[(tables.cells[0] + contexts.cells[0]) as usize].learn(bit);
            return;
        }
        for input in 0..element.inputs() {
            self.cells[(tables.cells[input] + contexts.cells[input]) as usize].learn_mixed(bit);
        }
        for set in 0..2 {
            let error = (i32::from(bit) << 16) - squash(prediction.logits[set]) as i32;
            let weights =
                &mut self.weights[(tables.weights[set] + contexts.selectors[set]) as usize];
            for (weight, stretched) in weights.iter_mut().zip(&prediction.stretched_inputs) {
                let step = (((error * stretched) >> 2) * LEARNING_RATE + (1 << 17)) >> 18;
                *weight = (*weight + step).clamp(-WEIGHT_MAX, WEIGHT_MAX);
            }
        }
    }
}

#[inline(always)]
fn dot(weights: &[i32; MAX_INPUTS], stretched_inputs: &[i32; MAX_INPUTS]) -> i32 {
    let mut sum = 0;
    for input in 0..MAX_INPUTS {
        sum += weights[input] * stretched_inputs[input];
    }
    sum
}

fn tables(bases: BasisTotals) -> [Tables; ELEMENTS.len()] {
    let (mut cell, mut weight) = (0, 0);
    ELEMENTS.map(|element| {
        let layout = element.layout(bases);
        let mut cells = [0; MAX_INPUTS];
        for (input, &size) in layout.inputs.iter().enumerate() {
            cells[input] = cell;
            cell += size as u32;
        }
        let weights = layout.selectors.map(|size| {
            let first = weight;
            weight += size as u32;
            first
        });
        Tables { cells, weights }
    })
}

#[cfg(feature = "encoder")]
impl Models {
    pub(crate) fn is_absent(&self) -> bool {
        self.cells.is_empty()
    }

    /// Probability of a one, 16 bits, by one cell alone, as far from certainty as the coder can go.
    #[inline(always)]
    pub(crate) fn cell(&self, element: Element, input: usize, cell: u32) -> u32 {
        self.cells[(self.tables[element as usize].cells[input] + cell) as usize].probability()
    }

    /// [`Self::cell`] of the first cells of an element's first input.
    pub(crate) fn first_cells(&self, element: Element, count: usize) -> impl Iterator<Item = u32> {
        let first = self.tables[element as usize].cells[0] as usize;
        let cells = &self.cells[first..first + count];
        cells.iter().map(Cell::probability)
    }

    /// The present state as a prior.
    pub(crate) fn to_prior(&self) -> Prior {
        let cells = self
            .cells
            .iter()
            .map(|cell| PriorCell {
                log_odds: ((i32::from(STRETCH[(cell.state >> 20) as usize]) + 8) >> 4)
                    .clamp(-127, 127) as i8,
                count: (cell.state & COUNT_MAX) as u8,
            })
            .collect();
        Prior {
            cells,
            weights: self.weights.clone(),
        }
    }
}

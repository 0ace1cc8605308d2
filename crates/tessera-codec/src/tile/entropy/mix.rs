//! Adaptive probabilities, taken as they are or mixed in the logistic domain (`spec/bitstream.md`, "Adaptive decisions").

use crate::tile::entropy::logistic::{LOGIT_BITS, STRETCH, STRETCH_BITS, squash};
pub(crate) use tessera_dict::PlaneKind;
use tessera_dict::Prior;
use tessera_dict::layout::{BasisTotals, ELEMENTS, Element, MAX_INPUTS};
use tessera_dict::prior::PriorCell;

/// The cells one decision uses and the weights they are mixed by, relative to the tables of its element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) cells: [u32; MAX_INPUTS],
    pub(crate) vector: u32,
}

impl Contexts {
    /// Of an element whose decisions hang on one cell.
    #[inline(always)]
    pub(crate) fn single(cell: u32) -> Self {
        Self::new([cell], 0)
    }

    #[inline(always)]
    pub(crate) fn new<const N: usize>(cells: [u32; N], vector: u32) -> Self {
        let mut all = [0; MAX_INPUTS];
        all[..N].copy_from_slice(&cells);
        Self { cells: all, vector }
    }
}

/// Fractional bits of mixing weights.
const WEIGHT_BITS: u32 = 14;
/// Keeps the sum of four products of weight and stretch inside 32 bits.
const WEIGHT_MAX: i32 = (8 << WEIGHT_BITS) - 1;
/// Learning rate of the weights, in units of 2^-20 per (16-bit error x 8-bit stretch).
const LEARNING_RATE: i32 = 10;
const COUNT_MAX: u32 = 255;

/// What an observation does to a cell.
#[derive(Clone, Copy)]
struct Adaptation {
    /// How far it moves the probability: 1 / (n + 1.6), at least 1 / 250, with 16 fractional bits.
    rate: u16,
    /// How many were seen then.
    count: u16,
}

/// By the number of observations before.
static ADAPTATIONS: [Adaptation; COUNT_MAX as usize + 1] = {
    let last = Adaptation {
        rate: 262,
        count: COUNT_MAX as u16,
    };
    let mut table = [last; COUNT_MAX as usize + 1];
    let mut count = 0;
    while count < COUNT_MAX as usize {
        table[count].count = count as u16 + 1;
        if count < 249 {
            table[count].rate = (655_360 / (10 * count + 16)) as u16;
        }
        count += 1;
    }
    table
};

/// An adaptive probability of a one in the upper 22 bits, and the number of its observations in the lower 10.
#[derive(Clone, Copy, Debug)]
struct Cell(u32);

impl Cell {
    #[inline(always)]
    const fn new(prior: &PriorCell) -> Self {
        let probability = STARTS[prior.log_odds as u8 as usize];
        Self((probability as u32) << 16 | prior.count as u32)
    }

    /// Probability of a one, 16 bits, never zero.
    #[inline(always)]
    fn probability(self) -> u32 {
        self.0 >> 16 | 1
    }

    /// What the mixer is told: the log-odds.
    #[inline(always)]
    fn stretched(self) -> i32 {
        i32::from(STRETCH[(self.0 >> 20) as usize])
    }

    /// Takes in an observation.
    #[inline(always)]
    fn learn(&mut self, bit: bool) {
        let probability = i64::from(self.0 >> 10);
        let Adaptation { rate, count } = ADAPTATIONS[(self.0 & COUNT_MAX) as usize];
        let target = if bit { (1 << 22) - 1 } else { 0 };
        let step = ((target - probability) * i64::from(rate)) >> 16;
        self.0 = ((probability + step) as u32) << 10 | u32::from(count);
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Tables {
    cells: [u32; MAX_INPUTS],
    weights: u32,
}

/// What the models think of the next bit, and what they need to learn from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prediction {
    stretched_inputs: [i32; MAX_INPUTS],
    /// Probability of a one, 16 bits.
    pub(crate) one: u32,
}

/// Probability of 16 bits for every log-odds a dictionary can store (as a byte without sign).
static STARTS: [u16; 256] = {
    let mut table = [0; 256];
    let mut key = 0;
    while key < 256 {
        let log_odds = key as u8 as i8 as i32;
        table[key] = squash(log_odds << (LOGIT_BITS - 4)) as u16;
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
            cells: prior.cells.iter().map(Cell::new).collect(),
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

    /// Passes a decision through `code`, which is told the probability of a one, and learns from it.
    #[inline(always)]
    pub(crate) fn code(
        &mut self,
        element: Element,
        contexts: &Contexts,
        code: impl FnOnce(u32) -> bool,
    ) -> bool {
        if element.inputs() == 1 {
            let first = self.tables[element as usize].cells[0];
            let cell = &mut self.cells[(first + contexts.cells[0]) as usize];
            let bit = code(cell.probability());
            cell.learn(bit);
            return bit;
        }
        let prediction = self.predict(element, contexts);
        let bit = code(prediction.one);
        self.update(element, contexts, &prediction, bit);
        bit
    }

    #[inline(always)]
    pub(crate) fn predict(&self, element: Element, contexts: &Contexts) -> Prediction {
        let tables = &self.tables[element as usize];
        let mut stretched_inputs = [0; MAX_INPUTS];
        if element.inputs() == 1 {
            let cell = self.cells[(tables.cells[0] + contexts.cells[0]) as usize];
            return Prediction {
                stretched_inputs,
                one: cell.probability(),
            };
        }
        for (input, stretched) in stretched_inputs
            .iter_mut()
            .enumerate()
            .take(element.inputs())
        {
            let cell = (tables.cells[input] + contexts.cells[input]) as usize;
            *stretched = self.cells[cell].stretched();
        }
        let weights = &self.weights[(tables.weights + contexts.vector) as usize];
        let logit = dot(weights, &stretched_inputs) >> (WEIGHT_BITS + STRETCH_BITS - LOGIT_BITS);
        Prediction {
            stretched_inputs,
            one: squash(logit),
        }
    }

    /// Learns from a decision of an element with several inputs.
    #[inline(always)]
    fn update(
        &mut self,
        element: Element,
        contexts: &Contexts,
        prediction: &Prediction,
        bit: bool,
    ) {
        let tables = &self.tables[element as usize];
        for input in 0..element.inputs() {
            self.cells[(tables.cells[input] + contexts.cells[input]) as usize].learn(bit);
        }
        let error = (i32::from(bit) << 16) - prediction.one as i32;
        let weights = &mut self.weights[(tables.weights + contexts.vector) as usize];
        for (weight, stretched) in weights.iter_mut().zip(&prediction.stretched_inputs) {
            let step = (((error * stretched) >> 2) * LEARNING_RATE + (1 << 17)) >> 18;
            *weight = (*weight + step).clamp(-WEIGHT_MAX, WEIGHT_MAX);
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
        let weights = weight;
        weight += layout.vectors as u32;
        Tables { cells, weights }
    })
}

#[cfg(feature = "encoder")]
impl Models {
    pub(crate) fn is_absent(&self) -> bool {
        self.cells.is_empty()
    }

    /// Probability of a one, 16 bits, by one cell alone.
    #[inline(always)]
    pub(crate) fn cell(&self, element: Element, input: usize, cell: u32) -> u32 {
        self.cells[(self.tables[element as usize].cells[input] + cell) as usize].probability()
    }

    /// [`Self::cell`] of the first cells of an element's first input.
    pub(crate) fn first_cells(&self, element: Element, count: usize) -> impl Iterator<Item = u32> {
        let first = self.tables[element as usize].cells[0] as usize;
        let cells = &self.cells[first..first + count];
        cells.iter().map(|cell| cell.probability())
    }

    /// The present state as a prior.
    pub(crate) fn to_prior(&self) -> Prior {
        let cells = self
            .cells
            .iter()
            .map(|cell| PriorCell {
                log_odds: ((cell.stretched() + 8) >> 4).clamp(-127, 127) as i8,
                count: (cell.0 & COUNT_MAX) as u8,
            })
            .collect();
        Prior {
            cells,
            weights: self.weights.clone(),
        }
    }
}

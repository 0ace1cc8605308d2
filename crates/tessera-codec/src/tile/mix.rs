//! Adaptive probabilities mixed in the logistic domain (`spec/bitstream.md`, section "Mixing").

use super::logistic::{LOGIT_BITS, STRETCH, STRETCH_BITS, squash};
pub(crate) use tessera_dict::PlaneKind;
use tessera_dict::Prior;
use tessera_dict::layout::{BasisTotals, ELEMENTS, Element, LANES};

/// The cells and weight vectors one decision uses, relative to the tables of its element.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Contexts {
    pub(crate) cells: [u32; LANES],
    pub(crate) selectors: [u32; 2],
}

impl Contexts {
    pub(crate) fn new<const N: usize>(cells: [u32; N], selectors: [u32; 2]) -> Self {
        let mut all = [0; LANES];
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

/// Confidence n / (n + 1/2) of a cell seen n times, 8 fractional bits.
const CONFIDENCE: [i32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        table[n] = (256 * 2 * n / (2 * n + 1)) as i32;
        n += 1;
    }
    table
};

/// Adaptation rate 1 / (n + 1.6), at least 1 / 250, 16 fractional bits.
const RATE: [i32; 256] = {
    let mut table = [262; 256];
    let mut n = 0;
    while n < 249 {
        table[n] = (655_360 / (10 * n + 16)) as i32;
        n += 1;
    }
    table
};

#[derive(Clone, Copy, Debug)]
struct Tables {
    cells: [u32; LANES],
    inputs: usize,
    weights: [u32; 2],
}

/// What the mixer thinks of the next bit, and what it needs to learn from it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Prediction {
    stretched: [i32; LANES],
    /// Log-odds by each weight vector alone.
    logits: [i32; 2],
    /// Probability of a one, 16 bits.
    pub(crate) one: u32,
}

/// All adaptive state of one plane kind.
#[derive(Clone, Debug)]
pub(crate) struct Models {
    /// Probability of a one in the upper 22 bits, observation count in the lower 10.
    cells: Vec<u32>,
    weights: Vec<[i32; LANES]>,
    tables: [Tables; ELEMENTS.len()],
}

impl Models {
    pub(crate) fn new(prior: &Prior, bases: BasisTotals) -> Self {
        // Small tiles would spend their time here without the table.
        let starts: [u32; 256] = std::array::from_fn(|byte| {
            squash(i32::from(byte as u8 as i8) << (LOGIT_BITS - 4)) << 16
        });
        let cells = prior
            .cells
            .iter()
            .map(|cell| starts[usize::from(cell.log_odds as u8)] | u32::from(cell.count))
            .collect();
        Self {
            cells,
            weights: prior.weights.clone(),
            tables: tables(bases),
        }
    }

    #[inline(always)]
    pub(crate) fn predict(&self, element: Element, contexts: &Contexts) -> Prediction {
        let tables = &self.tables[element as usize];
        let mut stretched = [0; LANES];
        for (lane, stretched) in stretched.iter_mut().enumerate().take(tables.inputs) {
            let cell = self.cells[(tables.cells[lane] + contexts.cells[lane]) as usize];
            let odds = i32::from(STRETCH[(cell >> 20) as usize]);
            *stretched = (odds * CONFIDENCE[(cell & 255) as usize]) >> 8;
        }
        let logits = [0, 1].map(|set| {
            let weights = &self.weights[(tables.weights[set] + contexts.selectors[set]) as usize];
            let dot: i32 = weights.iter().zip(&stretched).map(|(w, s)| w * s).sum();
            dot >> (WEIGHT_BITS + STRETCH_BITS - LOGIT_BITS)
        });
        Prediction {
            stretched,
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
        let tables = self.tables[element as usize];
        for lane in 0..tables.inputs {
            let cell = &mut self.cells[(tables.cells[lane] + contexts.cells[lane]) as usize];
            let count = *cell & 1023;
            let probability = (*cell >> 10) as i32;
            let target = if bit { (1 << 22) - 1 } else { 0 };
            let step = (i64::from(target - probability) * i64::from(RATE[count as usize])) >> 16;
            let probability = (probability + step as i32) as u32;
            *cell = probability << 10 | (count + 1).min(COUNT_MAX);
        }
        for set in 0..2 {
            let error = (i32::from(bit) << 16) - squash(prediction.logits[set]) as i32;
            let weights =
                &mut self.weights[(tables.weights[set] + contexts.selectors[set]) as usize];
            for (weight, stretched) in weights.iter_mut().zip(&prediction.stretched) {
                let step = (((error * stretched) >> 2) * LEARNING_RATE + (1 << 17)) >> 18;
                *weight = (*weight + step).clamp(-WEIGHT_MAX, WEIGHT_MAX);
            }
        }
    }
}

fn tables(bases: BasisTotals) -> [Tables; ELEMENTS.len()] {
    let (mut cell, mut weight) = (0, 0);
    ELEMENTS.map(|element| {
        let layout = element.layout(bases);
        let mut cells = [0; LANES];
        for (lane, &size) in layout.inputs.iter().enumerate() {
            cells[lane] = cell;
            cell += size as u32;
        }
        let weights = layout.selectors.map(|size| {
            let first = weight;
            weight += size as u32;
            first
        });
        Tables {
            cells,
            inputs: layout.inputs.len(),
            weights,
        }
    })
}

#[cfg(feature = "encoder")]
impl Models {
    /// Probability of a one, 16 bits, of a cell in the first table of an element.
    pub(crate) fn first_cell(&self, element: Element, cell: u32) -> u32 {
        self.cells[(self.tables[element as usize].cells[0] + cell) as usize] >> 16
    }

    /// The present state as a prior.
    pub(crate) fn to_prior(&self) -> Prior {
        use tessera_dict::prior::PriorCell;
        let cells = self
            .cells
            .iter()
            .map(|cell| PriorCell {
                log_odds: ((i32::from(STRETCH[(cell >> 20) as usize]) + 8) >> 4).clamp(-127, 127)
                    as i8,
                count: (cell & 255) as u8,
            })
            .collect();
        Prior {
            cells,
            weights: self.weights.clone(),
        }
    }
}

//! Probability cells and mixing weights that both sides start from.

use crate::layout::{self, BasisTotals, ELEMENTS, LANES};

/// Starting state of one adaptive probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorCell {
    /// Probability of a one as a quantised log-odds: `ln(p / (1 - p)) * 16`, in -127..=127.
    pub log_odds: i8,
    /// Confidence: the number of observations the state counts for.
    pub count: u8,
}

/// Largest starting confidence; more would keep a picture from moving the cell.
pub const MAX_COUNT: u8 = 60;

/// Starting state of all cells and weights of one plane kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// Cells of all elements, in layout order.
    pub cells: Vec<PriorCell>,
    /// Weight vectors of all elements (first selector's, then second's); 14 fractional bits.
    pub weights: Vec<[i32; LANES]>,
}

impl Prior {
    /// Even odds and equal weights.
    pub fn untrained(bases: BasisTotals) -> Self {
        let (cells, _) = layout::totals(bases);
        let mut weights = Vec::new();
        for element in ELEMENTS {
            let layout = element.layout(bases);
            let inputs = layout.inputs.len();
            let mut vector = [0; LANES];
            vector[..inputs].fill((1.6 * 16384.0 / (inputs as f32 + 1.0)) as i32);
            weights.resize(
                weights.len() + layout.selectors.iter().sum::<usize>(),
                vector,
            );
        }
        let cell = PriorCell {
            log_odds: 0,
            count: 0,
        };
        Self {
            cells: vec![cell; cells],
            weights,
        }
    }
}

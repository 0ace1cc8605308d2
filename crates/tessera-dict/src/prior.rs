//! Probability cells and mixing weights that both sides start from.

use crate::layout::{self, BasisTotals, ELEMENTS, MAX_INPUTS};

/// Starting state of one adaptive probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PriorCell {
    /// Probability of a one as a quantised log-odds: `ln(p / (1 - p)) * 16`, in -127..=127.
    pub log_odds: i8,
    /// Confidence: the number of observations the state counts for.
    pub count: u8,
}

/// Largest starting confidence: where the adaptation of a cell stops getting slower.
pub const MAX_COUNT: u8 = 250;

/// Largest confidence of merged priors; pictures of all kinds do not agree better than this.
const MERGED_COUNT: u8 = 60;

/// Starting state of all cells and weights of one plane kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prior {
    /// Cells of all elements, in layout order.
    pub cells: Vec<PriorCell>,
    /// Weight vectors of all elements; 14 fractional bits.
    pub weights: Vec<[i32; MAX_INPUTS]>,
}

impl Prior {
    /// Even odds and equal weights.
    pub fn untrained(bases: BasisTotals) -> Self {
        Self::starting_with(Vec::new(), bases)
    }

    /// The same behind these first cells.
    pub(crate) fn starting_with(mut cells: Vec<PriorCell>, bases: BasisTotals) -> Self {
        let blank = PriorCell {
            log_odds: 0,
            count: 0,
        };
        cells.resize(layout::totals(bases).0, blank);
        let mut weights = Vec::new();
        for element in ELEMENTS {
            let layout = element.layout(bases);
            let inputs = layout.inputs.len();
            let mut vector = [0; MAX_INPUTS];
            vector[..inputs].fill((1.6 * 16384.0 / (inputs as f32 + 1.0)) as i32);
            weights.resize(weights.len() + layout.vectors, vector);
        }
        Self { cells, weights }
    }

    /// What several observers learned, taken together: cells by their confidence, weights evenly.
    ///
    /// # Panics
    /// If there is no prior, or if they belong to different bases.
    pub fn merged(priors: &[Self]) -> Self {
        let count = priors.len() as i32;
        let first = priors.first().expect("there is something to merge");
        let cell = |at: usize| {
            let cells = priors.iter().map(|prior| prior.cells[at]);
            let total: i32 = cells.clone().map(|cell| i32::from(cell.count)).sum();
            let sum: i32 = cells
                .map(|cell| i32::from(cell.log_odds) * i32::from(cell.count))
                .sum();
            PriorCell {
                log_odds: if total == 0 { 0 } else { (sum / total) as i8 },
                count: total.min(i32::from(MERGED_COUNT)) as u8,
            }
        };
        let weight = |at: usize, lane: usize| {
            priors
                .iter()
                .map(|prior| prior.weights[at][lane])
                .sum::<i32>()
                / count
        };
        Self {
            cells: (0..first.cells.len()).map(cell).collect(),
            weights: (0..first.weights.len())
                .map(|at| std::array::from_fn(|lane| weight(at, lane)))
                .collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_weighs_cells_by_confidence() {
        let with = |log_odds, count| Prior {
            cells: vec![PriorCell { log_odds, count }],
            weights: vec![[i32::from(log_odds); MAX_INPUTS]],
        };
        let merged = Prior::merged(&[with(100, 30), with(-20, 10)]);
        assert_eq!((merged.cells[0].log_odds, merged.cells[0].count), (70, 40));
        assert_eq!(merged.weights[0], [40; MAX_INPUTS]);
        assert_eq!(
            Prior::merged(&[with(5, 200), with(5, 200)]).cells[0].count,
            MERGED_COUNT
        );
    }
}

//! Predicts what the ways of splitting a block that were not tried yet would cost.
//!
//! The look-ahead tells the rough cost of every way. How far the true cost of one way lies from its rough cost says much
//! about the others: predictions are linear in such differences, with factors fitted to blocks that were coded in every way.

use crate::encoder::cost::estimate::rough_log2;

/// How much more than the best way so far a way may be predicted to cost to be tried, as a share of that cost and beside
/// some bits.
#[derive(Clone, Copy, Debug)]
pub struct SplitCostMargins {
    /// Quarters where the whole block was tried.
    pub quarters: f32,
    /// The whole block where quarters were tried.
    pub whole: f32,
    /// Halves; never if negative.
    pub halves: f32,
}

impl SplitCostMargins {
    pub(crate) const fn new(quarters: f32, whole: f32, halves: f32) -> Self {
        Self {
            quarters,
            whole,
            halves,
        }
    }
}

/// Rough costs of the ways of coding a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitCosts {
    pub(crate) whole: f32,
    pub(crate) quarters: f32,
    /// By rows and by columns; infinite where they were not looked at.
    pub(crate) halves: [f32; 2],
}

/// Constant terms, then the factors of relative differences of costs and of a logarithm.
#[derive(Debug)]
struct SplitCostFit {
    /// Of rough quarters and rough halves from the rough whole, of the true whole from the rough one; log of the whole.
    quarters_by_whole: [f32; 5],
    /// The same from true quarters.
    whole_by_quarters: [f32; 5],
    /// Of these rough halves, the other ones and rough quarters from the rough whole, of the true whole from the rough
    /// one; log of the whole.
    halves_by_whole: [f32; 6],
    /// And of true quarters from the true whole.
    halves_by_both: [f32; 7],
}

/// By size from 32 down to 8. Least squares over 16 crops of training photos at four quantisers (`benches/log/search.md`).
const SPLIT_COST_FITS: [SplitCostFit; 3] = [
    SplitCostFit {
        quarters_by_whole: [-0.016, 0.828, 0.177, -0.511, 0.004],
        whole_by_quarters: [0.305, -0.913, 0.008, -0.112, -0.057],
        halves_by_whole: [0.003, 0.197, -0.139, 0.404, -0.296, 0.001],
        halves_by_both: [-0.072, 0.274, -0.169, -0.018, 0.113, 0.019, 0.414],
    },
    SplitCostFit {
        quarters_by_whole: [0.016, 0.688, 0.214, -0.354, -0.014],
        whole_by_quarters: [0.143, -0.893, 0.018, -0.233, -0.030],
        halves_by_whole: [0.056, 0.230, -0.027, 0.221, -0.310, -0.015],
        halves_by_both: [0.027, 0.304, -0.072, 0.019, -0.081, -0.004, 0.294],
    },
    SplitCostFit {
        quarters_by_whole: [0.106, 0.508, 0.302, -0.442, -0.043],
        whole_by_quarters: [0.022, -0.737, 0.062, -0.381, -0.012],
        halves_by_whole: [0.121, 0.204, 0.024, 0.192, -0.360, -0.042],
        halves_by_both: [0.049, 0.239, -0.089, 0.080, -0.207, -0.017, 0.428],
    },
];

/// Quarters that were given up cost at least this share more than the whole.
const GIVEN_UP: f32 = 0.02;

/// Predictions for one block.
#[derive(Debug)]
pub(crate) struct SplitCostPredictor {
    fit: &'static SplitCostFit,
    pub(crate) rough: SplitCosts,
    /// The cheaper halves, or the best of the others where they were not looked at.
    halves: f32,
}

impl SplitCostPredictor {
    /// For a block of 32 (`size` 0), 16 or 8 samples (2).
    pub(crate) fn new(size: usize, rough: SplitCosts) -> Self {
        let halves = rough.halves[0].min(rough.halves[1]);
        Self {
            fit: &SPLIT_COST_FITS[size],
            rough,
            halves: if halves.is_finite() {
                halves
            } else {
                rough.whole.min(rough.quarters)
            },
        }
    }

    /// Cost of quarters where the whole block costs `whole`.
    pub(crate) fn quarters(&self, whole: f32) -> f32 {
        let Self { rough, .. } = self;
        let differences = [
            difference(rough.quarters, rough.whole),
            difference(self.halves, rough.whole),
            difference(whole, rough.whole),
            rough_log2(whole),
        ];
        whole + whole * linear(&self.fit.quarters_by_whole, &differences)
    }

    /// Cost of the whole block where quarters cost `quarters`.
    pub(crate) fn whole(&self, quarters: f32) -> f32 {
        let Self { rough, .. } = self;
        let differences = [
            difference(rough.quarters, rough.whole),
            difference(self.halves, rough.whole),
            difference(quarters, rough.quarters),
            rough_log2(quarters),
        ];
        quarters + quarters * linear(&self.fit.whole_by_quarters, &differences)
    }

    /// What quarters are taken to cost that were given up where the whole block costs `whole`.
    pub(crate) fn given_up_quarters(&self, whole: f32) -> f32 {
        self.quarters(whole).max(whole + whole * GIVEN_UP)
    }

    /// Cost of halves by rows and by columns where the whole block, and quarters if they were tried, cost so much.
    pub(crate) fn halves(&self, whole: f32, quarters: Option<f32>) -> [f32; 2] {
        let [rows, columns] = self.rough.halves;
        [(rows, columns), (columns, rows)].map(|(own, other)| {
            if own.is_infinite() {
                return f32::INFINITY;
            }
            let [d0, d1, d2, d3] = [
                difference(own, self.rough.whole),
                difference(other, self.rough.whole),
                difference(self.rough.quarters, self.rough.whole),
                difference(whole, self.rough.whole),
            ];
            let log = rough_log2(whole);
            let change = match quarters {
                None => linear(&self.fit.halves_by_whole, &[d0, d1, d2, d3, log]),
                Some(quarters) => {
                    let d4 = difference(quarters, whole);
                    linear(&self.fit.halves_by_both, &[d0, d1, d2, d3, log, d4])
                }
            };
            whole + whole * change
        })
    }
}

/// A constant term and products.
fn linear(factors: &[f32], values: &[f32]) -> f32 {
    let products = factors[1..].iter().zip(values).map(|(f, v)| f * v);
    factors[0] + products.sum::<f32>()
}

/// How far `a` lies from `b`, relative to their mean.
fn difference(a: f32, b: f32) -> f32 {
    2.0 * (a - b) / (a + b).max(f32::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUGH: SplitCosts = SplitCosts {
        whole: 10.0,
        quarters: 11.0,
        halves: [9.5, 12.0],
    };

    #[test]
    fn cheaper_estimates_make_cheaper_predictions() {
        for size in 0..3 {
            let predictor = SplitCostPredictor::new(size, ROUGH);
            let dear = SplitCostPredictor::new(
                size,
                SplitCosts {
                    quarters: 14.0,
                    ..ROUGH
                },
            );
            assert!(predictor.quarters(10.0) < dear.quarters(10.0));
            assert!(predictor.whole(11.0) > dear.whole(11.0));
            for quarters in [None, Some(10.5)] {
                let [rows, columns] = predictor.halves(10.0, quarters);
                assert!(rows < columns, "{size}: {rows} {columns}");
            }
        }
    }

    #[test]
    fn predictions_of_what_was_estimated_stay_near_it() {
        for size in 0..3 {
            let predictor = SplitCostPredictor::new(size, ROUGH);
            assert!((9.0..13.0).contains(&predictor.quarters(10.0)));
            assert!((9.0..13.0).contains(&predictor.whole(11.0)));
            for cost in predictor.halves(10.0, Some(11.0)) {
                assert!((9.0..13.0).contains(&cost), "{size}: {cost}");
            }
            assert!(predictor.given_up_quarters(10.0) > 10.0);
        }
    }

    #[test]
    fn halves_without_an_estimate_are_not_predicted() {
        let halves = [f32::INFINITY; 2];
        let predictor = SplitCostPredictor::new(2, SplitCosts { halves, ..ROUGH });
        assert_eq!(predictor.halves(10.0, None), halves);
        assert!(predictor.quarters(10.0).is_finite());
    }
}

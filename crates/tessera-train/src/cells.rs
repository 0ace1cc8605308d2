//! Starting probabilities of the cells, from how often each saw zeros and ones in every coded part.
//!
//! A cell that starts at probability p with confidence c and moves by 1/(c + n) codes like a Beta(cp, c(1-p))
//! prior. Its parameters are fitted to all parts together: p is their mean, c says how much they agree. Both are
//! pulled towards the dictionary training starts from, so that a cell seen rarely stays where it was.

use crate::thrift::Thrift;
use tessera_codec::internals::encoder::training::CellCount;
use tessera_dict::prior::{MAX_COUNT, PriorCell};

/// Observations that the starting probability counts for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pull {
    /// Of the probability, as a share of the starting confidence.
    pub(crate) mean: f64,
    /// Of the confidence: how many standard deviations a factor of e is.
    pub(crate) confidence: f64,
}

/// Confidences that are tried.
const CONFIDENCES: [f64; 9] = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 60.0, 120.0, 250.0];
/// Parts whose counts decide about the confidence; more say nothing new.
const JUDGES: usize = 160;
/// A cell's first step is 1 / (count + 1.6), that of a Beta prior 1 / (c + 1).
const COUNT_OFFSET: f64 = 0.6;
const LOG_ODDS_SCALE: f64 = 16.0;
/// Bits that a cell takes in a difference: that it changed and to which odds, and its confidence.
const ODDS_BITS: f64 = 8.0;
const COUNT_BITS: f64 = 2.5;

/// What all parts say about one cell, beside what it starts from.
pub(crate) fn fit_cell(start: PriorCell, seen: &[CellCount], pull: Pull) -> PriorCell {
    let first = probability(start);
    let before = f64::from(start.count) + COUNT_OFFSET;
    let weight = (pull.mean * before).max(0.5);
    let mean = |confidence: f64| {
        let (mut sum, mut total) = (weight * first, weight);
        for part in seen {
            let (ones, all) = (f64::from(part.ones), f64::from(part.ones + part.zeros));
            // Many observations of one part agree more among themselves than with other parts.
            let share = (confidence + 1.0) / (confidence + all);
            sum += share * ones;
            total += share * all;
        }
        (sum / total).clamp(1e-4, 1.0 - 1e-4)
    };
    let step = seen.len().div_ceil(JUDGES).max(1);
    let score = |confidence: f64| {
        let p = mean(confidence);
        let fit: f64 = (seen.iter().step_by(step))
            .map(|part| log_likelihood(part, confidence * p, confidence * (1.0 - p)))
            .sum();
        let distance = ((confidence + 1.0) / (before + 1.0)).ln();
        fit - 0.5 * (pull.confidence * distance).powi(2)
    };
    let best = CONFIDENCES
        .into_iter()
        .map(|confidence| (confidence, score(confidence)))
        .fold((1.0, f64::NEG_INFINITY), |best, next| {
            if next.1 > best.1 { next } else { best }
        });
    let p = mean(best.0);
    let log_odds = (LOG_ODDS_SCALE * (p / (1.0 - p)).ln()).round();
    PriorCell {
        log_odds: log_odds.clamp(-127.0, 127.0) as i8,
        count: (best.0 - COUNT_OFFSET).round().min(f64::from(MAX_COUNT)) as u8,
    }
}

/// The fitted cell in coarse steps if it saves more bits than storing it takes, else the one it started from; `worth` is
/// how often what was seen will be seen again.
pub(crate) fn worthwhile_cell(
    start: PriorCell,
    fitted: PriorCell,
    seen: &[CellCount],
    worth: f64,
) -> PriorCell {
    let bits = |cell: PriorCell| {
        let (p, confidence) = (probability(cell), f64::from(cell.count) + COUNT_OFFSET);
        let likelihood = |part| log_likelihood(part, confidence * p, confidence * (1.0 - p));
        -seen.iter().map(likelihood).sum::<f64>() / std::f64::consts::LN_2 * worth
    };
    let moved = PriorCell {
        log_odds: Thrift::odds(fitted.log_odds, start.log_odds),
        count: start.count,
    };
    let surer = PriorCell {
        count: fitted.count,
        ..moved
    };
    let options = [
        (start, 0.0),
        (moved, ODDS_BITS),
        (surer, ODDS_BITS + COUNT_BITS),
    ];
    let costs = options.map(|(cell, price)| (cell, bits(cell) + price));
    let cheapest = costs.into_iter().min_by(|a, b| a.1.total_cmp(&b.1));
    cheapest.map_or(start, |(cell, _)| cell)
}

fn probability(cell: PriorCell) -> f64 {
    1.0 / (1.0 + (-f64::from(cell.log_odds) / LOG_ODDS_SCALE).exp())
}

/// Log-likelihood of a part's zeros and ones under a Beta prior.
fn log_likelihood(part: &CellCount, ones: f64, zeros: f64) -> f64 {
    let (seen_ones, seen_zeros) = (f64::from(part.ones), f64::from(part.zeros));
    let rise = |from: f64, by: f64| ln_gamma(from + by) - ln_gamma(from);
    rise(ones, seen_ones) + rise(zeros, seen_zeros) - rise(ones + zeros, seen_ones + seen_zeros)
}

/// Logarithm of the gamma function for positive arguments: Stirling's series above 8, recursion below.
fn ln_gamma(x: f64) -> f64 {
    let (mut x, mut product) = (x, 1.0);
    while x < 8.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / x;
    let series = inverse / 12.0 * (1.0 - inverse * inverse / 30.0);
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * std::f64::consts::PI).ln() + series - product.ln()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PULL: Pull = Pull {
        mean: 0.5,
        confidence: 0.5,
    };

    fn part(zeros: u32, ones: u32) -> CellCount {
        CellCount {
            cell: 0,
            zeros,
            ones,
        }
    }

    #[test]
    fn gamma_agrees_with_factorials() {
        assert!((ln_gamma(5.0) - 24f64.ln()).abs() < 1e-6);
        assert!((ln_gamma(0.5) - std::f64::consts::PI.sqrt().ln()).abs() < 1e-6);
        assert!((ln_gamma(21.0) - 2_432_902_008_176_640_000f64.ln()).abs() < 1e-6);
    }

    #[test]
    fn unseen_cells_keep_their_probability() {
        let start = PriorCell {
            log_odds: 40,
            count: 30,
        };
        assert_eq!(fit_cell(start, &[], PULL).log_odds, 40);
    }

    #[test]
    fn agreement_raises_confidence_and_disagreement_lowers_it() {
        let start = PriorCell {
            log_odds: 0,
            count: 20,
        };
        let agreeing = fit_cell(start, &vec![part(30, 10); 50], PULL);
        let mixed: Vec<CellCount> = (0..50)
            .map(|i| if i % 4 == 0 { part(1, 39) } else { part(39, 1) })
            .collect();
        let mixed = fit_cell(start, &mixed, PULL);
        assert!(agreeing.count >= 100, "{agreeing:?}");
        assert!(mixed.count <= 4, "{mixed:?}");
        assert!(
            (i32::from(agreeing.log_odds) + 18).abs() <= 2,
            "{agreeing:?}"
        );
    }

    #[test]
    fn a_cell_changes_only_if_that_pays() {
        let start = PriorCell {
            log_odds: 0,
            count: 20,
        };
        let seen = vec![part(30, 10); 5];
        let fitted = fit_cell(start, &seen, PULL);
        assert_eq!(worthwhile_cell(start, fitted, &seen, 0.1), start);
        let kept = worthwhile_cell(start, fitted, &seen, 10.0);
        assert!(kept.log_odds % 4 == 0 && kept.log_odds < -8, "{kept:?}");
        assert_eq!(kept.count, fitted.count);
    }

    #[test]
    fn a_few_observations_hardly_move_a_sure_cell() {
        let start = PriorCell {
            log_odds: -30,
            count: 60,
        };
        let moved = fit_cell(start, &[part(0, 2)], PULL);
        assert!(moved.log_odds < -20, "{moved:?}");
    }
}

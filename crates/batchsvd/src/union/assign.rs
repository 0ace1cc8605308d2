//! Which block every sample uses.
//!
//! With a threshold T, a sample's cost in a block is `sum min(c^2, T^2)`: the error of what is
//! dropped plus T^2 for every coefficient kept. If the cheapest blocks happen to keep
//! exactly N coefficients, they are the best choice of all under the budget N (Lagrange).
//! The T that leads to N is not known in advance, so several around the last one are tried in
//! the same pass over the samples, and the one that comes closest to N is taken.

use super::blocks::Blocks;
use crate::SampleMatrix;
use crate::linalg::kernels::vectorised;
use crate::pursuit::for_chunks;
use pulp::NullaryFnOnce;

/// Thresholds tried, relative to the last one.
const FACTORS: [f64; 7] = [0.85, 0.9, 0.95, 1.0, 1.05, 1.11, 1.18];

/// The block with the largest single coefficient: a first choice before a threshold is known.
pub(super) fn by_largest(blocks: &Blocks, samples: &SampleMatrix) -> Vec<u32> {
    let m = samples.dimension();
    let parts = for_chunks(blocks.columns(), samples, |_, _, coefficients| {
        let peak = |block: &[f64]| block.iter().fold(0.0f64, |peak, c| peak.max(c.abs()));
        let choose = |row: &[f64]| {
            let mut best = (0, -1.0);
            for (block, own) in row.chunks_exact(m).enumerate() {
                let size = peak(own);
                if size > best.1 {
                    best = (block as u32, size);
                }
            }
            best.0
        };
        let rows = coefficients.chunks_exact(m * blocks.count());
        rows.map(choose).collect::<Vec<_>>()
    });
    parts.into_iter().flatten().collect()
}

/// The cheapest block of every sample, at the threshold that comes closest to keeping
/// `target.1` coefficients; `target.0` is the last threshold. On a tie the present block stays.
pub(super) fn by_cost(
    blocks: &Blocks,
    samples: &SampleMatrix,
    present: &[u32],
    target: (f64, usize),
) -> Vec<u32> {
    let m = samples.dimension();
    let squares = FACTORS.map(|factor| (factor * target.0).powi(2));
    let parts = for_chunks(blocks.columns(), samples, |_, range, coefficients| {
        let mut choices = Vec::with_capacity(range.len());
        let mut kept = [0usize; FACTORS.len()];
        let rows = coefficients.chunks_exact(m * blocks.count());
        for (sample, row) in range.zip(rows) {
            let choice = cheapest(row, m, &squares, present[sample]);
            for (at, &block) in choice.iter().enumerate() {
                let own = &row[block as usize * m..][..m];
                kept[at] += own.iter().filter(|c| *c * *c >= squares[at]).count();
            }
            choices.push(choice);
        }
        (choices, kept)
    });
    let closest = (0..FACTORS.len()).min_by_key(|&at| {
        let kept: usize = parts.iter().map(|(_, kept)| kept[at]).sum();
        kept.abs_diff(target.1)
    });
    let at = closest.unwrap_or(FACTORS.len() / 2);
    let choices = parts.into_iter().flat_map(|(choices, _)| choices);
    choices.map(|choice| choice[at]).collect()
}

/// The cheapest block of one sample for each squared threshold.
fn cheapest(
    row: &[f64],
    m: usize,
    squares: &[f64; FACTORS.len()],
    present: u32,
) -> [u32; FACTORS.len()] {
    let mut choice = [present; FACTORS.len()];
    let mut costs = vectorised(Costs(&row[present as usize * m..][..m], squares));
    for (block, own) in row.chunks_exact(m).enumerate() {
        let others = vectorised(Costs(own, squares));
        for at in 0..FACTORS.len() {
            if others[at] < costs[at] {
                (costs[at], choice[at]) = (others[at], block as u32);
            }
        }
    }
    choice
}

/// `sum min(c^2, T^2)` for each squared threshold.
struct Costs<'a>(&'a [f64], &'a [f64; FACTORS.len()]);

impl NullaryFnOnce for Costs<'_> {
    type Output = [f64; FACTORS.len()];

    #[inline(always)]
    fn call(self) -> Self::Output {
        const LANES: usize = 4;
        let mut sums = [[0.0; LANES]; FACTORS.len()];
        let chunks = self.0.chunks_exact(LANES);
        for (lane, c) in chunks.remainder().iter().enumerate() {
            for (sum, square) in sums.iter_mut().zip(self.1) {
                sum[lane] += (c * c).min(*square);
            }
        }
        for chunk in chunks {
            for (sum, &square) in sums.iter_mut().zip(self.1) {
                for lane in 0..LANES {
                    let energy = chunk[lane] * chunk[lane];
                    sum[lane] += if energy < square { energy } else { square };
                }
            }
        }
        sums.map(|lanes| lanes.iter().sum())
    }
}

//! Signs of levels, foretold from how well a patch would continue its surroundings (`spec/bitstream.md`, "Signs").
//!
//! A coefficient adds a known pattern to the first row and column of its patch, or takes it away. Which of both leaves
//! fewer breaks along the border is right more often than not.

use crate::simd::kernel;
use crate::tile::canvas::PlaneBuffer;
use crate::tile::state::Site;
use crate::tile::syntax::patch_context::log_class;
use crate::tile::transform::quantiser::Step;
use crate::tile::transform::{Edge, LANES, MOST_SAMPLES};
use tessera_patch::Shape;

/// Signs of a patch that are foretold; later ones hardly move the border, and work is bounded.
pub(crate) const FORETOLD: usize = 32;
/// Weights of samples have 10 fractional bits.
const WEIGHT_BITS: u32 = 10;
/// Largest variance: that of samples of 12 bits that differ by half their range.
const MOST_VARIANCE: u64 = (1 << 22) - 1;
/// Largest gap, with 4 fractional bits.
const MOST_GAP: i32 = 1 << 20;
/// Largest coefficient; its products with edges fit 32 bits.
const MOST_VALUE: i32 = 1 << 17;

/// Classes of certainty.
pub(crate) const CLASSES: usize = 21;

/// Where the adaptive probabilities of a foretold sign being right start, in 1/1024, by class.
pub(crate) const STARTS: [u16; CLASSES] = [
    514, 515, 520, 524, 528, 532, 540, 550, 564, 582, 604, 632, 662, 692, 722, 752, 780, 804, 826,
    846, 864,
];

/// One number for every sample of an edge.
type PerSample<T> = [[T; LANES]; MOST_SAMPLES / LANES];

/// What the border of a patch asks of its residual, as the basis sees the patch.
#[derive(Debug)]
pub(crate) struct SignOracle {
    /// What a continuation asks of the residual, 4 fractional bits, less what is known of it.
    gaps: PerSample<i32>,
    /// How much each of them counts; nothing where there is nothing to continue.
    weights: PerSample<i32>,
    /// Lanes that are filled.
    lanes: usize,
    /// Ten times the variance of a sample whose weight is one.
    variance: u64,
    /// Mean of the weights.
    mean_weight: u64,
}

/// Samples along the border: decoded ones that are 1, 2 and 3 away from the patch, then predicted ones of its first and
/// second line.
type Lines = [PerSample<i16>; 5];

impl SignOracle {
    /// Of a patch with a prediction among decoded samples; nothing where it has no neighbours.
    pub(crate) fn new(
        plane: &PlaneBuffer,
        site: &Site,
        transposed: bool,
        prediction: &[i32],
        step: Step,
    ) -> Option<Self> {
        let (w, h) = (site.shape.width(), site.shape.height());
        let [row, column] = if transposed { [h, 0] } else { [0, w] };
        let mut lines = [[[0; LANES]; MOST_SAMPLES / LANES]; 5];
        if site.y > 0 {
            take_above(plane, site, prediction, row, &mut lines);
        }
        if site.x > 0 {
            take_beside(plane, site, prediction, column, &mut lines);
        }
        let places = [(site.y > 0, row, w), (site.x > 0, column, h)];
        let there = places.iter().filter(|(there, ..)| *there);
        let count: usize = there.map(|(_, _, length)| length).sum();
        if count == 0 {
            return None;
        }
        let mut oracle = Self {
            gaps: [[0; LANES]; MOST_SAMPLES / LANES],
            weights: [[0; LANES]; MOST_SAMPLES / LANES],
            lanes: (w + h).div_ceil(LANES),
            variance: 0,
            mean_weight: 0,
        };
        find_gaps(
            &mut oracle,
            &lines,
            u64::from(step.fixed()).pow(2) >> 16,
            count,
        );
        let weights = oracle.weights.as_flattened_mut();
        for (_, first, length) in places.iter().filter(|(there, ..)| !*there) {
            weights[*first..][..*length].fill(0);
        }
        weights[w + h..].fill(0);
        let sum: i32 = weights[..w + h].iter().sum();
        oracle.mean_weight = sum as u64 / count as u64;
        Some(oracle)
    }

    /// How sure it is that a coefficient of a magnitude with this edge is positive, as a class, or negative; `unknown` is
    /// the squared sum of the coefficients whose signs are not known yet, over the area of the patch.
    pub(crate) fn ask(&self, edge: &Edge, value: i32, unknown: u64) -> (u32, bool) {
        let sum = agreement(&self.gaps, &self.weights, edge, value);
        let variance = self.variance + ((10 * unknown * self.mean_weight) >> WEIGHT_BITS);
        // 2 / 16 of the sum over a tenth of the variance, with 8 fractional bits.
        let odds = (sum.unsigned_abs() * 320 / variance).min((1 << 24) - 1);
        (log_class(odds as u32, 8, 4, 7, CLASSES as u32 - 1), sum < 0)
    }

    /// Takes in a coefficient with this edge.
    pub(crate) fn learn(&mut self, edge: &Edge, value: i32) {
        close_gaps(&mut self.gaps, edge, value);
    }
}

/// A coefficient as far as signs look at it.
pub(crate) fn limited(value: i32) -> i32 {
    value.min(MOST_VALUE)
}

/// Decoded samples above a patch, and predicted ones at its upper edge.
fn take_above(plane: &PlaneBuffer, site: &Site, prediction: &[i32], at: usize, lines: &mut Lines) {
    let length = site.shape.width();
    for (away, line) in lines[..3].iter_mut().enumerate() {
        let row = &plane.data[(site.y - 1 - away) * plane.stride + site.x..][..length];
        for (to, &from) in line.as_flattened_mut()[at..].iter_mut().zip(row) {
            *to = from as i16;
        }
    }
    for (line, row) in lines[3..].iter_mut().zip(prediction.chunks_exact(length)) {
        for (to, &from) in line.as_flattened_mut()[at..].iter_mut().zip(row) {
            *to = from as i16;
        }
    }
}

/// Decoded samples to the left of a patch, and predicted ones at its left edge.
fn take_beside(plane: &PlaneBuffer, site: &Site, prediction: &[i32], at: usize, lines: &mut Lines) {
    let [near, middle, far, first, second] = lines.each_mut().map(|line| line.as_flattened_mut());
    let rows = plane.data[site.y * plane.stride + site.x - 3..].chunks(plane.stride);
    let predicted = prediction.chunks_exact(site.shape.width());
    for (i, (row, predicted)) in rows.zip(predicted).enumerate() {
        let [c, b, a] = *row.first_chunk().expect("three samples on the left");
        (near[at + i], middle[at + i], far[at + i]) = (a as i16, b as i16, c as i16);
        (first[at + i], second[at + i]) = (predicted[0] as i16, predicted[1] as i16);
    }
}

kernel! {
    /// What a continuation of the lines asks of the residual, and how much that counts.
    fn find_gaps(oracle: &mut SignOracle, lines: &Lines, step: u64, count: usize) {
        let lines = lines.each_ref().map(|line| &line[..oracle.lanes]);
        let [near, middle, far, first, second] = lines;
        let mut squares = [0u64; LANES];
        for (near, middle) in near.iter().zip(middle) {
            for i in 0..LANES {
                let slope = i32::from(near[i]) - i32::from(middle[i]);
                squares[i] += (slope * slope) as u64;
            }
        }
        let variance = step + squares.iter().sum::<u64>() / count as u64;
        let variance = variance.clamp(1, MOST_VARIANCE) as u32;
        oracle.variance = variance.into();
        for lane in 0..oracle.lanes {
            let of = |line: &[[i16; LANES]], i: usize| i32::from(line[lane][i]);
            for i in 0..LANES {
                let slopes = [of(near, i) - of(middle, i), of(middle, i) - of(far, i)];
                let turn = 3 * (of(first, i) - of(second, i));
                oracle.gaps[lane][i] =
                    9 * (of(near, i) - of(first, i)) + 10 * slopes[0] - 5 * slopes[1] - turn;
                let rough = (slopes[0] * slopes[0] + slopes[1] * slopes[1]) as u32;
                oracle.weights[lane][i] =
                    ((variance << WEIGHT_BITS) / (variance + 2 * rough)) as i32;
            }
        }
    }
}

/// A sample of the edge of a coefficient.
#[inline(always)]
fn sample(value: i32, unit: i16) -> i32 {
    (value * i32::from(unit) + 2048) >> 12
}

kernel! {
    /// Weighted product of gaps and an edge.
    fn agreement(gaps: &PerSample<i32>, weights: &PerSample<i32>, edge: &Edge, value: i32) -> i64 {
        let mut sums = [0i64; LANES];
        for ((gaps, weights), edge) in gaps.iter().zip(weights).zip(edge) {
            for i in 0..LANES {
                let gap = (gaps[i] * weights[i]) >> WEIGHT_BITS;
                sums[i] += i64::from(gap) * i64::from(sample(value, edge[i]));
            }
        }
        sums.iter().sum()
    }
}

kernel! {
    /// Takes the edge of a coefficient off the gaps.
    fn close_gaps(gaps: &mut PerSample<i32>, edge: &Edge, value: i32) {
        for (gaps, edge) in gaps.iter_mut().zip(edge) {
            for i in 0..LANES {
                gaps[i] = (gaps[i] - 16 * sample(value, edge[i])).clamp(-MOST_GAP, MOST_GAP);
            }
        }
    }
}

/// The squared sum of coefficients over the area of their patch.
pub(crate) fn per_sample(energy: u64, shape: Shape) -> u64 {
    energy >> (shape.log_width() + shape.log_height())
}

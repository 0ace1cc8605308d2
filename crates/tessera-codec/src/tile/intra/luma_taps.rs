//! Chroma predicted from several taps of luma (`spec/bitstream.md`, "From luma with taps").
//!
//! What one line from luma leaves: colours fade towards black and white (the square of luma), edges of luma and chroma
//! differ in sharpness (its neighbours), and light changes from place to place.

use crate::simd::kernel;
use crate::tile::canvas::PlaneBuffer;
use crate::tile::intra::SAMPLE_MAX;
use crate::tile::state::Site;

/// Terms of the model: luma, how far its neighbours lie above it, its square, the place across, the place down.
const TERMS: usize = 5;
/// Variance of every term below which it is not believed.
const RIDGE: [i64; TERMS] = [64, 64, 4, 1024, 1024];
/// Rows above and columns to the left that the weights are fitted to.
const LINES: usize = 2;
/// Most places looked at along one line; every second or fourth sample of longer ones.
const PLACES: usize = 16;
/// Most samples that the weights are fitted to: sums of their products fit 32 bits.
const SAMPLES: usize = 2 * LINES * PLACES;
/// Fractional bits of weights.
const WEIGHT_BITS: u32 = 12;
/// Middle of the samples' range: products with chroma stay small around it.
const MIDDLE: i32 = 2048;
/// Unit of places: a patch is as wide as luma has values, roughly.
const PLACE: i32 = 16;

/// Predicts a chroma patch by weighted terms of luma, fitted by least squares to the decoded samples around it.
pub(crate) fn predict_from_luma_taps(
    luma: &PlaneBuffer,
    chroma: &PlaneBuffer,
    site: &Site,
    out: &mut [i32],
) {
    let places = fitted_places(site);
    let count = places.len() as i32;
    let sum: i32 = places.iter().map(|&(x, y)| luma.sample(x, y)).sum();
    let mut taps = Taps {
        luma,
        site,
        mean: (sum + count / 2) / count.max(1),
        weights: [0; TERMS],
        bias: MIDDLE << WEIGHT_BITS,
    };
    if count > 0 {
        taps.fit(chroma, &places);
    }
    match site.shape.width() {
        4 => follow_taps::<4>(&taps, out),
        8 => follow_taps::<8>(&taps, out),
        16 => follow_taps::<16>(&taps, out),
        32 => follow_taps::<32>(&taps, out),
        _ => follow_taps::<64>(&taps, out),
    }
}

/// The places around a patch that weights are fitted to: two rows above and two columns to the left.
fn fitted_places(site: &Site) -> Vec<(usize, usize)> {
    let (w, h) = (site.shape.width(), site.shape.height());
    let mut places = Vec::with_capacity(SAMPLES);
    for away in 1..=LINES {
        if let Some(y) = site.y.checked_sub(away) {
            let columns = (0..w).step_by((w / PLACES).max(1));
            places.extend(columns.map(|x| (site.x + x, y)));
        }
        if let Some(x) = site.x.checked_sub(away) {
            let rows = (0..h).step_by((h / PLACES).max(1));
            places.extend(rows.map(|y| (x, site.y + y)));
        }
    }
    places
}

/// The model of one patch.
struct Taps<'a> {
    luma: &'a PlaneBuffer,
    site: &'a Site,
    /// Of luma where the weights are fitted.
    mean: i32,
    /// [`WEIGHT_BITS`] fractional bits.
    weights: [i32; TERMS],
    /// As many fractional bits.
    bias: i32,
}

impl Taps<'_> {
    /// Finds weights and bias for the chroma of some places.
    fn fit(&mut self, chroma: &PlaneBuffer, places: &[(usize, usize)]) {
        let mut terms = [[0; SAMPLES]; TERMS];
        let mut goal = [0; SAMPLES];
        for (at, &(x, y)) in places.iter().enumerate() {
            for (terms, term) in terms.iter_mut().zip(self.terms(x, y)) {
                terms[at] = term;
            }
            goal[at] = chroma.sample(x, y) - MIDDLE;
        }
        let count = places.len() as i64;
        let moments = moments(&terms, &goal, places.len());
        self.weights = moments.weights(count);
        let explained = (self.weights.iter().zip(moments.sums))
            .map(|(&weight, sum)| i64::from(weight) * sum)
            .sum::<i64>();
        let rest = (moments.goal_sum << WEIGHT_BITS) - explained;
        self.bias = rest.div_euclid(count) as i32 + (MIDDLE << WEIGHT_BITS);
    }

    /// The terms of a place around the patch.
    fn terms(&self, x: usize, y: usize) -> [i32; TERMS] {
        let Site { shape, .. } = *self.site;
        let (right, low) = (self.site.x + shape.width(), self.site.y + shape.height());
        let own = self.luma.sample(x, y);
        let around = self.luma.sample(x, y.saturating_sub(1))
            + self.luma.sample(x, (y + 1).min(low - 1))
            + self.luma.sample(x.saturating_sub(1), y)
            + self.luma.sample((x + 1).min(right - 1), y);
        let place = |at: usize, start: usize| PLACE * (at as i32 - start as i32);
        let [level, sharpness, square] = luma_terms(own, around, self.mean);
        [
            level,
            sharpness,
            square,
            place(x, self.site.x),
            place(y, self.site.y),
        ]
    }
}

/// The terms of a luma sample whose four neighbours add up to `around`.
#[inline(always)]
fn luma_terms(own: i32, around: i32, mean: i32) -> [i32; 3] {
    let level = own - mean;
    [level, ((around + 2) >> 2) - own, (level * level) >> 12]
}

kernel! {
    /// The prediction of a patch of `W` columns.
    fn follow_taps<const W: usize>(taps: &Taps<'_>, out: &mut [i32]) {
        let Site { x, y, .. } = *taps.site;
        let rows = out.as_chunks_mut::<W>().0;
        let last = y + rows.len() - 1;
        let row_of = |y: usize| -> &[u16; W] {
            let row = taps.luma.data[y * taps.luma.stride + x..].first_chunk();
            row.expect("patches lie on the canvas")
        };
        let [level_weight, sharpness_weight, square_weight, across, down] = taps.weights;
        for (at, out) in rows.iter_mut().enumerate() {
            let own = row_of(y + at);
            let (above, below) = (row_of((y + at).saturating_sub(1)), row_of((y + at + 1).min(last)));
            let mut sides = [0; W];
            sides[0] = taps.luma.sample(x.saturating_sub(1), y + at) + i32::from(own[1]);
            for i in 1..W - 1 {
                sides[i] = i32::from(own[i - 1]) + i32::from(own[i + 1]);
            }
            sides[W - 1] = i32::from(own[W - 2]) + i32::from(own[W - 1]);
            let start = taps.bias + down * PLACE * at as i32 + (1 << (WEIGHT_BITS - 1));
            for i in 0..W {
                let around = i32::from(above[i]) + i32::from(below[i]) + sides[i];
                let [level, sharpness, square] = luma_terms(i32::from(own[i]), around, taps.mean);
                let sum = start + across * PLACE * i as i32 + level_weight * level
                    + sharpness_weight * sharpness + square_weight * square;
                out[i] = (sum >> WEIGHT_BITS).clamp(0, SAMPLE_MAX);
            }
        }
    }
}

/// Sums over the places that weights are fitted to.
struct Moments {
    /// Of every term.
    sums: [i64; TERMS],
    /// Of products of terms; the lower triangle.
    products: [[i64; TERMS]; TERMS],
    goal_sum: i64,
    /// Of products of terms and goal.
    goal: [i64; TERMS],
}

kernel! {
    /// Adds up terms, goal and their products over the first `count` places.
    fn moments(terms: &[[i32; SAMPLES]; TERMS], goal: &[i32; SAMPLES], count: usize) -> Moments {
        let dot = |a: &[i32; SAMPLES], b: &[i32; SAMPLES]| -> i64 {
            i64::from(a[..count].iter().zip(&b[..count]).map(|(a, b)| a * b).sum::<i32>())
        };
        let sum = |a: &[i32; SAMPLES]| i64::from(a[..count].iter().sum::<i32>());
        let mut products = [[0; TERMS]; TERMS];
        for (i, row) in products.iter_mut().enumerate() {
            for j in 0..=i {
                row[j] = dot(&terms[i], &terms[j]);
            }
        }
        Moments {
            sums: terms.each_ref().map(sum),
            products,
            goal_sum: sum(goal),
            goal: terms.each_ref().map(|term| dot(term, goal)),
        }
    }
}

/// Fractional bits of factors of the decomposition and of weights while they are found.
const FACTOR_BITS: u32 = 18;
/// Bounds of entries, of factors and of weights while they are found: products stay below 2^62.
const ENTRY_MAX: i64 = 1 << 31;
const FACTOR_MAX: i64 = 1 << 30;
const SOLUTION_MAX: i64 = 1 << 24;

impl Moments {
    /// Weights of the least squared error with a ridge, by a decomposition into L D L'.
    fn weights(&self, count: i64) -> [i32; TERMS] {
        // Variances with six fractional bits, up to a factor of four, so that they stay below 2^30.
        let shift = 2 * (count - 1).max(1).ilog2() + 2 - 6;
        let covariance = |product: i64, a: i64, b: i64| (count * product - a * b) >> shift;
        let ridge = RIDGE.map(|ridge| ((ridge * count * count) >> shift).max(1));
        let mut factors = [[0i64; TERMS]; TERMS];
        let mut pivots = [0i64; TERMS];
        let mut solution = [0i64; TERMS];
        for i in 0..TERMS {
            let own = self.sums[i];
            let mut row = [0i64; TERMS];
            for j in 0..=i {
                let mut entry = covariance(self.products[i][j], own, self.sums[j]);
                for k in 0..j {
                    entry -= (row[k] * factors[j][k]) >> FACTOR_BITS;
                }
                row[j] = entry.clamp(-ENTRY_MAX, ENTRY_MAX);
                if j < i {
                    factors[i][j] = quotient(row[j], pivots[j], FACTOR_MAX);
                }
            }
            // The diagonal entry took the factors of its own row as they were found.
            pivots[i] = row[i].max(0) + ridge[i];
            let mut right = covariance(self.goal[i], own, self.goal_sum);
            for k in 0..i {
                right -= (factors[i][k] * solution[k]) >> FACTOR_BITS;
            }
            solution[i] = right.clamp(-ENTRY_MAX, ENTRY_MAX);
        }
        for i in (0..TERMS).rev() {
            let mut weight = quotient(solution[i], pivots[i], SOLUTION_MAX);
            for k in i + 1..TERMS {
                weight -= (factors[k][i] * solution[k]) >> FACTOR_BITS;
            }
            solution[i] = weight.clamp(-SOLUTION_MAX, SOLUTION_MAX);
        }
        const EXTRA: u32 = FACTOR_BITS - WEIGHT_BITS;
        solution.map(|weight| {
            ((weight + (1 << (EXTRA - 1))) >> EXTRA).clamp(-WEIGHT_MAX, WEIGHT_MAX) as i32
        })
    }
}

/// Largest weight: eight.
const WEIGHT_MAX: i64 = 32767;

/// A quotient with [`FACTOR_BITS`] fractional bits, limited.
fn quotient(entry: i64, pivot: i64, most: i64) -> i64 {
    ((entry << FACTOR_BITS) / pivot).clamp(-most, most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_dict::PlaneKind;
    use tessera_patch::Shape;

    const SIDE: usize = 128;

    fn plane(sample: impl Fn(usize, usize) -> i32) -> PlaneBuffer {
        let samples = (0..SIDE * SIDE).map(|at| sample(at % SIDE, at / SIDE) as u16);
        PlaneBuffer {
            data: samples.collect(),
            stride: SIDE,
        }
    }

    fn site(x: usize, y: usize, shape: Shape) -> Site {
        Site {
            kind: PlaneKind::Chroma,
            component: 0,
            x,
            y,
            shape,
        }
    }

    fn predicted(luma: &PlaneBuffer, chroma: &PlaneBuffer, site: &Site) -> Vec<i32> {
        let mut out = vec![-1; site.shape.area()];
        predict_from_luma_taps(luma, chroma, site, &mut out);
        out
    }

    /// The largest error of the prediction of a patch.
    fn error(luma: &PlaneBuffer, chroma: &PlaneBuffer, site: &Site) -> i32 {
        let out = predicted(luma, chroma, site);
        let errors = out.iter().enumerate().map(|(at, &value)| {
            let (x, y) = (at % site.shape.width(), at / site.shape.width());
            (value - chroma.sample(site.x + x, site.y + y)).abs()
        });
        errors.max().unwrap()
    }

    /// Luma of many values everywhere.
    fn texture(x: usize, y: usize) -> i32 {
        (x * 37 + y * 91 + x * y * 5) as i32 % 1500 + 1000
    }

    #[test]
    fn curves_from_luma_and_slopes_across_are_followed() {
        let luma = plane(texture);
        let curve = |x: usize, y: usize| {
            let level = texture(x, y) - 1700;
            2100 + level / 3 - level * level / 3000 + 2 * x as i32 - y as i32
        };
        let chroma = plane(curve);
        for shape in Shape::all().filter(|shape| shape.area() >= 64) {
            let worst = error(&luma, &chroma, &site(64, 64, shape));
            assert!(worst <= 12, "{shape:?}: {worst}");
        }
    }

    #[test]
    fn a_patch_without_neighbours_is_gray_and_flat_chroma_stays_flat() {
        let (luma, chroma) = (plane(texture), plane(|_, _| 1234));
        let shape = Shape::new(8, 8).unwrap();
        let alone = predicted(&luma, &chroma, &site(0, 0, shape));
        assert!(alone.iter().all(|&value| value == MIDDLE));
        for (x, y) in [(0, 8), (8, 0), (64, 64)] {
            assert_eq!(error(&luma, &chroma, &site(x, y, shape)), 0);
        }
    }

    #[test]
    fn extreme_samples_keep_to_the_range() {
        // Debug builds also watch for overflow.
        let noise = |seed: u32| {
            plane(move |x, y| {
                let mixed =
                    (x as u32 * 7919 + y as u32 * 104_729 + seed).wrapping_mul(2_654_435_761);
                if mixed >> 31 == 1 { SAMPLE_MAX } else { 0 }
            })
        };
        let planes = [
            noise(1),
            noise(5),
            plane(|x, _| if x < 63 { 0 } else { SAMPLE_MAX }),
            plane(|_, _| SAMPLE_MAX),
            plane(|_, _| 0),
        ];
        for luma in &planes {
            for chroma in &planes {
                for shape in Shape::all() {
                    for (x, y) in [(0, 0), (0, 64), (64, 0), (64, 64)] {
                        let out = predicted(luma, chroma, &site(x, y, shape));
                        assert!(out.iter().all(|value| (0..=SAMPLE_MAX).contains(value)));
                    }
                }
            }
        }
    }
}

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

/// What the luma around a patch tells about both of its components.
#[derive(Debug)]
pub(crate) struct LumaTaps<'a> {
    luma: &'a PlaneBuffer,
    site: &'a Site,
    around: Around,
    terms: [[i32; SAMPLES]; TERMS],
    /// Of every term.
    sums: [i64; TERMS],
    system: Decomposition,
}

impl<'a> LumaTaps<'a> {
    pub(crate) fn new(luma: &'a PlaneBuffer, site: &'a Site) -> Self {
        let around = Around::of(luma, site);
        let terms = around.terms();
        let moments = moments(&terms, around.count);
        Self {
            luma,
            site,
            system: Decomposition::of(&moments, around.count as i64),
            around,
            terms,
            sums: moments.sums,
        }
    }

    /// Predicts the patch of a component whose samples are `chroma`.
    pub(crate) fn predict(&self, chroma: &PlaneBuffer, out: &mut [i32]) {
        let model = self.fit(chroma);
        match self.site.shape.width() {
            4 => follow_taps::<4>(self, model, out),
            8 => follow_taps::<8>(self, model, out),
            16 => follow_taps::<16>(self, model, out),
            32 => follow_taps::<32>(self, model, out),
            _ => follow_taps::<64>(self, model, out),
        }
    }

    /// The weighted sum that comes closest to the decoded chroma around the patch.
    fn fit(&self, chroma: &PlaneBuffer) -> Model {
        let count = self.around.count;
        let middle = MIDDLE << WEIGHT_BITS;
        if count == 0 {
            return Model {
                weights: [0; TERMS],
                bias: middle,
            };
        }
        let mut goal = [0; SAMPLES];
        for (goal, &at) in goal.iter_mut().zip(&self.around.places[..count]) {
            *goal = i32::from(chroma.data[at]) - MIDDLE;
        }
        let (sum, products) = goal_moments(&self.terms, &goal, count);
        let count = count as i64;
        let weights = self
            .system
            .solve(|i| count * products[i] - self.sums[i] * sum);
        let explained = weights.iter().zip(self.sums);
        let explained: i64 = explained.map(|(&w, sum)| i64::from(w) * sum).sum();
        let rest = (sum << WEIGHT_BITS) - explained;
        Model {
            weights,
            bias: rest.div_euclid(count) as i32 + middle,
        }
    }
}

/// A weighted sum of the terms; all have [`WEIGHT_BITS`] fractional bits.
#[derive(Clone, Copy)]
struct Model {
    weights: [i32; TERMS],
    bias: i32,
}

/// Luma at the places that weights are fitted to: two rows above the patch and two columns to its left.
#[derive(Debug)]
struct Around {
    count: usize,
    /// Where the samples of the planes are.
    places: [usize; SAMPLES],
    own: [i32; SAMPLES],
    /// Sums of the four neighbours.
    neighbours: [i32; SAMPLES],
    /// From the first column of the patch, and from its first row.
    distances: [[i32; SAMPLES]; 2],
    mean: i32,
}

impl Around {
    fn of(luma: &PlaneBuffer, site: &Site) -> Self {
        let (w, h) = (site.shape.width(), site.shape.height());
        let mut around = Self {
            count: 0,
            places: [0; SAMPLES],
            own: [0; SAMPLES],
            neighbours: [0; SAMPLES],
            distances: [[0; SAMPLES]; 2],
            mean: 0,
        };
        // Beyond the patch, and beyond the canvas, samples repeat.
        for away in 1..=LINES {
            if site.y > 0 {
                for x in (0..w).step_by((w / PLACES).max(1)) {
                    let left = usize::from(site.x + x > 0);
                    let right = usize::from(x + 1 < w);
                    let (at, distance) = ((site.x + x, site.y - away), [x as i32, -(away as i32)]);
                    around.add(luma, at, distance, [left, right, 1, 1]);
                }
            }
            if site.x > 0 {
                for y in (0..h).step_by((h / PLACES).max(1)) {
                    let above = usize::from(site.y + y > 0);
                    let below = usize::from(y + 1 < h);
                    let (at, distance) = ((site.x - away, site.y + y), [-(away as i32), y as i32]);
                    around.add(luma, at, distance, [1, 1, above, below]);
                }
            }
        }
        let (sum, count) = (around.own.iter().sum::<i32>(), around.count as i32);
        around.mean = (sum + count / 2) / count.max(1);
        around
    }

    /// Adds a place whose neighbours are so far to the left and right, above and below.
    #[inline(always)]
    fn add(
        &mut self,
        luma: &PlaneBuffer,
        (x, y): (usize, usize),
        distance: [i32; 2],
        [left, right, above, below]: [usize; 4],
    ) {
        let at = y * luma.stride + x;
        let sample = |at: usize| i32::from(luma.data[at]);
        let (above, below) = (at - above * luma.stride, at + below * luma.stride);
        let place = self.count;
        self.places[place] = at;
        self.own[place] = sample(at);
        self.neighbours[place] =
            sample(at - left) + sample(at + right) + sample(above) + sample(below);
        for (distances, distance) in self.distances.iter_mut().zip(distance) {
            distances[place] = distance;
        }
        self.count += 1;
    }

    /// The terms of all places; those beyond the last one mean nothing.
    fn terms(&self) -> [[i32; SAMPLES]; TERMS] {
        let mut terms = [[0; SAMPLES]; TERMS];
        let [levels, sharpness, squares, across, down] = &mut terms;
        for at in 0..SAMPLES {
            [levels[at], sharpness[at], squares[at]] =
                luma_terms(self.own[at], self.neighbours[at], self.mean);
            across[at] = PLACE * self.distances[0][at];
            down[at] = PLACE * self.distances[1][at];
        }
        terms
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
    fn follow_taps<const W: usize>(taps: &LumaTaps<'_>, model: Model, out: &mut [i32]) {
        let Site { x, y, .. } = *taps.site;
        let rows = out.as_chunks_mut::<W>().0;
        let last = y + rows.len() - 1;
        let row_of = |y: usize| -> &[u16; W] {
            let row = taps.luma.data[y * taps.luma.stride + x..].first_chunk();
            row.expect("patches lie on the canvas")
        };
        let [level_weight, sharpness_weight, square_weight, across, down] = model.weights;
        for (at, out) in rows.iter_mut().enumerate() {
            let own = row_of(y + at);
            let (above, below) = (row_of((y + at).saturating_sub(1)), row_of((y + at + 1).min(last)));
            let mut sides = [0; W];
            sides[0] = taps.luma.sample(x.saturating_sub(1), y + at) + i32::from(own[1]);
            for i in 1..W - 1 {
                sides[i] = i32::from(own[i - 1]) + i32::from(own[i + 1]);
            }
            sides[W - 1] = i32::from(own[W - 2]) + i32::from(own[W - 1]);
            let start = model.bias + down * PLACE * at as i32 + (1 << (WEIGHT_BITS - 1));
            for i in 0..W {
                let around = i32::from(above[i]) + i32::from(below[i]) + sides[i];
                let [level, sharpness, square] =
                    luma_terms(i32::from(own[i]), around, taps.around.mean);
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
}

kernel! {
    /// Adds up terms and their products over the first `count` places.
    fn moments(terms: &[[i32; SAMPLES]; TERMS], count: usize) -> Moments {
        let mut products = [[0; TERMS]; TERMS];
        for (i, row) in products.iter_mut().enumerate() {
            for j in 0..=i {
                row[j] = dot(&terms[i], &terms[j], count);
            }
        }
        let sum = |term: &[i32; SAMPLES]| i64::from(term[..count].iter().sum::<i32>());
        Moments { sums: terms.each_ref().map(sum), products }
    }
}

kernel! {
    /// Adds up what is to be explained, and its products with the terms.
    fn goal_moments(terms: &[[i32; SAMPLES]; TERMS], goal: &[i32; SAMPLES], count: usize) -> (i64, [i64; TERMS]) {
        let sum = i64::from(goal[..count].iter().sum::<i32>());
        let mut products = [0; TERMS];
        for (product, term) in products.iter_mut().zip(terms) {
            *product = dot(term, goal, count);
        }
        (sum, products)
    }
}

#[inline(always)]
fn dot(a: &[i32; SAMPLES], b: &[i32; SAMPLES], count: usize) -> i64 {
    let products = a[..count].iter().zip(&b[..count]).map(|(a, b)| a * b);
    i64::from(products.sum::<i32>())
}

/// Fractional bits of factors of the decomposition and of weights while they are found.
const FACTOR_BITS: u32 = 18;
/// Bounds of entries, of factors and of weights while they are found: products stay below 2^62.
const ENTRY_MAX: i64 = 1 << 31;
const FACTOR_MAX: i64 = 1 << 30;
const SOLUTION_MAX: i64 = 1 << 24;
/// Largest weight: eight.
const WEIGHT_MAX: i64 = 32767;

/// The matrix of the normal equations with a ridge as L D L'.
#[derive(Debug)]
struct Decomposition {
    /// Covariances keep six fractional bits, up to a factor of four, and stay below 2^30.
    shift: u32,
    /// L below its diagonal.
    factors: [[i64; TERMS]; TERMS],
    /// D.
    pivots: [i64; TERMS],
}

impl Decomposition {
    fn of(moments: &Moments, count: i64) -> Self {
        // There are eight places or more, or none.
        let shift = 2 * (count - 1).max(7).ilog2() - 4;
        let mut factors = [[0i64; TERMS]; TERMS];
        let mut pivots = [0i64; TERMS];
        for i in 0..TERMS {
            let mut row = [0i64; TERMS];
            for j in 0..=i {
                let product = count * moments.products[i][j];
                let mut entry = (product - moments.sums[i] * moments.sums[j]) >> shift;
                for k in 0..j {
                    entry -= (row[k] * factors[j][k]) >> FACTOR_BITS;
                }
                row[j] = entry.clamp(-ENTRY_MAX, ENTRY_MAX);
                if j < i {
                    factors[i][j] = quotient(row[j], pivots[j], FACTOR_MAX);
                }
            }
            // Rounding may leave less than nothing of what the terms before do not explain.
            pivots[i] = row[i].max(0) + ((RIDGE[i] * count * count) >> shift).max(1);
        }
        Self {
            shift,
            factors,
            pivots,
        }
    }

    /// The weights for a right-hand side in the units of the products.
    fn solve(&self, right: impl Fn(usize) -> i64) -> [i32; TERMS] {
        let mut solution = [0i64; TERMS];
        for i in 0..TERMS {
            let mut entry = right(i) >> self.shift;
            for (factor, known) in self.factors[i][..i].iter().zip(&solution) {
                entry -= (factor * known) >> FACTOR_BITS;
            }
            solution[i] = entry.clamp(-ENTRY_MAX, ENTRY_MAX);
        }
        for i in (0..TERMS).rev() {
            let mut weight = quotient(solution[i], self.pivots[i], SOLUTION_MAX);
            for (factors, known) in self.factors[i + 1..].iter().zip(&solution[i + 1..]) {
                weight -= (factors[i] * known) >> FACTOR_BITS;
            }
            solution[i] = weight.clamp(-SOLUTION_MAX, SOLUTION_MAX);
        }
        const EXTRA: u32 = FACTOR_BITS - WEIGHT_BITS;
        solution.map(|weight| {
            let rounded = (weight + (1 << (EXTRA - 1))) >> EXTRA;
            rounded.clamp(-WEIGHT_MAX, WEIGHT_MAX) as i32
        })
    }
}

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
        LumaTaps::new(luma, site).predict(chroma, &mut out);
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

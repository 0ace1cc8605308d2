//! How well luma explains chroma: what a line from luma to chroma leaves in every block of a superblock, and along which
//! axis chroma changes.
//!
//! Where it leaves much, large chroma blocks are not worth a trial, but straight predictions may be; asking costs a
//! hundredth of a trial.

use crate::encoder::lookahead::{CELLS_ACROSS, place_of, quarters_of};
use crate::simd::kernel;
use crate::tile::syntax::{Block, Split};
use tessera_patch::Shape;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// Middle of the samples' range: sums of squares stay small around it.
const MIDDLE: f32 = 2048.0;
/// Variance of luma below which it explains little.
const NOISE: f64 = 64.0;

/// Sums over the samples of a block: luma, its square, and of both chroma components themselves, their squares and
/// their products with luma; then the squared differences of chroma from column to column and from row to row.
#[derive(Clone, Copy, Debug, Default)]
struct Moments([f64; SUMS]);

const SUMS: usize = 10;

impl Moments {
    fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    /// Squared error of both components' lines over this many samples.
    fn residual(&self, samples: usize) -> f64 {
        let n = samples as f64;
        let [l, ll, sums @ .., _, _] = self.0;
        let luma = ll - l * l / n + n * NOISE;
        let line = |[c, cc, lc]: [f64; 3]| {
            let both = lc - l * c / n;
            (cc - c * c / n - both * both / luma).max(0.0)
        };
        line([sums[0], sums[1], sums[2]]) + line([sums[3], sums[4], sums[5]])
    }
}

/// What luma leaves of chroma in a block, in squared steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CflResidual {
    pub(crate) whole: f32,
    /// By rows, by columns.
    pub(crate) halves: [f32; 2],
}

/// The chroma of a patch, in squared steps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Colour {
    /// What luma leaves of it.
    pub(crate) unexplained: f32,
    /// Squared differences from column to column.
    pub(crate) across: f32,
    /// Squared differences from row to row.
    pub(crate) down: f32,
}

/// The moments of all square blocks of one superblock.
#[derive(Debug, Default)]
pub(crate) struct CflStats {
    /// By size from 64 down to 4, in raster order.
    levels: [Vec<Moments>; 5],
}

impl CflStats {
    /// Of the superblock at (`x0`, `y0`) of planes whose sides are multiples of 8.
    pub(crate) fn of(planes: &[Vec<u16>], stride: usize, x0: usize, y0: usize) -> Self {
        let mut levels: [Vec<Moments>; 5] =
            std::array::from_fn(|level| vec![Moments::default(); 1 << (2 * level)]);
        sum_cells(planes, stride, (x0, y0), &mut levels[4]);
        for level in (0..4).rev() {
            let (coarse, fine) = levels.split_at_mut(level + 1);
            for (at, sum) in coarse[level].iter_mut().enumerate() {
                let [a, b, c, d] = quarters_of(level, at).map(|at| &fine[0][at]);
                *sum = a.plus(b).plus(&c.plus(d));
            }
        }
        Self { levels }
    }

    /// The chroma of a patch, `step` being that of chroma.
    pub(crate) fn colour_of(&self, x: usize, y: usize, shape: Shape, step: f32) -> Colour {
        let side = shape.width().min(shape.height());
        let mut sum = Moments::default();
        for dy in (0..shape.height()).step_by(side) {
            for dx in (0..shape.width()).step_by(side) {
                let (level, at) = place_of(Block {
                    x: x + dx,
                    y: y + dy,
                    size: side,
                });
                sum = sum.plus(&self.levels[level][at]);
            }
        }
        let scale = 1.0 / f64::from(step * step);
        let [.., across, down] = sum.0;
        Colour {
            unexplained: (sum.residual(shape.area()) * scale) as f32,
            across: (across * scale) as f32,
            down: (down * scale) as f32,
        }
    }

    /// What is left of a block that can be divided, `step` being that of chroma.
    pub(crate) fn residual_of(&self, block: Block, step: f32) -> CflResidual {
        let (level, at) = place_of(block);
        let parts = quarters_of(level, at).map(|at| &self.levels[level + 1][at]);
        let area = block.size * block.size;
        let scale = 1.0 / f64::from(step * step);
        let left = |moments: &Moments, samples: usize| (moments.residual(samples) * scale) as f32;
        let halved = |split: Split| {
            let (first, second) = match split {
                Split::Rows => (parts[0].plus(parts[1]), parts[2].plus(parts[3])),
                _ => (parts[0].plus(parts[2]), parts[1].plus(parts[3])),
            };
            left(&first, area / 2) + left(&second, area / 2)
        };
        CflResidual {
            whole: left(&self.levels[level][at], area),
            halves: [Split::Rows, Split::Columns].map(halved),
        }
    }
}

/// Samples of a row that are summed up side by side: those of two cells.
const LANES: usize = 2 * MIN_SIDE;

kernel! {
    /// Sums up the smallest blocks of the superblock at a place.
    fn sum_cells(
        planes: &[Vec<u16>],
        stride: usize,
        place: (usize, usize),
        cells: &mut [Moments],
    ) {
        let (x0, y0) = place;
        let rows = planes[0].len() / stride;
        for y in (y0..(y0 + SUPERBLOCK).min(rows)).step_by(MIN_SIDE) {
            for x in (x0..(x0 + SUPERBLOCK).min(stride)).step_by(LANES) {
                let sums = sum_two_cells(planes, stride, x, y);
                let first = (y - y0) / MIN_SIDE * CELLS_ACROSS + (x - x0) / MIN_SIDE;
                for (cell, start) in [0, MIN_SIDE].into_iter().enumerate() {
                    cells[first + cell] = Moments(sums.map(|lanes| {
                        let lanes = &lanes[start..start + MIN_SIDE];
                        lanes.iter().map(|&lane| f64::from(lane)).sum()
                    }));
                }
            }
        }
    }
}

/// Sums over the rows of the two cells at (`x`, `y`), column by column.
#[inline(always)]
fn sum_two_cells(planes: &[Vec<u16>], stride: usize, x: usize, y: usize) -> [[f32; LANES]; SUMS] {
    let mut sums = [[0f32; LANES]; SUMS];
    let mut above = None;
    for y in y..y + MIN_SIDE {
        let [l, u, v] = [0, 1, 2].map(|plane: usize| {
            let row: &[u16; LANES] = planes[plane][y * stride + x..]
                .first_chunk()
                .expect("a block lies in its plane");
            row.map(|sample| f32::from(sample) - MIDDLE)
        });
        let [up_u, up_v] = above.replace([u, v]).unwrap_or([u, v]);
        for i in 0..LANES {
            let terms = [
                l[i],
                l[i] * l[i],
                u[i],
                u[i] * u[i],
                l[i] * u[i],
                v[i],
                v[i] * v[i],
                l[i] * v[i],
                square(right_of(i, &u) - u[i]) + square(right_of(i, &v) - v[i]),
                square(up_u[i] - u[i]) + square(up_v[i] - v[i]),
            ];
            for (sum, term) in sums.iter_mut().zip(terms) {
                sum[i] += term;
            }
        }
    }
    sums
}

#[inline(always)]
fn square(value: f32) -> f32 {
    value * value
}

/// The sample right of another one in its cell, or that one if there is none.
#[inline(always)]
fn right_of(at: usize, row: &[f32; LANES]) -> f32 {
    if at % MIN_SIDE == MIN_SIDE - 1 {
        row[at]
    } else {
        row[at + 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIDE: usize = SUPERBLOCK;

    fn block(x: usize, y: usize, size: usize) -> Block {
        Block { x, y, size }
    }

    /// Luma with some texture, and chroma by `chroma` from place and luma.
    fn planes(chroma: impl Fn(usize, usize, f32) -> f32) -> Vec<Vec<u16>> {
        let place = |at: usize| (at % SIDE, at / SIDE);
        let luma = |at: usize| (1000 + at * at % 977 * 2) as f32;
        let plane = |value: &dyn Fn(usize) -> f32| {
            let samples = (0..SIDE * SIDE).map(value);
            samples.map(|sample| sample as u16).collect()
        };
        let colour = |at: usize| chroma(place(at).0, place(at).1, luma(at));
        vec![plane(&luma), plane(&colour), plane(&colour)]
    }

    #[test]
    fn a_line_from_luma_leaves_next_to_nothing() {
        let planes = planes(|_, _, luma| 1000.0 + luma / 2.0);
        let left = CflStats::of(&planes, SIDE, 0, 0).residual_of(block(0, 0, SIDE), 1.0);
        // Of a variance of 80,000 per sample and component, what the allowance for noise takes off a slope of a half.
        let most = 2.0 * NOISE as f32 / 4.0;
        assert!(left.whole / ((SIDE * SIDE) as f32) <= most, "{left:?}");
    }

    #[test]
    fn an_edge_in_chroma_is_explained_by_halves_along_it() {
        let planes = planes(|_, y, _| if y < SIDE / 2 { 1000.0 } else { 3000.0 });
        let left = CflStats::of(&planes, SIDE, 0, 0).residual_of(block(0, 0, SIDE), 10.0);
        let [rows, columns] = left.halves;
        assert!(rows < 1.0, "{left:?}");
        assert!(left.whole > 1e6 && columns > 1e6, "{left:?}");
    }

    #[test]
    fn stripes_change_along_one_axis() {
        let planes = planes(|x, _, _| 1000.0 + (x * x % 97) as f32);
        let explained = CflStats::of(&planes, SIDE, 0, 0);
        for shape in [Shape::new(8, 8), Shape::new(32, 16), Shape::new(4, 8)] {
            let colour = explained.colour_of(32, 16, shape.unwrap(), 1.0);
            assert!(colour.down == 0.0 && colour.across > 100.0, "{colour:?}");
            assert!(colour.unexplained > 100.0, "{colour:?}");
        }
    }

    #[test]
    fn blocks_are_found_at_their_places() {
        let planes = planes(|x, y, _| {
            if x >= 48 && y < 16 {
                (x * y) as f32
            } else {
                500.0
            }
        });
        let explained = CflStats::of(&planes, SIDE, 0, 0);
        assert!(explained.residual_of(block(48, 0, 16), 1.0).whole > 1e4);
        assert!(explained.residual_of(block(32, 0, 16), 1.0).whole < 1.0);
        assert!(explained.residual_of(block(48, 16, 16), 1.0).whole < 1.0);
    }
}

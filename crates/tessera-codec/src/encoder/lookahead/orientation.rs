//! Which directions a block's edges run along, from the gradients of its original samples.
//!
//! A direction predicts well where samples hardly change along it. Counting gradients tells the few directions
//! worth a prediction at a hundredth of what predicting along all of them costs.

use crate::encoder::lookahead::{CELLS_ACROSS, place_of, quarters_of};
use crate::encoder::source::Source;
use crate::simd::kernel;
use crate::tile::intra::{ANGLES, HORIZONTAL, MODES, VERTICAL};
use crate::tile::syntax::Block;
use std::sync::LazyLock;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

const DIRECTIONS: usize = MODES - 2;
/// Gradients are counted in these many steps of the angle from one diagonal to the other.
const SLOPES: usize = 65;

/// The direction of a slope from -32 to 32 in 1/32 sample per row among those from above, then of one in 1/32 sample
/// per column among those from the left.
static NEAREST: LazyLock<[u8; 2 * SLOPES]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let slope = (at % SLOPES) as i32 - 32;
        let above = VERTICAL - 8..=VERTICAL + 8;
        let nearest = above.min_by_key(|&mode| ANGLES[mode - 2].abs_diff(slope));
        let nearest = nearest.expect("there are directions");
        if at < SLOPES {
            nearest as u8
        } else {
            (VERTICAL + HORIZONTAL - nearest) as u8
        }
    })
});

type Histogram = [f32; DIRECTIONS];

/// Strength of the edges along each direction, for every square block of a superblock.
#[derive(Debug)]
pub(crate) struct Orientations {
    /// By size from 64 down to 4, in raster order.
    levels: [Vec<Histogram>; 5],
}

impl Orientations {
    /// Of a superblock of luma whose sides are multiples of 4, from every `step`th sample both ways.
    pub(crate) fn of(source: &Source, superblock: Block, step: usize) -> Self {
        Self::of_plane(source.luma(), source.stride, superblock, step)
    }

    fn of_plane(plane: &[u16], stride: usize, superblock: Block, step: usize) -> Self {
        let (x0, y0) = (superblock.x, superblock.y);
        let mut levels: [Vec<Histogram>; 5] =
            std::array::from_fn(|level| vec![[0.0; DIRECTIONS]; 1 << (2 * level)]);
        let rows = plane.len() / stride;
        let row = |y: usize| framed(&plane[y.min(rows - 1) * stride..][..stride], x0);
        let nearest = &*NEAREST;
        for y in (y0..(y0 + SUPERBLOCK).min(rows)).step_by(step) {
            let edges = find_edges([y.saturating_sub(1), y, y + 1].map(row));
            let first = (y - y0) / MIN_SIDE * CELLS_ACROSS;
            let cells = &mut levels[4][first..first + CELLS_ACROSS];
            for x in (0..SUPERBLOCK.min(stride - x0)).step_by(step) {
                let direction = usize::from(nearest[edges.slopes[x] as usize]);
                cells[x / MIN_SIDE][direction - 2] += edges.strengths[x];
            }
        }
        for level in (0..4).rev() {
            let (coarse, fine) = levels.split_at_mut(level + 1);
            add_up(&mut coarse[level], &fine[0], level);
        }
        Self { levels }
    }

    /// The strongest directions of a block of which no two are next to each other, strongest first.
    pub(crate) fn strongest<const N: usize>(&self, block: Block) -> [usize; N] {
        let (level, at) = place_of(block);
        let histogram = &self.levels[level][at];
        let mut padded = [0f32; DIRECTIONS + 2];
        padded[1..=DIRECTIONS].copy_from_slice(histogram);
        (padded[0], padded[DIRECTIONS + 1]) = (histogram[0], histogram[DIRECTIONS - 1]);
        let mut smooth = [-1f32; DIRECTIONS.next_multiple_of(8)];
        for (i, value) in smooth[..DIRECTIONS].iter_mut().enumerate() {
            *value = 2.0 * padded[i + 1] + padded[i] + padded[i + 2];
        }
        std::array::from_fn(|_| {
            let largest = largest(&smooth);
            let best = smooth.iter().rposition(|&strength| strength == largest);
            let best = best.expect("one of them is the largest");
            smooth[best.saturating_sub(1)..=(best + 1).min(DIRECTIONS - 1)].fill(-1.0);
            best + 2
        })
    }
}

/// The largest of some numbers, in lanes.
fn largest(values: &[f32]) -> f32 {
    let larger = |a: f32, b: f32| if b > a { b } else { a };
    let mut lanes = [f32::NEG_INFINITY; 8];
    for chunk in values.as_chunks::<8>().0 {
        for i in 0..8 {
            lanes[i] = larger(lanes[i], chunk[i]);
        }
    }
    lanes.into_iter().fold(f32::NEG_INFINITY, larger)
}

/// The samples of a row in a superblock, with one more at each end.
type Framed = [i32; SUPERBLOCK + 2];

/// The samples from `x0` on; beyond both ends of the row they repeat.
fn framed(row: &[u16], x0: usize) -> Framed {
    let last = row.len() - 1;
    let mut out = [i32::from(row[last]); SUPERBLOCK + 2];
    out[0] = i32::from(row[x0.saturating_sub(1)]);
    for (to, &from) in out[1..].iter_mut().zip(&row[x0..]) {
        *to = i32::from(from);
    }
    out
}

/// The edges through the samples of a row.
struct EdgeRow {
    /// Places in [`NEAREST`].
    slopes: [i32; SUPERBLOCK],
    /// Zero where there is no edge.
    strengths: [f32; SUPERBLOCK],
}

kernel! {
    /// The edges through the middle one of three rows.
    fn find_edges(rows: [Framed; 3]) -> EdgeRow {
        let [above, middle, below] = rows;
        let mut edges = EdgeRow {
            slopes: [0; SUPERBLOCK],
            strengths: [0.0; SUPERBLOCK],
        };
        for x in 0..SUPERBLOCK {
            let column = |x: usize| above[x] + 2 * middle[x] + below[x];
            let line = |row: &Framed| row[x] + 2 * row[x + 1] + row[x + 2];
            let across = (column(x + 2) - column(x)) as f32;
            let down = (line(&below) - line(&above)) as f32;
            let steep = down.abs() <= across.abs();
            let (less, more) = if steep {
                (down, across)
            } else {
                (across, down)
            };
            edges.strengths[x] = across.abs() + down.abs();
            // Where there is no edge this divides by zero, and the place is the first one.
            let slope = (32.5 + 32.0 * (less / more)) as i32;
            edges.slopes[x] = slope + if steep { 0 } else { SLOPES as i32 };
        }
        edges
    }
}

/// Adds the histograms of quarters up to those of `level`.
fn add_up(coarse: &mut [Histogram], fine: &[Histogram], level: usize) {
    for (at, sum) in coarse.iter_mut().enumerate() {
        for part in quarters_of(level, at) {
            for (sum, part) in sum.iter_mut().zip(&fine[part]) {
                *sum += part;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A wave along (`dx`, `dy`).
    fn wave(dx: f64, dy: f64) -> Vec<u16> {
        let sample = |at: usize| {
            let phase = 0.4 * ((at % 64) as f64 * dx + (at / 64) as f64 * dy);
            (2048.0 + 1000.0 * phase.sin()) as u16
        };
        (0..64 * 64).map(sample).collect()
    }

    #[test]
    fn waves_run_along_their_crests() {
        let whole = Block {
            x: 0,
            y: 0,
            size: 64,
        };
        for (dx, dy, direction) in [
            (1.0, 0.0, VERTICAL),
            (0.0, 1.0, HORIZONTAL),
            (1.0, 1.0, 34),
            (1.0, -1.0, 18),
            (1.0, 0.5, VERTICAL + 5),
            (0.5, 1.0, HORIZONTAL - 5),
        ] {
            let orientations = Orientations::of_plane(&wave(dx, dy), 64, whole, 1);
            let [found] = orientations.strongest(whole);
            // Both ends of the scale are the same diagonal.
            let ends = [found, direction].iter().all(|mode| [2, 34].contains(mode));
            assert!(found.abs_diff(direction) <= 1 || ends, "{dx} {dy}: {found}");
        }
    }
}

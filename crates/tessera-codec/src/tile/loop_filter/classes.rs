//! Classes of samples: how busy their surroundings are, in which direction, and whether a patch ends there.

use crate::simd::kernel;
use crate::tile::transform::quantiser::Step;
use std::iter;
use tessera_dict::filter::{ACTIVITIES, DIRECTIONS};
use tessera_patch::shape::SUPERBLOCK;

/// Reach of the filter.
pub(crate) const MARGIN: usize = 3;
/// Side of the cells that share activity and direction.
pub(crate) const CELL: usize = 4;
/// Samples of a row that are worked on at once: so many that compilers make loops over vectors of them.
pub(crate) const BLOCK: usize = SUPERBLOCK;
/// Cells in a block.
pub(crate) const CELLS: usize = BLOCK / CELL;

/// A row of a block with what lies left and right of it.
type Window = [i16; BLOCK + 2 * MARGIN];
/// The rows of a block that the filter of its middle row reaches.
pub(crate) type Windows<'a> = [&'a Window; 2 * MARGIN + 1];

/// The samples of a window from `start` on.
#[inline(always)]
pub(crate) fn block_at(window: &Window, start: usize) -> &[i16; BLOCK] {
    let block = window[start..].first_chunk();
    block.expect("a window has margins on both sides")
}

/// Rows above and below a band that bear on the classes of its samples: those of the next cells, and one more.
pub(crate) const REACH: usize = CELL + 1;

/// A band of rows and [`REACH`] rows above and below it, with their outermost samples repeated [`MARGIN`] times on both
/// sides and filled up to whole blocks.
pub(crate) struct Framed {
    data: Vec<i16>,
    stride: usize,
}

impl Framed {
    /// Of rows of `width` samples; where there are none above or below, the outermost ones are repeated.
    pub(crate) fn new(rows: &[u16], width: usize, around: [Option<&[u16]>; 2]) -> Self {
        let rows: Vec<&[u16]> = rows.chunks_exact(width).collect();
        let [above, below] = [(around[0], rows[0]), (around[1], rows[rows.len() - 1])].map(
            |(there, outermost)| -> [&[u16]; REACH] {
                match there {
                    Some(there) => std::array::from_fn(|y| &there[y * width..][..width]),
                    None => [outermost; REACH],
                }
            },
        );
        let stride = width.next_multiple_of(BLOCK) + 2 * MARGIN;
        // Clearing it first would take longer than filling it.
        let mut data = Vec::with_capacity(stride * (rows.len() + 2 * REACH));
        for row in above.iter().chain(&rows).chain(&below) {
            data.extend([row[0] as i16; MARGIN]);
            data.extend(row.iter().map(|&sample| sample as i16));
            data.extend(iter::repeat_n(
                row[width - 1] as i16,
                stride - MARGIN - width,
            ));
        }
        Self { data, stride }
    }

    /// The block at column `x` of a row; rows are counted from the first that is framed.
    #[inline(always)]
    fn window(&self, x: usize, row: usize) -> &Window {
        let window = self.data[row * self.stride + x..].first_chunk();
        window.expect("rows are filled up to whole blocks")
    }

    /// The block at column `x` of row `y` of the band and those as far above and below as the filter reaches.
    #[inline(always)]
    pub(crate) fn windows(&self, x: usize, y: usize) -> Windows<'_> {
        let first = y + REACH - MARGIN;
        // Written out, because `array::map` is not inlined into kernels.
        [
            self.window(x, first),
            self.window(x, first + 1),
            self.window(x, first + 2),
            self.window(x, first + 3),
            self.window(x, first + 4),
            self.window(x, first + 5),
            self.window(x, first + 6),
        ]
    }

    /// The sample `dx` columns right of (x, y) and `dy` rows below.
    #[cfg(feature = "encoder")]
    pub(crate) fn sample(&self, x: usize, y: usize, dx: isize, dy: isize) -> i32 {
        let (column, row) = (x + MARGIN, y + REACH);
        let row = row.wrapping_add_signed(dy) * self.stride;
        i32::from(self.data[row + column.wrapping_add_signed(dx)])
    }
}

/// Sums of second differences along rows, columns and both diagonals, each for a row of cells.
type Gradients = [Vec<u32>; 4];

/// Which ends of a band are ends of its plane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) top: bool,
    pub(crate) bottom: bool,
}

/// Classes of one band, by cell; edges are added per sample.
pub(crate) struct Classes {
    columns: usize,
    cells: Vec<u8>,
}

#[cfg(feature = "encoder")]
impl Ends {
    /// Of a band that is the whole plane.
    pub(crate) const BOTH: Self = Self {
        top: true,
        bottom: true,
    };
}

impl Classes {
    /// Of a band of `width` x `height` samples whose superblocks have these steps.
    pub(crate) fn new(
        framed: &Framed,
        (width, height): (usize, usize),
        steps: &[Step],
        ends: Ends,
    ) -> Self {
        let (columns, rows) = (width / CELL, height / CELL);
        let across = width.div_ceil(SUPERBLOCK);
        let blank = || -> Gradients { std::array::from_fn(|_| vec![0; columns]) };
        // The rows above, at and below the one that is classified; those beyond the plane repeat its outermost ones.
        let mut around = [blank(), blank(), blank()];
        let first = REACH;
        sum_gradients(framed, first, &mut around[2]);
        if ends.top {
            around[1] = around[2].clone();
        } else {
            sum_gradients(framed, first - CELL, &mut around[1]);
        }
        let mut sums = std::array::from_fn(|_| vec![0; columns.next_multiple_of(CELLS) + 2]);
        let mut cells = vec![0; columns * rows];
        for (row, cells) in cells.chunks_exact_mut(columns).enumerate() {
            around.rotate_left(1);
            if row + 1 == rows && ends.bottom {
                let [_, own, below] = &mut around;
                below.clone_from(own);
            } else {
                sum_gradients(framed, first + (row + 1) * CELL, &mut around[2]);
            }
            let steps = &steps[row * CELL / SUPERBLOCK * across..][..across];
            classify_row(&around, &mut sums, steps, cells);
        }
        Self { columns, cells }
    }

    /// Classes of a row of cells.
    pub(crate) fn row(&self, row: usize) -> &[u8] {
        &self.cells[row * self.columns..][..self.columns]
    }

    #[cfg(feature = "encoder")]
    pub(crate) fn of(&self, x: usize, y: usize) -> usize {
        usize::from(self.row(y / CELL)[x / CELL])
    }
}

kernel! {
    /// Sums up the second differences of a row of cells that begins with a framed row.
    fn sum_gradients(framed: &Framed, first_row: usize, cells: &mut Gradients) {
        let columns = cells[0].len();
        for first in (0..columns).step_by(CELLS) {
            let mut sums = [[0u16; BLOCK]; 4];
            for y in 0..CELL {
                let (column, row) = (first * CELL, first_row + y);
                let above = framed.window(column, row - 1);
                let below = framed.window(column, row + 1);
                add_second_differences([above, framed.window(column, row), below], &mut sums);
            }
            for (cells, sums) in cells.iter_mut().zip(&sums) {
                let by_cell = sums.as_chunks::<CELL>().0;
                for (cell, samples) in cells[first..].iter_mut().zip(by_cell) {
                    *cell = samples.iter().map(|&v| u32::from(v)).sum();
                }
            }
        }
    }
}

kernel! {
    /// Classes of a row of cells from the gradients of three; `sums` is memory for a cell more on either side.
    fn classify_row(around: &[Gradients; 3], sums: &mut Gradients, steps: &[Step], classes: &mut [u8]) {
        let [above, own, below] = around;
        for (kind, sums) in sums.iter_mut().enumerate() {
            let rows = above[kind].iter().zip(&own[kind]).zip(&below[kind]);
            for (sum, ((above, own), below)) in sums[1..].iter_mut().zip(rows) {
                *sum = above + 2 * own + below;
            }
            let end = own[kind].len() + 1;
            (sums[0], sums[end]) = (sums[1], sums[end - 1]);
        }
        for ((block, classes), &step) in classes.chunks_mut(CELLS).enumerate().zip(steps) {
            let [rows, columns, falling, rising] = &*sums;
            let first = block * CELLS;
            let smoothed = [
                smoothed_block(rows, first),
                smoothed_block(columns, first),
                smoothed_block(falling, first),
                smoothed_block(rising, first),
            ];
            classes.copy_from_slice(&classify(&smoothed, step.fixed())[..classes.len()]);
        }
    }
}

/// A figure of every cell in a block.
type Cells<T> = [T; CELLS];

/// Cells from `first` on with their neighbours in the row, weighted 1 2 1.
#[inline(always)]
fn smoothed_block(sums: &[u32], first: usize) -> Cells<u32> {
    let window: &[u32; CELLS + 2] = sums[first..]
        .first_chunk()
        .expect("rows are filled up to whole blocks");
    let mut smoothed = [0; CELLS];
    for at in 0..CELLS {
        smoothed[at] = window[at] + 2 * window[at + 1] + window[at + 2];
    }
    smoothed
}

/// The sums of straight gradients from which on a cell is of the second activity, the third and so on, for a step.
fn activity_bounds(scale: u32) -> [u32; ACTIVITIES - 1] {
    // Where floor(4096 sum / scale) reaches a figure is where the sum reaches the figure times scale / 4096.
    BUSY.map(|busy| (u64::from(busy) * u64::from(scale)).div_ceil(1 << 12) as u32)
}

/// The least `v` of every activity but the first, where `log_class(v, 8, 3, 0, 8)` goes up.
const BUSY: [u32; ACTIVITIES - 1] = [427, 684, 1024, 1708, 2736, 4096, 6832];

/// Adds the second differences of the middle row; four rows of them stay below 2^15.
#[inline(always)]
fn add_second_differences([above, own, below]: [&Window; 3], sums: &mut [[u16; BLOCK]; 4]) {
    let centre = block_at(own, MARGIN);
    let (before, after) = (MARGIN - 1, MARGIN + 1);
    let [rows, columns, falling, rising] = sums;
    let pairs = [
        (block_at(own, before), block_at(own, after), rows),
        (block_at(above, MARGIN), block_at(below, MARGIN), columns),
        (block_at(above, before), block_at(below, after), falling),
        (block_at(above, after), block_at(below, before), rising),
    ];
    for (one, other, sums) in pairs {
        add_second(centre, one, other, sums);
    }
}

#[inline(always)]
fn add_second(
    own: &[i16; BLOCK],
    one: &[i16; BLOCK],
    other: &[i16; BLOCK],
    sums: &mut [u16; BLOCK],
) {
    for i in 0..BLOCK {
        sums[i] += (2 * own[i] - one[i] - other[i]).unsigned_abs();
    }
}

/// The classes of cells: their activity, and whether a direction stands out.
#[inline(always)]
fn classify(gradients: &[Cells<u32>; 4], scale: u32) -> Cells<u8> {
    let [rows, columns, falling, rising] = gradients;
    let bounds = activity_bounds(scale);
    let mut activities = [0u32; CELLS];
    for at in 0..CELLS {
        for bound in bounds {
            activities[at] += u32::from(rows[at] + columns[at] >= bound);
        }
    }
    let straight = Dominant::of(rows, columns, scale / 100);
    let diagonal = Dominant::of(falling, rising, scale / 100);
    let is_straight = straight.exceeds_or_equals(&diagonal);
    let mut classes = [0; CELLS];
    for at in 0..CELLS {
        let (direction, stands_out) = if is_straight[at] {
            (2 - straight.first[at], straight.stands_out[at])
        } else {
            (4 - diagonal.first[at], diagonal.stands_out[at])
        };
        let direction = if stands_out { direction } else { 0 };
        classes[at] = (activities[at] * DIRECTIONS as u32 + direction) as u8;
    }
    classes
}

/// The larger ones of two gradients at right angles, the others with something added that noise does not reach.
struct Dominant {
    most: Cells<u32>,
    other: Cells<u32>,
    /// 1 where the first is the larger one.
    first: Cells<u32>,
    stands_out: Cells<bool>,
}

impl Dominant {
    #[inline(always)]
    fn of(a: &Cells<u32>, b: &Cells<u32>, floor: u32) -> Self {
        let (mut most, mut other, mut first) = ([0; CELLS], [0; CELLS], [0; CELLS]);
        let mut stands_out = [false; CELLS];
        for at in 0..CELLS {
            most[at] = a[at].max(b[at]);
            other[at] = a[at].min(b[at]) + floor;
            first[at] = u32::from(a[at] > b[at]);
            stands_out[at] = 10 * most[at] > 17 * other[at];
        }
        Self {
            most,
            other,
            first,
            stands_out,
        }
    }

    /// Where the quotient of the two is not smaller than that of others.
    #[inline(always)]
    fn exceeds_or_equals(&self, others: &Self) -> Cells<bool> {
        let mut larger = [false; CELLS];
        for (at, larger) in larger.iter_mut().enumerate() {
            let own = u64::from(self.most[at]) * u64::from(others.other[at]);
            *larger = own >= u64::from(others.most[at]) * u64::from(self.other[at]);
        }
        larger
    }
}

/// 1 on a vertical edge of a patch, plus 2 on a horizontal one.
#[cfg(feature = "encoder")]
pub(crate) fn edge(canvas: &crate::tile::canvas::Canvas, x: usize, y: usize) -> usize {
    let Some(cell) = canvas.cell(x as isize, y as isize) else {
        return 0;
    };
    let touches = |at: usize, log: u8| {
        let inside = at & ((1 << log) - 1);
        inside == 0 || inside == (1 << log) - 1
    };
    usize::from(touches(x, cell.log_width)) + 2 * usize::from(touches(y, cell.log_height))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::syntax::patch_context::log_class;

    #[test]
    fn bounds_are_where_the_class_of_activity_goes_up() {
        for scale in [1, 7, 256, 5003, 1 << 20] {
            let bounds = activity_bounds(scale);
            for (at, &bound) in bounds.iter().enumerate() {
                let class = |sum: u32| {
                    let busy = ((u64::from(sum) << 12) / u64::from(scale)) as u32;
                    log_class(busy, 8, 3, 0, ACTIVITIES as u32).saturating_sub(1) as usize
                };
                assert!(class(bound) > at && class(bound - 1) <= at, "{scale} {at}");
            }
        }
    }
}

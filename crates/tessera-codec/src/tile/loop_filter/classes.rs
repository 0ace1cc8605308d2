//! Classes of samples: how busy their surroundings are, in which direction, and whether a patch ends there.

use crate::simd::kernel;
use crate::tile::canvas::PlaneBuffer;
use crate::tile::syntax::patch_context::log_class;
use crate::tile::transform::quantiser::Step;
use tessera_dict::filter::{ACTIVITIES, DIRECTIONS};
use tessera_patch::shape::SUPERBLOCK;

/// Reach of the filter.
pub(crate) const MARGIN: usize = 3;
/// Side of the cells that share activity and direction.
pub(crate) const CELL: usize = 4;
/// Samples of a row that are worked on at once: so many that compilers make loops over vectors of them.
pub(crate) const BLOCK: usize = SUPERBLOCK;

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

/// A plane with its outermost samples repeated [`MARGIN`] times on every side, rows filled up to whole blocks.
pub(crate) struct Framed {
    data: Vec<i16>,
    stride: usize,
}

impl Framed {
    pub(crate) fn new(samples: &PlaneBuffer, width: usize, height: usize) -> Self {
        let stride = width.next_multiple_of(BLOCK) + 2 * MARGIN;
        let mut data = vec![0; stride * (height + 2 * MARGIN)];
        for (y, out) in data.chunks_exact_mut(stride).enumerate() {
            let row =
                &samples.data[y.saturating_sub(MARGIN).min(height - 1) * samples.stride..][..width];
            out[..MARGIN].fill(row[0] as i16);
            for (to, &from) in out[MARGIN..].iter_mut().zip(row) {
                *to = from as i16;
            }
            out[MARGIN + width..].fill(row[width - 1] as i16);
        }
        Self { data, stride }
    }

    /// The block at (x, y) and those as far above and below as the filter reaches.
    #[inline(always)]
    pub(crate) fn windows(&self, x: usize, y: usize) -> Windows<'_> {
        std::array::from_fn(|dy| {
            let window = self.data[(y + dy) * self.stride + x..].first_chunk();
            window.expect("rows are filled up to whole blocks")
        })
    }

    /// The sample `dx` columns right of (x, y) and `dy` rows below.
    #[cfg(feature = "encoder")]
    pub(crate) fn sample(&self, x: usize, y: usize, dx: isize, dy: isize) -> i32 {
        let (column, row) = (x + MARGIN, y + MARGIN);
        let row = row.wrapping_add_signed(dy) * self.stride;
        i32::from(self.data[row + column.wrapping_add_signed(dx)])
    }
}

/// Sums of second differences along rows, columns and both diagonals.
type Gradients = [u32; 4];

/// Classes of one plane, by cell; edges are added per sample.
pub(crate) struct Classes {
    columns: usize,
    cells: Vec<u8>,
}

impl Classes {
    /// Of a plane whose superblocks have these steps.
    pub(crate) fn new(framed: &Framed, width: usize, height: usize, steps: &[Step]) -> Self {
        let (columns, rows) = (width / CELL, height / CELL);
        let across = width.div_ceil(SUPERBLOCK);
        let mut own: Vec<Gradients> = vec![[0; 4]; columns * rows];
        for (row, cells) in own.chunks_exact_mut(columns).enumerate() {
            sum_gradients(framed, row, cells);
        }
        let mut cells = Vec::with_capacity(columns * rows);
        let mut sums = vec![[0; 4]; columns];
        for row in 0..rows {
            let at = |row: usize| &own[row * columns..][..columns];
            let around = [row.saturating_sub(1), row, (row + 1).min(rows - 1)].map(at);
            for (x, sum) in sums.iter_mut().enumerate() {
                *sum = smoothed(around.map(|row| &row[x]));
            }
            let steps = &steps[row * CELL / SUPERBLOCK * across..];
            let class = |x: usize| {
                let around = [x.saturating_sub(1), x, (x + 1).min(columns - 1)];
                classify(
                    smoothed(around.map(|x| &sums[x])),
                    steps[x * CELL / SUPERBLOCK],
                )
            };
            cells.extend((0..columns).map(class));
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
    /// Sums up the second differences of a row of cells.
    fn sum_gradients(framed: &Framed, row: usize, cells: &mut [Gradients]) {
        for (block, cells) in cells.chunks_mut(BLOCK / CELL).enumerate() {
            let mut sums = [[0u16; BLOCK]; 4];
            for y in 0..CELL {
                let windows = framed.windows(block * BLOCK, row * CELL + y);
                add_second_differences(&windows, &mut sums);
            }
            for (kind, sums) in sums.iter().enumerate() {
                let by_cell = sums.as_chunks::<CELL>().0;
                for (cell, samples) in cells.iter_mut().zip(by_cell) {
                    cell[kind] = samples.iter().map(|&v| u32::from(v)).sum();
                }
            }
        }
    }
}

/// Adds the second differences of the middle row; four rows of them stay below 2^15.
#[inline(always)]
fn add_second_differences(windows: &Windows<'_>, sums: &mut [[u16; BLOCK]; 4]) {
    let at = |row: usize, column: usize| block_at(windows[row], column);
    let own = at(MARGIN, MARGIN);
    let (before, after) = (MARGIN - 1, MARGIN + 1);
    let [rows, columns, falling, rising] = sums;
    add_second(own, at(MARGIN, before), at(MARGIN, after), rows);
    add_second(own, at(before, MARGIN), at(after, MARGIN), columns);
    add_second(own, at(before, before), at(after, after), falling);
    add_second(own, at(before, after), at(after, before), rising);
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

/// Three in a row, weighted 1 2 1.
#[inline(always)]
fn smoothed([before, own, after]: [&Gradients; 3]) -> Gradients {
    std::array::from_fn(|kind| before[kind] + 2 * own[kind] + after[kind])
}

fn classify(gradients: Gradients, step: Step) -> u8 {
    let [rows, columns, falling, rising] = gradients.map(u64::from);
    let scale = u64::from(step.fixed());
    let busy = (((rows + columns) << 12) / scale).min(u64::from(u32::MAX >> 1)) as u32;
    let activity = log_class(busy, 8, 3, 0, ACTIVITIES as u32).saturating_sub(1) as usize;
    (activity * DIRECTIONS + direction([rows, columns, falling, rising], scale / 100)) as u8
}

/// 0 if nothing stands out, else 1 + the index of the dominant gradient.
fn direction([rows, columns, falling, rising]: [u64; 4], floor: u64) -> usize {
    let dominant = |a: u64, b: u64, first: usize| {
        if a > b {
            (a, b + floor, first)
        } else {
            (b, a + floor, first + 1)
        }
    };
    let (straight, straight_other, straight_class) = dominant(rows, columns, 1);
    let (diagonal, diagonal_other, diagonal_class) = dominant(falling, rising, 3);
    let stands_out = |a: u64, b: u64| 10 * a > 17 * b;
    if straight * diagonal_other >= diagonal * straight_other {
        if stands_out(straight, straight_other) {
            straight_class
        } else {
            0
        }
    } else if stands_out(diagonal, diagonal_other) {
        diagonal_class
    } else {
        0
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

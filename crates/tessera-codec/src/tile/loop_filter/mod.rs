//! The filter that ends the decoding of a plane (`spec/bitstream.md`, section "Filter").
//!
//! Every sample is corrected by a weighted sum of its differences to 24 neighbours, the weights learned for its
//! class: how busy its surroundings are, in which direction, and whether it lies on the edge of a patch.

pub(crate) mod network;

#[cfg(not(all(target_arch = "wasm32", target_feature = "simd128")))]
mod block;
#[cfg(all(target_arch = "wasm32", target_feature = "simd128"))]
#[path = "block_simd128.rs"]
mod block;
mod classes;

use crate::simd::kernel;
use crate::threads;
use crate::tile::canvas::{Canvas, CellInfo, PlaneBuffer};
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::intra::SAMPLE_MAX;
use crate::tile::transform::quantiser::Step;
use bitvec::prelude::{BitSlice, BitVec, bitvec};
use block::BlockWeights;
#[cfg(feature = "encoder")]
use classes::edge;
use classes::{BLOCK, CELL, CELLS, Classes, Ends, Framed, REACH};
use tessera_dict::filter::{EDGES, FilterBand, TAPS};
use tessera_dict::layout::Element;
use tessera_patch::shape::SUPERBLOCK;

/// One of each pair of opposite neighbours: (columns right, rows down).
const OFFSETS: [(isize, isize); TAPS] = [
    (0, 3),
    (-1, 2),
    (0, 2),
    (1, 2),
    (-2, 1),
    (-1, 1),
    (0, 1),
    (1, 1),
    (2, 1),
    (3, 0),
    (2, 0),
    (1, 0),
];

/// Differences to the neighbours, clipped, opposite ones added.
#[cfg(feature = "encoder")]
fn differences(framed: &Framed, x: usize, y: usize, clip: i32) -> [i32; TAPS] {
    let centre = framed.sample(x, y, 0, 0);
    OFFSETS.map(|(dx, dy)| {
        let one = framed.sample(x, y, dx, dy) - centre;
        let other = framed.sample(x, y, -dx, -dy) - centre;
        one.clamp(-clip, clip) + other.clamp(-clip, clip)
    })
}

/// Differences beyond this do not count more: one and a half steps.
fn clip(step: Step) -> i32 {
    ((3 * step.fixed()) >> 9).max(1) as i32
}

/// Which superblocks of a plane kind are filtered.
#[derive(Clone, Debug)]
pub(crate) struct FilterFlags {
    columns: usize,
    pub(crate) on: BitVec,
}

impl FilterFlags {
    /// All off, for a canvas of this size.
    pub(crate) fn new(canvas: &Canvas) -> Self {
        let columns = canvas.width.div_ceil(SUPERBLOCK);
        Self {
            columns,
            on: bitvec![0; columns * canvas.height.div_ceil(SUPERBLOCK)],
        }
    }

    /// All on, for the same canvas.
    pub(crate) fn everywhere(&self) -> Self {
        Self {
            columns: self.columns,
            on: bitvec![1; self.on.len()],
        }
    }

    pub(crate) fn get(&self, x: usize, y: usize) -> bool {
        self.on[y / SUPERBLOCK * self.columns + x / SUPERBLOCK]
    }

    /// Those of the superblocks that row `y` runs through.
    fn row(&self, y: usize) -> &BitSlice {
        &self.on[y / SUPERBLOCK * self.columns..][..self.columns]
    }

    /// Codes all flags in raster order.
    pub(crate) fn code<C: BinaryCoder>(&mut self, coder: &mut C, kind: PlaneKind) {
        for at in 0..self.on.len() {
            let (x, y) = (at % self.columns, at / self.columns);
            let left = if x == 0 {
                2
            } else {
                u32::from(self.on[at - 1])
            };
            let above = if y == 0 {
                2
            } else {
                u32::from(self.on[at - self.columns])
            };
            let contexts = Contexts::new([left + 3 * above, 0], 0);
            let flag = coder.bit(kind, Element::Filter, &contexts, self.on[at]);
            self.on.set(at, flag);
        }
    }
}

/// A plane of `canvas`, filtered wherever `flags` say so; superblocks have these steps.
pub(crate) fn filtered(
    canvas: &Canvas,
    plane: PlaneBuffer,
    steps: &[Step],
    band: &FilterBand,
    flags: &FilterFlags,
) -> PlaneBuffer {
    let mut out = plane;
    let filter = PlaneFilter {
        canvas,
        strips: strips(band),
        steps,
        flags,
        seams: seams(&out.data, canvas.width),
    };
    let band = SUPERBLOCK * canvas.width;
    threads::for_each_chunk(&mut out.data, band, |at, rows| filter.filter_band(at, rows));
    out
}

/// Copies of the rows on both sides of the lines between rows of superblocks: bands are filtered in place and in any
/// order, but from samples that are not filtered.
fn seams(samples: &[u16], width: usize) -> Vec<Vec<u16>> {
    let lines = (SUPERBLOCK * width..samples.len()).step_by(SUPERBLOCK * width);
    let reach = REACH * width;
    lines
        .map(|at| samples[at - reach..at + reach].to_vec())
        .collect()
}

/// What it takes to filter any row of superblocks of a plane.
struct PlaneFilter<'a> {
    canvas: &'a Canvas,
    strips: Vec<[Strip; 8]>,
    steps: &'a [Step],
    flags: &'a FilterFlags,
    seams: Vec<Vec<u16>>,
}

impl PlaneFilter<'_> {
    /// Filters row `at` of superblocks, whose samples are `rows`.
    fn filter_band(&self, at: usize, rows: &mut [u16]) {
        let flags = self.flags.row(at * SUPERBLOCK);
        if flags.not_any() {
            return;
        }
        let width = self.canvas.width;
        let across = width.div_ceil(SUPERBLOCK);
        let steps = &self.steps[at * across..][..across];
        let ends = Ends {
            top: at == 0,
            bottom: at == self.seams.len(),
        };
        let framed = self.framed(at, rows);
        let classes = Classes::new(&framed, (width, rows.len() / width), steps, ends);
        for (row, out) in rows.chunks_exact_mut(CELL * width).enumerate() {
            filter_cells(FilterCells {
                framed: &framed,
                strips: &self.strips,
                steps,
                classes: classes.row(row),
                cells: self.canvas.cell_row(at * CELLS + row),
                flags,
                row,
                out,
            });
        }
    }

    /// A row of superblocks in its frame.
    fn framed(&self, at: usize, rows: &[u16]) -> Framed {
        let width = self.canvas.width;
        let above = at
            .checked_sub(1)
            .map(|line| &self.seams[line][..REACH * width]);
        let below = self.seams.get(at).map(|seam| &seam[REACH * width..]);
        Framed::new(rows, width, [above, below])
    }
}

/// Pairs of taps, whose products are added in one go.
const PAIRS: usize = TAPS / 2;
/// Weights of four samples in a row of a cell, by pair of taps: of the first tap and the second one in turn.
type Strip = [[i16; 2 * CELL]; PAIRS];

/// The weights of every strip that can occur, by cell class and then by edges: cells share their class, samples
/// differ by edge only. Bits of edges: the cell starts a patch, it ends one, the row is a patch's first or last.
fn strips(band: &FilterBand) -> Vec<[Strip; 8]> {
    let strip = |weights: &[[i16; TAPS]], edges: usize| -> Strip {
        let (left, right, row) = (edges & 1, edges >> 1 & 1, edges >> 2);
        let by_sample = [left, 0, 0, right].map(|column| weights[column + 2 * row]);
        let weight = |pair: usize, at: usize| by_sample[at / 2][2 * pair + at % 2];
        std::array::from_fn(|pair| std::array::from_fn(|at| weight(pair, at)))
    };
    let by_edges = |weights: &[[i16; TAPS]]| std::array::from_fn(|edges| strip(weights, edges));
    band.chunks_exact(EDGES).map(by_edges).collect()
}

/// Where a cell lies in its patch.
#[derive(Clone, Copy, Default)]
struct CellEdges {
    /// Whether it starts (1) and ends (2) its patch from left to right.
    sides: usize,
    top: bool,
    bottom: bool,
}

impl CellEdges {
    /// Of the cell at a column and row of cells.
    #[inline(always)]
    fn of(info: &CellInfo, column: usize, row: usize) -> Self {
        let inside = |at: usize, log: u8| {
            let last = ((1usize << log) / CELL).wrapping_sub(1);
            (at & last == 0, at & last == last)
        };
        let (left, right) = inside(column, info.log_width);
        let (top, bottom) = inside(row, info.log_height);
        Self {
            sides: usize::from(left) | usize::from(right) << 1,
            top,
            bottom,
        }
    }
}

/// One row of cells, filtered a block of samples after the other, so that sums stay in registers.
struct FilterCells<'a> {
    framed: &'a Framed,
    strips: &'a [[Strip; 8]],
    classes: &'a [u8],
    cells: &'a [CellInfo],
    /// By superblock.
    flags: &'a BitSlice,
    steps: &'a [Step],
    row: usize,
    /// All samples of these cells.
    out: &'a mut [u16],
}

kernel! {
    /// Filters one row of cells.
    fn filter_cells(job: FilterCells<'_>) {
        let mut job = job;
        let width = job.out.len() / CELL;
        let mut weights = BlockWeights::default();
        for x in (0..width).step_by(BLOCK) {
            if job.flags[x / BLOCK] {
                job.filter_block(x, width, &mut weights);
            }
        }
    }
}

impl<'a> FilterCells<'a> {
    #[inline(always)]
    fn filter_block(&mut self, x: usize, width: usize, weights: &mut BlockWeights<'a>) {
        let first = x / CELL;
        let count = CELLS.min(self.classes.len() - first);
        let mut edges = [CellEdges::default(); CELLS];
        for (i, edges) in edges[..count].iter_mut().enumerate() {
            *edges = CellEdges::of(&self.cells[first + i], first + i, self.row);
        }
        let classes = &self.classes[first..first + count];
        let strips = self.strips;
        let clip = clip(self.steps[x / BLOCK]).min(SAMPLE_MAX) as i16;
        lay_out(strips, classes, &edges, |_| false, weights);
        self.filter_row(x, width, 1, clip, weights);
        self.filter_row(x, width, 2, clip, weights);
        // The outer rows differ from the inner ones only where a patch starts or ends.
        if edges.iter().any(|edges| edges.top) {
            lay_out(strips, classes, &edges, |edges| edges.top, weights);
        }
        self.filter_row(x, width, 0, clip, weights);
        if edges.iter().any(|edges| edges.top || edges.bottom) {
            lay_out(strips, classes, &edges, |edges| edges.bottom, weights);
        }
        self.filter_row(x, width, 3, clip, weights);
    }

    /// Filters the block's samples of one row of the cells.
    #[inline(always)]
    fn filter_row(
        &mut self,
        x: usize,
        width: usize,
        y: usize,
        clip: i16,
        weights: &BlockWeights<'_>,
    ) {
        let windows = self.framed.windows(x, self.row * CELL + y);
        let values = weights.filtered_block(&windows, clip);
        let row = &mut self.out[y * width..][x..width];
        match row.first_chunk_mut() {
            Some(whole) => *whole = values,
            None => row.copy_from_slice(&values[..width - x]),
        }
    }
}

/// Puts the weights of a block's cells side by side; `on_edge` says which of them the row is an edge of.
#[inline(always)]
fn lay_out<'a>(
    strips: &'a [[Strip; 8]],
    classes: &[u8],
    edges: &[CellEdges; CELLS],
    on_edge: impl Fn(&CellEdges) -> bool,
    weights: &mut BlockWeights<'a>,
) {
    for (i, (&class, edges)) in classes.iter().zip(edges).enumerate() {
        let edges = edges.sides | usize::from(on_edge(edges)) << 2;
        weights.set(i % CELLS, &strips[usize::from(class)][edges]);
    }
}

/// Normal equations of the filter weights, by class.
#[cfg(feature = "encoder")]
#[derive(Clone, Debug)]
pub struct FilterStatistics {
    /// Sums of products of differences, row-major.
    pub gram: Vec<[[f64; TAPS]; TAPS]>,
    /// Sums of products of differences and errors.
    pub target: Vec<[f64; TAPS]>,
}

#[cfg(feature = "encoder")]
impl FilterStatistics {
    /// No observations.
    pub fn new() -> Self {
        let classes = tessera_dict::filter::CLASSES;
        Self {
            gram: vec![[[0.0; TAPS]; TAPS]; classes],
            target: vec![[0.0; TAPS]; classes],
        }
    }

    /// Adds another set of observations.
    pub fn merge(&mut self, other: &Self) {
        for (own, other) in self
            .gram
            .iter_mut()
            .flatten()
            .flatten()
            .zip(other.gram.iter().flatten().flatten())
        {
            *own += other;
        }
        for (own, other) in self
            .target
            .iter_mut()
            .flatten()
            .zip(other.target.iter().flatten())
        {
            *own += other;
        }
    }

    /// Observes a decoded plane beside its original (row-major, same padding), in units of the steps of superblocks.
    pub(crate) fn observe(
        &mut self,
        canvas: &Canvas,
        component: usize,
        steps: &[Step],
        original: &[u16],
    ) {
        let (width, height) = (canvas.width, canvas.height);
        let samples = &canvas.components[component];
        let framed = Framed::new(&samples.data, width, [None; 2]);
        let classes = Classes::new(&framed, (width, height), steps, Ends::BOTH);
        let across = width.div_ceil(SUPERBLOCK);
        for y in 0..height {
            for x in 0..width {
                let step = steps[y / SUPERBLOCK * across + x / SUPERBLOCK];
                let (clip, unit) = (clip(step), 1.0 / f64::from(step.value()));
                let class = classes.of(x, y) * EDGES + edge(canvas, x, y);
                let at = y * width + x;
                let error = f64::from(f32::from(original[at]) - f32::from(samples.data[at])) * unit;
                let features = differences(&framed, x, y, clip).map(|d| f64::from(d) * unit);
                for (i, feature) in features.iter().enumerate() {
                    self.target[class][i] += feature * error;
                    for (sum, other) in self.gram[class][i].iter_mut().zip(&features) {
                        *sum += feature * other;
                    }
                }
            }
        }
    }
}

#[cfg(feature = "encoder")]
impl Default for FilterStatistics {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use crate::tile::canvas::CellInfo;
    use tessera_dict::filter::COEFFICIENT_BITS;

    /// A canvas with texture, patches of two sizes and some weights.
    fn example() -> (Canvas, FilterBand) {
        let mut canvas = Canvas::new(128, 72, 1);
        let mut state = 1u32;
        let mut random = move || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        for (at, value) in canvas.components[0].data.iter_mut().enumerate() {
            *value = ((at % 128 * 20 + at / 128 * 9) as u32 + random() % 300).min(4095) as u16;
        }
        let info = |log: u8| CellInfo {
            decoded: true,
            log_width: log,
            log_height: log,
            ..CellInfo::default()
        };
        canvas.mark(0, 0, 128, 72, info(3));
        canvas.mark(64, 0, 64, 64, info(5));
        let weight = |_| std::array::from_fn(|_| (random() % 400) as i16 - 200);
        let band = (0..tessera_dict::filter::CLASSES).map(weight).collect();
        (canvas, band)
    }

    #[test]
    fn rows_filter_like_single_samples() {
        let (canvas, band) = example();
        let steps: [Step; 4] = [60, 60, 52, 67].map(Step::from_index);
        let mut flags = FilterFlags::new(&canvas);
        flags.on[1..3].fill(true);
        let fast = filtered(&canvas, canvas.components[0].clone(), &steps, &band, &flags);
        let samples = &canvas.components[0];
        let framed = Framed::new(&samples.data, canvas.width, [None; 2]);
        let size = (canvas.width, canvas.height);
        let classes = Classes::new(&framed, size, &steps, Ends::BOTH);
        let mut changed = 0;
        for y in 0..canvas.height {
            for x in 0..canvas.width {
                let own = samples.data[y * canvas.width + x];
                let weights = &band[classes.of(x, y) * EDGES + edge(&canvas, x, y)];
                let products = differences(&framed, x, y, clip(steps[y / 64 * 2 + x / 64]))
                    .into_iter()
                    .zip(weights);
                let sum: i32 = products.map(|(d, &w)| d * i32::from(w)).sum();
                let moved =
                    i32::from(own) + ((sum + (1 << (COEFFICIENT_BITS - 1))) >> COEFFICIENT_BITS);
                let expected = if flags.get(x, y) {
                    moved.clamp(0, SAMPLE_MAX) as u16
                } else {
                    own
                };
                assert_eq!(fast.data[y * canvas.width + x], expected, "at {x}, {y}");
                changed += usize::from(expected != own);
            }
        }
        assert!(changed > 1000, "only {changed} samples changed");
    }
}

//! The filter that ends the decoding of a plane (`spec/bitstream.md`, section "Filter").
//!
//! Every sample is corrected by a weighted sum of its differences to 24 neighbours, the weights learned for its
//! class: how busy its surroundings are, in which direction, and whether it lies on the edge of a patch.

use super::canvas::{Canvas, Samples};
use super::coder::BinaryCoder;
use super::mix::{Contexts, PlaneKind};
use super::patch_context::log_class;
use super::predict::SAMPLE_MAX;
use super::quantiser::Step;
use crate::simd::vectorised;
use pulp::NullaryFnOnce;
use tessera_dict::filter::{ACTIVITIES, COEFFICIENT_BITS, DIRECTIONS, EDGES, FilterBand, TAPS};
use tessera_dict::layout::Element;
use tessera_patch::shape::SUPERBLOCK;

/// Reach of the filter.
const MARGIN: usize = 3;
/// Side of the cells that share activity and direction.
const CELL: usize = 4;

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

/// A plane with its outermost samples repeated [`MARGIN`] times on every side.
struct Framed {
    data: Vec<i16>,
    stride: usize,
}

impl Framed {
    fn new(samples: &Samples, width: usize, height: usize) -> Self {
        let stride = width + 2 * MARGIN;
        let mut data = Vec::with_capacity(stride * (height + 2 * MARGIN));
        for y in 0..height + 2 * MARGIN {
            let row =
                &samples.data[y.saturating_sub(MARGIN).min(height - 1) * samples.stride..][..width];
            let (first, last) = (row[0] as i16, row[width - 1] as i16);
            data.extend([first; MARGIN]);
            data.extend(row.iter().map(|&v| v as i16));
            data.extend([last; MARGIN]);
        }
        Self { data, stride }
    }

    fn index(&self, x: usize, y: usize) -> usize {
        (y + MARGIN) * self.stride + x + MARGIN
    }
}

/// Sums of second differences along rows, columns and both diagonals.
type Gradients = [u32; 4];

/// Classes of one plane, by cell; edges are added per sample.
struct Classes {
    columns: usize,
    cells: Vec<u8>,
}

impl Classes {
    fn new(framed: &Framed, width: usize, height: usize, step: Step) -> Self {
        let (columns, rows) = (width / CELL, height / CELL);
        let mut own: Vec<Gradients> = vec![[0; 4]; columns * rows];
        let mut scratch = vec![0; width];
        for y in 0..height {
            vectorised(GradientRow {
                framed,
                start: framed.index(0, y),
                scratch: &mut scratch,
                cells: &mut own[y / CELL * columns..][..columns],
            });
        }
        let class = |at: usize| {
            classify(
                &smoothed(&own, columns, rows, at % columns, at / columns),
                step,
            )
        };
        Self {
            columns,
            cells: (0..columns * rows).map(class).collect(),
        }
    }

    fn of(&self, x: usize, y: usize) -> usize {
        self.cells[y / CELL * self.columns + x / CELL] as usize
    }
}

/// Adds the second differences of one row to its cells.
struct GradientRow<'a> {
    framed: &'a Framed,
    /// Index of the row's first sample in the framed plane.
    start: usize,
    scratch: &'a mut [u16],
    cells: &'a mut [Gradients],
}

impl NullaryFnOnce for GradientRow<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let width = self.scratch.len();
        let stride = self.framed.stride;
        let from = |at: usize| &self.framed.data[at..][..width];
        let centre = from(self.start);
        for (kind, distance) in [1, stride, stride + 1, stride - 1].into_iter().enumerate() {
            let (before, after) = (from(self.start - distance), from(self.start + distance));
            for x in 0..width {
                self.scratch[x] = (2 * centre[x] - before[x] - after[x]).unsigned_abs();
            }
            for (cell, samples) in self.cells.iter_mut().zip(self.scratch.chunks_exact(CELL)) {
                cell[kind] += samples.iter().map(|&v| u32::from(v)).sum::<u32>();
            }
        }
    }
}

/// Gradients of a cell and its eight neighbours, weighted 1 2 1 both ways; the frame repeats.
fn smoothed(own: &[Gradients], columns: usize, rows: usize, x: usize, y: usize) -> Gradients {
    let mut sums = [0; 4];
    let around = |at: usize, count: usize| {
        [
            (at.saturating_sub(1), 1),
            (at, 2),
            ((at + 1).min(count - 1), 1),
        ]
    };
    for (row, row_weight) in around(y, rows) {
        for (column, weight) in around(x, columns) {
            for (sum, gradient) in sums.iter_mut().zip(own[row * columns + column]) {
                *sum += row_weight * weight * gradient;
            }
        }
    }
    sums
}

fn classify(gradients: &Gradients, step: Step) -> u8 {
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
fn edge(canvas: &Canvas, x: usize, y: usize) -> usize {
    let Some(cell) = canvas.cell(x as isize, y as isize) else {
        return 0;
    };
    let touches = |at: usize, log: u8| {
        let inside = at & ((1 << log) - 1);
        inside == 0 || inside == (1 << log) - 1
    };
    usize::from(touches(x, cell.log_width)) + 2 * usize::from(touches(y, cell.log_height))
}

/// Differences to the neighbours, clipped, opposite ones added.
#[cfg(feature = "encoder")]
fn differences(framed: &Framed, x: usize, y: usize, clip: i32) -> [i32; TAPS] {
    let at = framed.index(x, y);
    let centre = i32::from(framed.data[at]);
    OFFSETS.map(|(dx, dy)| {
        let offset = dy * framed.stride as isize + dx;
        let one = i32::from(framed.data[at.wrapping_add_signed(offset)]) - centre;
        let other = i32::from(framed.data[at.wrapping_add_signed(-offset)]) - centre;
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
    pub(crate) on: Vec<bool>,
}

impl FilterFlags {
    /// All off, for a canvas of this size.
    pub(crate) fn new(canvas: &Canvas) -> Self {
        let columns = canvas.width.div_ceil(SUPERBLOCK);
        Self {
            columns,
            on: vec![false; columns * canvas.height.div_ceil(SUPERBLOCK)],
        }
    }

    /// All on, for the same canvas.
    pub(crate) fn everywhere(&self) -> Self {
        Self {
            columns: self.columns,
            on: vec![true; self.on.len()],
        }
    }

    pub(crate) fn get(&self, x: usize, y: usize) -> bool {
        self.on[y / SUPERBLOCK * self.columns + x / SUPERBLOCK]
    }

    fn any_in_row(&self, y: usize) -> bool {
        self.on[y / SUPERBLOCK * self.columns..][..self.columns].contains(&true)
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
            let contexts = Contexts::new([left + 3 * above, 0], [0, 0]);
            self.on[at] = coder.bit(kind, Element::Filter, &contexts, self.on[at]);
        }
    }
}

/// The plane `component` of `canvas`, filtered wherever `flags` say so.
pub(crate) fn filtered(
    canvas: &Canvas,
    component: usize,
    step: Step,
    band: &FilterBand,
    flags: &FilterFlags,
) -> Samples {
    let (width, height) = (canvas.width, canvas.height);
    let mut out = canvas.components[component].clone();
    let framed = Framed::new(&out, width, height);
    let classes = Classes::new(&framed, width, height, step);
    let strips = StripTable::new(band);
    let mut weights = vec![0; TAPS * width];
    let mut sums = vec![0; width];
    for (y, row) in out.data.chunks_exact_mut(width).enumerate() {
        if !flags.any_in_row(y) {
            continue;
        }
        // The two inner rows of a cell never lie on an edge, so that they share their weights.
        if y % CELL != 2 {
            strips.lay_out(canvas, &classes, flags, y, &mut weights);
        }
        vectorised(FilterRow {
            framed: &framed,
            start: framed.index(0, y),
            weights: &weights,
            clip: clip(step).min(SAMPLE_MAX) as i16,
            sums: &mut sums,
            row,
        });
    }
    out
}

/// Weights of four samples in a row of a cell, by tap.
type Strip = [[i16; CELL]; TAPS];

/// The weights of every strip that can occur: cells share their class, samples differ by edge only.
struct StripTable {
    /// By cell class, then by [`StripTable::edges`].
    strips: Vec<[Strip; 8]>,
}

impl StripTable {
    fn new(band: &FilterBand) -> Self {
        let strip = |weights: &[[i16; TAPS]], edges: usize| -> Strip {
            let (left, right, row) = (edges & 1, edges >> 1 & 1, edges >> 2);
            let by_sample = [left, 0, 0, right].map(|column| weights[column + 2 * row]);
            std::array::from_fn(|tap| by_sample.map(|weights| weights[tap]))
        };
        let by_edges = |weights: &[[i16; TAPS]]| std::array::from_fn(|edges| strip(weights, edges));
        Self {
            strips: band.chunks_exact(EDGES).map(by_edges).collect(),
        }
    }

    /// Whether the cell at column `x` starts (1) and ends (2) a patch and row `y` is the patch's first or last (4).
    fn edges(canvas: &Canvas, x: usize, y: usize) -> usize {
        (edge(canvas, x, y) & 1)
            | (edge(canvas, x + CELL - 1, y) & 1) << 1
            | (edge(canvas, x, y) & 2) << 1
    }

    /// Writes the weights of row `y`, all samples of a tap side by side; zeros where nothing is filtered.
    fn lay_out(
        &self,
        canvas: &Canvas,
        classes: &Classes,
        flags: &FilterFlags,
        y: usize,
        out: &mut [i16],
    ) {
        const OFF: Strip = [[0; CELL]; TAPS];
        let width = out.len() / TAPS;
        for x in (0..width).step_by(CELL) {
            let strip = if flags.get(x, y) {
                &self.strips[classes.of(x, y)][Self::edges(canvas, x, y)]
            } else {
                &OFF
            };
            for (row, weights) in out.chunks_exact_mut(width).zip(strip) {
                row[x..x + CELL].copy_from_slice(weights);
            }
        }
    }
}

/// Filters one row: all samples by one tap, then by the next.
struct FilterRow<'a> {
    framed: &'a Framed,
    /// Index of the row's first sample in the framed plane.
    start: usize,
    /// By tap, then by sample.
    weights: &'a [i16],
    clip: i16,
    sums: &'a mut [i32],
    row: &'a mut [u16],
}

impl NullaryFnOnce for FilterRow<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let width = self.row.len();
        let data = &self.framed.data;
        let centre = &data[self.start..][..width];
        let sums = &mut self.sums[..width];
        sums.fill(1 << (COEFFICIENT_BITS - 1));
        for ((dx, dy), weights) in OFFSETS.iter().zip(self.weights.chunks_exact(width)) {
            let offset = dy * self.framed.stride as isize + dx;
            let one = &data[self.start.wrapping_add_signed(offset)..][..width];
            let other = &data[self.start.wrapping_add_signed(-offset)..][..width];
            for x in 0..width {
                let near = (one[x] - centre[x]).clamp(-self.clip, self.clip);
                let far = (other[x] - centre[x]).clamp(-self.clip, self.clip);
                sums[x] += i32::from(near + far) * i32::from(weights[x]);
            }
        }
        for (value, sum) in self.row.iter_mut().zip(sums) {
            let moved = i32::from(*value) + (*sum >> COEFFICIENT_BITS);
            *value = moved.clamp(0, SAMPLE_MAX) as u16;
        }
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

    /// Observes a decoded plane beside its original (row-major, same padding), in units of the step.
    pub(crate) fn observe(
        &mut self,
        canvas: &Canvas,
        component: usize,
        step: Step,
        original: &[f32],
    ) {
        let (width, height) = (canvas.width, canvas.height);
        let samples = &canvas.components[component];
        let framed = Framed::new(samples, width, height);
        let classes = Classes::new(&framed, width, height, step);
        let (clip, unit) = (clip(step), 1.0 / f64::from(step.value()));
        for y in 0..height {
            for x in 0..width {
                let class = classes.of(x, y) * EDGES + edge(canvas, x, y);
                let at = y * width + x;
                let error = f64::from(original[at] - f32::from(samples.data[at])) * unit;
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
        let step = Step::from_index(60);
        let mut flags = FilterFlags::new(&canvas);
        flags.on[1] = true;
        flags.on[2] = true;
        let fast = filtered(&canvas, 0, step, &band, &flags);
        let samples = &canvas.components[0];
        let framed = Framed::new(samples, canvas.width, canvas.height);
        let classes = Classes::new(&framed, canvas.width, canvas.height, step);
        let mut changed = 0;
        for y in 0..canvas.height {
            for x in 0..canvas.width {
                let own = samples.data[y * canvas.width + x];
                let weights = &band[classes.of(x, y) * EDGES + edge(&canvas, x, y)];
                let products = differences(&framed, x, y, clip(step))
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

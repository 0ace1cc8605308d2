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
        let own: Vec<Gradients> = (0..columns * rows)
            .map(|at| cell_gradients(framed, at % columns * CELL, at / columns * CELL))
            .collect();
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

fn cell_gradients(framed: &Framed, x: usize, y: usize) -> Gradients {
    let mut sums = [0; 4];
    let stride = framed.stride;
    for row in 0..CELL {
        let start = framed.index(x, y + row);
        for at in start..start + CELL {
            let value = |at: usize| i32::from(framed.data[at]);
            let centre = 2 * value(at);
            let second = |distance: usize| {
                (centre - value(at - distance) - value(at + distance)).unsigned_abs()
            };
            for (sum, distance) in sums.iter_mut().zip([1, stride, stride + 1, stride - 1]) {
                *sum += second(distance);
            }
        }
    }
    sums
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

    pub(crate) fn get(&self, x: usize, y: usize) -> bool {
        self.on[y / SUPERBLOCK * self.columns + x / SUPERBLOCK]
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
    let clip = clip(step);
    for y in 0..height {
        for x in 0..width {
            if !flags.get(x, y) {
                continue;
            }
            let class = classes.of(x, y) * EDGES + edge(canvas, x, y);
            let weights = &band[class];
            let sum: i32 = differences(&framed, x, y, clip)
                .iter()
                .zip(weights)
                .map(|(d, &w)| d * i32::from(w))
                .sum();
            let value = &mut out.data[y * width + x];
            let moved =
                i32::from(*value) + ((sum + (1 << (COEFFICIENT_BITS - 1))) >> COEFFICIENT_BITS);
            *value = moved.clamp(0, SAMPLE_MAX) as u16;
        }
    }
    out
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

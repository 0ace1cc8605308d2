//! Prediction of a patch from decoded neighbours (`spec/bitstream.md`, section "Prediction").
//!
//! Samples are 12-bit; all arithmetic is in 32-bit integers.

pub(crate) mod neural;

use crate::simd::kernel;
use crate::tile::intra::neural::NeuralIntra;
use std::cell::OnceCell;
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Largest sample value.
pub(crate) const SAMPLE_MAX: i32 = 4095;
/// Number of luma prediction modes: planar, mean and 33 directions.
pub(crate) const MODES: usize = 35;
/// Smooth surface through the border, or the first prediction of the dictionary's network for the shape.
pub(crate) const PLANAR: usize = 0;
/// Mean of the border, or the second prediction of that network.
pub(crate) const MEAN: usize = 1;
/// From the left.
pub(crate) const HORIZONTAL: usize = 10;
/// From above.
pub(crate) const VERTICAL: usize = 26;
/// First direction predicted from above rather than from the left.
const FIRST_VERTICAL: usize = 18;

/// Horizontal shift per row in 1/32 sample, for modes 2..=34.
pub(crate) const ANGLES: [i32; 33] = [
    32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
    -5, -2, 0, 2, 5, 9, 13, 17, 21, 26, 32,
];
/// 8192 / -angle, rounded, for the negative angles.
fn inverse_angle(angle: i32) -> i32 {
    (8192 + (-angle) / 2) / -angle
}

/// Length of one arm of a border: the corner, then up to width + height samples, then one repeat.
const ARM: usize = 2 * SUPERBLOCK + 2;

/// The decoded samples around a patch; index 0 of both arms is the corner.
#[derive(Clone, Debug)]
pub(crate) struct Border {
    pub(crate) top: [i16; ARM],
    pub(crate) left: [i16; ARM],
    length: usize,
}

/// How much of a border there is to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Known {
    /// Samples down from the corner.
    pub(crate) lefts: usize,
    /// Samples to the right of the corner.
    pub(crate) tops: usize,
    pub(crate) corner: bool,
}

impl Border {
    /// The border of `length` samples per arm of a patch at (x, y), read from a plane.
    pub(crate) fn read(
        samples: &[u16],
        stride: usize,
        (x, y): (usize, usize),
        length: usize,
        known: Known,
    ) -> Self {
        let at = |x: usize, y: usize| y * stride + x;
        let corner = known.corner.then(|| samples[at(x - 1, y - 1)]);
        let top = match known.tops {
            0 => &[][..],
            tops => &samples[at(x, y - 1)..][..tops],
        };
        let column = x.saturating_sub(1);
        let left = (0..known.lefts).map(|away| samples[at(column, y + away)]);
        Self::new(length, left, corner, top)
    }

    /// A border of `length` samples per arm from what is decoded: `left` and `top` hold the samples that
    /// exist, counted away from the corner. What is missing takes the value before it on the way from
    /// the lowest left sample over the corner to the rightmost top sample.
    pub(crate) fn new(
        length: usize,
        left: impl ExactSizeIterator<Item = u16>,
        corner: Option<u16>,
        top: &[u16],
    ) -> Self {
        let mut border = Self {
            top: [0; ARM],
            left: [0; ARM],
            length,
        };
        let lefts = left.len();
        for (to, from) in border.left[1..].iter_mut().zip(left) {
            *to = from as i16;
        }
        let first = if lefts > 0 {
            border.left[lefts]
        } else {
            let known = corner.or(top.first().copied());
            known.map_or((SAMPLE_MAX as i16 + 1) / 2, |sample| sample as i16)
        };
        border.left[lefts + 1..length + 2].fill(first);
        let corner = corner.map_or(border.left[1], |sample| sample as i16);
        (border.top[0], border.left[0]) = (corner, corner);
        for (to, &from) in border.top[1..].iter_mut().zip(top) {
            *to = from as i16;
        }
        let last = border.top[top.len()];
        border.top[top.len() + 1..length + 2].fill(last);
        border
    }

    /// This border minus another one whose samples are mapped first.
    pub(crate) fn minus(&self, other: &Self, map: impl Fn(i32) -> i32) -> Self {
        let mut out = self.clone();
        for (arm, other) in [(&mut out.top, &other.top), (&mut out.left, &other.left)] {
            for (to, &from) in arm[..self.length + 2].iter_mut().zip(other) {
                *to -= map(i32::from(from)) as i16;
            }
        }
        out
    }

    /// The border with each sample averaged with its neighbours.
    pub(crate) fn smoothed(&self) -> Self {
        let mut out = self.clone();
        for (to, from) in [(&mut out.top, &self.top), (&mut out.left, &self.left)] {
            for i in 1..=self.length {
                to[i] = smooth(from[i - 1], from[i], from[i + 1]);
            }
            to[self.length + 1] = from[self.length + 1];
        }
        let corner = smooth(self.left[1], self.top[0], self.top[1]);
        (out.top[0], out.left[0]) = (corner, corner);
        out
    }

    /// Mean of the parts of the border that touch the patch.
    #[inline(always)]
    pub(crate) fn mean(&self, shape: Shape) -> i32 {
        let (w, h) = (shape.width(), shape.height());
        let both = self.top[1..=w].iter().chain(&self.left[1..=h]);
        let sum: i32 = both.map(|&sample| i32::from(sample)).sum();
        let count = (w + h) as i32;
        (2 * sum + count) / (2 * count)
    }

    /// Sum of absolute differences along the parts of the border that touch the patch.
    pub(crate) fn gradient(&self, shape: Shape) -> u32 {
        let run = |arm: &[i16]| {
            let steps = arm.windows(2).map(|w| u32::from(w[0].abs_diff(w[1])));
            steps.sum::<u32>()
        };
        run(&self.top[..=shape.width()]) + run(&self.left[..=shape.height()])
    }
}

/// A sample averaged with its neighbours.
#[inline(always)]
fn smooth(before: i16, sample: i16, after: i16) -> i16 {
    ((i32::from(before) + 2 * i32::from(sample) + i32::from(after) + 2) >> 2) as i16
}

/// Predicts patches of one shape from one border.
#[derive(Debug)]
pub(crate) struct Predictor<'a> {
    pub(crate) raw: Border,
    smooth: OnceCell<Border>,
    shape: Shape,
    /// The dictionary's networks, if it has some.
    networks: Option<NeuralIntra<'a>>,
}

impl<'a> Predictor<'a> {
    pub(crate) fn new(raw: Border, shape: Shape) -> Self {
        Self::with_networks(raw, shape, None)
    }

    pub(crate) fn with_networks(
        raw: Border,
        shape: Shape,
        networks: Option<NeuralIntra<'a>>,
    ) -> Self {
        Self {
            raw,
            smooth: OnceCell::new(),
            shape,
            networks,
        }
    }

    /// Fills `out` (row-major, the patch's area) with the prediction of `mode`.
    pub(crate) fn predict(&self, mode: usize, out: &mut [i32]) {
        if mode <= MEAN
            && let Some(networks) = &self.networks
            && let Some(net) = networks.net(self.shape)
        {
            self.predict_plainly(PLANAR, out);
            return networks.correct(net, mode, self.shape, &self.raw, out);
        }
        self.predict_plainly(mode, out);
    }

    /// The prediction of `mode` without networks.
    fn predict_plainly(&self, mode: usize, out: &mut [i32]) {
        match (self.shape.width(), self.shape.height()) {
            (4, 4) => predict_shape(Predict::<4, 4>::new(self, mode, out)),
            (4, _) => predict_shape(Predict::<4, 8>::new(self, mode, out)),
            (8, 4) => predict_shape(Predict::<8, 4>::new(self, mode, out)),
            (8, 8) => predict_shape(Predict::<8, 8>::new(self, mode, out)),
            (8, _) => predict_shape(Predict::<8, 16>::new(self, mode, out)),
            (16, 8) => predict_shape(Predict::<16, 8>::new(self, mode, out)),
            (16, 16) => predict_shape(Predict::<16, 16>::new(self, mode, out)),
            (16, _) => predict_shape(Predict::<16, 32>::new(self, mode, out)),
            (32, 16) => predict_shape(Predict::<32, 16>::new(self, mode, out)),
            (32, 32) => predict_shape(Predict::<32, 32>::new(self, mode, out)),
            (32, _) => predict_shape(Predict::<32, 64>::new(self, mode, out)),
            (64, 32) => predict_shape(Predict::<64, 32>::new(self, mode, out)),
            _ => predict_shape(Predict::<64, 64>::new(self, mode, out)),
        }
    }

    fn smooth(&self) -> &Border {
        self.smooth.get_or_init(|| self.raw.smoothed())
    }

    /// Whether a direction this close to an axis reads the smoothed border.
    fn is_smooth(&self, mode: usize) -> bool {
        let axis = if mode >= FIRST_VERTICAL {
            VERTICAL
        } else {
            HORIZONTAL
        };
        let tolerance = match (self.shape.log_width() + self.shape.log_height()) >> 1 {
            2 => 99,
            3 => 7,
            4 => 1,
            _ => 0,
        };
        mode.abs_diff(axis) > tolerance
    }
}

/// One prediction of a patch of `W` columns and `H` rows.
struct Predict<'a, const W: usize, const H: usize> {
    shape: Shape,
    mode: usize,
    raw: &'a Border,
    /// The border the mode reads: raw or smoothed.
    border: &'a Border,
    smooth: bool,
    rows: &'a mut [[i32; W]; H],
}

impl<'a, const W: usize, const H: usize> Predict<'a, W, H> {
    fn new(predictor: &'a Predictor<'_>, mode: usize, out: &'a mut [i32]) -> Self {
        let smooth = match mode {
            PLANAR => predictor.shape.area() > 32,
            MEAN => false,
            _ => predictor.is_smooth(mode),
        };
        Self {
            shape: predictor.shape,
            mode,
            raw: &predictor.raw,
            border: if smooth {
                predictor.smooth()
            } else {
                &predictor.raw
            },
            smooth,
            rows: (out.as_chunks_mut().0)
                .first_chunk_mut()
                .expect("there is room for the patch"),
        }
    }

    #[inline(always)]
    fn planar(&mut self) {
        let (w, h) = (W as i32, H as i32);
        let right = i32::from(self.border.top[W + 1]);
        let below = i32::from(self.border.left[H + 1]);
        let shift = self.shape.log_width() + self.shape.log_height() + 1;
        let top = &self.border.top[1..=W];
        for (y, row) in self.rows.iter_mut().enumerate() {
            let (left, y) = (i32::from(self.border.left[y + 1]), y as i32);
            for x in 0..W {
                let across = (w - 1 - x as i32) * left + (x as i32 + 1) * right;
                let down = (h - 1 - y) * i32::from(top[x]) + (y + 1) * below;
                row[x] = (across * h + down * w + w * h) >> shift;
            }
        }
        self.blend_towards_border();
    }

    #[inline(always)]
    fn mean(&mut self) {
        self.rows.fill([self.raw.mean(self.shape); W]);
        self.blend_towards_border();
    }

    /// Weight (of 64) of the border sample next to column or row `distance`.
    #[inline(always)]
    fn border_weight(&self, distance: usize) -> i32 {
        let scale = (self.shape.log_width() + self.shape.log_height() - 2) >> 2;
        32 >> ((2 * distance) >> scale).min(31)
    }

    #[inline(always)]
    fn column_weights(&self) -> [i32; W] {
        let mut weights = [0; W];
        for (x, weight) in weights.iter_mut().enumerate() {
            *weight = self.border_weight(x);
        }
        weights
    }

    /// Draws samples near the border towards it, so that no edge shows there.
    #[inline(always)]
    fn blend_towards_border(&mut self) {
        let weights = self.column_weights();
        let top = &self.border.top[1..=W];
        for y in 0..self.rows.len() {
            let (left, top_weight) = (i32::from(self.border.left[y + 1]), self.border_weight(y));
            let row = &mut self.rows[y];
            for x in 0..W {
                row[x] = (left * weights[x]
                    + i32::from(top[x]) * top_weight
                    + (64 - weights[x] - top_weight) * row[x]
                    + 32)
                    >> 6;
            }
        }
    }

    #[inline(always)]
    fn directional(&mut self) {
        let vertical = self.mode >= FIRST_VERTICAL;
        let angle = ANGLES[self.mode - 2];
        let (border, cubic) = (self.border, !self.smooth);
        if vertical {
            let line = Line::new::<W, H>(&border.top, &border.left, H, angle);
            for (y, row) in self.rows.iter_mut().enumerate() {
                line.project(y, angle, cubic, row);
            }
        } else {
            let line = Line::new::<W, H>(&border.left, &border.top, W, angle);
            let mut column = [0; H];
            for x in 0..W {
                line.project(x, angle, cubic, &mut column);
                for (row, value) in self.rows.iter_mut().zip(&column) {
                    row[x] = *value;
                }
            }
        }
        if angle == 0 {
            self.follow_side(vertical);
        }
    }

    /// Lets a straight prediction follow the change along the other arm near that arm.
    #[inline(always)]
    fn follow_side(&mut self, vertical: bool) {
        let corner = i32::from(self.raw.top[0]);
        let weights = self.column_weights();
        let top = &self.raw.top[1..=W];
        for y in 0..self.rows.len() {
            let change = i32::from(self.raw.left[y + 1]) - corner;
            let row_weight = self.border_weight(y);
            let row = &mut self.rows[y];
            for x in 0..W {
                let moved = if vertical {
                    change * weights[x]
                } else {
                    (i32::from(top[x]) - corner) * row_weight
                };
                row[x] = (row[x] + ((moved + 32) >> 6)).clamp(0, SAMPLE_MAX);
            }
        }
    }
}

kernel! {
    /// Fills the rows of a prediction.
    fn predict_shape<const W: usize, const H: usize>(job: Predict<'_, W, H>) {
        let mut job = job;
        match job.mode {
            PLANAR => job.planar(),
            MEAN => job.mean(),
            _ => job.directional(),
        }
    }
}

/// The arm a direction reads from, continued beyond the corner by the other arm.
struct Line {
    samples: [i16; Self::ORIGIN + ARM + 4],
}

impl Line {
    /// Index of the corner.
    const ORIGIN: usize = SUPERBLOCK + 2;

    /// For a patch of `W` columns and `H` rows that reaches `away` samples from the `main` arm.
    #[inline(always)]
    fn new<const W: usize, const H: usize>(
        main: &[i16; ARM],
        side: &[i16; ARM],
        away: usize,
        angle: i32,
    ) -> Self {
        const ORIGIN: usize = Line::ORIGIN;
        let length = W + H;
        let mut samples = [0; ORIGIN + ARM + 4];
        samples[ORIGIN..ORIGIN + length + 2].copy_from_slice(&main[..length + 2]);
        samples[ORIGIN + length + 2..ORIGIN + length + 6].fill(main[length + 1]);
        if angle < 0 {
            let lowest = ((away as i32 * angle) >> 5) - 2;
            let inverse = inverse_angle(angle);
            for x in lowest..0 {
                let at = ((-x * inverse + 128) >> 8) as usize;
                samples[(ORIGIN as i32 + x) as usize] = side[at.min(length + 1)];
            }
        } else {
            samples[ORIGIN - 2..ORIGIN].fill(side[1]);
        }
        Self { samples }
    }

    /// Fills the samples of the patch that lie `distance` + 1 away from the arm.
    #[inline(always)]
    fn project(&self, distance: usize, angle: i32, cubic: bool, out: &mut [i32]) {
        let shift = (distance as i32 + 1) * angle;
        let first = (Self::ORIGIN as i32 + (shift >> 5)) as usize;
        let line = &self.samples[first..first + out.len() + 3];
        interpolate(line, shift & 31, cubic, out);
    }
}

/// Reads `row.len()` samples from `line[1..]` at a fraction of `phase` / 32.
#[inline(always)]
fn interpolate(line: &[i16], phase: i32, cubic: bool, row: &mut [i32]) {
    let n = row.len();
    let (a, b, c, d) = (&line[..n], &line[1..=n], &line[2..n + 2], &line[3..n + 3]);
    let at = |arm: &[i16], x: usize| i32::from(arm[x]);
    if phase == 0 {
        for (to, &from) in row.iter_mut().zip(b) {
            *to = i32::from(from);
        }
    } else if cubic {
        let taps = cubic_taps(phase);
        for (x, to) in row.iter_mut().enumerate() {
            let near = at(b, x) * taps[1] + at(c, x) * taps[2];
            let sum = at(a, x) * taps[0] + near + at(d, x) * taps[3];
            *to = ((sum + (1 << 13)) >> 14).clamp(0, SAMPLE_MAX);
        }
    } else {
        for (x, to) in row.iter_mut().enumerate() {
            *to = ((32 - phase) * at(b, x) + phase * at(c, x) + 16) >> 5;
        }
    }
}

/// Catmull-Rom taps at phase f / 32, 14 fractional bits, exact up to the final shift.
#[inline(always)]
fn cubic_taps(f: i32) -> [i32; 4] {
    let (f2, f3) = (f * f, f * f * f);
    [
        (-1024 * f + 64 * f2 - f3) >> 2,
        (65536 - 160 * f2 + 3 * f3) >> 2,
        (1024 * f + 128 * f2 - 3 * f3) >> 2,
        (-32 * f2 + f3) >> 2,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: u16) -> Border {
        Border::new(16, [value; 16].into_iter(), Some(value), &[value; 16])
    }

    #[test]
    fn a_flat_border_predicts_a_flat_patch() {
        let shape = Shape::new(8, 8).unwrap();
        let predictor = Predictor::new(flat(1000), shape);
        for mode in 0..MODES {
            let mut out = [0; 64];
            predictor.predict(mode, &mut out);
            for value in out {
                assert!((999..=1001).contains(&value), "mode {mode}: {value}");
            }
        }
    }

    #[test]
    fn missing_samples_repeat_their_predecessor() {
        let border = Border::new(8, [100, 101, 102, 103].into_iter(), Some(7), &[]);
        assert_eq!(border.left[8], 103);
        assert_eq!(border.top[1..=9], [7; 9]);
        let nothing = Border::new(8, [].into_iter(), None, &[]);
        assert_eq!((nothing.top[3], nothing.left[3]), (2048, 2048));
        let only_top = Border::new(8, [].into_iter(), None, &[9, 8, 7, 6]);
        assert_eq!(
            (only_top.left[5], only_top.top[0], only_top.top[6]),
            (9, 9, 6)
        );
    }

    #[test]
    fn a_vertical_edge_above_continues_downwards() {
        let top: Vec<u16> = (0..16).map(|x| if x < 4 { 0 } else { 4000 }).collect();
        let border = Border::new(16, [0; 16].into_iter(), Some(0), &top);
        let mut out = [0; 64];
        Predictor::new(border, Shape::new(8, 8).unwrap()).predict(VERTICAL, &mut out);
        assert!(
            out.chunks_exact(8)
                .all(|row| row[..4] == [0; 4] && row[4..] == [4000; 4])
        );
    }
}

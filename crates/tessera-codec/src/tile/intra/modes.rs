//! Planar, mean and directional predictions of one patch (`spec/bitstream.md`, "Modes").

use crate::simd::{kernel, transpose};
use crate::tile::intra::border::{ARM, Border};
use crate::tile::intra::{ANGLES, FIRST_VERTICAL, MEAN, PLANAR, Predictor, SAMPLE_MAX};
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// One prediction of a patch of `W` columns and `H` rows.
pub(super) struct Predict<'a, const W: usize, const H: usize> {
    shape: Shape,
    mode: usize,
    raw: &'a Border,
    /// The border the mode reads: raw or smoothed.
    border: &'a Border,
    smooth: bool,
    rows: &'a mut [[i32; W]; H],
}

impl<'a, const W: usize, const H: usize> Predict<'a, W, H> {
    pub(super) fn new(predictor: &'a Predictor<'_>, mode: usize, out: &'a mut [i32]) -> Self {
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
            let mut columns = [[0; H]; W];
            for (x, column) in columns.iter_mut().enumerate() {
                line.project(x, angle, cubic, column);
            }
            transpose(&columns, |x, y, value| self.rows[y][x] = value);
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
    pub(super) fn predict_shape<const W: usize, const H: usize>(job: Predict<'_, W, H>) {
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
        let mut samples = [main[length + 1]; ORIGIN + ARM + 4];
        samples[ORIGIN..ORIGIN + length + 2].copy_from_slice(&main[..length + 2]);
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

/// 8192 / -angle, rounded, for the negative angles.
fn inverse_angle(angle: i32) -> i32 {
    (8192 + (-angle) / 2) / -angle
}

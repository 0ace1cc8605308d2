//! Prediction of a patch from decoded neighbours (`spec/bitstream.md`, section "Prediction").
//!
//! Samples are 12-bit; all arithmetic is in 32-bit integers.

use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Largest sample value.
pub(crate) const SAMPLE_MAX: i32 = 4095;
/// Number of luma prediction modes: planar, mean and 33 directions.
pub(crate) const MODES: usize = 35;
/// Smooth surface through the border.
pub(crate) const PLANAR: usize = 0;
/// Mean of the border.
pub(crate) const MEAN: usize = 1;
/// From the left.
pub(crate) const HORIZONTAL: usize = 10;
/// From above.
pub(crate) const VERTICAL: usize = 26;
/// First direction predicted from above rather than from the left.
const FIRST_VERTICAL: usize = 18;

/// Horizontal shift per row in 1/32 sample, for modes 2..=34.
const ANGLES: [i32; 33] = [
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
    pub(crate) top: [i32; ARM],
    pub(crate) left: [i32; ARM],
    length: usize,
}

impl Border {
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
            *to = i32::from(from);
        }
        let first = if lefts > 0 {
            border.left[lefts]
        } else {
            let known = corner.or(top.first().copied());
            known.map_or((SAMPLE_MAX + 1) / 2, i32::from)
        };
        border.left[lefts + 1..length + 2].fill(first);
        let corner = corner.map_or(border.left[1], i32::from);
        (border.top[0], border.left[0]) = (corner, corner);
        for (to, &from) in border.top[1..].iter_mut().zip(top) {
            *to = i32::from(from);
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
                *to -= map(from);
            }
        }
        out
    }

    /// The border with each sample averaged with its neighbours.
    pub(crate) fn smoothed(&self) -> Self {
        let mut out = self.clone();
        for (to, from) in [(&mut out.top, &self.top), (&mut out.left, &self.left)] {
            for i in 1..=self.length {
                to[i] = (from[i - 1] + 2 * from[i] + from[i + 1] + 2) >> 2;
            }
            to[self.length + 1] = from[self.length + 1];
        }
        let corner = (self.left[1] + 2 * self.top[0] + self.top[1] + 2) >> 2;
        (out.top[0], out.left[0]) = (corner, corner);
        out
    }

    /// Sum of absolute differences along the parts of the border that touch the patch.
    pub(crate) fn gradient(&self, shape: Shape) -> u32 {
        let run = |arm: &[i32]| arm.windows(2).map(|w| w[0].abs_diff(w[1])).sum::<u32>();
        run(&self.top[..=shape.width()]) + run(&self.left[..=shape.height()])
    }
}

/// Predicts patches of one shape from one border.
#[derive(Debug)]
pub(crate) struct Predictor {
    pub(crate) raw: Border,
    smooth: Border,
    shape: Shape,
}

impl Predictor {
    pub(crate) fn new(raw: Border, shape: Shape) -> Self {
        let smooth = raw.smoothed();
        Self { raw, smooth, shape }
    }

    /// Fills `out` (row-major, the patch's area) with the prediction of `mode`.
    pub(crate) fn predict(&self, mode: usize, out: &mut [i32]) {
        match mode {
            PLANAR => self.planar(out),
            MEAN => self.mean(out),
            _ => self.directional(mode, out),
        }
    }

    fn planar(&self, out: &mut [i32]) {
        let (w, h) = (self.shape.width(), self.shape.height());
        let border = if w * h > 32 { &self.smooth } else { &self.raw };
        let (right, below) = (border.top[w + 1], border.left[h + 1]);
        let shift = self.shape.log_width() + self.shape.log_height() + 1;
        for (y, row) in out.chunks_exact_mut(w).enumerate().take(h) {
            for (x, value) in row.iter_mut().enumerate() {
                let across = (w - 1 - x) as i32 * border.left[y + 1] + (x + 1) as i32 * right;
                let down = (h - 1 - y) as i32 * border.top[x + 1] + (y + 1) as i32 * below;
                *value = (across * h as i32 + down * w as i32 + (w * h) as i32) >> shift;
            }
        }
        self.blend_towards(border, out);
    }

    fn mean(&self, out: &mut [i32]) {
        let (w, h) = (self.shape.width(), self.shape.height());
        let sum =
            self.raw.top[1..=w].iter().sum::<i32>() + self.raw.left[1..=h].iter().sum::<i32>();
        let count = (w + h) as i32;
        out[..w * h].fill((2 * sum + count) / (2 * count));
        self.blend_towards(&self.raw, out);
    }

    /// Weight (of 64) of the border sample next to column or row `distance`.
    fn border_weight(&self, distance: usize) -> i32 {
        let scale = (self.shape.log_width() + self.shape.log_height() - 2) >> 2;
        32 >> ((2 * distance) >> scale).min(31)
    }

    /// Draws samples near the border towards it, so that no edge shows there.
    fn blend_towards(&self, border: &Border, out: &mut [i32]) {
        let w = self.shape.width();
        for (y, row) in out
            .chunks_exact_mut(w)
            .enumerate()
            .take(self.shape.height())
        {
            let top_weight = self.border_weight(y);
            for (x, value) in row.iter_mut().enumerate() {
                let left_weight = self.border_weight(x);
                *value = (border.left[y + 1] * left_weight
                    + border.top[x + 1] * top_weight
                    + (64 - left_weight - top_weight) * *value
                    + 32)
                    >> 6;
            }
        }
    }

    fn directional(&self, mode: usize, out: &mut [i32]) {
        let (w, h) = (self.shape.width(), self.shape.height());
        let vertical = mode >= FIRST_VERTICAL;
        let axis = if vertical { VERTICAL } else { HORIZONTAL };
        let tolerance = match (self.shape.log_width() + self.shape.log_height()) >> 1 {
            2 => 99,
            3 => 7,
            4 => 1,
            _ => 0,
        };
        let smooth = mode.abs_diff(axis) > tolerance;
        let border = if smooth { &self.smooth } else { &self.raw };
        let angle = ANGLES[mode - 2];
        if vertical {
            project(
                &border.top,
                &border.left,
                [w, h],
                self.raw.length,
                angle,
                !smooth,
                out,
            );
        } else {
            let mut transposed = vec![0; w * h];
            project(
                &border.left,
                &border.top,
                [h, w],
                self.raw.length,
                angle,
                !smooth,
                &mut transposed,
            );
            for y in 0..h {
                for x in 0..w {
                    out[y * w + x] = transposed[x * h + y];
                }
            }
        }
        if angle == 0 {
            self.follow_side(vertical, out);
        }
    }

    /// Lets a straight prediction follow the change along the other arm near that arm.
    fn follow_side(&self, vertical: bool, out: &mut [i32]) {
        let w = self.shape.width();
        let corner = self.raw.top[0];
        for (y, row) in out
            .chunks_exact_mut(w)
            .enumerate()
            .take(self.shape.height())
        {
            for (x, value) in row.iter_mut().enumerate() {
                let (change, distance) = if vertical {
                    (self.raw.left[y + 1] - corner, x)
                } else {
                    (self.raw.top[x + 1] - corner, y)
                };
                let moved = *value + ((change * self.border_weight(distance) + 32) >> 6);
                *value = moved.clamp(0, SAMPLE_MAX);
            }
        }
    }
}

/// Projects `main` (and for negative angles `side`) along `angle` over `size` = [along, away].
fn project(
    main: &[i32],
    side: &[i32],
    size: [usize; 2],
    length: usize,
    angle: i32,
    cubic: bool,
    out: &mut [i32],
) {
    const ORIGIN: usize = SUPERBLOCK + 2;
    let [along, away] = size;
    let mut line = [0; ORIGIN + ARM + 4];
    line[ORIGIN..ORIGIN + length + 2].copy_from_slice(&main[..length + 2]);
    line[ORIGIN + length + 2..ORIGIN + length + 6].fill(main[length + 1]);
    if angle < 0 {
        let lowest = ((away as i32 * angle) >> 5) - 2;
        let inverse = inverse_angle(angle);
        for x in lowest..0 {
            let at = ((-x * inverse + 128) >> 8) as usize;
            line[(ORIGIN as i32 + x) as usize] = side[at.min(length + 1)];
        }
    } else {
        line[ORIGIN - 2..ORIGIN].fill(side[1]);
    }
    for (y, row) in out.chunks_exact_mut(along).enumerate().take(away) {
        let shift = (y as i32 + 1) * angle;
        let first = (ORIGIN as i32 + (shift >> 5)) as usize;
        interpolate(&line[first..first + along + 3], shift & 31, cubic, row);
    }
}

/// Reads `row.len()` samples from `line[1..]` at a fraction of `phase` / 32.
fn interpolate(line: &[i32], phase: i32, cubic: bool, row: &mut [i32]) {
    if phase == 0 {
        row.copy_from_slice(&line[1..=row.len()]);
    } else if cubic {
        let taps = cubic_taps(phase);
        for (value, window) in row.iter_mut().zip(line.windows(4)) {
            let sum: i32 = window.iter().zip(&taps).map(|(s, t)| s * t).sum();
            *value = ((sum + (1 << 13)) >> 14).clamp(0, SAMPLE_MAX);
        }
    } else {
        for (value, window) in row.iter_mut().zip(line[1..].windows(2)) {
            *value = ((32 - phase) * window[0] + phase * window[1] + 16) >> 5;
        }
    }
}

/// Catmull-Rom taps at phase f / 32, 14 fractional bits, exact up to the final shift.
fn cubic_taps(f: i32) -> [i32; 4] {
    let (f2, f3) = (f * f, f * f * f);
    [
        -1024 * f + 64 * f2 - f3,
        65536 - 160 * f2 + 3 * f3,
        1024 * f + 128 * f2 - 3 * f3,
        -32 * f2 + f3,
    ]
    .map(|tap| tap >> 2)
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

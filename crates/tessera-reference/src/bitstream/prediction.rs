//! `bitstream.md`, "Prediction", without what is learned.

use super::Tile;
use super::borders::Border;
use super::modes::{MEAN, PLANAR};
use super::shapes::Shape;

/// Angles of the modes 2 to 34, in 1/32 sample per row.
const ANGLES: [i32; 33] = [
    32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
    -5, -2, 0, 2, 5, 9, 13, 17, 21, 26, 32,
];

/// Predicts a patch by a luma mode, in raster order.
pub(super) fn predict(mode: usize, border: &Border, shape: Shape) -> Vec<i32> {
    match mode {
        PLANAR => planar(border, shape),
        MEAN => {
            let mean = vec![mean(border, shape); shape.area()];
            draw_towards(border, shape, mean)
        }
        _ => directional(mode, border, shape),
    }
}

/// How much a sample at distance `d` from the border takes from it, in 1/64.
fn weight(d: usize, shape: Shape) -> i32 {
    32 >> ((2 * d) >> ((shape.log2_area() - 2) >> 2)).min(31)
}

/// Planar, drawn towards the border it uses.
pub(super) fn planar(border: &Border, shape: Shape) -> Vec<i32> {
    let smoothed = border.smoothed();
    let Border { top, left } = if shape.area() > 32 { &smoothed } else { border };
    let (w, h) = (shape.w as i32, shape.h as i32);
    let mut p = Vec::with_capacity(shape.area());
    for y in 0..shape.h {
        for x in 0..shape.w {
            let (xi, yi) = (x as i32, y as i32);
            let across = (w - 1 - xi) * left[y + 1] + (xi + 1) * top[shape.w + 1];
            let down = (h - 1 - yi) * top[x + 1] + (yi + 1) * left[shape.h + 1];
            p.push((across * h + down * w + w * h) >> (shape.log2_area() + 1));
        }
    }
    draw_towards(if shape.area() > 32 { &smoothed } else { border }, shape, p)
}

/// The mean of the border, rounded.
pub(super) fn mean(border: &Border, shape: Shape) -> i32 {
    let n = (shape.w + shape.h) as i64;
    let sum: i64 = border.adjacent(shape).sum();
    ((2 * sum + n) / (2 * n)) as i32
}

fn draw_towards(border: &Border, shape: Shape, mut p: Vec<i32>) -> Vec<i32> {
    for (i, p) in p.iter_mut().enumerate() {
        let (x, y) = (i % shape.w, i / shape.w);
        let (wx, wy) = (weight(x, shape), weight(y, shape));
        *p = (border.left[y + 1] * wx + border.top[x + 1] * wy + (64 - wx - wy) * *p + 32) >> 6;
    }
    p
}

fn directional(mode: usize, border: &Border, shape: Shape) -> Vec<i32> {
    let vertical = mode >= 18;
    let distance = mode.abs_diff(if vertical { 26 } else { 10 });
    let smooth = distance > tolerance(shape);
    let used = if smooth {
        border.smoothed()
    } else {
        border.clone()
    };
    let line = Line::new(&used, ANGLES[mode - 2], vertical);
    let mut p = Vec::with_capacity(shape.area());
    for y in 0..shape.h {
        for x in 0..shape.w {
            let (row, column) = if vertical { (y, x) } else { (x, y) };
            p.push(line.interpolate(row as i32, column as i32, smooth));
        }
    }
    follow_other_arm(mode, border, shape, &mut p);
    p
}

/// From which distance on the smoothed border is used.
fn tolerance(shape: Shape) -> usize {
    match shape.log2_area() >> 1 {
        2 => 99,
        3 => 7,
        4 => 1,
        _ => 0,
    }
}

/// The border as a direction sees it.
struct Line<'a> {
    main: &'a [i32],
    side: &'a [i32],
    angle: i32,
}

impl<'a> Line<'a> {
    fn new(border: &'a Border, angle: i32, vertical: bool) -> Self {
        let (top, left) = (&border.top[..], &border.left[..]);
        let (main, side) = if vertical { (top, left) } else { (left, top) };
        Self { main, side, angle }
    }

    fn at(&self, i: i32) -> i32 {
        let end = self.main.len() - 1;
        if i >= 0 {
            return self.main[(i as usize).min(end)];
        }
        // Only angles below zero lead here; the others begin at index 1, and the cubic's first tap at 0.
        let inverse = (8192 + -self.angle / 2) / -self.angle;
        self.side[(((-i * inverse + 128) >> 8) as usize).min(end)]
    }

    fn interpolate(&self, row: i32, column: i32, smoothed: bool) -> i32 {
        let t = (row + 1) * self.angle;
        let (i, f) = ((t >> 5) + column + 1, t & 31);
        if f == 0 {
            return self.at(i);
        }
        if smoothed {
            return ((32 - f) * self.at(i) + f * self.at(i + 1) + 16) >> 5;
        }
        let (f2, f3) = (f * f, f * f * f);
        let taps = [
            (-1024 * f + 64 * f2 - f3) >> 2,
            (65536 - 160 * f2 + 3 * f3) >> 2,
            (1024 * f + 128 * f2 - 3 * f3) >> 2,
            (-32 * f2 + f3) >> 2,
        ];
        let sum: i32 = taps
            .iter()
            .zip(i - 1..)
            .map(|(tap, i)| tap * self.at(i))
            .sum();
        ((sum + 8192) >> 14).clamp(0, 4095)
    }
}

/// Modes 10 and 26 follow the arm they do not copy.
fn follow_other_arm(mode: usize, border: &Border, shape: Shape, p: &mut [i32]) {
    let corner = border.corner();
    for (i, p) in p.iter_mut().enumerate() {
        let (x, y) = (i % shape.w, i / shape.w);
        let slope = match mode {
            26 => (border.left[y + 1] - corner) * weight(x, shape),
            10 => (border.top[x + 1] - corner) * weight(y, shape),
            _ => return,
        };
        *p = (*p + ((slope + 32) >> 6)).clamp(0, 4095);
    }
}

impl Tile<'_> {
    /// "From luma": a line fitted along the border, applied to the luma of the patch.
    pub(super) fn predict_from_luma(
        &self,
        border: &Border,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Vec<i32> {
        let luma = &self.canvases[0].planes[0];
        let luma_border = Border::new(&self.canvases[1], x, y, shape, |x, y| luma.nearest(x, y));
        let n = (shape.w + shape.h) as i64;
        let (mut sl, mut sc, mut sll, mut slc) = (0, 0, 0, 0);
        for (l, c) in luma_border.adjacent(shape).zip(border.adjacent(shape)) {
            sl += l;
            sc += c;
            sll += l * l;
            slc += l * c;
        }
        let var = n * sll - sl * sl + 64 * n * n;
        let slope = ((n * slc - sl * sc) * 4096 / var).clamp(-16384, 16384);
        let (ml, mc) = ((sl + n / 2) / n, (sc + n / 2) / n);
        let predict = |i: usize| {
            let l = i64::from(luma.get(x + i % shape.w, y + i / shape.w));
            (mc + ((slope * (l - ml) + 2048) >> 12)).clamp(0, 4095) as i32
        };
        (0..shape.area()).map(predict).collect()
    }
}

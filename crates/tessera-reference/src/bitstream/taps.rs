//! `bitstream.md`, "From luma with taps".

use super::Tile;
use super::shapes::Shape;
use crate::plane::Plane;

const TERMS: usize = 5;
const RIDGE: [i64; TERMS] = [64, 64, 4, 1024, 1024];

/// The terms of a place, and what chroma is there less the middle.
type Row = ([i64; TERMS], i64);

impl Tile<'_> {
    pub(super) fn predict_with_taps(
        &self,
        component: usize,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Vec<i32> {
        let places = places(x as i64, y as i64, shape);
        if places.is_empty() {
            return vec![2048; shape.area()];
        }
        let luma = &self.canvases[0].planes[0];
        let chroma = &self.canvases[1].planes[component];
        let n = places.len() as i64;
        let sum: i64 = places
            .iter()
            .map(|&(x, y)| i64::from(luma.nearest(x, y)))
            .sum();
        let terms = Terms {
            luma,
            x: x as i64,
            y: y as i64,
            shape,
            mean: (sum + n / 2) / n,
        };
        let row = |&(x, y): &(i64, i64)| (terms.at(x, y), i64::from(chroma.nearest(x, y)) - 2048);
        let rows: Vec<Row> = places.iter().map(row).collect();
        let weights = solve(&rows);
        let sums = sum_of(&rows, |(t, _)| *t);
        let sum_g: i64 = rows.iter().map(|(_, g)| g).sum();
        let e = ((sum_g << 12) - dot(&weights, &sums)).div_euclid(n) + (1 << 23);
        let predict = |i: usize| {
            let t = terms.at((x + i % shape.w) as i64, (y + i / shape.w) as i64);
            ((e + dot(&weights, &t) + 2048) >> 12).clamp(0, 4095) as i32
        };
        (0..shape.area()).map(predict).collect()
    }
}

/// Where luma and chroma are compared.
fn places(x: i64, y: i64, shape: Shape) -> Vec<(i64, i64)> {
    let (a, b) = ((shape.w / 16).max(1), (shape.h / 16).max(1));
    let above = (0..shape.w as i64)
        .step_by(a)
        .flat_map(|i| [(x + i, y - 1), (x + i, y - 2)]);
    let left = (0..shape.h as i64)
        .step_by(b)
        .flat_map(|j| [(x - 1, y + j), (x - 2, y + j)]);
    above
        .filter(|_| y > 0)
        .chain(left.filter(|_| x > 0))
        .collect()
}

struct Terms<'a> {
    luma: &'a Plane,
    x: i64,
    y: i64,
    shape: Shape,
    mean: i64,
}

impl Terms<'_> {
    fn at(&self, x: i64, y: i64) -> [i64; TERMS] {
        let right = self.x + self.shape.w as i64 - 1;
        let bottom = self.y + self.shape.h as i64 - 1;
        let l =
            |x: i64, y: i64| i64::from(self.luma.nearest(x.clamp(0, right), y.clamp(0, bottom)));
        let around = l(x, y - 1) + l(x, y + 1) + l(x - 1, y) + l(x + 1, y);
        let t = l(x, y) - self.mean;
        let curvature = ((around + 2) >> 2) - l(x, y);
        [
            t,
            curvature,
            (t * t) >> 12,
            16 * (x - self.x),
            16 * (y - self.y),
        ]
    }
}

fn sum_of(rows: &[Row], of: impl Fn(&Row) -> [i64; TERMS]) -> [i64; TERMS] {
    std::array::from_fn(|i| rows.iter().map(|row| of(row)[i]).sum())
}

fn dot(a: &[i64; TERMS], b: &[i64; TERMS]) -> i64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// The weights of the terms: least squares with a ridge, by a decomposition into L D L'.
fn solve(rows: &[Row]) -> [i64; TERMS] {
    let n = rows.len() as i64;
    let z = 2 * (n - 1).ilog2() - 4;
    let sums = sum_of(rows, |(t, _)| *t);
    let sum_g: i64 = rows.iter().map(|(_, g)| g).sum();
    let (mut f, mut d, mut v) = ([[0; TERMS]; TERMS], [0; TERMS], [0; TERMS]);
    for i in 0..TERMS {
        let products = sum_of(rows, |(t, _)| t.map(|other| t[i] * other));
        let mut u = [0; TERMS];
        for j in 0..=i {
            let a = (n * products[j] - sums[i] * sums[j]) >> z;
            let known: i64 = (0..j).map(|k| (u[k] * f[j][k]) >> 18).sum();
            u[j] = limit(a - known, 31);
            if j < i {
                f[i][j] = limit((u[j] << 18) / d[j], 30);
            }
        }
        d[i] = u[i].max(0) + ((RIDGE[i] * n * n) >> z).max(1);
        let product: i64 = rows.iter().map(|(t, g)| t[i] * g).sum();
        let b = (n * product - sums[i] * sum_g) >> z;
        let known: i64 = (0..i).map(|k| (f[i][k] * v[k]) >> 18).sum();
        v[i] = limit(b - known, 31);
    }
    let mut s = [0; TERMS];
    for i in (0..TERMS).rev() {
        let known: i64 = (i + 1..TERMS).map(|k| (f[k][i] * s[k]) >> 18).sum();
        s[i] = limit(limit((v[i] << 18) / d[i], 24) - known, 24);
    }
    s.map(|s| ((s + 32) >> 6).clamp(-32767, 32767))
}

/// `clamp(v, -2^bits, 2^bits)`.
fn limit(v: i64, bits: u32) -> i64 {
    v.clamp(-(1 << bits), 1 << bits)
}

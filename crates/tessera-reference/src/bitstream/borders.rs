//! `bitstream.md`, "Borders".

use super::canvas::Canvas;
use super::shapes::Shape;

/// The samples above and to the left of a patch; index 0 of both arms is the corner.
#[derive(Debug, Clone)]
pub(super) struct Border {
    pub(super) top: Vec<i32>,
    pub(super) left: Vec<i32>,
}

impl Border {
    /// The border of a patch, of samples that `sample` gives, where the canvas says what is decoded.
    pub(super) fn new(
        canvas: &Canvas,
        x: usize,
        y: usize,
        shape: Shape,
        sample: impl Fn(i64, i64) -> i32,
    ) -> Self {
        let (x, y) = (x as i64, y as i64);
        let len = shape.w + shape.h;
        let decoded = |x, y| canvas.cell(x, y).map(|_| sample(x, y));
        let mut top = arm(len, |i| decoded(x + i, y - 1));
        let mut left = arm(len, |i| decoded(x - 1, y + i));
        let corner = decoded(x - 1, y - 1);
        let fill = left.last().or(top.first()).copied().unwrap_or(2048);
        left.resize(len + 1, fill);
        let corner = corner.unwrap_or(left[0]);
        let fill = top.last().copied().unwrap_or(corner);
        top.resize(len + 1, fill);
        top.insert(0, corner);
        left.insert(0, corner);
        Self { top, left }
    }

    pub(super) fn corner(&self) -> i32 {
        self.top[0]
    }

    pub(super) fn smoothed(&self) -> Self {
        let corner = (self.left[1] + 2 * self.corner() + self.top[1] + 2) >> 2;
        let smooth = |arm: &[i32]| {
            let inner = arm.windows(3).map(|a| (a[0] + 2 * a[1] + a[2] + 2) >> 2);
            let mut smoothed: Vec<i32> = std::iter::once(corner).chain(inner).collect();
            smoothed.extend(arm.last());
            smoothed
        };
        Self {
            top: smooth(&self.top),
            left: smooth(&self.left),
        }
    }

    /// This border minus another one, each of whose samples is changed first.
    pub(super) fn minus(&self, other: &Self, change: impl Fn(i32) -> i32) -> Self {
        let difference =
            |a: &[i32], b: &[i32]| a.iter().zip(b).map(|(a, b)| a - change(*b)).collect();
        Self {
            top: difference(&self.top, &other.top),
            left: difference(&self.left, &other.left),
        }
    }

    /// `top[1..w]` and `left[1..h]`.
    pub(super) fn adjacent(&self, shape: Shape) -> impl Iterator<Item = i64> {
        let samples = self.top[1..=shape.w].iter().chain(&self.left[1..=shape.h]);
        samples.map(|&sample| i64::from(sample))
    }

    /// The sum of the steps from sample to sample along the patch.
    pub(super) fn gradient(&self, shape: Shape) -> i64 {
        let steps = |arm: &[i32]| {
            arm.windows(2)
                .map(|a| i64::from((a[1] - a[0]).abs()))
                .sum::<i64>()
        };
        steps(&self.top[..=shape.w]) + steps(&self.left[..=shape.h])
    }
}

/// The decoded part of an arm: it ends at the first sample that is missing.
fn arm(len: usize, decoded: impl Fn(i64) -> Option<i32>) -> Vec<i32> {
    (0..len as i64).map_while(decoded).collect()
}

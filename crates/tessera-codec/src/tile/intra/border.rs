//! The decoded samples around a patch that it is predicted from (`spec/bitstream.md`, "Border").

use crate::tile::intra::SAMPLE_MAX;
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Length of one arm of a border: the corner, then up to width + height samples, then one repeat.
pub(super) const ARM: usize = 2 * SUPERBLOCK + 2;

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
    #[inline]
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
        let column = &samples[at(x.saturating_sub(1), y)..];
        let left = (0..known.lefts).map(|away| column[away * stride]);
        Self::new(length, left, corner, top)
    }

    /// A border of `length` samples per arm from what is decoded: `left` and `top` hold the samples that
    /// exist, counted away from the corner. What is missing takes the value before it on the way from
    /// the lowest left sample over the corner to the rightmost top sample.
    #[inline]
    pub(crate) fn new(
        length: usize,
        left: impl ExactSizeIterator<Item = u16> + DoubleEndedIterator + Clone,
        corner: Option<u16>,
        top: &[u16],
    ) -> Self {
        const UNKNOWN: u16 = (SAMPLE_MAX as u16).div_ceil(2);
        let lowest = left.clone().next_back().or(corner).or(top.first().copied());
        let mut border = Self {
            left: [lowest.unwrap_or(UNKNOWN) as i16; ARM],
            top: [0; ARM],
            length,
        };
        for (to, from) in border.left[1..].iter_mut().zip(left) {
            *to = from as i16;
        }
        let corner = corner.map_or(border.left[1], |sample| sample as i16);
        border.left[0] = corner;
        border.top = [top.last().map_or(corner, |&sample| sample as i16); ARM];
        border.top[0] = corner;
        for (to, &from) in border.top[1..].iter_mut().zip(top) {
            *to = from as i16;
        }
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

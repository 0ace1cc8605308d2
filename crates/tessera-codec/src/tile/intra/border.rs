//! The decoded samples around a patch that it is predicted from (`spec/bitstream.md`, "Border").

use crate::simd::kernel;
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
    #[inline(always)]
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
    #[inline(always)]
    pub(crate) fn new(
        length: usize,
        left: impl ExactSizeIterator<Item = u16> + DoubleEndedIterator + Clone,
        corner: Option<u16>,
        top: &[u16],
    ) -> Self {
        const UNKNOWN: u16 = (SAMPLE_MAX as u16).div_ceil(2);
        let lowest = left.clone().next_back().or(corner).or(top.first().copied());
        let lowest = lowest.unwrap_or(UNKNOWN);
        let corner = corner.or(left.clone().next()).unwrap_or(lowest);
        let mut border = Self {
            left: [lowest as i16; ARM],
            top: [top.last().map_or(corner, |&sample| sample) as i16; ARM],
            length,
        };
        for (to, from) in border.left[1..].iter_mut().zip(left) {
            *to = from as i16;
        }
        border.left[0] = corner as i16;
        border.top[0] = corner as i16;
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
        smooth_arm(&self.top[..self.length + 2], &mut out.top[1..]);
        smooth_arm(&self.left[..self.length + 2], &mut out.left[1..]);
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
        path_length(&self.top[..=shape.width()]) + path_length(&self.left[..=shape.height()])
    }
}

kernel! {
    /// Sum of the differences between neighbours.
    fn path_length(samples: &[i16]) -> u32 {
        let steps = samples.iter().zip(&samples[1..]);
        steps.map(|(a, b)| u32::from(a.abs_diff(*b))).sum()
    }
}

kernel! {
    /// All samples but the first and the last averaged with their neighbours.
    fn smooth_arm(from: &[i16], to: &mut [i16]) {
        let neighbours = from.iter().zip(&from[1..]).zip(&from[2..]);
        for (to, ((&before, &sample), &after)) in to.iter_mut().zip(neighbours) {
            *to = smooth(before, sample, after);
        }
    }
}

/// A sample averaged with its neighbours.
#[inline(always)]
fn smooth(before: i16, sample: i16, after: i16) -> i16 {
    ((i32::from(before) + 2 * i32::from(sample) + i32::from(after) + 2) >> 2) as i16
}

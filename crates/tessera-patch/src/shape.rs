//! The shapes a patch can have, and the order in which its frequencies are visited.

/// Side of a superblock: the largest patch and the root of every partition tree.
pub const SUPERBLOCK: usize = 64;
/// Smallest side of a patch.
pub const MIN_SIDE: usize = 4;
/// Number of patch shapes: 4..64 square, and the 2:1 rectangles between them.
pub const SHAPE_COUNT: usize = 13;
/// Largest number of coefficients a patch can carry; larger patches keep their lowest frequencies.
pub const MAX_CODED: usize = 1024;
/// Largest number of leading coefficients a learned rotation acts on.
pub const MAX_ROTATED: usize = 256;

/// Width and height of a patch, as powers of two from 4 to 64 with a ratio of at most 2:1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    log_width: u8,
    log_height: u8,
}

impl Shape {
    /// The shape of `width` x `height`, or `None` if no patch has that size.
    #[inline]
    pub fn new(width: usize, height: usize) -> Option<Self> {
        let valid = |side: usize| side.is_power_of_two() && (MIN_SIDE..=SUPERBLOCK).contains(&side);
        (valid(width) && valid(height) && width <= 2 * height && height <= 2 * width).then(|| {
            Self {
                log_width: width.trailing_zeros() as u8,
                log_height: height.trailing_zeros() as u8,
            }
        })
    }

    /// All shapes in index order.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SHAPE_COUNT).map(Self::from_index)
    }

    /// Inverse of [`Shape::index`].
    ///
    /// # Panics
    /// If `index` is not below [`SHAPE_COUNT`].
    pub fn from_index(index: usize) -> Self {
        assert!(index < SHAPE_COUNT, "shape index {index} out of range");
        let (log, kind) = (2 + index / 3, index % 3);
        Self {
            log_width: (log + usize::from(kind == 1)) as u8,
            log_height: (log + usize::from(kind == 2)) as u8,
        }
    }

    /// Position in the list 4x4, 8x4, 4x8, 8x8, 16x8, 8x16, ..., 64x64.
    #[inline]
    pub fn index(self) -> usize {
        let log = self.log_width.min(self.log_height) as usize;
        let kind = match self.log_width.cmp(&self.log_height) {
            std::cmp::Ordering::Equal => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Less => 2,
        };
        3 * (log - 2) + kind
    }

    /// Width in samples.
    #[inline]
    pub fn width(self) -> usize {
        1 << self.log_width
    }

    /// Height in samples.
    #[inline]
    pub fn height(self) -> usize {
        1 << self.log_height
    }

    /// Base-two logarithm of the width.
    #[inline]
    pub fn log_width(self) -> usize {
        self.log_width as usize
    }

    /// Base-two logarithm of the height.
    #[inline]
    pub fn log_height(self) -> usize {
        self.log_height as usize
    }

    /// Number of samples.
    #[inline]
    pub fn area(self) -> usize {
        1 << (self.log_width + self.log_height)
    }

    /// Size group from 0 (16 samples) to 7 (2,048 samples and more).
    #[inline]
    pub fn size_group(self) -> usize {
        (self.log_width() + self.log_height() - 4).min(7)
    }

    /// Number of coefficients that can be coded for this shape.
    #[inline]
    pub fn coded(self) -> usize {
        self.area().min(MAX_CODED)
    }

    /// Number of leading coefficients a learned rotation of this shape acts on.
    #[inline]
    pub fn rotated(self) -> usize {
        self.area().min(MAX_ROTATED)
    }

    /// Width and height exchanged.
    #[inline]
    pub fn transposed(self) -> Self {
        Self {
            log_width: self.log_height,
            log_height: self.log_width,
        }
    }

    /// Frequencies from low to high: entry `i` is the raster index of the `i`-th visited frequency.
    ///
    /// Sorted by u/w + v/h (as the integer u*h + v*w), ties by u on even sums and by v on odd ones, so
    /// that the visit zigzags.
    pub fn scan(self) -> Vec<u16> {
        let (w, h) = (self.width(), self.height());
        // Sums are multiples of the shorter side.
        let (side, unit) = (w.min(h), w.max(h));
        let (by_u, by_v) = (h / side, w / side);
        let mut order = Vec::with_capacity(w * h);
        for sum in 0..=(w - 1) * by_u + (h - 1) * by_v {
            let even = (sum * side / unit).is_multiple_of(2);
            let (steps, own, other) = if even {
                (w, by_u, by_v)
            } else {
                (h, by_v, by_u)
            };
            for tie in 0..steps.min(sum / own + 1) {
                let rest = sum - tie * own;
                let (u, v) = if even {
                    (tie, rest / other)
                } else {
                    (rest / other, tie)
                };
                if rest.is_multiple_of(other) && u < w && v < h {
                    order.push((v * w + u) as u16);
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn index_round_trips() {
        for (index, shape) in Shape::all().enumerate() {
            assert_eq!(shape.index(), index);
            assert_eq!(Shape::new(shape.width(), shape.height()), Some(shape));
        }
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for (w, h) in [(2, 2), (128, 128), (16, 4), (4, 16), (12, 12), (0, 4)] {
            assert_eq!(Shape::new(w, h), None, "{w}x{h}");
        }
    }

    #[test]
    fn scans_are_sorted() {
        for shape in Shape::all() {
            let (w, h) = (shape.width(), shape.height());
            let mut sorted: Vec<u16> = (0..shape.area() as u16).collect();
            sorted.sort_by_key(|&raster| {
                let (u, v) = (raster as usize % w, raster as usize / w);
                let sum = u * h + v * w;
                let tie = if (sum / w.max(h)).is_multiple_of(2) {
                    u
                } else {
                    v
                };
                (sum, tie)
            });
            assert_eq!(shape.scan(), sorted, "{w}x{h}");
        }
    }

    #[test]
    fn scan_visits_every_frequency_once_from_low_to_high() {
        for shape in Shape::all() {
            let scan = shape.scan();
            let mut seen = vec![false; shape.area()];
            for &raster in &scan {
                assert!(!std::mem::replace(&mut seen[raster as usize], true));
            }
            assert_eq!(scan[0], 0);
            assert_eq!(*scan.last().unwrap() as usize, shape.area() - 1);
        }
    }
}

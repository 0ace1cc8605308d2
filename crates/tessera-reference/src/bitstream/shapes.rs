//! `bitstream.md`, "Shapes".

use crate::notation::log2;
use std::sync::OnceLock;

/// Width and height of a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) w: usize,
    pub(crate) h: usize,
}

const fn shape(w: usize, h: usize) -> Shape {
    Shape { w, h }
}

pub(crate) const SHAPES: [Shape; 13] = [
    shape(4, 4),
    shape(8, 4),
    shape(4, 8),
    shape(8, 8),
    shape(16, 8),
    shape(8, 16),
    shape(16, 16),
    shape(32, 16),
    shape(16, 32),
    shape(32, 32),
    shape(64, 32),
    shape(32, 64),
    shape(64, 64),
];

impl Shape {
    pub(crate) fn index(self) -> usize {
        // Every leaf and patch has one of the shapes of the table.
        SHAPES.iter().position(|&shape| shape == self).unwrap_or(0)
    }

    pub(crate) fn area(self) -> usize {
        self.w * self.h
    }

    pub(crate) fn transposed(self) -> Self {
        shape(self.h, self.w)
    }

    /// `log2(w) + log2(h)`.
    pub(crate) fn log2_area(self) -> usize {
        log2(self.w) + log2(self.h)
    }

    pub(crate) fn size_group(self) -> usize {
        (self.log2_area() - 4).min(7)
    }

    /// `n`, the number of coefficients that are coded.
    pub(crate) fn coded(self) -> usize {
        self.area().min(1024)
    }

    /// `m`, the number of coefficients that are rotated.
    pub(crate) fn rotated(self) -> usize {
        self.area().min(256)
    }

    /// Raster indices of the frequencies, in the order they are coded.
    pub(crate) fn scan(self) -> &'static [usize] {
        static SCANS: OnceLock<Vec<Vec<usize>>> = OnceLock::new();
        let scans = SCANS.get_or_init(|| SHAPES.iter().map(|shape| shape.sorted()).collect());
        &scans[self.index()]
    }

    fn sorted(self) -> Vec<usize> {
        let Shape { w, h } = self;
        let mut frequencies: Vec<usize> = (0..w * h).collect();
        frequencies.sort_by_key(|&raster| {
            let (u, v) = (raster % w, raster / w);
            let s = u * h + v * w;
            (s, if (s / w.max(h)) % 2 == 0 { u } else { v })
        });
        frequencies
    }
}

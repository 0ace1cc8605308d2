//! `bitstream.md`, "Folding".

use super::shapes::Shape;

/// How a patch finds its bases.
#[derive(Debug, Clone, Copy)]
pub(super) struct Folding {
    pub(super) class: usize,
    pub(super) transposed: bool,
    pub(super) shape: Shape,
}

/// Of a patch of luma with its mode, or of chroma.
pub(super) fn fold(kind: usize, mode: usize, shape: Shape) -> Folding {
    let (class, transposed) = match (kind, mode) {
        (1, _) | (_, 0 | 1) => (0, shape.h > shape.w),
        _ => (direction_class(mode, shape), mode < 18),
    };
    Folding {
        class,
        transposed,
        shape: if transposed {
            shape.transposed()
        } else {
            shape
        },
    }
}

fn direction_class(mode: usize, shape: Shape) -> usize {
    let d = if mode < 18 { 36 - mode } else { mode };
    let class = match d {
        25..=27 => 1,
        28..=30 => 2,
        31..=34 => 3,
        22..=24 => 4,
        _ => 5,
    };
    if shape.w.max(shape.h) > 16 {
        class.min(1)
    } else {
        class
    }
}

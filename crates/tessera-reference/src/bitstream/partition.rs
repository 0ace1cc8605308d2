//! `bitstream.md`, "Partition".

use super::Tile;
use super::canvas::Leaf;
use super::elements::{Element, log_class};
use super::shapes::Shape;
use crate::notation::log2;

impl Tile<'_> {
    /// Reads what lies in a square of the canvas.
    pub(super) fn block(&mut self, kind: usize, size: usize, x: usize, y: usize) {
        let canvas = &self.canvases[kind];
        let (width, height) = (canvas.width, canvas.height);
        if x >= width || y >= height || self.drawn.covers(x, y, size) {
            return;
        }
        let half = size / 2;
        if x + size > width || y + size > height || self.drawn.touches(x, y, size) {
            return self.quarters(kind, half, x, y);
        }
        if size == 4 {
            return self.leaf(kind, x, y, Shape { w: 4, h: 4 });
        }
        let contexts = self.partition_contexts(kind, size, x as i64, y as i64);
        if !self.partition_decision(kind, &contexts, 0) {
            return self.leaf(kind, x, y, Shape { w: size, h: size });
        }
        if self.partition_decision(kind, &contexts, 1) {
            return self.quarters(kind, half, x, y);
        }
        if self.partition_decision(kind, &contexts, 2) {
            self.leaf(kind, x, y, Shape { w: half, h: size });
            self.leaf(kind, x + half, y, Shape { w: half, h: size });
        } else {
            self.leaf(kind, x, y, Shape { w: size, h: half });
            self.leaf(kind, x, y + half, Shape { w: size, h: half });
        }
    }

    fn quarters(&mut self, kind: usize, half: usize, x: usize, y: usize) {
        for (dx, dy) in [(0, 0), (half, 0), (0, half), (half, half)] {
            self.block(kind, half, x + dx, y + dy);
        }
    }

    fn partition_contexts(&self, kind: usize, size: usize, x: i64, y: i64) -> Contexts {
        let canvas = &self.canvases[kind];
        let (left, above) = (canvas.cell(x - 1, y), canvas.cell(x, y - 1));
        let half = size as i64 / 2;
        let (third, fourth) = match kind {
            0 => (left, above),
            _ => {
                let luma = self.canvases[0].cell(x + half, y + half);
                (luma, luma)
            }
        };
        let activity = canvas.activity(0, x, y, size as i64, size as i64);
        Contexts {
            z: log2(size) - 3,
            left: side(left, |shape| shape.h),
            above: side(above, |shape| shape.w),
            third: side(third, |shape| shape.w),
            fourth: side(fourth, |shape| shape.h),
            a: log_class(activity, 8, 3, 8, 12),
        }
    }

    fn partition_decision(&mut self, kind: usize, contexts: &Contexts, d: usize) -> bool {
        let &Contexts {
            z,
            left,
            above,
            third,
            fourth,
            a,
        } = contexts;
        let small = usize::from(left < z + 1) | usize::from(above < z + 1) << 1;
        let k = d | z << 2;
        let sides = (6 * k + left) * 6 + above;
        let cells = [
            sides,
            k | a << 4,
            (sides * 6 + third) * 6 + fourth,
            k | small << 4 | a << 6,
        ];
        self.decide(kind, Element::Partition, &cells, k)
    }
}

/// The same for the decisions of one block.
struct Contexts {
    z: usize,
    left: usize,
    above: usize,
    third: usize,
    fourth: usize,
    a: usize,
}

/// A side of a leaf in steps of two, or 5 if it is absent.
fn side(leaf: Option<&Leaf>, of: impl Fn(Shape) -> usize) -> usize {
    leaf.map_or(5, |leaf| log2(of(leaf.shape)) - 2)
}

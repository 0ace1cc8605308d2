//! `bitstream.md`, "Overview": the canvas of a kind and its cells; "Partition": the activity around a block.

use super::references::Prediction;
use super::shapes::Shape;
use crate::plane::Plane;

/// What a cell remembers of the leaf that covers it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaf {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) shape: Shape,
    /// The luma mode, or the index of chroma.
    pub(super) mode: usize,
    /// Whether a chroma leaf that is predicted from luma is so with taps.
    pub(super) taps: bool,
    pub(super) reference: Option<Prediction>,
    /// Per component.
    pub(super) coded: [bool; 2],
    pub(super) activity: [i64; 2],
}

/// The reconstruction of a kind of planes.
#[derive(Debug)]
pub(super) struct Canvas {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) planes: Vec<Plane>,
    cells: Vec<Option<Leaf>>,
}

impl Canvas {
    pub(super) fn new(tile_width: usize, tile_height: usize, components: usize) -> Self {
        let (width, height) = (
            tile_width.next_multiple_of(8),
            tile_height.next_multiple_of(8),
        );
        Self {
            width,
            height,
            planes: vec![Plane::new(width, height); components],
            cells: vec![None; width / 4 * (height / 4)],
        }
    }

    /// The cell of a sample, absent outside and where nothing is decoded yet.
    pub(super) fn cell(&self, x: i64, y: i64) -> Option<&Leaf> {
        let inside = (0..self.width as i64).contains(&x) && (0..self.height as i64).contains(&y);
        let index = || y as usize / 4 * (self.width / 4) + x as usize / 4;
        inside.then(|| self.cells[index()].as_ref()).flatten()
    }

    /// Marks the cells of a leaf, as far as they are inside, as decoded.
    pub(super) fn cover(&mut self, leaf: &Leaf) {
        let across = self.width / 4;
        let (right, bottom) = (leaf.x + leaf.shape.w, leaf.y + leaf.shape.h);
        for y in leaf.y / 4..bottom.min(self.height) / 4 {
            for x in leaf.x / 4..right.min(self.width) / 4 {
                self.cells[y * across + x] = Some(*leaf);
            }
        }
    }

    /// The mean activity around a block.
    pub(super) fn activity(&self, component: usize, x: i64, y: i64, w: i64, h: i64) -> i64 {
        let above = (0..w / 4).map(|i| (x + 4 * i, y - 1, 2));
        let left = (0..h / 4).map(|i| (x - 1, y + 4 * i, 2));
        let corners = [(x - 1, y - 1, 1), (x + w, y - 1, 1), (x - 1, y + h, 1)];
        let (mut sum, mut weights) = (0, 0);
        for (x, y, weight) in above.chain(left).chain(corners) {
            if let Some(leaf) = self.cell(x, y) {
                sum += weight * leaf.activity[component];
                weights += weight;
            }
        }
        if weights == 0 { 77 } else { sum / weights }
    }
}

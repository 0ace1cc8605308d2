//! `bitstream.md`, "Filter".

use super::Tile;
use super::elements::{Element, log_class};
use super::network;
use crate::plane::Plane;

const TAPS: [(i64, i64); 12] = [
    (0, 3),
    (-1, 2),
    (0, 2),
    (1, 2),
    (-2, 1),
    (-1, 1),
    (0, 1),
    (1, 1),
    (2, 1),
    (3, 0),
    (2, 0),
    (1, 0),
];

/// Gradients of a cell: H, V, F, R.
type Gradients = [i64; 4];

impl Tile<'_> {
    /// Reads the flags of the superblocks of a kind, in raster order.
    pub(super) fn filter_flags(&mut self, kind: usize) -> Vec<bool> {
        let (across, down) = self.superblocks();
        let mut flags: Vec<bool> = Vec::new();
        for i in 0..across * down {
            let left = if i % across == 0 {
                2
            } else {
                usize::from(flags[i - 1])
            };
            let above = if i < across {
                2
            } else {
                usize::from(flags[i - across])
            };
            flags.push(self.decide(kind, Element::Filter, &[left + 3 * above, 0], 0));
        }
        flags
    }

    /// Filters a kind where the flags are set; the network comes behind.
    pub(super) fn filter(&mut self, kind: usize, flags: &[bool]) {
        if !flags.contains(&true) {
            return;
        }
        for component in 0..self.canvases[kind].planes.len() {
            let mut filtered = self.filtered(kind, component);
            if let Some(network) = &self.payload.dictionary.content.networks[kind] {
                let index = self.payload.indices[kind + component];
                filtered =
                    network::correct(network, &filtered, index, self.payload.place, |x, y| {
                        flags[self.superblock(x, y)]
                    });
            }
            let (across, _) = self.superblocks();
            let plane = &mut self.canvases[kind].planes[component];
            for y in 0..plane.height {
                for x in 0..plane.width {
                    if flags[y / 64 * across + x / 64] {
                        plane.set(x, y, filtered.get(x, y));
                    }
                }
            }
        }
    }

    fn superblock(&self, x: usize, y: usize) -> usize {
        y / 64 * self.superblocks().0 + x / 64
    }

    /// A component as the filter would leave it if all flags were set.
    fn filtered(&self, kind: usize, component: usize) -> Plane {
        let plane = &self.canvases[kind].planes[component];
        let gradients = smoothed(&cell_gradients(plane), plane.width / 4, plane.height / 4);
        let mut filtered = plane.clone();
        for y in 0..plane.height {
            for x in 0..plane.width {
                let step = self.step(kind, component, x / 64 * 64, y / 64 * 64, 64, 64);
                let cell = gradients[y / 4 * (plane.width / 4) + x / 4];
                let class = cell_class(cell, step) * 4 + self.edge(kind, x, y);
                let weights = self.filter_weights(kind, component, class);
                filtered.set(
                    x,
                    y,
                    filtered_sample(plane, x as i64, y as i64, weights, step),
                );
            }
        }
        filtered
    }

    fn filter_weights(&self, kind: usize, component: usize, class: usize) -> &[i16] {
        let band = match self.payload.indices[kind + component] {
            ..=61 => 0,
            62..=71 => 1,
            _ => 2,
        };
        let at = (band * 160 + class) * TAPS.len();
        &self.payload.dictionary.content.filters[kind][at..at + TAPS.len()]
    }

    /// "Edge" of a sample.
    fn edge(&self, kind: usize, x: usize, y: usize) -> usize {
        let leaf = self.canvases[kind]
            .cell(x as i64, y as i64)
            .expect("all is decoded");
        let column = x == leaf.x || x == leaf.x + leaf.shape.w - 1;
        let row = y == leaf.y || y == leaf.y + leaf.shape.h - 1;
        usize::from(column) + 2 * usize::from(row)
    }
}

fn cell_gradients(plane: &Plane) -> Vec<Gradients> {
    let across = plane.width / 4;
    let mut cells = vec![[0; 4]; across * (plane.height / 4)];
    for y in 0..plane.height as i64 {
        for x in 0..plane.width as i64 {
            let cell = &mut cells[y as usize / 4 * across + x as usize / 4];
            for (gradient, (dx, dy)) in cell.iter_mut().zip([(1, 0), (0, 1), (1, 1), (-1, 1)]) {
                let (before, behind) =
                    (plane.nearest(x - dx, y - dy), plane.nearest(x + dx, y + dy));
                *gradient += i64::from((2 * plane.nearest(x, y) - before - behind).abs());
            }
        }
    }
    cells
}

/// Sums over 3x3 cells, weighted 1 2 1 in both directions.
fn smoothed(cells: &[Gradients], across: usize, down: usize) -> Vec<Gradients> {
    let nearest = |at: usize, step: usize, end: usize| (at + step).saturating_sub(1).min(end - 1);
    let mut smoothed = vec![[0; 4]; cells.len()];
    for (i, sums) in smoothed.iter_mut().enumerate() {
        for (dy, down_weight) in [1, 2, 1].into_iter().enumerate() {
            for (dx, across_weight) in [1, 2, 1].into_iter().enumerate() {
                let (x, y) = (
                    nearest(i % across, dx, across),
                    nearest(i / across, dy, down),
                );
                for (sum, gradient) in sums.iter_mut().zip(cells[y * across + x]) {
                    *sum += down_weight * across_weight * gradient;
                }
            }
        }
    }
    smoothed
}

/// `act * 5 + dir` of a cell.
fn cell_class([h, v, f, r]: Gradients, step: i64) -> usize {
    let act = log_class(((h + v) << 12) / step, 8, 3, 0, 8).saturating_sub(1);
    let flr = step / 100;
    let (a, b, i) = if h > v {
        (h, v + flr, 1)
    } else {
        (v, h + flr, 2)
    };
    let (c, d, j) = if f > r {
        (f, r + flr, 3)
    } else {
        (r, f + flr, 4)
    };
    let straight = a * d >= c * b;
    let dir = match straight {
        true if 10 * a > 17 * b => i,
        false if 10 * c > 17 * d => j,
        _ => 0,
    };
    act * 5 + dir
}

fn filtered_sample(plane: &Plane, x: i64, y: i64, weights: &[i16], step: i64) -> i32 {
    let s = plane.nearest(x, y);
    let lim = ((3 * step) >> 9) as i32;
    let d = |dx: i64, dy: i64| (plane.nearest(x + dx, y + dy) - s).clamp(-lim, lim);
    let taps = weights.iter().zip(TAPS);
    let sum: i32 = taps
        .map(|(&weight, (dx, dy))| i32::from(weight) * (d(dx, dy) + d(-dx, -dy)))
        .sum();
    (s + ((sum + 2048) >> 12)).clamp(0, 4095)
}

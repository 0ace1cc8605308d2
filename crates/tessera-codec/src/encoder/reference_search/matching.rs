//! Where a tile resembles the reference pictures: coarse-to-fine block matching before anything is coded.
//!
//! Blocks are compared at a quarter or an eighth of the resolution over the whole of a reference, apart from
//! their means; the best places are then followed up to full resolution. What comes out is a short list of
//! shifts for every block; the search of a leaf tries them all.

use crate::tile::reference::{References, Shift, copy_row};
use crate::tile::state::Site;
use tessera_patch::Plane;

/// Side of the blocks that have lists of their own.
const CELL: usize = 32;
/// Places of the coarse search that are followed up.
const FOLLOWED: usize = 3;
/// Shifts kept per block.
const KEPT: usize = 3;
/// Shifts that fit most blocks are offered to all of them.
const COMMON: usize = 4;
/// Sample comparisons the coarse search of one reference may take.
const BUDGET: usize = 100_000_000;

/// The shifts worth trying, by place.
#[derive(Debug, Default)]
pub(crate) struct ReferenceMatches {
    columns: usize,
    rows: usize,
    cells: Vec<Vec<Shift>>,
    common: Vec<Shift>,
}

impl ReferenceMatches {
    /// Matches padded luma (rows `stride` apart) with some of the references.
    pub(crate) fn find(
        references: &References<'_>,
        among: std::ops::Range<u8>,
        source: &[u16],
        stride: usize,
    ) -> Self {
        let tile = pyramid(Plane {
            width: stride,
            height: source.len() / stride,
            data: source.to_vec(),
        });
        let (columns, rows) = (stride.div_ceil(CELL), tile[0].height.div_ceil(CELL));
        let mut found = vec![Vec::new(); columns * rows];
        for reference in among {
            let Some(plane) = references.plane(reference, 0) else {
                continue;
            };
            let levels = pyramid(plane.clone());
            let matcher = Matcher {
                references,
                reference,
                tile: &tile,
                levels: &levels,
            };
            matcher.run(columns, rows, &mut found);
        }
        let common = most_common(&found);
        let cells = found.into_iter().map(best_of).collect();
        Self {
            columns,
            rows,
            cells,
            common,
        }
    }

    /// The shifts worth trying for a block or leaf.
    pub(crate) fn shifts(&self, site: &Site) -> impl Iterator<Item = Shift> {
        let last = |at: usize, size: usize, count: usize| ((at + size - 1) / CELL).min(count - 1);
        let mut shifts = self.common.clone();
        if !self.cells.is_empty() {
            for row in site.y / CELL..=last(site.y, site.shape.height(), self.rows) {
                for column in site.x / CELL..=last(site.x, site.shape.width(), self.columns) {
                    for &shift in &self.cells[row * self.columns + column] {
                        if !shifts.contains(&shift) {
                            shifts.push(shift);
                        }
                    }
                }
            }
        }
        shifts.into_iter()
    }
}

/// A shift and the mean difference per sample it leaves.
type Match = (u32, Shift);

fn best_of(mut matches: Vec<Match>) -> Vec<Shift> {
    matches.sort_by_key(|(difference, _)| *difference);
    matches.truncate(KEPT);
    matches.into_iter().map(|(_, shift)| shift).collect()
}

/// The shifts that are best for the most blocks.
fn most_common(cells: &[Vec<Match>]) -> Vec<Shift> {
    let mut votes: Vec<(usize, Shift)> = Vec::new();
    let bests = cells
        .iter()
        .filter_map(|matches| matches.iter().min_by_key(|(d, _)| *d));
    for &(_, shift) in bests {
        match votes.iter_mut().find(|(_, voted)| *voted == shift) {
            Some((count, _)) => *count += 1,
            None => votes.push((1, shift)),
        }
    }
    votes.retain(|(count, _)| *count > 1);
    votes.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    votes.truncate(COMMON);
    votes.into_iter().map(|(_, shift)| shift).collect()
}

/// The plane at full, half, quarter and eighth resolution.
fn pyramid(plane: Plane) -> Vec<Plane> {
    let mut levels = vec![plane];
    for _ in 0..3 {
        let next = halved(&levels[levels.len() - 1]);
        levels.push(next);
    }
    levels
}

fn halved(plane: &Plane) -> Plane {
    let (width, height) = (plane.width.div_ceil(2), plane.height.div_ceil(2));
    let mut data = Vec::with_capacity(width * height);
    for y in 0..height {
        let upper = &plane.data[2 * y * plane.width..][..plane.width];
        let lower = &plane.data[(2 * y + 1).min(plane.height - 1) * plane.width..][..plane.width];
        for x in 0..width {
            let right = (2 * x + 1).min(plane.width - 1);
            let sum = [upper[2 * x], upper[right], lower[2 * x], lower[right]].map(u32::from);
            data.push((sum.iter().sum::<u32>().div_ceil(4)) as u16);
        }
    }
    Plane {
        width,
        height,
        data,
    }
}

/// One reference against the tile.
struct Matcher<'a> {
    references: &'a References<'a>,
    reference: u8,
    tile: &'a [Plane],
    levels: &'a [Plane],
}

/// A block of the tile at full resolution, cut at the tile's edge.
#[derive(Clone, Copy)]
struct Area {
    x: usize,
    y: usize,
    width: usize,
    height: usize,
}

impl Matcher<'_> {
    fn run(&self, columns: usize, rows: usize, found: &mut [Vec<Match>]) {
        // Small blocks at a quarter of the resolution if that is affordable, else larger ones at an eighth.
        let places = self.levels[2].data.len();
        let affordable = places * self.tile[2].data.len() <= BUDGET;
        let (size, level) = if affordable { (CELL, 2) } else { (2 * CELL, 3) };
        let step = size / CELL;
        for row in (0..rows).step_by(step) {
            for column in (0..columns).step_by(step) {
                let area = self.area(column * CELL, row * CELL, size);
                let matches = self.matches_of(area, level);
                for y in row..(row + step).min(rows) {
                    for x in column..(column + step).min(columns) {
                        found[y * columns + x].extend(&matches);
                    }
                }
            }
        }
    }

    fn area(&self, x: usize, y: usize, size: usize) -> Area {
        Area {
            x,
            y,
            width: size.min(self.tile[0].width - x),
            height: size.min(self.tile[0].height - y),
        }
    }

    fn matches_of(&self, area: Area, level: usize) -> Vec<Match> {
        let zero = Shift::zero(self.reference);
        let mut starts = self.coarse(area, level);
        starts.push(zero);
        let mut matches: Vec<Match> = Vec::new();
        for start in starts {
            let found = (0..level)
                .rev()
                .fold(start, |at, level| self.nearby(area, level, at));
            if matches.iter().all(|(_, shift)| *shift != found) {
                matches.push((self.difference(area, 0, found), found));
            }
        }
        matches.push((self.difference(area, 0, zero), zero));
        matches
    }

    /// The best places of a coarse level, searched in full.
    fn coarse(&self, area: Area, level: usize) -> Vec<Shift> {
        let plane = &self.levels[level];
        let (left, top) = self
            .references
            .place(Shift::zero(0), area.x as isize, area.y as isize);
        let (width, height) = (area.width >> level, area.height >> level);
        let mut best: Vec<(u32, Shift)> = Vec::new();
        for y in 0..(plane.height + 1).saturating_sub(height) {
            for x in 0..(plane.width + 1).saturating_sub(width) {
                let way = |to: usize, from: isize| i16::try_from(((to << level) as isize) - from);
                let (Ok(dx), Ok(dy)) = (way(x, left), way(y, top)) else {
                    continue;
                };
                let shift = Shift {
                    reference: self.reference,
                    dx,
                    dy,
                };
                let difference = self.difference_at(area, level, x as isize, y as isize);
                if best.len() < FOLLOWED || difference < best[best.len() - 1].0 {
                    best.push((difference, shift));
                    best.sort_by_key(|(difference, _)| *difference);
                    best.truncate(FOLLOWED);
                }
            }
        }
        best.into_iter().map(|(_, shift)| shift).collect()
    }

    /// The best of the nine shifts around one at a level.
    fn nearby(&self, area: Area, level: usize, at: Shift) -> Shift {
        let unit = 1i16 << level;
        let near = (0..9).map(|i| Shift {
            dx: at.dx.saturating_add((i % 3 - 1) * unit),
            dy: at.dy.saturating_add((i / 3 - 1) * unit),
            ..at
        });
        near.min_by_key(|&shift| self.difference(area, level, shift))
            .unwrap_or(at)
    }

    fn difference(&self, area: Area, level: usize, shift: Shift) -> u32 {
        let (x, y) = self
            .references
            .place(shift, area.x as isize, area.y as isize);
        self.difference_at(area, level, x >> level, y >> level)
    }

    /// Mean difference (times 16) between a block and the reference at (x, y) of a level, apart from their means.
    fn difference_at(&self, area: Area, level: usize, x: isize, y: isize) -> u32 {
        match (area.width >> level) * (area.height >> level) {
            0..=64 => self.difference_within::<64>(area, level, x, y),
            _ => self.difference_within::<{ 4 * CELL * CELL }>(area, level, x, y),
        }
    }

    /// [`Self::difference_at`] with a buffer for `N` samples: clearing a large one would cost more than the rest.
    fn difference_within<const N: usize>(
        &self,
        area: Area,
        level: usize,
        x: isize,
        y: isize,
    ) -> u32 {
        let (tile, plane) = (&self.tile[level], &self.levels[level]);
        let (width, height) = (area.width >> level, area.height >> level);
        let mut differences = [0i32; N];
        let differences = &mut differences[..width * height];
        for (row, out) in differences.chunks_exact_mut(width).enumerate() {
            let start = ((area.y >> level) + row) * tile.width + (area.x >> level);
            copy_row(plane, x, y + row as isize, out);
            for (value, &own) in out.iter_mut().zip(&tile.data[start..start + width]) {
                *value -= i32::from(own);
            }
        }
        let count = differences.len() as i32;
        let mean = differences.iter().sum::<i32>() / count;
        let sum: u64 = differences
            .iter()
            .map(|v| u64::from(v.abs_diff(mean)))
            .sum();
        (16 * sum / count as u64) as u32
    }
}

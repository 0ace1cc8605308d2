//! What is decoded so far of one plane group: samples, and what is known of the patches they came from.

use crate::lossless::Mask;
use crate::simd::kernel;
use crate::tile::intra::{Border, Known, SAMPLE_MAX};
use crate::tile::reference::ReferenceUse;
use crate::tile::state::Site;
use crate::tile::syntax::Block;
use std::slice::ChunksMut;
use std::sync::Arc;
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Side of a grid cell.
const CELL: usize = 4;
/// Tile sides are padded to a multiple of this.
const PAD: usize = 8;

/// What later patches may ask of the patch that covers a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CellInfo {
    pub(crate) decoded: bool,
    /// Luma prediction mode, or index of the chroma mode.
    pub(crate) mode: u8,
    pub(crate) log_width: u8,
    pub(crate) log_height: u8,
    /// Whether each component carries coefficients.
    pub(crate) coded: [bool; 2],
    /// Root mean square of each component's levels, 8 fractional bits.
    pub(crate) activity: [u16; 2],
    /// The reference it was predicted from, if any.
    pub(crate) reference: Option<ReferenceUse>,
}

impl CellInfo {
    /// What a leaf of this shape leaves in its cells, as long as it carries no coefficients.
    pub(crate) fn of(shape: Shape, mode: usize, reference: Option<ReferenceUse>) -> Self {
        Self {
            decoded: true,
            mode: mode as u8,
            log_width: shape.log_width() as u8,
            log_height: shape.log_height() as u8,
            reference,
            ..Self::default()
        }
    }

    /// Takes down the levels of one component.
    pub(crate) fn carry(&mut self, component: usize, levels: &[i32], shape: Shape) {
        self.coded[component] = true;
        self.activity[component] = level_activity(levels, shape.area());
    }
}

/// Samples of one component, padded.
#[derive(Clone, Debug)]
pub(crate) struct PlaneBuffer {
    pub(crate) data: Vec<u16>,
    pub(crate) stride: usize,
}

impl PlaneBuffer {
    /// One sample.
    #[inline(always)]
    pub(crate) fn sample(&self, x: usize, y: usize) -> i32 {
        i32::from(self.data[y * self.stride + x])
    }

    /// Writes a patch, clamped to the sample range.
    pub(crate) fn store(&mut self, x: usize, y: usize, width: usize, patch: &[i32]) {
        let rows = self.data[y * self.stride + x..].chunks_mut(self.stride);
        match width {
            4 => store_rows::<4>(rows, patch),
            8 => store_rows::<8>(rows, patch),
            16 => store_rows::<16>(rows, patch),
            32 => store_rows::<32>(rows, patch),
            _ => store_rows::<64>(rows, patch),
        }
    }
}

kernel! {
    /// Writes a patch of `W` columns to the first samples of rows.
    fn store_rows<const W: usize>(rows: ChunksMut<'_, u16>, patch: &[i32]) {
        // Lines of many samples become loops over vectors, rows of a few would not.
        let mut rows = rows;
        for values in patch.chunks(SUPERBLOCK) {
            let mut line = [0; SUPERBLOCK];
            for (to, &from) in line.iter_mut().zip(values) {
                *to = from.clamp(0, SAMPLE_MAX) as u16;
            }
            let parts = line[..values.len()].as_chunks::<W>().0;
            for (part, row) in parts.iter().zip(&mut rows) {
                row[..W].copy_from_slice(part);
            }
        }
    }
}

impl PlaneBuffer {
    /// Takes the part of a square block that lies on the canvas from samples of the same size.
    pub(crate) fn copy_block(&mut self, from: &Self, x: usize, y: usize, size: usize) {
        let rows = self.data.len() / self.stride;
        let width = size.min(self.stride - x);
        for row in y..(y + size).min(rows) {
            let range = row * self.stride + x..row * self.stride + x + width;
            self.data[range.clone()].copy_from_slice(&from.data[range]);
        }
    }
}

/// A row of superblocks: samples of one component, and what is known of them.
#[cfg(feature = "threads")]
#[derive(Debug)]
pub(crate) struct CanvasRows {
    y: usize,
    samples: Vec<u16>,
    cells: Vec<CellInfo>,
}

/// One or two components that share a partition.
#[derive(Clone, Debug)]
pub(crate) struct Canvas {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) components: Vec<PlaneBuffer>,
    columns: usize,
    cells: Vec<CellInfo>,
    /// The blocks that were drawn before all others, if any.
    pub(crate) drawn: Option<Arc<Mask>>,
}

impl Canvas {
    /// Whether patches smaller than `block` lie inside it; chroma rarely has detail where luma has none.
    #[cfg(feature = "encoder")]
    pub(crate) fn is_divided(&self, block: Block) -> bool {
        block.quarters().into_iter().any(|quarter| {
            let cell = self.cell(quarter.x as isize, quarter.y as isize);
            cell.is_some_and(|cell| (1usize << cell.log_width.min(cell.log_height)) < block.size)
        })
    }

    /// Forgets what was drawn on a block.
    #[cfg(feature = "encoder")]
    pub(crate) fn erase(&mut self, block: Block) {
        if self.is_left_out(block) {
            return;
        }
        if self.is_free(block) {
            let Block { x, y, size } = block;
            self.mark(x, y, size, size, CellInfo::default());
        } else {
            block
                .quarters()
                .into_iter()
                .for_each(|quarter| self.erase(quarter));
        }
    }

    /// Whether nothing of a block is coded: it lies outside, or was drawn before.
    #[inline]
    pub(crate) fn is_left_out(&self, Block { x, y, size }: Block) -> bool {
        let outside = x >= self.width || y >= self.height;
        outside || (self.drawn.as_ref()).is_some_and(|mask| mask.coverage(x, y, size).1)
    }

    /// Whether nothing of a block that begins inside was drawn before.
    #[inline]
    pub(crate) fn is_free(&self, Block { x, y, size }: Block) -> bool {
        (self.drawn.as_ref()).is_none_or(|mask| !mask.coverage(x, y, size).0)
    }

    /// Mode of the patch in the middle of another one; asked of luma for chroma.
    pub(crate) fn mode_beneath(&self, x: usize, y: usize, shape: Shape) -> usize {
        let (x, y) = (x + shape.width() / 2, y + shape.height() / 2);
        let cell = self.cell(x as isize, y as isize);
        cell.map_or(0, |cell| cell.mode as usize)
    }

    /// Whether the patches to the left and above carry coefficients (2 = no such patch).
    pub(crate) fn coded_neighbours(&self, site: &Site) -> [u32; 2] {
        let (x, y) = (site.x as isize, site.y as isize);
        let coded = |x: isize, y: isize| {
            let cell = self.cell(x, y);
            cell.map_or(2, |cell| u32::from(cell.coded[site.component]))
        };
        [coded(x - 1, y), coded(x, y - 1)]
    }

    /// An empty canvas for a tile of `width` x `height`; sizes are padded to a multiple of eight.
    pub(crate) fn new(width: usize, height: usize, components: usize) -> Self {
        let (width, height) = (width.next_multiple_of(PAD), height.next_multiple_of(PAD));
        // Fresh memory is zero already; copies of a plane would have to be written.
        let plane = |_| PlaneBuffer {
            data: vec![0; width * height],
            stride: width,
        };
        Self {
            width,
            height,
            components: (0..components).map(plane).collect(),
            columns: width / CELL,
            cells: vec![CellInfo::default(); width / CELL * (height / CELL)],
            drawn: None,
        }
    }

    /// The cell that covers sample (x, y), if that lies inside and is decoded.
    pub(crate) fn cell(&self, x: isize, y: isize) -> Option<&CellInfo> {
        if x < 0 || y < 0 || x as usize >= self.width || y as usize >= self.height {
            return None;
        }
        let cell = &self.cells[y as usize / CELL * self.columns + x as usize / CELL];
        cell.decoded.then_some(cell)
    }

    /// A row of cells.
    pub(crate) fn cell_row(&self, row: usize) -> &[CellInfo] {
        &self.cells[row * self.columns..][..self.columns]
    }

    /// A copy of the rows of one row of superblocks, of the first component.
    #[cfg(feature = "threads")]
    pub(crate) fn superblock_row(&self, y: usize) -> CanvasRows {
        let end = (y + SUPERBLOCK).min(self.height);
        CanvasRows {
            y,
            samples: self.components[0].data[y * self.width..end * self.width].to_vec(),
            cells: self.cells[y / CELL * self.columns..end / CELL * self.columns].to_vec(),
        }
    }

    /// Takes over rows of a canvas of the same size.
    #[cfg(feature = "threads")]
    pub(crate) fn put_superblock_row(&mut self, rows: &CanvasRows) {
        let (sample, cell) = (rows.y * self.width, rows.y / CELL * self.columns);
        self.components[0].data[sample..][..rows.samples.len()].copy_from_slice(&rows.samples);
        self.cells[cell..][..rows.cells.len()].copy_from_slice(&rows.cells);
    }

    /// Writes the samples of a patch, one buffer for each component.
    #[cfg(feature = "encoder")]
    pub(crate) fn draw(&mut self, x: usize, y: usize, shape: Shape, samples: &[Vec<i32>]) {
        for (component, samples) in self.components.iter_mut().zip(samples) {
            component.store(x, y, shape.width(), samples);
        }
    }

    /// Marks all cells of a block.
    pub(crate) fn mark(&mut self, x: usize, y: usize, width: usize, height: usize, info: CellInfo) {
        for row in y / CELL..(y + height).min(self.height) / CELL {
            let start = row * self.columns + x / CELL;
            let end = row * self.columns + (x + width).min(self.width) / CELL;
            self.cells[start..end].fill(info);
        }
    }

    /// The border of a patch at (x, y).
    #[inline(always)]
    pub(crate) fn border(&self, component: usize, x: usize, y: usize, shape: Shape) -> Border {
        self.border_of(&self.components[component], x, y, shape)
    }

    /// The border of a patch at (x, y) read from `samples`, where this canvas says what is decoded.
    ///
    /// The coding order makes the decoded part of an arm start at the corner, so that a length describes it.
    #[inline(always)]
    pub(crate) fn border_of(
        &self,
        samples: &PlaneBuffer,
        x: usize,
        y: usize,
        shape: Shape,
    ) -> Border {
        let length = shape.width() + shape.height();
        let (lefts, tops) = self.decoded_arms(x, y, length);
        let known = Known {
            lefts,
            tops,
            corner: self.cell(x as isize - 1, y as isize - 1).is_some(),
        };
        Border::read(&samples.data, samples.stride, (x, y), length, known)
    }

    /// The border of a patch at (x, y) with samples from elsewhere, where this canvas says what is decoded.
    pub(crate) fn border_from(
        &self,
        x: usize,
        y: usize,
        shape: Shape,
        sample: impl Fn(isize, isize) -> u16,
    ) -> Border {
        let length = shape.width() + shape.height();
        let (lefts, tops) = self.decoded_arms(x, y, length);
        let (x, y) = (x as isize, y as isize);
        let corner = self.cell(x - 1, y - 1).map(|_| sample(x - 1, y - 1));
        let top: Vec<u16> = (0..tops)
            .map(|away| sample(x + away as isize, y - 1))
            .collect();
        let left = (0..lefts).map(|away| sample(x - 1, y + away as isize));
        Border::new(length, left, corner, &top)
    }

    /// How many of the `length` samples below the corner and right of it are decoded.
    fn decoded_arms(&self, x: usize, y: usize, length: usize) -> (usize, usize) {
        let (column, row, cells) = (x / CELL, y / CELL, length / CELL);
        let mut lefts = 0;
        if x > 0 {
            let mut at = row * self.columns + column - 1;
            while lefts < cells && self.cells.get(at).is_some_and(|cell| cell.decoded) {
                lefts += 1;
                at += self.columns;
            }
        }
        let mut tops = 0;
        if y > 0 {
            let start = (row - 1) * self.columns;
            let above = &self.cells[start + column..start + self.columns.min(column + cells)];
            tops = above.iter().take_while(|cell| cell.decoded).count();
        }
        (CELL * lefts, CELL * tops)
    }

    /// Mean activity of the decoded patches around a block, 8 fractional bits; diagonal ones count half.
    pub(crate) fn activity(
        &self,
        component: usize,
        x: usize,
        y: usize,
        width: usize,
        height: usize,
    ) -> u32 {
        const UNKNOWN: u32 = 77;
        let (column, row) = (x / CELL, y / CELL);
        let (mut sum, mut weight) = (0, 0);
        let mut add = |cell: &CellInfo, times: u32| {
            if cell.decoded {
                sum += times * u32::from(cell.activity[component]);
                weight += times;
            }
        };
        let (across, down) = (column + width / CELL, row + height / CELL);
        if row > 0 {
            let above = self.cell_row(row - 1);
            let end = across.min(self.columns);
            above[column..end].iter().for_each(|cell| add(cell, 2));
            let corners = [column.checked_sub(1), Some(across)].into_iter().flatten();
            corners
                .filter_map(|at| above.get(at))
                .for_each(|cell| add(cell, 1));
        }
        if column > 0 {
            let mut at = row * self.columns + column - 1;
            for row in row..=down {
                if let Some(cell) = self.cells.get(at) {
                    add(cell, if row < down { 2 } else { 1 });
                }
                at += self.columns;
            }
        }
        u32::checked_div(sum, weight).unwrap_or(UNKNOWN)
    }
}

/// Root mean square of levels over a patch, 8 fractional bits.
fn level_activity(levels: &[i32], area: usize) -> u16 {
    let energy: u64 = levels
        .iter()
        .map(|&q| u64::from(q.unsigned_abs().min(1 << 12)).pow(2))
        .sum();
    ((energy << 16) / area as u64)
        .isqrt()
        .min(u64::from(u16::MAX)) as u16
}

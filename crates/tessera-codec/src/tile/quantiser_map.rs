//! Quantiser offsets of blocks of 32 samples (`spec/bitstream.md`, "Quantiser offsets").

use crate::tile::canvas::Canvas;
use crate::tile::entropy::coder::BinaryCoder;
use crate::tile::entropy::mix::{Contexts, PlaneKind};
use crate::tile::syntax::Block;
use tessera_dict::layout::Element;

/// Side of the blocks that have an offset.
pub(crate) const OFFSET_BLOCK: usize = 32;
/// Quantiser indices in a unit of an offset.
pub(crate) const OFFSET_UNIT: i32 = 2;
/// Largest magnitude of an offset, in units.
pub(crate) const MAX_OFFSET: i32 = 8;

/// The offsets of a tile, in units of [`OFFSET_UNIT`] indices.
#[derive(Clone, Debug)]
pub(crate) struct QuantiserMap {
    columns: usize,
    offsets: Vec<i8>,
}

impl QuantiserMap {
    /// No offsets, for a canvas of this size.
    pub(crate) fn new(canvas: &Canvas) -> Self {
        let columns = canvas.width.div_ceil(OFFSET_BLOCK);
        let rows = canvas.height.div_ceil(OFFSET_BLOCK);
        Self {
            columns,
            offsets: vec![0; columns * rows],
        }
    }

    /// Offsets in raster order, for an encoder.
    #[cfg(feature = "encoder")]
    pub(crate) fn offsets_mut(&mut self) -> &mut [i8] {
        &mut self.offsets
    }

    /// The highest offset in the superblock at a place, in indices.
    #[cfg(feature = "encoder")]
    pub(crate) fn highest(&self, (x, y): (usize, usize)) -> i32 {
        let (column, row) = (x / OFFSET_BLOCK, y / OFFSET_BLOCK);
        let columns = column..(column + 2).min(self.columns);
        let rows = row..(row + 2).min(self.rows());
        let offsets = rows.flat_map(|row| {
            let start = row * self.columns;
            &self.offsets[start + columns.start..start + columns.end]
        });
        offsets
            .max()
            .map_or(0, |&most| OFFSET_UNIT * i32::from(most))
    }

    fn rows(&self) -> usize {
        self.offsets.len() / self.columns
    }

    /// What is added to the quantiser index of a patch: that of its block, or the mean of those it covers.
    pub(crate) fn offset(&self, x: usize, y: usize, width: usize, height: usize) -> i32 {
        let (left, right) = (x / OFFSET_BLOCK, (x + width - 1) / OFFSET_BLOCK);
        let (top, bottom) = (y / OFFSET_BLOCK, (y + height - 1) / OFFSET_BLOCK);
        let at = |column: usize, row: usize| i32::from(self.offsets[row * self.columns + column]);
        if left == right && top == bottom {
            return OFFSET_UNIT * at(left, top);
        }
        let (right, bottom) = (right.min(self.columns - 1), bottom.min(self.rows() - 1));
        let mut sum = 0;
        for row in top..=bottom {
            sum += (left..=right).map(|column| at(column, row)).sum::<i32>();
        }
        let count = ((right + 1 - left) * (bottom + 1 - top)) as i32;
        (2 * OFFSET_UNIT * sum + count).div_euclid(2 * count)
    }

    /// Codes the offsets of a superblock.
    pub(crate) fn code<C: BinaryCoder>(&mut self, coder: &mut C, superblock: Block) {
        for Block { x, y, .. } in superblock.quarters() {
            let (column, row) = (x / OFFSET_BLOCK, y / OFFSET_BLOCK);
            if column < self.columns && row < self.rows() {
                self.code_one(coder, column, row);
            }
        }
    }

    /// Sets the offsets of a superblock to zero.
    pub(crate) fn clear(&mut self, superblock: Block) {
        for Block { x, y, .. } in superblock.quarters() {
            let (column, row) = (x / OFFSET_BLOCK, y / OFFSET_BLOCK);
            if column < self.columns && row < self.rows() {
                self.offsets[row * self.columns + column] = 0;
            }
        }
    }

    fn code_one<C: BinaryCoder>(&mut self, coder: &mut C, column: usize, row: usize) {
        let at = row * self.columns + column;
        let left = (column > 0).then(|| i32::from(self.offsets[at - 1]));
        let above = (row > 0).then(|| i32::from(self.offsets[at - self.columns]));
        let (predicted, spread) = match (left, above) {
            (Some(left), Some(above)) => {
                let corner = i32::from(self.offsets[at - self.columns - 1]);
                let plane = left + above - corner;
                let predicted = plane.clamp(left.min(above), left.max(above));
                (predicted, 1 + left.abs_diff(above).min(2))
            }
            (Some(one), None) | (None, Some(one)) => (one, 0),
            (None, None) => (0, 0),
        };
        let residual = i32::from(self.offsets[at]) - predicted;
        let value = predicted + code_residual(coder, spread, predicted, residual);
        self.offsets[at] = value as i8;
    }
}

/// Codes the difference of an offset from its prediction: whether it is zero, its sign, and its magnitude in unary up to
/// the largest that keeps the offset in its range.
fn code_residual<C: BinaryCoder>(coder: &mut C, spread: u32, predicted: i32, residual: i32) -> i32 {
    let mut ask = |decision: u32, bit: bool| {
        let contexts = Contexts::new([decision + 16 * spread, decision], 0);
        coder.bit(PlaneKind::Luma, Element::QuantiserOffset, &contexts, bit)
    };
    if !ask(0, residual != 0) {
        return 0;
    }
    let negative = match predicted {
        MAX_OFFSET => true,
        value if value == -MAX_OFFSET => false,
        _ => ask(1, residual < 0),
    };
    let room = if negative {
        predicted + MAX_OFFSET
    } else {
        MAX_OFFSET - predicted
    };
    let mut magnitude = 1;
    while magnitude < room && ask(1 + magnitude.min(14) as u32, residual.abs() > magnitude) {
        magnitude += 1;
    }
    if negative { -magnitude } else { magnitude }
}

//! Which blocks of a tile are drawn (`spec/bitstream.md`, "Drawn blocks").

use super::cell::Cell;
use super::coder::Coder;

/// Side of a block.
pub(crate) const BLOCK: usize = 16;
const CELL_LIMIT: u32 = 60;

/// A flag for each block of a tile, in raster order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mask {
    columns: usize,
    rows: usize,
    drawn: Vec<bool>,
}

impl Mask {
    /// No block of a tile of this size.
    pub(crate) fn new(width: usize, height: usize) -> Self {
        let (columns, rows) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        Self {
            columns,
            rows,
            drawn: vec![false; columns * rows],
        }
    }

    /// Number of blocks that are drawn.
    pub(crate) fn count(&self) -> usize {
        self.drawn.iter().filter(|&&drawn| drawn).count()
    }

    /// First columns and rows of the blocks that are drawn.
    pub(crate) fn places(&self) -> impl Iterator<Item = (usize, usize)> {
        let drawn = self.drawn.iter().enumerate().filter(|(_, drawn)| **drawn);
        drawn.map(|(at, _)| (at % self.columns * BLOCK, at / self.columns * BLOCK))
    }

    /// The flags of the blocks that row `y` of samples runs through.
    pub(super) fn row(&self, y: usize) -> &[bool] {
        &self.drawn[y / BLOCK * self.columns..][..self.columns]
    }

    /// Whether any, and whether all of the blocks are drawn that a square touches which begins inside the tile.
    pub(crate) fn coverage(&self, x: usize, y: usize, size: usize) -> (bool, bool) {
        let last = |start: usize, end: usize| ((start + size - 1) / BLOCK + 1).min(end);
        let (left, right) = (x / BLOCK, last(x, self.columns));
        let (mut any, mut all) = (false, true);
        for row in y / BLOCK..last(y, self.rows) {
            for &drawn in &self.drawn[row * self.columns..][left..right] {
                any |= drawn;
                all &= drawn;
            }
        }
        (any, all)
    }

    /// Codes all flags, each by those on the left, above and beside that one.
    pub(super) fn code(&mut self, coder: &mut impl Coder) {
        let mut cells = [Cell::EVEN; 16];
        for at in 0..self.drawn.len() {
            let (x, y) = (at % self.columns, at / self.columns);
            let known = |exists: bool, back: usize| exists && self.drawn[at - back];
            let near = [
                known(x > 0, 1),
                known(y > 0, self.columns),
                known(x > 0 && y > 0, self.columns + 1),
                known(x + 1 < self.columns && y > 0, self.columns.wrapping_sub(1)),
            ];
            let context = near
                .iter()
                .rfold(0, |sum, &near| 2 * sum + usize::from(near));
            let cell = &mut cells[context];
            let drawn = coder.code(self.drawn[at], cell.one());
            cell.update(drawn, CELL_LIMIT);
            self.drawn[at] = drawn;
        }
    }
}

#[cfg(feature = "encoder")]
impl Mask {
    /// The flags in raster order.
    pub(crate) fn flags_mut(&mut self) -> &mut [bool] {
        &mut self.drawn
    }

    /// The number of the block that a sample lies in.
    pub(crate) fn index(&self, x: usize, y: usize) -> usize {
        y / BLOCK * self.columns + x / BLOCK
    }
}

//! Numbers of the tile's own header (`spec/lossless.md`, "Numbers").

use super::cell::Cell;
use super::coder::Coder;

/// Bits of the largest number.
const MAX_BITS: usize = 18;
const CELL_LIMIT: u32 = 30;

/// Adaptive Elias gamma codes of several kinds of numbers.
#[derive(Debug)]
pub(super) struct Numbers {
    lengths: Vec<[Cell; MAX_BITS]>,
    tops: Vec<[Cell; MAX_BITS]>,
}

impl Numbers {
    pub(super) fn new(kinds: usize) -> Self {
        let cells = vec![[Cell::EVEN; MAX_BITS]; kinds];
        Self {
            lengths: cells.clone(),
            tops: cells,
        }
    }

    /// Codes a number below 2^17: the length of `number` + 1 in unary, then the bits below its highest.
    pub(super) fn code(&mut self, coder: &mut impl Coder, kind: usize, number: u32) -> u32 {
        let plus = (number & 0x1_FFFF) + 1;
        let wanted = plus.ilog2();
        let mut length = 0;
        while length < MAX_BITS as u32 - 1 {
            let cell = &mut self.lengths[kind][length as usize];
            let more = coder.code(wanted > length, cell.one());
            cell.update(more, CELL_LIMIT);
            if !more {
                break;
            }
            length += 1;
        }
        let mut value = 1;
        for bit in (0..length).rev() {
            let wanted = plus >> bit & 1 != 0;
            let one = if bit + 1 == length {
                let cell = &mut self.tops[kind][length as usize];
                let one = coder.code(wanted, cell.one());
                cell.update(one, CELL_LIMIT);
                one
            } else {
                coder.raw(1, u32::from(wanted)) != 0
            };
            value = 2 * value + u32::from(one);
        }
        value - 1
    }
}

//! `bitstream.md`, "Quantiser offsets".

use super::Tile;
use super::elements::Element;

const BLOCK: usize = 32;
const MAX: i32 = 8;

/// The offsets of the blocks of 32x32 samples of a canvas; zero where none are coded.
#[derive(Debug)]
pub(super) struct Offsets {
    across: usize,
    down: usize,
    blocks: Vec<i32>,
}

impl Offsets {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let (across, down) = (width.div_ceil(BLOCK), height.div_ceil(BLOCK));
        Self {
            across,
            down,
            blocks: vec![0; across * down],
        }
    }

    fn get(&self, x: usize, y: usize) -> i32 {
        self.blocks[y * self.across + x]
    }

    /// The offset of an area: twice the mean of the blocks it touches.
    pub(super) fn of_area(&self, x: usize, y: usize, w: usize, h: usize) -> i32 {
        let (mut sum, mut n) = (0, 0);
        for by in y / BLOCK..(y + h).div_ceil(BLOCK).min(self.down) {
            for bx in x / BLOCK..(x + w).div_ceil(BLOCK).min(self.across) {
                sum += self.get(bx, by);
                n += 1;
            }
        }
        (4 * sum + n).div_euclid(2 * n)
    }

    /// What is expected of a block, and how much its neighbours differ.
    fn expected(&self, x: usize, y: usize) -> (i32, usize) {
        let left = x.checked_sub(1).map(|x| self.get(x, y));
        let above = y.checked_sub(1).map(|y| self.get(x, y));
        match (left, above) {
            (Some(l), Some(a)) => {
                let corner = self.get(x - 1, y - 1);
                let p = (l + a - corner).clamp(l.min(a), l.max(a));
                (p, 1 + (l - a).abs().min(2) as usize)
            }
            (Some(one), None) | (None, Some(one)) => (one, 0),
            (None, None) => (0, 0),
        }
    }
}

impl Tile<'_> {
    /// Reads the offsets of a superblock.
    pub(super) fn quantiser_offsets(&mut self, x: usize, y: usize) {
        if !self.payload.has_offsets || self.drawn.covers(x, y, 64) {
            return;
        }
        for (dx, dy) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
            let (x, y) = (x / BLOCK + dx, y / BLOCK + dy);
            if x < self.offsets.across && y < self.offsets.down {
                let (p, s) = self.offsets.expected(x, y);
                self.offsets.blocks[y * self.offsets.across + x] = self.quantiser_offset(p, s);
            }
        }
    }

    fn quantiser_offset(&mut self, p: i32, s: usize) -> i32 {
        let mut decide = |d: usize| self.decide(0, Element::QuantiserOffset, &[d | s << 4, d], 0);
        if !decide(0) {
            return p;
        }
        let less = match p {
            MAX => true,
            _ if p == -MAX => false,
            _ => decide(1),
        };
        let room = if less { p + MAX } else { MAX - p };
        let mut n = 1;
        while n < room && decide(n.min(14) as usize + 1) {
            n += 1;
        }
        if less { p - n } else { p + n }
    }
}

//! Passes binary decisions in or out.

use crate::tile::entropy::range::RangeDecoder;
#[cfg(feature = "encoder")]
use crate::tile::entropy::range::RangeEncoder;

/// Symbols of an alphabet.
pub(super) const SYMBOLS: usize = 16;
/// Bits of the probabilities of symbols.
pub(super) const SYMBOL_BITS: u32 = 14;

/// The ends of the symbols' parts of 2^[`SYMBOL_BITS`], rising; the last is all of it.
pub(super) type Ends = [i16; SYMBOLS];

/// A writer codes the bit it is given and returns it; a reader ignores the argument and returns the bit it finds. Models
/// written against this trait cannot differ between the two.
pub(super) trait Coder {
    /// A decision whose probability of being one is `one` / 2^16.
    fn code(&mut self, bit: bool, one: u32) -> bool;

    /// Whether a reader went beyond its data.
    fn exhausted(&self) -> bool;

    /// A number of at most 16 bits, all alike.
    fn raw(&mut self, bits: u32, number: u32) -> u32;

    /// A symbol with given probabilities.
    fn symbol(&mut self, ends: &Ends, symbol: usize) -> usize;
}

/// Where the part of a symbol starts and ends.
#[inline(always)]
fn part_of(ends: &Ends, symbol: usize) -> (u32, u32) {
    let end = |symbol: usize| ends[symbol % SYMBOLS] as u32;
    let start = if symbol == 0 { 0 } else { end(symbol - 1) };
    (start, end(symbol))
}

impl Coder for RangeDecoder<'_> {
    #[inline(always)]
    fn code(&mut self, _: bool, one: u32) -> bool {
        self.decode(one)
    }

    fn exhausted(&self) -> bool {
        RangeDecoder::exhausted(self)
    }

    #[inline(always)]
    fn raw(&mut self, bits: u32, _: u32) -> u32 {
        let number = self.part(bits);
        self.take_part(number, number + 1, bits);
        number
    }

    #[inline(always)]
    fn symbol(&mut self, ends: &Ends, _: usize) -> usize {
        let part = self.part(SYMBOL_BITS) as i16;
        let mut symbol = 0;
        for &end in ends {
            symbol += i16::from(end <= part);
        }
        let symbol = symbol as usize % SYMBOLS;
        let (start, end) = part_of(ends, symbol);
        self.take_part(start, end, SYMBOL_BITS);
        symbol
    }
}

#[cfg(feature = "encoder")]
impl Coder for RangeEncoder {
    #[inline(always)]
    fn code(&mut self, bit: bool, one: u32) -> bool {
        self.encode(bit, one);
        bit
    }

    fn exhausted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn raw(&mut self, bits: u32, number: u32) -> u32 {
        self.encode_part(number, number + 1, bits);
        number
    }

    #[inline(always)]
    fn symbol(&mut self, ends: &Ends, symbol: usize) -> usize {
        let (start, end) = part_of(ends, symbol);
        self.encode_part(start, end, SYMBOL_BITS);
        symbol
    }
}

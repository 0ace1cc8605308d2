//! Adaptive bits and numbers of a difference (`spec/dictionary.md`, "Difference").
//!
//! Writing and reading share every function: a writer passes on what it is given, a reader ignores it and returns what it finds.

use crate::range::{RangeDecoder, RangeEncoder};

/// An adaptive probability of a one, 16 bits, and how many bits it has seen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bit {
    one: u16,
    seen: u8,
}

/// Probabilities keep this distance from 0 and 2^16.
const MARGIN: i32 = 64;
/// Where the adaptation stops getting slower.
const MOST_SEEN: u8 = 60;
/// Even odds.
const EVEN: u32 = 1 << 15;

impl Bit {
    pub(super) const NEW: Self = Self {
        one: 1 << 15,
        seen: 0,
    };

    fn update(&mut self, bit: bool) {
        let (one, target) = (i32::from(self.one), if bit { 1 << 16 } else { 0 });
        let moved = one + (target - one) / (i32::from(self.seen) + 2);
        self.one = moved.clamp(MARGIN, (1 << 16) - MARGIN) as u16;
        self.seen = (self.seen + 1).min(MOST_SEEN);
    }
}

/// Passes binary decisions in or out.
pub(super) trait Coder {
    fn code(&mut self, one: u32, bit: bool) -> bool;
    /// Whether more was read than there is.
    fn exhausted(&self) -> bool;
}

impl Coder for RangeEncoder {
    fn code(&mut self, one: u32, bit: bool) -> bool {
        self.encode(bit, one);
        bit
    }

    fn exhausted(&self) -> bool {
        false
    }
}

impl Coder for RangeDecoder<'_> {
    fn code(&mut self, one: u32, _: bool) -> bool {
        self.decode(one)
    }

    fn exhausted(&self) -> bool {
        RangeDecoder::exhausted(self)
    }
}

/// A bit with adaptive odds.
pub(super) fn bit(coder: &mut impl Coder, model: &mut Bit, bit: bool) -> bool {
    let bit = coder.code(u32::from(model.one), bit);
    model.update(bit);
    bit
}

/// A number of `bits` bits with even odds, the highest first.
pub(super) fn raw(coder: &mut impl Coder, bits: u32, value: u32) -> u32 {
    (0..bits).rev().fold(0, |sum, at| {
        sum << 1 | u32::from(coder.code(EVEN, value >> at & 1 == 1))
    })
}

/// A symbol of four bits with adaptive odds, the highest first.
pub(super) fn symbol(coder: &mut impl Coder, tree: &mut [Bit; 16], value: u32) -> u32 {
    let node = (0..4).rev().fold(1, |node, at| {
        let one = bit(coder, &mut tree[node], value >> at & 1 == 1);
        node << 1 | usize::from(one)
    });
    node as u32 & 15
}

/// Largest exponent of a magnitude: numbers stay below 2^21.
const EXPONENTS: usize = 20;

/// Models of signed numbers.
#[derive(Clone, Debug)]
pub(super) struct Number {
    zero: Bit,
    sign: Bit,
    more: [Bit; EXPONENTS],
    top: [Bit; EXPONENTS + 1],
}

impl Number {
    pub(super) const NEW: Self = Self {
        zero: Bit::NEW,
        sign: Bit::NEW,
        more: [Bit::NEW; EXPONENTS],
        top: [Bit::NEW; EXPONENTS + 1],
    };

    /// A signed number: is it zero, its sign, and its magnitude as an Exp-Golomb code.
    pub(super) fn code(&mut self, coder: &mut impl Coder, value: i32) -> i32 {
        if !bit(coder, &mut self.zero, value != 0) {
            return 0;
        }
        let negative = bit(coder, &mut self.sign, value < 0);
        let magnitude = value.unsigned_abs();
        let wanted = magnitude.max(1).ilog2() as usize;
        let mut exponent = 0;
        while exponent < EXPONENTS && bit(coder, &mut self.more[exponent], wanted > exponent) {
            exponent += 1;
        }
        let mut found = 1;
        if exponent > 0 {
            let low = exponent as u32 - 1;
            found = 2 | u32::from(bit(
                coder,
                &mut self.top[exponent],
                magnitude >> low & 1 == 1,
            ));
            found = found << low | raw(coder, low, magnitude & ((1 << low) - 1));
        }
        if negative {
            -(found as i32)
        } else {
            found as i32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back() {
        let values = (-70..70).chain((0..20).flat_map(|e| [1 << e, -(1 << e) - 1, (2 << e) - 1]));
        let values: Vec<i32> = values.collect();
        let mut encoder = RangeEncoder::new();
        let mut model = Number::NEW;
        for &value in &values {
            assert_eq!(model.code(&mut encoder, value), value);
        }
        let bytes = encoder.finish();
        let (mut decoder, mut model) = (RangeDecoder::new(&bytes), Number::NEW);
        for &value in &values {
            assert_eq!(model.code(&mut decoder, 0), value);
        }
        assert!(!Coder::exhausted(&decoder));
    }
}

//! Binary range coder (`spec/bitstream.md`, section "Range coder").
//!
//! `range` stays in 2^32..2^48, so a 16-bit probability splits it with a relative error below 2^-16, and
//! renormalisation moves 16 bits at a time. Past the end of the data the decoder reads zeros, which lets
//! the encoder drop trailing zero bytes.

/// Probabilities of a one have this many bits; a coded probability is never 0 or 2^16.
pub const PROBABILITY_BITS: u32 = 16;
const FULL: u64 = 1 << 48;
const BOTTOM: u64 = 1 << 32;

/// How many zero bytes a writer may drop at the end; a reader that misses more was given a truncated tile.
const MAX_MISSING: usize = 8;

/// Where a range is cut. It stays below 2^48 and the cut inside it, so nothing in this file wraps; written with wrapping
/// operations, because this crate is compiled with checks that the hot loop of decoding need not pay for.
#[inline(always)]
fn split(range: u64, one: u32) -> u64 {
    (range >> PROBABILITY_BITS).wrapping_mul(u64::from(one))
}

/// The range of the part from `start` to `end` of 2^`bits` parts; the last part takes what is left over.
#[inline(always)]
fn part_range(range: u64, start: u32, end: u32, bits: u32) -> u64 {
    let unit = range >> bits;
    if end == 1 << bits {
        range.wrapping_sub(unit.wrapping_mul(u64::from(start)))
    } else {
        unit.wrapping_mul(u64::from(end.wrapping_sub(start)))
    }
}

/// Writes binary decisions.
#[derive(Debug)]
pub struct RangeEncoder {
    low: u64,
    range: u64,
    bytes: Vec<u8>,
}

impl Default for RangeEncoder {
    fn default() -> Self {
        Self::new()
    }
}

impl RangeEncoder {
    /// Nothing written yet.
    pub fn new() -> Self {
        Self {
            low: 0,
            range: FULL,
            bytes: Vec::new(),
        }
    }

    /// Bytes written so far.
    pub fn written(&self) -> usize {
        self.bytes.len()
    }

    /// Codes `bit`, whose probability of being one is `one` / 2^16.
    #[inline]
    pub fn encode(&mut self, bit: bool, one: u32) {
        let split = split(self.range, one);
        if bit {
            self.range = split;
        } else {
            self.low = self.low.wrapping_add(split);
            self.range = self.range.wrapping_sub(split);
        }
        while self.range < BOTTOM {
            self.shift();
        }
    }

    /// Codes the part from `start` to `end` of a whole of 2^`bits` parts, at most 2^16; the last part takes what is left
    /// over.
    #[inline(always)]
    pub fn encode_part(&mut self, start: u32, end: u32, bits: u32) {
        let unit = self.range >> bits;
        self.low = self.low.wrapping_add(unit.wrapping_mul(u64::from(start)));
        self.range = part_range(self.range, start, end, bits);
        while self.range < BOTTOM {
            self.shift();
        }
    }

    #[inline]
    fn shift(&mut self) {
        if self.low >= FULL {
            self.carry();
        }
        let low = self.low & (FULL - 1);
        self.bytes
            .extend_from_slice(&((low >> 32) as u16).to_be_bytes());
        self.low = (low << 16) & (FULL - 1);
        self.range <<= 16;
    }

    fn carry(&mut self) {
        for byte in self.bytes.iter_mut().rev() {
            *byte = byte.wrapping_add(1);
            if *byte != 0 {
                break;
            }
        }
    }

    /// Ends the stream with the shortest bytes that identify the final interval.
    pub fn finish(mut self) -> Vec<u8> {
        // The value with the most trailing zeros in low..low + range.
        let mut zeros = 63 - self.range.leading_zeros();
        let value = loop {
            let step = 1u64 << zeros;
            let candidate = self.low.next_multiple_of(step);
            if candidate < self.low + self.range {
                break candidate;
            }
            zeros -= 1;
        };
        self.low = value;
        for _ in 0..3 {
            self.shift();
        }
        let shortest = self.bytes.len().saturating_sub(MAX_MISSING);
        while self.bytes.len() > shortest && self.bytes.last() == Some(&0) {
            self.bytes.pop();
        }
        self.bytes
    }
}

/// Reads binary decisions.
#[derive(Debug)]
pub struct RangeDecoder<'a> {
    code: u64,
    range: u64,
    data: &'a [u8],
    position: usize,
}

impl<'a> RangeDecoder<'a> {
    /// Starts at the first byte.
    pub fn new(data: &'a [u8]) -> Self {
        let mut decoder = Self {
            code: 0,
            range: FULL,
            data,
            position: 0,
        };
        for _ in 0..3 {
            decoder.code = decoder.code << 16 | decoder.next();
        }
        decoder
    }

    #[inline(always)]
    fn next(&mut self) -> u64 {
        let rest = self.data.get(self.position..).unwrap_or_default();
        self.position = self.position.saturating_add(2);
        match rest {
            [high, low, ..] => u64::from(*high) << 8 | u64::from(*low),
            [high] => u64::from(*high) << 8,
            [] => 0,
        }
    }

    /// Reads a bit whose probability of being one is `one` / 2^16.
    #[inline(always)]
    pub fn decode(&mut self, one: u32) -> bool {
        let split = split(self.range, one);
        let bit = self.code < split;
        if bit {
            self.range = split;
        } else {
            self.code = self.code.wrapping_sub(split);
            self.range = self.range.wrapping_sub(split);
        }
        // Once is enough: a part of the range is at least as large as a probability of 2^-16.
        if self.range < BOTTOM {
            self.range <<= 16;
            self.code = self.code << 16 | self.next();
        }
        bit
    }

    /// Which of 2^`bits` parts, at most 2^16, the next symbol lies in; [`RangeDecoder::take_part`] must follow.
    #[inline(always)]
    pub fn part(&self, bits: u32) -> u32 {
        let part = self.code / (self.range >> bits);
        part.min((1 << bits) - 1) as u32
    }

    /// Takes the symbol from `start` to `end` of 2^`bits` parts.
    #[inline(always)]
    pub fn take_part(&mut self, start: u32, end: u32, bits: u32) {
        let skipped = (self.range >> bits).wrapping_mul(u64::from(start));
        self.code = self.code.wrapping_sub(skipped);
        self.range = part_range(self.range, start, end, bits);
        while self.range < BOTTOM {
            self.range <<= 16;
            self.code = self.code << 16 | self.next();
        }
    }

    /// Whether any byte was read that is not there.
    #[inline]
    pub fn has_missed(&self) -> bool {
        self.position > self.data.len()
    }

    /// Whether more was read than the data can hold with the zeros a writer may have dropped.
    #[inline]
    pub fn exhausted(&self) -> bool {
        self.position > self.data.len() + MAX_MISSING
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sequence(seed: u64, length: usize) -> Vec<(bool, u32)> {
        let mut state = seed;
        (0..length)
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                let one = ((state >> 48) as u32).clamp(1, 65535);
                let bit = ((state >> 16) as u32 & 0xffff) < one;
                (bit, one)
            })
            .collect()
    }

    #[test]
    fn round_trips_and_costs_what_the_probabilities_say() {
        for length in [0, 1, 2, 17, 10_000] {
            let symbols = sequence(length as u64 + 7, length);
            let mut encoder = RangeEncoder::new();
            let mut bits = 0.0;
            for &(bit, one) in &symbols {
                encoder.encode(bit, one);
                let p = f64::from(if bit { one } else { 65536 - one }) / 65536.0;
                bits -= p.log2();
            }
            let bytes = encoder.finish();
            assert!(bytes.len() as f64 * 8.0 <= bits * 1.0005 + 16.0);
            let mut decoder = RangeDecoder::new(&bytes);
            for &(bit, one) in &symbols {
                assert_eq!(decoder.decode(one), bit);
            }
        }
    }

    #[test]
    fn parts_and_bits_round_trip_together() {
        let symbols = sequence(3, 5000);
        let part = |one: u32| (one % 1000, one % 1000 + 1 + one % 24);
        let mut encoder = RangeEncoder::new();
        for &(bit, one) in &symbols {
            let (start, end) = part(one);
            encoder.encode_part(start, end, 10);
            encoder.encode(bit, one);
            encoder.encode_part(one & 7, (one & 7) + 1, 3);
        }
        let bytes = encoder.finish();
        let mut decoder = RangeDecoder::new(&bytes);
        for &(bit, one) in &symbols {
            let (start, end) = part(one);
            assert!((start..end).contains(&decoder.part(10)));
            decoder.take_part(start, end, 10);
            assert_eq!(decoder.decode(one), bit);
            assert_eq!(decoder.part(3), one & 7);
            decoder.take_part(one & 7, (one & 7) + 1, 3);
        }
        assert!(!decoder.exhausted());
    }

    #[test]
    fn a_long_run_of_zero_bytes_is_not_taken_for_truncation() {
        let mut encoder = RangeEncoder::new();
        (0..1000).for_each(|_| encoder.encode(true, 1 << 10));
        let bytes = encoder.finish();
        let mut decoder = RangeDecoder::new(&bytes);
        assert!((0..1000).all(|_| decoder.decode(1 << 10)));
        assert!(!decoder.exhausted());
        assert!(bytes.iter().all(|&byte| byte == 0));
    }

    #[test]
    fn carries_run_through_long_runs_of_ones() {
        let mut encoder = RangeEncoder::new();
        let symbols: Vec<(bool, u32)> = (0..4000).map(|i| (i % 97 == 96, 1 + (i % 3))).collect();
        for &(bit, one) in &symbols {
            encoder.encode(bit, one);
        }
        let bytes = encoder.finish();
        let mut decoder = RangeDecoder::new(&bytes);
        for &(bit, one) in &symbols {
            assert_eq!(decoder.decode(one), bit);
        }
    }
}

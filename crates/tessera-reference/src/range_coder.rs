//! `bitstream.md`, "Range coder"; `lossless.md`, "Parts".

use crate::error::{Result, ensure};

const EVEN: u32 = 32768;

/// Reads one stream.
#[derive(Debug)]
pub(crate) struct RangeCoder<'a> {
    stream: &'a [u8],
    consumed: usize,
    code: u64,
    range: u64,
}

impl<'a> RangeCoder<'a> {
    pub(crate) fn new(stream: &'a [u8]) -> Self {
        let mut coder = Self {
            stream,
            consumed: 0,
            code: 0,
            range: 1 << 48,
        };
        for _ in 0..3 {
            coder.code = coder.code << 16 | coder.word();
        }
        coder
    }

    /// The next two bytes, high byte first; bytes past the end are zero.
    fn word(&mut self) -> u64 {
        let byte = |at: usize| u64::from(self.stream.get(at).copied().unwrap_or(0));
        let word = byte(self.consumed) << 8 | byte(self.consumed + 1);
        self.consumed += 2;
        word
    }

    fn renormalise(&mut self) {
        if self.range < 1 << 32 {
            self.range <<= 16;
            self.code = self.code << 16 | self.word();
        }
    }

    /// A bit that is one with a probability of `one` / 65536.
    pub(crate) fn decode(&mut self, one: u32) -> bool {
        let split = (self.range >> 16) * u64::from(one);
        let bit = self.code < split;
        if bit {
            self.range = split;
        } else {
            self.code -= split;
            self.range -= split;
        }
        self.renormalise();
        bit
    }

    /// A bit with even odds.
    pub(crate) fn even(&mut self) -> bool {
        self.decode(EVEN)
    }

    /// "Parts": which of 2^bits the code lies in.
    pub(crate) fn part(&self, bits: u32) -> u64 {
        (self.code / (self.range >> bits)).min((1 << bits) - 1)
    }

    /// "Parts": the symbol had the part from `start` to `end`.
    pub(crate) fn take_part(&mut self, start: u64, end: u64, bits: u32) {
        let unit = self.range >> bits;
        self.code -= unit * start;
        self.range = match end == 1 << bits {
            true => self.range - unit * start,
            false => unit * (end - start),
        };
        self.renormalise();
    }

    /// A number of `bits` bits, each value as likely as any other.
    pub(crate) fn raw(&mut self, bits: u32) -> u32 {
        let value = self.part(bits);
        self.take_part(value, value + 1, bits);
        value as u32
    }

    /// An error if more was read than the stream and eight bytes behind it.
    pub(crate) fn check_end(&self) -> Result<()> {
        ensure(
            self.consumed <= self.stream.len() + 8,
            "a payload ends too early",
        )
    }
}

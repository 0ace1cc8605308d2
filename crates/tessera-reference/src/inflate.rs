//! Raw DEFLATE (RFC 1951), for the index of a pack and for metadata.

use crate::error::{Result, ensure, refuse};

const LENGTH_BASE: [usize; 29] = [
    3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43, 51, 59, 67, 83, 99, 115, 131,
    163, 195, 227, 258,
];
const LENGTH_EXTRA: [u32; 29] = [
    0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0,
];
const DISTANCE_BASE: [usize; 30] = [
    1, 2, 3, 4, 5, 7, 9, 13, 17, 25, 33, 49, 65, 97, 129, 193, 257, 385, 513, 769, 1025, 1537,
    2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577,
];
const CODE_LENGTH_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Unpacks a stream that gives at most `limit` bytes; also returns how many bytes it took.
pub(crate) fn inflate(packed: &[u8], limit: usize) -> Result<(Vec<u8>, usize)> {
    let mut bits = Bits {
        bytes: packed,
        at: 0,
    };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)? == 1;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let (literals, distances) = fixed_codes();
                block(&mut bits, &literals, &distances, &mut out, limit)?;
            }
            2 => {
                let (literals, distances) = dynamic_codes(&mut bits)?;
                block(&mut bits, &literals, &distances, &mut out, limit)?;
            }
            _ => return refuse("DEFLATE: a block of a kind that is not defined"),
        }
        ensure(out.len() <= limit, "DEFLATE: more bytes than stated")?;
        if last {
            return Ok((out, bits.at.div_ceil(8)));
        }
    }
}

struct Bits<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Bits<'_> {
    /// A number of `count` bits, the lowest first.
    fn take(&mut self, count: u32) -> Result<usize> {
        let mut value = 0;
        for i in 0..count {
            let Some(byte) = self.bytes.get(self.at / 8) else {
                return refuse("DEFLATE: the data ends too early");
            };
            value |= usize::from(byte >> (self.at % 8) & 1) << i;
            self.at += 1;
        }
        Ok(value)
    }
}

/// A canonical code: how many words have each length, and the symbols in their order.
struct Code {
    counts: [usize; 16],
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[usize]) -> Self {
        let mut counts = [0; 16];
        lengths.iter().for_each(|&length| counts[length] += 1);
        counts[0] = 0;
        let of = |wanted| (0..lengths.len()).filter(move |&symbol| lengths[symbol] == wanted);
        let symbols = (1..16).flat_map(of).collect();
        Self { counts, symbols }
    }

    fn read(&self, bits: &mut Bits<'_>) -> Result<usize> {
        let (mut word, mut first, mut index) = (0, 0, 0);
        for count in &self.counts[1..] {
            word |= bits.take(1)?;
            if word < first + count {
                return Ok(self.symbols[index + word - first]);
            }
            index += count;
            first = (first + count) << 1;
            word <<= 1;
        }
        refuse("DEFLATE: a word that the code does not have")
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Result<()> {
    bits.at = bits.at.next_multiple_of(8);
    let (length, inverse) = (bits.take(16)?, bits.take(16)?);
    ensure(
        length ^ inverse == 0xFFFF,
        "DEFLATE: a stored length is damaged",
    )?;
    let start = bits.at / 8;
    let Some(content) = bits.bytes.get(start..start + length) else {
        return refuse("DEFLATE: the data ends too early");
    };
    out.extend(content);
    bits.at += 8 * length;
    Ok(())
}

fn fixed_codes() -> (Code, Code) {
    let length = |symbol| match symbol {
        0..=143 => 8,
        144..=255 => 9,
        256..=279 => 7,
        _ => 8,
    };
    let literals: Vec<usize> = (0..288).map(length).collect();
    (Code::new(&literals), Code::new(&[5; 30]))
}

fn dynamic_codes(bits: &mut Bits<'_>) -> Result<(Code, Code)> {
    let (literals, distances, count) = (bits.take(5)? + 257, bits.take(5)? + 1, bits.take(4)? + 4);
    let mut lengths = [0; 19];
    for &symbol in &CODE_LENGTH_ORDER[..count] {
        lengths[symbol] = bits.take(3)?;
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<usize> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, times) = match code.read(bits)? {
            16 => (lengths.last().copied(), 3 + bits.take(2)?),
            17 => (Some(0), 3 + bits.take(3)?),
            18 => (Some(0), 11 + bits.take(7)?),
            length => (Some(length), 1),
        };
        let Some(value) = value else {
            return refuse("DEFLATE: nothing to repeat");
        };
        lengths.extend(std::iter::repeat_n(value, times));
    }
    ensure(
        lengths.len() == literals + distances,
        "DEFLATE: too many lengths",
    )?;
    let (literals, distances) = lengths.split_at(literals);
    Ok((Code::new(literals), Code::new(distances)))
}

fn block(
    bits: &mut Bits<'_>,
    literals: &Code,
    distances: &Code,
    out: &mut Vec<u8>,
    limit: usize,
) -> Result<()> {
    while out.len() <= limit {
        match literals.read(bits)? {
            literal @ 0..=255 => out.push(literal as u8),
            256 => return Ok(()),
            symbol => repeat(symbol - 257, bits, distances, out)?,
        }
    }
    refuse("DEFLATE: more bytes than stated")
}

fn repeat(symbol: usize, bits: &mut Bits<'_>, distances: &Code, out: &mut Vec<u8>) -> Result<()> {
    let (Some(base), Some(&extra)) = (LENGTH_BASE.get(symbol), LENGTH_EXTRA.get(symbol)) else {
        return refuse("DEFLATE: a length that is not defined");
    };
    let length = base + bits.take(extra)?;
    let symbol = distances.read(bits)?;
    let Some(base) = DISTANCE_BASE.get(symbol) else {
        return refuse("DEFLATE: a distance that is not defined");
    };
    let distance = base + bits.take((symbol as u32 / 2).saturating_sub(1))?;
    ensure(
        distance <= out.len(),
        "DEFLATE: a distance beyond the start",
    )?;
    for _ in 0..length {
        out.push(out[out.len() - distance]);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unpacks_stored_and_fixed_blocks() {
        let stored = [1, 3, 0, 252, 255, b'a', b'b', b'c'];
        assert_eq!(inflate(&stored, 3).unwrap(), (b"abc".to_vec(), 8));
        assert!(inflate(&stored, 2).is_err());
        let fixed = [0x4B, 0x4C, 0x84, 0x01, 0x00];
        assert_eq!(inflate(&fixed, 99).unwrap().0, b"aaaaaaaaaa");
    }
}

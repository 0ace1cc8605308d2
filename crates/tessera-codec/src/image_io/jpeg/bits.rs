//! Entropy-coded data bit by bit, and the Huffman codes in it.

/// Bits between two markers.
pub(super) struct Bits<'a> {
    data: &'a [u8],
    at: usize,
    held: u64,
    count: u32,
}

/// Why a scan ends before all its blocks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Broken {
    /// There are no more bits.
    Missing,
    /// The bits are no code of the table.
    Invalid,
}

impl<'a> Bits<'a> {
    pub(super) fn new(data: &'a [u8]) -> Self {
        Self {
            data,
            at: 0,
            held: 0,
            count: 0,
        }
    }

    /// Holds at least 32 bits unless a marker or the end comes first.
    fn fill(&mut self) {
        while self.count <= 48 {
            let byte = match self.data[self.at.min(self.data.len())..] {
                [0xFF, 0, ..] => {
                    self.at += 1;
                    0xFF
                }
                [0xFF, ..] | [] => return,
                [byte, ..] => byte,
            };
            self.at += 1;
            self.held |= u64::from(byte) << (56 - self.count);
            self.count += 8;
        }
    }

    /// Drops bits.
    pub(super) fn skip(&mut self, count: u32) -> Result<(), Broken> {
        if self.count < count {
            self.fill();
            if self.count < count {
                return Err(Broken::Missing);
            }
        }
        self.held <<= count;
        self.count -= count;
        Ok(())
    }

    /// The next bits as a number; at most 16.
    pub(super) fn take(&mut self, count: u32) -> Result<u32, Broken> {
        if count == 0 {
            return Ok(0);
        }
        self.fill();
        let value = (self.held >> (64 - count)) as u32;
        self.skip(count)?;
        Ok(value)
    }

    /// The next symbol.
    pub(super) fn symbol(&mut self, table: &HuffmanTable) -> Result<u8, Broken> {
        if self.count < 16 {
            self.fill();
        }
        let (len, symbol) = table.codes[(self.held >> 48) as usize];
        if len == 0 {
            return Err(match self.count {
                0..16 => Broken::Missing,
                _ => Broken::Invalid,
            });
        }
        self.skip(u32::from(len))?;
        Ok(symbol)
    }

    /// What follows the data that was read, from the next marker on.
    pub(super) fn rest(&self) -> &'a [u8] {
        let rest = &self.data[self.at.min(self.data.len())..];
        let marker = |pair: &[u8]| pair[0] == 0xFF && pair[1] != 0 && pair[1] != 0xFF;
        match rest.windows(2).position(marker) {
            Some(at) => &rest[at..],
            None => &[],
        }
    }
}

/// A Huffman table, looked up by the next 16 bits.
pub(super) struct HuffmanTable {
    /// Length of the code (zero: no code) and its symbol.
    codes: Vec<(u8, u8)>,
}

impl HuffmanTable {
    /// From the number of codes of each length and their symbols in order.
    pub(super) fn new(counts: &[u8; 16], symbols: &[u8]) -> Option<Self> {
        let mut codes = vec![(0, 0); 1 << 16];
        let mut symbols = symbols.iter();
        let mut start = 0;
        for (len, count) in (1..).zip(counts) {
            for _ in 0..*count {
                let end = start + (1usize << (16 - len));
                codes
                    .get_mut(start..end)?
                    .fill((len as u8, *symbols.next()?));
                start = end;
            }
        }
        Some(Self { codes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_up_to_the_marker() {
        // Codes 0, 10, 11.
        let mut counts = [0; 16];
        (counts[0], counts[1]) = (1, 2);
        let table = HuffmanTable::new(&counts, &[5, 6, 7]).unwrap();
        let mut bits = Bits::new(&[0b0101_1111, 0xFF, 0, 0xFF, 0xD9]);
        let symbols: Vec<_> = (0..9).map_while(|_| bits.symbol(&table).ok()).collect();
        assert_eq!(symbols, [5, 6, 7, 7, 7, 7, 7, 7]);
        assert_eq!(bits.take(1), Ok(1));
        assert_eq!(bits.take(1), Err(Broken::Missing));
        assert_eq!(bits.rest(), [0xFF, 0xD9]);
        assert!(
            HuffmanTable::new(&[3; 16], &[0; 48]).is_none(),
            "too many codes"
        );
    }
}

//! `container.md`, "Notation": numbers, varints and checks.

use crate::error::{Result, ensure, refuse};

/// Reads fields one after the other.
#[derive(Debug, Clone)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn at(&self) -> usize {
        self.at
    }

    pub(crate) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    pub(crate) fn is_done(&self) -> bool {
        self.at == self.bytes.len()
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some(taken) = self.rest().get(..count) else {
            return refuse("the data ends too early");
        };
        self.at += count;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub(crate) fn u8(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn u16(&mut self) -> Result<u16> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn u16s(&mut self, count: usize) -> Result<Vec<u16>> {
        let bytes = self.take(2 * count)?.chunks_exact(2);
        Ok(bytes.map(|b| u16::from_le_bytes([b[0], b[1]])).collect())
    }

    pub(crate) fn i16s(&mut self, count: usize) -> Result<Vec<i16>> {
        Ok(self.u16s(count)?.into_iter().map(|v| v as i16).collect())
    }

    pub(crate) fn i8s(&mut self, count: usize) -> Result<Vec<i8>> {
        Ok(self.take(count)?.iter().map(|&byte| byte as i8).collect())
    }

    /// A number in base 128; only its shortest form is valid.
    pub(crate) fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for group in 0..10 {
            let byte = self.u8()?;
            ensure(group < 9 || byte <= 1, "a varint has more than 64 bits")?;
            value |= u64::from(byte & 127) << (7 * group);
            if byte < 128 {
                ensure(group == 0 || byte != 0, "a varint is not the shortest")?;
                return Ok(value);
            }
        }
        refuse("a varint has more than ten bytes")
    }

    /// A varint that counts something, as far as this machine can.
    pub(crate) fn length(&mut self) -> Result<usize> {
        let value = self.varint()?;
        usize::try_from(value).or_else(|_| refuse("a length is beyond this machine"))
    }

    pub(crate) fn end(&self, what: &str) -> Result<()> {
        ensure(self.is_done(), &format!("bytes follow {what}"))
    }
}

/// `crc8`: x^8 + x^2 + x + 1.
pub(crate) fn crc8(bytes: &[u8]) -> u8 {
    let step = |crc: u8| {
        if crc & 128 != 0 {
            crc << 1 ^ 7
        } else {
            crc << 1
        }
    };
    bytes.iter().fold(0xFF, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc, _| step(crc))
    })
}

/// `crc32` of zip and PNG, of parts one behind the other.
pub(crate) fn crc32(parts: &[&[u8]]) -> u32 {
    let step = |crc: u32| {
        if crc & 1 != 0 {
            crc >> 1 ^ 0xEDB8_8320
        } else {
            crc >> 1
        }
    };
    let table: Vec<u32> = (0..256)
        .map(|byte| (0..8).fold(byte, |crc, _| step(crc)))
        .collect();
    let bytes = parts.iter().flat_map(|part| part.iter());
    !bytes.fold(!0u32, |crc, &byte| {
        table[(crc as u8 ^ byte) as usize] ^ crc >> 8
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_those_of_the_page() {
        assert_eq!(crc8(b"123456789"), 0xFB);
        assert_eq!(crc32(&[b"12345", b"6789"]), 0xCBF4_3926);
    }

    #[test]
    fn only_the_shortest_varint_is_read() {
        let varint = |bytes: &[u8]| Reader::new(bytes).varint().ok();
        assert_eq!(varint(&[0x80, 1]), Some(128));
        assert_eq!(varint(&[0x80, 0]), None);
        assert_eq!(varint(&[0xFF; 10]), None);
        let mut largest = [0xFF; 10];
        largest[9] = 1;
        assert_eq!(varint(&largest), Some(u64::MAX));
    }
}

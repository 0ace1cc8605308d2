//! Byte-level reading and writing: fixed fields and variable-length integers.

use crate::error::FormatError;

/// Bytes a variable-length integer may take: enough for 64 bits.
pub(super) const MAX_VARINT_BYTES: usize = 10;

/// A cursor over a file that knows what it is reading, for error messages.
#[derive(Debug, Clone)]
pub struct ByteReader<'a> {
    data: &'a [u8],
    position: usize,
    /// Where `data` starts in the file, for error messages.
    base: usize,
    part: &'static str,
}

impl<'a> ByteReader<'a> {
    /// Starts at the beginning of `data`, which is at byte `base` of the file; `part` names the
    /// structure in errors.
    pub fn new(data: &'a [u8], base: usize, part: &'static str) -> Self {
        Self {
            data,
            position: 0,
            base,
            part,
        }
    }

    /// Bytes read so far.
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.data.len() - self.position
    }

    /// The next byte.
    ///
    /// # Errors
    /// [`FormatError::Truncated`], as for everything that is read here.
    pub fn u8(&mut self) -> Result<u8, FormatError> {
        Ok(self.take(1)?[0])
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], FormatError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    /// The next `len` bytes.
    ///
    /// # Errors
    /// [`FormatError::Truncated`].
    pub fn take(&mut self, len: usize) -> Result<&'a [u8], FormatError> {
        if len > self.remaining() {
            return Err(FormatError::Truncated {
                part: self.part,
                offset: self.base + self.data.len(),
            });
        }
        let bytes = &self.data[self.position..][..len];
        self.position += len;
        Ok(bytes)
    }

    /// A length that must be followed by that many bytes.
    ///
    /// # Errors
    /// As for [`Self::varint`].
    pub fn length(&mut self) -> Result<usize, FormatError> {
        let value = self.varint()?;
        usize::try_from(value).map_err(|_| FormatError::invalid(self.part, "a length is too large"))
    }

    /// Little-endian base 128; only the shortest form of a number is valid.
    ///
    /// # Errors
    /// [`FormatError`] if it is cut off, too long or too large.
    pub fn varint(&mut self) -> Result<u64, FormatError> {
        let mut value = 0u64;
        for index in 0..MAX_VARINT_BYTES {
            let byte = self.u8()?;
            let bits = u64::from(byte & 0x7F);
            if index == MAX_VARINT_BYTES - 1 && bits > 1 {
                break;
            }
            value |= bits << (7 * index);
            if byte & 0x80 == 0 {
                if byte == 0 && index > 0 {
                    let reason = "a number is not in its shortest form";
                    return Err(FormatError::invalid(self.part, reason));
                }
                return Ok(value);
            }
        }
        Err(FormatError::invalid(self.part, "a number is too large"))
    }
}

/// Appends `value` as little-endian base 128.
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Bytes that [`put_varint`] writes.
#[cfg(feature = "encoder")]
pub(crate) fn varint_len(value: u64) -> usize {
    (value | 1).ilog2() as usize / 7 + 1
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;

    #[test]
    fn varints_round_trip_at_every_length() {
        for shift in 0..64 {
            for value in [(1u64 << shift) - 1, 1 << shift, u64::MAX >> shift] {
                let mut bytes = Vec::new();
                put_varint(&mut bytes, value);
                assert_eq!(bytes.len(), varint_len(value));
                let mut reader = ByteReader::new(&bytes, 0, "test");
                assert_eq!(reader.varint(), Ok(value));
                assert_eq!(reader.remaining(), 0);
            }
        }
    }

    #[test]
    fn long_forms_and_overflows_are_refused() {
        for bytes in [&[0x80, 0x00][..], &[0xFF; 10], &[0x80; 11]] {
            let error = ByteReader::new(bytes, 0, "test").varint().unwrap_err();
            assert!(matches!(error, FormatError::Invalid { .. }));
        }
        let cut = ByteReader::new(&[0x80], 0, "test").varint();
        assert!(matches!(cut, Err(FormatError::Truncated { offset: 1, .. })));
    }
}

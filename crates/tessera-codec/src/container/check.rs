//! Checksums: eight bits for the header, thirty-two for everything else.

use crate::error::FormatError;

/// Bytes of a CRC-32 in the file.
pub(crate) const CRC_LEN: usize = 4;

/// Whether a reader compares checksums.
///
/// Switching them off is for rescuing files and for fuzzing what lies behind them; every other
/// check stays.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Integrity {
    /// Compare; the default.
    #[default]
    Checked,
    /// Read past wrong checksums.
    Ignored,
}

impl Integrity {
    /// Turns a mismatch into an error unless checksums are ignored.
    pub(crate) fn demand(self, matches: bool, part: &'static str) -> Result<(), FormatError> {
        if matches || self == Self::Ignored {
            return Ok(());
        }
        Err(FormatError::Damaged { part })
    }
}

/// CRC-32 (ISO-HDLC) of several pieces in a row.
pub(crate) fn crc32(pieces: &[&[u8]]) -> [u8; CRC_LEN] {
    let mut hasher = crc32fast::Hasher::new();
    for piece in pieces {
        hasher.update(piece);
    }
    hasher.finalize().to_le_bytes()
}

/// CRC-8 with the polynomial x^8 + x^2 + x + 1 and the start value 0xFF.
///
/// It finds every single flipped bit and every burst of up to eight. That is enough for an early
/// warning: the checksums behind it cover the header again with thirty-two bits.
pub(crate) fn crc8(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0xFF, |crc, byte| {
        (0..8).fold(crc ^ byte, |crc: u8, _| {
            (crc << 1) ^ if crc & 0x80 != 0 { 0x07 } else { 0 }
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers() {
        assert_eq!(crc8(b"123456789"), 0xFB);
        assert_eq!(crc32(&[b"1234", b"56789"]), 0xCBF4_3926u32.to_le_bytes());
    }

    #[test]
    fn crc8_finds_every_single_flip() {
        let mut bytes: Vec<u8> = (0..48).collect();
        let crc = crc8(&bytes);
        for bit in 0..bytes.len() * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(crc8(&bytes), crc);
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

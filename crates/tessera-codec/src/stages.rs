//! Doors to single stages of the decoder, so that fuzz targets and the tests of what they found can
//! drive each of them alone. Not part of the public interface.

use crate::container::{Header, Integrity};
use crate::error::{FormatError, Result};
use crate::limits::Limits;
use crate::lossless::{Fault, Shape, decode_tile};
use crate::metadata::Metadata;
use crate::picture::{PixelFormat, Samples};
use crate::tile::entropy::range::RangeDecoder;
use tessera_dict::LosslessNets;

/// Reads a header without comparing its checksum; also returns its length in bytes.
///
/// # Errors
/// As for every file that is not what it claims to be.
pub fn header(file: &[u8]) -> Result<(Header, usize), FormatError> {
    Header::read(file, Integrity::Ignored)
}

/// Reads a metadata section without comparing its checksums.
///
/// # Errors
/// If a chunk is cut off, cannot be unpacked or exceeds `limits`.
pub fn metadata(section: &[u8], limits: &Limits) -> Result<Metadata> {
    crate::container::metadata::read(section, 0, limits, Integrity::Ignored)
}

/// Decodes a lossless tile of some width and height.
///
/// # Errors
/// If the payload says something without a meaning, or ends too early.
pub fn lossless_tile(
    payload: &[u8],
    (width, height): (u32, u32),
    format: PixelFormat,
    nets: &LosslessNets,
) -> Result<Samples, Fault> {
    let shape = Shape::new(width, height, format);
    decode_tile(payload, &shape, format, Some(nets))
}

/// Decodes one bit per probability (of a one, in 1/2^16, never 0) and stops where the data ends.
pub fn range_bits(data: &[u8], probabilities: impl IntoIterator<Item = u16>) -> Vec<bool> {
    let mut decoder = RangeDecoder::new(data);
    let mut bits = Vec::new();
    for one in probabilities {
        if decoder.exhausted() {
            break;
        }
        bits.push(decoder.decode(u32::from(one.max(1))));
    }
    bits
}

/// Codes bits with the probabilities they were decoded with.
#[cfg(feature = "encoder")]
pub fn range_bytes(bits: &[bool], probabilities: impl IntoIterator<Item = u16>) -> Vec<u8> {
    let mut encoder = crate::tile::entropy::range::RangeEncoder::new();
    for (&bit, one) in bits.iter().zip(probabilities) {
        encoder.encode(bit, u32::from(one.max(1)));
    }
    encoder.finish()
}

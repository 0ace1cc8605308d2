//! The compressions of TIFF: what others wrote is used where there is something.

use crate::image_io::error::{INCONSISTENT, ReadImageError};
use crate::image_io::jpeg::{self, Conversion};
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::chunks::Chunk;
use crate::image_io::tiff::directory::{Directory, tag};
use crate::image_io::tiff::page::{Page, Photometric};
use crate::image_io::tiff::{fax, predictor, unpack};
use crate::picture::Samples;
use flate2::read::ZlibDecoder;
use std::borrow::Cow;
use std::io::Read;
use weezl::BitOrder;

const NONE: u64 = 1;
const HUFFMAN: u64 = 2;
const FAX3: u64 = 3;
const FAX4: u64 = 4;
const LZW: u64 = 5;
pub(super) const OLD_JPEG: u64 = 6;
pub(super) const JPEG: u64 = 7;
const DEFLATE: u64 = 8;
const PACK_BITS: u64 = 32773;
const OLD_DEFLATE: u64 = 32946;

/// Unpacks the parts of one page.
pub(super) struct Decoder<'a> {
    /// Tables that all parts share, a JPEG stream of their own.
    jpeg_tables: &'a [u8],
}

impl<'a> Decoder<'a> {
    /// Refuses what cannot be unpacked.
    pub(super) fn new(page: &Page, directory: &Directory<'a>) -> Result<Self, ReadImageError> {
        let rare = match page.compression {
            NONE | LZW | DEFLATE | OLD_DEFLATE | PACK_BITS | JPEG | FAX3 | FAX4 => None,
            HUFFMAN => Some("Huffman compression (of fax machines)"),
            34925 => Some("LZMA compression"),
            50000 => Some("Zstandard compression"),
            50001 => Some("WebP compression"),
            33003 | 33005 | 34712 => Some("JPEG 2000 compression"),
            _ => Some("a compression of this kind"),
        };
        let bilevel = page.bits == 1 && page.samples == 1;
        let rare = match page.compression {
            FAX3 | FAX4 if !bilevel => Some("fax compression of more than black and white"),
            FAX3 if page.fax_options & 1 == 1 => Some("two-dimensional fax group 3 compression"),
            JPEG if page.bits != 8 => Some("JPEG compression of samples that are not 8 bits"),
            _ => rare,
        };
        if let Some(rare) = rare {
            return Err(ReadImageError::variant(TIFF, rare));
        }
        let tables = directory.get(tag::JPEG_TABLES);
        Ok(Self {
            jpeg_tables: tables.map_or(&[], |tables| tables.bytes()),
        })
    }

    /// The samples of one part, all of them.
    pub(super) fn decode(&self, page: &Page, chunk: &Chunk<'_>) -> Result<Samples, ReadImageError> {
        if page.compression == JPEG {
            return self.jpeg(page, chunk);
        }
        let bytes = in_usual_order(page, chunk.bytes);
        let len = unpack::row_bytes(page, chunk) * chunk.rows;
        let unpacked = match page.compression {
            FAX3 | FAX4 => return fax::decode(&bytes, page.compression == FAX4, chunk),
            NONE => bytes.get(..len).map(<[u8]>::to_vec),
            LZW => lzw(&bytes, len),
            PACK_BITS => pack_bits(&bytes, len),
            _ => deflate(&bytes, len),
        };
        let unpacked = unpacked.ok_or(ReadImageError::Truncated(TIFF))?;
        let mut samples = unpack::unpack(page, chunk, unpacked);
        if page.predictor {
            predictor::undo(&mut samples, chunk);
        }
        Ok(samples)
    }

    fn jpeg(&self, page: &Page, chunk: &Chunk<'_>) -> Result<Samples, ReadImageError> {
        let conversion = match page.photometric {
            Photometric::YCbCr if !page.planar => Conversion::Usual,
            _ => Conversion::None,
        };
        let stream = joined(self.jpeg_tables, chunk.bytes);
        let raster = jpeg::decode(&stream, conversion)?;
        let fits = raster.width as usize == chunk.width
            && raster.height as usize >= chunk.rows
            && raster.components == chunk.samples;
        if !fits {
            return Err(ReadImageError::Damaged(TIFF, INCONSISTENT));
        }
        Ok(Samples::U8(raster.samples))
    }
}

/// Tables without their end in front of a stream without its start.
fn joined<'a>(tables: &[u8], stream: &'a [u8]) -> Cow<'a, [u8]> {
    let end = tables.strip_suffix(&[0xFF, 0xD9]);
    match (end, stream.get(2..)) {
        (Some(tables), Some(stream)) => [tables, stream].concat().into(),
        _ => stream.into(),
    }
}

/// The bytes with their highest bit first.
fn in_usual_order<'a>(page: &Page, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    match page.reversed_bits {
        true => bytes.iter().map(|byte| byte.reverse_bits()).collect(),
        false => bytes.into(),
    }
}

fn lzw(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut unpacked = vec![0; len];
    let mut decoder = weezl::decode::Decoder::with_tiff_size_switch(BitOrder::Msb, 8);
    let (mut read, mut written) = (0, 0);
    while written < len {
        let result = decoder.decode_bytes(&bytes[read..], &mut unpacked[written..]);
        read += result.consumed_in;
        written += result.consumed_out;
        match result.status {
            Ok(weezl::LzwStatus::Ok) => {}
            _ => break,
        }
    }
    (written == len).then_some(unpacked)
}

fn deflate(bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    let mut reader = ZlibDecoder::new(bytes).take(len as u64);
    reader.read_to_end(&mut unpacked).ok()?;
    (unpacked.len() == len).then_some(unpacked)
}

/// Runs of literal or repeated bytes.
fn pack_bits(mut bytes: &[u8], len: usize) -> Option<Vec<u8>> {
    let mut unpacked = Vec::new();
    while unpacked.len() < len {
        let (&head, rest) = bytes.split_first()?;
        bytes = match head {
            128 => rest,
            0..128 => {
                let (run, rest) = rest.split_at_checked(usize::from(head) + 1)?;
                unpacked.extend_from_slice(run);
                rest
            }
            _ => {
                let (&byte, rest) = rest.split_first()?;
                unpacked.resize(unpacked.len() + 257 - usize::from(head), byte);
                rest
            }
        };
    }
    unpacked.truncate(len);
    Some(unpacked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_unpacked_and_short_data_is_none() {
        let packed = [2, 1, 2, 3, 128, 254, 9];
        assert_eq!(pack_bits(&packed, 6), Some(vec![1, 2, 3, 9, 9, 9]));
        assert_eq!(pack_bits(&packed, 5), Some(vec![1, 2, 3, 9, 9]));
        assert_eq!(pack_bits(&packed, 7), None);
        assert_eq!(lzw(&[], 1), None);
        assert_eq!(deflate(b"no zlib", 1), None);
    }
}

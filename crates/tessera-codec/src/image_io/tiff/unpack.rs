//! Bytes to samples.

use crate::image_io::tiff::chunks::Chunk;
use crate::image_io::tiff::page::Page;
use crate::picture::Samples;

/// Bytes of one row of a part.
pub(super) fn row_bytes(page: &Page, chunk: &Chunk<'_>) -> usize {
    (chunk.width * chunk.samples * page.bits).div_ceil(8)
}

/// The samples of whole rows; a row starts at a byte.
pub(super) fn unpack(page: &Page, chunk: &Chunk<'_>, bytes: Vec<u8>) -> Samples {
    let per_row = chunk.width * chunk.samples;
    let rows = bytes.chunks_exact(row_bytes(page, chunk));
    match page.bits {
        8 => Samples::U8(bytes),
        1..8 => Samples::U8(
            rows.flat_map(|row| fields(row, page.bits, per_row).map(|value| value as u8))
                .collect(),
        ),
        16 => {
            let value = match page.big_endian {
                true => u16::from_be_bytes,
                false => u16::from_le_bytes,
            };
            let pairs = bytes.as_chunks().0.iter();
            Samples::U16(pairs.map(|pair| value(*pair)).collect())
        }
        _ => Samples::U16(
            rows.flat_map(|row| fields(row, page.bits, per_row))
                .collect(),
        ),
    }
}

/// The first `count` fields of so many bits, highest bits first.
fn fields(row: &[u8], bits: usize, count: usize) -> impl Iterator<Item = u16> + '_ {
    (0..count).map(move |index| {
        let first = index * bits;
        let window = (0..3).fold(0u32, |window, i| {
            window << 8 | u32::from(row.get(first / 8 + i).copied().unwrap_or(0))
        });
        (window >> (24 - first % 8 - bits) & ((1 << bits) - 1)) as u16
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_cross_bytes() {
        let row = [0xAB, 0xCD, 0xEF];
        assert_eq!(fields(&row, 12, 2).collect::<Vec<_>>(), [0xABC, 0xDEF]);
        assert_eq!(fields(&row, 4, 3).collect::<Vec<_>>(), [0xA, 0xB, 0xC]);
        assert_eq!(fields(&row, 1, 5).collect::<Vec<_>>(), [1, 0, 1, 0, 1]);
        assert_eq!(fields(&row, 15, 1).collect::<Vec<_>>(), [0xABCD >> 1]);
    }
}

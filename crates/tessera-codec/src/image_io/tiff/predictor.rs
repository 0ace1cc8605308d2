//! Horizontal differences summed up.

use crate::image_io::tiff::chunks::Chunk;
use crate::picture::Samples;
use std::num::Wrapping;
use std::ops::Add;

/// Undoes the differences in every row.
pub(super) fn undo(samples: &mut Samples, chunk: &Chunk<'_>) {
    let row = chunk.width * chunk.samples;
    match samples {
        Samples::U8(samples) => sum(samples, row, chunk.samples),
        Samples::U16(samples) => sum(samples, row, chunk.samples),
    }
}

fn sum<T: Copy>(samples: &mut [T], row_len: usize, step: usize)
where
    Wrapping<T>: Add<Output = Wrapping<T>>,
{
    for row in samples.chunks_exact_mut(row_len) {
        for at in step..row.len() {
            row[at] = (Wrapping(row[at]) + Wrapping(row[at - step])).0;
        }
    }
}

//! What a file from a stranger may cost: one object that every allocation and loop asks.

use crate::error::{LimitError, MemoryError, Result};

/// Upper bounds on what decoding a file may use.
///
/// The defaults let a 400-megapixel photograph through and stop a 30-byte file from claiming
/// gigabytes: the number of tiles is bounded by the bytes present, and a tile by `tile_pixels`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pixels of the whole picture.
    pub pixels: u64,
    /// Pixels of one tile, the unit that is held in memory in working form.
    pub tile_pixels: u64,
    /// Bytes of memory for the picture and the tiles in work.
    pub memory: u64,
    /// Decode work as stated by the header, in units that grow with samples and coded bytes.
    pub work: u64,
    /// Bytes of unpacked metadata.
    pub metadata: u64,
    /// Number of metadata chunks.
    pub chunks: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            pixels: 1 << 29,
            tile_pixels: 1 << 24,
            memory: 4 << 30,
            work: 1 << 38,
            metadata: 64 << 20,
            chunks: 256,
        }
    }
}

impl Limits {
    /// No bounds beyond those of the format and of the machine; for files of one's own.
    pub fn none() -> Self {
        Self {
            pixels: u64::MAX,
            tile_pixels: u64::MAX,
            memory: u64::MAX,
            work: u64::MAX,
            metadata: u64::MAX,
            chunks: u64::MAX,
        }
    }
}

/// Compares a demand with its bound.
pub(crate) fn check(resource: &'static str, needed: u64, allowed: u64) -> Result<(), LimitError> {
    if needed > allowed {
        return Err(LimitError {
            resource,
            needed,
            allowed,
        });
    }
    Ok(())
}

/// `vec![fill; len]` that reports a lack of memory instead of aborting.
pub(crate) fn try_filled<T: Clone>(len: usize, fill: T) -> Result<Vec<T>, MemoryError> {
    let mut vec = Vec::new();
    try_reserve(&mut vec, len)?;
    vec.resize(len, fill);
    Ok(vec)
}

/// Makes room for `more` elements, or reports a lack of memory instead of aborting.
pub(crate) fn try_reserve<T>(vec: &mut Vec<T>, more: usize) -> Result<(), MemoryError> {
    vec.try_reserve_exact(more).map_err(|_| MemoryError {
        needed: (more as u64).saturating_mul(size_of::<T>() as u64),
    })
}

/// Asks for memory and gives it back: where many buffers are about to be made, a lack of memory
/// shows here as an error and not there as the end of the process.
pub(crate) fn probe(needed: u64) -> Result<(), MemoryError> {
    let len = usize::try_from(needed).map_err(|_| MemoryError { needed })?;
    try_reserve(&mut Vec::<u8>::new(), len)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absurd_sizes_are_errors() {
        assert!(try_filled(usize::MAX / 4, 0u64).is_err());
        assert!(try_filled(isize::MAX as usize, 0u8).is_err());
        assert_eq!(probe(u64::MAX), Err(MemoryError { needed: u64::MAX }));
        assert_eq!(probe(1 << 20), Ok(()));
    }
}

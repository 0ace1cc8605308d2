//! What a file from a stranger may cost: one object that every allocation and loop asks.

use crate::error::{LimitError, MemoryError, Result};

/// Upper bounds on what decoding a file may use.
///
/// The defaults let a 400-megapixel photograph through, and keep a file of a megabyte below 300 MB and ten seconds whatever
/// it claims: memory and work may grow with the bytes that are there. Large pictures in very few bytes, such as drawings,
/// may need more: decode them in [bands](crate::CodedPicture::bands), or raise the limits for files that you trust.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Pixels of the whole picture.
    pub pixels: u64,
    /// Pixels of one tile, the unit that is held in memory in working form.
    pub tile_pixels: u64,
    /// Bytes of memory for the picture and the tiles in work.
    pub memory: u64,
    /// Those that any file may use; each byte of it allows [`Limits::memory_per_byte`] more, up to [`Limits::memory`].
    pub base_memory: u64,
    /// See [`Limits::base_memory`].
    pub memory_per_byte: u64,
    /// Decode work, in units that grow with samples and coded bytes.
    pub work: u64,
    /// What any file may take; each byte of it allows [`Limits::work_per_byte`] more, up to [`Limits::work`].
    pub base_work: u64,
    /// See [`Limits::base_work`].
    pub work_per_byte: u64,
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
            base_memory: 200 << 20,
            memory_per_byte: 48,
            work: 1 << 38,
            base_work: 1 << 27,
            work_per_byte: 64,
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
            base_memory: u64::MAX,
            memory_per_byte: u64::MAX,
            work: u64::MAX,
            base_work: u64::MAX,
            work_per_byte: u64::MAX,
            metadata: u64::MAX,
            chunks: u64::MAX,
        }
    }

    /// The same with so many bytes of memory for every file, however short it is.
    #[must_use]
    pub fn with_memory(self, bytes: u64) -> Self {
        Self {
            memory: bytes,
            base_memory: bytes,
            ..self
        }
    }

    /// The same with so much work for every file, however short it is.
    #[must_use]
    pub fn with_work(self, units: u64) -> Self {
        Self {
            work: units,
            base_work: units,
            ..self
        }
    }

    /// Bytes of memory that a file of `len` bytes may use.
    pub(crate) fn memory_of(&self, len: usize) -> u64 {
        let more = self.memory_per_byte.saturating_mul(len as u64);
        self.memory.min(self.base_memory.saturating_add(more))
    }

    /// Units of work that a file of `len` bytes may take.
    pub(crate) fn work_of(&self, len: usize) -> u64 {
        let more = self.work_per_byte.saturating_mul(len as u64);
        self.work.min(self.base_work.saturating_add(more))
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

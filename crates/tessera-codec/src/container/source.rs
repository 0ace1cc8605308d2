//! Where the bytes of a file are: in memory, or on disk and read only where needed.

use crate::error::Result;
use crate::limits::try_filled;
use std::borrow::Cow;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// The bytes of a file. Slices and [`StoredFile`]s turn into it by themselves.
#[derive(Debug, Clone, Copy)]
pub enum Source<'a> {
    /// All in memory.
    Memory(&'a [u8]),
    /// On disk.
    Stored(&'a StoredFile),
}

/// A file on disk of which only the parts that are asked for are read.
#[derive(Debug)]
pub struct StoredFile {
    file: Mutex<File>,
    len: usize,
}

impl StoredFile {
    /// Opens a file that can be read at any place; pipes cannot.
    ///
    /// # Errors
    /// When it cannot be opened, or is larger than this machine can address.
    pub fn open(path: &Path) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let len = file.seek(SeekFrom::End(0))?;
        Ok(Self {
            file: Mutex::new(file),
            len: usize::try_from(len).map_err(io::Error::other)?,
        })
    }

    fn read(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = try_filled(range.len(), 0)?;
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(range.start as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl<'a> Source<'a> {
    /// Number of bytes.
    pub fn len(self) -> usize {
        match self {
            Self::Memory(bytes) => bytes.len(),
            Self::Stored(file) => file.len,
        }
    }

    /// True when there is no byte.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The bytes of `range`, which must lie inside.
    pub(super) fn read(self, range: Range<usize>) -> Result<Cow<'a, [u8]>> {
        debug_assert!(range.end <= self.len());
        Ok(match self {
            Self::Memory(bytes) => Cow::Borrowed(&bytes[range]),
            Self::Stored(file) => Cow::Owned(file.read(range)?),
        })
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Memory(bytes)
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self::Memory(bytes)
    }
}

impl<'a> From<&'a StoredFile> for Source<'a> {
    fn from(file: &'a StoredFile) -> Self {
        Self::Stored(file)
    }
}

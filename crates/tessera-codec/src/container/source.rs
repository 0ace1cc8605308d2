//! Where the bytes of a file are: in memory, or on disk and read only where needed.

use crate::error::Result;
use crate::limits::try_filled;
use std::borrow::Cow;
use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// The bytes of a file. Slices and [`StoredFile`]s turn into it by themselves.
#[derive(Debug, Clone)]
pub struct Source<'a>(Place<'a>);

#[derive(Debug, Clone)]
enum Place<'a> {
    Memory(&'a [u8]),
    Borrowed(&'a StoredFile),
    Owned(Arc<StoredFile>),
}

/// A file, on disk or behind any other reader, of which only the parts that are asked for are read.
pub struct StoredFile {
    reader: Mutex<Box<dyn ReadSeek>>,
    len: usize,
}

trait ReadSeek: Read + Seek + Send {}
impl<R: Read + Seek + Send> ReadSeek for R {}

impl fmt::Debug for StoredFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredFile")
            .field("len", &self.len)
            .finish_non_exhaustive()
    }
}

impl StoredFile {
    /// Opens a file that can be read at any place; pipes cannot.
    ///
    /// # Errors
    /// When it cannot be opened, or is larger than this machine can address.
    pub fn open(path: &Path) -> io::Result<Self> {
        Self::new(File::open(path)?)
    }

    /// Any other reader, from its start to its end.
    ///
    /// # Errors
    /// When it cannot be read, or is larger than this machine can address.
    pub fn new(mut reader: impl Read + Seek + Send + 'static) -> io::Result<Self> {
        let len = reader.seek(SeekFrom::End(0))?;
        Ok(Self {
            reader: Mutex::new(Box::new(reader)),
            len: usize::try_from(len).map_err(io::Error::other)?,
        })
    }

    fn read(&self, range: Range<usize>) -> Result<Vec<u8>> {
        let mut bytes = try_filled(range.len(), 0)?;
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        reader.seek(SeekFrom::Start(range.start as u64))?;
        reader.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl<'a> Source<'a> {
    /// Number of bytes.
    pub fn len(&self) -> usize {
        match &self.0 {
            Place::Memory(bytes) => bytes.len(),
            Place::Borrowed(file) => file.len,
            Place::Owned(file) => file.len,
        }
    }

    /// True when there is no byte.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of `range`, which must lie inside.
    pub(super) fn read(&self, range: Range<usize>) -> Result<Cow<'a, [u8]>> {
        debug_assert!(range.end <= self.len());
        Ok(match &self.0 {
            Place::Memory(bytes) => Cow::Borrowed(&bytes[range]),
            Place::Borrowed(file) => Cow::Owned(file.read(range)?),
            Place::Owned(file) => Cow::Owned(file.read(range)?),
        })
    }
}

impl<'a> From<&'a [u8]> for Source<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self(Place::Memory(bytes))
    }
}

impl<'a> From<&'a Vec<u8>> for Source<'a> {
    fn from(bytes: &'a Vec<u8>) -> Self {
        Self(Place::Memory(bytes))
    }
}

impl<'a> From<&'a StoredFile> for Source<'a> {
    fn from(file: &'a StoredFile) -> Self {
        Self(Place::Borrowed(file))
    }
}

impl From<StoredFile> for Source<'static> {
    fn from(file: StoredFile) -> Self {
        Self(Place::Owned(Arc::new(file)))
    }
}

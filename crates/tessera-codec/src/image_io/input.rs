//! Where a picture in a foreign format is: in memory, or in a file that is opened anew for every pass.

use std::borrow::Cow;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Cursor, Read, Seek};
use std::path::Path;

/// A picture in a foreign format. Slices and paths turn into it by themselves.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// All in memory.
    Bytes(&'a [u8]),
    /// In a file that stays where it is.
    Path(&'a Path),
}

/// What the decoders of the formats read from.
pub(super) trait InputReader: BufRead + Seek + Send {}
impl<R: BufRead + Seek + Send> InputReader for R {}

impl<'a> Input<'a> {
    /// A reader at the start.
    pub(super) fn reader(self) -> io::Result<Box<dyn InputReader + 'a>> {
        Ok(match self {
            Self::Bytes(bytes) => Box::new(Cursor::new(bytes)),
            Self::Path(path) => Box::new(BufReader::new(File::open(path)?)),
        })
    }

    /// At most `len` bytes from the start.
    pub(super) fn start(self, len: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.reader()?.take(len).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// All bytes.
    pub(super) fn bytes(self) -> io::Result<Cow<'a, [u8]>> {
        Ok(match self {
            Self::Bytes(bytes) => bytes.into(),
            Self::Path(path) => fs::read(path)?.into(),
        })
    }
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

impl<'a> From<&'a Path> for Input<'a> {
    fn from(path: &'a Path) -> Self {
        Self::Path(path)
    }
}

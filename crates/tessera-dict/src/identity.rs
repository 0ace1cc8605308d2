//! What names a dictionary, and how one is found. STAND-IN until the file format is there:
//! the file is the magic, a version and the identity alone.

use crate::Dictionary;
use std::fmt;
use std::sync::OnceLock;
use thiserror::Error;

/// What names a dictionary inside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DictId {
    /// One of the dictionaries every decoder carries.
    Builtin(u8),
    /// Any other, by the 128-bit hash of its content.
    Hash([u8; 16]),
}

impl fmt::Display for DictId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(number) => write!(f, "builtin:{number}"),
            Self::Hash(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Why a dictionary file was refused.
#[derive(Debug, Error)]
pub enum Error {
    /// Not a dictionary, or damaged.
    #[error("not a dictionary file, or damaged")]
    Corrupt,
    /// Written by a newer version of the format.
    #[error("dictionary format version {0} is newer than this program")]
    UnsupportedVersion(u8),
}

impl Dictionary {
    /// The dictionary every program carries.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Dictionary> = OnceLock::new();
        BUILTIN.get_or_init(Self::untrained)
    }

    /// Reads a dictionary file.
    ///
    /// # Errors
    /// [`Error::Corrupt`] and [`Error::UnsupportedVersion`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        let hash = match bytes {
            [b'T', b'S', b'D', 1, hash @ ..] => hash,
            [b'T', b'S', b'D', version, ..] => return Err(Error::UnsupportedVersion(*version)),
            _ => return Err(Error::Corrupt),
        };
        let hash = hash.try_into().map_err(|_| Error::Corrupt)?;
        Ok(Self {
            identity: DictId::Hash(hash),
            ..Self::untrained()
        })
    }

    /// The name by which files refer to this dictionary.
    pub fn id(&self) -> DictId {
        self.identity
    }
}

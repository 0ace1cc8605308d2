//! What can be wrong with a dictionary file.

/// Why a dictionary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The magic is missing.
    #[error("not a Tessera dictionary (the file does not start with TSD)")]
    NotADictionary,
    /// Written by another version of the format.
    #[error("dictionary format version {0} is not supported (this program reads version {VERSION})", VERSION = crate::format::VERSION)]
    UnsupportedVersion(u8),
    /// The file ends too early.
    #[error("the dictionary is truncated; fetch it again")]
    Truncated,
    /// The file contradicts itself.
    #[error("the dictionary is corrupt: {0}; fetch it again")]
    Corrupt(&'static str),
}

impl From<std::io::Error> for Error {
    fn from(_: std::io::Error) -> Self {
        Self::Truncated
    }
}

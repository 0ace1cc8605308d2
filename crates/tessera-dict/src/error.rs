//! What can be wrong with a dictionary file.

/// Why a dictionary cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The magic is missing.
    #[error("this is no Tessera dictionary (it does not start with TSD); name a .tsd file")]
    NotADictionary,
    /// Another file than that of the built-in dictionary.
    #[error(
        "this is not the file of the built-in dictionary number {0}; take the one that was published with this program"
    )]
    NotBuiltin(u8),
    /// Written by another version of the format.
    #[error("the dictionary has format version {0}, this program reads version {VERSION}: learn it again if it is older, update tessera if it is newer", VERSION = crate::format::VERSION)]
    UnsupportedVersion(u8),
    /// The file ends too early.
    #[error("the dictionary is truncated; get a fresh copy of it")]
    Truncated,
    /// The file contradicts itself.
    #[error("the dictionary is corrupt: {0}; get a fresh copy of it")]
    Corrupt(&'static str),
    /// A difference without what it differs from.
    #[error(
        "the dictionary is a difference from the dictionary {0}, which is not there; put that into the store with `tessera dict install`"
    )]
    MissingBase(crate::DictId),
    /// A difference that does not give what it promises.
    #[error(
        "the difference from dictionary {0} does not give the dictionary it promises: it is damaged, or was made for another base; get a fresh copy of it"
    )]
    WrongBase(crate::DictId),
    /// The parts handed to a builder make no dictionary.
    #[error("the parts make no dictionary: {0}")]
    Unfit(&'static str),
}

impl From<std::io::Error> for Error {
    fn from(_: std::io::Error) -> Self {
        Self::Truncated
    }
}

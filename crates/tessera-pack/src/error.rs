//! What can be wrong with a pack, or with what is put into one.

use tessera_dict::DictId;

/// Why a pack cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The magic is missing.
    #[error("this is no pack of pictures; name a .tsp file")]
    NotAPack,
    /// Written by another version of the format.
    #[error("the pack has format version {0}, this program reads version 1; update tessera")]
    UnsupportedVersion(u8),
    /// The file contradicts itself, or a part of it is missing.
    #[error("the pack is damaged: {0}; get a fresh copy of it")]
    Damaged(&'static str),
    /// No picture has this name.
    #[error("the pack has no picture {0}; `tessera list` tells what it has")]
    NoSuchPicture(String),
    /// A name that is there already.
    #[error("the pack has a picture {0} already")]
    Exists(String),
    /// A name that no pack can have.
    #[error(
        "{0:?} is no name for a picture in a pack: names are paths without `..`, backslashes and control characters"
    )]
    BadName(String),
    /// A picture that was not coded with the dictionary of the pack.
    #[error("the picture was coded with the dictionary {0}, which is not the one in the pack")]
    OtherDictionary(DictId),
    /// A picture that others cannot be predicted from.
    #[error("pictures cannot be predicted from {0}: it is not in the pack, or predicted itself")]
    BadKey(String),
    /// The built-in dictionary is needed and was not loaded.
    #[error("the default dictionary is not loaded, which pictures of a series need")]
    NoBuiltin,
    /// The dictionary in the pack cannot be used.
    #[error("the dictionary in the pack: {0}")]
    Dictionary(#[from] tessera_dict::Error),
    /// A picture cannot be read.
    #[error(transparent)]
    Codec(#[from] tessera_codec::Error),
}

impl From<tessera_codec::FormatError> for Error {
    fn from(error: tessera_codec::FormatError) -> Self {
        Self::Codec(error.into())
    }
}

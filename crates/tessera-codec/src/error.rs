//! Errors, sorted by who can do something about them.

use crate::tile_grid::Rect;
use tessera_dict::DictId;
use thiserror::Error;

/// Everything that can go wrong, by the party at fault.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// Reading or writing failed below the codec.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The file is not what it claims to be.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The picture to encode cannot be read.
    #[error(transparent)]
    Input(Box<dyn std::error::Error + Send + Sync>),
    /// The caller asked for something impossible.
    #[error("{0}")]
    Parameter(String),
    /// The dictionary a file needs is not at hand.
    #[error(transparent)]
    Dictionary(#[from] DictionaryError),
    /// The file asks for more than the receiver allows.
    #[error(transparent)]
    Limits(#[from] LimitError),
    /// The machine has not enough memory.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// No setting of the encoder gives what was asked for.
    #[error(transparent)]
    TargetUnreachable(#[from] TargetUnreachable),
    /// The caller asked to stop, or its time was over.
    #[error("stopped before the picture was done")]
    Cancelled,
}

/// A target that this picture cannot meet, and how close it can get.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum TargetUnreachable {
    /// The smallest possible file is too large.
    #[error(
        "the file cannot be made smaller than {least} bytes, {asked} were asked for; allow more, \
         scale the picture down or drop its metadata"
    )]
    Size {
        /// Bytes that were asked for.
        asked: u64,
        /// Bytes of the smallest file.
        least: u64,
    },
    /// The best possible picture is not good enough.
    #[error("{asked} dB cannot be reached; the best for this picture is {best:.2} dB")]
    Psnr {
        /// Decibels that were asked for.
        asked: f64,
        /// Decibels of the best picture.
        best: f64,
    },
    /// The best possible picture does not score enough.
    #[error("a score of {asked} cannot be reached; the best for this picture is {best:.2}")]
    Score {
        /// What was asked for.
        asked: f64,
        /// What the best picture has.
        best: f64,
    },
}

/// A file that cannot be decoded, and where it went wrong.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FormatError {
    /// The first bytes are not Tessera's.
    #[error("not a Tessera picture (it does not start with the bytes D4 53)")]
    NotTessera,
    /// A version this program does not know.
    #[error("this picture uses format version {0}, newer than this program; update tessera")]
    UnsupportedVersion(u8),
    /// The data ends too early.
    #[error("the file ends inside {part} (at byte {offset}); it is truncated, fetch it again")]
    Truncated {
        /// What was being read.
        part: &'static str,
        /// Where the data ended, counted from the start of the file.
        offset: usize,
    },
    /// A checksum does not match.
    #[error("the checksum of {part} does not match; the file is damaged, fetch it again")]
    Damaged {
        /// What the checksum covers.
        part: &'static str,
    },
    /// A value that the format forbids or reserves.
    #[error("{part}: {reason}; the file is damaged or from a newer encoder")]
    Invalid {
        /// The structure or field.
        part: &'static str,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// One tile is damaged; the others may be intact.
    #[error(
        "tile {index} ({rect}) cannot be decoded: {cause}; a partial decode still gives the \
         intact tiles"
    )]
    Tile {
        /// Number of the tile in raster order.
        index: usize,
        /// The pixels it covers.
        rect: Rect,
        /// What is wrong inside; part of the message, so not reported as a source again.
        cause: Box<FormatError>,
    },
}

impl FormatError {
    /// Short form for the many checks of the readers.
    pub(crate) fn invalid(part: &'static str, reason: &'static str) -> Self {
        Self::Invalid { part, reason }
    }
}

/// Why the dictionary of a file cannot be used: four cases, four remedies.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DictionaryError {
    /// Nobody has it.
    #[error("this picture needs the dictionary {id}, which is not here")]
    Missing {
        /// Its identity.
        id: DictId,
    },
    /// Several of those offered have the short name that the picture uses.
    #[error(
        "this picture names its dictionary by {id} alone, and several that were offered start \
         like this; offer only the right one"
    )]
    Ambiguous {
        /// The short name.
        id: DictId,
    },
    /// A built-in dictionary of a newer program.
    #[error(
        "this picture needs the built-in dictionary number {0}, which this program does not \
         carry; update tessera"
    )]
    UnknownBuiltin(u8),
    /// Another one was given.
    #[error(
        "this picture needs the dictionary {needed}, but the one given is {given}; pass the one \
         it was encoded with"
    )]
    Mismatch {
        /// What the file asks for.
        needed: DictId,
        /// What was offered.
        given: DictId,
    },
    /// The dictionary file itself is damaged.
    #[error("{0}")]
    Corrupt(tessera_dict::Error),
    /// A reference picture inside the dictionary is no valid picture.
    #[error(
        "reference picture {index} of the dictionary cannot be used ({reason}); get a fresh copy of \
         the dictionary file"
    )]
    Reference {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        reason: String,
    },
    /// The dictionary file is of another version of the format.
    #[error("{}", tessera_dict::Error::UnsupportedVersion(*.0))]
    UnsupportedVersion(u8),
}

impl From<tessera_dict::Error> for DictionaryError {
    fn from(error: tessera_dict::Error) -> Self {
        match error {
            tessera_dict::Error::UnsupportedVersion(version) => Self::UnsupportedVersion(version),
            other => Self::Corrupt(other),
        }
    }
}

/// A resource the file wants more of than [`Limits`](crate::Limits) allow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "decoding needs {needed} {resource}, above the limit of {allowed}; raise the limit if you \
     trust the file"
)]
pub struct LimitError {
    /// What is limited, in plural ("pixels").
    pub resource: &'static str,
    /// How much the file asks for.
    pub needed: u64,
    /// How much it may have.
    pub allowed: u64,
}

/// An allocation that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "{needed} bytes of memory are needed and cannot be had; use fewer threads or a machine \
     with more memory"
)]
pub struct MemoryError {
    /// Bytes that were asked for.
    pub needed: u64,
}

/// Shorthand of this crate.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

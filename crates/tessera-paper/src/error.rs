//! What can go wrong while an experiment of the paper runs, told so that the reader can act on it.

use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Failure of an experiment.
#[derive(Debug, Error)]
pub enum PaperError {
    /// A data file is not where the experiment looks for it.
    #[error("data file {} not found: {hint}", .path.display())]
    Missing {
        /// The file that was looked for first.
        path: PathBuf,
        /// What the user can do about it.
        hint: String,
    },
    /// A data file exists but cannot be read.
    #[error("cannot read data file {}: {source}", .path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        source: io::Error,
    },
    /// A data file exists but its content is not what its name promises.
    #[error("data file {} is damaged or of the wrong kind: {reason}; fetch it again", .path.display())]
    Garbled {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with a line number where there is one.
        reason: String,
    },
    /// The user asked for a set the experiment does not have.
    #[error("unknown {option} '{name}': this experiment knows {known}")]
    UnknownSet {
        /// "image" or "set".
        option: &'static str,
        /// The name given.
        name: String,
        /// The names that exist, separated by commas.
        known: String,
    },
    /// The user named a picture for an experiment without pictures.
    #[error("{} has no test pictures: use --set instead of --image {name}", .experiment.name())]
    NotAnImage {
        /// The experiment.
        experiment: crate::Experiment,
        /// The name given.
        name: String,
    },
    /// Learning or coding failed.
    #[error("cannot learn from {set}: {source}")]
    Learning {
        /// The set it ran on.
        set: String,
        /// The library's reason.
        source: batchsvd::Error,
    },
    /// A mosaic could not be drawn.
    #[error(transparent)]
    Mosaic(#[from] tessera_eval::mosaic::MosaicError),
}

impl PaperError {
    /// The error for a file that was read but makes no sense.
    pub(crate) fn garbled(path: &Path, reason: impl ToString) -> Self {
        Self::Garbled {
            path: path.to_owned(),
            reason: reason.to_string(),
        }
    }

    /// The error for a file the operating system refused.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        Self::Io {
            path: path.to_owned(),
            source,
        }
    }
}

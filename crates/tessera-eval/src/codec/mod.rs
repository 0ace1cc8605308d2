//! Codecs under test: one trait, the built-in peers, installed tools and external commands.

#[cfg(feature = "avif")]
mod avif;
mod external;
mod installed;
mod jpeg;
mod registry;
mod tessera;
mod webp;

pub use external::{External, ExternalSpec};
pub use installed::{Installed, installed_tools};
pub use registry::{Registry, RegistryEntry};
pub use tessera::Tessera;
pub use webp::lossless as webp_lossless;

use crate::image8::{Image8, Image8Error, first_u32};
use crate::timing::Timed;
use std::fmt;
use std::io;
use thiserror::Error;

/// Why a codec could not be made or did not do its work.
#[derive(Debug, Error)]
pub enum CodecError {
    /// The quality is not one this codec knows.
    #[error("quality '{quality}': {expected} expected")]
    Quality {
        /// As given.
        quality: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// No codec has this name.
    #[error("no codec is called '{name}'; there are {known}")]
    Unknown {
        /// As given.
        name: String,
        /// What there is.
        known: String,
    },
    /// AVIF is neither built in nor installed.
    #[error(
        "this build has no AVIF encoder and avifenc is not installed: install avifenc and avifdec \
         (libavif's tools), or build Tessera with `--features avif`"
    )]
    NoAvif,
    /// The definition of an external codec is malformed.
    #[error("external codec '{name}': {reason}")]
    Definition {
        /// The codec's name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The encoder or decoder refused.
    #[error("{0}")]
    Failed(String),
    /// A command could not be started, or its files not be handled.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// What came out is no picture.
    #[error(transparent)]
    Picture(#[from] Image8Error),
}

/// A codec's quality setting, exactly as written: commands get it verbatim.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Quality(String);

impl Quality {
    /// A setting as text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// A setting as a number, written in the shortest form.
    #[must_use]
    pub fn number(value: f64) -> Self {
        Self(value.to_string())
    }

    /// The setting as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The setting as a number, if it is one.
    #[must_use]
    pub fn value(&self) -> Option<f64> {
        self.0.parse().ok()
    }

    /// The setting as a number inside a range.
    ///
    /// # Errors
    /// [`CodecError::Quality`] with `expected` as its text.
    pub fn within(&self, low: f64, high: f64, expected: &'static str) -> Result<f64, CodecError> {
        let value = self.value().filter(|v| (low..=high).contains(v));
        value.ok_or_else(|| CodecError::Quality {
            quality: self.0.clone(),
            expected,
        })
    }

    /// A ladder from a comma list.
    #[must_use]
    pub fn list(text: &str) -> Vec<Self> {
        let items = text.split(',').map(str::trim).filter(|q| !q.is_empty());
        items.map(Self::new).collect()
    }
}

impl fmt::Display for Quality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Numeric settings between ladder steps, for hitting a given file size.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Setting of the smallest files.
    pub smallest: f64,
    /// Setting of the largest files; may be the lower number.
    pub largest: f64,
    /// Finest useful difference.
    pub step: f64,
}

/// A still-image codec under test.
///
/// An in-process codec works on the calling thread: each job calls it inside a rayon pool of one
/// thread, so that parallel iterators stay there too and the thread's CPU clock sees all of it.
pub trait Codec: Send + Sync {
    /// Short name: the key of points, tables and command lines.
    fn name(&self) -> &str;

    /// Name and version of the software.
    fn version(&self) -> String;

    /// Everything besides the quality that a repetition must set.
    fn settings(&self) -> String;

    /// The qualities to measure unless the user names others.
    fn ladder(&self) -> Vec<Quality>;

    /// Whether encoder and decoder are known to use one thread only.
    fn single_threaded(&self) -> bool {
        true
    }

    /// How to tune the size between ladder steps, if the quality is a plain number.
    fn tuning(&self) -> Option<Tuning> {
        None
    }

    /// Encodes to a complete file.
    ///
    /// # Errors
    /// [`CodecError`], reported per point; a run goes on without it.
    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError>;

    /// Decodes what [`Codec::encode`] wrote.
    ///
    /// # Errors
    /// As for [`Codec::encode`].
    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError>;

    /// A number that changes with name, version or settings: the key of what may be reused.
    fn setup(&self) -> u32 {
        let text = format!("{}\n{}\n{}", self.name(), self.version(), self.settings());
        first_u32(&blake3::hash(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qualities_stay_as_written() {
        let list = Quality::list("0.50, 7,,best");
        let texts: Vec<&str> = list.iter().map(Quality::as_str).collect();
        assert_eq!(texts, ["0.50", "7", "best"]);
        assert_eq!((list[0].value(), list[2].value()), (Some(0.5), None));
        assert_eq!(Quality::number(75.0).as_str(), "75");
    }

    #[test]
    fn qualities_outside_the_range_are_refused() {
        let error = Quality::new("101").within(1.0, 100.0, "1 to 100");
        assert_eq!(
            error.unwrap_err().to_string(),
            "quality '101': 1 to 100 expected"
        );
    }
}

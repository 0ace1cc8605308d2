//! The one error of this crate: a sentence.

use std::fmt;

/// Why a file was refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error(String);

pub(crate) type Result<T> = std::result::Result<T, Error>;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Error {}

/// Refuses for the reason given.
pub(crate) fn refuse<T>(why: impl Into<String>) -> Result<T> {
    Err(Error(why.into()))
}

/// Refuses unless the condition holds.
pub(crate) fn ensure(holds: bool, why: &str) -> Result<()> {
    if holds { Ok(()) } else { refuse(why) }
}

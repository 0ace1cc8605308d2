//! What JavaScript gets to know of an error: a number for programs, a sentence for people.

use std::io::ErrorKind;
use tessera_codec::{Error, FormatError};

/// Who can do something about it. The first five are the exit codes of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Other = 1,
    Parameter = 2,
    Format = 3,
    Dictionary = 4,
    Limits = 5,
    /// More of the file is needed.
    Incomplete = 6,
    Memory = 7,
}

/// A call that did not work out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub(crate) cause: Cause,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(cause: Cause, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { cause, message }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let cause = match &error {
            Error::Io(io) if io.kind() == ErrorKind::UnexpectedEof => Cause::Incomplete,
            Error::Format(FormatError::Truncated { .. }) => Cause::Incomplete,
            Error::Format(_) => Cause::Format,
            Error::Parameter(_) | Error::TargetUnreachable(_) => Cause::Parameter,
            Error::Dictionary(_) => Cause::Dictionary,
            Error::Limits(_) => Cause::Limits,
            Error::Memory(_) => Cause::Memory,
            _ => Cause::Other,
        };
        Self::new(cause, error.to_string())
    }
}

/// Shorthand of this crate.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

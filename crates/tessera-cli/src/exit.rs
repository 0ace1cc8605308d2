//! Exit codes, stable so that scripts can rely on them, and how errors are told.

use tessera_codec::image_io::{ReadImageError, WriteImageError};
use tessera_codec::{DictionaryError, Error, FormatError};
use tessera_paper::PaperError;
use thiserror::Error as ThisError;

const FAILURE: u8 = 1;
const USAGE: u8 = 2;
pub(crate) const DAMAGED: u8 = 3;
pub(crate) const DICTIONARY: u8 = 4;
pub(crate) const LIMITS: u8 = 5;
pub(crate) const INCOMPLETE: u8 = 6;

/// Every exit code and its meaning, as in the manual.
pub const CODES: &[(u8, &str)] = &[
    (0, "success"),
    (
        FAILURE,
        "reading or writing failed, or anything not listed here",
    ),
    (
        USAGE,
        "wrong usage: an option or a parameter out of range, an output that exists",
    ),
    (
        DAMAGED,
        "the input is damaged, not a picture, or one that cannot be encoded",
    ),
    (
        DICTIONARY,
        "the dictionary is missing, the wrong one, damaged or too new",
    ),
    (
        LIMITS,
        "the file asks for more than the limits or the memory allow",
    ),
    (
        INCOMPLETE,
        "incomplete: some tiles, or some files of many, could not be processed",
    ),
];

/// The exit codes as the end of `--help`.
pub(crate) fn help() -> String {
    let lines = CODES
        .iter()
        .map(|(code, meaning)| format!("  {code}  {meaning}\n"));
    format!("Exit codes:\n{}", lines.collect::<String>())
}

/// What went wrong, from the outside in, and which option helps. A cause that is told already is not told again: some
/// errors repeat theirs.
pub fn message(error: &anyhow::Error) -> String {
    let mut message = causes(error);
    let hint = error.chain().find_map(|cause| hint(cause.downcast_ref()?));
    if let Some(hint) = hint {
        message = format!("{message}; {hint}");
    }
    message
}

/// The option of the command that helps with an error of the library, which knows of no options.
fn hint(error: &Error) -> Option<&'static str> {
    match error {
        Error::Dictionary(DictionaryError::Missing { .. }) => {
            Some("pass it with --dict FILE or put it in a folder named by TESSERA_DICT_PATH")
        }
        Error::Format(FormatError::Tile { .. }) => Some("--partial decodes them"),
        Error::Memory(_) => Some("--threads sets their number"),
        _ => None,
    }
}

fn causes(error: &anyhow::Error) -> String {
    let mut message = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if message.is_empty() {
            message = cause;
        } else if !message.contains(&cause) {
            message = format!("{message}: {cause}");
        }
    }
    message
}

/// A mistake in how the command was called that only shows when it runs.
#[derive(Debug, ThisError)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// A picture that another process could not read; it has worded and judged it already.
#[derive(Debug, ThisError)]
#[error("{message}")]
pub(crate) struct Refused {
    pub(crate) code: u8,
    pub(crate) message: String,
}

/// Something was written, but not everything.
#[derive(Debug, ThisError)]
#[error("{0}")]
pub(crate) struct Incomplete(pub(crate) String);

/// What was told already, with the exit code it deserves.
#[derive(Debug, ThisError)]
#[error("{message}")]
pub(crate) struct Told {
    pub(crate) code: u8,
    pub(crate) message: String,
}

/// There is no dictionary of the name given.
#[derive(Debug, ThisError)]
#[error("{0}")]
pub(crate) struct NoDictionary(pub(crate) String);

/// The exit code for an error, by the first cause in its chain that has one.
pub fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of).unwrap_or(FAILURE)
}

fn code_of(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(code_of_codec(error));
    }
    if let Some(error) = cause.downcast_ref::<tessera_pack::Error>() {
        return code_of_pack(error);
    }
    if cause.is::<tessera_dict::store::StoreError>() {
        return Some(DICTIONARY);
    }
    if let Some(error) = cause.downcast_ref::<ReadImageError>() {
        return Some(code_of_read(error));
    }
    if let Some(error) = cause.downcast_ref::<PaperError>() {
        return code_of_paper(error);
    }
    if let Some(error) = cause.downcast_ref::<WriteImageError>() {
        return Some(code_of_write(error));
    }
    if let Some(refused) = cause.downcast_ref::<Refused>() {
        return Some(refused.code);
    }
    if cause.is::<Usage>() {
        return Some(USAGE);
    }
    if let Some(told) = cause.downcast_ref::<Told>() {
        return Some(told.code);
    }
    if cause.is::<NoDictionary>() {
        return Some(DICTIONARY);
    }
    cause.is::<Incomplete>().then_some(INCOMPLETE)
}

fn code_of_paper(error: &PaperError) -> Option<u8> {
    match error {
        PaperError::UnknownSet { .. } | PaperError::NotAnImage { .. } => Some(USAGE),
        PaperError::Garbled { .. } => Some(DAMAGED),
        _ => None,
    }
}

fn code_of_read(error: &ReadImageError) -> u8 {
    match error {
        ReadImageError::Codec(error) => code_of_codec(error),
        ReadImageError::Io(_) => FAILURE,
        ReadImageError::TooLarge => LIMITS,
        ReadImageError::NoSuchPage { .. } => USAGE,
        _ => DAMAGED,
    }
}

fn code_of_write(error: &WriteImageError) -> u8 {
    match error {
        WriteImageError::Transparency(_) | WriteImageError::UnknownFormat(_) => USAGE,
        WriteImageError::Codec(error) => code_of_codec(error),
        _ => FAILURE,
    }
}

fn code_of_pack(error: &tessera_pack::Error) -> Option<u8> {
    use tessera_pack::Error as Pack;
    match error {
        Pack::Io(_) => None,
        Pack::NotAPack | Pack::UnsupportedVersion(_) | Pack::Damaged(_) => Some(DAMAGED),
        Pack::NoSuchPicture(_) | Pack::Exists(_) | Pack::BadName(_) | Pack::BadKey(_) => {
            Some(USAGE)
        }
        Pack::OtherDictionary(_) | Pack::Dictionary(_) | Pack::NoBuiltin => Some(DICTIONARY),
        Pack::Codec(error) => Some(code_of_codec(error)),
    }
}

fn code_of_codec(error: &Error) -> u8 {
    match error {
        Error::Parameter(_) | Error::TargetUnreachable(_) => USAGE,
        Error::Input(cause) => cause.downcast_ref().map_or(DAMAGED, code_of_read),
        Error::Format(_) => DAMAGED,
        Error::Dictionary(_) => DICTIONARY,
        Error::Limits(_) | Error::Memory(_) => LIMITS,
        _ => FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use anyhow::anyhow;

    #[test]
    fn causes_are_told_once() {
        let repeated = anyhow!("disk on fire")
            .context("cannot write a.png (disk on fire)")
            .context("a.tsr");
        assert_eq!(
            message(&repeated),
            "a.tsr: cannot write a.png (disk on fire)"
        );
        let plain = anyhow!("no space").context("cannot write a.png");
        assert_eq!(message(&plain), "cannot write a.png: no space");
    }
}

//! Exit codes, stable so that scripts can rely on them.
//!
//! | code | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | reading or writing failed, or anything not listed here |
//! | 2 | wrong usage: an option or a parameter out of range, an output that exists |
//! | 3 | the input is damaged or not a picture |
//! | 4 | the dictionary is missing, the wrong one, damaged or too new |
//! | 5 | the file asks for more than the limits allow |
//! | 6 | incomplete: some tiles or some files of many could not be processed |

use tessera_codec::Error;
use tessera_codec::image_io::{ReadImageError, WriteImageError};
use tessera_eval::paper::PaperError;
use thiserror::Error as ThisError;

const FAILURE: u8 = 1;
const USAGE: u8 = 2;
const DAMAGED: u8 = 3;
const DICTIONARY: u8 = 4;
const LIMITS: u8 = 5;
const INCOMPLETE: u8 = 6;

/// A mistake in how the command was called that only shows when it runs.
#[derive(Debug, ThisError)]
#[error("{0}")]
pub(crate) struct Usage(pub(crate) String);

/// Something was written, but not everything.
#[derive(Debug, ThisError)]
#[error("{0}")]
pub(crate) struct Incomplete(pub(crate) String);

/// The exit code for an error, by the first cause in its chain that has one.
pub fn code(error: &anyhow::Error) -> u8 {
    error.chain().find_map(code_of).unwrap_or(FAILURE)
}

fn code_of(cause: &(dyn std::error::Error + 'static)) -> Option<u8> {
    if let Some(error) = cause.downcast_ref::<Error>() {
        return Some(code_of_codec(error));
    }
    if let Some(error) = cause.downcast_ref::<ReadImageError>() {
        return Some(match error {
            ReadImageError::Codec(error) => code_of_codec(error),
            _ => DAMAGED,
        });
    }
    if let Some(error) = cause.downcast_ref::<PaperError>() {
        return code_of_paper(error);
    }
    if cause.is::<Usage>() || cause.is::<WriteImageError>() {
        return Some(USAGE);
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

fn code_of_codec(error: &Error) -> u8 {
    match error {
        Error::Parameter(_) => USAGE,
        Error::Format(_) => DAMAGED,
        Error::Dictionary(_) => DICTIONARY,
        Error::Limits(_) => LIMITS,
        _ => FAILURE,
    }
}

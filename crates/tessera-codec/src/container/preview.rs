//! The small picture in front of the large one (`spec/container.md`, "Preview"): a whole file of its own.

use crate::container::header::Header;
use crate::error::{Error, FormatError};
use tessera_dict::DictId;
use tessera_patch::colour::BitDepth;

/// Pixels on a side of a preview.
pub const MAX_PREVIEW_SIDE: u32 = 256;

/// What a preview is called in errors.
pub(super) const PART: &str = "the preview";

/// Checks that a file with the header `preview` may stand in front of the picture of `header`. Whoever can read that
/// picture can show its preview then, without a dictionary that has to be found first.
pub(super) fn check(preview: &Header, header: &Header) -> Result<(), FormatError> {
    let (own, whole) = (preview.format, header.format);
    let reason = match preview {
        Header { width, height, .. } if (*width).max(*height) > MAX_PREVIEW_SIDE => {
            "it has more than 256 pixels on a side"
        }
        _ if own.depth != BitDepth::Eight => "its samples have more than 8 bits",
        _ if (own.colour, own.alpha) != (whole.colour, whole.alpha) => {
            "it has other channels than the picture"
        }
        _ if preview.grid().count() != 1 => "it has several tiles",
        _ if preview.preview_len + preview.metadata_len > 0 => {
            "it has a preview or metadata of its own"
        }
        _ if !matches!(preview.dictionary, DictId::Builtin(_)) => "it has a learned dictionary",
        _ => return Ok(()),
    };
    Err(FormatError::invalid(PART, reason))
}

/// What is said of an error inside a preview.
pub(super) fn error(error: Error) -> Error {
    match error {
        Error::Format(FormatError::Invalid { reason, .. }) => {
            FormatError::invalid(PART, reason).into()
        }
        Error::Format(_) => FormatError::Damaged { part: PART }.into(),
        other => other,
    }
}

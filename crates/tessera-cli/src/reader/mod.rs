//! Reading pictures of other formats, so that one bad file costs one file.
//!
//! Decoders that others wrote may panic, loop, exhaust memory or overflow the stack. PNG and PNM
//! come row by row from decoders that are bounded by themselves and stay in this process, because
//! such pictures may be larger than memory. Everything else is read by a second `tessera` with
//! limits on memory and processor time; whatever happens to it, this one goes on.

mod child;
mod wire;

pub use child::serve;

use crate::exit::Refused;
use crate::files::Input;
use anyhow::Result;
use child::Child;
use std::path::PathBuf;
use std::sync::OnceLock;
use tessera_codec::WholePicture;
use tessera_codec::image_io::{OpenedPicture, ReadOptions, open_picture_with};

/// The program to start for reading; not set when this library runs inside another program.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Has pictures read by a second process from now on. Only for programs that begin by calling
/// [`serve`].
pub fn isolate() {
    if let Ok(program) = std::env::current_exe() {
        PROGRAM.get_or_init(|| program);
    }
}

/// Opens a picture in any readable format.
pub(crate) fn open<'a>(input: &'a Input<'_>, options: ReadOptions) -> Result<OpenedPicture<'a>> {
    let picture = input.picture();
    let by_rows = picture.is_read_by_rows()?;
    match PROGRAM.get() {
        Some(program) if !by_rows => {
            let Ok(child) = Child::start(program, input, options) else {
                // No second process to be had: still better than not reading at all.
                return Ok(open_picture_with(picture, options)?);
            };
            let (picture, warnings) = child.answer(input)?;
            Ok(OpenedPicture {
                source: Box::new(WholePicture::from(picture)),
                warnings,
            })
        }
        _ => Ok(open_picture_with(picture, options)?),
    }
}

/// A refusal that was worded elsewhere.
fn refused(code: u8, message: impl Into<String>) -> anyhow::Error {
    let message = message.into();
    Refused { code, message }.into()
}

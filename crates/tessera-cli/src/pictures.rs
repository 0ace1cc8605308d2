//! Pictures in any format we read, our own included.

use crate::dictionaries;
use crate::files::read_input;
use anyhow::{Context, Result};
use std::path::Path;
use tessera_codec::image_io::read_picture;
use tessera_codec::{Decoder, Error, FormatError, Picture, Source};

/// Reads a .tsr file or a picture in another format, whatever its name says.
///
/// # Errors
/// When it cannot be read or is damaged, or its dictionary is not here; the path is named.
pub(crate) fn read(path: &Path, dictionary: Option<&Path>) -> Result<Picture> {
    let file = read_input(path)?;
    of_bytes(&file, dictionary).with_context(|| path.display().to_string())
}

fn of_bytes(file: &[u8], dictionary: Option<&Path>) -> Result<Picture> {
    match Decoder::new().parse(file) {
        Err(Error::Format(FormatError::NotTessera)) => Ok(read_picture(file)?),
        Err(error) => Err(error.into()),
        Ok(_) => Ok(decoder_of(file.into(), Decoder::new(), dictionary)?.decode(file)?),
    }
}

/// A decoder with the dictionary that `file` needs: the one named, or the one of the store.
///
/// # Errors
/// When there is none, or the header is damaged.
pub(crate) fn decoder_of(
    file: Source<'_>,
    decoder: Decoder,
    dictionary: Option<&Path>,
) -> Result<Decoder> {
    let found = match dictionary {
        Some(spec) => Some(dictionaries::load(spec)?),
        None => dictionaries::find(decoder.parse(file)?.header().dictionary)?,
    };
    Ok(match found {
        Some(dictionary) => decoder.dictionary(dictionary),
        None => decoder,
    })
}

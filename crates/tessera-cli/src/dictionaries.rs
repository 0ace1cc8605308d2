//! Where dictionaries come from: a file named on the command line, or the store, searched by identity.

use crate::exit::NoDictionary;
use crate::files::{is_standard_stream, read_input};
use anyhow::{Context, Result, anyhow};
use std::path::{Path, PathBuf};
use tessera_codec::{DictionaryError, Error};
use tessera_dict::store::Store;
use tessera_dict::{DictId, Dictionary};

/// The name of the built-in dictionary on the command line.
pub(crate) const DEFAULT: &str = "default";
/// Fewest digits that stand for an identity.
const FEWEST_DIGITS: usize = 6;

/// The dictionary meant by `--dict`: `default`, the path of a file, or (the start of) an identity.
pub(crate) fn load(spec: &Path) -> Result<Dictionary> {
    if spec.as_os_str() == DEFAULT && !spec.exists() {
        return Ok(Dictionary::builtin().clone());
    }
    read(&locate(spec)?)
}

/// The file meant by a path or by (the start of) an identity.
///
/// # Errors
/// [`NoDictionary`] if there is none.
pub(crate) fn locate(spec: &Path) -> Result<PathBuf> {
    let path = stored(spec).unwrap_or_else(|| spec.to_path_buf());
    let what = match (path.is_dir(), path.exists() || is_standard_stream(&path)) {
        (true, _) => "is a folder; name a .tsd file in it".to_owned(),
        (_, true) => return Ok(path),
        _ => format!(
            "is neither a file nor the start of an identity in {}; `tessera dict list` tells what is there",
            Store::open().places()
        ),
    };
    Err(NoDictionary(format!("the dictionary {} {what}", spec.display())).into())
}

/// The file in the store that (the start of) an identity stands for.
fn stored(spec: &Path) -> Option<PathBuf> {
    let digits = spec.to_str().filter(|text| {
        text.len() >= FEWEST_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
    });
    let digits = digits.filter(|_| !spec.exists())?;
    Store::open().find(&digits.to_ascii_lowercase())
}

/// Looks for the dictionary a file needs; `None` for the built-in ones.
///
/// # Errors
/// If it is nowhere: which one, and where it was looked for.
pub(crate) fn find(id: DictId) -> Result<Option<Dictionary>> {
    if matches!(id, DictId::Builtin(_)) {
        return Ok(None);
    }
    let store = Store::open();
    match store.find_named(id)? {
        Some(path) => read(&path).map(Some),
        None => Err(anyhow!(Error::from(DictionaryError::Missing { id }))
            .context(format!("looked in {}", store.places()))),
    }
}

fn read(path: &Path) -> Result<Dictionary> {
    let bytes = read_input(path).context("cannot load the dictionary")?;
    parse(path, &bytes)
}

/// Reads and checks all of a dictionary file.
///
/// # Errors
/// If it is no dictionary, damaged or of another version.
pub(crate) fn parse(path: &Path, bytes: &[u8]) -> Result<Dictionary> {
    (Store::open().parse(bytes))
        .map_err(|error| Error::from(DictionaryError::from(error)))
        .with_context(|| path.display().to_string())
}

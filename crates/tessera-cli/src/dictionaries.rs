//! Where dictionaries come from: a file named on the command line, or a folder searched by
//! identity.

use crate::files::read_input;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tessera_codec::{DictionaryError, Error};
use tessera_dict::{DictId, Dictionary};

/// Folders with dictionaries, separated as in `PATH`.
const SEARCH_PATH: &str = "TESSERA_DICT_PATH";

/// Extension of dictionary files.
const EXTENSION: &str = "tsd";

/// The dictionary meant by `--dict`: the path of a file, or an identity as printed by `info`.
pub(crate) fn load(spec: &Path) -> Result<Arc<Dictionary>> {
    if spec.exists() {
        return read(spec);
    }
    match spec.to_str().and_then(find_by_name) {
        Some(path) => read(&path),
        None => read(spec),
    }
}

/// Looks for the dictionary a file needs; `None` for the built-in one and when it is not found.
pub(crate) fn find(id: DictId) -> Result<Option<Arc<Dictionary>>> {
    match id {
        DictId::Builtin(_) => Ok(None),
        DictId::Hash(_) => find_by_name(&id.to_string()).map(|p| read(&p)).transpose(),
    }
}

fn read(path: &Path) -> Result<Arc<Dictionary>> {
    let bytes = read_input(path).context("cannot load the dictionary")?;
    let dictionary = Dictionary::from_bytes(&bytes)
        .map_err(|error| Error::from(DictionaryError::from(error)))
        .with_context(|| path.display().to_string())?;
    Ok(Arc::new(dictionary))
}

fn find_by_name(identity: &str) -> Option<PathBuf> {
    let folders = std::env::var_os(SEARCH_PATH)?;
    std::env::split_paths(&folders)
        .map(|folder| folder.join(identity).with_extension(EXTENSION))
        .find(|path| path.is_file())
}

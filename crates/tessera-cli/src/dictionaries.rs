//! Where dictionaries come from: a file named on the command line, or the store, searched by identity.
//!
//! The store is every `.tsd` file, whatever its name, in the folders of `TESSERA_DICT_PATH` and in the user's data
//! folder. A file counts as a dictionary by the hash of its content alone.

use crate::exit::NoDictionary;
use crate::files::{is_standard_stream, read_input};
use anyhow::{Context, Result, anyhow};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use tessera_codec::{DictionaryError, Error};
use tessera_dict::{DictId, Dictionary};

/// Folders with dictionaries, separated as in `PATH`.
const SEARCH_PATH: &str = "TESSERA_DICT_PATH";
/// Extension of dictionary files.
pub(crate) const EXTENSION: &str = "tsd";
/// The name of the built-in dictionary on the command line.
pub(crate) const DEFAULT: &str = "default";
/// Fewest digits that stand for an identity.
const FEWEST_DIGITS: usize = 6;

/// The folders that are searched, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Store {
    folders: Vec<PathBuf>,
}

impl Store {
    /// The folders of this user.
    pub(crate) fn open() -> Self {
        Self::from_environment(|name| std::env::var_os(name))
    }

    fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let named = variable(SEARCH_PATH).unwrap_or_default();
        let folders = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
        Self {
            folders: folders.chain(user_folder(variable)).collect(),
        }
    }

    /// The folders that are searched, for messages.
    pub(crate) fn places(&self) -> String {
        let places: Vec<String> = (self.folders.iter())
            .map(|folder| folder.display().to_string())
            .collect();
        match places.is_empty() {
            true => "no folder (neither TESSERA_DICT_PATH nor a home folder is set)".into(),
            false => places.join(", "),
        }
    }

    /// All dictionary files with the identity of their content, in the order they are searched.
    pub(crate) fn files(&self) -> Vec<(PathBuf, DictId)> {
        let mut found = Vec::new();
        for folder in &self.folders {
            let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
            let mut paths: Vec<PathBuf> = entries
                .map(|entry| entry.path())
                .filter(|path| path.extension().is_some_and(|ending| ending == EXTENSION))
                .collect();
            paths.sort();
            // A file that cannot be read is not in the store; the next folder may have a copy.
            let identified = paths.into_iter().filter_map(|path| {
                let id = DictId::of(&std::fs::read(&path).ok()?);
                Some((path, id))
            });
            found.extend(identified);
        }
        found
    }

    /// The file whose content has the identity that starts with `digits`.
    fn find(&self, digits: &str) -> Option<PathBuf> {
        let matches = |(_, id): &(PathBuf, DictId)| id.to_string().starts_with(digits);
        Some(self.files().into_iter().find(matches)?.0)
    }
}

/// Where `dict install` puts dictionaries.
pub(crate) fn install_folder() -> Option<PathBuf> {
    user_folder(|name| std::env::var_os(name))
}

/// The user's data folder by the conventions of the system.
fn user_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let folder = |name: &str| {
        variable(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let data = if cfg!(windows) {
        folder("APPDATA")
    } else if cfg!(target_os = "macos") {
        folder("HOME").map(|home| home.join("Library/Application Support"))
    } else {
        folder("XDG_DATA_HOME").or_else(|| folder("HOME").map(|home| home.join(".local/share")))
    };
    data.map(|data| data.join("tessera"))
}

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
    match store.find(&id.to_string()) {
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
    Dictionary::from_bytes(bytes)
        .map_err(|error| Error::from(DictionaryError::from(error)))
        .with_context(|| path.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store_of(variables: &[(&str, &Path)]) -> Store {
        Store::from_environment(|name| {
            let found = variables.iter().find(|(own, _)| *own == name);
            found.map(|(_, value)| value.as_os_str().to_owned())
        })
    }

    #[test]
    fn files_are_found_by_content_whatever_their_name() {
        let folder = tempfile::tempdir().unwrap();
        let bytes = Dictionary::untrained().to_bytes();
        std::fs::write(folder.path().join("cats.tsd"), &bytes).unwrap();
        std::fs::write(folder.path().join("note.txt"), b"no dictionary").unwrap();
        let store = store_of(&[(SEARCH_PATH, folder.path())]);
        assert_eq!(store.files().len(), 1);
        let id = DictId::of(&bytes).to_string();
        assert_eq!(store.find(&id), Some(folder.path().join("cats.tsd")));
        assert_eq!(store.find("0000000000"), None);
    }

    #[test]
    fn a_file_with_the_right_name_and_the_wrong_content_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let id = DictId::of(b"TSD and so on");
        std::fs::write(folder.path().join(format!("{id}.tsd")), b"something else").unwrap();
        let store = store_of(&[(SEARCH_PATH, folder.path())]);
        assert_eq!(store.find(&id.to_string()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_data_folder_follows_the_conventions() {
        let home = store_of(&[("HOME", Path::new("/home/me"))]);
        assert_eq!(home.places(), "/home/me/.local/share/tessera");
        let xdg = [
            ("XDG_DATA_HOME", Path::new("/data")),
            ("HOME", Path::new("/h")),
        ];
        assert_eq!(store_of(&xdg).places(), "/data/tessera");
        assert!(store_of(&[]).places().contains("no folder"));
    }
}

//! Where dictionaries lie on this machine, so that every program finds the same ones.
//!
//! The store is every `.tsd` file, whatever its name, in the folders of `TESSERA_DICT_PATH` and in the user's data
//! folder. A file counts as a dictionary by the hash of its content alone; a difference by the hash it promises, which is
//! compared when it is read.

use crate::{DictId, Dictionary, Error};
use std::ffi::OsString;
use std::path::PathBuf;

/// Folders with dictionaries, separated as in `PATH`.
pub const SEARCH_PATH: &str = "TESSERA_DICT_PATH";
/// Extension of dictionary files.
pub const EXTENSION: &str = "tsd";

/// Differences from differences that are followed; files could name each other in a circle.
const DEEPEST: u32 = 4;

/// The folders that are searched, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folders: Vec<PathBuf>,
}

impl Store {
    /// The folders of this user.
    pub fn open() -> Self {
        Self::from_environment(|name| std::env::var_os(name))
    }

    /// These folders and no others.
    pub fn of_folders(folders: Vec<PathBuf>) -> Self {
        Self { folders }
    }

    fn from_environment(variable: impl Fn(&str) -> Option<OsString>) -> Self {
        let named = variable(SEARCH_PATH).unwrap_or_default();
        let folders = std::env::split_paths(&named).filter(|path| !path.as_os_str().is_empty());
        Self {
            folders: folders.chain(user_folder(variable)).collect(),
        }
    }

    /// The folders that are searched, for messages.
    pub fn places(&self) -> String {
        let places: Vec<String> = (self.folders.iter())
            .map(|folder| folder.display().to_string())
            .collect();
        match places.is_empty() {
            true => "no folder (neither TESSERA_DICT_PATH nor a home folder is set)".into(),
            false => places.join(", "),
        }
    }

    /// All dictionary files with the identity of their content, in the order they are searched.
    pub fn files(&self) -> Vec<(PathBuf, DictId)> {
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
                let id = DictId::stated_by(&std::fs::read(&path).ok()?);
                Some((path, id))
            });
            found.extend(identified);
        }
        found
    }

    /// The file whose content has the identity that starts with `digits`, as [`DictId`] prints them.
    pub fn find(&self, digits: &str) -> Option<PathBuf> {
        let matches = |(_, id): &(PathBuf, DictId)| id.to_string().starts_with(digits);
        Some(self.files().into_iter().find(matches)?.0)
    }

    /// The file of the dictionary that a picture names.
    ///
    /// # Errors
    /// [`StoreError::Ambiguous`] if several dictionaries have this short name.
    pub fn find_named(&self, name: DictId) -> Result<Option<PathBuf>, StoreError> {
        let mut found = self.files();
        found.retain(|(_, id)| name.names(*id));
        match found.first() {
            Some((_, first)) if found.iter().any(|(_, id)| id != first) => {
                let files = found.into_iter().map(|(path, _)| path).collect();
                Err(StoreError::Ambiguous(name, files))
            }
            _ => Ok(found.into_iter().next().map(|(path, _)| path)),
        }
    }

    /// Reads the dictionary that a picture names; `None` if it is nowhere, which is no error: the built-in ones need no
    /// file.
    ///
    /// # Errors
    /// [`StoreError`] if it is there and cannot be read.
    pub fn load(&self, id: DictId) -> Result<Option<Dictionary>, StoreError> {
        let Some(path) = self.find_named(id)? else {
            return Ok(None);
        };
        let file = std::fs::read(&path);
        let read = file.map_err(|error| StoreError::Io(path.clone(), error))?;
        let dictionary = self.parse(&read);
        dictionary
            .map(Some)
            .map_err(|error| StoreError::Dictionary(path, error))
    }

    /// Reads the bytes of a dictionary file; if they are a difference, its base may lie in the store.
    ///
    /// # Errors
    /// See [`Dictionary::from_bytes_with`].
    pub fn parse(&self, file: &[u8]) -> Result<Dictionary, Error> {
        self.parse_to(file, DEEPEST)
    }

    fn parse_to(&self, file: &[u8], depth: u32) -> Result<Dictionary, Error> {
        Dictionary::from_bytes_with(file, &|base| {
            let depth = depth.checked_sub(1)?;
            let path = self.find(&base.to_string())?;
            self.parse_to(&std::fs::read(path).ok()?, depth).ok()
        })
    }

    /// Where a new dictionary of this user belongs.
    pub fn install_folder() -> Option<PathBuf> {
        user_folder(|name| std::env::var_os(name))
    }
}

/// Why a dictionary of the store cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file cannot be read.
    #[error("cannot read {}: {_1}", _0.display())]
    Io(PathBuf, std::io::Error),
    /// Several dictionaries have the short name that a picture uses.
    #[error(
        "several dictionaries have names that start with {_0}: {_1:?}; name the right one with --dict"
    )]
    Ambiguous(DictId, Vec<PathBuf>),
    /// The file is no valid dictionary.
    #[error("{}: {_1}", _0.display())]
    Dictionary(PathBuf, Error),
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

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
        let loaded = store.load(DictId::of(&bytes)).unwrap();
        assert_eq!(loaded.map(|found| found.id()), Some(DictId::of(&bytes)));
        assert!(store.load(DictId::Builtin(6)).unwrap().is_none());
    }

    #[test]
    fn a_file_with_the_right_name_and_the_wrong_content_is_not_taken() {
        let folder = tempfile::tempdir().unwrap();
        let id = DictId::of(b"TSD and so on");
        std::fs::write(folder.path().join(format!("{id}.tsd")), b"something else").unwrap();
        let store = store_of(&[(SEARCH_PATH, folder.path())]);
        assert_eq!(store.find(&id.to_string()), None);
        let damaged = DictId::of(b"something else");
        assert!(matches!(
            store.load(damaged),
            Err(StoreError::Dictionary(_, Error::NotADictionary))
        ));
    }

    #[test]
    fn short_names_are_found_unless_they_are_ambiguous() {
        let folder = tempfile::tempdir().unwrap();
        // Differences whose promised identities share their first four bytes.
        let head = |last: u8| [b"TSD\x85\x05".as_slice(), &[7; 15], &[last]].concat();
        std::fs::write(folder.path().join("a.tsd"), head(1)).unwrap();
        let store = store_of(&[(SEARCH_PATH, folder.path())]);
        let name = DictId::Prefix([7; 4]);
        assert_eq!(
            store.find_named(name).unwrap(),
            Some(folder.path().join("a.tsd"))
        );
        std::fs::write(folder.path().join("copy.tsd"), head(1)).unwrap();
        assert!(
            store.find_named(name).unwrap().is_some(),
            "a copy is the same"
        );
        std::fs::write(folder.path().join("b.tsd"), head(2)).unwrap();
        assert!(matches!(
            store.find_named(name),
            Err(StoreError::Ambiguous(..))
        ));
        assert_eq!(store.find_named(DictId::Prefix([8; 4])).unwrap(), None);
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

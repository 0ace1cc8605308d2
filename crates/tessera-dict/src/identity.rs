//! What names a dictionary, and the dictionaries every program carries.

use crate::{Dictionary, Error, difference, format};
use std::fmt;
use std::sync::OnceLock;

/// What names a dictionary inside a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DictId {
    /// One of the dictionaries every decoder carries; 0 is the untrained one.
    Builtin(u8),
    /// Any other, by the 128-bit hash of its content.
    Hash([u8; 16]),
    /// Any other, by the first bytes of that hash: a short name in a file, and never the identity of a dictionary.
    Prefix([u8; 4]),
}

impl DictId {
    /// The identity of a full dictionary file: the first 128 bits of its BLAKE3 hash.
    pub fn of(file: &[u8]) -> Self {
        let mut hash = [0; 16];
        hash.copy_from_slice(&blake3::hash(file).as_bytes()[..16]);
        Self::Hash(hash)
    }

    /// Whether this name in a file stands for the dictionary with the identity `own`.
    pub fn names(self, own: Self) -> bool {
        match (self, own) {
            (Self::Prefix(start), Self::Hash(hash)) => hash.starts_with(&start),
            (name, own) => name == own,
        }
    }

    /// The number that every program knows the default dictionary by, if this is its hash; else the name itself.
    #[must_use]
    pub fn by_number(self) -> Self {
        match self {
            DEFAULT_FILE => Self::Builtin(DEFAULT),
            name => name,
        }
    }

    /// The shortest name a file can have for this identity.
    #[must_use]
    pub fn shortened(self) -> Self {
        match self {
            Self::Hash([a, b, c, d, ..]) => Self::Prefix([a, b, c, d]),
            name => name,
        }
    }

    /// The identity that a dictionary file has or, being a difference, promises to give; reading it compares.
    pub fn stated_by(file: &[u8]) -> Self {
        match difference::head(file) {
            Ok(head) => head.identity,
            Err(_) => Self::of(file),
        }
    }
}

impl fmt::Display for DictId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Builtin(number) => write!(f, "builtin:{number}"),
            Self::Hash(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
            Self::Prefix(bytes) => bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}")),
        }
    }
}

/// Number of the dictionary that has learned nothing.
pub(crate) const UNTRAINED: u8 = 0;
/// Number of the default dictionary; a number is never given to another one, or old files would decode to garbage.
pub(crate) const DEFAULT: u8 = 6;
/// The identity that the file of the default dictionary has by its content.
const DEFAULT_FILE: DictId = DictId::Hash(*include_bytes!(concat!(
    env!("OUT_DIR"),
    "/default.identity"
)));

static BUILTIN: OnceLock<Dictionary> = OnceLock::new();

impl Dictionary {
    /// The default dictionary, which every program carries, unless it was built without the feature `builtin`.
    ///
    /// # Panics
    /// Without that feature, if [`Dictionary::load_builtin`] was not called before.
    pub fn builtin() -> &'static Self {
        Self::loaded_builtin().expect("the built-in dictionary was loaded")
    }

    /// The default dictionary, or `None` in a program that was built without it and has not loaded it yet.
    pub fn loaded_builtin() -> Option<&'static Self> {
        #[cfg(feature = "builtin")]
        BUILTIN.get_or_init(|| {
            static SECTIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/default.sections"));
            let content = format::read_unpacked(SECTIONS);
            Self::carried(content.expect("the built-in dictionary is valid"), DEFAULT)
        });
        BUILTIN.get()
    }

    /// Makes [`Dictionary::builtin`] of its file, for programs that are built without the feature `builtin` and fetch
    /// the file (`assets/default.tsd` of this crate) when they need it. Others need not call it.
    ///
    /// # Errors
    /// If the file is damaged, or is not the default dictionary of this version.
    pub fn load_builtin(file: &[u8]) -> Result<&'static Self, Error> {
        if DictId::of(file) != DEFAULT_FILE {
            return Err(Error::NotBuiltin(DEFAULT));
        }
        let loaded = Self::carried(format::read(file)?, DEFAULT);
        Ok(BUILTIN.get_or_init(|| loaded))
    }
}

/// The identity of the dictionary with this file: the number of the built-in one it is, or else its hash.
pub(crate) fn of_content(file: &[u8]) -> DictId {
    static UNTRAINED_FILE: OnceLock<DictId> = OnceLock::new();
    let untrained = UNTRAINED_FILE.get_or_init(|| DictId::of(&Dictionary::untrained().to_bytes()));
    match DictId::of(file) {
        DEFAULT_FILE => DictId::Builtin(DEFAULT),
        hash if hash == *untrained => DictId::Builtin(UNTRAINED),
        hash => hash,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_names_stand_for_what_they_start() {
        let own = DictId::Hash(std::array::from_fn(|i| i as u8));
        assert_eq!(own.shortened(), DictId::Prefix([0, 1, 2, 3]));
        assert!(own.shortened().names(own) && own.names(own));
        assert!(!own.shortened().names(DictId::Hash([0; 16])));
        assert!(own.to_string().starts_with(&own.shortened().to_string()));
        assert_eq!(DictId::Builtin(5).shortened(), DictId::Builtin(5));
    }

    #[test]
    fn the_default_dictionary_is_its_file() {
        let file = include_bytes!("../assets/default.tsd");
        assert!(Dictionary::builtin().to_bytes() == file);
        assert!(Dictionary::from_bytes(file).is_ok());
    }

    #[test]
    fn only_its_own_file_becomes_the_default_dictionary() {
        let file = include_bytes!("../assets/default.tsd");
        let loaded = Dictionary::load_builtin(file).unwrap();
        assert_eq!(loaded.id(), DictId::Builtin(DEFAULT));
        assert_eq!(Dictionary::builtin().id(), loaded.id());
        let other = Dictionary::untrained().to_bytes();
        for wrong in [&other[..], &file[..100], &[]] {
            let refused = Dictionary::load_builtin(wrong);
            assert!(matches!(refused, Err(Error::NotBuiltin(DEFAULT))));
        }
    }
}

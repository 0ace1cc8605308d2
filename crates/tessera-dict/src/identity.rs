//! What names a dictionary, and the dictionaries every program carries.

use crate::{Dictionary, difference, format};
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
pub(crate) const DEFAULT: u8 = 4;
static DEFAULT_SECTIONS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/default.sections"));

impl Dictionary {
    /// The default dictionary, which every program carries.
    pub fn builtin() -> &'static Self {
        static BUILTIN: OnceLock<Dictionary> = OnceLock::new();
        BUILTIN.get_or_init(|| {
            let content = format::read_unpacked(DEFAULT_SECTIONS);
            Self::carried(content.expect("the built-in dictionary is valid"), DEFAULT)
        })
    }
}

/// The identity of the dictionary with this file: the number of the built-in one it is, or else its hash.
pub(crate) fn of_content(file: &[u8]) -> DictId {
    static CARRIED: OnceLock<[(DictId, DictId); 2]> = OnceLock::new();
    let carried = CARRIED.get_or_init(|| {
        [Dictionary::builtin(), &Dictionary::untrained()]
            .map(|dictionary| (DictId::of(&dictionary.to_bytes()), dictionary.id()))
    });
    let hash = DictId::of(file);
    let known = carried.iter().find(|(own, _)| *own == hash);
    known.map_or(hash, |&(_, number)| number)
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
        assert_eq!(DictId::Builtin(4).shortened(), DictId::Builtin(4));
    }

    #[test]
    fn the_default_dictionary_is_its_file() {
        let file = include_bytes!("../assets/default.tsd");
        assert!(Dictionary::builtin().to_bytes() == file);
        assert!(Dictionary::from_bytes(file).is_ok());
    }
}

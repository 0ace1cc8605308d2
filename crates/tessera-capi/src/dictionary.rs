//! Dictionaries, from bytes, from files, from the store.

use crate::memory::{bytes, hand_out, path, text};
use crate::status::{Failure, Status, release};
use std::ffi::{CString, c_char};
use std::mem::MaybeUninit;
use std::path::Path;
use tessera_codec::{Dictionary as Content, DictionaryError, Error, PreparedDictionary};
use tessera_dict::store::{Store, StoreError};

/// A dictionary that `tessera train` has learned. The built-in one needs no handle.
#[derive(Debug)]
pub struct Dictionary {
    pub(crate) prepared: PreparedDictionary,
    id: CString,
}

impl Dictionary {
    fn new(file: &[u8]) -> Result<Self, Failure> {
        let content = Content::from_bytes(file).map_err(DictionaryError::from)?;
        let prepared = PreparedDictionary::new(content)?;
        let id = CString::new(prepared.id().to_string()).unwrap_or_default();
        Ok(Self { prepared, id })
    }

    fn open(file: &Path) -> Result<Self, Failure> {
        let content = std::fs::read(file).map_err(|error| Failure::from(Error::Io(error)));
        let dictionary = content.and_then(|content| Self::new(&content));
        dictionary.map_err(|failure| failure.within(file))
    }
}

/// Reads a dictionary (the content of a .tsd file).
///
/// `size` bytes can be read at `data`; they are not needed afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_dictionary_from_memory(
    data: *const u8,
    size: usize,
    dictionary: Option<&mut MaybeUninit<Option<Box<Dictionary>>>>,
) -> Status {
    hand_out(dictionary, || {
        // SAFETY: as the caller promises.
        let content = unsafe { bytes(data, size) }?;
        Dictionary::new(content)
    })
}

/// Reads a dictionary file (.tsd).
///
/// `file` is a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_dictionary_from_file(
    file: *const c_char,
    dictionary: Option<&mut MaybeUninit<Option<Box<Dictionary>>>>,
) -> Status {
    hand_out(dictionary, || {
        // SAFETY: as the caller promises.
        let file = unsafe { path(file) }?;
        Dictionary::open(&file)
    })
}

/// Finds a dictionary of this user by (the first digits of) its identity: in the folders of TESSERA_DICT_PATH and where
/// `tessera dict install` puts them.
///
/// `id` is a string that ends with a zero.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tessera_dictionary_from_store(
    id: *const c_char,
    dictionary: Option<&mut MaybeUninit<Option<Box<Dictionary>>>>,
) -> Status {
    hand_out(dictionary, || {
        // SAFETY: as the caller promises.
        let digits = unsafe { text(id) }?;
        let store = Store::open();
        let missing = || {
            let places = store.places();
            let message = format!("there is no dictionary {digits} in {places}");
            Failure::new(Status::Dictionary, message)
        };
        let found = Some(digits).filter(|digits| !digits.is_empty());
        let file = found.and_then(|digits| store.find(digits));
        Dictionary::open(&file.ok_or_else(missing)?)
    })
}

/// The identity of a dictionary, as tessera_file_dictionary() tells it; NULL for NULL. Valid until the dictionary is
/// freed.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_dictionary_id(dictionary: Option<&Dictionary>) -> *const c_char {
    dictionary.map_or(std::ptr::null(), |dictionary| dictionary.id.as_ptr())
}

/// Frees a dictionary; encoders and decoders that were given it keep it.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_dictionary_free(dictionary: Option<Box<Dictionary>>) {
    release(dictionary);
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let status = match error {
            StoreError::Io(..) => Status::Io,
            StoreError::Ambiguous(..) | StoreError::Dictionary(..) => Status::Dictionary,
        };
        Self::new(status, error.to_string())
    }
}

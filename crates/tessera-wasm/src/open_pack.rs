//! A pack of which the index is here, while its pictures wait to be asked for.

use crate::failure::{Cause, Failure, Result};
use crate::pieces::PieceReader;
use std::ops::Range;
use tessera_codec::PreparedDictionary;
use tessera_pack::{Entry, Error, PackReader};

/// The index of a pack, and the part of it that is being looked at.
pub(crate) struct OpenPack {
    reader: PieceReader,
    pack: PackReader<PieceReader>,
}

impl OpenPack {
    /// Opens a pack of `len` bytes by its first bytes and its end, which must hold the index.
    pub(crate) fn new(start: &[u8], end: &[u8], len: usize) -> Result<Self> {
        let Some(place) = len.checked_sub(end.len()) else {
            return Err(Failure::new(
                Cause::Parameter,
                "the end is longer than the pack",
            ));
        };
        let reader = PieceReader::new(start.to_vec(), len);
        reader.set_piece(place, end.to_vec());
        let pack = PackReader::open(reader.clone())?;
        reader.set_piece(0, Vec::new());
        Ok(Self { reader, pack })
    }

    /// Takes the bytes of the dictionary, which pictures need that name it.
    pub(crate) fn set_dictionary(&self, bytes: &[u8]) -> Result<()> {
        let place = self.pack.dictionary_place().start;
        self.with_piece(place, bytes, || self.pack.dictionary().map(drop))
    }

    /// Takes the bytes of a part that pictures share.
    pub(crate) fn keep_shared(&self, place: usize, bytes: &[u8]) {
        self.reader.keep(place, bytes.to_vec());
    }

    /// Names and places of the pictures, those of what they share, and the place of the dictionary, as JSON.
    pub(crate) fn description(&self) -> String {
        let place = |Range { start, end }: Range<u64>| format!("[{start},{end}]");
        let dictionary = self.pack.dictionary_place();
        let dictionary = match dictionary.is_empty() {
            true => "null".to_owned(),
            false => place(dictionary),
        };
        // Names hold neither backslashes nor control characters.
        let names = self.pack.names().map(|name| name.replace('"', "\\\""));
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let places: Vec<String> = (self.pack.entries())
            .map(|entry| place(entry.place))
            .collect();
        let number = |key: &str| self.pack.names().position(|name| name == key);
        let keys: Vec<String> = (self.pack.entries())
            .map(|entry| entry.key.and_then(number))
            .map(|key| key.map_or("null".to_owned(), |key| key.to_string()))
            .collect();
        let shared: Vec<String> = self.pack.shared_places().into_iter().map(place).collect();
        format!(
            r#"{{"names":[{}],"places":[{}],"keys":[{}],"shared":[{}],"dictionary":{dictionary}}}"#,
            names.join(","),
            places.join(","),
            keys.join(","),
            shared.join(",")
        )
    }

    /// The file of the picture with this number, of which `bytes` are all that the pack has; `key` are those of the picture it
    /// is predicted from.
    pub(crate) fn file(&self, number: usize, bytes: &[u8], key: &[u8]) -> Result<Vec<u8>> {
        let entry = self.entry(number)?;
        if entry.key.is_some() {
            self.predicting(&entry, key)?;
        }
        self.with_piece(entry.place.start, bytes, || self.pack.file(entry.name))
    }

    /// The dictionary that the picture with this number needs because it is predicted from the one whose bytes are `key`.
    pub(crate) fn predicting_dictionary(
        &self,
        number: usize,
        key: &[u8],
    ) -> Result<PreparedDictionary> {
        self.predicting(&self.entry(number)?, key)
    }

    /// Makes the dictionary of a picture from the bytes of its key.
    fn predicting(&self, entry: &Entry<'_>, key: &[u8]) -> Result<PreparedDictionary> {
        let mut entries = self.pack.entries();
        let place = entries.find(|other| Some(other.name) == entry.key);
        let by_itself = || Failure::new(Cause::Parameter, "the picture is not predicted");
        let place = place.ok_or_else(by_itself)?.place.start;
        let made = self.with_piece(place, key, || self.pack.dictionary_of(entry.name))?;
        made.ok_or_else(by_itself)
    }

    fn entry(&self, number: usize) -> Result<Entry<'_>> {
        let entry = self.pack.entries().nth(number);
        entry.ok_or_else(|| Failure::new(Cause::Parameter, "there is no such picture"))
    }

    /// Reads something while a piece is here.
    fn with_piece<T>(
        &self,
        place: u64,
        bytes: &[u8],
        read: impl FnOnce() -> Result<T, Error>,
    ) -> Result<T> {
        let place = usize::try_from(place).map_err(|_| {
            let message = "packs of more than 4 GB cannot be read here";
            Failure::new(Cause::Limits, message)
        })?;
        self.reader.set_piece(place, bytes.to_vec());
        let read = read();
        self.reader.set_piece(0, Vec::new());
        Ok(read?)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let cause = match error {
            Error::Codec(error) => return error.into(),
            Error::Dictionary(_) | Error::OtherDictionary(_) | Error::NoBuiltin => {
                Cause::Dictionary
            }
            Error::NoSuchPicture(_) => Cause::Parameter,
            Error::Io(_) => Cause::Other,
            _ => Cause::Format,
        };
        Self::new(cause, error.to_string())
    }
}

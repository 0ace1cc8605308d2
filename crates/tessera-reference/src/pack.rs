//! `pack.md`: many pictures, their dictionary, and an index by name.

use crate::bytes::{Reader, crc8, crc32};
use crate::container::{self, DictionaryName, Header};
use crate::dictionary::{Dictionary, Reference, Shelf};
use crate::error::{Result, ensure, refuse};
use crate::inflate::inflate;
use crate::picture::Picture;

const MAGIC: [u8; 2] = [0xD4, 0x50];
const PICTURE_MAGIC: [u8; 2] = [0xD4, 0x53];
/// Magic and version.
const START: usize = 3;
const TRAILER: usize = 20;
const TRAILER_MAGIC: [u8; 4] = *b"TSPI";
const MAX_INDEX: usize = 1 << 28;
const MAX_TEMPLATES: usize = 255;
const MAX_NAME: usize = 4096;
const MAX_SHARED: usize = 1 << 20;
const MAX_KEY_PIXELS: usize = 1 << 24;

/// A pack that was opened.
pub struct Pack<'a> {
    shelf: &'a Shelf,
    dictionary: Option<Dictionary>,
    templates: Vec<Template<'a>>,
    entries: Vec<Entry<'a>>,
}

/// What headers are told beside.
struct Template<'a> {
    condensed: Vec<u8>,
    /// What follows the header in every file.
    shared: &'a [u8],
}

/// A picture as the index tells of it.
struct Entry<'a> {
    name: String,
    stored: &'a [u8],
    /// The picture it is predicted from.
    key: Option<usize>,
}

impl<'a> Pack<'a> {
    /// Opens a pack.
    ///
    /// # Errors
    /// If it is no pack, or its index or dictionary is not valid.
    pub fn open(file: &'a [u8], shelf: &'a Shelf) -> Result<Self> {
        let mut reader = Reader::new(file);
        ensure(reader.array()? == MAGIC, "this is no pack")?;
        ensure(reader.u8()? == 1, "a version of packs that is reserved")?;
        let (place, stored) = last_index(file)?;
        let index = unpack_index(stored)?;
        Self::read_index(&index, &file[..place], shelf)
    }

    /// "Index"; `before` is what lies before it.
    fn read_index(index: &[u8], before: &'a [u8], shelf: &'a Shelf) -> Result<Self> {
        let mut reader = Reader::new(index);
        let (place, length) = (reader.length()?, reader.length()?);
        let dictionary = match length {
            0 => None,
            _ => Some(Dictionary::read(range(before, place, length)?, shelf)?),
        };
        let count = reader.length()?;
        ensure(count <= MAX_TEMPLATES, "a pack has more than 255 templates")?;
        let mut templates = Vec::new();
        for _ in 0..count {
            templates.push(template(&mut reader, before)?);
        }
        let count = reader.length()?;
        ensure(count <= reader.rest().len(), "the index ends too early")?;
        let names = names(&mut reader, count)?;
        let lengths = (0..count)
            .map(|_| reader.length())
            .collect::<Result<Vec<_>>>()?;
        let stored = places(&mut reader, &lengths, before)?;
        let keys = keys(&mut reader, count)?;
        reader.end("the last key")?;
        let entries = names.into_iter().zip(stored).zip(keys);
        Ok(Self {
            shelf,
            dictionary,
            templates,
            entries: entries
                .map(|((name, stored), key)| Entry { name, stored, key })
                .collect(),
        })
    }

    /// The names of all pictures, in rising order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(|entry| entry.name.as_str())
    }

    /// Decodes a picture.
    ///
    /// # Errors
    /// If there is none of this name, or it is not valid.
    pub fn decode(&self, name: &str) -> Result<Picture> {
        let Some(entry) = self.entries.iter().find(|entry| entry.name == name) else {
            return refuse("the pack has no picture of this name");
        };
        let own = match entry.key {
            Some(key) => Some(self.predicting_dictionary(key)?),
            None => None,
        };
        let dictionary = own.as_ref().or(self.dictionary.as_ref());
        let file = self.picture_file(entry, dictionary)?;
        let header = Header::read(&file)?;
        match (&header.dictionary, dictionary) {
            (DictionaryName::BuiltIn(_), _) | (_, None) => container::decode(&file, self.shelf),
            (_, Some(_)) => container::decode_with(&file, dictionary),
        }
    }

    /// "Predicted pictures": the dictionary with the key as its last reference.
    fn predicting_dictionary(&self, key: usize) -> Result<Dictionary> {
        let file = self.picture_file(&self.entries[key], self.dictionary.as_ref())?;
        let header = Header::read(&file)?;
        let built_in = matches!(header.dictionary, DictionaryName::BuiltIn(_));
        ensure(
            built_in && !header.lossless,
            "a key must be coded with loss and the built-in dictionary",
        )?;
        let (width, height) = (header.width, header.height);
        ensure(
            width * height <= MAX_KEY_PIXELS,
            "a key has too many pixels",
        )?;
        let base = self
            .dictionary
            .as_ref()
            .unwrap_or(self.shelf.default_dictionary());
        let reference = Reference {
            size: [width as u16, height as u16],
            stream: file,
        };
        base.with_reference(reference, self.shelf)
    }

    /// "Entries": the `.tsr` file of a picture.
    fn picture_file(&self, entry: &Entry<'_>, dictionary: Option<&Dictionary>) -> Result<Vec<u8>> {
        let mut reader = Reader::new(entry.stored);
        let Some(template) = self.templates.get(usize::from(reader.u8()?)) else {
            return refuse("an entry names a template that is not there");
        };
        let mut condensed = template.condensed.clone();
        let mask = reader.varint()?;
        for i in (0..64).filter(|i| mask >> i & 1 == 1) {
            let Some(byte) = condensed.iter_mut().nth_back(i) else {
                return refuse("an entry changes bytes that its template does not have");
            };
            *byte = reader.u8()?;
        }
        let mut file = full_header(&condensed, dictionary)?;
        file.extend(template.shared);
        file.extend(reader.rest());
        Ok(file)
    }
}

/// The place and the bytes of the last index that is whole.
fn last_index(file: &[u8]) -> Result<(usize, &[u8])> {
    for end in (START + TRAILER..=file.len()).rev() {
        if let Some(found) = index_before(file, end) {
            return Ok(found);
        }
    }
    refuse("no index of the pack is whole")
}

/// The index whose trailer ends here.
fn index_before(file: &[u8], end: usize) -> Option<(usize, &[u8])> {
    let trailer = end - TRAILER;
    let mut reader = Reader::new(&file[trailer..end]);
    let (place, length, check) = (reader.u64().ok()?, reader.u32().ok()?, reader.u32().ok()?);
    let place = usize::try_from(place).ok()?;
    let whole = reader.rest() == TRAILER_MAGIC
        && place >= START
        && place.checked_add(length as usize) == Some(trailer)
        && crc32(&[&file[place..trailer]]) == check;
    whole.then(|| (place, &file[place..trailer]))
}

fn unpack_index(stored: &[u8]) -> Result<Vec<u8>> {
    let mut reader = Reader::new(stored);
    match reader.u8()? {
        0 => Ok(reader.rest().to_vec()),
        1 => {
            let length = reader.length()?;
            ensure(length <= MAX_INDEX, "the index is too long")?;
            let (index, taken) = inflate(reader.rest(), length)?;
            ensure(index.len() == length, "the index is shorter than stated")?;
            ensure(taken == reader.rest().len(), "bytes follow the index")?;
            Ok(index)
        }
        _ => refuse("an index of a kind that is reserved"),
    }
}

fn range(before: &[u8], place: usize, length: usize) -> Result<&[u8]> {
    let found = place
        .checked_add(length)
        .and_then(|end| before.get(place..end));
    match found {
        Some(bytes) => Ok(bytes),
        None => refuse("the index points outside of the pack"),
    }
}

fn template<'a>(reader: &mut Reader<'_>, before: &'a [u8]) -> Result<Template<'a>> {
    let length = reader.length()?;
    let condensed = reader.take(length)?.to_vec();
    let length = reader.length()?;
    ensure(length <= MAX_SHARED, "a template shares too many bytes")?;
    let place = if length > 0 { reader.length()? } else { 0 };
    let shared = range(before, place, length)?;
    Ok(Template { condensed, shared })
}

fn names(reader: &mut Reader<'_>, count: usize) -> Result<Vec<String>> {
    let mut names: Vec<String> = Vec::new();
    let mut bytes: Vec<u8> = Vec::new();
    for _ in 0..count {
        let (shared, new) = (reader.length()?, reader.length()?);
        ensure(
            shared <= bytes.len(),
            "a name shares more than the one before has",
        )?;
        bytes.truncate(shared);
        bytes.extend(reader.take(new)?);
        let Ok(name) = String::from_utf8(bytes.clone()) else {
            return refuse("a name is not UTF-8");
        };
        check_name(&name)?;
        let rising = names
            .last()
            .is_none_or(|before| before.as_bytes() < name.as_bytes());
        ensure(rising, "the names do not rise")?;
        names.push(name);
    }
    Ok(names)
}

/// No name leads out of the folder that is unpacked to.
fn check_name(name: &str) -> Result<()> {
    ensure(name.len() <= MAX_NAME, "a name is too long")?;
    let parts = name.split('/').all(|part| !["", ".", ".."].contains(&part));
    ensure(parts, "a name has a part that is empty, . or ..")?;
    let letters = name.chars().all(|c| c != '\\' && !c.is_control());
    ensure(letters, "a name has a character that is not allowed")
}

/// The entries, each told from where the one before ends.
fn places<'a>(
    reader: &mut Reader<'_>,
    lengths: &[usize],
    before: &'a [u8],
) -> Result<Vec<&'a [u8]>> {
    let mut end = START as i128;
    let mut entries = Vec::new();
    for &length in lengths {
        let folded = reader.varint()?;
        let half = i128::from(folded / 2);
        end += if folded % 2 == 0 { half } else { -half - 1 };
        let Ok(place) = usize::try_from(end) else {
            return refuse("the index points outside of the pack");
        };
        entries.push(range(before, place, length)?);
        end += length as i128;
    }
    Ok(entries)
}

fn keys(reader: &mut Reader<'_>, count: usize) -> Result<Vec<Option<usize>>> {
    let read = |_| Ok(reader.length()?.checked_sub(1));
    let keys: Vec<Option<usize>> = (0..count).map(read).collect::<Result<_>>()?;
    for key in keys.iter().flatten() {
        ensure(keys.get(*key) == Some(&None), "a key must stand by itself")?;
    }
    Ok(keys)
}

/// A header of a `.tsr` file with all that condensing left out.
fn full_header(condensed: &[u8], dictionary: Option<&Dictionary>) -> Result<Vec<u8>> {
    let features = condensed.get(1).is_some_and(|format| format & 128 != 0);
    let behind_number = 3 + usize::from(features);
    let Some((number, rest)) = condensed.split_at_checked(behind_number) else {
        return refuse("a condensed header is too short");
    };
    let name = match (number.last(), dictionary) {
        (Some(254), Some(dictionary)) => &dictionary.identity()[..4],
        (Some(255), Some(dictionary)) => &dictionary.identity()[..],
        (Some(254 | 255), None) => {
            return refuse("the pack has no dictionary, but a picture needs one");
        }
        _ => &[],
    };
    let mut header = [&PICTURE_MAGIC, number, name, rest].concat();
    header.push(crc8(&header));
    Ok(header)
}

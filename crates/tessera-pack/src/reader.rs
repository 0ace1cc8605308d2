//! Reading packs: the index first, pictures when they are asked for.

use crate::entry::{self, EntryReader, LONGEST_START};
use crate::error::Error;
use crate::index::{Index, TRAILER_LEN, TRAILER_MAGIC, read_trailer};
use crate::predicting::predicting_dictionary;
use crate::{MAGIC, is_pack};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use tessera_codec::{CodedPicture, Decoder, PreparedDictionary};
use tessera_dict::Dictionary;

/// Bytes looked at at a time when the end of a pack is searched for its last index.
const CHUNK: u64 = 1 << 16;
/// Dictionaries of predicted pictures that are kept for the next ones.
const KEPT: usize = 16;

/// A pack whose index is read.
#[derive(Debug)]
pub struct PackReader<R> {
    pack: Arc<Mutex<R>>,
    index: Index,
    /// Bytes up to the end of the index in use.
    end: u64,
    /// Bytes of the file.
    len: u64,
    dictionary: OnceLock<PreparedDictionary>,
    /// Those of predicted pictures that were made last, by the number of the key.
    predicting: Mutex<BTreeMap<usize, PreparedDictionary>>,
}

/// What the index says of a picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry<'a> {
    /// Its name.
    pub name: &'a str,
    /// Bytes it takes in the pack, its part of the index not counted.
    pub bytes: u64,
    /// Where these bytes lie in the file.
    pub place: Range<u64>,
    /// The name of the picture it is predicted from, if it is.
    pub key: Option<&'a str>,
}

impl<R: Read + Seek> PackReader<R> {
    /// Reads the index. If writing was interrupted while pictures were appended, it is the one before.
    ///
    /// # Errors
    /// [`Error`] if the file is no pack, or has no index that is whole.
    pub fn open(mut pack: R) -> Result<Self, Error> {
        let len = pack.seek(SeekFrom::End(0))?;
        check_magic(&mut pack, len)?;
        let (index, end) = match index_before(&mut pack, len)? {
            Some(index) => (index, len),
            None => last_index(&mut pack, len)?,
        };
        Ok(Self {
            pack: Arc::new(Mutex::new(pack)),
            index,
            end,
            len,
            dictionary: OnceLock::new(),
            predicting: Mutex::default(),
        })
    }

    /// How many pictures there are.
    pub fn len(&self) -> usize {
        self.index.names.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.index.names.is_empty()
    }

    /// The names of all pictures, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.index.names.iter().map(String::as_str)
    }

    /// All pictures, in the order of their names.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_>> {
        let Index {
            names,
            places,
            keys,
            ..
        } = &self.index;
        let told = names.iter().zip(places).zip(keys);
        told.map(|((name, place), key)| Entry {
            name,
            bytes: place.end - place.start,
            place: place.clone(),
            key: key.map(|key| names[key].as_str()),
        })
    }

    /// Bytes behind the index: not zero if appending was interrupted.
    pub fn unfinished_bytes(&self) -> u64 {
        self.len - self.end
    }

    /// Bytes of the whole file.
    pub fn file_len(&self) -> u64 {
        self.len
    }

    /// Bytes of the dictionary in the pack, zero if there is none.
    pub fn dictionary_bytes(&self) -> u64 {
        let Range { start, end } = self.index.dictionary;
        end - start
    }

    /// Where the dictionary lies in the file; empty if there is none.
    pub fn dictionary_place(&self) -> Range<u64> {
        self.index.dictionary.clone()
    }

    /// Where the metadata lies that several pictures share, in order and without overlaps. Whoever does not have all of the
    /// file needs these parts beside the [`place`](Entry::place) of a picture.
    pub fn shared_places(&self) -> Vec<Range<u64>> {
        let templates = self.index.templates.iter();
        let mut places: Vec<Range<u64>> = templates.map(|own| own.shared.clone()).collect();
        places.retain(|place| !place.is_empty());
        places.sort_by_key(|place| place.start);
        let mut apart: Vec<Range<u64>> = Vec::new();
        for place in places {
            match apart.last_mut() {
                Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
                _ => apart.push(place),
            }
        }
        apart
    }

    /// The dictionary in the pack as a file; `None` if the pictures need none.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn dictionary_file(&self) -> Result<Option<Vec<u8>>, Error> {
        match self.dictionary_bytes() {
            0 => Ok(None),
            _ => self.read(self.index.dictionary.clone()).map(Some),
        }
    }

    /// The dictionary in the pack, ready for coding; it is read once.
    ///
    /// # Errors
    /// [`Error::Dictionary`] if it is damaged.
    pub fn dictionary(&self) -> Result<Option<&PreparedDictionary>, Error> {
        if let Some(known) = self.dictionary.get() {
            return Ok(Some(known));
        }
        let Some(file) = self.dictionary_file()? else {
            return Ok(None);
        };
        let dictionary = PreparedDictionary::from(Dictionary::from_bytes(&file)?);
        Ok(Some(self.dictionary.get_or_init(|| dictionary)))
    }

    /// The dictionary that one picture needs, ready for coding: that of the pack, unless it is predicted from another
    /// picture.
    ///
    /// # Errors
    /// [`Error::NoSuchPicture`], or what it needs is damaged.
    pub fn dictionary_of(&self, name: &str) -> Result<Option<PreparedDictionary>, Error> {
        self.dictionary_for(self.number(name)?)
    }

    fn dictionary_for(&self, at: usize) -> Result<Option<PreparedDictionary>, Error> {
        let own = self.dictionary()?;
        let Some(key) = self.index.keys[at] else {
            return Ok(own.cloned());
        };
        let known = || {
            let known = self.predicting.lock();
            known.unwrap_or_else(PoisonError::into_inner)
        };
        if let Some(known) = known().get(&key) {
            return Ok(Some(known.clone()));
        }
        let made = predicting_dictionary(own.map(|own| own.dictionary()), &self.file_at(key)?)?;
        let mut known = known();
        if known.len() >= KEPT {
            known.pop_first();
        }
        known.insert(key, made.clone());
        Ok(Some(made))
    }

    fn number(&self, name: &str) -> Result<usize, Error> {
        let at = self.index.find(name);
        at.ok_or_else(|| Error::NoSuchPicture(name.into()))
    }

    /// A picture as the file it would be by itself, of which only what is asked for is read.
    ///
    /// # Errors
    /// [`Error::NoSuchPicture`], or the entry is damaged.
    pub fn entry(&self, name: &str) -> Result<EntryReader<R>, Error> {
        self.entry_at(self.number(name)?)
    }

    fn entry_at(&self, at: usize) -> Result<EntryReader<R>, Error> {
        let identity = self.dictionary_for(at)?.map(|needed| needed.id());
        let place = self.index.places[at].clone();
        let start = place.start..place.end.min(place.start + LONGEST_START as u64);
        let start = self.read(start)?;
        let start = entry::read_start(&start, &self.index.templates, identity)?;
        let head = [start.header, self.read(start.shared)?].concat();
        let body = place.start + start.len as u64..place.end;
        Ok(EntryReader::new(head, self.pack.clone(), body))
    }

    /// A picture as a file of its own, byte for byte as it was added. Whoever decodes it needs [`Self::dictionary_of`] it.
    ///
    /// # Errors
    /// As for [`Self::entry`].
    pub fn file(&self, name: &str) -> Result<Vec<u8>, Error> {
        self.file_at(self.number(name)?)
    }

    fn file_at(&self, at: usize) -> Result<Vec<u8>, Error> {
        let mut file = Vec::new();
        self.entry_at(at)?.read_to_end(&mut file)?;
        Ok(file)
    }

    fn read(&self, range: Range<u64>) -> Result<Vec<u8>, Error> {
        let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
        read_range(&mut *pack, range)
    }
}

impl<R: Read + Seek + Send + 'static> PackReader<R> {
    /// A picture that waits to be decoded, all of it or some, by `decoder`, which is given the dictionary it needs.
    ///
    /// # Errors
    /// As for [`Self::entry`], and [`Error::Codec`] if its header is damaged or too large.
    pub fn picture(&self, name: &str, decoder: Decoder) -> Result<CodedPicture<'static>, Error> {
        let decoder = match self.dictionary_of(name)? {
            Some(dictionary) => decoder.dictionary(dictionary),
            None => decoder,
        };
        Ok(decoder.open(self.entry(name)?)?)
    }
}

fn check_magic(pack: &mut (impl Read + Seek), len: u64) -> Result<(), Error> {
    let start = read_range(pack, 0..len.min(MAGIC.len() as u64))?;
    match start[..] {
        _ if start == MAGIC => Ok(()),
        [_, _, version] if is_pack(&start) => Err(Error::UnsupportedVersion(version)),
        _ => Err(Error::NotAPack),
    }
}

/// Reads a part that lies inside the file.
pub(crate) fn read_range(
    pack: &mut (impl Read + Seek),
    range: Range<u64>,
) -> Result<Vec<u8>, Error> {
    pack.seek(SeekFrom::Start(range.start))?;
    let length = range.end - range.start;
    let mut bytes = Vec::new();
    pack.take(length).read_to_end(&mut bytes)?;
    match bytes.len() as u64 == length {
        true => Ok(bytes),
        false => Err(Error::Damaged("the file ends too early")),
    }
}

/// The index whose trailer ends at `end`, if there is one and it is whole.
fn index_before(pack: &mut (impl Read + Seek), end: u64) -> Result<Option<Index>, Error> {
    let Some(trailer_at) = end.checked_sub(TRAILER_LEN as u64) else {
        return Ok(None);
    };
    let trailer = read_range(pack, trailer_at..end)?;
    let trailer = trailer.first_chunk().and_then(read_trailer);
    let Some((start, length, check)) = trailer else {
        return Ok(None);
    };
    if start.checked_add(length as u64) != Some(trailer_at) {
        return Ok(None);
    }
    let stored = read_range(pack, start..trailer_at)?;
    match crc32fast::hash(&stored) == check {
        true => Index::read(&stored, start).map(Some),
        false => Ok(None),
    }
}

/// Looks for the last index that is whole, from the end on.
fn last_index(pack: &mut (impl Read + Seek), len: u64) -> Result<(Index, u64), Error> {
    let mut end = len;
    while end > 0 {
        let start = end.saturating_sub(CHUNK);
        // A magic may lie across the border of two chunks.
        let chunk = read_range(pack, start..len.min(end + TRAILER_MAGIC.len() as u64 - 1))?;
        let places = chunk.windows(TRAILER_MAGIC.len()).enumerate().rev();
        for (at, _) in places.filter(|(_, bytes)| *bytes == TRAILER_MAGIC) {
            let behind = start + (at + TRAILER_MAGIC.len()) as u64;
            if let Some(index) = index_before(pack, behind)? {
                return Ok((index, behind));
            }
        }
        end = start;
    }
    Err(Error::Damaged("it has no index that is whole"))
}

/// What is needed to go on writing where a pack ends: its index, its dictionary, and the end itself.
pub(crate) fn to_continue(
    pack: &mut (impl Read + Seek),
) -> Result<(Index, Option<PreparedDictionary>, u64), Error> {
    let reader = PackReader::open(pack)?;
    let own = reader.dictionary()?.cloned();
    Ok((reader.index, own, reader.end))
}

//! Writing packs: pictures one after the other, the index at the end.

use crate::entry::Template;
use crate::error::Error;
use crate::index::{Index, trailer};
use crate::shared::Beginnings;
use crate::{MAGIC, entry, names, reader};
use std::collections::BTreeMap;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use tessera_codec::internals::container::condensed;
use tessera_codec::{Decoder, Limits, PreparedDictionary};
use tessera_dict::{DictId, Dictionary};

/// A pack in the making. It can be read once [`Self::finish`] has written the index.
#[derive(Debug)]
pub struct PackWriter<W> {
    out: W,
    position: u64,
    dictionary: Range<u64>,
    own: Option<PreparedDictionary>,
    templates: Vec<Template>,
    /// Metadata that is in the pack.
    metadata: Beginnings,
    entries: BTreeMap<String, Stored>,
}

/// A picture that is written.
#[derive(Debug)]
struct Stored {
    place: Range<u64>,
    /// The name of the one it is predicted from.
    key: Option<String>,
}

impl<W: Write> PackWriter<W> {
    /// Starts a pack; `dictionary` is the file of the one that its pictures are coded with, best a difference from the
    /// built-in one ([`Dictionary::to_difference`]), unless they need none.
    ///
    /// # Errors
    /// [`Error::Io`], or the dictionary is none.
    pub fn new(mut out: W, dictionary: Option<&[u8]>) -> Result<Self, Error> {
        let file = dictionary.unwrap_or_default();
        let own = dictionary.map(Dictionary::from_bytes).transpose()?;
        out.write_all(&MAGIC)?;
        out.write_all(file)?;
        let start = MAGIC.len() as u64;
        let end = start + file.len() as u64;
        Ok(Self {
            out,
            position: end,
            dictionary: start..end,
            own: own.map(PreparedDictionary::from),
            templates: Vec::new(),
            metadata: Beginnings::default(),
            entries: BTreeMap::new(),
        })
    }

    /// What learned dictionary the pictures may name.
    pub fn dictionary(&self) -> Option<DictId> {
        self.own.as_ref().map(|own| own.id())
    }

    /// Whether a picture of this name is there.
    pub fn contains(&self, name: &str) -> bool {
        self.entries.contains_key(name)
    }

    /// Adds a picture, given as a file, and tells how many bytes it takes.
    ///
    /// # Errors
    /// [`Error::Exists`], [`Error::BadName`], [`Error::OtherDictionary`]; [`Error::Codec`] if the file is damaged;
    /// [`Error::Io`], after which the pack is unfinished.
    pub fn add(&mut self, name: &str, file: &[u8]) -> Result<u64, Error> {
        let own = self.own.clone();
        self.put(name, file, own.as_ref(), None)
    }

    /// Adds a picture that is predicted from another one of the pack: its file was coded with what
    /// [`predicting_dictionary`](crate::predicting_dictionary) makes of the file of `key`.
    ///
    /// # Errors
    /// As for [`Self::add`]; [`Error::BadKey`] if there is no picture `key` that is not predicted itself.
    pub fn add_predicted(
        &mut self,
        name: &str,
        file: &[u8],
        key: &str,
        dictionary: &PreparedDictionary,
    ) -> Result<u64, Error> {
        match self.entries.get(key) {
            Some(Stored { key: None, .. }) => {}
            _ => return Err(Error::BadKey(key.into())),
        }
        self.put(name, file, Some(dictionary), Some(key.into()))
    }

    fn put(
        &mut self,
        name: &str,
        file: &[u8],
        dictionary: Option<&PreparedDictionary>,
        key: Option<String>,
    ) -> Result<u64, Error> {
        names::check(name)?;
        if self.contains(name) {
            return Err(Error::Exists(name.into()));
        }
        let mut decoder = Decoder::new().limits(Limits::none());
        if let Some(dictionary) = dictionary {
            decoder = decoder.dictionary(dictionary);
        }
        let coded = decoder.parse(file)?;
        let needed = coded.header().dictionary;
        let own = dictionary.is_some_and(|own| needed.names(own.id()));
        if !own && !matches!(needed, DictId::Builtin(_)) {
            return Err(Error::OtherDictionary(needed));
        }
        coded.check()?;
        let (header, header_len) = condensed::condense(file)?;
        // Behind a preview nothing is shared: what is shared follows the header.
        let metadata = match coded.header().preview_len {
            0 => &file[header_len..header_len + coded.header().metadata_len],
            _ => &[],
        };
        let (start, shared) = self.start(&header, metadata)?;
        let rest = &file[header_len + shared..];
        self.out.write_all(&start)?;
        self.out.write_all(rest)?;
        let bytes = (start.len() + rest.len()) as u64;
        let place = self.position..self.position + bytes;
        self.position = place.end;
        self.entries.insert(name.into(), Stored { place, key });
        Ok(bytes)
    }

    /// The start of the next entry, and how many bytes of its metadata need not be written, because they are there.
    fn start(&mut self, header: &[u8], metadata: &[u8]) -> Result<(Vec<u8>, usize), Error> {
        if let Some(shared) = self.metadata.longest(metadata)
            && let Ok(start) = entry::start(header, &shared, &mut self.templates)
        {
            return Ok((start, (shared.end - shared.start) as usize));
        }
        let start = entry::start(header, &(0..0), &mut self.templates)?;
        let place = self.position + start.len() as u64;
        self.metadata.add(metadata, place);
        Ok((start, 0))
    }

    /// Writes the index; only now the pack, or what was appended to it, is there.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn finish(mut self) -> Result<W, Error> {
        let (names, stored): (Vec<String>, Vec<Stored>) = self.entries.into_iter().unzip();
        let number = |key: &String| names.binary_search(key).ok();
        let index = Index {
            dictionary: self.dictionary,
            templates: self.templates,
            keys: (stored.iter())
                .map(|stored| stored.key.as_ref().and_then(number))
                .collect(),
            places: stored.into_iter().map(|stored| stored.place).collect(),
            names,
        };
        let stored = index.write();
        self.out.write_all(&stored)?;
        self.out.write_all(&trailer(self.position, &stored))?;
        self.out.flush()?;
        Ok(self.out)
    }
}

impl<F: Read + Write + Seek> PackWriter<F> {
    /// Goes on with a pack: pictures are added behind what is there, which stays valid until the new index is complete.
    /// What an interrupted run left behind the last index is written over.
    ///
    /// # Errors
    /// [`Error`] if the file is no pack.
    pub fn append(mut file: F) -> Result<Self, Error> {
        let (index, own, end) = reader::to_continue(&mut file)?;
        let mut metadata = Beginnings::default();
        for template in &index.templates {
            let Range { start, .. } = template.shared;
            metadata.add(
                &reader::read_range(&mut file, template.shared.clone())?,
                start,
            );
        }
        file.seek(SeekFrom::Start(end))?;
        Ok(Self {
            out: file,
            position: end,
            entries: index.entries(|place, key| Stored { place, key }),
            dictionary: index.dictionary,
            own,
            metadata,
            templates: index.templates,
        })
    }
}

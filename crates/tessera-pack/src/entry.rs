//! One picture in a pack: its header told beside one that others have too, and the rest of its file as it is.

use crate::error::Error;
use crate::index::MOST_TEMPLATES;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tessera_codec::internals::container::bytes::{ByteReader, put_varint};
use tessera_codec::internals::container::condensed;
use tessera_dict::DictId;

/// Longest start of an entry: number of the template, which bytes differ, and these.
pub(crate) const LONGEST_START: usize = 1 + 10 + 64;
/// A header that differs in more bytes than this becomes a template itself.
const MOST_DIFFERENT: u32 = 4;

/// What pictures are told beside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Template {
    /// A condensed header.
    pub(crate) header: Vec<u8>,
    /// Where the bytes lie that follow the header of all of them; empty if there are none.
    pub(crate) shared: Range<u64>,
}

/// The start of an entry that is read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Start {
    /// The whole header of the picture's file.
    pub(crate) header: Vec<u8>,
    /// Where the bytes lie that follow it.
    pub(crate) shared: Range<u64>,
    /// How many bytes of the entry told all this.
    pub(crate) len: usize,
}

/// Bit i says that the byte differs that has i others behind it: quantiser and work stand at the end, so that one byte tells
/// what usually differs.
fn differing(header: &[u8], template: &[u8]) -> Option<u64> {
    if header.len() != template.len() || header.len() > 63 {
        return None;
    }
    let pairs = header.iter().rev().zip(template.iter().rev());
    let bits = pairs
        .enumerate()
        .map(|(at, (own, other))| u64::from(own != other) << at);
    Some(bits.sum())
}

/// The start of the entry of a picture with this condensed header, behind which follows what lies at `shared`; a template may
/// be added for it.
pub(crate) fn start(
    header: &[u8],
    shared: &Range<u64>,
    templates: &mut Vec<Template>,
) -> Result<Vec<u8>, Error> {
    let fitting = templates.iter().enumerate();
    let fitting = fitting.filter(|(_, template)| template.shared == *shared);
    let masks =
        fitting.filter_map(|(at, template)| Some((at, differing(header, &template.header)?)));
    let nearest = masks.min_by_key(|(_, mask)| mask.count_ones());
    let (template, mask) = match nearest {
        Some((at, mask)) if mask.count_ones() <= MOST_DIFFERENT => (at, mask),
        _ if templates.len() < MOST_TEMPLATES => {
            templates.push(Template {
                header: header.to_vec(),
                shared: shared.clone(),
            });
            (templates.len() - 1, 0)
        }
        Some(nearest) => nearest,
        None => {
            return Err(Error::Damaged(
                "there are too many kinds of headers for one pack",
            ));
        }
    };
    let mut out = vec![template as u8];
    put_varint(&mut out, mask);
    let bytes = header.iter().rev().enumerate();
    let different = bytes.filter(|(at, _)| mask >> at & 1 == 1);
    out.extend(different.map(|(_, byte)| byte));
    Ok(out)
}

/// Reads the start of an entry.
pub(crate) fn read_start(
    start: &[u8],
    templates: &[Template],
    dictionary: Option<DictId>,
) -> Result<Start, Error> {
    let mut reader = ByteReader::new(start, 0, "the start of a picture in the pack");
    let template = templates.get(usize::from(reader.u8()?));
    let Template { mut header, shared } = template
        .ok_or(Error::Damaged("a picture has a header that is not there"))?
        .clone();
    let mask = reader.varint()?;
    if mask.checked_shr(header.len() as u32).unwrap_or(0) != 0 {
        return Err(Error::Damaged("a header differs behind its end"));
    }
    for (at, byte) in header.iter_mut().rev().enumerate() {
        if mask >> at & 1 == 1 {
            *byte = reader.u8()?;
        }
    }
    Ok(Start {
        header: condensed::expand(&header, dictionary)?,
        shared,
        len: reader.position(),
    })
}

/// A picture in a pack as the file it would be by itself, read where it is asked for.
#[derive(Debug)]
pub struct EntryReader<R> {
    /// The header and what it shares with other pictures.
    head: Vec<u8>,
    pack: Arc<Mutex<R>>,
    /// Where the rest of it lies in the pack.
    body: Range<u64>,
    position: u64,
}

impl<R> EntryReader<R> {
    pub(crate) fn new(head: Vec<u8>, pack: Arc<Mutex<R>>, body: Range<u64>) -> Self {
        Self {
            head,
            pack,
            body,
            position: 0,
        }
    }

    fn len(&self) -> u64 {
        self.head.len() as u64 + self.body.end - self.body.start
    }
}

impl<R: Read + Seek> Read for EntryReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (head, at) = (self.head.len() as u64, self.position);
        let read = if at < head {
            (&self.head[at as usize..]).read(out)?
        } else {
            let left = self.len().saturating_sub(at).min(out.len() as u64) as usize;
            let mut pack = self.pack.lock().unwrap_or_else(PoisonError::into_inner);
            pack.seek(SeekFrom::Start(self.body.start + (at - head)))?;
            pack.read(&mut out[..left])?
        };
        self.position += read as u64;
        Ok(read)
    }
}

impl<R> Seek for EntryReader<R> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::End(offset) => self.len().checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

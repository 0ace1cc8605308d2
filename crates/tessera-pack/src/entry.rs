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
const MOST_DIFFERENT: u32 = 3;

/// Bit i says that byte i differs; the last one also stands for none behind it.
fn differing(header: &[u8], template: &[u8]) -> Option<u64> {
    if header.len() != template.len() || header.len() > 63 {
        return None;
    }
    let differs = |at: usize| u64::from(header[at] != template[at]) << at;
    Some((0..header.len()).map(differs).sum())
}

/// The start of the entry of a picture with this condensed header; a template may be added for it.
pub(crate) fn start(header: &[u8], templates: &mut Vec<Vec<u8>>) -> Result<Vec<u8>, Error> {
    let masks = templates.iter().enumerate();
    let masks = masks.filter_map(|(at, template)| Some((at, differing(header, template)?)));
    let nearest = masks.min_by_key(|(_, mask)| mask.count_ones());
    let (template, mask) = match nearest {
        Some((at, mask)) if mask.count_ones() <= MOST_DIFFERENT => (at, mask),
        _ if templates.len() < MOST_TEMPLATES => {
            templates.push(header.to_vec());
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
    let different = (0..header.len()).filter(|at| mask >> at & 1 == 1);
    out.extend(different.map(|at| header[at]));
    Ok(out)
}

/// The whole header of the picture whose entry begins with `start`, and how many bytes of the entry tell it.
pub(crate) fn header(
    start: &[u8],
    templates: &[Vec<u8>],
    dictionary: Option<DictId>,
) -> Result<(Vec<u8>, usize), Error> {
    let mut reader = ByteReader::new(start, 0, "the start of a picture in the pack");
    let template = templates.get(usize::from(reader.u8()?));
    let mut header = template
        .ok_or(Error::Damaged("a picture has a header that is not there"))?
        .clone();
    let mask = reader.varint()?;
    if mask.checked_shr(header.len() as u32).unwrap_or(0) != 0 {
        return Err(Error::Damaged("a header differs behind its end"));
    }
    for (at, byte) in header.iter_mut().enumerate() {
        if mask >> at & 1 == 1 {
            *byte = reader.u8()?;
        }
    }
    let whole = condensed::expand(&header, dictionary)?;
    Ok((whole, reader.position()))
}

/// A picture in a pack as the file it would be by itself, read where it is asked for.
#[derive(Debug)]
pub struct EntryReader<R> {
    header: Vec<u8>,
    pack: Arc<Mutex<R>>,
    /// Where the rest of it lies in the pack.
    body: Range<u64>,
    position: u64,
}

impl<R> EntryReader<R> {
    pub(crate) fn new(header: Vec<u8>, pack: Arc<Mutex<R>>, body: Range<u64>) -> Self {
        Self {
            header,
            pack,
            body,
            position: 0,
        }
    }

    fn len(&self) -> u64 {
        self.header.len() as u64 + self.body.end - self.body.start
    }
}

impl<R: Read + Seek> Read for EntryReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let (head, at) = (self.header.len() as u64, self.position);
        let read = if at < head {
            (&self.header[at as usize..]).read(out)?
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

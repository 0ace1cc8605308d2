//! Everything one instance of the module holds: dictionaries, open pictures, and the output of the last call.

use crate::failure::{Cause, Failure, Result};
use crate::open_pack::OpenPack;
use crate::open_picture::{OpenPicture, description};
use crate::rgba;
use tessera_codec::{
    CodedPicture, Decoder, Dictionary, Downscaler, Limits, Picture, PictureInfo,
    PreparedDictionary, Rect, Samples, Scale,
};

/// A module of 32 bits has at most 4 GB, and a page should not take all of them.
const MEMORY: u64 = 2 << 30;

/// What is made of the samples of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Eight bits, red, green, blue, alpha, colours as the profile has them.
    Rgba,
    /// As they are stored, two bytes each (low byte first) if deeper than eight bits, colours as the profile has them.
    Raw,
}

/// What to decode of a picture.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// A part of it; all if `None`.
    pub(crate) region: Option<Rect>,
    /// The longest side of the result; as it is if `None`.
    pub(crate) max_side: Option<u32>,
    pub(crate) form: Form,
}

/// The state behind the functions that JavaScript calls.
#[derive(Default)]
pub(crate) struct Instance {
    builtin: bool,
    dictionaries: Vec<PreparedDictionary>,
    pictures: Vec<Option<OpenPicture>>,
    packs: Vec<Option<OpenPack>>,
    /// What the last call has made, or why it failed.
    pub(crate) output: Vec<u8>,
}

impl Instance {
    /// Takes the file of the built-in dictionary, which everything else needs.
    pub(crate) fn load_builtin(&mut self, file: &[u8]) -> Result<()> {
        let loaded = Dictionary::load_builtin(file);
        let loaded = loaded.map_err(|error| Failure::new(Cause::Dictionary, error.to_string()))?;
        self.builtin = true;
        self.output = loaded.id().to_string().into_bytes();
        Ok(())
    }

    /// Takes a learned dictionary and returns its number for [`Instance::dictionary`]; its identity is the output.
    pub(crate) fn add_dictionary(&mut self, file: &[u8]) -> Result<usize> {
        self.check_ready()?;
        let dictionary = Dictionary::from_bytes(file)
            .map_err(|error| Failure::new(Cause::Dictionary, error.to_string()))?;
        let prepared = PreparedDictionary::new(dictionary)
            .map_err(|error| Failure::new(Cause::Dictionary, error.to_string()))?;
        Ok(self.keep_dictionary(prepared))
    }

    /// The number of a dictionary, which is kept unless it is there already; its identity is the output.
    fn keep_dictionary(&mut self, dictionary: PreparedDictionary) -> usize {
        self.output = dictionary.id().to_string().into_bytes();
        let known = |own: &PreparedDictionary| own.id() == dictionary.id();
        self.dictionaries.iter().position(known).unwrap_or_else(|| {
            self.dictionaries.push(dictionary);
            self.dictionaries.len() - 1
        })
    }

    /// The dictionary with this number, or the built-in one if there is no such number.
    #[cfg(feature = "encoder")]
    pub(crate) fn dictionary(&self, number: Option<usize>) -> Result<PreparedDictionary> {
        self.check_ready()?;
        let Some(number) = number else {
            return Ok(PreparedDictionary::builtin().clone());
        };
        let found = self.dictionaries.get(number).cloned();
        found.ok_or_else(|| Failure::new(Cause::Parameter, "no dictionary has this number"))
    }

    /// Opens a file of `len` bytes by its start and returns its number; its description is the output.
    pub(crate) fn open(&mut self, start: &[u8], len: usize) -> Result<usize> {
        let picture = OpenPicture::new(&self.decoder()?, start, len)?;
        self.output = picture.description()?.into_bytes();
        Ok(kept(&mut self.pictures, picture))
    }

    /// Opens a pack by its first bytes and its end and returns its number; what it holds is the output.
    pub(crate) fn open_pack(&mut self, start: &[u8], end: &[u8], len: usize) -> Result<usize> {
        self.check_ready()?;
        let pack = OpenPack::new(start, end, len)?;
        self.output = pack.description().into_bytes();
        Ok(kept(&mut self.packs, pack))
    }

    /// Takes the dictionary of an open pack.
    pub(crate) fn set_pack_dictionary(&mut self, number: usize, bytes: &[u8]) -> Result<()> {
        self.pack(number)?.set_dictionary(bytes)
    }

    /// Takes a part of an open pack that its pictures share.
    pub(crate) fn keep_shared(&mut self, number: usize, place: usize, bytes: &[u8]) -> Result<()> {
        self.pack(number)?.keep_shared(place, bytes);
        Ok(())
    }

    /// The file of a picture in an open pack.
    pub(crate) fn pack_file(
        &mut self,
        number: usize,
        picture: usize,
        bytes: &[u8],
        key: &[u8],
    ) -> Result<()> {
        self.output = self.pack(number)?.file(picture, bytes, key)?;
        Ok(())
    }

    /// Adds the dictionary of a picture that is predicted from another one and returns its number; its identity is the output.
    pub(crate) fn add_predicting(
        &mut self,
        number: usize,
        picture: usize,
        key: &[u8],
    ) -> Result<usize> {
        let dictionary = self.pack(number)?.predicting_dictionary(picture, key)?;
        Ok(self.keep_dictionary(dictionary))
    }

    /// Forgets an open pack.
    pub(crate) fn close_pack(&mut self, number: usize) {
        if let Some(pack) = self.packs.get_mut(number) {
            *pack = None;
        }
    }

    /// Where the tiles of an open picture lie, as numbers of four bytes.
    pub(crate) fn tiles(&mut self, number: usize) -> Result<()> {
        let words = self.picture(number)?.tiles();
        self.output = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        Ok(())
    }

    /// The colour profile of an open picture, or nothing if it needs none.
    pub(crate) fn profile(&mut self, number: usize) -> Result<()> {
        self.output = self.picture(number)?.profile()?.unwrap_or_default();
        Ok(())
    }

    /// Decodes the small picture in front of an open one.
    pub(crate) fn preview(&mut self, number: usize) -> Result<()> {
        self.output = optional_output(self.picture(number)?.preview()?)?;
        Ok(())
    }

    /// Decodes what is there of a tile whose first bytes are given.
    pub(crate) fn tile_start(&mut self, number: usize, tile: usize, bytes: &[u8]) -> Result<()> {
        let picture = self.picture(number)?;
        check_tile(picture, tile)?;
        self.output = optional_output(picture.tile_start(tile, bytes)?)?;
        Ok(())
    }

    /// Decodes one tile of an open picture.
    pub(crate) fn decode_tile(&mut self, number: usize, tile: usize, bytes: &[u8]) -> Result<()> {
        let mut out = std::mem::take(&mut self.output);
        out.clear();
        let picture = self.picture(number)?;
        check_tile(picture, tile)?;
        picture.decode_tile(tile, bytes, &mut out)?;
        self.output = out;
        Ok(())
    }

    /// Forgets an open picture.
    pub(crate) fn close(&mut self, number: usize) {
        if let Some(picture) = self.pictures.get_mut(number) {
            *picture = None;
        }
    }

    /// Describes a whole file.
    pub(crate) fn describe(&mut self, file: &[u8]) -> Result<()> {
        let coded = self.decoder()?.parse(file)?;
        coded.check_end()?;
        self.output = description(&coded)?.into_bytes();
        Ok(())
    }

    /// Decodes a whole file. The output is width, height, channels and bits in four bytes each, and the pixels.
    pub(crate) fn decode(&mut self, file: &[u8], wanted: Wanted) -> Result<()> {
        let coded = self.decoder()?.parse(file)?;
        let picture = scaled(&coded, wanted)?;
        self.output = match wanted.form {
            Form::Rgba => rgba_output(&picture)?,
            Form::Raw => raw_output(picture),
        };
        Ok(())
    }

    fn decoder(&self) -> Result<Decoder> {
        self.check_ready()?;
        let limits = Limits::default().with_memory(MEMORY);
        let decoder = Decoder::new().limits(limits);
        let dictionaries = self.dictionaries.iter();
        Ok(dictionaries.fold(decoder, |decoder, own| decoder.dictionary(own)))
    }

    fn check_ready(&self) -> Result<()> {
        if self.builtin {
            return Ok(());
        }
        let message = "the built-in dictionary is not loaded yet; call init() first";
        Err(Failure::new(Cause::Dictionary, message))
    }

    fn pack(&self, number: usize) -> Result<&OpenPack> {
        let found = self.packs.get(number).and_then(Option::as_ref);
        found.ok_or_else(|| Failure::new(Cause::Parameter, "no open pack has this number"))
    }

    fn picture(&self, number: usize) -> Result<&OpenPicture> {
        let found = self.pictures.get(number).and_then(Option::as_ref);
        found.ok_or_else(|| Failure::new(Cause::Parameter, "no open picture has this number"))
    }
}

fn check_tile(picture: &OpenPicture, tile: usize) -> Result<()> {
    if tile < picture.tile_count() {
        return Ok(());
    }
    Err(Failure::new(Cause::Parameter, "there is no such tile"))
}

/// Puts something where nothing is and returns its number.
fn kept<T>(all: &mut Vec<Option<T>>, new: T) -> usize {
    let free = all.iter().position(Option::is_none);
    let number = free.unwrap_or_else(|| {
        all.push(None);
        all.len() - 1
    });
    all[number] = Some(new);
    number
}

/// The part that is wanted, in the size that is wanted, a few rows of tiles at a time.
fn scaled(coded: &CodedPicture<'_>, wanted: Wanted) -> Result<Picture> {
    let (region, side) = match (wanted.region, wanted.max_side) {
        (None, None) => return Ok(coded.decode()?),
        (Some(region), None) => return Ok(coded.decode_region(region)?),
        (None, Some(side)) => return Ok(coded.decode_scaled(Scale::MaxSide(side))?),
        (Some(region), Some(side)) => (region, side),
    };
    let part = coded.decode_region(region)?;
    let rows = Downscaler::new(PictureInfo::from(&part), Scale::MaxSide(side))?.push(&part)?;
    // All rows went in, so all come out.
    let mut small = rows.unwrap_or_else(|| part.clone());
    small.metadata = part.metadata;
    Ok(small)
}

/// Four numbers in front of the pixels.
fn head(picture: &Picture, channels: usize, bits: u32) -> Vec<u8> {
    [picture.width(), picture.height(), channels as u32, bits]
        .iter()
        .flat_map(|number| number.to_le_bytes())
        .collect()
}

fn rgba_output(picture: &Picture) -> Result<Vec<u8>> {
    let mut out = head(picture, 4, 8);
    rgba::append(picture, &mut out)?;
    Ok(out)
}

/// A picture as RGBA, or no bytes.
fn optional_output(picture: Option<Picture>) -> Result<Vec<u8>> {
    picture.map_or(Ok(Vec::new()), |picture| rgba_output(&picture))
}

fn raw_output(picture: Picture) -> Vec<u8> {
    let format = picture.format();
    let mut out = head(&picture, format.channels(), format.depth.bits());
    match picture.into_samples() {
        Samples::U8(samples) => out.extend(samples),
        Samples::U16(samples) => out.extend(samples.iter().flat_map(|v| v.to_le_bytes())),
    }
    out
}

//! `container.md`, "Header".

use crate::bytes::{Reader, crc8};
use crate::error::{Result, ensure, refuse};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Gray,
    YCbCr,
}

/// How a file names its dictionary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum DictionaryName {
    BuiltIn(u8),
    Short([u8; 4]),
    Hash([u8; 16]),
}

#[derive(Debug, Clone)]
pub(crate) struct Header {
    pub(crate) colour: Colour,
    pub(crate) alpha: bool,
    /// Bits per sample of the picture.
    pub(crate) bits: u32,
    pub(crate) quantiser_offsets: bool,
    pub(crate) lossless: bool,
    pub(crate) drawn: bool,
    pub(crate) dictionary: DictionaryName,
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) tile_side: usize,
    pub(crate) quantiser: i32,
    pub(crate) chroma_offsets: [i8; 2],
    /// Curves of luma and of chroma.
    pub(crate) weights: [[i8; 3]; 2],
    pub(crate) alpha_quantiser: i32,
    /// "Decode work": the most that any tile takes.
    pub(crate) work: u64,
    pub(crate) preview: usize,
    pub(crate) metadata: usize,
    /// All of it, the check included.
    pub(crate) bytes: Vec<u8>,
}

const TILE_SIZE: u64 = 1;
const METADATA: u64 = 2;
const OFFSETS: u64 = 4;
const WEIGHTS: u64 = 8;
const LOSSLESS: u64 = 16;
const DRAWN: u64 = 32;
const PREVIEW: u64 = 64;

impl Header {
    pub(crate) fn read(file: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(file);
        ensure(
            reader.take(2)? == [0xD4, 0x53],
            "this is no Tessera picture",
        )?;
        ensure(
            reader.u8()? == 1,
            "a version of the format that is reserved",
        )?;
        let format = reader.u8()?;
        ensure(
            format & 3 <= 1 && format & 0x60 == 0,
            "a format that is reserved",
        )?;
        let features = features(&mut reader, format)?;
        let mut header = Self {
            colour: if format & 3 == 0 {
                Colour::Gray
            } else {
                Colour::YCbCr
            },
            alpha: format & 4 != 0,
            bits: [8, 10, 12, 16][usize::from(format >> 3 & 3)],
            quantiser_offsets: features & OFFSETS != 0,
            lossless: features & LOSSLESS != 0,
            drawn: features & DRAWN != 0,
            dictionary: dictionary_name(&mut reader)?,
            width: side(&mut reader)?,
            height: side(&mut reader)?,
            tile_side: tile_side(&mut reader, features)?,
            quantiser: 0,
            chroma_offsets: [0; 2],
            weights: [[0; 3]; 2],
            alpha_quantiser: 0,
            work: 0,
            preview: 0,
            metadata: 0,
            bytes: Vec::new(),
        };
        if header.lossless {
            // How far the encoder may have moved samples: decoding does not depend on it.
            let _near = reader.u8()?;
        } else {
            header.read_lossy(&mut reader, features)?;
        }
        header.work = decode_work(reader.u8()?);
        if features & PREVIEW != 0 {
            header.preview = reader.length()?;
            ensure(
                (1..=65535).contains(&header.preview),
                "a preview of no or too many bytes",
            )?;
        }
        if features & METADATA != 0 {
            header.metadata = reader.length()?;
            ensure(header.metadata != 0, "metadata of length zero")?;
        }
        let check = crc8(&file[..reader.at()]);
        ensure(reader.u8()? == check, "the header is damaged")?;
        header.bytes = file[..reader.at()].to_vec();
        Ok(header)
    }

    fn read_lossy(&mut self, reader: &mut Reader<'_>, features: u64) -> Result<()> {
        let none = self.dictionary == DictionaryName::BuiltIn(0);
        ensure(!none, "a lossy file without a dictionary")?;
        let colour = self.colour != Colour::Gray;
        let quantiser = reader.u8()?;
        self.quantiser = i32::from(quantiser & 127);
        if quantiser & 128 != 0 {
            ensure(colour, "chroma offsets of a gray picture")?;
            self.chroma_offsets = reader.array()?.map(|byte: u8| byte as i8);
            ensure(self.chroma_offsets != [0; 2], "chroma offsets of zero")?;
        }
        if features & WEIGHTS != 0 {
            self.weights[0] = reader.array()?.map(|byte: u8| byte as i8);
            if colour {
                self.weights[1] = reader.array()?.map(|byte: u8| byte as i8);
            }
            ensure(self.weights != [[0; 3]; 2], "frequency weights of zero")?;
        }
        if self.alpha {
            self.alpha_quantiser = i32::from(reader.u8()?);
            ensure(
                self.alpha_quantiser <= 127,
                "a quantiser of alpha above 127",
            )?;
        }
        Ok(())
    }
}

fn features(reader: &mut Reader<'_>, format: u8) -> Result<u64> {
    if format & 128 == 0 {
        return Ok(0);
    }
    let features = u64::from(reader.u8()?);
    ensure(features != 0, "a features byte of zero")?;
    ensure(features < 128, "features that are reserved")?;
    let lossy = features & (OFFSETS | WEIGHTS | DRAWN) != 0;
    ensure(
        features & LOSSLESS == 0 || !lossy,
        "lossy features of a lossless file",
    )?;
    Ok(features)
}

fn dictionary_name(reader: &mut Reader<'_>) -> Result<DictionaryName> {
    Ok(match reader.u8()? {
        254 => DictionaryName::Short(reader.array()?),
        255 => DictionaryName::Hash(reader.array()?),
        number => DictionaryName::BuiltIn(number),
    })
}

fn side(reader: &mut Reader<'_>) -> Result<usize> {
    match reader.length()? {
        less @ 0..=65534 => Ok(less + 1),
        _ => refuse("a side above 65535"),
    }
}

fn tile_side(reader: &mut Reader<'_>, features: u64) -> Result<usize> {
    let log2 = if features & TILE_SIZE != 0 {
        reader.u8()?
    } else {
        10
    };
    ensure((6..=15).contains(&log2), "a tile size that is not 6 to 15")?;
    Ok(1 << log2)
}

/// "Decode work".
fn decode_work(byte: u8) -> u64 {
    let byte = u64::from(byte);
    (8 + (byte & 7)) << ((byte >> 3) + 4)
}

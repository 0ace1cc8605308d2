//! The header: everything a receiver wants to know before it spends memory or time.
//!
//! Layout in `spec/container.md`, "Header". Reader and writer stand side by side, fields in the
//! order of the file.

use crate::container::bytes::ByteReader;
use crate::container::check::{Integrity, crc8};
use crate::container::work::WorkBound;
use crate::error::FormatError;
use crate::picture::{Colour, PixelFormat};
use crate::quality::MAX_QUANTISER;
use crate::tile::WeightCurve;
use crate::tile_grid::{DEFAULT_TILE_LOG2, Rect, TILE_LOG2_RANGE, TileGrid};
use tessera_dict::DictId;
use tessera_patch::colour::BitDepth;

#[cfg(feature = "encoder")]
use crate::container::bytes::put_varint;

/// The first two bytes of every file; the first is no ASCII, so no text file starts like this.
pub const MAGIC: [u8; 2] = [0xD4, 0x53];

/// The version of the format described in `spec/`.
pub const VERSION: u8 = 1;

/// Pixels on a side: sixteen bits, as in JPEG.
pub const MAX_SIDE: u32 = 65535;

/// Bytes of a preview.
pub const MAX_PREVIEW_LEN: usize = 65535;

/// No header is longer: the fixed fields, a dictionary hash and four numbers take 55 bytes.
pub(super) const MAX_LEN: usize = 64;

/// What stands for the dictionary in a lossless file that uses none.
pub(crate) const NO_DICTIONARY: DictId = DictId::Builtin(0);

/// Dictionary byte that announces a 128-bit hash.
pub(super) const DICTIONARY_BY_HASH: u8 = 0xFF;
/// Dictionary byte that announces the first bytes of one.
pub(super) const DICTIONARY_BY_PREFIX: u8 = 0xFE;

const PART: &str = "the header";

// Bits of the format byte.
const COLOUR_MASK: u8 = 0b0000_0011;
const COLOUR_GRAY: u8 = 0;
const COLOUR_YCBCR: u8 = 1;
const ALPHA: u8 = 0b0000_0100;
const DEPTH_SHIFT: u32 = 3;
const DEPTH_MASK: u8 = 0b11;
const FORMAT_RESERVED: u8 = 0b0110_0000;
pub(super) const HAS_FEATURES: u8 = 0b1000_0000;

// Bits of the features byte.
const FEATURE_TILES: u8 = 0b01;
const FEATURE_METADATA: u8 = 0b10;
const FEATURE_ADAPTIVE: u8 = 0b100;
const FEATURE_WEIGHTS: u8 = 0b1000;
const FEATURE_LOSSLESS: u8 = 0b1_0000;
const FEATURE_GRAPHICS: u8 = 0b10_0000;
const FEATURE_PREVIEW: u8 = 0b100_0000;
const FEATURES: u8 = FEATURE_TILES
    | FEATURE_METADATA
    | FEATURE_ADAPTIVE
    | FEATURE_WEIGHTS
    | FEATURE_LOSSLESS
    | FEATURE_GRAPHICS
    | FEATURE_PREVIEW;
/// Features of lossy tiles.
const LOSSY_FEATURES: u8 = FEATURE_ADAPTIVE | FEATURE_WEIGHTS | FEATURE_GRAPHICS;

/// Bit of the quantiser byte that announces chroma offsets.
const HAS_CHROMA_OFFSETS: u8 = 0b1000_0000;

/// The parsed header of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Colour, alpha and depth of the picture.
    pub format: PixelFormat,
    /// The dictionary the tiles were coded with; number 0 if they are lossless and need none.
    pub dictionary: DictId,
    /// Columns, 1 to 65535.
    pub width: u32,
    /// Rows, 1 to 65535.
    pub height: u32,
    /// Log2 of the tile side.
    pub tile_log2: u8,
    /// Quantiser index of luma or gray, 0 to 127.
    pub quantiser: u8,
    /// What is added to the quantiser for Cb and for Cr; zero for gray.
    pub chroma_offsets: [i8; 2],
    /// Whether blocks have quantiser offsets of their own.
    pub adaptive: bool,
    /// Whether payloads begin with blocks that are coded pixel by pixel.
    pub graphics: bool,
    /// Frequency weights of luma and of chroma; those of chroma are flat for gray.
    pub weights: [WeightCurve; 2],
    /// Quantiser index of alpha; `Some` exactly when `format.alpha`.
    pub alpha_quantiser: Option<u8>,
    /// How far a sample may be from the original's if the tiles are coded without loss; `Some(0)` is lossless. All
    /// quantisers are zero then.
    pub lossless: Option<u8>,
    /// No tile takes more work than this.
    pub tile_work: WorkBound,
    /// Bytes of the preview, zero when there is none.
    pub preview_len: usize,
    /// Bytes of the metadata section, zero when there is none.
    pub metadata_len: usize,
}

impl Header {
    /// The version of the format that this crate reads and writes.
    pub const FORMAT_VERSION: u8 = VERSION;

    /// The tiles of the picture.
    pub fn grid(&self) -> TileGrid {
        TileGrid::new(self.width, self.height, self.tile_log2)
    }

    /// All pixels of the picture.
    pub fn rect(&self) -> Rect {
        Rect {
            x: 0,
            y: 0,
            width: self.width,
            height: self.height,
        }
    }

    /// Upper bound of the work of the whole picture.
    pub fn work(&self) -> u64 {
        self.tile_work
            .units()
            .saturating_mul(self.grid().count() as u64)
    }

    /// Reads a header from the start of a file; also returns its length in bytes.
    pub(crate) fn read(file: &[u8], integrity: Integrity) -> Result<(Self, usize), FormatError> {
        let reader = &mut ByteReader::new(file, 0, PART);
        read_magic(reader)?;
        let format_byte = reader.u8()?;
        let format = read_format(format_byte)?;
        let features = read_features(reader, format_byte)?;
        let dictionary = read_dictionary(reader)?;
        let width = read_side(reader)?;
        let height = read_side(reader)?;
        let tile_log2 = read_tile_log2(reader, features)?;
        let coding = match features & FEATURE_LOSSLESS {
            0 => Coding::read(reader, features, format)?,
            _ => Coding::read_lossless(reader, features, format)?,
        };
        let tile_work = WorkBound::from_byte(reader.u8()?);
        let preview_len = read_preview_len(reader, features)?;
        let metadata_len = read_metadata_len(reader, features)?;
        let covered = reader.position();
        integrity.demand(crc8(&file[..covered]) == reader.u8()?, PART)?;
        let header = Self {
            format,
            dictionary,
            width,
            height,
            tile_log2,
            quantiser: coding.quantiser,
            chroma_offsets: coding.chroma_offsets,
            adaptive: features & FEATURE_ADAPTIVE != 0,
            graphics: features & FEATURE_GRAPHICS != 0,
            weights: coding.weights,
            alpha_quantiser: coding.alpha_quantiser,
            lossless: coding.lossless,
            tile_work,
            preview_len,
            metadata_len,
        };
        Ok((header, reader.position()))
    }

    /// Writes the header to an empty buffer.
    #[cfg(feature = "encoder")]
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.push(VERSION);
        let features = self.features();
        let has_features = if features != 0 { HAS_FEATURES } else { 0 };
        out.push(format_byte(self.format) | has_features);
        if features != 0 {
            out.push(features);
        }
        put_dictionary(&mut out, self.dictionary);
        put_varint(&mut out, u64::from(self.width - 1));
        put_varint(&mut out, u64::from(self.height - 1));
        if features & FEATURE_TILES != 0 {
            out.push(self.tile_log2);
        }
        match self.lossless {
            Some(near) => out.push(near),
            None => self.put_quantisers(&mut out, features),
        }
        out.push(self.tile_work.byte());
        if features & FEATURE_PREVIEW != 0 {
            put_varint(&mut out, self.preview_len as u64);
        }
        if features & FEATURE_METADATA != 0 {
            put_varint(&mut out, self.metadata_len as u64);
        }
        out.push(crc8(&out));
        out
    }

    #[cfg(feature = "encoder")]
    fn put_quantisers(&self, out: &mut Vec<u8>, features: u8) {
        put_quantiser(out, self.quantiser, self.chroma_offsets);
        if features & FEATURE_WEIGHTS != 0 {
            let curves = &self.weights[..self.format.colour_channels().min(2)];
            out.extend(curves.iter().flat_map(|curve| curve.0).map(|log| log as u8));
        }
        out.extend(self.alpha_quantiser);
    }

    /// A picture that fits in one default tile does not state its tile size: it has no effect.
    #[cfg(feature = "encoder")]
    fn features(&self) -> u8 {
        let default_grid = TileGrid::new(self.width, self.height, DEFAULT_TILE_LOG2);
        let same_tiles = self.grid().count() == 1 && default_grid.count() == 1;
        let mut features = 0;
        if self.tile_log2 != DEFAULT_TILE_LOG2 && !same_tiles {
            features |= FEATURE_TILES;
        }
        if self.preview_len > 0 {
            features |= FEATURE_PREVIEW;
        }
        if self.metadata_len > 0 {
            features |= FEATURE_METADATA;
        }
        if self.adaptive {
            features |= FEATURE_ADAPTIVE;
        }
        if self.graphics {
            features |= FEATURE_GRAPHICS;
        }
        if self.weights.iter().any(|curve| !curve.is_flat()) {
            features |= FEATURE_WEIGHTS;
        }
        if self.lossless.is_some() {
            features |= FEATURE_LOSSLESS;
        }
        features
    }
}

/// The fields that say how tiles are coded.
struct Coding {
    quantiser: u8,
    chroma_offsets: [i8; 2],
    weights: [WeightCurve; 2],
    alpha_quantiser: Option<u8>,
    lossless: Option<u8>,
}

impl Coding {
    fn read(
        reader: &mut ByteReader<'_>,
        features: u8,
        format: PixelFormat,
    ) -> Result<Self, FormatError> {
        let (quantiser, chroma_offsets) = read_quantiser(reader, format.colour)?;
        Ok(Self {
            quantiser,
            chroma_offsets,
            weights: read_weights(reader, features, format.colour)?,
            alpha_quantiser: read_alpha_quantiser(reader, format.alpha)?,
            lossless: None,
        })
    }

    /// Instead of quantisers there is only how far samples may be off.
    fn read_lossless(
        reader: &mut ByteReader<'_>,
        features: u8,
        format: PixelFormat,
    ) -> Result<Self, FormatError> {
        if features & LOSSY_FEATURES != 0 {
            return Err(FormatError::invalid(
                PART,
                "features of a lossy picture in a lossless one",
            ));
        }
        Ok(Self {
            quantiser: 0,
            chroma_offsets: [0; 2],
            weights: Default::default(),
            alpha_quantiser: format.alpha.then_some(0),
            lossless: Some(reader.u8()?),
        })
    }
}

fn read_magic(reader: &mut ByteReader<'_>) -> Result<(), FormatError> {
    if reader.remaining() < MAGIC.len() || reader.array()? != MAGIC {
        return Err(FormatError::NotTessera);
    }
    match reader.u8()? {
        VERSION => Ok(()),
        version => Err(FormatError::UnsupportedVersion(version)),
    }
}

fn read_format(byte: u8) -> Result<PixelFormat, FormatError> {
    let colour = match byte & COLOUR_MASK {
        COLOUR_GRAY => Colour::Gray,
        COLOUR_YCBCR => Colour::Rgb,
        _ => return Err(FormatError::invalid(PART, "reserved colour transform")),
    };
    if byte & FORMAT_RESERVED != 0 {
        return Err(FormatError::invalid(PART, "a reserved bit is set"));
    }
    Ok(PixelFormat {
        colour,
        alpha: byte & ALPHA != 0,
        depth: BitDepth::ALL[usize::from((byte >> DEPTH_SHIFT) & DEPTH_MASK)],
    })
}

#[cfg(feature = "encoder")]
fn format_byte(format: PixelFormat) -> u8 {
    let colour = match format.colour {
        Colour::Gray => COLOUR_GRAY,
        Colour::Rgb => COLOUR_YCBCR,
    };
    let alpha = if format.alpha { ALPHA } else { 0 };
    colour | alpha | ((format.depth as u8) << DEPTH_SHIFT)
}

fn read_features(reader: &mut ByteReader<'_>, format_byte: u8) -> Result<u8, FormatError> {
    if format_byte & HAS_FEATURES == 0 {
        return Ok(0);
    }
    match reader.u8()? {
        0 => Err(FormatError::invalid(PART, "an empty features byte")),
        features if features & !FEATURES != 0 => {
            Err(FormatError::invalid(PART, "a reserved feature"))
        }
        features => Ok(features),
    }
}

fn read_dictionary(reader: &mut ByteReader<'_>) -> Result<DictId, FormatError> {
    Ok(match reader.u8()? {
        DICTIONARY_BY_HASH => DictId::Hash(reader.array()?).by_number(),
        DICTIONARY_BY_PREFIX => DictId::Prefix(reader.array()?),
        number => DictId::Builtin(number),
    })
}

#[cfg(feature = "encoder")]
fn put_dictionary(out: &mut Vec<u8>, dictionary: DictId) {
    match dictionary {
        DictId::Builtin(number) => out.push(number),
        DictId::Prefix(start) => {
            out.push(DICTIONARY_BY_PREFIX);
            out.extend(start);
        }
        DictId::Hash(hash) => {
            out.push(DICTIONARY_BY_HASH);
            out.extend(hash);
        }
    }
}

/// Sides are stored less one, so that zero cannot be written.
fn read_side(reader: &mut ByteReader<'_>) -> Result<u32, FormatError> {
    match reader.varint()? {
        less_one if less_one < u64::from(MAX_SIDE) => Ok(less_one as u32 + 1),
        _ => Err(FormatError::invalid(PART, "a side above 65535 pixels")),
    }
}

fn read_tile_log2(reader: &mut ByteReader<'_>, features: u8) -> Result<u8, FormatError> {
    if features & FEATURE_TILES == 0 {
        return Ok(DEFAULT_TILE_LOG2);
    }
    match reader.u8()? {
        log2 if TILE_LOG2_RANGE.contains(&log2) => Ok(log2),
        _ => Err(FormatError::invalid(PART, "a tile size out of range")),
    }
}

fn read_quantiser(
    reader: &mut ByteReader<'_>,
    colour: Colour,
) -> Result<(u8, [i8; 2]), FormatError> {
    let byte = reader.u8()?;
    let index = byte & !HAS_CHROMA_OFFSETS;
    if byte & HAS_CHROMA_OFFSETS == 0 {
        return Ok((index, [0; 2]));
    }
    match reader.array::<2>()?.map(|byte| byte as i8) {
        [0, 0] => Err(FormatError::invalid(PART, "chroma offsets of zero")),
        _ if colour == Colour::Gray => {
            Err(FormatError::invalid(PART, "chroma offsets without chroma"))
        }
        offsets => Ok((index, offsets)),
    }
}

#[cfg(feature = "encoder")]
fn put_quantiser(out: &mut Vec<u8>, quantiser: u8, chroma_offsets: [i8; 2]) {
    if chroma_offsets == [0; 2] {
        out.push(quantiser);
    } else {
        out.push(quantiser | HAS_CHROMA_OFFSETS);
        out.extend(chroma_offsets.map(|offset| offset as u8));
    }
}

/// A curve for luma or gray, then one for chroma.
fn read_weights(
    reader: &mut ByteReader<'_>,
    features: u8,
    colour: Colour,
) -> Result<[WeightCurve; 2], FormatError> {
    let mut curves = [WeightCurve::default(); 2];
    if features & FEATURE_WEIGHTS == 0 {
        return Ok(curves);
    }
    let count = match colour {
        Colour::Gray => 1,
        Colour::Rgb => 2,
    };
    for curve in &mut curves[..count] {
        *curve = WeightCurve(reader.array::<3>()?.map(|byte| byte as i8));
    }
    if curves.iter().all(|curve| curve.is_flat()) {
        return Err(FormatError::invalid(PART, "weights of one"));
    }
    Ok(curves)
}

fn read_alpha_quantiser(
    reader: &mut ByteReader<'_>,
    alpha: bool,
) -> Result<Option<u8>, FormatError> {
    if !alpha {
        return Ok(None);
    }
    match reader.u8()? {
        index if index <= MAX_QUANTISER => Ok(Some(index)),
        _ => Err(FormatError::invalid(PART, "an alpha quantiser above 127")),
    }
}

/// A preview is small, so that nobody who waits for it waits long.
fn read_preview_len(reader: &mut ByteReader<'_>, features: u8) -> Result<usize, FormatError> {
    if features & FEATURE_PREVIEW == 0 {
        return Ok(0);
    }
    match reader.length()? {
        len if (1..=MAX_PREVIEW_LEN).contains(&len) => Ok(len),
        _ => Err(FormatError::invalid(
            PART,
            "a preview of no or too many bytes",
        )),
    }
}

fn read_metadata_len(reader: &mut ByteReader<'_>, features: u8) -> Result<usize, FormatError> {
    if features & FEATURE_METADATA == 0 {
        return Ok(0);
    }
    match reader.length()? {
        0 => Err(FormatError::invalid(PART, "an empty metadata section")),
        len => Ok(len),
    }
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;

    fn example() -> Header {
        Header {
            format: PixelFormat::RGB8,
            dictionary: DictId::Builtin(0),
            width: 768,
            height: 512,
            tile_log2: DEFAULT_TILE_LOG2,
            quantiser: 60,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            alpha_quantiser: None,
            lossless: None,
            tile_work: WorkBound::at_least(400_000),
            preview_len: 0,
            metadata_len: 0,
        }
    }

    fn assert_round_trip(header: &Header) {
        let bytes = header.write();
        let (back, len) = Header::read(&bytes, Integrity::Checked).unwrap();
        assert_eq!((&back, len), (header, bytes.len()));
    }

    #[test]
    fn plain_header_takes_twelve_bytes() {
        assert_round_trip(&example());
        assert_eq!(example().write().len(), 12);
    }

    #[test]
    fn every_optional_field_round_trips() {
        for depth in BitDepth::ALL {
            let mut header = example();
            header.format.depth = depth;
            header.format.alpha = true;
            header.alpha_quantiser = Some(40);
            header.chroma_offsets = [-5, 3];
            header.adaptive = true;
            header.graphics = true;
            header.weights = [WeightCurve([-8, 8, 24]), WeightCurve([0, 1, -128])];
            header.tile_log2 = 6;
            header.preview_len = MAX_PREVIEW_LEN;
            header.metadata_len = 1234;
            header.dictionary = DictId::Hash([7; 16]);
            (header.width, header.height) = (MAX_SIDE, 1);
            assert_round_trip(&header);
            header.dictionary = header.dictionary.shortened();
            assert_round_trip(&header);
        }
    }

    #[test]
    fn lossless_headers_round_trip() {
        for near in [0, 3, 255] {
            let mut header = example();
            header.quantiser = 0;
            header.lossless = Some(near);
            header.format.alpha = near == 3;
            header.alpha_quantiser = header.format.alpha.then_some(0);
            assert_round_trip(&header);
        }
        let lossless = Header {
            quantiser: 0,
            lossless: Some(0),
            ..example()
        };
        assert_round_trip(&Header {
            dictionary: DictId::Hash([7; 16]),
            ..lossless.clone()
        });
        let adaptive = Header {
            adaptive: true,
            ..lossless.clone()
        };
        let graphics = Header {
            graphics: true,
            ..lossless
        };
        for wrong in [adaptive, graphics] {
            assert!(Header::read(&wrong.write(), Integrity::Checked).is_err());
        }
    }

    #[test]
    fn reserved_values_are_refused() {
        let valid = example().write();
        for (offset, value) in [(3, 2), (3, 3), (3, 0x21), (3, 0x41), (2, 2), (0, 0x54)] {
            let mut bytes = valid.clone();
            bytes[offset] = value;
            assert!(Header::read(&bytes, Integrity::Ignored).is_err());
        }
    }
}

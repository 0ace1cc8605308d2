//! What the tags say about a page, checked.

use crate::image_io::error::{INCONSISTENT, MAX_READ_BYTES, ReadImageError};
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::compression;
use crate::image_io::tiff::directory::{Directory, tag};
use crate::picture::{PixelFormat, sample_count};

/// How samples become colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Photometric {
    WhiteIsZero,
    BlackIsZero,
    Rgb,
    Palette,
    Cmyk,
    YCbCr,
    Lab,
}

impl Photometric {
    fn new(number: u64) -> Result<Self, ReadImageError> {
        Ok(match number {
            0 => Self::WhiteIsZero,
            1 | 4 => Self::BlackIsZero,
            2 => Self::Rgb,
            3 => Self::Palette,
            5 => Self::Cmyk,
            6 => Self::YCbCr,
            8 => Self::Lab,
            9 | 10 => return rare("Lab colours of this kind"),
            32803 | 34892 => return rare("raw data of a camera's sensor"),
            _ => return rare("colours of this kind"),
        })
    }

    /// Samples per pixel without alpha and the like.
    pub(super) fn colours(self) -> usize {
        match self {
            Self::WhiteIsZero | Self::BlackIsZero | Self::Palette => 1,
            Self::Rgb | Self::YCbCr | Self::Lab => 3,
            Self::Cmyk => 4,
        }
    }
}

/// One page.
#[derive(Debug, Clone)]
pub(super) struct Page {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) bits: usize,
    pub(super) samples: usize,
    pub(super) photometric: Photometric,
    pub(super) compression: u64,
    /// Whether each sample has a plane of its own.
    pub(super) planar: bool,
    pub(super) predictor: bool,
    /// Whether the first pixel is in the lowest bits of a byte.
    pub(super) reversed_bits: bool,
    pub(super) big_endian: bool,
    /// What the samples beyond the colours are; none if the file does not say.
    pub(super) extra: Option<Vec<u64>>,
    /// Red, green and blue of every index, 16 bits each, one after the other.
    pub(super) palette: Vec<u16>,
    /// Two-dimensional coding of fax group 3.
    pub(super) fax_options: u64,
}

impl Page {
    pub(super) fn new(directory: &Directory<'_>) -> Result<Self, ReadImageError> {
        let or = |tag, default| directory.number(tag).unwrap_or(default);
        let side = |tag| directory.number(tag).ok_or(ReadImageError::Truncated(TIFF));
        let photometric = directory.number(tag::PHOTOMETRIC);
        let (bits, listed) = bits(directory)?;
        check_format(directory)?;
        let damaged = ReadImageError::Damaged(TIFF, "it does not say what its colours are");
        let photometric = Photometric::new(photometric.ok_or(damaged)?)?;
        let samples = or(tag::SAMPLES, listed as u64) as usize;
        let palette = directory.numbers(tag::COLOUR_MAP).unwrap_or_default();
        let page = Self {
            width: side(tag::WIDTH)? as usize,
            height: side(tag::HEIGHT)? as usize,
            bits,
            samples,
            photometric,
            compression: or(tag::COMPRESSION, 1),
            planar: or(tag::PLANAR, 1) == 2 && samples > 1,
            predictor: match or(tag::PREDICTOR, 1) {
                1 => false,
                2 if matches!(bits, 8 | 16) => true,
                _ => return rare("predictors of this kind"),
            },
            reversed_bits: or(tag::FILL_ORDER, 1) == 2,
            big_endian: directory.layout.big_endian,
            extra: directory.numbers(tag::EXTRA_SAMPLES),
            palette: palette.into_iter().map(|v| v as u16).collect(),
            fax_options: or(tag::FAX3_OPTIONS, 0),
        };
        page.check(directory)?;
        Ok(page)
    }

    fn check(&self, directory: &Directory<'_>) -> Result<(), ReadImageError> {
        let side = |side: usize| u32::try_from(side).unwrap_or(u32::MAX);
        sample_count(side(self.width), side(self.height), PixelFormat::GRAY8)?;
        if !(self.photometric.colours()..=16).contains(&self.samples) {
            return Err(ReadImageError::Damaged(TIFF, INCONSISTENT));
        }
        let bytes =
            self.width as u64 * self.height as u64 * self.samples as u64 * self.depth_bytes();
        if bytes > MAX_READ_BYTES {
            return Err(ReadImageError::TooLarge);
        }
        let subsampled = || {
            let factors = directory.numbers(tag::SUBSAMPLING).unwrap_or(vec![2, 2]);
            factors.iter().any(|&factor| factor != 1)
        };
        let jpeg = matches!(self.compression, compression::JPEG | compression::OLD_JPEG);
        if self.photometric == Photometric::YCbCr && !jpeg && subsampled() {
            return rare("subsampled colour differences without JPEG compression");
        }
        if self.photometric == Photometric::Palette && self.palette.len() < 3 << self.bits {
            return Err(ReadImageError::Damaged(TIFF, "its palette is too short"));
        }
        Ok(())
    }

    /// Bytes of a sample in memory.
    pub(super) fn depth_bytes(&self) -> u64 {
        if self.bits <= 8 { 1 } else { 2 }
    }
}

fn rare<T>(feature: &str) -> Result<T, ReadImageError> {
    Err(ReadImageError::variant(TIFF, feature))
}

/// Bits of every sample, and how many samples they were given for.
fn bits(directory: &Directory<'_>) -> Result<(usize, usize), ReadImageError> {
    let mut listed = directory.numbers(tag::BITS).unwrap_or(vec![1]);
    let samples = directory
        .number(tag::SAMPLES)
        .map_or(listed.len(), |samples| samples as usize);
    // Some files list more depths than they have samples, some only one for all.
    listed.truncate(samples.max(1));
    let first = listed.first().copied().unwrap_or(1);
    if listed.iter().any(|&bits| bits != first) {
        return rare("samples of different depths");
    }
    if !(1..=16).contains(&first) {
        return rare(&format!("samples of {first} bits"));
    }
    Ok((first as usize, listed.len()))
}

fn check_format(directory: &Directory<'_>) -> Result<(), ReadImageError> {
    let formats = directory.numbers(tag::SAMPLE_FORMAT).unwrap_or_default();
    match formats.iter().find(|&&format| format != 1 && format != 4) {
        None => Ok(()),
        Some(2) => rare("signed samples"),
        Some(3) => rare("floating-point samples"),
        Some(_) => rare("complex samples"),
    }
}

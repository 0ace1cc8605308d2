//! A picture as programs hold it: interleaved samples plus metadata.

use crate::container::MAX_SIDE;
use crate::error::{Error, Result};
use crate::limits::try_filled;
use crate::metadata::Metadata;
use tessera_patch::colour::BitDepth;

/// The colours of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Colour {
    /// One channel.
    Gray,
    /// Three channels, red first.
    Rgb,
}

/// Channels and depth of a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PixelFormat {
    /// Gray or RGB.
    pub colour: Colour,
    /// Whether every pixel ends with an alpha sample (not premultiplied).
    pub alpha: bool,
    /// Bits per sample.
    pub depth: BitDepth,
}

impl PixelFormat {
    /// 8-bit gray.
    pub const GRAY8: Self = Self {
        colour: Colour::Gray,
        alpha: false,
        depth: BitDepth::Eight,
    };

    /// 8-bit RGB.
    pub const RGB8: Self = Self {
        colour: Colour::Rgb,
        alpha: false,
        depth: BitDepth::Eight,
    };

    /// Samples per pixel without alpha.
    pub fn colour_channels(self) -> usize {
        match self.colour {
            Colour::Gray => 1,
            Colour::Rgb => 3,
        }
    }

    /// Samples per pixel.
    pub fn channels(self) -> usize {
        self.colour_channels() + usize::from(self.alpha)
    }

    /// Bytes per sample in memory.
    pub fn bytes_per_sample(self) -> usize {
        match self.depth {
            BitDepth::Eight => 1,
            _ => 2,
        }
    }
}

/// The samples of a picture, row by row, channels interleaved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Samples {
    /// For 8 bits per sample.
    U8(Vec<u8>),
    /// For every larger depth; values stay below `2^depth`.
    U16(Vec<u16>),
}

impl Samples {
    /// Number of samples.
    pub fn len(&self) -> usize {
        match self {
            Self::U8(samples) => samples.len(),
            Self::U16(samples) => samples.len(),
        }
    }

    /// True when there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// No samples yet, of the width that `format` takes.
    pub(crate) fn empty(format: PixelFormat) -> Self {
        match format.depth {
            BitDepth::Eight => Self::U8(Vec::new()),
            _ => Self::U16(Vec::new()),
        }
    }

    /// Adds samples of the same width behind these.
    pub(crate) fn append(&mut self, more: Self) -> Result<()> {
        match (self, more) {
            (Self::U8(samples), Self::U8(more)) => append(samples, &more),
            (Self::U16(samples), Self::U16(more)) => append(samples, &more),
            _ => Err(Error::Parameter("the samples differ in width".into())),
        }
    }

    /// The sample at `index`, whatever the storage.
    pub fn get(&self, index: usize) -> u16 {
        match self {
            Self::U8(samples) => u16::from(samples[index]),
            Self::U16(samples) => samples[index],
        }
    }
}

fn append<T: Copy>(samples: &mut Vec<T>, more: &[T]) -> Result<()> {
    crate::limits::try_reserve(samples, more.len())?;
    samples.extend_from_slice(more);
    Ok(())
}

/// A picture in memory.
///
/// Invariants: both sides are 1 to 65535, there are `width * height * channels` samples, and
/// they are `U8` exactly when the depth is eight bits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    width: u32,
    height: u32,
    format: PixelFormat,
    samples: Samples,
    /// Colour profile and the like.
    pub metadata: Metadata,
}

impl Picture {
    /// A picture around samples that are already there.
    ///
    /// # Errors
    /// [`Error::Parameter`] when a side is out of range or the samples do not fit the format.
    pub fn new(width: u32, height: u32, format: PixelFormat, samples: Samples) -> Result<Self> {
        let expected = sample_count(width, height, format)?;
        if samples.len() != expected {
            let found = samples.len();
            return Err(Error::Parameter(format!(
                "a {width}x{height} picture of {} channels has {expected} samples, not {found}",
                format.channels(),
            )));
        }
        check_depth(format.depth, &samples)?;
        Ok(Self {
            width,
            height,
            format,
            samples,
            metadata: Metadata::default(),
        })
    }

    /// An 8-bit gray picture.
    ///
    /// # Errors
    /// As for [`Picture::new`].
    pub fn gray8(width: u32, height: u32, samples: Vec<u8>) -> Result<Self> {
        Self::new(width, height, PixelFormat::GRAY8, Samples::U8(samples))
    }

    /// An 8-bit RGB picture, interleaved.
    ///
    /// # Errors
    /// As for [`Picture::new`].
    pub fn rgb8(width: u32, height: u32, samples: Vec<u8>) -> Result<Self> {
        Self::new(width, height, PixelFormat::RGB8, Samples::U8(samples))
    }

    /// A picture of one value, allocated without aborting when memory runs out.
    pub(crate) fn filled(width: u32, height: u32, format: PixelFormat, value: u16) -> Result<Self> {
        let len = sample_count(width, height, format)?;
        let samples = match format.depth {
            BitDepth::Eight => Samples::U8(try_filled(len, value as u8)?),
            _ => Samples::U16(try_filled(len, value)?),
        };
        Self::new(width, height, format, samples)
    }

    /// Columns.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Rows.
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Number of pixels.
    pub fn pixels(&self) -> u64 {
        u64::from(self.width) * u64::from(self.height)
    }

    /// Channels and depth.
    pub fn format(&self) -> PixelFormat {
        self.format
    }

    /// The samples.
    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// The samples for writing; only this crate may, so that the invariants hold.
    pub(crate) fn samples_mut(&mut self) -> &mut Samples {
        &mut self.samples
    }

    /// The samples without the picture around them.
    pub fn into_samples(self) -> Samples {
        self.samples
    }

    /// The 12-bit colour planes of a part of the picture: one for gray, three for colour.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the part is empty or leaves the picture.
    #[cfg(feature = "encoder")]
    pub fn planes(&self, part: crate::Rect) -> Result<Vec<tessera_patch::Plane>> {
        let fits = |at: u32, size: u32, whole: u32| {
            size > 0 && at.checked_add(size).is_some_and(|end| end <= whole)
        };
        if !fits(part.x, part.width, self.width) || !fits(part.y, part.height, self.height) {
            return Err(Error::Parameter("the part leaves the picture".into()));
        }
        Ok(crate::pixels::read_tile(self, part)?.colour)
    }

    /// True when there is alpha and no pixel lets anything through.
    pub fn is_opaque(&self) -> bool {
        let channels = self.format.channels();
        let opaque = self.format.depth.max_value();
        self.format.alpha
            && match &self.samples {
                Samples::U8(s) => s
                    .iter()
                    .skip(channels - 1)
                    .step_by(channels)
                    .all(|&a| u16::from(a) == opaque),
                Samples::U16(s) => s
                    .iter()
                    .skip(channels - 1)
                    .step_by(channels)
                    .all(|&a| a == opaque),
            }
    }
}

/// Number of samples, if the sides can be stored and the count fits in memory.
pub(crate) fn sample_count(width: u32, height: u32, format: PixelFormat) -> Result<usize> {
    let sides = 1..=MAX_SIDE;
    if !sides.contains(&width) || !sides.contains(&height) {
        return Err(Error::Parameter(format!(
            "a picture has 1 to {MAX_SIDE} pixels on a side; {width}x{height} cannot be stored"
        )));
    }
    (width as usize)
        .checked_mul(height as usize)
        .and_then(|pixels| pixels.checked_mul(format.channels()))
        .ok_or_else(|| Error::Parameter("the picture does not fit in memory".into()))
}

fn check_depth(depth: BitDepth, samples: &Samples) -> Result<()> {
    let fits = match (depth, samples) {
        (BitDepth::Eight, Samples::U8(_)) | (BitDepth::Sixteen, Samples::U16(_)) => true,
        (BitDepth::Ten | BitDepth::Twelve, Samples::U16(s)) => {
            s.iter().all(|&v| v <= depth.max_value())
        }
        _ => false,
    };
    if fits {
        return Ok(());
    }
    Err(Error::Parameter(format!(
        "the samples do not fit {} bits per sample",
        depth.bits()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_depths_are_checked() {
        assert!(Picture::gray8(0, 1, vec![]).is_err());
        assert!(Picture::gray8(65536, 1, vec![0; 65536]).is_err());
        assert!(Picture::rgb8(2, 2, vec![0; 11]).is_err());
        let ten = PixelFormat {
            depth: BitDepth::Ten,
            ..PixelFormat::GRAY8
        };
        assert!(Picture::new(1, 1, ten, Samples::U16(vec![1023])).is_ok());
        assert!(Picture::new(1, 1, ten, Samples::U16(vec![1024])).is_err());
        assert!(Picture::new(1, 1, ten, Samples::U8(vec![1])).is_err());
    }

    #[test]
    fn opacity_needs_an_alpha_channel_of_ones() {
        let format = PixelFormat {
            alpha: true,
            ..PixelFormat::GRAY8
        };
        let picture = |a| Picture::new(1, 2, format, Samples::U8(vec![0, 255, 0, a])).unwrap();
        assert!(picture(255).is_opaque());
        assert!(!picture(254).is_opaque());
        assert!(!Picture::gray8(1, 1, vec![255]).unwrap().is_opaque());
    }
}

//! 8-bit pictures, gray or RGB: what every codec gets and what every metric compares.

use image::codecs::png::PngEncoder;
use image::{DynamicImage, ExtendedColorType, ImageEncoder, ImageError};
use std::io;
use std::path::Path;
use tessera_codec::Picture;
use tessera_codec::image_io::{ReadImageError, read_picture, to_dynamic_image};
use thiserror::Error;

/// Why a picture could not be read, written or built.
#[derive(Debug, Error)]
pub enum Image8Error {
    /// The file could not be opened or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is no picture of a known format, or it is damaged.
    #[error(transparent)]
    Read(#[from] ReadImageError),
    /// The picture does not fit the format it was to be written in.
    #[error(transparent)]
    Write(#[from] ImageError),
    /// The sample count does not fit the size.
    #[error("{width}x{height} needs {expected} samples, got {actual}")]
    SampleCount {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Samples that the size asks for.
        expected: usize,
        /// Samples given.
        actual: usize,
    },
}

/// How many samples a pixel has, and what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channels {
    /// One luma sample.
    Gray,
    /// Three sRGB samples.
    Rgb,
}

impl Channels {
    /// Samples per pixel.
    #[must_use]
    pub fn count(self) -> usize {
        match self {
            Self::Gray => 1,
            Self::Rgb => 3,
        }
    }

    fn color_type(self) -> ExtendedColorType {
        match self {
            Self::Gray => ExtendedColorType::L8,
            Self::Rgb => ExtendedColorType::Rgb8,
        }
    }
}

/// A picture of interleaved 8-bit samples, rows from the top.
///
/// Invariant: `samples.len() == width * height * channels.count()`, and neither side is zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Image8 {
    width: u32,
    height: u32,
    channels: Channels,
    samples: Vec<u8>,
}

impl Image8 {
    /// A picture from its samples.
    ///
    /// # Errors
    /// [`Image8Error::SampleCount`] if the samples do not fit the size, or a side is zero.
    pub fn new(
        width: u32,
        height: u32,
        channels: Channels,
        samples: Vec<u8>,
    ) -> Result<Self, Image8Error> {
        let expected = width as usize * height as usize * channels.count();
        if samples.len() != expected || expected == 0 {
            return Err(Image8Error::SampleCount {
                width,
                height,
                expected,
                actual: samples.len(),
            });
        }
        Ok(Self {
            width,
            height,
            channels,
            samples,
        })
    }

    /// Reads a file, whatever its name says: the format is found from the content.
    ///
    /// Deeper samples are rounded to 8 bits and alpha is dropped; gray stays gray.
    ///
    /// # Errors
    /// [`Image8Error`] if the file is missing, of no known format, or damaged.
    pub fn read(path: &Path) -> Result<Self, Image8Error> {
        Self::from_encoded(&std::fs::read(path)?)
    }

    /// Decodes a picture held in memory, with the rules of [`Image8::read`].
    ///
    /// # Errors
    /// [`Image8Error`] if the bytes are of no known format, or damaged.
    pub fn from_encoded(bytes: &[u8]) -> Result<Self, Image8Error> {
        Self::from_picture(read_picture(bytes)?)
    }

    /// A picture of the codec, with the rules of [`Image8::read`].
    ///
    /// # Errors
    /// [`Image8Error::SampleCount`] if it has no pixels.
    pub fn from_picture(picture: Picture) -> Result<Self, Image8Error> {
        Self::from_image(&to_dynamic_image(picture))
    }

    /// A picture of the `image` crate, with the rules of [`Image8::read`].
    ///
    /// # Errors
    /// [`Image8Error::SampleCount`] if it has no pixels.
    pub fn from_image(image: &DynamicImage) -> Result<Self, Image8Error> {
        let (width, height) = (image.width(), image.height());
        let (channels, samples) = if image.color().has_color() {
            (Channels::Rgb, image.to_rgb8().into_raw())
        } else {
            (Channels::Gray, image.to_luma8().into_raw())
        };
        Self::new(width, height, channels, samples)
    }

    /// Writes a file in the format that its extension names (PNG for lossless).
    ///
    /// # Errors
    /// [`Image8Error`] if the file cannot be written or the extension is unknown.
    pub fn write(&self, path: &Path) -> Result<(), Image8Error> {
        let color = self.channels.color_type();
        image::save_buffer(path, &self.samples, self.width, self.height, color)?;
        Ok(())
    }

    /// The picture as a PNG file.
    ///
    /// # Errors
    /// [`Image8Error`] if it is too large for the format.
    pub fn to_png(&self) -> Result<Vec<u8>, Image8Error> {
        let mut file = Vec::new();
        let (color, encoder) = (self.channels.color_type(), PngEncoder::new(&mut file));
        encoder.write_image(&self.samples, self.width, self.height, color)?;
        Ok(file)
    }

    /// Width in pixels.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Height in pixels.
    #[must_use]
    pub fn height(&self) -> u32 {
        self.height
    }

    /// Number of pixels.
    #[must_use]
    pub fn pixel_count(&self) -> usize {
        self.width as usize * self.height as usize
    }

    /// Gray or RGB.
    #[must_use]
    pub fn channels(&self) -> Channels {
        self.channels
    }

    /// The interleaved samples.
    #[must_use]
    pub fn samples(&self) -> &[u8] {
        &self.samples
    }

    /// The same picture as RGB; gray is replicated.
    #[must_use]
    pub fn to_rgb(&self) -> Self {
        match self.channels {
            Channels::Rgb => self.clone(),
            Channels::Gray => Self {
                channels: Channels::Rgb,
                samples: self.samples.iter().flat_map(|&v| [v, v, v]).collect(),
                ..*self
            },
        }
    }

    /// The same picture as gray: BT.601 luma, rounded.
    #[must_use]
    pub fn to_gray(&self) -> Self {
        match self.channels {
            Channels::Gray => self.clone(),
            Channels::Rgb => Self {
                channels: Channels::Gray,
                samples: self.samples.chunks_exact(3).map(rounded_luma).collect(),
                ..*self
            },
        }
    }

    /// The same picture in the given channels.
    #[must_use]
    pub fn to_channels(&self, channels: Channels) -> Self {
        match channels {
            Channels::Gray => self.to_gray(),
            Channels::Rgb => self.to_rgb(),
        }
    }

    /// A number that changes when size, channels or any sample change.
    #[must_use]
    pub fn fingerprint(&self) -> u32 {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.width.to_le_bytes());
        hasher.update(&self.height.to_le_bytes());
        hasher.update(&self.samples);
        first_u32(&hasher.finalize())
    }
}

/// The first four bytes of a hash: enough to notice a change, short enough for a CSV column.
pub(crate) fn first_u32(hash: &blake3::Hash) -> u32 {
    let [a, b, c, d, ..] = *hash.as_bytes();
    u32::from_le_bytes([a, b, c, d])
}

/// 16-bit fixed-point weights of BT.601 luma; they add up to one.
fn rounded_luma(rgb: &[u8]) -> u8 {
    const WEIGHTS: [u32; 3] = [19595, 38470, 7471];
    let sum: u32 = rgb
        .iter()
        .zip(WEIGHTS)
        .map(|(&v, w)| u32::from(v) * w)
        .sum();
    ((sum + 0x8000) >> 16) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sample_count_is_checked() {
        let short = Image8::new(2, 2, Channels::Rgb, vec![0; 11]);
        assert!(matches!(
            short,
            Err(Image8Error::SampleCount { expected: 12, .. })
        ));
        assert!(Image8::new(0, 2, Channels::Gray, vec![]).is_err());
    }

    #[test]
    fn gray_keeps_white_and_weighs_green_most() {
        let samples = vec![255, 255, 255, 255, 0, 0, 0, 255, 0, 0, 0, 255];
        let rgb = Image8::new(4, 1, Channels::Rgb, samples).unwrap();
        assert_eq!(rgb.to_gray().samples(), [255, 76, 150, 29]);
        assert_eq!(rgb.to_gray().to_rgb().to_gray(), rgb.to_gray());
    }

    #[test]
    fn fingerprint_sees_shape_and_samples() {
        let wide = Image8::new(4, 1, Channels::Gray, vec![1, 2, 3, 4]).unwrap();
        let tall = Image8::new(1, 4, Channels::Gray, vec![1, 2, 3, 4]).unwrap();
        let other = Image8::new(4, 1, Channels::Gray, vec![1, 2, 3, 5]).unwrap();
        assert_ne!(wide.fingerprint(), tall.fingerprint());
        assert_ne!(wide.fingerprint(), other.fingerprint());
    }
}

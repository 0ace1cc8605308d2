//! Between [`Picture`] and `DynamicImage`.

use crate::error::{Error, Result};
use crate::picture::{Colour, Picture, PixelFormat, Samples};
use image::{DynamicImage, ImageBuffer};
use tessera_patch::colour::BitDepth;

impl TryFrom<DynamicImage> for Picture {
    type Error = Error;

    /// Takes over the samples without copying. Floating-point pictures are refused.
    fn try_from(image: DynamicImage) -> Result<Self> {
        let (width, height) = (image.width(), image.height());
        let (colour, alpha, samples) = match image {
            DynamicImage::ImageLuma8(b) => (Colour::Gray, false, Samples::U8(b.into_raw())),
            DynamicImage::ImageLumaA8(b) => (Colour::Gray, true, Samples::U8(b.into_raw())),
            DynamicImage::ImageRgb8(b) => (Colour::Rgb, false, Samples::U8(b.into_raw())),
            DynamicImage::ImageRgba8(b) => (Colour::Rgb, true, Samples::U8(b.into_raw())),
            DynamicImage::ImageLuma16(b) => (Colour::Gray, false, Samples::U16(b.into_raw())),
            DynamicImage::ImageLumaA16(b) => (Colour::Gray, true, Samples::U16(b.into_raw())),
            DynamicImage::ImageRgb16(b) => (Colour::Rgb, false, Samples::U16(b.into_raw())),
            DynamicImage::ImageRgba16(b) => (Colour::Rgb, true, Samples::U16(b.into_raw())),
            other => {
                let kind = other.color();
                let message = format!("pictures of type {kind:?} cannot be encoded");
                return Err(Error::Parameter(message));
            }
        };
        let depth = match samples {
            Samples::U8(_) => BitDepth::Eight,
            Samples::U16(_) => BitDepth::Sixteen,
        };
        let format = PixelFormat {
            colour,
            alpha,
            depth,
        };
        Self::new(width, height, format, samples)
    }
}

impl From<Picture> for DynamicImage {
    /// Depths between 8 and 16 bits are stretched to 16. Metadata is dropped; the `image`
    /// crate keeps it apart.
    fn from(picture: Picture) -> Self {
        to_dynamic_image(picture)
    }
}

/// The pixels of a picture as the `image` crate holds them.
pub fn to_dynamic_image(picture: Picture) -> DynamicImage {
    let (width, height, format) = (picture.width(), picture.height(), picture.format());
    let image = match picture.into_samples() {
        Samples::U8(samples) => image_of_bytes(width, height, format, samples),
        Samples::U16(mut samples) => {
            stretch(&mut samples, format.depth);
            image_of_words(width, height, format, samples)
        }
    };
    image.expect("a picture has as many samples as its format says")
}

fn image_of_bytes(w: u32, h: u32, format: PixelFormat, raw: Vec<u8>) -> Option<DynamicImage> {
    Some(match (format.colour, format.alpha) {
        (Colour::Gray, false) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageLuma8)?,
        (Colour::Gray, true) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageLumaA8)?,
        (Colour::Rgb, false) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageRgb8)?,
        (Colour::Rgb, true) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageRgba8)?,
    })
}

fn image_of_words(w: u32, h: u32, format: PixelFormat, raw: Vec<u16>) -> Option<DynamicImage> {
    Some(match (format.colour, format.alpha) {
        (Colour::Gray, false) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageLuma16)?,
        (Colour::Gray, true) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageLumaA16)?,
        (Colour::Rgb, false) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageRgb16)?,
        (Colour::Rgb, true) => ImageBuffer::from_raw(w, h, raw).map(DynamicImage::ImageRgba16)?,
    })
}

/// Repeats the upper bits below, so that black stays black and white becomes 65535.
pub(super) fn stretch(samples: &mut [u16], depth: BitDepth) {
    let bits = depth.bits();
    if bits < 16 {
        for sample in samples {
            *sample = (*sample << (16 - bits)) | (*sample >> (2 * bits - 16));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_survives_both_ways() {
        let images = [
            DynamicImage::new_luma8(3, 2),
            DynamicImage::new_luma_a8(3, 2),
            DynamicImage::new_rgb8(3, 2),
            DynamicImage::new_rgba8(3, 2),
            DynamicImage::new_luma16(3, 2),
            DynamicImage::new_luma_a16(3, 2),
            DynamicImage::new_rgb16(3, 2),
            DynamicImage::new_rgba16(3, 2),
        ];
        for image in images {
            let picture = Picture::try_from(image.clone()).unwrap();
            assert_eq!(DynamicImage::from(picture), image);
        }
        assert!(Picture::try_from(DynamicImage::new_rgb32f(1, 1)).is_err());
    }

    #[test]
    fn white_stays_white_at_every_depth() {
        for depth in [BitDepth::Ten, BitDepth::Twelve] {
            let mut samples = [0, depth.max_value()];
            stretch(&mut samples, depth);
            assert_eq!(samples, [0, u16::MAX]);
        }
    }
}

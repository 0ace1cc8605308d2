//! Formats whose encoders want the whole picture at once.

use crate::image_io::write::{Losses, WriteImageError};
use crate::image_io::{colour, to_dynamic_image};
use crate::metadata::{Metadata, MetadataKind};
use crate::picture::{Picture, Samples};
use crate::rows::PictureInfo;
use image::codecs::bmp::BmpEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::tiff::TiffEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, ImageFormat};
use std::borrow::Cow;
use std::io::{Cursor, Write};

/// Quality of JPEG output: high, because the picture was lossy once already.
const JPEG_QUALITY: u8 = 95;

/// Collects rows and encodes them at the end.
pub(super) struct WholeSink<W> {
    out: W,
    format: ImageFormat,
    info: PictureInfo,
    metadata: Metadata,
    samples: Option<Samples>,
    pub(super) jpeg_quality: u8,
}

impl<W: Write> WholeSink<W> {
    /// Refuses what the format cannot hold before any work is done.
    pub(super) fn new(
        out: W,
        format: ImageFormat,
        info: PictureInfo,
        metadata: Metadata,
    ) -> Result<Self, WriteImageError> {
        match format {
            ImageFormat::Jpeg | ImageFormat::Bmp if info.format().alpha => {
                return Err(WriteImageError::Transparency(format));
            }
            ImageFormat::Jpeg | ImageFormat::Bmp | ImageFormat::WebP | ImageFormat::Tiff => {}
            other => return Err(WriteImageError::UnknownFormat(other)),
        }
        Ok(Self {
            out,
            format,
            info,
            metadata,
            samples: None,
            jpeg_quality: JPEG_QUALITY,
        })
    }

    pub(super) fn push(&mut self, rows: Picture) -> Result<(), WriteImageError> {
        match &mut self.samples {
            Some(samples) => samples.append(rows.into_samples())?,
            none => *none = Some(rows.into_samples()),
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<Losses, WriteImageError> {
        let samples = self.samples.take().ok_or(WriteImageError::Rows)?;
        let (width, height) = (self.info.width(), self.info.height());
        let picture = Picture::new(width, height, self.info.format(), samples)?;
        let image = to_dynamic_image(picture);
        let reduced_to_8_bits = self.info.format().bytes_per_sample() > 1 && self.holds_8_bits();
        let image = if reduced_to_8_bits {
            to_8_bits(&image)
        } else {
            image
        };
        Ok(Losses {
            dropped: self.encode(&image)?,
            reduced_to_8_bits,
        })
    }

    fn holds_8_bits(&self) -> bool {
        self.format != ImageFormat::Tiff
    }

    fn encode(&mut self, image: &DynamicImage) -> Result<Vec<MetadataKind>, WriteImageError> {
        let (metadata, out) = (&self.metadata, &mut self.out);
        match self.format {
            ImageFormat::WebP => with_metadata(WebPEncoder::new_lossless(out), image, metadata),
            ImageFormat::Jpeg => {
                let encoder = JpegEncoder::new_with_quality(out, self.jpeg_quality);
                with_metadata(encoder, image, metadata)
            }
            ImageFormat::Bmp => with_metadata(BmpEncoder::new(out), image, metadata),
            _ => {
                // Its encoder goes back to fill in offsets, and knows no gray with alpha.
                let mut file = Vec::new();
                let encoder = TiffEncoder::new(Cursor::new(&mut file));
                let dropped = with_metadata(encoder, &without_gray_alpha(image), metadata)?;
                out.write_all(&file)?;
                Ok(dropped)
            }
        }
    }
}

fn to_8_bits(image: &DynamicImage) -> DynamicImage {
    match (image.color().has_color(), image.color().has_alpha()) {
        (false, false) => image.to_luma8().into(),
        (false, true) => image.to_luma_alpha8().into(),
        (true, false) => image.to_rgb8().into(),
        (true, true) => image.to_rgba8().into(),
    }
}

fn without_gray_alpha(image: &DynamicImage) -> Cow<'_, DynamicImage> {
    match image {
        DynamicImage::ImageLumaA8(_) => Cow::Owned(image.to_rgba8().into()),
        DynamicImage::ImageLumaA16(_) => Cow::Owned(image.to_rgba16().into()),
        other => Cow::Borrowed(other),
    }
}

/// Writes pixels with the metadata this encoder takes; returns the kinds it does not.
fn with_metadata(
    mut encoder: impl ImageEncoder,
    image: &DynamicImage,
    metadata: &Metadata,
) -> Result<Vec<MetadataKind>, WriteImageError> {
    let mut dropped = Vec::new();
    for (kind, block) in metadata.iter() {
        let kept = match kind {
            MetadataKind::Icc => encoder.set_icc_profile(block.to_vec()).is_ok(),
            MetadataKind::Exif => encoder.set_exif_metadata(block.to_vec()).is_ok(),
            // A profile says the same where there is one for it.
            MetadataKind::Cicp => {
                let profile = metadata.cicp.and_then(colour::profile_of);
                profile.is_some_and(|profile| encoder.set_icc_profile(profile).is_ok())
            }
            MetadataKind::Xmp | MetadataKind::GainMap => false,
        };
        if !kept {
            dropped.push(kind);
        }
    }
    image.write_with_encoder(encoder)?;
    Ok(dropped)
}

//! Writing a picture in a common format, and saying what that format could not keep.

use super::{to_dynamic_image, xmp};
use crate::metadata::{Metadata, MetadataKind};
use crate::picture::Picture;
use image::codecs::bmp::BmpEncoder;
use image::codecs::jpeg::JpegEncoder;
use image::codecs::png::PngEncoder;
use image::codecs::pnm::PnmEncoder;
use image::codecs::tiff::TiffEncoder;
use image::codecs::webp::WebPEncoder;
use image::{DynamicImage, ImageEncoder, ImageError, ImageFormat};
use std::io::Cursor;
use thiserror::Error;

/// Quality of JPEG output: high, because the picture was lossy once already.
const JPEG_QUALITY: u8 = 95;

/// Why a picture could not be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WriteImageError {
    /// The format would lose transparency.
    #[error("{0:?} cannot store transparency; choose PNG, WebP or TIFF")]
    Transparency(ImageFormat),
    /// Not one of the formats we write.
    #[error("pictures cannot be written as {0:?}; choose PNG, JPEG, WebP, PNM, TIFF or BMP")]
    UnknownFormat(ImageFormat),
    /// The format's encoder failed.
    #[error(transparent)]
    Image(#[from] ImageError),
}

/// A written file, and what had to be left out.
#[derive(Debug, Clone)]
pub struct WrittenImage {
    /// The file.
    pub bytes: Vec<u8>,
    /// Metadata the format or its encoder cannot hold.
    pub dropped: Vec<MetadataKind>,
    /// True when the samples had to be reduced to 8 bits.
    pub reduced_to_8_bits: bool,
}

/// Writes `picture` in `format`.
///
/// # Errors
/// See [`WriteImageError`].
pub fn write_picture(
    mut picture: Picture,
    format: ImageFormat,
) -> Result<WrittenImage, WriteImageError> {
    let metadata = std::mem::take(&mut picture.metadata);
    let image = to_dynamic_image(picture);
    let deep = image.color().bytes_per_pixel() / image.color().channel_count() > 1;
    let reduce = deep && holds_only_8_bits(format);
    let image = if reduce { to_8_bits(&image) } else { image };
    let mut bytes = Vec::new();
    let mut dropped = encode(&image, format, &metadata, &mut bytes)?;
    if let (ImageFormat::Png, Some(packet)) = (format, &metadata.xmp) {
        xmp::insert_into_png(&mut bytes, packet);
        dropped.retain(|kind| *kind != MetadataKind::Xmp);
    }
    Ok(WrittenImage {
        bytes,
        dropped,
        reduced_to_8_bits: reduce,
    })
}

fn holds_only_8_bits(format: ImageFormat) -> bool {
    matches!(
        format,
        ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Bmp
    )
}

fn to_8_bits(image: &DynamicImage) -> DynamicImage {
    match (image.color().has_color(), image.color().has_alpha()) {
        (false, false) => image.to_luma8().into(),
        (false, true) => image.to_luma_alpha8().into(),
        (true, false) => image.to_rgb8().into(),
        (true, true) => image.to_rgba8().into(),
    }
}

fn encode(
    image: &DynamicImage,
    format: ImageFormat,
    metadata: &Metadata,
    out: &mut Vec<u8>,
) -> Result<Vec<MetadataKind>, WriteImageError> {
    let transparent = image.color().has_alpha();
    match format {
        ImageFormat::Png => with_metadata(PngEncoder::new(out), image, metadata),
        ImageFormat::WebP => with_metadata(WebPEncoder::new_lossless(out), image, metadata),
        ImageFormat::Tiff => with_metadata(TiffEncoder::new(Cursor::new(out)), image, metadata),
        ImageFormat::Jpeg | ImageFormat::Bmp if transparent => {
            Err(WriteImageError::Transparency(format))
        }
        ImageFormat::Jpeg => {
            let encoder = JpegEncoder::new_with_quality(out, JPEG_QUALITY);
            with_metadata(encoder, image, metadata)
        }
        ImageFormat::Bmp => with_metadata(BmpEncoder::new(out), image, metadata),
        ImageFormat::Pnm => with_metadata(PnmEncoder::new(out), image, metadata),
        other => Err(WriteImageError::UnknownFormat(other)),
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
            MetadataKind::Xmp => false,
        };
        if !kept {
            dropped.push(kind);
        }
    }
    image.write_with_encoder(encoder)?;
    Ok(dropped)
}

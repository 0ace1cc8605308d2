//! What a format's reader hands on: pixels as stored, and what was learned beside them.

use crate::image_io::convert::to_dynamic_image;
use crate::image_io::error::{INCONSISTENT, ReadImageError};
use crate::image_io::orientation;
use crate::metadata::Metadata;
use crate::picture::{Colour, Picture, PixelFormat, Samples};
use image::DynamicImage;
use image::metadata::Orientation;
use tessera_patch::colour::BitDepth;

/// Samples that a reader of our own put together, as an image.
pub(super) fn image_of(
    reader: &'static str,
    (width, height): (u32, u32),
    (colour, alpha): (Colour, bool),
    samples: Samples,
) -> Result<DynamicImage, ReadImageError> {
    let format = PixelFormat {
        colour,
        alpha,
        depth: match samples {
            Samples::U8(_) => BitDepth::Eight,
            Samples::U16(_) => BitDepth::Sixteen,
        },
    };
    let picture = Picture::new(width, height, format, samples);
    let picture = picture.map_err(|_| ReadImageError::Damaged(reader, INCONSISTENT))?;
    Ok(to_dynamic_image(picture))
}

/// A picture as its file holds it, not yet upright.
pub(super) struct Found {
    pub(super) image: DynamicImage,
    /// How the format itself says it is turned; EXIF and XMP may say it too.
    pub(super) orientation: Option<Orientation>,
    pub(super) metadata: Metadata,
    /// What the user should know, each a sentence without a full stop.
    pub(super) warnings: Vec<String>,
}

impl Found {
    /// Pixels alone.
    pub(super) fn plain(image: DynamicImage) -> Self {
        Self {
            image,
            orientation: None,
            metadata: Metadata::default(),
            warnings: Vec::new(),
        }
    }

    /// The picture turned upright, and the warnings.
    pub(super) fn upright(mut self) -> Result<(Picture, Vec<String>), ReadImageError> {
        let said = orientation::take(&mut self.metadata);
        let orientation = self.orientation.unwrap_or(said);
        self.image.apply_orientation(orientation);
        if let Some(map) = &mut self.metadata.gain_map {
            // It lay on the picture before.
            map.set_orientation(orientation.to_exif());
        }
        let mut picture = Picture::try_from(self.image)?;
        picture.metadata = self.metadata;
        Ok((picture, self.warnings))
    }
}

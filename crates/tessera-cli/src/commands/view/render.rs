//! Pictures as the browser wants them.

use super::gallery::{Entry, Gallery};
use super::server::THUMBNAIL;
use crate::{files, pictures};
use anyhow::{Context, Result, anyhow};
use image::ImageFormat;
use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};
use tessera_codec::image_io::PictureWriter;
use tessera_codec::{Decoder, Downscaler, Error, FormatError, Picture, PictureInfo, Scale};

/// A picture as PNG, no side of it longer than `side`.
///
/// # Errors
/// When it cannot be read, is damaged, or its dictionary is not here.
pub(super) fn png(gallery: &Gallery, entry: &Entry, side: Option<u32>) -> Result<Vec<u8>> {
    let picture = decode(gallery, entry, side).with_context(|| entry.name.clone())?;
    let mut shown = picture.metadata.clone();
    // The page has no use for the rest, and a camera's EXIF holds a picture of its own.
    shown.exif = None;
    shown.xmp = None;
    let out = Shared::default();
    let info = PictureInfo::from(&picture);
    let mut writer = PictureWriter::new(out.clone(), ImageFormat::Png, info, shown)?;
    writer.push(picture)?;
    writer.finish()?;
    Ok(out.into_bytes())
}

fn decode(gallery: &Gallery, entry: &Entry, side: Option<u32>) -> Result<Picture> {
    let file = files::Input::open(&entry.path)?;
    if let Some(preview) = preview(&file, side) {
        return scaled_down(preview, side);
    }
    let decoder = match &gallery.dictionary {
        Some(dictionary) => Ok(Decoder::new().dictionary(dictionary)),
        None => pictures::decoder_of(file.source(), Decoder::new(), None),
    };
    let coded = match decoder.and_then(|decoder| Ok(decoder.parse(file.source())?)) {
        Err(error) if is_foreign(&error) => {
            return scaled_down(pictures::read(&entry.path, None)?, side);
        }
        coded => coded?,
    };
    Ok(match side {
        Some(side) => coded.decode_scaled(Scale::MaxSide(side))?,
        None => coded.decode()?,
    })
}

/// The preview of a file of which a thumbnail is wanted. Whatever is wrong with it, the picture itself may be right.
fn preview(file: &files::Input<'_>, side: Option<u32>) -> Option<Picture> {
    side.filter(|&side| side <= THUMBNAIL)?;
    let coded = Decoder::new().parse(file.source()).ok()?;
    let mut preview = coded.decode_preview().ok()??;
    preview.metadata = coded.metadata().ok()?;
    Some(preview)
}

/// True for pictures of other formats.
fn is_foreign(error: &anyhow::Error) -> bool {
    let known = error.downcast_ref::<Error>();
    matches!(known, Some(Error::Format(FormatError::NotTessera)))
}

fn scaled_down(picture: Picture, side: Option<u32>) -> Result<Picture> {
    let info = PictureInfo::from(&picture);
    let Some(side) = side.filter(|&side| side < info.width().max(info.height())) else {
        return Ok(picture);
    };
    let metadata = picture.metadata.clone();
    let mut scaler = Downscaler::new(info, Scale::MaxSide(side))?;
    let scaled = scaler.push(&picture)?;
    let mut scaled = scaled.ok_or_else(|| anyhow!("the picture has no rows"))?;
    scaled.metadata = metadata;
    Ok(scaled)
}

/// Bytes that a writer owns and somebody else wants.
#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Shared {
    fn into_bytes(self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

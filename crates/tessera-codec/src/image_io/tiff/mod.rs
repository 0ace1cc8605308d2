//! TIFF, read by our own means: strips and tiles, planes together or apart, one to sixteen bits,
//! palettes, masks of alpha, print colours, and the usual compressions.

mod chunks;
mod compression;
mod directory;
mod fax;
mod old_jpeg;
mod page;
mod pages;
mod pixels;
mod predictor;
mod unpack;

use crate::image_io::error::ReadImageError;
use crate::image_io::found::Found;
use crate::metadata::Metadata;
use directory::tag;
use image::metadata::Orientation;
use page::Page;

const TIFF: &str = "TIFF";

/// Reads one page, counted from 1; without a number the first, with a warning if there are more.
pub(super) fn read(file: &[u8], number: Option<u32>) -> Result<Found, ReadImageError> {
    let (directory, count) = pages::choose(file, number)?;
    let page = Page::new(&directory)?;
    let mut found = Found::plain(image::DynamicImage::new_luma8(1, 1));
    if count > 1 && number.is_none() {
        let text =
            "the file holds several pages and only the first was taken; --page N takes another";
        found.warnings.push(text.into());
    }
    let block = |tag| directory.get(tag).map(|entry| entry.bytes().to_vec());
    found.metadata = Metadata {
        icc: block(tag::ICC),
        xmp: block(tag::XMP),
        ..Metadata::default()
    };
    found.orientation = directory
        .number(tag::ORIENTATION)
        .and_then(|value| Orientation::from_exif(u8::try_from(value).ok()?));
    let raster = match page.compression {
        compression::OLD_JPEG => old_jpeg::decode(&page, &directory)?,
        _ => chunks::assemble(&page, &directory)?,
    };
    found.image = pixels::to_image(&page, raster, &mut found)?;
    Ok(found)
}

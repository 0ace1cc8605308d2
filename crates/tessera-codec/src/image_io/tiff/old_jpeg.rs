//! The first attempt at JPEG in TIFF: read if a whole JPEG file lies inside.

use crate::image_io::error::ReadImageError;
use crate::image_io::jpeg::{self, Conversion};
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::directory::{Directory, tag};
use crate::image_io::tiff::page::{Page, Photometric};
use crate::picture::Samples;

pub(super) fn decode(page: &Page, directory: &Directory<'_>) -> Result<Samples, ReadImageError> {
    let rare = || ReadImageError::variant(TIFF, "old-style JPEG compression without a whole JPEG");
    let start = directory.number(tag::OLD_JPEG_START).ok_or_else(rare)? as usize;
    let rest = directory.file.get(start..).ok_or_else(rare)?;
    let len = directory.number(tag::OLD_JPEG_LENGTH);
    let len = len.map_or(rest.len(), |len| (len as usize).min(rest.len()));
    let conversion = match page.photometric {
        Photometric::YCbCr => Conversion::Usual,
        _ => Conversion::None,
    };
    let raster = jpeg::decode(&rest[..len], conversion).map_err(|_| rare())?;
    let fits = raster.width as usize == page.width
        && raster.height as usize == page.height
        && raster.components == page.samples;
    match fits {
        true => Ok(Samples::U8(raster.samples)),
        false => Err(rare()),
    }
}

//! The blocks that travel with a picture.

use crate::memory::null;
use crate::status::Failure;
use std::mem::MaybeUninit;
use tessera_codec::{Metadata, MetadataKind as Kind};

/// The kinds of metadata.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MetadataKind {
    /// ICC colour profile.
    Icc = 0,
    /// EXIF, as a TIFF stream without the `Exif\0\0` prefix of JPEG.
    Exif = 1,
    /// XMP packet (XML).
    Xmp = 2,
    /// What the colours mean: primaries, transfer, matrix (0) and range (0 or 1) by ITU-T H.273, four bytes.
    Cicp = 3,
    /// A gain map: one byte that says how it is turned to lie on the picture (as EXIF numbers it), then a picture file.
    GainMap = 4,
}

/// The kind that a number of the caller stands for.
pub(crate) fn kind_of(number: u32) -> Result<Kind, Failure> {
    let kinds = Kind::ALL.into_iter();
    let mut named = kinds.filter(|&kind| kind as u32 == number);
    let unknown = || Failure::parameter(format!("there is no metadata of kind {number}"));
    named.next().ok_or_else(unknown)
}

/// Tells the caller where a block is; NULL and 0 if there is none.
pub(crate) fn show(
    metadata: &Metadata,
    number: u32,
    data: Option<&mut MaybeUninit<*const u8>>,
    size: Option<&mut MaybeUninit<usize>>,
) -> Result<(), Failure> {
    let data = data.ok_or_else(|| null("the place of the data"))?;
    let size = size.ok_or_else(|| null("the place of the size"))?;
    data.write(std::ptr::null());
    size.write(0);
    if let Some(block) = metadata.get(kind_of(number)?) {
        data.write(block.as_ptr());
        size.write(block.len());
    }
    Ok(())
}

//! Which way up: EXIF first, then XMP, as other readers do.

use crate::metadata::{Metadata, orientation};
use image::metadata::Orientation;

/// With which EXIF starts inside a JPEG; some writers put it into other formats too.
const EXIF_PREFIX: &[u8] = b"Exif\0\0";

/// How the metadata says the pixels are turned.
pub(super) fn of(metadata: &Metadata) -> Orientation {
    let exif = metadata.exif.as_deref();
    let exif = exif.and_then(Orientation::from_exif_chunk);
    let by_xmp = || Orientation::from_exif(orientation::in_xmp(metadata.xmp.as_deref()?)?);
    exif.or_else(by_xmp).unwrap_or(Orientation::NoTransforms)
}

/// The same, and sets it to upright in the metadata: the pixels are about to be turned, and a
/// reader of the metadata must not turn them again.
pub(super) fn take(metadata: &mut Metadata) -> Orientation {
    let orientation = of(metadata);
    metadata.set_upright();
    orientation
}

/// EXIF as we keep it: without the prefix of JPEG.
pub(super) fn without_prefix(exif: Vec<u8>) -> Vec<u8> {
    match exif.strip_prefix(EXIF_PREFIX) {
        Some(rest) => rest.to_vec(),
        None => exif,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Little-endian EXIF with nothing but an orientation.
    fn exif(value: u8) -> Vec<u8> {
        let mut exif = b"II\x2A\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
        exif.extend([value, 0, 0, 0, 0, 0, 0, 0]);
        exif
    }

    #[test]
    fn exif_goes_before_xmp_and_both_are_reset() {
        let xmp = b"<x tiff:Orientation=\"3\"/>".to_vec();
        let mut metadata = Metadata {
            exif: Some(exif(6)),
            xmp: Some(xmp),
            ..Metadata::default()
        };
        assert_eq!(take(&mut metadata), Orientation::Rotate90);
        assert_eq!(of(&metadata), Orientation::NoTransforms);
        assert_eq!(metadata.exif, Some(exif(1)));
    }

    #[test]
    fn xmp_alone_and_prefixed_exif_count() {
        let mut metadata = Metadata {
            xmp: Some(b"<tiff:Orientation>8</tiff:Orientation>".to_vec()),
            ..Metadata::default()
        };
        assert_eq!(take(&mut metadata), Orientation::Rotate270);
        let mut prefixed = b"Exif\0\0".to_vec();
        prefixed.extend(exif(2));
        assert_eq!(without_prefix(prefixed), exif(2));
    }
}

//! Which format a file is in: by its first bytes, and for Targa by all that is known of it.

use crate::image_io::error::ReadImageError;
use crate::image_io::input::Input;
use image::ImageFormat;
use std::io::{self, Read, Seek, SeekFrom};

/// What can be read, for messages and help.
pub(crate) const FORMATS: &str = "PNG, JPEG, WebP, GIF, TIFF, BMP, PNM, TGA, QOI, AVIF, JPEG 2000";

/// Endings of the names of files that can be read, in lower case.
pub const EXTENSIONS: [&str; 22] = [
    "png", "apng", "jpg", "jpeg", "jfif", "webp", "gif", "ppm", "pgm", "pbm", "pnm", "pam", "tif",
    "tiff", "bmp", "tga", "qoi", "avif", "jp2", "j2k", "jpf", "jpx",
];

/// What is read to tell the formats apart.
const SIGNATURE_LEN: u64 = 64;

/// A format with a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    Png,
    Pnm,
    Jpeg,
    WebP,
    Gif,
    Tiff,
    Bmp,
    Tga,
    Qoi,
    Avif,
    Jpeg2000,
}

impl Format {
    /// The usual name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Pnm => "PNM",
            Self::Jpeg => "JPEG",
            Self::WebP => "WebP",
            Self::Gif => "GIF",
            Self::Tiff => "TIFF",
            Self::Bmp => "BMP",
            Self::Tga => "TGA",
            Self::Qoi => "QOI",
            Self::Avif => "AVIF",
            Self::Jpeg2000 => "JPEG 2000",
        }
    }
}

/// First bytes, where they start, and what they stand for.
const OTHERS: &[(usize, &[u8], &str)] = &[
    (0, b"DDS ", "DDS"),
    (0, b"8BPS", "Photoshop"),
    (0, b"%PDF", "PDF"),
    (0, b"%!PS", "PostScript"),
    (0, b"\xC5\xD0\xD3\xC6", "PostScript"),
    (0, b"\xFF\x0A", "JPEG XL"),
    (0, b"\0\0\0\x0CJXL ", "JPEG XL"),
    (0, b"\0\0\x01\0", "icon"),
    (0, b"\0\0\x02\0", "cursor"),
    (0, b"icns", "icon"),
    (0, b"<svg", "SVG"),
    (0, b"\x01\xDA", "SGI"),
    (0, b"BLP", "BLP"),
    (0, b"SIMPLE  =", "FITS"),
    (0, b"#?RADIANCE", "Radiance HDR"),
    (0, b"\x76\x2F\x31\x01", "OpenEXR"),
    (4, b"ftyphei", "HEIC"),
    (4, b"ftypmif1", "HEIC"),
    (4, b"\x11\xAF", "FLI animation"),
    (4, b"\x12\xAF", "FLC animation"),
];

/// The format of a file.
pub(super) fn of(input: Input<'_>) -> Result<Format, ReadImageError> {
    let start = input.start(SIGNATURE_LEN)?;
    if start.is_empty() {
        return Err(ReadImageError::Empty);
    }
    if let Some(format) = by_signature(&start) {
        return Ok(format);
    }
    // Before the others: an uncompressed one starts like a cursor.
    if is_targa(input, &start)? {
        return Ok(Format::Tga);
    }
    let other = |(at, magic, _): &&(usize, &[u8], &str)| {
        start.get(*at..).is_some_and(|rest| rest.starts_with(magic))
    };
    if let Some((_, _, name)) = OTHERS.iter().find(other) {
        return Err(ReadImageError::UnsupportedFormat(name));
    }
    Err(ReadImageError::UnknownFormat)
}

fn by_signature(start: &[u8]) -> Option<Format> {
    if start.starts_with(b"\0\0\0\x0CjP  ") || start.starts_with(b"\xFF\x4F\xFF\x51") {
        return Some(Format::Jpeg2000);
    }
    Some(match image::guess_format(start).ok()? {
        ImageFormat::Png => Format::Png,
        ImageFormat::Pnm => Format::Pnm,
        ImageFormat::Jpeg => Format::Jpeg,
        ImageFormat::WebP => Format::WebP,
        ImageFormat::Gif => Format::Gif,
        ImageFormat::Tiff => Format::Tiff,
        ImageFormat::Bmp => Format::Bmp,
        ImageFormat::Qoi => Format::Qoi,
        ImageFormat::Avif => Format::Avif,
        _ => return None,
    })
}

/// Targa has no signature at its start: the name or the footer must say so, and the header must
/// make sense.
fn is_targa(input: Input<'_>, start: &[u8]) -> io::Result<bool> {
    let [
        _,
        map,
        kind,
        _,
        _,
        _,
        _,
        map_bits,
        _,
        _,
        _,
        _,
        w0,
        w1,
        h0,
        h1,
        bits,
        ..,
    ] = *start
    else {
        return Ok(false);
    };
    let kinds = match map {
        0 => [2, 3, 10, 11],
        1 => [1, 9, 1, 9],
        _ => return Ok(false),
    };
    let sensible = kinds.contains(&kind)
        && matches!(bits, 8 | 15 | 16 | 24 | 32)
        && (map == 0 || matches!(map_bits, 15 | 16 | 24 | 32))
        && (w0 | w1 > 0 && h0 | h1 > 0);
    Ok(sensible && (is_named_targa(input) || has_targa_footer(input)?))
}

fn is_named_targa(input: Input<'_>) -> bool {
    let Input::Path(path) = input else {
        return false;
    };
    path.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("tga"))
}

fn has_targa_footer(input: Input<'_>) -> io::Result<bool> {
    const FOOTER: &[u8] = b"TRUEVISION-XFILE.\0";
    let mut reader = input.reader()?;
    let len = reader.seek(SeekFrom::End(0))?;
    let Some(at) = len.checked_sub(FOOTER.len() as u64) else {
        return Ok(false);
    };
    reader.seek(SeekFrom::Start(at))?;
    let mut end = Vec::new();
    reader.read_to_end(&mut end)?;
    Ok(end == FOOTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format_of(start: &[u8]) -> Result<Format, ReadImageError> {
        of(Input::Bytes(start))
    }

    #[test]
    fn signatures_decide() {
        assert_eq!(format_of(b"GIF89a").unwrap(), Format::Gif);
        assert_eq!(format_of(b"\xFF\x4F\xFF\x51").unwrap(), Format::Jpeg2000);
        let psd = format_of(b"8BPS\0\x01").unwrap_err();
        assert!(
            psd.to_string()
                .starts_with("Photoshop files cannot be read")
        );
        assert!(matches!(
            format_of(b"hello"),
            Err(ReadImageError::UnknownFormat)
        ));
        assert!(matches!(format_of(b""), Err(ReadImageError::Empty)));
    }

    #[test]
    fn targa_needs_its_footer_or_its_name() {
        let mut targa = vec![0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 24, 0];
        targa.extend([1, 2, 3]);
        assert!(format_of(&targa).is_err());
        targa.extend(b"TRUEVISION-XFILE.\0");
        assert_eq!(format_of(&targa).unwrap(), Format::Tga);
    }
}

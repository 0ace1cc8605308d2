//! Small edits of XMP: the orientation inside it, and putting it into a PNG.

/// The attribute or element in which XMP repeats the EXIF orientation.
const ORIENTATION: &[u8] = b"tiff:Orientation";

/// The keyword under which PNG readers look for XMP.
const PNG_KEYWORD: &[u8] = b"XML:com.adobe.xmp";

/// Signature and IHDR chunk: what comes first in every PNG.
const PNG_HEAD: usize = 8 + 25;

/// Sets the orientation to 1 in either spelling, `tiff:Orientation="6"` or
/// `<tiff:Orientation>6<`, because the pixels have been turned.
pub(super) fn reset_orientation(xmp: &mut [u8]) {
    let mut start = 0;
    while let Some(at) = find(&xmp[start..], ORIENTATION) {
        start += at + ORIENTATION.len();
        let digit = match &mut xmp[start..] {
            [b'=', b'"' | b'\'', digit, ..] | [b'>', digit, ..] => digit,
            _ => continue,
        };
        if digit.is_ascii_digit() {
            *digit = b'1';
        }
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// Inserts XMP as an uncompressed iTXt chunk behind the header of a PNG.
pub(super) fn insert_into_png(png: &mut Vec<u8>, xmp: &[u8]) {
    let mut chunk = b"iTXt".to_vec();
    chunk.extend_from_slice(PNG_KEYWORD);
    // End of keyword, not compressed, method 0, empty language and translated keyword.
    chunk.extend([0; 5]);
    chunk.extend_from_slice(xmp);
    let len = (chunk.len() - 4) as u32;
    let crc = crc32fast::hash(&chunk);
    let mut whole = len.to_be_bytes().to_vec();
    whole.append(&mut chunk);
    whole.extend(crc.to_be_bytes());
    png.splice(PNG_HEAD..PNG_HEAD, whole);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_spellings_are_reset_and_nothing_else() {
        let mut xmp =
            b"<a tiff:Orientation=\"6\"/><tiff:Orientation>8</tiff:Orientation> 6".to_vec();
        reset_orientation(&mut xmp);
        assert_eq!(
            xmp,
            b"<a tiff:Orientation=\"1\"/><tiff:Orientation>1</tiff:Orientation> 6"
        );
    }
}

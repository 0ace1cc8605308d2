//! Small edits of XMP: the orientation inside it, and putting it into a PNG.

/// The attribute or element in which XMP repeats the EXIF orientation.
const ORIENTATION: &[u8] = b"tiff:Orientation";

/// The keyword under which PNG readers look for XMP.
const PNG_KEYWORD: &[u8] = b"XML:com.adobe.xmp";

/// Sets the orientation to 1 in either spelling, `tiff:Orientation="6"` or
/// `<tiff:Orientation>6<`, because the pixels have been turned.
pub(super) fn reset_orientation(xmp: &mut [u8]) {
    let mut start = 0;
    while let Some(at) = find_digit(xmp, start) {
        xmp[at] = b'1';
        start = at;
    }
}

/// The orientation as EXIF numbers it, if there is one.
pub(super) fn orientation(xmp: &[u8]) -> Option<u8> {
    Some(xmp[find_digit(xmp, 0)?] - b'0')
}

/// Where the next orientation from `start` on has its digit.
fn find_digit(xmp: &[u8], mut start: usize) -> Option<usize> {
    loop {
        start += find(&xmp[start..], ORIENTATION)? + ORIENTATION.len();
        let offset = match &xmp[start..] {
            [b'=', b'"' | b'\'', b'0'..=b'9', ..] => 2,
            [b'>', b'0'..=b'9', ..] => 1,
            _ => continue,
        };
        return Some(start + offset);
    }
}

fn find(haystack: &[u8], needle: &[u8]) -> Option<usize> {
    haystack
        .windows(needle.len())
        .position(|window| window == needle)
}

/// XMP as the content of an uncompressed iTXt chunk of a PNG.
pub(super) fn png_text(xmp: &[u8]) -> Vec<u8> {
    let mut chunk = PNG_KEYWORD.to_vec();
    // End of keyword, not compressed, method 0, empty language and translated keyword.
    chunk.extend([0; 5]);
    chunk.extend_from_slice(xmp);
    chunk
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

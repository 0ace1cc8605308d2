//! XMP inside a PNG.

/// The keyword under which PNG readers look for XMP.
const PNG_KEYWORD: &[u8] = b"XML:com.adobe.xmp";

/// XMP as the content of an uncompressed iTXt chunk of a PNG.
pub(super) fn png_text(xmp: &[u8]) -> Vec<u8> {
    let mut chunk = PNG_KEYWORD.to_vec();
    // End of keyword, not compressed, method 0, empty language and translated keyword.
    chunk.extend([0; 5]);
    chunk.extend_from_slice(xmp);
    chunk
}

//! EXIF, XMP, code points of colour and frame count of a PNG, wherever in the file they are: writers put them behind the
//! pixels too, and older ones hide EXIF and XMP as hexadecimal text.

use crate::image_io::input::{Input, InputReader};
use crate::image_io::orientation;
use crate::metadata::{Cicp, Metadata};
use flate2::read::ZlibDecoder;
use std::io::{self, Read, SeekFrom};

const SIGNATURE_LEN: u64 = 8;
/// A chunk of text above this is no metadata of a picture.
const MAX_CHUNK: u64 = 64 << 20;
const XMP_KEYWORD: &[u8] = b"XML:com.adobe.xmp";
/// ImageMagick's names for EXIF.
const RAW_EXIF: [&[u8]; 2] = [b"Raw profile type exif", b"Raw profile type APP1"];
const RAW_XMP: &[u8] = b"Raw profile type xmp";

/// What stands beside the pixels.
#[derive(Debug, Default)]
pub(super) struct PngMetadata {
    /// EXIF, XMP and code points; the ICC profile is left to the decoder.
    pub(super) metadata: Metadata,
    /// Frames of the animation, if the file is one.
    pub(super) frames: Option<u32>,
}

/// Walks the chunks. A file that cannot be followed is left to the decoder, which will say why.
pub(super) fn read(input: Input<'_>) -> io::Result<PngMetadata> {
    let mut reader = input.reader()?;
    reader.seek(SeekFrom::Start(SIGNATURE_LEN))?;
    let mut found = PngMetadata::default();
    while let Some((kind, len)) = chunk_head(&mut *reader) {
        let wanted = matches!(
            &kind,
            b"eXIf" | b"cICP" | b"iTXt" | b"tEXt" | b"zTXt" | b"acTL"
        );
        if wanted && len <= MAX_CHUNK {
            let mut content = Vec::new();
            reader.by_ref().take(len).read_to_end(&mut content)?;
            found.add(kind, &content);
            reader.seek(SeekFrom::Current(4))?;
        } else {
            reader.seek(SeekFrom::Current(len as i64 + 4))?;
        }
    }
    Ok(found)
}

/// Type and length of the next chunk; `None` at the end.
fn chunk_head(reader: &mut dyn InputReader) -> Option<([u8; 4], u64)> {
    let mut head = [0; 8];
    reader.read_exact(&mut head).ok()?;
    let [a, b, c, d, kind @ ..] = head;
    let len = u32::from_be_bytes([a, b, c, d]);
    (kind != *b"IEND").then_some((kind, u64::from(len)))
}

impl PngMetadata {
    fn add(&mut self, kind: [u8; 4], content: &[u8]) {
        let metadata = &mut self.metadata;
        match &kind {
            b"eXIf" => metadata.exif = Some(orientation::without_prefix(content.to_vec())),
            // What makes no sense is passed over, as other readers do.
            b"cICP" => metadata.cicp = Cicp::from_bytes(content).ok(),
            b"acTL" => {
                let count = content.first_chunk().copied().map(u32::from_be_bytes);
                self.frames = self.frames.or(count);
            }
            _ => {
                if let Some((keyword, text)) = text_of(&kind, content) {
                    add_text(metadata, keyword, text);
                }
            }
        }
    }
}

fn add_text(metadata: &mut Metadata, keyword: &[u8], text: Vec<u8>) {
    if keyword == XMP_KEYWORD {
        metadata.xmp = Some(text);
    } else if keyword == RAW_XMP && metadata.xmp.is_none() {
        metadata.xmp = raw_profile(&text);
    } else if RAW_EXIF.contains(&keyword) && metadata.exif.is_none() {
        metadata.exif = raw_profile(&text)
            .map(orientation::without_prefix)
            // The same chunk may hold XMP.
            .filter(|exif| exif.starts_with(b"II") || exif.starts_with(b"MM"));
    }
}

/// Keyword and text of the three kinds of text chunk.
fn text_of<'a>(kind: &[u8; 4], content: &'a [u8]) -> Option<(&'a [u8], Vec<u8>)> {
    let (keyword, rest) = split_at_zero(content)?;
    let text = match (kind, rest) {
        (b"tEXt", text) => text.to_vec(),
        (b"zTXt", [0, packed @ ..]) => inflate(packed)?,
        (b"iTXt", [packed, _, rest @ ..]) => {
            let (_language, rest) = split_at_zero(rest)?;
            let (_translated, text) = split_at_zero(rest)?;
            match packed {
                0 => text.to_vec(),
                _ => inflate(text)?,
            }
        }
        _ => return None,
    };
    Some((keyword, text))
}

fn split_at_zero(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = bytes.iter().position(|&byte| byte == 0)?;
    Some((&bytes[..at], &bytes[at + 1..]))
}

fn inflate(packed: &[u8]) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    let read = ZlibDecoder::new(packed)
        .take(MAX_CHUNK)
        .read_to_end(&mut text);
    read.ok().map(|_| text)
}

/// ImageMagick's profiles: a line with the name, one with the length, then hexadecimal digits.
fn raw_profile(text: &[u8]) -> Option<Vec<u8>> {
    let text = std::str::from_utf8(text).ok()?;
    let mut lines = text.trim_start().lines().skip(1);
    let len: usize = lines.next()?.trim().parse().ok()?;
    let digits: Vec<u8> = lines.flat_map(str::bytes).collect();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let bytes: Vec<u8> = digits
        .as_chunks()
        .0
        .iter()
        .map(byte)
        .collect::<Option<_>>()?;
    (bytes.len() == len).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(chunks: &[(&[u8; 4], &[u8])]) -> Vec<u8> {
        let mut file = vec![0; SIGNATURE_LEN as usize];
        for (kind, content) in chunks {
            file.extend((content.len() as u32).to_be_bytes());
            file.extend(*kind);
            file.extend(*content);
            file.extend([0; 4]);
        }
        file
    }

    #[test]
    fn exif_is_found_behind_the_pixels_and_as_text() {
        let file = png(&[(b"IDAT", b"pixels"), (b"eXIf", b"MM\0*")]);
        let found = read(Input::Bytes(&file)).unwrap();
        assert_eq!(found.metadata.exif.as_deref(), Some(&b"MM\0*"[..]));
        let text = b"Raw profile type exif\0\nexif\n      10\n457869660000\n4d4d002a\n";
        let found = read(Input::Bytes(&png(&[(b"tEXt", text)]))).unwrap();
        assert_eq!(found.metadata.exif.as_deref(), Some(&b"MM\0*"[..]));
    }

    #[test]
    fn frames_and_xmp_are_found_and_damage_is_passed_over() {
        let file = png(&[
            (b"acTL", &[0, 0, 0, 3, 0, 0, 0, 0]),
            (b"cICP", &[9, 18, 0, 1]),
            (b"iTXt", b"XML:com.adobe.xmp\0\0\0\0\0<x/>"),
            (b"zTXt", b"Raw profile type exif\0\0not zlib"),
        ]);
        let found = read(Input::Bytes(&file)).unwrap();
        assert_eq!(found.frames, Some(3));
        assert_eq!(found.metadata.xmp.as_deref(), Some(&b"<x/>"[..]));
        assert_eq!(found.metadata.exif, None);
        assert_eq!(found.metadata.cicp, Some(Cicp::new(9, 18, true)));
        for len in 0..file.len() {
            read(Input::Bytes(&file[..len])).unwrap();
        }
    }
}

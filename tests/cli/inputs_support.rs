//! Small pictures in many formats, and a run of the command over one of them.

use image::{DynamicImage, ImageFormat, RgbImage};
use jpeg_encoder::{ColorType, Encoder};
use std::fs;
use std::io::Cursor;
use std::process::Command;

pub(crate) const WIDTH: u32 = 20;
pub(crate) const HEIGHT: u32 = 12;

/// What a run of `tessera encode` did.
pub(crate) struct Run {
    pub(crate) code: Option<i32>,
    pub(crate) message: String,
    /// The encoded file.
    pub(crate) coded: Option<Vec<u8>>,
}

/// Encodes `file` under a name that says nothing.
pub(crate) fn encode(file: &[u8], arguments: &[&str]) -> Run {
    let folder = tempfile::tempdir().unwrap();
    let (input, output) = (folder.path().join("input"), folder.path().join("output"));
    fs::write(&input, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(["encode", "--effort", "1"]).args(arguments);
    let run = command.arg(&input).arg("-o").arg(&output).output().unwrap();
    Run {
        code: run.status.code(),
        message: String::from_utf8_lossy(&run.stderr).into_owned(),
        coded: fs::read(output).ok(),
    }
}

/// A picture whose four corners differ.
pub(crate) fn picture() -> RgbImage {
    RgbImage::from_fn(WIDTH, HEIGHT, |x, y| {
        image::Rgb([(x * 12) as u8, (y * 20) as u8, 90])
    })
}

/// The picture in `format`.
pub(crate) fn file(format: ImageFormat) -> Vec<u8> {
    written(&DynamicImage::from(picture()), format)
}

/// Any picture in `format`.
pub(crate) fn written(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    image.write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// A larger picture as JPEG, baseline or progressive.
pub(crate) fn jpeg(progressive: bool) -> Vec<u8> {
    let image = RgbImage::from_fn(96, 64, |x, y| {
        image::Rgb([(x * y) as u8, (x * 2) as u8, (y * 3) as u8])
    });
    let mut file = Vec::new();
    let mut encoder = Encoder::new(&mut file, 90);
    encoder.set_progressive(progressive);
    encoder.encode(&image, 96, 64, ColorType::Rgb).unwrap();
    file
}

/// Number, type and values of a TIFF tag. Type 3 is 16 bits, 4 is 32, 1 and 7 are bytes.
pub(crate) type Tag<'a> = (u16, u16, &'a [u32]);

/// A little-endian TIFF of one page: its tags and its strips or tiles, whose offsets and lengths are added.
pub(crate) fn tiff(tags: &[Tag<'_>], chunks: &[&[u8]]) -> Vec<u8> {
    tiff_pages(&[(tags, chunks)])
}

/// The same with several pages.
pub(crate) fn tiff_pages(pages: &[(&[Tag<'_>], &[&[u8]])]) -> Vec<u8> {
    let mut file = b"II\x2A\0\0\0\0\0".to_vec();
    let mut link = 4;
    for (tags, chunks) in pages {
        let offsets: Vec<u32> = chunks
            .iter()
            .map(|chunk| append(&mut file, chunk))
            .collect();
        let lengths: Vec<u32> = chunks.iter().map(|chunk| chunk.len() as u32).collect();
        let tiled = tags.iter().any(|(tag, ..)| *tag == 322);
        let (offset_tag, length_tag) = if tiled { (324, 325) } else { (273, 279) };
        let mut tags = tags.to_vec();
        tags.push((offset_tag, 4, &offsets));
        tags.push((length_tag, 4, &lengths));
        let entries: Vec<u8> = tags.iter().flat_map(|tag| entry(&mut file, tag)).collect();
        let mut directory = (tags.len() as u16).to_le_bytes().to_vec();
        directory.extend(entries);
        directory.extend([0; 4]);
        let at = append(&mut file, &directory);
        file[link..link + 4].copy_from_slice(&at.to_le_bytes());
        link = file.len() - 4;
    }
    file
}

fn append(file: &mut Vec<u8>, bytes: &[u8]) -> u32 {
    let at = file.len() as u32;
    file.extend(bytes);
    at
}

fn entry(file: &mut Vec<u8>, (tag, kind, values): &Tag<'_>) -> Vec<u8> {
    let size = match kind {
        3 => 2,
        4 => 4,
        _ => 1,
    };
    let mut bytes: Vec<u8> = Vec::new();
    values
        .iter()
        .for_each(|value| bytes.extend(&value.to_le_bytes()[..size]));
    let mut entry = [tag.to_le_bytes(), kind.to_le_bytes()].concat();
    entry.extend((values.len() as u32).to_le_bytes());
    if bytes.len() > 4 {
        bytes = append(file, &bytes).to_le_bytes().to_vec();
    }
    bytes.resize(4, 0);
    entry.extend(bytes);
    entry
}

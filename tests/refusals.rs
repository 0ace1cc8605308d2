//! Pictures of which something would be silently lost: each is refused with the reason and a remedy.

use image::{DynamicImage, ImageFormat};
use std::fs;
use std::io::Cursor;
use std::process::Command;

const DAMAGED: i32 = 3;

/// A small picture in `format`.
fn file(format: ImageFormat) -> Vec<u8> {
    let pixel = |x: u32, y: u32| image::Rgb([(x * 10) as u8, (y * 20) as u8, 90]);
    let image = DynamicImage::from(image::RgbImage::from_fn(20, 12, pixel));
    let mut file = Cursor::new(Vec::new());
    image.write_to(&mut file, format).unwrap();
    file.into_inner()
}

/// Encoding `file` fails, says both words and writes nothing.
fn refused(file: &[u8], reason: &str, remedy: &str) {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("input");
    fs::write(&input, file).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    let output = command.arg("encode").arg(&input).output().unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(DAMAGED), "{message}");
    assert!(
        message.contains(reason) && message.contains(remedy),
        "{message}"
    );
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn apng() {
    let mut png = file(ImageFormat::Png);
    // An acTL chunk (one frame, play once) behind the header.
    let mut chunk = b"acTL\0\0\0\x01\0\0\0\x01".to_vec();
    chunk.extend(crc32(&chunk).to_be_bytes());
    chunk.splice(0..0, 8u32.to_be_bytes());
    png.splice(33..33, chunk);
    refused(&png, "animated", "one frame");
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 != 0 { 0xEDB8_8320 } else { 0 }
        })
    })
}

/// A chunk of a RIFF file.
fn riff_chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = name.to_vec();
    chunk.extend((content.len() as u32).to_le_bytes());
    chunk.extend(content);
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

#[test]
fn animated_webp() {
    let sides = [19, 0, 0, 11, 0, 0];
    let still = file(ImageFormat::WebP);
    let mut frame = vec![0; 6];
    frame.extend(sides);
    frame.extend([100, 0, 0, 0]);
    frame.extend(&still[12..]);
    let mut content = b"WEBP".to_vec();
    let mut features = vec![0b10, 0, 0, 0];
    features.extend(sides);
    content.extend(riff_chunk(b"VP8X", &features));
    content.extend(riff_chunk(b"ANIM", &[0; 6]));
    content.extend(riff_chunk(b"ANMF", &frame));
    content.extend(riff_chunk(b"ANMF", &frame));
    refused(&riff_chunk(b"RIFF", &content), "animated", "one frame");
}

#[test]
fn gif() {
    refused(b"GIF89a\x01\0\x01\0\0\0\0;", "Gif", "PNG");
}

#[test]
fn cmyk_jpeg() {
    let mut jpeg = file(ImageFormat::Jpeg);
    let frame = jpeg
        .windows(2)
        .position(|pair| pair == [0xFF, 0xC0])
        .unwrap();
    // A fourth component, with the tables of the third; the frame header grows by three bytes.
    jpeg[frame + 3] += 3;
    jpeg[frame + 9] = 4;
    let third = jpeg[frame + 16..frame + 19].to_vec();
    jpeg.splice(frame + 19..frame + 19, [4, third[1], third[2]]);
    refused(&jpeg, "CMYK", "RGB");
}

#[test]
fn truncated_jpeg() {
    let jpeg = file(ImageFormat::Jpeg);
    refused(&jpeg[..jpeg.len() - 20], "truncated", "fetch it again");
}

#[test]
fn tiff_of_two_pages() {
    let mut tiff = file(ImageFormat::Tiff);
    let number = |at: usize, len: usize| {
        let bytes = tiff[at..at + len].iter().rev();
        bytes.fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let first = number(4, 4);
    let next = first + 2 + 12 * number(first, 2);
    // The page once more.
    tiff[next..next + 4].copy_from_slice(&(first as u32).to_le_bytes());
    refused(&tiff, "several pages", "one page");
}

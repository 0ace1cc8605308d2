//! Pictures that cannot be read right: each is refused with the reason and a remedy, and whatever
//! a decoder does, the other pictures are encoded.

use crate::inputs_support::{Run, encode, file, jpeg, tiff};
use image::ImageFormat;
use std::fs;
use std::process::Command;

const DAMAGED: i32 = 3;
const LIMITS: i32 = 5;
const INCOMPLETE: i32 = 6;

/// Encoding `file` fails, says both words and writes nothing.
fn refused(file: &[u8], reason: &str, remedy: &str) {
    let Run {
        code,
        message,
        coded,
    } = encode(file, &[]);
    assert_eq!(code, Some(DAMAGED), "{message}");
    assert!(
        message.contains(reason) && message.contains(remedy),
        "{message}"
    );
    assert!(coded.is_none());
    assert_eq!(message.lines().count(), 1, "{message}");
}

#[test]
fn formats_that_are_not_read_are_named() {
    refused(b"8BPS\0\x01\0\0\0\0\0\0", "Photoshop", "PNG");
    refused(b"DDS \x7C\0\0\0", "DDS", "PNG");
    refused(b"neither this nor that", "not a picture", "PNG, JPEG");
}

#[test]
fn a_jpeg_is_complete_or_refused() {
    for progressive in [false, true] {
        let whole = jpeg(progressive);
        assert_eq!(encode(&whole, &[]).code, Some(0));
        let scan = whole
            .windows(2)
            .position(|pair| pair == [0xFF, 0xDA])
            .unwrap();
        for kept in [whole.len() - 3, whole.len() - 40, (scan + whole.len()) / 2] {
            refused(&whole[..kept], "truncated", "fetch it again");
            let mut early_end = whole[..kept].to_vec();
            // A lone escape byte would swallow the marker.
            while early_end.last() == Some(&0xFF) {
                early_end.pop();
            }
            early_end.extend([0xFF, 0xD9]);
            refused(&early_end, "truncated", "fetch it again");
        }
    }
}

#[test]
fn a_jpeg_that_lacks_only_its_end_marker_is_read() {
    let whole = jpeg(false);
    assert_eq!(encode(&whole[..whole.len() - 2], &[]).code, Some(0));
}

#[test]
fn rare_kinds_of_jpeg_are_named() {
    let mut arithmetic = jpeg(false);
    let frame = arithmetic
        .windows(2)
        .position(|pair| pair == [0xFF, 0xC0])
        .unwrap();
    arithmetic[frame + 1] = 0xC9;
    refused(&arithmetic, "arithmetic coding in JPEG", "PNG");
}

#[test]
fn a_bmp_whose_pixels_start_in_its_palette() {
    let gray = image::DynamicImage::new_luma8(20, 12);
    let mut bmp = std::io::Cursor::new(Vec::new());
    gray.write_to(&mut bmp, ImageFormat::Bmp).unwrap();
    let mut bmp = bmp.into_inner();
    assert_eq!(encode(&bmp, &[]).code, Some(0));
    bmp[10] = 54;
    bmp[11] = 0;
    refused(&bmp, "inside the palette", "elsewhere");
}

#[test]
fn files_that_end_early() {
    let formats = [
        ImageFormat::Png,
        ImageFormat::WebP,
        ImageFormat::Bmp,
        ImageFormat::Tiff,
        ImageFormat::Qoi,
        ImageFormat::Gif,
        ImageFormat::Pnm,
    ];
    for format in formats {
        let whole = file(format);
        for kept in [whole.len() / 2, whole.len() * 3 / 4] {
            let Run { code, message, .. } = encode(&whole[..kept], &[]);
            assert_eq!(code, Some(DAMAGED), "{format:?} {message}");
            assert!(message.contains("; "), "{format:?} {message}");
            assert!(!message.contains("fill whole buffer"), "{message}");
        }
    }
}

#[test]
fn rare_kinds_of_tiff_are_named() {
    let page = |tags: &[(u16, u16, &[u32])]| {
        let mut all = vec![(256, 3, &[2u32][..]), (257, 3, &[2]), (277, 3, &[1])];
        all.extend_from_slice(tags);
        tiff(&all, &[&[0; 64]])
    };
    let float = page(&[(258, 3, &[32]), (262, 3, &[1]), (339, 3, &[3])]);
    refused(&float, "samples of 32 bits in TIFF", "PNG");
    let signed = page(&[(258, 3, &[16]), (262, 3, &[1]), (339, 3, &[2])]);
    refused(&signed, "signed samples in TIFF", "PNG");
    let lzma = page(&[(258, 3, &[8]), (259, 3, &[34925]), (262, 3, &[1])]);
    refused(&lzma, "LZMA compression in TIFF", "PNG");
    let empty = page(&[(258, 3, &[8]), (262, 3, &[1]), (257, 3, &[60000])]);
    assert!(!encode(&empty, &[]).message.contains("panicked"));
}

/// A folder of a JPEG and a PNG, encoded while the reader of the JPEG misbehaves.
fn misbehaving(how: &str) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("bad.jpg"), jpeg(false)).unwrap();
    fs::write(folder.path().join("good.png"), file(ImageFormat::Png)).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_tessera"))
        .args(["encode", "--effort", "1", "-r"])
        .arg(folder.path())
        .env("TESSERA_TEST_READER", how)
        .output()
        .unwrap();
    assert!(folder.path().join("good.tsr").exists());
    assert!(!folder.path().join("bad.tsr").exists());
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        message.contains("1 encoded, 0 done before, 1 failed"),
        "{message}"
    );
    assert!(message.contains("bad.jpg: "), "{message}");
    assert!(!message.contains("panicked"), "{message}");
    (output.status.code(), message)
}

#[test]
fn whatever_a_decoder_does_the_others_go_on() {
    let expected = [
        ("panic", "its decoder stopped"),
        ("overflow", "; open and save the picture elsewhere"),
        ("loop", "seconds; open and save"),
        ("allocate", "more memory than is allowed"),
    ];
    for (how, said) in expected {
        let (code, message) = misbehaving(how);
        assert_eq!(code, Some(INCOMPLETE), "{how}: {message}");
        assert!(message.contains(said), "{how}: {message}");
    }
}

#[test]
fn the_code_of_a_single_file_tells_limits_from_damage() {
    let folder = tempfile::tempdir().unwrap();
    let input = folder.path().join("bad.jpg");
    fs::write(&input, jpeg(false)).unwrap();
    for (how, code) in [("panic", DAMAGED), ("loop", LIMITS), ("allocate", LIMITS)] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
        command
            .arg("encode")
            .arg(&input)
            .env("TESSERA_TEST_READER", how);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(code), "{how}");
    }
}

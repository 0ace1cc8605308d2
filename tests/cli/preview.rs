//! Previews, colours beyond sRGB, and files whose end is missing, by the command.

use crate::command::{DAMAGED, Folder, INCOMPLETE, fail, run, succeed};
use image::{DynamicImage, GenericImageView};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::read_picture;
use tessera_codec::{Cicp, Decoder, Picture, PictureInfo, PixelFormat};

/// A coded wave of colours, with these options.
fn coded(folder: &Folder, name: &str, options: &str) -> PathBuf {
    let wave = |v: u32| (f64::from(v) / 17.0).sin() * 100.0 + 120.0;
    let pixel = |x: u32, y: u32| image::Rgb([wave(x) as u8, wave(y + 9) as u8, wave(x + y) as u8]);
    let photo = folder.path(name).with_extension("png");
    image::RgbImage::from_fn(400, 300, pixel)
        .save(&photo)
        .unwrap();
    succeed(&format!("encode {{}} --lossy {options}"), &[&photo]);
    fs::remove_file(&photo).unwrap();
    folder.path(name)
}

fn report(file: &Path) -> Value {
    let output = run("info {} --json", &[file]);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn opened(path: &Path) -> DynamicImage {
    image::open(path).unwrap()
}

#[test]
fn previews_are_written_told_and_decoded() {
    let folder = Folder::new();
    let (with, without) = (
        coded(&folder, "a.tsr", "--preview"),
        coded(&folder, "b.tsr", ""),
    );
    assert!(report(&without)["preview"].is_null());
    let told = &report(&with)["preview"];
    let width = told["width"].as_u64().unwrap() as u32;
    assert!(told["bytes"].as_u64().unwrap() <= 1024, "{told}");
    let text = String::from_utf8(run("info {}", &[&with]).stdout).unwrap();
    assert!(text.contains(&format!("preview     {width} x ")), "{text}");
    let out = folder.path("out.png");
    succeed("decode {} -o {} --preview", &[&with, &out]);
    assert_eq!(opened(&out).width(), width);
    succeed(
        "decode {} -o {} --preview --max-side 40 --force",
        &[&with, &out],
    );
    assert_eq!(opened(&out).dimensions(), (40, 30));
    // A file without one is scaled down.
    succeed("decode {} -o {} --preview --force", &[&without, &out]);
    assert_eq!(opened(&out).dimensions(), (256, 192));
}

#[test]
fn the_beginning_of_a_file_has_a_preview() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", "--preview");
    let bytes = fs::read(&file).unwrap();
    let out = folder.path("out.png");
    fs::write(&file, &bytes[..1100]).unwrap();
    succeed("decode {} -o {} --preview", &[&file, &out]);
    fs::write(&file, &bytes[..100]).unwrap();
    let other = folder.path("other.png");
    fail(
        "decode {} -o {} --preview",
        &[&file, &other],
        DAMAGED,
        "the preview",
    );
    assert!(!other.exists());
}

#[test]
fn a_file_without_its_end_shows_its_rows() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", "-q 95 --effort 1");
    let whole = folder.path("whole.png");
    succeed("decode {} -o {}", &[&file, &whole]);
    let bytes = fs::read(&file).unwrap();
    fs::write(&file, &bytes[..bytes.len() / 4]).unwrap();
    let out = folder.path("out.png");
    fail(
        "decode {} -o {}",
        &[&file, &out],
        DAMAGED,
        "cannot be decoded",
    );
    fail(
        "decode {} -o {} --partial",
        &[&file, &out],
        INCOMPLETE,
        "tile 0",
    );
    let (whole, part) = (opened(&whole).into_luma8(), opened(&out).into_luma8());
    let near = |y: u32| (0..400).all(|x| whole[(x, y)][0].abs_diff(part[(x, y)][0]) < 40);
    assert!((0..64).all(near), "the first rows are there");
    assert!(
        (0..400).all(|x| part[(x, 299)][0] == 128),
        "the last are not"
    );
}

#[test]
fn code_points_go_through() {
    let folder = Folder::new();
    // A PNG of 16 bits with the colours of HDR10.
    let format = PixelFormat {
        depth: tessera_codec::BitDepth::Sixteen,
        ..PixelFormat::RGB8
    };
    let samples = (0..20 * 12 * 3).map(|i| i * 90).collect();
    let samples = tessera_codec::Samples::U16(samples);
    let mut picture = Picture::new(20, 12, format, samples).unwrap();
    picture.metadata.cicp = Some(Cicp::new(9, 16, true));
    let photo = folder.path("hdr.png");
    write_png(&photo, &picture);
    for (options, exact) in [("--lossless", true), ("--lossy -q 95", false)] {
        succeed(
            &format!("encode {{}} --force --verify {options}"),
            &[&photo],
        );
        let file = folder.path("hdr.tsr");
        assert_eq!(report(&file)["cicp"], serde_json::json!([9, 16, 0, 1]));
        let decoded = Decoder::new().decode(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(decoded.metadata.cicp, picture.metadata.cicp);
        let out = folder.path("out.png");
        succeed("decode {} -o {} --force", &[&file, &out]);
        let back = read_picture(&fs::read(&out).unwrap()).unwrap();
        assert_eq!(back.metadata.cicp, picture.metadata.cicp);
        assert_eq!(back.format(), format);
        assert_eq!(back.samples() == picture.samples(), exact);
        // JPEG has no place for it, and says so.
        let jpeg = folder.path("out.jpg");
        let output = succeed("decode {} -o {} --force", &[&file, &jpeg]);
        assert!(String::from_utf8_lossy(&output.stderr).contains("CICP"));
    }
}

fn write_png(path: &Path, picture: &Picture) {
    let file = fs::File::create(path).unwrap();
    let info = PictureInfo::from(picture);
    let metadata = picture.metadata.clone();
    let png = image::ImageFormat::Png;
    let writer = tessera_codec::image_io::PictureWriter::new(file, png, info, metadata);
    let mut writer = writer.unwrap();
    writer.push(picture.clone()).unwrap();
    writer.finish().unwrap();
}

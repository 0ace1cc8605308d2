//! The `tessera` command as a user meets it: defaults, streams, metadata, and every error.

use crate::pictures::open;
use image::codecs::png::PngDecoder;
use image::metadata::Orientation;
use image::{DynamicImage, ImageDecoder, ImageEncoder};
use std::fs;
use std::io::BufReader;
use std::path::Path;
use tessera_dict::Dictionary;

use crate::command::{
    DAMAGED, DICTIONARY, Folder, INCOMPLETE, USAGE, fail, pipe, run, small_picture, succeed,
};

#[test]
fn defaults_need_no_thought() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    succeed("encode {}", &[&photo]);
    fs::remove_file(&photo).unwrap();
    succeed("decode {}", &[&folder.path("photo.tsr")]);
    let decoded = open(&photo);
    assert_eq!((decoded.width(), decoded.height()), (20, 12));
    assert_eq!(folder.names(), ["photo.png", "photo.tsr"]);
}

#[test]
fn existing_outputs_are_safe() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let output = folder.path("photo.tsr");
    fs::write(&output, b"precious").unwrap();
    fail("encode {}", &[&photo], USAGE, "--force");
    assert_eq!(fs::read(&output).unwrap(), b"precious");
    succeed("encode {} --force", &[&photo]);
    fail("decode {}", &[&output], USAGE, "--force");
    succeed("decode {} --force", &[&output]);
}

#[test]
fn unusable_inputs_are_explained() {
    let folder = Folder::new();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    fail("encode {}", &[&folder.path("none.png")], 1, "none.png");
    fail("encode {}", &[folder.0.path()], USAGE, "folder");
    fail("encode {}", &[&write("empty.png", b"")], DAMAGED, "empty");
    let text = write("text.png", b"just text, no picture");
    fail("encode {}", &[&text], DAMAGED, "known format");
    let png = fs::read(folder.picture("whole.png")).unwrap();
    let cut = write("cut.png", &png[..png.len() / 2]);
    fail("encode {}", &[&cut], DAMAGED, "cut.png");
    assert!(!folder.path("cut.tsr").exists());
    fail("decode {}", &[&text], USAGE, "input");
    fail(
        "decode {} -o {}",
        &[&text, &folder.path("o.png")],
        DAMAGED,
        "not a Tessera",
    );
    fail("info {}", &[&folder.path("none.tsr")], 1, "none.tsr");
}

#[test]
fn a_missing_file_is_named_once_and_with_advice() {
    let folder = Folder::new();
    let (photo, none) = (folder.picture("photo.png"), folder.path("none.png"));
    for (line, paths) in [
        ("compare {} {}", [&*none, &*photo]),
        ("compare {} {}", [&*photo, &*none]),
        ("encode {} -o {}", [&*none, &*folder.path("out.tsr")]),
        ("decode {} -o {}", [&*none, &*folder.path("out.png")]),
    ] {
        let output = run(line, &paths);
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{line}: {message}");
        assert_eq!(message.matches("none.png").count(), 1, "{message}");
        assert!(message.contains("check its name"), "{message}");
    }
}

#[test]
fn what_is_no_picture_is_told_before_its_output() {
    let folder = Folder::new();
    let empty = folder.path("empty.tsr");
    fs::write(&empty, b"").unwrap();
    fail("encode {}", &[&empty], DAMAGED, "empty");
    let photo = folder.picture("photo.png");
    fail("encode {} -o {}", &[&photo, &empty], USAGE, "--force");
}

#[test]
fn damaged_files_say_so_and_partial_saves_the_rest() {
    let folder = Folder::new();
    let big = folder.path("big.png");
    image::RgbImage::from_fn(100, 20, |x, y| image::Rgb([x as u8, y as u8, 7]))
        .save(&big)
        .unwrap();
    let file = folder.path("big.tsr");
    succeed("encode {} --tile-log2 6", &[&big]);
    let mut bytes = fs::read(&file).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&file, &bytes).unwrap();
    let output = folder.path("out.png");
    fail("decode {} -o {}", &[&file, &output], DAMAGED, "tile 1");
    assert!(!output.exists());
    fail(
        "decode {} -o {} --partial",
        &[&file, &output],
        INCOMPLETE,
        "tile 1",
    );
    assert_eq!(open(&output).width(), 100);
    let region = folder.path("region.png");
    succeed("decode {} -o {} --region 3,4,10,5", &[&file, &region]);
    assert_eq!(open(&region).height(), 5);
    fail("info {}", &[&file], DAMAGED, "damaged");
    fs::write(&file, &bytes[..10]).unwrap();
    fail("decode {} -f", &[&file], DAMAGED, "header");
}

/// Missing, mismatched, corrupt, too new: four messages, each with its own remedy.
#[test]
fn dictionary_problems_have_their_own_messages() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let good = Dictionary::untrained().to_bytes();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let dictionary = write("good.tsd", &good);
    succeed("encode {} --dict {} --lossy", &[&photo, &dictionary]);
    let coded = folder.path("photo.tsr");
    fail(
        "decode {} --force",
        &[&coded],
        DICTIONARY,
        "pass it with --dict",
    );
    let other = Dictionary::untrained().edited(|parts| parts.provenance = "another one".into());
    let mut too_new = good.clone();
    too_new[3] = 9;
    let mut damaged = good.clone();
    damaged[good.len() / 2] ^= 1;
    let cases = [
        (
            other.unwrap().to_bytes(),
            "pass the one it was encoded with",
        ),
        (damaged, "get a fresh copy"),
        (good[..good.len() - 3].to_vec(), "get a fresh copy"),
        (b"garbage".to_vec(), "name a .tsd file"),
        (too_new, "update tessera"),
    ];
    for (bytes, remedy) in cases {
        let path = write("case.tsd", &bytes);
        let line = "decode {} --force --dict {}";
        fail(line, &[&coded, &path], DICTIONARY, remedy);
    }
    let missing = folder.path("none.tsd");
    let line = "encode {} --dict {}";
    fail(line, &[&photo, &missing], DICTIONARY, "none.tsd");
    fail(line, &[&photo, folder.0.path()], DICTIONARY, "folder");
    fail("dict verify nosuch", &[], DICTIONARY, "dict list");
    assert_eq!(
        folder.names(),
        ["case.tsd", "good.tsd", "photo.png", "photo.tsr"]
    );
}

#[test]
fn damage_is_told_once() {
    let folder = Folder::new();
    succeed("encode {}", &[&folder.picture("photo.png")]);
    let path = folder.path("photo.tsr");
    let mut file = fs::read(&path).unwrap();
    *file.last_mut().unwrap() ^= 1;
    fs::write(&path, file).unwrap();
    let output = run("decode {} --force", &[&path]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(message.matches("checksum").count(), 1, "{message}");
}

#[test]
fn manual_and_completions_come_from_the_definitions() {
    let manual = String::from_utf8(succeed("man", &[]).stdout).unwrap();
    assert!(manual.contains("EXIT STATUS") && manual.contains("dictionary is missing"));
    let folder = Folder::new();
    succeed("man {}", &[folder.0.path()]);
    for page in ["tessera.1", "tessera-encode.1", "tessera-decode.1"] {
        assert!(
            folder.names().contains(&page.to_string()),
            "{:?}",
            folder.names()
        );
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = succeed(&format!("completions {shell}"), &[]).stdout;
        assert!(
            String::from_utf8(script).unwrap().contains("target-bpp"),
            "{shell}"
        );
    }
}

#[test]
fn as_much_is_said_as_asked_for() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let said = |line: &str| {
        let output = succeed(line, &[&photo]);
        String::from_utf8(output.stderr).unwrap()
    };
    assert_eq!(said("encode {} --quiet"), "");
    assert_eq!(said("encode {} --force").lines().count(), 1);
    assert!(said("-v encode {} --lossy --force").contains("quantiser"));
    fail("--quiet encode {}", &[&photo], USAGE, "exists");
}

#[test]
fn streams_work_both_ways() {
    let folder = Folder::new();
    let photo = fs::read(folder.picture("photo.png")).unwrap();
    let encoded = pipe(&["encode", "-", "--quiet"], &photo);
    assert!(encoded.stderr.is_empty());
    let decoded = pipe(&["decode", "-"], &encoded.stdout);
    let image = image::load_from_memory(&decoded.stdout).unwrap();
    assert_eq!(image.width(), 20);
    let info = pipe(&["info", "-", "--json"], &encoded.stdout);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["width"], 20);
    assert_eq!(info["bytes"], encoded.stdout.len());
}

#[test]
fn several_inputs_go_to_a_folder_and_failures_are_counted() {
    let folder = Folder::new();
    let (one, two) = (folder.picture("one.png"), folder.picture("two.jpg"));
    let out = folder.path("out");
    fail("encode {} {} -o {}", &[&one, &two, &out], USAGE, "folder");
    fs::create_dir(&out).unwrap();
    let missing = folder.path("missing.png");
    let line = "encode {} {} {} -o {}";
    fail(line, &[&one, &missing, &two, &out], INCOMPLETE, "1 of 3");
    assert!(out.join("one.tsr").is_file() && out.join("two.tsr").is_file());
}

#[test]
fn options_out_of_range_are_refused() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    for options in [
        "-q 101",
        "-e 0",
        "-q 50 --target-size 100",
        "--target-size 5",
        "--target-bpp -1",
        "--target-bpp nan",
        "--tile-log2 3",
    ] {
        let output = run(&format!("encode {{}} {options}"), &[&photo]);
        assert_eq!(output.status.code(), Some(USAGE), "{options}");
    }
    assert_eq!(folder.names(), ["photo.png"]);
}

/// A PNG with EXIF (orientation 6: turn clockwise), ICC and XMP.
fn rich_png(path: &Path) {
    let mut png = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut png);
    encoder.set_exif_metadata(exif(6)).unwrap();
    encoder.set_icc_profile(b"profile".repeat(9)).unwrap();
    small_picture().write_with_encoder(encoder).unwrap();
    fs::write(path, png).unwrap();
}

/// A TIFF header and one directory with one entry: the orientation.
fn exif(orientation: u8) -> Vec<u8> {
    let mut bytes = b"II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    bytes.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    bytes
}

#[test]
fn metadata_travels_and_orientation_is_applied_once() {
    let folder = Folder::new();
    let photo = folder.path("photo.png");
    rich_png(&photo);
    succeed("encode {} -q 95", &[&photo]);
    let output = folder.path("out.png");
    succeed("decode {} -o {}", &[&folder.path("photo.tsr"), &output]);
    let file = BufReader::new(fs::File::open(&output).unwrap());
    let mut decoder = PngDecoder::new(file).unwrap();
    assert_eq!(decoder.dimensions(), (12, 20));
    assert_eq!(decoder.exif_metadata().unwrap(), Some(exif(1)));
    let profile = decoder.icc_profile().unwrap();
    assert_eq!(profile, Some(b"profile".repeat(9)));
    assert_eq!(decoder.orientation().unwrap(), Orientation::NoTransforms);
    let turned = DynamicImage::from_decoder(decoder).unwrap().to_rgb8();
    let mut expected = small_picture();
    expected.apply_orientation(Orientation::Rotate90);
    let corner = |image: &image::RgbImage| i32::from(image.get_pixel(0, 0)[1]);
    assert!((corner(&turned) - corner(&expected.to_rgb8())).abs() < 12);
}

#[test]
fn strip_drops_metadata_and_formats_that_cannot_hold_it_say_so() {
    let folder = Folder::new();
    let photo = folder.path("photo.png");
    rich_png(&photo);
    succeed("encode {}", &[&photo]);
    let full = folder.path("photo.tsr");
    let noted = succeed("decode {} -o {}", &[&full, &folder.path("out.ppm")]);
    assert!(String::from_utf8_lossy(&noted.stderr).contains("ICC"));
    let stripped = folder.path("stripped.tsr");
    succeed("encode {} -o {} --strip", &[&photo, &stripped]);
    let info = succeed("info {} --json", &[&stripped]);
    let info: serde_json::Value = serde_json::from_slice(&info.stdout).unwrap();
    assert_eq!(info["metadata"], serde_json::json!([]));
}

#[test]
fn every_output_format_can_be_read_back() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    succeed("encode {} --verify", &[&photo]);
    for extension in ["png", "jpg", "webp", "ppm", "tiff", "bmp"] {
        let output = folder.path("out").with_extension(extension);
        succeed("decode {} -o {}", &[&folder.path("photo.tsr"), &output]);
        assert_eq!(open(&output).width(), 20, "{extension}");
        let again = folder.path(&format!("{extension}.tsr"));
        succeed("encode {} -o {}", &[&output, &again]);
    }
    let unknown = folder.path("out.xyz");
    fail(
        "decode {} -o {}",
        &[&folder.path("photo.tsr"), &unknown],
        USAGE,
        "format",
    );
}

#[test]
fn sixteen_bits_and_alpha_survive() {
    let folder = Folder::new();
    let (deep, clear) = (folder.path("deep.png"), folder.path("clear.png"));
    let gray = |x: u32, y: u32| image::Luma([(x * 3000 + y * 101) as u16]);
    let deep_image = image::ImageBuffer::<image::Luma<u16>, Vec<u16>>::from_fn(16, 9, gray);
    DynamicImage::from(deep_image).save(&deep).unwrap();
    let glass = |x: u32, y: u32| image::Rgba([9, (y * 9) as u8, 200, (x * 15) as u8]);
    image::RgbaImage::from_fn(16, 9, glass)
        .save(&clear)
        .unwrap();
    for photo in [&deep, &clear] {
        let output = folder.path("out.png");
        succeed("encode {} -q 100 --force", &[photo]);
        let file = photo.with_extension("tsr");
        succeed("decode {} -o {} --force", &[&file, &output]);
        let (before, after) = (open(photo), open(&output));
        assert_eq!(before.color(), after.color());
        let worst = before
            .to_rgba8()
            .iter()
            .zip(after.to_rgba8().iter())
            .map(|(a, b)| a.abs_diff(*b))
            .max();
        assert!(worst < Some(12), "{worst:?}");
    }
    fail(
        "decode {} -o {}",
        &[&folder.path("clear.tsr"), &folder.path("x.jpg")],
        USAGE,
        "transparency",
    );
}

//! `tessera decode`: several files, whole folders, smaller pictures, lossy outputs, and what their names promise.

use image::{DynamicImage, GenericImageView, ImageDecoder, ImageReader};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{DAMAGED, Folder, INCOMPLETE, USAGE, fail, run, succeed};

/// A coded photo-like picture, with a profile.
fn coded(folder: &Folder, name: &str, image: &DynamicImage) -> PathBuf {
    let photo = folder.path(name).with_extension("png");
    fs::create_dir_all(photo.parent().unwrap()).unwrap();
    let mut png = Vec::new();
    let mut encoder = image::codecs::png::PngEncoder::new(&mut png);
    image::ImageEncoder::set_icc_profile(&mut encoder, b"profile".repeat(9)).unwrap();
    image.write_with_encoder(encoder).unwrap();
    fs::write(&photo, png).unwrap();
    succeed("encode {} -q 90", &[&photo]);
    fs::remove_file(&photo).unwrap();
    folder.path(name)
}

fn colours(width: u32, height: u32) -> DynamicImage {
    let wave = |v: u32| (f64::from(v) / 7.0).sin() * 100.0 + 120.0;
    let pixel = |x: u32, y: u32| image::Rgb([wave(x) as u8, wave(y + 9) as u8, wave(x + y) as u8]);
    image::RgbImage::from_fn(width, height, pixel).into()
}

fn size(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn several_files_go_beside_themselves_or_to_a_folder() {
    let folder = Folder::new();
    let image = colours(30, 20);
    let files = ["a.tsr", "b.tsr"].map(|name| coded(&folder, name, &image));
    let [a, b] = files.each_ref().map(PathBuf::as_path);
    succeed("decode {} {}", &[a, b]);
    assert_eq!(folder.names(), ["a.png", "a.tsr", "b.png", "b.tsr"]);
    fail("decode {} {}", &[a, b], INCOMPLETE, "2 of 2 files");
    let out = folder.path("out");
    fail("decode {} {} -o {}", &[a, b, &out], USAGE, "folder");
    fs::create_dir(&out).unwrap();
    let missing = folder.path("missing.tsr");
    let line = "decode {} {} {} -o {} --format jpg";
    fail(line, &[a, &missing, b, &out], INCOMPLETE, "missing.tsr");
    for name in ["a.jpg", "b.jpg"] {
        assert_eq!(image::open(out.join(name)).unwrap().width(), 30);
    }
    succeed("decode {} -o {}", &[a, &out]);
    assert!(out.join("a.png").is_file());
}

#[test]
fn folders_are_mirrored_and_resumed() {
    let folder = Folder::new();
    let image = colours(30, 20);
    for name in ["in/a.tsr", "in/sub/deep/b.tsr", "in/c.TSR"] {
        let file = coded(&folder, &name.to_lowercase(), &image);
        fs::rename(file, folder.path(name)).unwrap();
    }
    fs::write(folder.path("in/notes.txt"), b"no picture").unwrap();
    let (input, output) = (folder.path("in"), folder.path("out"));
    let summary = |options: &str| -> (Option<i32>, Value) {
        let line = format!("decode -r {{}} -o {{}} --json {options}");
        let output = run(&line, &[&input, &output]);
        let summary = serde_json::from_slice(&output.stdout).unwrap();
        (output.status.code(), summary)
    };
    let (code, first) = summary("--jobs 2");
    assert_eq!((code, &first["decoded"]), (Some(0), &3.into()), "{first}");
    for name in ["out/a.png", "out/sub/deep/b.png", "out/c.png"] {
        assert_eq!(
            image::open(folder.path(name)).unwrap().width(),
            30,
            "{name}"
        );
    }
    fs::remove_file(output.join("a.png")).unwrap();
    fs::write(input.join("broken.tsr"), b"not a picture").unwrap();
    let (code, second) = summary("");
    assert_eq!(code, Some(INCOMPLETE));
    assert_eq!(
        (&second["decoded"], &second["skipped"]),
        (&1.into(), &2.into())
    );
    assert!(second["failures"].to_string().contains("broken.tsr"));
    assert!(!output.join("broken.png").exists());
    let (_, forced) = summary("--force");
    assert_eq!(forced["decoded"], 3);
    let file = input.join("a.tsr");
    fail("decode -r {}", &[&file], USAGE, "not a folder");
}

/// Beside a .tsr file there often lies the picture it was made of.
#[test]
fn originals_are_not_replaced() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let original = fs::read(&photo).unwrap();
    let hour_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = fs::File::options().write(true).open(&photo).unwrap();
    file.set_modified(hour_ago).unwrap();
    succeed("encode {}", &[&photo]);
    fail("decode -r {}", &[folder.0.path()], INCOMPLETE, "original");
    assert_eq!(fs::read(&photo).unwrap(), original);
    succeed("decode -r {} --force", &[folder.0.path()]);
    assert_ne!(fs::read(&photo).unwrap(), original);
}

#[test]
fn pictures_are_scaled_down_and_never_up() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", &colours(240, 160));
    let full = folder.path("full.png");
    succeed("decode {} -o {}", &[&file, &full]);
    let full = image::open(full).unwrap();
    for (side, width, height) in [
        (60, 60, 40),
        (100, 100, 67),
        (1, 1, 1),
        (240, 240, 160),
        (999, 240, 160),
    ] {
        for ending in ["png", "tiff", "webp"] {
            let out = folder.path("small").with_extension(ending);
            let line = format!("decode {{}} -o {{}} --force --max-side {side}");
            succeed(&line, &[&file, &out]);
            let small = image::open(&out).unwrap();
            assert_eq!(small.dimensions(), (width, height), "{ending}");
            let likeness = full.thumbnail_exact(width, height).to_rgb8();
            let worst = likeness
                .iter()
                .zip(small.to_rgb8().iter())
                .map(|(a, b)| a.abs_diff(*b))
                .max();
            assert!(worst <= Some(24), "{side} {ending}: {worst:?}");
        }
    }
    let part = folder.path("part.png");
    let line = "decode {} -o {} --region 10,10,80,40 --max-side 20";
    succeed(line, &[&file, &part]);
    assert_eq!(image::open(&part).unwrap().dimensions(), (20, 10));
    fail("decode {} --max-side 0", &[&file], USAGE, "max-side");
}

#[test]
fn lossy_outputs_follow_the_quality() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", &colours(240, 160));
    for ending in ["jpg", "webp"] {
        let sizes = [10, 50, 90].map(|quality| {
            let out = folder.path(&format!("{quality}.{ending}"));
            succeed(
                &format!("decode {{}} -o {{}} --quality {quality}"),
                &[&file, &out],
            );
            let mut decoder = ImageReader::open(&out).unwrap().into_decoder().unwrap();
            assert_eq!(decoder.dimensions(), (240, 160));
            let profile = decoder.icc_profile().unwrap();
            assert_eq!(profile, Some(b"profile".repeat(9)), "{ending}");
            size(&out)
        });
        assert!(
            sizes[0] < sizes[1] && sizes[1] < sizes[2],
            "{ending}: {sizes:?}"
        );
        let plain = folder.path("plain").with_extension(ending);
        succeed("decode {} -o {}", &[&file, &plain]);
        assert!(size(&plain) > sizes[2], "{ending}");
    }
    let exact = folder.path("exact.png");
    succeed("decode {} -o {}", &[&file, &exact]);
    let webp = image::open(folder.path("plain.webp")).unwrap();
    assert_eq!(webp.to_rgb8(), image::open(&exact).unwrap().to_rgb8());
    fail("decode {} --quality 90", &[&file], USAGE, "JPEG and WebP");
    fail("decode {} -o x.jpg --quality 0", &[&file], USAGE, "1..=100");
}

#[test]
fn lossy_webp_keeps_transparency_and_metadata() {
    let folder = Folder::new();
    let glass = |x: u32, y: u32| image::Rgba([90, (y * 9) as u8, 200, (x * 8) as u8]);
    let image = image::RgbaImage::from_fn(31, 17, glass);
    let file = coded(&folder, "glass.tsr", &image.into());
    let out = folder.path("glass.webp");
    succeed("decode {} -o {} --quality 80", &[&file, &out]);
    let mut decoder = ImageReader::open(&out).unwrap().into_decoder().unwrap();
    assert_eq!(decoder.icc_profile().unwrap(), Some(b"profile".repeat(9)));
    let decoded = DynamicImage::from_decoder(decoder).unwrap();
    assert_eq!(decoded.dimensions(), (31, 17));
    assert!(decoded.color().has_alpha());
    assert!(decoded.get_pixel(30, 8)[3] > 220 && decoded.get_pixel(0, 8)[3] < 20);
    succeed("encode {} -f", &[&out]);
}

#[test]
fn names_of_anymaps_keep_their_promise() {
    let folder = Folder::new();
    let colour = coded(&folder, "colour.tsr", &colours(30, 20));
    let gray = coded(&folder, "gray.tsr", &colours(30, 20).to_luma8().into());
    let start = |file: &Path, name: &str| {
        let out = folder.path(name);
        succeed("decode {} -o {} --force", &[file, &out]);
        fs::read(&out).unwrap()[..2].to_vec()
    };
    assert_eq!(start(&colour, "a.ppm"), b"P6");
    assert_eq!(start(&colour, "a.pnm"), b"P6");
    assert_eq!(start(&gray, "a.pgm"), b"P5");
    assert_eq!(start(&gray, "a.pnm"), b"P5");
    assert_eq!(start(&gray, "a.ppm"), b"P6");
    let out = folder.path("b.pgm");
    fail("decode {} -o {}", &[&colour, &out], USAGE, ".ppm");
    assert!(!out.exists());
    fail("decode {} -o - --format pgm", &[&colour], USAGE, ".ppm");
    fail("decode {} --format pbm", &[&gray], USAGE, ".pgm");
}

#[test]
fn strangers_mistakes_are_answered() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", &colours(30, 20));
    let bytes = fs::read(&file).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    fail("decode {}", &[&folder.path("none.tsr")], 1, "none.tsr");
    fail("decode {}", &[folder.0.path()], USAGE, "folder");
    fail(
        "decode {}",
        &[&write("empty.tsr", b"")],
        DAMAGED,
        "empty.tsr",
    );
    let cut = write("cut.tsr", &bytes[..bytes.len() / 2]);
    fail("decode {}", &[&cut], DAMAGED, "cut.tsr");
    assert!(!folder.path("cut.png").exists());
    let lost = folder.path("nowhere/a.png");
    fail("decode {} -o {}", &[&file, &lost], USAGE, "nowhere");
    fail("decode {} --dict nosuch", &[&file], 4, "nosuch");
    fail("decode {} --format xyz", &[&file], USAGE, "xyz");
    let piped = crate::command::pipe(&["decode", "-", "-o", "-", "--format", "ppm"], &bytes);
    assert!(piped.stdout.starts_with(b"P6\n30 20\n"));
    fail("decode {} --region 0,0,0,5", &[&file], USAGE, "region");
}

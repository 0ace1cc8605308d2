//! `tessera encode --lossless`, and drawings that turn lossless by themselves.

use std::path::Path;

use crate::command::{Folder, USAGE, fail, run, succeed};
use crate::pictures;

/// Black bars on white with a soft edge: nothing a transform likes.
fn drawing(path: &Path) {
    let pixel = |x: u32, y: u32| {
        let inside = (x / 3 + y / 5 * 2) % 4;
        image::Rgb([[0, 255, 255, 40][inside as usize]; 3])
    };
    image::RgbImage::from_fn(150, 110, pixel)
        .save(path)
        .unwrap();
}

#[test]
fn every_sample_comes_back() {
    let folder = Folder::new();
    let original = folder.path("deep.png");
    let pixel = |x: u32, y: u32| image::Rgba([x, y, x * y, x ^ y].map(|v| (v * 977) as u16));
    let picture = image::ImageBuffer::<image::Rgba<u16>, Vec<u16>>::from_fn(70, 45, pixel);
    picture.save(&original).unwrap();
    let (file, back) = (folder.path("deep.tsr"), folder.path("back.png"));
    for options in ["--verify", "-e 1 --verify", "-e 9 --tile-log2 6 --verify"] {
        let line = format!("encode {{}} --lossless {options} --force -o {{}}");
        succeed(&line, &[&original, &file]);
        succeed("decode {} -o {} --force", &[&file, &back]);
        assert!(
            pictures::open(&back) == pictures::open(&original),
            "{options}"
        );
    }
    let said = String::from_utf8(succeed("info {}", &[&file]).stdout).unwrap();
    assert!(said.contains("quality     lossless\n"), "{said}");
}

#[test]
fn drawings_turn_lossless_unless_lossy_is_insisted_on() {
    let folder = Folder::new();
    let original = folder.path("bars.png");
    drawing(&original);
    let said = |line: &str| String::from_utf8(succeed(line, &[&original]).stderr).unwrap();
    assert!(said("encode {}").contains("lossless, which is smaller here (--lossy insists)"));
    let chosen = std::fs::metadata(folder.path("bars.tsr")).unwrap().len();
    assert!(said("encode {} --lossy --force").contains(" dB"));
    assert!(std::fs::metadata(folder.path("bars.tsr")).unwrap().len() > chosen);
}

#[test]
fn near_says_how_near() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let said = succeed("encode {} --lossless --near 3", &[&photo]);
    assert!(String::from_utf8_lossy(&said.stderr).contains("at most 3 off"));
    let told = run("info {}", &[&folder.path("photo.tsr")]);
    assert!(String::from_utf8_lossy(&told.stdout).contains("samples at most 3 off"));
}

#[test]
fn what_makes_no_sense_together_is_refused() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    for options in [
        "--near 2",
        "--clean-alpha",
        "--lossless --lossy",
        "--lossless -q 50",
    ] {
        fail(
            &format!("encode {{}} {options}"),
            &[&photo],
            USAGE,
            "--lossless",
        );
    }
}

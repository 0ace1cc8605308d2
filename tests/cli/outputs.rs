//! What the command may replace: nothing without `--force`, its own input only if that is said twice.

use std::fs;
use std::path::Path;

use crate::command::{Folder, INCOMPLETE, USAGE, fail, run, succeed};

#[test]
fn an_input_is_replaced_only_if_said_twice() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let before = fs::read(&photo).unwrap();
    let line = "encode {} -o {}";
    for options in ["", " --force", " -f"] {
        let line = format!("{line}{options}");
        fail(&line, &[&photo, &photo], USAGE, "--force twice");
        assert_eq!(fs::read(&photo).unwrap(), before);
    }
    succeed("encode {} -o {} --force --force", &[&photo, &photo]);
    let coded = fs::read(&photo).unwrap();
    assert!(coded.starts_with(&[0xD4, 0x53]));
    let line = "decode {} -o {} --format png --force";
    fail(line, &[&photo, &photo], USAGE, "--force twice");
    assert_eq!(fs::read(&photo).unwrap(), coded);
    succeed("decode {} -o {} --format png -ff", &[&photo, &photo]);
    assert_eq!(image::open(&photo).unwrap().width(), 20);
}

#[test]
fn two_inputs_never_go_to_one_output() {
    let folder = Folder::new();
    let (one, two) = (folder.picture("a.png"), folder.picture("a.bmp"));
    let out = folder.path("out");
    fs::create_dir(&out).unwrap();
    let line = "encode {} {} -o {} --force";
    fail(line, &[&one, &two, &out], INCOMPLETE, "and so does");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 1);
}

#[test]
fn error_maps_replace_nothing() {
    let folder = Folder::new();
    let (one, map) = (folder.picture("one.png"), folder.path("map.png"));
    fs::write(&map, b"precious").unwrap();
    let line = "compare {} {} --map {}";
    fail(line, &[&one, &one, &map], USAGE, "--force");
    assert_eq!(fs::read(&map).unwrap(), b"precious");
    succeed("compare {} {} --map {} --force", &[&one, &one, &map]);
    assert_eq!(image::open(&map).unwrap().width(), 20);
    fail(
        "compare {} {} --map {} -f",
        &[&one, &one, &one],
        USAGE,
        "twice",
    );
    fail(line, &[&one, &one, &folder.path("map.jpg")], USAGE, ".png");
}

#[test]
fn pictures_of_all_kinds_are_compared() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    succeed("encode {}", &[&photo]);
    let coded = folder.path("photo.tsr");
    let decoded = folder.path("decoded.bmp");
    succeed("decode {} -o {}", &[&coded, &decoded]);
    let same = succeed("compare {} {}", &[&coded, &decoded]).stdout;
    let same = String::from_utf8(same).unwrap();
    assert!(same.contains("max difference   0\n"), "{same}");
    let lossy = succeed("compare {} {}", &[&photo, &coded]).stdout;
    assert!(String::from_utf8(lossy).unwrap().contains("psnr-y "));
    let mut file = fs::read(&coded).unwrap();
    *file.last_mut().unwrap() ^= 1;
    fs::write(&coded, file).unwrap();
    fail("compare {} {}", &[&photo, &coded], 3, "photo.tsr");
    fail(
        "compare {} {}",
        &[&photo, &folder.path("none.tsr")],
        1,
        "none.tsr",
    );
}

#[test]
fn blind_tests_pair_versions_by_name_and_replace_nothing() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let (a, b, page) = (folder.path("a"), folder.path("b"), folder.path("page.html"));
    for version in [&a, &b] {
        std::fs::create_dir(version).unwrap();
    }
    fail(
        "compare --blind {} {} {} -o {}",
        &[&a, &b, &photo, &page],
        1,
        "has no version of it",
    );
    succeed(
        "encode {} -q 20 -e 1 -o {}",
        &[&photo, &a.join("photo.tsr")],
    );
    succeed(
        "decode {} -o {}",
        &[&a.join("photo.tsr"), &b.join("photo.png")],
    );
    succeed("compare --blind {} {} {} -o {}", &[&a, &b, &photo, &page]);
    let html = std::fs::read_to_string(&page).unwrap();
    assert!(html.contains("data:image/webp;base64,") && !html.contains("{{"));
    fail(
        "compare --blind {} {} {} -o {}",
        &[&a, &b, &photo, &page],
        USAGE,
        "--force",
    );
    fail(
        "compare --blind {} {} {}",
        &[&a, &b, &photo],
        USAGE,
        "--output",
    );
    fail(
        "compare {} {} {}",
        &[&photo, &photo, &photo],
        USAGE,
        "--blind",
    );
    fail(
        "compare --blind {} {} {} {} -o {} -f",
        &[&photo, &b, &photo, &photo, &page],
        USAGE,
        "one version of several",
    );
}

#[test]
fn perceptual_targets_are_met_or_refused() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let said = succeed("encode {} --target-ssimulacra2 60 -e 2", &[&photo]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains(", SSIMULACRA2 "), "{said}");
    fail(
        "encode {} -f --target-ssimulacra2 101",
        &[&photo],
        USAGE,
        "101",
    );
    fail(
        "encode {} -f --target-butteraugli -1",
        &[&photo],
        USAGE,
        "-1",
    );
    fail(
        "encode {} -f --target-butteraugli 1 -q 5",
        &[&photo],
        USAGE,
        "cannot be used",
    );
}

#[test]
fn manual_pages_are_there_for_all_commands_and_replace_nothing() {
    let folder = Folder::new();
    let pages = folder.path("new/man1");
    succeed("man {}", &[&pages]);
    for page in [
        "tessera.1",
        "tessera-encode.1",
        "tessera-dict.1",
        "tessera-dict-list.1",
        "tessera-dict-gain.1",
    ] {
        let text = fs::read_to_string(pages.join(page)).unwrap();
        assert!(text.contains(".SH NAME"), "{page}");
    }
    let count = fs::read_dir(&pages).unwrap().count();
    let own = pages.join("tessera-info.1");
    fs::write(&own, b"mine").unwrap();
    fs::remove_file(pages.join("tessera.1")).unwrap();
    fail("man {}", &[&pages], USAGE, "--force");
    assert_eq!(fs::read(&own).unwrap(), b"mine");
    assert!(!pages.join("tessera.1").exists(), "all pages or none");
    succeed("man {} --force", &[&pages]);
    assert_ne!(fs::read(&own).unwrap(), b"mine");
    assert_eq!(fs::read_dir(&pages).unwrap().count(), count);
    fail("man {}", &[&own], 1, "tessera-info.1");
}

#[test]
fn errors_name_what_the_user_named() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let lost = folder.path("nowhere/photo.tsr");
    let output = run("encode {} -o {}", &[&photo, &lost]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(USAGE), "{message}");
    assert!(
        message.contains("nowhere does not exist") && !message.contains(".tessera-"),
        "{message}"
    );
}

/// Nobody may make files in /proc.
#[cfg(target_os = "linux")]
#[test]
fn unwritable_folders_are_named_without_temporary_files() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let place = Path::new("/proc/photo.tsr");
    let output = run("encode {} -o {}", &[&photo, place]);
    let message = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{message}");
    assert!(
        message.contains("cannot write /proc/photo.tsr"),
        "{message}"
    );
    assert!(!message.contains(".tessera-"), "{message}");
}

#[test]
fn growth_is_said() {
    let folder = Folder::new();
    let noise = |x: u32, y: u32| image::Luma([(x * x * 7 + y * y * 13 + x * y * 5) as u8]);
    let noisy = image::GrayImage::from_fn(60, 50, noise);
    let jpeg = folder.path("noisy.jpg");
    let file = fs::File::create(&jpeg).unwrap();
    let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(file, 10);
    noisy.write_with_encoder(encoder).unwrap();
    let said = succeed("encode {} -q 100", &[&jpeg]).stderr;
    let said = String::from_utf8(said).unwrap();
    assert!(said.contains("LARGER"), "{said}");
    folder.picture("small.png");
    let summary = succeed(
        "encode -r {} -q 100 -o {}",
        &[folder.0.path(), &folder.path("out")],
    );
    let summary = String::from_utf8(summary.stderr).unwrap();
    assert!(summary.contains("came out larger"), "{summary}");
    let again = succeed(
        "encode -r {} -q 100 -o {} --json --force",
        &[folder.0.path(), &folder.path("out")],
    );
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    assert!(again["larger"].as_u64() >= Some(1) && again["larger_by"].as_u64() > Some(0));
    let fine = succeed("encode {} -q 1 -o -", &[&folder.path("small.png")]).stderr;
    assert!(!String::from_utf8(fine).unwrap().contains("LARGER"));
}

#[test]
fn sizes_may_be_short() {
    let folder = Folder::new();
    let photo = folder.picture("photo.png");
    let noise = |x: u32, y: u32| image::Luma([(x * x * 7 + y * y * 13 + x * y * 5) as u8]);
    image::GrayImage::from_fn(100, 90, noise)
        .save(&photo)
        .unwrap();
    for (text, bytes) in [("2k", 2000), ("0.0015M", 1500), ("1800", 1800)] {
        succeed(&format!("encode {{}} -f --target-size {text}"), &[&photo]);
        let size = fs::metadata(folder.path("photo.tsr")).unwrap().len();
        assert!((bytes * 9 / 10..=bytes).contains(&size), "{text}: {size}");
    }
    fail(
        "encode {} -f --target-size 2x",
        &[&photo],
        USAGE,
        "number of bytes",
    );
}

#[test]
fn help_says_what_it_is() {
    for option in ["--help", "-h"] {
        let help = String::from_utf8(succeed(option, &[]).stdout).unwrap();
        let first = help.lines().next().unwrap();
        assert!(first.contains("small files of pictures"), "{first}");
    }
    let long = String::from_utf8(succeed("--help", &[]).stdout).unwrap();
    assert!(long.contains("tessera encode photo.jpg"), "{long}");
}

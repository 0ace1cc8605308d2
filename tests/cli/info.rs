//! `tessera info`: the state of files, told to people, to machines and by the exit code.

use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

use crate::command::{DAMAGED, Folder, INCOMPLETE, USAGE, fail, run, succeed};

/// A coded picture of so many columns, in tiles of 64.
fn coded(folder: &Folder, name: &str, width: u32) -> PathBuf {
    let photo = folder.path(name).with_extension("png");
    let pixel = |x: u32, y: u32| image::Rgb([(x * x) as u8, (y * x * 3) as u8, (x ^ y) as u8]);
    image::RgbImage::from_fn(width, 50, pixel)
        .save(&photo)
        .unwrap();
    succeed("encode {} --tile-log2 6 -q 80 --lossy", &[&photo]);
    folder.path(name)
}

fn text(line: &str, paths: &[&Path]) -> (Option<i32>, String) {
    let output = run(line, paths);
    let text = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), text)
}

fn json(line: &str, paths: &[&Path]) -> (Option<i32>, Value) {
    let (code, text) = text(line, paths);
    (code, serde_json::from_str(&text).unwrap())
}

#[test]
fn intact_files_are_said_to_be_and_their_quality_is_told() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", 60);
    let (code, said) = text("info {}", &[&file]);
    assert_eq!(code, Some(0));
    assert!(said.starts_with("state       intact\n"), "{said}");
    let (_, report) = json("info {} --json", &[&file]);
    assert_eq!(report["intact"], true);
    // That of the quantiser the picture got, on the scale of photos; this one is none.
    let quality = report["quality"].as_u64().unwrap();
    assert!((40..80).contains(&quality), "{report}");
    let line = format!("quality     as of usual photos at {quality},");
    assert!(said.contains(&line), "{said}");
    let file = fs::read(&file).unwrap();
    let piped = crate::command::pipe(&["info", "-"], &file);
    assert!(String::from_utf8_lossy(&piped.stdout).contains("intact"));
}

#[test]
fn damage_is_an_exit_code() {
    let folder = Folder::new();
    for (name, width) in [("one.tsr", 60), ("three.tsr", 150)] {
        let file = coded(&folder, name, width);
        let mut bytes = fs::read(&file).unwrap();
        let middle = bytes.len() - 20;
        bytes[middle] ^= 4;
        fs::write(&file, &bytes).unwrap();
        fail("info {}", &[&file], DAMAGED, name);
        let (_, report) = json("info {} --json", &[&file]);
        assert_eq!(report["intact"], false);
        assert_eq!(report["damaged_tiles"].as_array().unwrap().len(), 1);
    }
}

#[test]
fn cut_files_are_called_too_short() {
    let folder = Folder::new();
    for (name, width, sure) in [("one.tsr", 60, "maybe"), ("three.tsr", 150, "yes")] {
        let file = coded(&folder, name, width);
        let bytes = fs::read(&file).unwrap();
        for share in [2, 3, 9] {
            fs::write(&file, &bytes[..bytes.len() - bytes.len() / share]).unwrap();
            fail("info {}", &[&file], DAMAGED, "too short");
            let (_, report) = json("info {} --json", &[&file]);
            assert_eq!(
                (&report["intact"], &report["too_short"]),
                (&false.into(), &sure.into())
            );
        }
        fs::write(&file, &bytes[..7]).unwrap();
        fail("info {}", &[&file], DAMAGED, "truncated");
    }
    let empty = folder.path("empty.tsr");
    fs::write(&empty, b"").unwrap();
    fail("info {}", &[&empty], DAMAGED, "empty.tsr");
}

#[test]
fn more_than_there_should_be_is_damage() {
    let folder = Folder::new();
    let file = coded(&folder, "three.tsr", 150);
    let mut bytes = fs::read(&file).unwrap();
    bytes.extend(b"more");
    fs::write(&file, &bytes).unwrap();
    fail("info {}", &[&file], DAMAGED, "damaged");
}

#[test]
fn several_files_share_an_exit_code_or_are_incomplete() {
    let folder = Folder::new();
    let (good, bad) = (
        coded(&folder, "good.tsr", 60),
        coded(&folder, "bad.tsr", 70),
    );
    let (code, said) = text("info {} {}", &[&good, &bad]);
    assert_eq!((code, said.matches("intact").count()), (Some(0), 2));
    let mut bytes = fs::read(&bad).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(&bad, &bytes).unwrap();
    let foreign = folder.path("good.png");
    let line = "info {} {} {}";
    fail(line, &[&good, &bad, &foreign], DAMAGED, "2 of 3 files");
    let missing = folder.path("missing.tsr");
    fail(line, &[&good, &bad, &missing], INCOMPLETE, "missing.tsr");
    fail("info {} {}", &[&good, &missing], 1, "1 of 2 files");
    let (code, list) = json("info {} {} {} --json", &[&good, &bad, &missing]);
    assert_eq!(
        (code, list.as_array().unwrap().len()),
        (Some(INCOMPLETE), 3)
    );
    assert_eq!(
        (&list[0]["intact"], &list[1]["intact"]),
        (&true.into(), &false.into())
    );
    assert!(list[2]["error"].as_str().unwrap().contains("missing.tsr"));
    fail("info {}", &[folder.0.path()], 2, "folder");
}

#[test]
fn a_map_shows_how_a_picture_is_coded() {
    let folder = Folder::new();
    let file = coded(&folder, "a.tsr", 130);
    let map = folder.path("map.svg");
    let (code, said) = text("info {} --map {}", &[&file, &map]);
    assert_eq!(code, Some(0));
    assert!(
        said.contains("patches") && said.contains("in a basis"),
        "{said}"
    );
    let svg = fs::read_to_string(&map).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("viewBox=\"0 0 130 50\""));
    // The second tile begins where the first ends.
    assert!(svg.contains("M64 "), "tiles lie side by side");
    fail("info {} --map {}", &[&file, &map], USAGE, "--force");
    fail(
        "info {} --map {}",
        &[&file, &folder.path("map.png")],
        USAGE,
        ".svg",
    );
    succeed("info {} --map {} --force", &[&file, &map]);
}

//! `tessera pack`, `unpack` and `list` as a user meets them.

use crate::command::Moments;
use crate::train::{Place, both};
use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use tessera_codec::Decoder;
use tessera_pack::PackReader;

const USAGE: i32 = 2;
const DAMAGED: i32 = 3;
const DICTIONARY: i32 = 4;
const INCOMPLETE: i32 = 6;

#[test]
fn a_folder_goes_into_a_pack_and_comes_out_again() {
    let place = Place::with_pictures(6);
    fs::create_dir(place.path("pictures/more")).unwrap();
    fs::rename(
        place.path("pictures/5.png"),
        place.path("pictures/more/5.png"),
    )
    .unwrap();
    place.succeed("pack @pictures -o @all.tsp -q 60 -e 2");
    let listed = place.succeed("list @all.tsp");
    assert!(
        listed.contains("more/5") && listed.contains("40x40"),
        "{listed}"
    );
    assert_eq!(place.succeed("list @all.tsp --names").lines().count(), 6);
    let told = place.succeed("info @all.tsp");
    assert!(
        told.contains("pictures    6") && told.starts_with("state       intact"),
        "{told}"
    );
    place.succeed("unpack @all.tsp -o @out");
    // Each is what the picture alone would have become.
    for name in ["0", "more/5"] {
        place.succeed(&format!(
            "encode @pictures/{name}.png -o @alone.tsr -q 60 -e 2 --force"
        ));
        place.succeed("decode @alone.tsr -o @alone.png --force");
        let alone = image::open(place.path("alone.png")).unwrap();
        assert_eq!(
            image::open(place.path(&format!("out/{name}.png"))).unwrap(),
            alone
        );
        place.succeed(&format!("unpack @all.tsp {name} -o @coded --tsr"));
        let coded = fs::read(place.path(&format!("coded/{name}.tsr"))).unwrap();
        assert!(
            coded == fs::read(place.path("alone.tsr")).unwrap(),
            "{name}"
        );
    }
    place.succeed("unpack @all.tsp more -o @some");
    assert!(place.path("some/more/5.png").is_file() && !place.path("some/0.png").exists());
}

#[test]
fn nothing_is_overwritten_and_pictures_can_be_added() {
    let place = Place::with_pictures(4);
    place.succeed("pack @pictures/0.png @pictures/1.png -o @all.tsp -e 1");
    place.fail("pack @pictures -o @all.tsp -e 1", USAGE, "--force");
    place.fail(
        "pack @pictures -o @none.tsp --append",
        USAGE,
        "no pack to add to",
    );
    let told = place.succeed("pack @pictures -o @all.tsp -e 1 --append");
    assert!(told.contains("is in the pack already"), "{told}");
    assert_eq!(place.succeed("list @all.tsp --names").lines().count(), 4);
    place.succeed("unpack @all.tsp -o @out");
    place.fail("unpack @all.tsp -o @out", INCOMPLETE, "exists already");
    place.succeed("unpack @all.tsp -o @out --force");
    place.fail("unpack @all.tsp nobody -o @out", USAGE, "nobody");
    place.fail("unpack @pictures/0.png -o @out", DAMAGED, "no pack");
}

#[test]
fn a_pack_carries_the_dictionary_that_pays() {
    let place = Place::with_forms(40);
    let told = place.succeed("pack @pictures -o @forms.tsp --train --no-series -q 60 -e 2");
    assert!(told.contains("the dictionary has"), "{told}");
    place.succeed("pack @pictures -o @plain.tsp --no-train --no-series -q 60 -e 2");
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    assert!(size("forms.tsp") < size("plain.tsp"), "{told}");
    let told = place.succeed("info @forms.tsp");
    assert!(!told.contains("none but the default"), "{told}");
    place.succeed("unpack @forms.tsp -o @out");
    // Coded files that leave the pack find the dictionary that comes with them.
    place.succeed("unpack @forms.tsp 00 -o @coded --tsr");
    place.succeed("decode @coded/00.tsr --dict @coded/dictionary.tsd -o @again.png");
    let again = image::open(place.path("again.png")).unwrap();
    assert_eq!(image::open(place.path("out/00.png")).unwrap(), again);
    // Their checksums cover all of the identity, of which they name the start.
    place.fail("info @coded/00.tsr", DICTIONARY, "not checked");
    fs::create_dir(place.path("dictionaries")).unwrap();
    fs::copy(
        place.path("coded/dictionary.tsd"),
        place.path("dictionaries/forms.tsd"),
    )
    .unwrap();
    let told = place.succeed("info @coded/00.tsr");
    assert!(told.starts_with("state       intact"), "{told}");
    let mut damaged = fs::read(place.path("coded/00.tsr")).unwrap();
    *damaged.last_mut().unwrap() ^= 1;
    fs::write(place.path("damaged.tsr"), damaged).unwrap();
    place.fail("info @damaged.tsr", DAMAGED, "damaged");
    // A named dictionary is carried too.
    place.succeed(
        "pack @pictures -o @named.tsp --dict @coded/dictionary.tsd --no-series -q 60 -e 2",
    );
    assert_eq!(size("named.tsp"), size("forms.tsp"));
}

#[test]
fn a_budget_is_kept_by_the_whole_pack() {
    let place = Place::with_forms(6);
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    place.succeed("pack @pictures -o @free.tsp -q 60 -e 1 --lossy --no-series");
    let room = size("free.tsp") * 3 / 4;
    let told = place.succeed(&format!(
        "pack @pictures -o @one.tsp -e 1 --lossy --target-size {room}"
    ));
    assert!(told.contains("one budget for all"), "{told}");
    place.succeed(&format!(
        "pack @pictures -o @even.tsp -e 1 --lossy --even --target-size {room}"
    ));
    for name in ["one.tsp", "even.tsp"] {
        assert!(
            size(name) <= room && size(name) > room / 2,
            "{name}: {} of {room}",
            size(name)
        );
    }
    place.fail(
        "pack @pictures -o @no.tsp --target-size 50",
        USAGE,
        "do not hold",
    );
    assert!(!place.path("no.tsp").exists());
    place.succeed("pack @pictures -o @fine.tsp -e 1 --target-psnr 40");
    place.succeed("pack @pictures -o @coarse.tsp -e 1 --target-psnr 30");
    assert!(size("coarse.tsp") < size("fine.tsp"));
}

#[test]
fn damage_costs_the_picture_it_hits() {
    let place = Place::with_forms(4);
    place.succeed("pack @pictures -o @all.tsp -e 1");
    let mut bytes = fs::read(place.path("all.tsp")).unwrap();
    bytes[40] ^= 0x20;
    fs::write(place.path("all.tsp"), &bytes).unwrap();
    let output = place.run("info @all.tsp");
    let told = both(&output);
    assert_eq!(output.status.code(), Some(DAMAGED), "{told}");
    assert!(
        told.contains("damage      00") && told.contains("1 of 4 pictures"),
        "{told}"
    );
    place.fail("unpack @all.tsp -o @out", INCOMPLETE, "1 of 4 pictures");
    assert!(place.path("out/03.png").is_file() && !place.path("out/00.png").exists());
    fs::write(place.path("cut.tsp"), &bytes[..bytes.len() - 9]).unwrap();
    place.fail("list @cut.tsp", DAMAGED, "no index that is whole");
}

/// A page of something like text: black strokes of one pixel and more on white.
fn page_of_text(place: &Place, name: &str) {
    let pixel = |x: u32, y: u32| {
        let (letter, line) = (x / 7, y / 11);
        let (column, row) = (x % 7, y % 11);
        let strokes = (letter + 31 * line + 1).wrapping_mul(2_654_435_761) >> 3;
        let inside = column < 5 && row < 8;
        let black = inside && (strokes >> (column * 3 + row / 3)) & 1 == 1;
        image::Luma([if black { 0 } else { 255 }])
    };
    let page = image::GrayImage::from_fn(210, 198, pixel);
    page.save(place.path(&format!("pictures/{name}.png")))
        .unwrap();
}

#[test]
fn drawings_are_packed_without_loss_where_that_is_smaller() {
    let place = Place::with_pictures(3);
    page_of_text(&place, "page");
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    place.succeed("pack @pictures -o @all.tsp -e 2");
    place.succeed("unpack @all.tsp page -o @coded --tsr");
    place.succeed("encode @pictures/page.png -o @page.tsr -e 2");
    assert!(
        fs::read(place.path("coded/page.tsr")).unwrap()
            == fs::read(place.path("page.tsr")).unwrap()
    );
    let told = place.succeed("info @all.tsp");
    assert!(told.contains("1 lossless"), "{told}");
    place.succeed("pack @pictures -o @lossy.tsp -e 2 --lossy");
    assert!(size("lossy.tsp") >= size("all.tsp"));
    // One budget: the page takes what it takes, the others the rest.
    let room = size("all.tsp") + 100;
    for even in ["", "--even"] {
        let said = place.succeed(&format!(
            "pack @pictures -o @budget.tsp -e 2 --force --target-size {room} {even}"
        ));
        let told = place.succeed("info @budget.tsp");
        assert!(told.contains("3 lossy, 1 lossless"), "{even}: {told}");
        assert!(size("budget.tsp") <= room);
        // What is gained is told of the lossy ones, and only of one budget.
        let gain = said.split("one budget for all: ").nth(1);
        assert_eq!(gain.is_some(), even.is_empty(), "{said}");
        let gain = gain.map(|text| text.split(' ').next().unwrap().parse::<f64>().unwrap());
        assert!(gain.is_none_or(|percent| percent < 15.0), "{said}");
    }
    place.succeed("pack @pictures -o @exact.tsp -e 2 --lossless");
    place.succeed("unpack @exact.tsp -o @out");
    for name in ["0", "page"] {
        let original = image::open(place.path(&format!("pictures/{name}.png"))).unwrap();
        let back = image::open(place.path(&format!("out/{name}.png"))).unwrap();
        assert_eq!(back, original, "{name}");
    }
}

#[test]
fn what_cannot_be_read_is_told_and_left_out() {
    let place = Place::with_forms(3);
    fs::write(place.path("pictures/broken.png"), b"no picture").unwrap();
    let cut = fs::read(place.path("pictures/02.png")).unwrap();
    fs::write(place.path("pictures/02.png"), &cut[..cut.len() / 2]).unwrap();
    for options in [
        "",
        "--target-size 9k",
        "--target-size 9k --even",
        "--target-psnr 35",
    ] {
        let line = format!("pack @pictures -o @some.tsp -e 1 --force {options}");
        let output = place.run(&line);
        let told = both(&output);
        assert_eq!(output.status.code(), Some(INCOMPLETE), "{line}: {told}");
        for name in ["broken.png", "02.png"] {
            let failed = format!("failed: {}", place.path("pictures").join(name).display());
            assert_eq!(told.matches(&failed).count(), 1, "{line}: {told}");
        }
        assert!(
            told.contains("2 pictures of") && told.contains("2 failed"),
            "{told}"
        );
        assert_eq!(place.succeed("list @some.tsp --names"), "00\n01\n");
    }
    let before = fs::read(place.path("some.tsp")).unwrap();
    place.fail(
        "pack @pictures/broken.png -o @some.tsp --append",
        INCOMPLETE,
        "broken.png",
    );
    assert!(fs::read(place.path("some.tsp")).unwrap() == before);
    place.fail(
        "pack @pictures/broken.png -o @none.tsp",
        INCOMPLETE,
        "broken.png",
    );
    assert!(!place.path("none.tsp").exists());
}

#[test]
fn what_is_no_pack_is_said_in_our_own_words() {
    let place = Place::with_pictures(1);
    place.succeed("pack @pictures -o @all.tsp -e 1");
    for command in ["list @pictures", "unpack @pictures -o @out"] {
        place.fail(command, USAGE, "is a folder, not a pack");
    }
    for command in ["list @nosuch", "unpack @nosuch -o @out"] {
        place.fail(command, 1, "there is no such file");
    }
    for command in ["list -", "unpack - -o @out"] {
        place.fail(command, USAGE, "name a file");
    }
    place.fail(
        "list @pictures/0.png",
        DAMAGED,
        "this is no pack of pictures",
    );
    place.fail(
        "pack @pictures -o @pictures/0.png --append",
        DAMAGED,
        "this is no pack",
    );
    assert!(!place.path("out").exists());
    let bytes = fs::read(place.path("all.tsp")).unwrap();
    fs::write(
        place.path("newer.tsp"),
        [&bytes[..2], &[9], &bytes[3..]].concat(),
    )
    .unwrap();
    place.fail("info @newer.tsp", DAMAGED, "version 9");
}

#[test]
fn packs_are_described_for_machines() {
    let place = Place::with_forms(2);
    page_of_text(&place, "page");
    place.succeed("pack @pictures -o @all.tsp -e 1");
    let report: serde_json::Value =
        serde_json::from_str(&place.succeed("info @all.tsp --json")).unwrap();
    assert_eq!(report["intact"], true);
    assert_eq!(
        report["bytes"],
        fs::metadata(place.path("all.tsp")).unwrap().len()
    );
    assert_eq!(report["pictures"].as_array().unwrap().len(), 3);
    let page = &report["pictures"][2];
    assert_eq!(page["name"], "page");
    assert_eq!(
        (&page["width"], &page["height"]),
        (&210.into(), &198.into())
    );
    assert_eq!(
        (&page["lossless"], &page["damage"]),
        (&true.into(), &serde_json::Value::Null)
    );
    let parts = ["picture_bytes", "index_bytes", "dictionary_bytes"];
    let parts: u64 = parts
        .iter()
        .map(|part| report[part].as_u64().unwrap())
        .sum();
    assert_eq!(report["bytes"], parts);
    // A damaged pack beside a picture: a list, and the code of damage.
    let mut bytes = fs::read(place.path("all.tsp")).unwrap();
    bytes[40] ^= 0x20;
    fs::write(place.path("all.tsp"), &bytes).unwrap();
    place.succeed("encode @pictures/00.png -o @one.tsr -e 1");
    let output = place.run("info @one.tsr @all.tsp --json");
    assert_eq!(output.status.code(), Some(DAMAGED));
    let reports: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&reports[0]["intact"], &reports[1]["intact"]),
        (&true.into(), &false.into())
    );
    assert_eq!(reports[1]["damaged"], 1);
    let damage = reports[1]["pictures"][0]["damage"].as_str().unwrap();
    assert!(damage.contains("damaged"), "{damage}");
}

#[test]
fn a_mean_is_reached_where_it_costs_least() {
    let place = Place::with_pictures(3);
    lights(&place, 2);
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    let common = "-e 1 --lossy --no-series --no-train --tune psnr --target-psnr 36";
    place.succeed(&format!("pack @pictures -o @even.tsp --even {common}"));
    place.succeed(&format!("pack @pictures -o @mean.tsp --mean {common}"));
    assert!(
        size("mean.tsp") < size("even.tsp"),
        "{} {}",
        size("mean.tsp"),
        size("even.tsp")
    );
    place.succeed("unpack @mean.tsp -o @out");
    let decibels: Vec<f64> = fs::read_dir(place.path("pictures"))
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let unpacked = place.path("out").join(path.file_name().unwrap());
            let [a, b] = [path, unpacked].map(|path| image::open(path).unwrap().to_rgb8());
            let pairs = a.iter().zip(b.iter());
            let error: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
            -10.0 * (error / a.len() as f64 / 65025.0).log10()
        })
        .collect();
    let mean = decibels.iter().sum::<f64>() / decibels.len() as f64;
    assert!((35.95..36.6).contains(&mean), "{decibels:?}");
    place.fail("pack @pictures -o @no.tsp --mean -q 50", USAGE, "--mean");
}

/// One scene under several lights.
fn lights(place: &Place, count: u8) {
    for light in 0..count {
        let scene = image::GrayImage::from_fn(96, 96, |x, y| {
            let waves = (x as f32 / 5.0).sin() * (y as f32 / 7.0 + x as f32 / 19.0).cos();
            let grain = (x * 37 + y * 91 + x * y) % 23;
            let lamp = 1.0 + 0.04 * f32::from(light) * (x as f32 / 96.0 - 0.5);
            image::Luma([((110.0 + 60.0 * waves + grain as f32) * lamp) as u8])
        });
        scene
            .save(place.path(&format!("pictures/light{light}.png")))
            .unwrap();
    }
}

#[test]
fn pictures_that_are_alike_are_predicted_from_one_of_them() {
    let place = Place::with_pictures(2);
    lights(&place, 5);
    place.succeed("pack @pictures -o @alone.tsp -q 60 --no-train --no-series");
    let said = place.run("pack @pictures -o @series.tsp -q 60 --no-train");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("4 predicted from others"), "{said}");
    let bytes = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    assert!(
        10 * bytes("series.tsp") < 7 * bytes("alone.tsp"),
        "{} {}",
        bytes("series.tsp"),
        bytes("alone.tsp")
    );
    // A budget is kept with them too.
    let room = bytes("series.tsp");
    place.succeed(&format!(
        "pack @pictures -o @budget.tsp --no-train --target-size {room}"
    ));
    let told = place.succeed("info @budget.tsp");
    assert!(told.contains("predicted from others"), "{told}");
    let used = bytes("budget.tsp");
    assert!(used <= room && 10 * used > 7 * room, "{used} of {room}");
    let said = place.run("pack @pictures -o @psnr.tsp --no-train --tune psnr --target-psnr 36");
    let said = String::from_utf8_lossy(&said.stderr).into_owned();
    assert!(said.contains("predicted from others"), "{said}");
    place.fail("info @series.tsp --map @map.svg", USAGE, "unpack --tsr");
    let told = place.succeed("info @series.tsp");
    assert!(
        told.starts_with("state       intact") && told.contains("4 predicted from others"),
        "{told}"
    );
    place.succeed("unpack @series.tsp -o @out");
    place.succeed("unpack @series.tsp -o @coded --tsr");
    for light in 0..5 {
        let name = format!("light{light}.png");
        let original = image::open(place.path("pictures").join(&name))
            .unwrap()
            .to_luma8();
        let unpacked = image::open(place.path("out").join(&name))
            .unwrap()
            .to_luma8();
        let pairs = original.iter().zip(unpacked.iter());
        let error: f64 = pairs.map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2)).sum();
        assert!(error / 9216.0 < 60.0, "{name}: {error}");
    }
    // What leaves the pack as it is coded takes along what it needs.
    let report: serde_json::Value =
        serde_json::from_str(&place.succeed("info @series.tsp --json")).unwrap();
    let pictures = report["pictures"].as_array().unwrap();
    let predicted = pictures.iter().find(|one| one["key"].is_string()).unwrap();
    let (name, key) = (
        predicted["name"].as_str().unwrap(),
        predicted["key"].as_str().unwrap(),
    );
    place.succeed(&format!(
        "decode @coded/{name}.tsr --dict @coded/{key}.tsd -o @again.png"
    ));
    let again = image::open(place.path("again.png")).unwrap();
    assert_eq!(
        again,
        image::open(place.path(&format!("out/{name}.png"))).unwrap()
    );
    place.fail(
        &format!("decode @coded/{name}.tsr -o @no.png"),
        DICTIONARY,
        "dictionary",
    );
}

#[test]
fn a_pack_survives_being_added_to_by_killed_processes() {
    pack_survives_kills(30);
}

#[test]
#[ignore = "takes minutes"]
fn a_pack_survives_a_thousand_kills() {
    pack_survives_kills(1000);
}

/// Kills runs that add to one pack. Whenever all pictures are in it, the pack begins anew.
fn pack_survives_kills(times: usize) {
    let place = Place::with_pictures(20);
    let pack = place.path("all.tsp");
    place.succeed("pack @pictures/0.png @pictures/1.png -o @all.tsp -e 1");
    let start = fs::read(&pack).unwrap();
    let mut moments = Moments::new();
    let mut completed = 0;
    for _ in 0..times {
        let mut add = Command::new(env!("CARGO_BIN_EXE_tessera"));
        let folder = place.path("pictures");
        add.arg("pack").arg(folder).arg("-o").arg(&pack);
        moments.kill(add.args(["--append", "--quiet", "-e", "1"]));
        let count = pictures_in(&pack);
        assert!(count == 2 || count == 20, "{count} pictures");
        if count == 20 {
            completed += 1;
            fs::write(&pack, &start).unwrap();
        }
    }
    assert!(completed < times, "no run was killed in time");
    place.succeed("pack @pictures -o @all.tsp -e 1 --append");
    assert_eq!(pictures_in(&pack), 20);
}

/// How many pictures a pack has, all of which decode.
fn pictures_in(pack: &Path) -> usize {
    let pack = PackReader::open(File::open(pack).unwrap()).unwrap();
    for name in pack.names() {
        pack.picture(name, Decoder::new())
            .unwrap()
            .decode()
            .unwrap();
    }
    pack.len()
}

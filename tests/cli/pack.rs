//! `tessera pack`, `unpack` and `list` as a user meets them.

use crate::train::{Place, both};
use std::fs;

const USAGE: i32 = 2;
const DAMAGED: i32 = 3;
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
        told.contains("pictures    6") && told.contains("intact      yes"),
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
    let told = place.succeed("pack @pictures -o @forms.tsp --train -q 60 -e 2");
    assert!(told.contains("the dictionary has"), "{told}");
    place.succeed("pack @pictures -o @plain.tsp --no-train -q 60 -e 2");
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
    // A named dictionary is carried too.
    place.succeed("pack @pictures -o @named.tsp --dict @coded/dictionary.tsd -q 60 -e 2");
    assert_eq!(size("named.tsp"), size("forms.tsp"));
}

#[test]
fn a_budget_is_kept_by_the_whole_pack() {
    let place = Place::with_forms(6);
    let size = |name: &str| fs::metadata(place.path(name)).unwrap().len();
    place.succeed("pack @pictures -o @free.tsp -q 60 -e 1");
    let room = size("free.tsp") * 3 / 4;
    let told = place.succeed(&format!(
        "pack @pictures -o @one.tsp -e 1 --target-size {room}"
    ));
    assert!(told.contains("one budget for all"), "{told}");
    place.succeed(&format!(
        "pack @pictures -o @even.tsp -e 1 --even --target-size {room}"
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
        told.contains("damaged     00") && told.contains("1 of 4 pictures"),
        "{told}"
    );
    place.fail("unpack @all.tsp -o @out", INCOMPLETE, "1 of 4 pictures");
    assert!(place.path("out/03.png").is_file() && !place.path("out/00.png").exists());
    fs::write(place.path("cut.tsp"), &bytes[..bytes.len() - 9]).unwrap();
    place.fail("list @cut.tsp", DAMAGED, "no index that is whole");
}

//! `tessera train` and `tessera dict` as a user meets them.

use crate::pictures::open;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

const USAGE: i32 = 2;
const DICTIONARY: i32 = 4;

/// A folder with pictures, and a data folder of its own for the store.
pub(crate) struct Place(TempDir);

impl Place {
    fn new() -> Self {
        let place = Self(tempfile::tempdir().unwrap());
        fs::create_dir(place.path("pictures")).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn with_pictures(count: u32) -> Self {
        let place = Self::new();
        for i in 0..count {
            let pixel = |x: u32, y: u32| {
                let wave = 30.0 * ((x + 3 * i) as f32 * 0.3).sin() + 20.0 * (y as f32 * 0.2).cos();
                image::Luma([(120.0 + wave) as u8])
            };
            // Sizes differ, as they do in life.
            let picture = image::GrayImage::from_fn(32 + 8 * (i % 2), 40, pixel);
            picture
                .save(place.path(&format!("pictures/{i}.png")))
                .unwrap();
        }
        place
    }

    /// A ramp and a checkerboard: one says nothing about the other.
    fn with_strangers() -> Self {
        let place = Self::new();
        let ramp = |x: u32, y: u32| image::Luma([(4 * x + 2 * y) as u8]);
        let checks = |x: u32, y: u32| {
            image::Luma([if (x / 3 + y / 5).is_multiple_of(2) {
                40
            } else {
                200
            }])
        };
        image::GrayImage::from_fn(32, 32, ramp)
            .save(place.path("pictures/a.png"))
            .unwrap();
        image::GrayImage::from_fn(32, 32, checks)
            .save(place.path("pictures/b.png"))
            .unwrap();
        place
    }

    /// Forms: a fixed pattern in which a few cells differ.
    pub(crate) fn with_forms(count: u32) -> Self {
        let place = Self::new();
        for i in 0..count {
            let pixel = |x: u32, y: u32| {
                let (column, row) = (x / 4, y / 4);
                let filled_in = mixed(&[column, row, 7]) < 24;
                image::Luma([mixed(&[column, row, if filled_in { 100 + i } else { 0 }]) / 2 + 60])
            };
            let picture = image::GrayImage::from_fn(64, 64, pixel);
            picture
                .save(place.path(&format!("pictures/{i:02}.png")))
                .unwrap();
        }
        place
    }

    pub(crate) fn run(&self, line: &str) -> Output {
        let args = line
            .split_whitespace()
            .map(|word| match word.strip_prefix('@') {
                Some(name) => self.path(name).into_os_string(),
                None => word.into(),
            });
        Command::new(env!("CARGO_BIN_EXE_tessera"))
            .args(args)
            .env("XDG_DATA_HOME", self.path("data"))
            .env("HOME", self.path("home"))
            .env("APPDATA", self.path("data"))
            .env("TESSERA_DICT_PATH", self.path("dictionaries"))
            .output()
            .unwrap()
    }

    pub(crate) fn succeed(&self, line: &str) -> String {
        let output = self.run(line);
        let text = both(&output);
        assert!(output.status.success(), "{line}: {text}");
        text
    }

    pub(crate) fn fail(&self, line: &str, code: i32, says: &str) {
        let output = self.run(line);
        let text = both(&output);
        assert_eq!(output.status.code(), Some(code), "{line}: {text}");
        assert!(text.contains(says), "{line}: {text}");
    }
}

pub(crate) fn both(output: &Output) -> String {
    let (out, err) = (&output.stdout, &output.stderr);
    String::from_utf8_lossy(out).into_owned() + &String::from_utf8_lossy(err)
}

/// Pseudo-random numbers that are the same everywhere.
fn mixed(parts: &[u32]) -> u8 {
    let mix = |hash: u32, part: &u32| (hash ^ part).wrapping_mul(2_654_435_761).rotate_left(13);
    (parts.iter().fold(9, mix).wrapping_mul(668_265_263) >> 13) as u8
}

fn default_file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tessera-dict/assets/default.tsd")
}

/// A dictionary with an identity of its own.
fn learned(place: &Place) -> PathBuf {
    let path = place.path("cats.tsd");
    let references = "../../fixtures/conformance/references/references.tsd";
    fs::copy(
        Path::new(env!("CARGO_MANIFEST_DIR")).join(references),
        &path,
    )
    .unwrap();
    path
}

#[test]
fn a_collection_is_learned_and_the_gain_told() {
    let place = Place::with_pictures(5);
    fs::write(place.path("pictures/broken.png"), b"not a picture").unwrap();
    let text = place.succeed("train @pictures -o @my.tsd --holdout 40% --force");
    assert!(
        text.contains("skipped") && text.contains("broken.png"),
        "{text}"
    );
    assert!(text.contains("learned from 3 pictures"), "{text}");
    for name in ["default dictionary", "this dictionary", "jpeg", "webp"] {
        assert!(text.contains(name), "{text}");
    }
    assert!(
        text.contains("pays from") || text.contains("does not profit"),
        "{text}"
    );
    assert!(!place.path("my.checkpoint.tsd").exists());
    let info = place.succeed("dict info @my.tsd");
    assert!(
        info.contains("pictures hash") && info.contains("luma priors"),
        "{info}"
    );
    place.fail("train @pictures -o @my.tsd", USAGE, "--force");
}

#[test]
fn what_is_no_better_than_the_default_is_not_written() {
    let place = Place::with_strangers();
    for options in ["", "--time 0s", "--time 0s --no-report"] {
        let text = place.succeed(&format!("train @pictures -o @my.tsd {options}"));
        assert!(
            text.contains("the default dictionary") && text.contains("was not written"),
            "{text}"
        );
        assert!(text.contains("--force"), "{text}");
        let names: Vec<_> = fs::read_dir(place.0.path()).unwrap().collect();
        assert_eq!(names.len(), 1, "only the pictures: {names:?}");
    }
    let text = place.succeed("train @pictures -o @my.tsd --time 0s --no-report --force");
    assert!(!text.contains("was not written"), "{text}");
    place.succeed("dict verify @my.tsd");
}

/// In files this small the 16 bytes of a learned dictionary's name count.
#[test]
fn the_estimate_without_a_report_is_that_of_whole_files() {
    let place = Place::with_strangers();
    let text = place.succeed("train @pictures -o @my.tsd --no-report");
    let told = text.split("held-out pictures: ").nth(1).unwrap();
    let change: f64 = told.split_whitespace().next().unwrap().parse().unwrap();
    assert!(change > 5.0, "{text}");
}

#[test]
fn one_gain_is_told_and_it_is_that_of_whole_files() {
    let place = Place::with_forms(12);
    let text = place.succeed("train @pictures -o @my.tsd --holdout 25%");
    assert!(text.contains("reference pictures"), "{text}");
    // AVIF has a row wherever there is an `avifenc`.
    let told: Vec<&str> = (text.lines())
        .filter(|line| line.contains(" %") && !line.contains("avifenc"))
        .collect();
    let own: Vec<&&str> = (told.iter())
        .filter(|line| line.contains("this dictionary"))
        .collect();
    assert_eq!(
        (told.len(), own.len()),
        (4, 1),
        "a table of four rows: {text}"
    );
    let again = place.succeed("dict gain @my.tsd @pictures");
    assert!(
        text.contains("pays from") && again.contains("pays from"),
        "{text} {again}"
    );
    let gain: f64 = (own[0].split_whitespace())
        .find_map(|word| word.parse().ok())
        .unwrap();
    assert!(gain < -30.0, "forms profit from a form: {text}");
}

#[test]
fn a_short_time_is_shared_and_kept() {
    let place = Place::with_forms(40);
    let began = std::time::Instant::now();
    let text = place.succeed("train @pictures -o @my.tsd --time 15s");
    // Twice the time for a machine that has other things to do; without sharing one stage alone takes more.
    assert!(began.elapsed().as_secs() < 60, "{text}");
    assert!(!text.contains("stopped while choosing"), "{text}");
}

#[test]
fn time_limits_leave_something_to_resume() {
    let place = Place::with_pictures(4);
    let text = place.succeed("train @pictures -o @a.tsd --time 0s --no-report --force");
    assert!(text.contains("--resume"), "{text}");
    place.succeed("dict verify @a.tsd");
    place.succeed("train @pictures -o @b.tsd --resume @a.tsd --time 0s --no-report --force");
    place.fail(
        "train @pictures -o @c.tsd --resume @a.tsd --seed 9 --no-report",
        1,
        "other pictures, another start or another seed",
    );
}

#[test]
fn unusable_collections_are_explained() {
    let empty = Place::new();
    empty.fail("train @pictures -o @x.tsd", USAGE, "no readable pictures");
    empty.fail(
        "train @nowhere -o @x.tsd",
        1,
        "nowhere does not exist; name",
    );
    let single = Place::with_pictures(1);
    single.fail("train @pictures -o @x.tsd", USAGE, "at least two pictures");
    let mut newer = fs::read(default_file()).unwrap();
    newer[3] = 9;
    fs::write(single.path("newer.tsd"), newer).unwrap();
    let line = "train @pictures @pictures/0.png -o @x.tsd";
    single.fail(line, USAGE, "at least two pictures");
    let two = Place::with_pictures(2);
    fs::copy(single.path("newer.tsd"), two.path("newer.tsd")).unwrap();
    two.fail(
        "train @pictures -o @x.tsd --from @newer.tsd",
        DICTIONARY,
        "version 9",
    );
    two.fail("dict verify @newer.tsd", DICTIONARY, "version 9");
    let mut older = fs::read(default_file()).unwrap();
    older[3] = 1;
    fs::write(two.path("older.tsd"), older).unwrap();
    two.fail("dict verify @older.tsd", DICTIONARY, "learn it again");
}

#[test]
fn files_find_their_dictionary_by_content() {
    let place = Place::with_pictures(1);
    learned(&place);
    place.succeed("encode @pictures/0.png -o @p.tsr --dict @cats.tsd --lossy");
    let lost = place.run("decode @p.tsr -o @p.png");
    let text = both(&lost);
    assert_eq!(lost.status.code(), Some(DICTIONARY), "{text}");
    let folder = place.path("dictionaries").display().to_string();
    assert!(
        text.contains("needs the dictionary") && text.contains(&folder),
        "{text}"
    );
    // Any name will do, in a folder of the search path.
    fs::create_dir(place.path("dictionaries")).unwrap();
    fs::rename(place.path("cats.tsd"), place.path("dictionaries/any.tsd")).unwrap();
    place.succeed("decode @p.tsr -o @p.png");
    let list = place.succeed("dict list");
    assert!(
        list.contains("any.tsd") && list.contains("builtin:6"),
        "{list}"
    );
    // The right name with the wrong content is not taken.
    let identity = list
        .lines()
        .find(|line| line.contains("any.tsd"))
        .and_then(|line| line.split_whitespace().next())
        .unwrap()
        .to_owned();
    let named = place.path(&format!("dictionaries/{identity}.tsd"));
    fs::remove_file(place.path("dictionaries/any.tsd")).unwrap();
    fs::write(&named, b"TSD something else").unwrap();
    place.fail(
        "decode @p.tsr -o @q.png",
        DICTIONARY,
        "needs the dictionary",
    );
}

#[test]
fn installed_dictionaries_are_found_and_named_by_their_first_digits() {
    let place = Place::with_pictures(1);
    learned(&place);
    place.succeed("encode @pictures/0.png -o @p.tsr --dict @cats.tsd --lossy");
    let text = place.succeed("dict install @cats.tsd");
    assert!(text.contains("installed as"), "{text}");
    fs::remove_file(place.path("cats.tsd")).unwrap();
    place.succeed("decode @p.tsr -o @p.png");
    let list = place.succeed("dict list");
    let installed = list.lines().find(|line| line.ends_with(".tsd")).unwrap();
    let digits = &installed[..8];
    place.succeed(&format!(
        "encode @pictures/0.png -o @q.tsr --dict {digits} --lossy"
    ));
    assert_eq!(
        fs::read(place.path("p.tsr")).unwrap(),
        fs::read(place.path("q.tsr")).unwrap()
    );
    fs::write(
        place.path("torn.tsd"),
        &fs::read(default_file()).unwrap()[..5000],
    )
    .unwrap();
    place.fail("dict install @torn.tsd", DICTIONARY, "truncated");
}

#[test]
fn dictionaries_are_described_drawn_and_exported() {
    let place = Place::new();
    let info = place.succeed("dict info default --json");
    assert!(
        info.contains("\"provenance\"") && info.contains("BASL"),
        "{info}"
    );
    place.succeed("dict show default -o @atoms.png --shape 16x16 --class 1");
    assert!(open(place.path("atoms.png")).width() > 100);
    place.succeed("dict export default -o @atoms.npy");
    place.succeed("dict show @atoms.npy -o @again.png");
    place.succeed("dict export default -o @copy.tsd");
    assert_eq!(
        fs::read(place.path("copy.tsd")).unwrap(),
        fs::read(default_file()).unwrap()
    );
    place.fail("dict export default -o @atoms.txt", USAGE, ".npy");
    place.fail(
        "dict show default -o @x.png --class 7",
        USAGE,
        "classes 0 to 5",
    );
}

#[test]
fn gain_of_the_default_itself_is_none() {
    let place = Place::with_pictures(2);
    learned(&place);
    let text = place.succeed("dict gain @cats.tsd @pictures --most 1");
    assert!(
        text.contains("on 1 pictures") && text.contains("does not profit"),
        "{text}"
    );
    let empty = Place::new();
    learned(&empty);
    empty.fail(
        "dict gain @cats.tsd @pictures",
        USAGE,
        "no readable pictures",
    );
}

#[test]
fn small_files_stay_small_with_a_learned_dictionary() {
    let place = Place::new();
    learned(&place);
    // A patch without detail: what is left is the fixed cost.
    let flat = image::GrayImage::from_pixel(8, 8, image::Luma([128]));
    flat.save(place.path("flat.png")).unwrap();
    place.succeed("encode @flat.png -o @flat.tsr --dict @cats.tsd --lossy");
    let size = fs::metadata(place.path("flat.tsr")).unwrap().len();
    assert!(size <= 40, "{size} bytes for a flat picture");
    let photo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/photos/coffee.png");
    fs::copy(photo, place.path("photo.png")).unwrap();
    place.succeed(
        "encode @photo.png -o @preview.tsr --dict @cats.tsd --target-size 300 --effort 1 --lossy",
    );
    let size = fs::metadata(place.path("preview.tsr")).unwrap().len();
    assert!((100..=300).contains(&size), "{size}");
    place.succeed("decode @preview.tsr -o @preview.png --dict @cats.tsd");
    let (original, preview) = (place.path("photo.png"), place.path("preview.png"));
    let original = open(original).to_luma8();
    let preview = open(preview).to_luma8();
    assert!(
        explained(&original, &preview) > 0.5,
        "the preview shows the photo"
    );
}

/// Share of the original's variance that the preview explains.
fn explained(original: &image::GrayImage, preview: &image::GrayImage) -> f64 {
    let values = |picture: &image::GrayImage| -> Vec<f64> {
        picture
            .pixels()
            .map(|pixel| f64::from(pixel.0[0]))
            .collect()
    };
    let (a, b) = (values(original), values(preview));
    let mean = a.iter().sum::<f64>() / a.len() as f64;
    let variance: f64 = a.iter().map(|v| (v - mean).powi(2)).sum();
    let error: f64 = a.iter().zip(&b).map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - error / variance
}

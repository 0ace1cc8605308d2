//! Choosing reference pictures for a collection: a template with changing entries profits, noise does not.

use std::path::Path;
use std::time::Duration;
use tessera_dict::Dictionary;
use tessera_train::references::{
    ReferenceChoice, ReferenceParams, choose_references, references_of,
};
use tessera_train::{Budget, FineTuneParams, Gallery, Stage, TrainObserver, fine_tune};

const SIDE: u32 = 64;

/// Pseudo-random numbers that are the same everywhere.
fn mixed(a: u32, b: u32, c: u32) -> u8 {
    let v = a.wrapping_mul(2_654_435_761)
        ^ b.wrapping_mul(2_246_822_519)
        ^ c.wrapping_mul(3_266_489_917);
    (v.wrapping_mul(668_265_263) >> 13) as u8
}

/// Writes pictures as plain PGM files.
fn gallery(folder: &Path, count: u32, pixel: impl Fn(u32, u32, u32) -> u8) -> Gallery {
    for picture in 0..count {
        let mut file = format!("P5\n{SIDE} {SIDE}\n255\n").into_bytes();
        file.extend((0..SIDE * SIDE).map(|i| pixel(picture, i % SIDE, i / SIDE)));
        std::fs::write(folder.join(format!("{picture:02}.pgm")), file)
            .expect("a file in a new folder");
    }
    Gallery::open(&[folder.to_path_buf()]).expect("the folder is there")
}

fn choose(gallery: &Gallery, max_bytes: usize) -> ReferenceChoice {
    let (training, held_out) = gallery.hold_out(0.25);
    let params = ReferenceParams {
        max_bytes,
        quantisers: vec![64],
        ..ReferenceParams::default()
    };
    let start = Dictionary::builtin();
    choose_references(&training, &held_out, start, &params, &mut ()).expect("all are readable")
}

/// A fixed pattern; a few cells of it change from picture to picture.
fn form(picture: u32, x: u32, y: u32) -> u8 {
    let (column, row) = (x / 4, y / 4);
    let entry = mixed(column, row, 7) < 24;
    mixed(column, row, if entry { 100 + picture } else { 0 }) / 2 + 60
}

#[test]
fn a_templated_collection_halves() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let choice = choose(&gallery(folder.path(), 12, form), 20_000);
    let report = &choice.report;
    assert!(report.after < report.before / 2.0, "{report}");
    assert!(report.bytes <= 20_000 && !choice.dictionary.references().is_empty());
    assert!(report.to_string().contains("pay from"), "{report}");
    let read =
        Dictionary::from_bytes(&choice.dictionary.to_bytes()).expect("the dictionary is valid");
    assert_eq!(read.references().len(), report.names.len());
}

#[test]
fn pictures_that_share_nothing_get_no_references() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let noise = |picture, x, y| mixed(x / 3, y / 3, 1 + picture);
    let choice = choose(&gallery(folder.path(), 8, noise), 20_000);
    assert!(choice.dictionary.references().is_empty());
    assert_eq!(
        choice.report.to_string(),
        "no reference picture pays for this collection"
    );
}

#[test]
fn nothing_is_chosen_without_room_or_pictures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let few = gallery(folder.path(), 6, form);
    assert!(choose(&few, 0).dictionary.references().is_empty());
    assert!(choose(&few, 30).dictionary.references().is_empty());
}

#[test]
fn no_time_is_no_choice_and_no_error() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (training, held_out) = gallery(folder.path(), 12, form).hold_out(0.25);
    let params = ReferenceParams {
        budget: Budget::new(Some(Duration::ZERO)),
        ..ReferenceParams::default()
    };
    let start = Dictionary::builtin();
    let choice = choose_references(&training, &held_out, start, &params, &mut ());
    let choice = choice.expect("a short time is no failure");
    assert!(choice.dictionary.references().is_empty() && choice.taken.is_empty());
}

/// Ends everything at once.
struct Impatient;

impl TrainObserver for Impatient {
    fn progress(&mut self, _: Stage, _: usize, _: usize) {}

    fn stopped(&self) -> bool {
        true
    }
}

#[test]
fn a_checkpoint_tells_its_references() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let all = gallery(folder.path(), 12, form);
    let choice = choose(&all, 20_000);
    assert!(!choice.taken.is_empty(), "a picture is a reference");
    let (training, held_out) = all.hold_out(0.25);
    let params = FineTuneParams {
        taken: choice.taken.clone(),
        ..FineTuneParams::default()
    };
    let rest = training.without(&choice.taken);
    let checkpoint = fine_tune(
        &rest,
        &held_out,
        &choice.dictionary,
        None,
        &params,
        &mut Impatient,
    );
    let checkpoint = checkpoint.expect("stopping is no failure").dictionary;
    let checkpoint = Dictionary::from_bytes(&checkpoint.to_bytes()).expect("it can be read");
    let start = Dictionary::builtin();
    let again = references_of(&checkpoint, &training, start).expect("the pictures are there");
    assert_eq!(again.taken, choice.taken);
    assert!(again.dictionary.to_bytes() == choice.dictionary.to_bytes());
    let other = gallery(tempfile::tempdir().expect("a folder").path(), 0, form);
    assert!(references_of(&checkpoint, &other, start).is_err());
}

#[test]
fn the_choice_does_not_depend_on_the_number_of_threads() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let gallery = gallery(folder.path(), 8, form);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        let pool = pool.expect("threads start");
        pool.install(|| choose(&gallery, 9_000).dictionary.to_bytes())
    };
    assert!(run(1) == run(3), "the dictionaries differ");
}

//! Choosing reference pictures for a collection: a template with changing entries profits, noise does not.

use std::path::Path;
use tessera_dict::Dictionary;
use tessera_train::Gallery;
use tessera_train::references::{ReferenceChoice, ReferenceParams, choose_references};

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
    assert!(report.bytes <= 20_000 && !choice.dictionary.references.is_empty());
    assert!(report.to_string().contains("pay from"), "{report}");
    let read =
        Dictionary::from_bytes(&choice.dictionary.to_bytes()).expect("the dictionary is valid");
    assert_eq!(read.references.len(), report.names.len());
}

#[test]
fn pictures_that_share_nothing_get_no_references() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let noise = |picture, x, y| mixed(x / 3, y / 3, 1 + picture);
    let choice = choose(&gallery(folder.path(), 8, noise), 20_000);
    assert!(choice.dictionary.references.is_empty());
    assert_eq!(
        choice.report.to_string(),
        "no reference picture pays for this collection"
    );
}

#[test]
fn nothing_is_chosen_without_room_or_pictures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let few = gallery(folder.path(), 6, form);
    assert!(choose(&few, 0).dictionary.references.is_empty());
    assert!(choose(&few, 30).dictionary.references.is_empty());
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

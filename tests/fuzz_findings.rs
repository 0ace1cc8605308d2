//! Every fuzz target on the seeds it starts from.
//!
//! Fuzzing has found nothing so far. The first input that breaks a target goes to `fixtures/fuzz/` under the name of
//! the target and what was wrong, and gets a test of its own here.

#[path = "conformance_support/mod.rs"]
#[allow(dead_code, reason = "only the folder is needed here")]
mod support;
#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
mod targets;

use std::fs;

const TARGETS: [fn(&[u8]); 11] = [
    targets::range,
    targets::header,
    targets::metadata,
    targets::container,
    targets::dictionary,
    targets::difference,
    targets::pack,
    targets::tile,
    targets::lossless,
    targets::decode,
    targets::round_trip,
];

#[test]
fn seeds_keep_every_promise() {
    let entries = fs::read_dir(support::folder()).expect("the conformance streams are there");
    let paths = entries.map(|entry| entry.unwrap().path());
    for stream in paths.filter(|path| path.is_file()) {
        let bytes = fs::read(stream).unwrap();
        TARGETS.iter().for_each(|target| target(&bytes));
    }
}

/// Bytes of every pack that are changed.
const PLACES: usize = 40;

#[test]
fn packs_with_a_byte_changed_keep_every_promise() {
    for entry in fs::read_dir(support::packs_folder()).expect("the conformance packs are there") {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "tsp") {
            continue;
        }
        let mut file = fs::read(path).unwrap();
        targets::pack(&file);
        // Length of the index, entries and index: the target makes the checks right again.
        let trailer = file.split_off(file.len().saturating_sub(20));
        let Some(length) = trailer.get(8..10) else {
            continue;
        };
        let mut parts = [length, file.get(3..).unwrap_or_default()].concat();
        for at in (0..parts.len()).step_by(parts.len() / PLACES + 1) {
            for change in [0x01, 0x80] {
                parts[at] ^= change;
                targets::pack(&parts);
                parts[at] ^= change;
            }
        }
    }
}

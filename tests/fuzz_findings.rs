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

const TARGETS: [fn(&[u8]); 10] = [
    targets::range,
    targets::header,
    targets::metadata,
    targets::container,
    targets::dictionary,
    targets::difference,
    targets::pack,
    targets::tile,
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

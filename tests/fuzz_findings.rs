//! Inputs that once broke a fuzz target, one test each, and every target on the seeds it starts from.
//!
//! A new finding goes to `fixtures/fuzz/` under the name of its target and what was wrong.

#[path = "conformance_support/mod.rs"]
#[allow(dead_code, reason = "only the folder is needed here")]
mod support;
#[path = "../fuzz/src/lib.rs"]
#[allow(unreachable_pub, reason = "a crate of its own elsewhere")]
mod targets;

use std::fs;

const TARGETS: [fn(&[u8]); 8] = [
    targets::range,
    targets::header,
    targets::metadata,
    targets::container,
    targets::dictionary,
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

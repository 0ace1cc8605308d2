//! Every conformance stream decodes to its hash, every file that must be refused is.

use std::path::Path;
use tessera_reference::{Dictionary, Shelf, conformance};

#[test]
fn conformance_files_are_decoded_or_refused() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let built_in = std::fs::read(root.join("crates/tessera-dict/assets/default.tsd")).unwrap();
    let shelf = Shelf::new(Dictionary::built_in(&built_in).unwrap());
    let count = conformance::check(&root.join("fixtures/conformance"), &shelf).unwrap();
    assert!(count >= 150, "only {count} files");
}

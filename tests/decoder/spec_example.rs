//! The worked example of the specification says what the decoder does.

#[path = "../conformance_support/example_page.rs"]
mod example_page;

use tessera_codec::{Samples, decode};

const PAGE: &str = include_str!("../../spec/example.md");
const FILE: &[u8] = include_bytes!("../../fixtures/conformance/example.tsr");

/// The bytes of the page's first table, in order.
fn bytes_on_the_page() -> Vec<u8> {
    let table = PAGE
        .split("\n## ")
        .find(|section| section.starts_with("Bytes"));
    let rows = table.expect("there is a table of bytes").lines();
    let cells = rows.filter_map(|row| row.strip_prefix("| `")?.split('`').next());
    cells
        .flat_map(str::split_ascii_whitespace)
        .map(|byte| u8::from_str_radix(byte, 16).expect("bytes are hexadecimal"))
        .collect()
}

/// The numbers of the page's last section.
fn pixels_on_the_page() -> Vec<u8> {
    let (_, section) = PAGE.rsplit_once("\n## Pixels").expect("there are pixels");
    let block = section.split("```").nth(1).expect("in a block");
    let numbers = block.split_ascii_whitespace();
    numbers
        .map(|number| number.parse().expect("pixels are numbers"))
        .collect()
}

#[test]
fn the_bytes_on_the_page_decode_to_the_pixels_on_the_page() {
    let bytes = bytes_on_the_page();
    assert_eq!(bytes, FILE, "the committed file is the one on the page");
    let picture = decode(&bytes).expect("the example is a valid file");
    assert_eq!(picture.samples(), &Samples::U8(pixels_on_the_page()));
}

#[test]
fn every_decision_on_the_page_is_the_decoders() {
    assert_eq!(example_page::FILE, "example.tsr");
    for (own, page) in example_page::render(FILE).lines().zip(PAGE.lines()) {
        assert_eq!(own, page);
    }
    assert_eq!(example_page::render(FILE).len(), PAGE.len());
}

//! The page of the specification that decodes a tiny file bit by bit (`spec/example.md`).
//!
//! The page is made from the file, and a test makes it again: what it says cannot drift from what the decoder does.

use std::fmt::Write;
use tessera_codec::internals::tile::trace::{Decision, Event, LeafRecord, PatchCode, Trace};
use tessera_codec::{Decoder, Picture, Samples};

/// The file the page is about, inside the folder of the conformance streams.
pub(crate) const FILE: &str = "example.tsr";

const INTRODUCTION: &str = "\
# A file, bit by bit

This page decodes `fixtures/conformance/example.tsr`, a gray picture of 8 bits, with the built-in dictionary 2.
It is written by `cargo xtask conformance` and checked by the test
`spec_example`, which reads the bytes below, decodes them and compares every line.
";

/// Header fields of a gray file without features, and their lengths.
const HEADER: [(usize, &str); 9] = [
    (2, "magic"),
    (1, "version"),
    (1, "format: gray, no alpha, 8 bits, no features"),
    (1, "built-in dictionary"),
    (1, "width - 1"),
    (1, "height - 1"),
    (1, "quantiser index"),
    (1, "bound of the tile's work"),
    (1, "`crc8` of the bytes before"),
];
const CHECKSUM: usize = 4;

/// Writes the page about `file`.
pub(crate) fn render(file: &[u8]) -> String {
    let trace = &Decoder::new().trace(file).expect("the example decodes")[0];
    let picture = Decoder::new().decode(file).expect("the example decodes");
    let mut page = INTRODUCTION.to_owned();
    page.push_str(&bytes_table(file));
    page.push_str(&decisions_table(trace));
    page.push_str(&samples_section(trace, &picture));
    page
}

fn bytes_table(file: &[u8]) -> String {
    let mut text = "\n## Bytes\n\n| bytes | meaning |\n|---|---|\n".to_owned();
    let mut rest = file;
    let mut row = |count: usize, meaning: &str| {
        let (head, tail) = rest.split_at(count);
        rest = tail;
        let hex: Vec<String> = head.iter().map(|byte| format!("{byte:02X}")).collect();
        writeln!(text, "| `{}` | {meaning} |", hex.join(" ")).expect("writing to memory");
    };
    let header: usize = HEADER.iter().map(|(count, _)| count).sum();
    HEADER
        .iter()
        .for_each(|(count, meaning)| row(*count, meaning));
    row(file.len() - header - CHECKSUM, "payload of tile 0");
    row(CHECKSUM, "`crc32` of header, tile number and payload");
    text
}

fn decisions_table(trace: &Trace) -> String {
    let mut text = "\n## Decisions\n\n\
        `cells` is the context in each input table of the element, `vector` that of weights, `one` the\n\
        probability of a one in 1/65536. `even` is a bit with even odds.\n\n\
        | element | cells | vector | one | bit |\n|---|---|---|---|---|\n"
        .to_owned();
    for event in &trace.events {
        let line = match event {
            Event::Decision(decision) => decision_row(decision),
            Event::Leaf(leaf) => leaf_row(leaf),
        };
        text.push_str(&line);
    }
    text
}

fn decision_row(decision: &Decision) -> String {
    let Decision { one, .. } = decision;
    let bit = u8::from(decision.bit);
    match decision.element {
        None => format!("| even | | | {one} | {bit} |\n"),
        Some(element) => format!(
            "| {element:?} | {} | {} | {one} | {bit} |\n",
            list(&decision.cells),
            decision.vector,
        ),
    }
}

fn leaf_row(leaf: &LeafRecord) -> String {
    let (width, height) = (leaf.shape.width(), leaf.shape.height());
    let place = format!("{width}x{height} at ({}, {})", leaf.x, leaf.y);
    let content = match &leaf.patches[0] {
        PatchCode::Empty => "no coefficients".to_owned(),
        PatchCode::Levels { basis, levels } => format!("basis {basis}, levels {}", list(levels)),
        PatchCode::Atom { index, level } => format!("atom {index}, amplitude {level}"),
    };
    format!(
        "| **leaf** | {place}, mode {}: {content} | | | |\n",
        leaf.mode
    )
}

fn samples_section(trace: &Trace, picture: &Picture) -> String {
    let mut text = "\n## Samples of the plane, 12 bits\n\n```\n".to_owned();
    let plane = &trace.planes[0];
    for y in 0..plane.height {
        writeln!(text, "{}", list(plane.row(y))).expect("writing to memory");
    }
    text.push_str("```\n\n## Pixels, 8 bits\n\n```\n");
    if let Samples::U8(samples) = picture.samples() {
        for row in samples.chunks_exact(picture.width() as usize) {
            writeln!(text, "{}", list(row)).expect("writing to memory");
        }
    }
    text.push_str("```\n");
    text
}

fn list<T: ToString>(values: &[T]) -> String {
    let values: Vec<String> = values.iter().map(T::to_string).collect();
    values.join(" ")
}

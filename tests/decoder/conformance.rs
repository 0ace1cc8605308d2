//! The conformance streams decode to what the manifest says, in every way there is to decode them.

use crate::support::{Entry, REFUSED, folder, refused_folder, sample_hash, streams_of};
use std::collections::BTreeSet;
use std::fs;
use tessera_codec::Decoder;
use tessera_codec::internals::simd;
use tessera_codec::internals::tile::trace::{Event, LeafRecord, PatchCode};
use tessera_dict::PlaneKind;
use tessera_dict::layout::Element;

/// All streams with their manifest entries.
fn streams() -> Vec<(Entry, Vec<u8>)> {
    streams_of(&folder())
}

#[test]
fn streams_decode_to_the_stated_samples_with_one_and_many_threads() {
    for (entry, bytes) in streams() {
        for threads in [1, 4] {
            let picture = Decoder::new().threads(threads).decode(&bytes);
            let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", entry.file));
            assert_eq!(sample_hash(&picture), entry.samples, "{}", entry.file);
        }
    }
}

#[test]
fn streams_decode_to_the_stated_samples_without_vector_instructions() {
    simd::force_scalar(true);
    for (entry, bytes) in streams() {
        let picture = Decoder::new()
            .decode(&bytes)
            .expect("conforming streams decode");
        assert_eq!(sample_hash(&picture), entry.samples, "{}", entry.file);
    }
    simd::force_scalar(false);
}

#[test]
fn the_manifest_lists_every_stream_and_all_are_small() {
    let listed: BTreeSet<String> = streams().into_iter().map(|(entry, _)| entry.file).collect();
    let present: BTreeSet<String> = fs::read_dir(folder())
        .expect("the folder is there")
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter(|name| name.ends_with(".tsr"))
        .collect();
    assert_eq!(listed, present);
    let sizes: Vec<usize> = streams().iter().map(|(_, bytes)| bytes.len()).collect();
    assert!(sizes.iter().all(|&size| size < 3000), "{sizes:?}");
    assert!(sizes.iter().sum::<usize>() < 64_000);
}

#[test]
fn every_truncation_is_an_error() {
    let decoder = Decoder::new().threads(1);
    for (entry, bytes) in streams() {
        for length in 0..bytes.len() {
            let outcome = decoder.decode(&bytes[..length]);
            assert!(outcome.is_err(), "{} cut to {length} bytes", entry.file);
        }
    }
}

#[test]
fn what_must_be_refused_is_refused() {
    let list = fs::read_to_string(refused_folder().join(REFUSED)).expect("the list is there");
    let mut listed = BTreeSet::new();
    for line in list.lines() {
        let (file, why) = line.split_once('\t').expect("two columns");
        let bytes = fs::read(refused_folder().join(file)).expect("the file is there");
        assert!(Decoder::new().decode(&bytes).is_err(), "{file}: {why}");
        listed.insert(file.to_owned());
    }
    assert!(listed.len() >= 50, "{}", listed.len());
    let files = fs::read_dir(refused_folder()).expect("the folder is there");
    let names = files.filter_map(|file| file.ok()?.file_name().into_string().ok());
    let present: BTreeSet<String> = names.filter(|name| name.ends_with(".tsr")).collect();
    assert_eq!(listed, present);
}

/// What a set of streams makes use of.
#[derive(Debug, Default)]
struct Coverage {
    shapes: [BTreeSet<usize>; 2],
    modes: [BTreeSet<usize>; 2],
    choices: [BTreeSet<u32>; 2],
    elements: BTreeSet<(usize, usize, bool)>,
    largest_level: u32,
    last_positions: usize,
}

impl Coverage {
    fn add(&mut self, event: &Event) {
        match event {
            Event::Leaf(leaf) => self.add_leaf(leaf),
            Event::Decision(decision) => {
                if let Some(element) = decision.element {
                    let key = (decision.kind as usize, element as usize, decision.bit);
                    self.elements.insert(key);
                }
            }
        }
    }

    fn add_leaf(&mut self, leaf: &LeafRecord) {
        let kind = leaf.kind as usize;
        self.shapes[kind].insert(leaf.shape.index());
        self.modes[kind].insert(leaf.mode);
        for patch in &leaf.patches {
            let PatchCode::Levels { basis, levels } = patch else {
                continue;
            };
            self.choices[kind].insert(*basis);
            self.last_positions = self.last_positions.max(levels.len());
            let magnitudes = levels.iter().map(|level| level.unsigned_abs());
            self.largest_level = self.largest_level.max(magnitudes.max().unwrap_or(0));
        }
    }

    fn of_all_streams() -> Self {
        let mut coverage = Self::default();
        for (entry, bytes) in streams() {
            let traces = Decoder::new().trace(&bytes);
            let traces = traces.unwrap_or_else(|error| panic!("{}: {error}", entry.file));
            let events = traces.iter().flat_map(|trace| &trace.events);
            events.for_each(|event| coverage.add(event));
        }
        coverage
    }
}

/// The elements that occur for a plane kind.
fn elements_of(kind: PlaneKind) -> Vec<Element> {
    use Element::*;
    let mut elements = vec![
        Significance,
        Magnitude,
        Last,
        Coded,
        Partition,
        Basis,
        Filter,
    ];
    match kind {
        PlaneKind::Luma => elements.extend([Mode, ModeTree]),
        PlaneKind::Chroma => elements.push(ChromaMode),
    }
    elements
}

#[test]
fn the_streams_cover_every_tool() {
    const SHAPES: usize = 13;
    const MODES: [usize; 2] = [35, 6];
    let coverage = Coverage::of_all_streams();
    let dictionary = tessera_dict::Dictionary::builtin();
    for (kind, bases) in [
        (PlaneKind::Luma, dictionary.luma()),
        (PlaneKind::Chroma, dictionary.chroma()),
    ] {
        let at = kind as usize;
        assert_eq!(coverage.shapes[at].len(), SHAPES, "{kind:?} {coverage:?}");
        assert_eq!(coverage.modes[at].len(), MODES[at], "{kind:?} {coverage:?}");
        let most = bases.groups().iter().map(Vec::len).max().unwrap_or(1);
        assert_eq!(coverage.choices[at].len(), most, "{kind:?} {coverage:?}");
        for element in elements_of(kind) {
            if element == Element::Basis && most == 1 {
                continue;
            }
            for bit in [false, true] {
                let key = (at, element as usize, bit);
                assert!(
                    coverage.elements.contains(&key),
                    "{kind:?} {element:?} {bit}"
                );
            }
        }
    }
    assert!(coverage.largest_level > 15, "a level beyond the unary part");
    assert!(coverage.last_positions > 256, "a patch beyond its rotation");
}

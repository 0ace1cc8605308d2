//! Reference pictures: their conformance streams, what the encoder gains by them, and hostile dictionaries.

#[path = "conformance_support/mod.rs"]
mod support;

use std::collections::BTreeSet;
use std::fs;
use support::{Entry, REFERENCE_DICTIONARY, reference_folder, sample_hash, streams_of};
use tessera_codec::internals::container::{self, Header, TileData, WorkBound};
use tessera_codec::internals::simd;
use tessera_codec::internals::tile::trace::{Event, LeafRecord};
use tessera_codec::{
    Decoder, DictionaryError, Encoder, Error, Limits, Metadata, Picture, PixelFormat, Target,
};
use tessera_dict::layout::Element;
use tessera_dict::{DictId, Dictionary, PlaneKind, Reference};

fn dictionary() -> Dictionary {
    let file = fs::read(reference_folder().join(REFERENCE_DICTIONARY));
    let file = file.expect("the dictionary of the streams is there");
    Dictionary::from_bytes(&file).expect("it is valid")
}

fn decoder() -> Decoder {
    Decoder::new().dictionary(dictionary())
}

/// All streams with their manifest entries.
fn streams() -> Vec<(Entry, Vec<u8>)> {
    streams_of(&reference_folder())
}

#[test]
fn streams_decode_to_the_stated_samples() {
    for threads in [1, 4] {
        for scalar in [false, true] {
            simd::force_scalar(scalar);
            for (entry, bytes) in streams() {
                let picture = decoder().threads(threads).decode(&bytes);
                let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", entry.file));
                assert_eq!(sample_hash(&picture), entry.samples, "{}", entry.file);
            }
        }
    }
    simd::force_scalar(false);
}

#[test]
fn every_truncation_is_an_error() {
    let decoder = decoder().threads(1);
    for (entry, bytes) in streams() {
        for length in 0..bytes.len() {
            let outcome = decoder.decode(&bytes[..length]);
            assert!(outcome.is_err(), "{} cut to {length} bytes", entry.file);
        }
    }
}

#[test]
fn the_streams_cover_every_reference_tool() {
    let mut elements = BTreeSet::new();
    let mut leaves: Vec<LeafRecord> = Vec::new();
    for (_, bytes) in streams() {
        for trace in decoder().trace(&bytes).expect("conforming streams decode") {
            for event in trace.events {
                match event {
                    Event::Leaf(leaf) => leaves.push(leaf),
                    Event::Decision(decision) => {
                        let element = decision.element.map(|element| element as usize);
                        elements.insert((decision.kind as usize, element, decision.bit));
                    }
                }
            }
        }
    }
    use Element::{Candidate, ChromaReference, Correction, Reference, Shift};
    let luma = [Reference, Candidate, Shift, Correction].map(|e| (PlaneKind::Luma, e));
    let chroma = [ChromaReference, Correction].map(|e| (PlaneKind::Chroma, e));
    for (kind, element) in luma.into_iter().chain(chroma) {
        for bit in [false, true] {
            let key = (kind as usize, Some(element as usize), bit);
            assert!(elements.contains(&key), "{kind:?} {element:?} {bit}");
        }
    }
    for kind in [PlaneKind::Luma, PlaneKind::Chroma] {
        let own = || leaves.iter().filter(|leaf| leaf.kind == kind);
        let used = || own().filter_map(|leaf| leaf.reference);
        let corrections: BTreeSet<u8> = used().map(|used| used.correction).collect();
        assert_eq!(corrections.len(), 3, "{kind:?}");
        assert!(used().any(|used| used.shift.0.unsigned_abs() > 8));
        assert!(used().any(|used| used.shift == (0, 0)));
        assert!(own().any(|leaf| leaf.reference.is_none()));
    }
    let indices: BTreeSet<u8> = leaves
        .iter()
        .filter_map(|l| Some(l.reference?.index))
        .collect();
    assert_eq!(indices.len(), dictionary().references().len());
    let learned = leaves
        .iter()
        .filter(|leaf| leaf.kind == PlaneKind::Luma && leaf.reference.is_none() && leaf.mode == 1);
    let shapes: BTreeSet<usize> = learned.map(|leaf| leaf.shape.index()).collect();
    assert!(shapes.len() >= 6, "networks predict patches of {shapes:?}");
}

#[test]
fn references_count_as_memory() {
    let (_, bytes) = streams().swap_remove(0);
    let pixels: u64 = dictionary()
        .references()
        .iter()
        .map(Reference::pixels)
        .sum();
    let limits = |memory| Limits {
        memory,
        ..Limits::default()
    };
    let enough = decoder().limits(limits(8 * pixels + (1 << 20)));
    assert!(enough.decode(&bytes).is_ok());
    let too_little = decoder().limits(limits(8 * pixels)).decode(&bytes);
    assert!(matches!(too_little, Err(Error::Limits(_))));
}

/// A picture with much detail that varies from place to place.
fn detailed(side: u32, left: u32) -> Picture {
    let value = |x: u32, y: u32| {
        let mixed = (x / 5).wrapping_mul(2_654_435_761) ^ (y / 4).wrapping_mul(2_246_822_519);
        40 + (mixed >> 7) as u8 % 160
    };
    let samples = (0..side * side)
        .map(|i| value(left + i % side, i / side))
        .collect();
    Picture::gray8(side, side, samples).expect("the samples fill the picture")
}

/// The default dictionary with one reference.
fn with_reference(reference: Reference) -> Dictionary {
    let edited = Dictionary::builtin().edited(|parts| parts.references = vec![reference]);
    edited.expect("the reference keeps to the limits")
}

fn coded(picture: &Picture, quantiser: u8) -> Vec<u8> {
    let encoder = Encoder::new().target(Target::Quantiser(quantiser));
    encoder.encode(picture).expect("pictures encode").bytes
}

#[test]
fn a_shifted_copy_of_a_reference_costs_little() {
    let (whole, part) = (detailed(160, 0), detailed(96, 37));
    let dictionary = with_reference(Reference::new(160, 160, coded(&whole, 30)));
    let encoder = Encoder::new().target(Target::Quantiser(56));
    let plain = encoder.encode(&part).expect("pictures encode");
    let encoder = encoder.dictionary(dictionary.clone());
    let shared = encoder.encode(&part).expect("pictures encode");
    let (plain_len, shared_len) = (plain.bytes.len(), shared.bytes.len());
    assert!(
        shared_len * 4 < plain_len,
        "{shared_len} of {plain_len} bytes"
    );
    let back = Decoder::new().dictionary(dictionary).decode(&shared.bytes);
    let back = back.expect("what was encoded decodes");
    assert_eq!(
        tessera_codec::Fingerprint::of(&back),
        shared.measured.unwrap().fingerprint
    );
}

#[test]
fn a_picture_unlike_the_references_loses_nothing() {
    let dictionary = with_reference(Reference::new(96, 96, coded(&detailed(96, 900), 50)));
    let encoder = Encoder::new().target(Target::Quantiser(60));
    let plain = encoder
        .encode(&detailed(96, 0))
        .expect("pictures encode")
        .bytes;
    let encoder = encoder.dictionary(dictionary);
    let other = encoder
        .encode(&detailed(96, 0))
        .expect("pictures encode")
        .bytes;
    // The hash in the header takes sixteen bytes.
    let (allowed, found) = (plain.len() + plain.len() / 200 + 18, other.len());
    assert!(found <= allowed, "{found} bytes, {allowed} allowed");
}

/// A file that names a dictionary.
fn naming(id: DictId) -> Vec<u8> {
    let header = Header {
        format: PixelFormat::GRAY8,
        dictionary: id,
        width: 8,
        height: 8,
        tile_log2: 10,
        quantiser: 60,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: false,
        weights: Default::default(),
        alpha_quantiser: None,
        lossless: None,
        tile_work: WorkBound::at_least(10_000),
        preview_len: 0,
        metadata_len: 0,
    };
    let tile = TileData {
        colour: vec![0; 40],
        alpha: None,
    };
    container::write(header, &Metadata::default(), &[tile])
}

/// A stream that is itself coded with references.
fn recursive() -> Reference {
    let encoder = Encoder::new().dictionary(dictionary());
    let file = encoder.encode(&detailed(40, 0)).expect("pictures encode");
    Reference::new(40, 40, file.bytes)
}

#[test]
fn dictionaries_with_hostile_references_are_refused() {
    let stream = coded(&detailed(40, 0), 60);
    let mut damaged = stream.clone();
    *damaged.last_mut().expect("not empty") ^= 1;
    let hostile = [
        (
            "truncated",
            Reference::new(40, 40, stream[..stream.len() - 9].to_vec()),
        ),
        ("empty", Reference::new(40, 40, Vec::new())),
        ("damaged", Reference::new(40, 40, damaged)),
        ("of another size", Reference::new(41, 40, stream.clone())),
        ("recursive", recursive()),
        (
            "of the untrained dictionary",
            Reference::new(8, 8, naming(DictId::Builtin(0))),
        ),
        (
            "of an unknown dictionary",
            Reference::new(8, 8, naming(DictId::Hash([3; 16]))),
        ),
    ];
    for (what, reference) in hostile {
        let dictionary = with_reference(reference);
        let file = naming(dictionary.id());
        let outcomes = [
            Decoder::new()
                .dictionary(dictionary.clone())
                .decode(&file)
                .map(drop),
            Encoder::new()
                .dictionary(dictionary)
                .encode(&detailed(16, 0))
                .map(drop),
        ];
        for outcome in outcomes {
            let error = outcome.expect_err(what);
            let refused = matches!(
                error,
                Error::Dictionary(DictionaryError::Reference { index: 0, .. })
            );
            assert!(refused, "{what}: {error}");
        }
    }
}

#[test]
fn references_beyond_the_limits_are_refused() {
    for references in [
        vec![Reference::new(4096, 4097, Vec::new())],
        vec![Reference::new(1, 1, Vec::new()); 17],
    ] {
        let built = Dictionary::builtin().edited(|parts| parts.references = references);
        assert!(built.is_err());
    }
}

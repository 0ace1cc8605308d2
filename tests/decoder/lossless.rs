//! The lossless conformance streams decode to what the manifest says, and damaged ones to an error or to garbage.

use crate::support::{
    REFERENCE_DICTIONARY, expected_folder, lossless_folder, reference_folder, sample_hash,
    streams_of,
};
use std::collections::BTreeSet;
use std::fs;
use tessera_codec::internals::simd;
use tessera_codec::{Container, Decoder, Dictionary, DictionaryError, Error, Integrity, Limits};

#[test]
fn streams_decode_to_the_stated_samples() {
    for scalar in [false, true] {
        simd::force_scalar(scalar);
        for (entry, bytes) in streams_of(&lossless_folder()) {
            for threads in [1, 3] {
                let picture = Decoder::new().threads(threads).decode(&bytes);
                let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", entry.file));
                assert_eq!(sample_hash(&picture), entry.samples, "{}", entry.file);
            }
        }
    }
    simd::force_scalar(false);
}

#[test]
fn streams_with_networks_need_their_dictionary() {
    let file = fs::read(reference_folder().join(REFERENCE_DICTIONARY));
    let file = file.expect("the dictionary of the streams is there");
    let dictionary = Dictionary::from_bytes(&file).expect("it is valid");
    for scalar in [false, true] {
        simd::force_scalar(scalar);
        for (entry, bytes) in streams_of(&expected_folder()) {
            let picture = Decoder::new().dictionary(dictionary.clone()).decode(&bytes);
            let picture = picture.unwrap_or_else(|error| panic!("{}: {error}", entry.file));
            assert_eq!(sample_hash(&picture), entry.samples, "{}", entry.file);
            assert!(matches!(
                Decoder::new().decode(&bytes),
                Err(Error::Dictionary(DictionaryError::Missing { .. }))
            ));
            let wrong = Decoder::new().dictionary(Dictionary::untrained());
            assert!(matches!(
                wrong.decode(&bytes),
                Err(Error::Dictionary(DictionaryError::Mismatch { .. }))
            ));
        }
    }
    simd::force_scalar(false);
}

#[test]
fn streams_cover_every_method() {
    let payloads = streams_of(&lossless_folder())
        .into_iter()
        .map(|(_, bytes)| {
            let container = Container::parse(&bytes[..], &Limits::default(), Integrity::Checked);
            let container = container.expect("conforming streams parse");
            container.tile(0).expect("the tile is intact").colour()[0]
        });
    let methods: BTreeSet<u8> = payloads.collect();
    assert_eq!(methods, BTreeSet::from([0, 1, 2, 3, 4, 5, 8, 9]));
}

#[test]
fn damage_behind_the_checksums_is_survived() {
    let limits = Limits {
        pixels: 1 << 14,
        tile_pixels: 1 << 14,
        memory: 64 << 20,
        work: 1 << 22,
        ..Limits::default()
    };
    let decoder = Decoder::new().threads(1).limits(limits);
    let decoder = decoder.integrity(Integrity::Ignored);
    let mut state = 1u32;
    let mut below = |bound: usize| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize % bound
    };
    let mut decoded = 0;
    for (_, bytes) in streams_of(&lossless_folder()) {
        for round in 0..60 {
            let mut damaged = bytes.clone();
            for _ in 0..=below(3) {
                // The header and the payload's first bytes more often than the rest.
                let most = if round % 2 == 0 { 24 } else { damaged.len() };
                let at = below(most.min(damaged.len()));
                damaged[at] ^= 1 << below(8);
            }
            if round % 5 == 4 {
                damaged.truncate(below(damaged.len()));
            }
            decoded += usize::from(decoder.decode(&damaged).is_ok());
        }
    }
    assert!(
        decoded > 100,
        "only {decoded} inputs reached the tile decoder's end"
    );
}

//! Damaged streams whose checksums are not compared: errors or garbage, never a panic, a hang or a huge allocation.
//!
//! About 76,000 inputs; the damage is the same in every run. `Limits` keep every input small; what they refuse
//! counts as survived.

#[path = "conformance_support/mod.rs"]
mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Entry, MANIFEST, folder, sample_hash};
use tessera_codec::tile::{PlaneLayout, TileConfig, decode_tile};
use tessera_codec::{Decoder, Integrity, Limits};
use tessera_dict::filter::{MAX_GAIN, TAPS};
use tessera_dict::{BasisSet, Dictionary};

/// Streams of at most this many pixels are damaged.
const PIXELS: u64 = 64 * 64;

struct Noise(u64);

impl Noise {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound
    }
}

fn decoder() -> Decoder {
    let limits = Limits {
        pixels: PIXELS,
        tile_pixels: PIXELS,
        memory: 1 << 20,
        work: 1 << 18,
        metadata: 1 << 16,
        chunks: 16,
    };
    Decoder::new()
        .threads(1)
        .limits(limits)
        .integrity(Integrity::Ignored)
}

fn small_streams() -> Vec<(String, Vec<u8>)> {
    let manifest = fs::read_to_string(folder().join(MANIFEST)).expect("the manifest is there");
    let entries = manifest.lines().filter_map(Entry::parse);
    let read = |entry: Entry| {
        (
            entry.file.clone(),
            fs::read(folder().join(&entry.file)).unwrap(),
        )
    };
    let small = |file: &[u8]| decoder().decode(file).is_ok();
    entries.map(read).filter(|(_, file)| small(file)).collect()
}

/// Decodes `count` damaged versions of every small stream.
fn survive(seed: u64, count: usize, damage: impl Fn(&mut Noise, &mut Vec<u8>)) {
    let decoder = decoder();
    let streams = small_streams();
    assert!(streams.len() > 10, "most streams are small");
    for (at, (name, original)) in streams.iter().enumerate() {
        let mut noise = Noise(seed << 32 | at as u64);
        for round in 0..count {
            let mut file = original.clone();
            damage(&mut noise, &mut file);
            let outcome = catch_unwind(AssertUnwindSafe(|| decoder.decode(&file)));
            let Ok(outcome) = outcome else {
                panic!("{name}, round {round}: {file:02x?}");
            };
            if let Ok(picture) = outcome {
                assert!(picture.pixels() <= PIXELS && sample_hash(&picture).len() == 64);
            }
        }
    }
}

fn flip(noise: &mut Noise, file: &mut [u8], bytes: usize) {
    let at = noise.below(file.len().min(bytes).max(1));
    if let Some(byte) = file.get_mut(at) {
        *byte ^= 1 << noise.below(8);
    }
}

#[test]
fn a_flipped_bit_in_headers() {
    survive(1, 1500, |noise, file| flip(noise, file, 12));
}

#[test]
fn flipped_bits_in_headers() {
    survive(7, 1500, |noise, file| {
        (0..=noise.below(3)).for_each(|_| flip(noise, file, 12));
    });
}

#[test]
fn changed_bytes_anywhere() {
    survive(2, 300, |noise, file| {
        for _ in 0..=noise.below(6) {
            let at = noise.below(file.len());
            file[at] = noise.below(256) as u8;
        }
    });
}

#[test]
fn truncated_and_prolonged() {
    survive(3, 200, |noise, file| {
        let length = noise.below(file.len() + 16);
        file.resize(length, 0xA5);
        flip(noise, file, 4096);
    });
}

#[test]
fn pieces_swapped_and_repeated() {
    survive(4, 200, |noise, file| {
        let (from, to) = (noise.below(file.len()), noise.below(file.len()));
        let length = noise.below(file.len() - from.max(to)) + 1;
        match noise.below(3) {
            0 => file.copy_within(from..from + length, to),
            1 => {
                let piece = file[from..from + length].to_vec();
                file.splice(to..to, piece);
            }
            _ => drop(file.drain(from..from + length)),
        }
    });
}

#[test]
fn random_payloads_behind_good_headers() {
    survive(5, 300, |noise, file| {
        let start = 10.min(file.len());
        file[start..]
            .iter_mut()
            .for_each(|byte| *byte = noise.below(256) as u8);
    });
}

/// The default dictionary with every number that a file may set freely at its limit.
fn extreme_dictionary() -> Dictionary {
    let mut dictionary = Dictionary::builtin().clone();
    dictionary.luma = extreme_bases(&dictionary.luma);
    dictionary.chroma = extreme_bases(&dictionary.chroma);
    for prior in [&mut dictionary.luma_prior, &mut dictionary.chroma_prior] {
        let cells = prior.cells.iter_mut().enumerate();
        cells.for_each(|(at, cell)| cell.log_odds = if at % 3 == 0 { -128 } else { 127 });
        for (at, weight) in prior.weights.iter_mut().flatten().enumerate() {
            *weight = if at % 5 == 0 {
                -(1 << 17)
            } else {
                (1 << 17) - 4
            };
        }
    }
    for filter in [&mut dictionary.luma_filter, &mut dictionary.chroma_filter] {
        let largest = (MAX_GAIN as usize / TAPS) as i16;
        filter
            .bands
            .iter_mut()
            .flatten()
            .flatten()
            .for_each(|weight| *weight = largest);
    }
    dictionary.shrinkage = [[255; 3]; 2];
    Dictionary::from_bytes(&dictionary.to_bytes()).expect("extremes are allowed")
}

fn extreme_bases(bases: &BasisSet) -> BasisSet {
    let mut groups = bases.groups().to_vec();
    for basis in groups.iter_mut().flatten() {
        let model = &mut basis.model;
        for factors in [&mut model.base, &mut model.activity, &mut model.gradient] {
            factors.fill(u16::MAX);
        }
        model.weights.fill(u8::MAX);
        if let Some(rotation) = &mut basis.rotation {
            rotation.scales.fill(u16::MAX);
            rotation.entries.fill(i8::MIN);
        }
    }
    BasisSet::new(bases.kind(), groups)
}

#[test]
fn extreme_dictionaries_overflow_nothing() {
    let dictionary = extreme_dictionary();
    let mut noise = Noise(6);
    for round in 0..60 {
        let data: Vec<u8> = (0..4000).map(|_| noise.below(256) as u8).collect();
        let config = TileConfig {
            width: 40,
            height: 24,
            layout: PlaneLayout::Ycbcr444,
            quantiser: [0, 60, 127][round % 3],
            chroma_offset: 0,
            origin: (0, 0),
            alpha: false,
        };
        if let Ok(planes) = decode_tile(&data, &config, &dictionary) {
            assert!(
                planes
                    .iter()
                    .flat_map(|plane| &plane.data)
                    .all(|&v| v < 4096)
            );
        }
    }
}

#[test]
fn filters_that_would_overflow_are_refused() {
    let mut dictionary = Dictionary::builtin().clone();
    dictionary.luma_filter.bands[0][0] = [i16::MIN; TAPS];
    assert!(Dictionary::from_bytes(&dictionary.to_bytes()).is_err());
}

//! Damaged streams whose checksums are not compared: errors or garbage, never a panic, a hang or a huge allocation.
//!
//! The damage is the same in every run. `Limits` keep every input small; what they refuse counts as survived.

#[path = "conformance_support/mod.rs"]
mod support;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use support::{Entry, MANIFEST, folder, sample_hash};
use tessera_codec::{Decoder, Integrity, Limits};

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
fn flipped_bits_in_headers() {
    survive(1, 1500, |noise, file| {
        (0..=noise.below(3)).for_each(|_| flip(noise, file, 20));
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

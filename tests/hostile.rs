//! Files from strangers: a hundred thousand mutations of small valid files, always the same ones.
//!
//! The readers of header, metadata and tile table get all of them with checksums ignored, so that
//! damage reaches every branch; the whole decoder gets a share, because it is slower.

use tessera_codec::{
    Cicp, Colour, Decoder, Encoder, Integrity, Limits, Metadata, Picture, PixelFormat, Samples,
    Target,
};

const PARSED: usize = 100_000;

/// Every so many inputs one is decoded as well.
const DECODE_EVERY: usize = 200;

/// A linear congruential generator: small, and the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % bound.max(1)
    }
}

/// One file per structure of the format: plain, alpha, several tiles with preview and metadata.
fn seeds() -> Vec<Vec<u8>> {
    let encoder = Encoder::new().target(Target::Quantiser(70)).effort(1);
    let plain = picture(5, 4, PixelFormat::GRAY8);
    let alpha = PixelFormat {
        colour: Colour::Rgb,
        alpha: true,
        ..PixelFormat::GRAY8
    };
    let mut tiled = picture(170, 66, PixelFormat::GRAY8);
    tiled.metadata = Metadata {
        icc: Some(vec![3; 50]),
        exif: Some(vec![1, 2, 3]),
        xmp: Some(b"<x/>".to_vec()),
        cicp: Some(Cicp::new(12, 13, true)),
        gain_map: None,
    };
    let encode = |encoder: &Encoder, picture| encoder.encode(picture).unwrap().bytes;
    vec![
        encode(&encoder, &plain),
        encode(&encoder, &picture(9, 3, alpha)),
        encode(&encoder.clone().tile_log2(6).preview(true), &tiled),
    ]
}

fn picture(width: u32, height: u32, format: PixelFormat) -> Picture {
    let len = width as usize * height as usize * format.channels();
    let samples = (0..len).map(|i| (i * 37 % 251) as u8).collect();
    Picture::new(width, height, format, Samples::U8(samples)).unwrap()
}

/// Applies one to three random changes.
fn mutate(random: &mut Random, seeds: &[Vec<u8>]) -> Vec<u8> {
    let mut file = seeds[random.below(seeds.len())].clone();
    for _ in 0..1 + random.below(3) {
        let (a, b) = (random.below(file.len()), random.below(file.len()));
        let (from, to) = (a.min(b), a.max(b));
        match random.below(7) {
            0 => flip(random, &mut file),
            1 => overwrite(random, &mut file),
            2 => file.truncate(a),
            3 => drop(file.drain(from..to)),
            4 => drop(file.splice(from..from, file[from..to].to_vec())),
            5 => file[from..to].rotate_left((to - from) / 2),
            _ => file.extend_from_slice(&seeds[random.below(seeds.len())]),
        }
    }
    file
}

fn flip(random: &mut Random, file: &mut [u8]) {
    let bit = random.below(file.len() * 8);
    if let Some(byte) = file.get_mut(bit / 8) {
        *byte ^= 1 << (bit % 8);
    }
}

/// Headers are short, so their bytes get most of the attention.
fn overwrite(random: &mut Random, file: &mut [u8]) {
    let at = random.below(file.len().min(32));
    if let Some(byte) = file.get_mut(at) {
        *byte = random.below(256) as u8;
    }
}

#[test]
fn mutated_files_never_panic() {
    let seeds = seeds();
    let mut random = Random(2026);
    let limits = Limits {
        pixels: 1 << 14,
        ..Limits::default()
    };
    let ignoring = Decoder::new().limits(limits).integrity(Integrity::Ignored);
    let checking = Decoder::new().limits(limits);
    let mut opened = 0;
    for number in 0..PARSED {
        let file = mutate(&mut random, &seeds);
        if let Ok(container) = ignoring.parse(&file) {
            opened += 1;
            let _may_fail = container.metadata();
            let _may_fail = container.check();
        }
        if number % DECODE_EVERY == 0 {
            let _may_fail = ignoring.decode_partial(&file);
        }
        let intact = checking.parse(&file).and_then(|container| {
            container.metadata()?;
            container.check()
        });
        // Only an unchanged file gets past all checksums.
        assert!(intact.is_err() || seeds.contains(&file), "input {number}");
    }
    assert!(
        opened > PARSED / 10,
        "only {opened} inputs got past the header"
    );
}

//! A dictionary with free atoms: the file keeps them, the encoder uses them where they pay, and decoder and encoder agree
//! on what they draw.

#[path = "conformance_support/atoms.rs"]
mod support;

use tessera_codec::internals::simd;
use tessera_codec::internals::tile::trace::{Event, PatchCode};
use tessera_codec::{Decoder, Encoder, Fingerprint, Picture, PreparedDictionary, Target, Tune};
use tessera_dict::transfer::transfer;
use tessera_dict::{Dictionary, PlaneKind};
use tessera_patch::Shape;

/// The default dictionary with other atoms.
fn dictionary() -> Dictionary {
    let edited = Dictionary::builtin().edited(|parts| {
        let luma = parts.luma.clone().with_atoms(support::atoms());
        parts.luma_prior = transfer(&parts.luma_prior, &parts.luma, &luma);
        parts.luma = luma;
    });
    edited.expect("the atoms keep to the limits")
}

/// A picture of atoms on a slope, some of them twice in a block; not a multiple of eight, larger than a superblock.
fn picture() -> Picture {
    let (width, height) = (141usize, 90usize);
    let (shape, atoms) = (Shape::new(8, 8).expect("a shape"), support::atoms());
    let rows = atoms.get(shape).expect("it has atoms").atoms.to_rows();
    let scan = shape.scan();
    let wave = |frequency: usize, place: usize| {
        let norm = if frequency == 0 { 0.125f32 } else { 0.25 };
        let phase = (frequency * (2 * place + 1)) as f32 * std::f32::consts::PI / 16.0;
        norm.sqrt() * phase.cos()
    };
    let value = |index: usize, x: usize, y: usize| -> f32 {
        let spectrum = rows[index * 64..][..64].iter().zip(&scan);
        let waves = spectrum.map(|(value, &raster)| {
            value * wave(usize::from(raster) % 8, x) * wave(usize::from(raster) / 8, y)
        });
        waves.sum()
    };
    let pixel = |i: usize| {
        let (x, y) = (i % width, i / width);
        let block = x / 8 * 7 + y / 8 * 5;
        let mut gray = 90.0 + x as f32 / 3.0 + 220.0 * value(block % 16, x % 8, y % 8);
        if block % 3 == 0 {
            gray += 150.0 * value((block + 7) % 16, x % 8, y % 8);
        }
        [gray as u8, gray as u8, (x + y) as u8]
    };
    let samples = (0..width * height).flat_map(pixel).collect();
    Picture::rgb8(width as u32, height as u32, samples).expect("a picture")
}

/// Atoms and patches of levels in the luma of a file.
fn counts(decoder: &Decoder, file: &[u8]) -> (usize, usize) {
    let traces = decoder.trace(file).expect("it decodes");
    let events = traces.iter().flat_map(|trace| &trace.events);
    let leaves = events.filter_map(|event| match event {
        Event::Leaf(leaf) if leaf.kind == PlaneKind::Luma => Some(&leaf.patches[0]),
        _ => None,
    });
    leaves.fold((0, 0), |(atoms, levels), patch| match patch {
        PatchCode::Empty => (atoms, levels),
        PatchCode::Levels { .. } => (atoms, levels + 1),
        PatchCode::Atom { level, .. } => {
            assert_ne!(*level, 0);
            (atoms + 1, levels)
        }
    })
}

#[test]
fn atoms_survive_the_file_and_its_difference() {
    let (own, base) = (dictionary(), Dictionary::builtin());
    let read = Dictionary::from_bytes(&own.to_bytes()).expect("what was written is valid");
    assert_eq!(read.luma().atoms(), &support::atoms());
    let difference = Dictionary::from_bytes(&own.to_difference(base)).expect("it is valid");
    assert_eq!(difference.id(), own.id());
    let other = own.edited(|parts| parts.shrinkage[0][0] ^= 1).unwrap();
    let small = other.to_difference(&own);
    assert!(
        small.len() < 1000,
        "shared atoms cost nothing: {}",
        small.len()
    );
    let bases = |id| (id == own.id()).then(|| own.clone());
    let back = Dictionary::from_bytes_with(&small, &bases).expect("it is valid");
    assert_eq!(back.id(), other.id());
}

#[test]
fn the_decoder_sees_what_the_encoder_promised() {
    let prepared = PreparedDictionary::from(dictionary());
    let decoder = Decoder::new().dictionary(prepared.clone());
    for (tune, quantiser) in [(Tune::Psnr, 76), (Tune::Psnr, 92), (Tune::Visual, 84)] {
        let encoder = Encoder::new().dictionary(prepared.clone()).threads(1);
        let encoder = encoder.tune(tune).target(Target::Quantiser(quantiser));
        let encoded = encoder.encode(&picture()).unwrap();
        let (atoms, levels) = counts(&decoder, &encoded.bytes);
        assert!(atoms > 0 && levels > 0, "{atoms} {levels}");
        for scalar in [false, true] {
            simd::force_scalar(scalar);
            let decoded = decoder.decode(&encoded.bytes[..]).unwrap();
            assert_eq!(
                Fingerprint::of(&decoded),
                encoded.measured.unwrap().fingerprint,
                "{quantiser}"
            );
        }
        simd::force_scalar(false);
    }
}

#[test]
fn low_efforts_take_no_time_for_atoms() {
    let prepared = PreparedDictionary::from(dictionary());
    let decoder = Decoder::new().dictionary(prepared.clone());
    for effort in [1, 2] {
        let encoder = Encoder::new().dictionary(prepared.clone()).effort(effort);
        let encoded = encoder.target(Target::Quantiser(84)).encode(&picture());
        assert_eq!(counts(&decoder, &encoded.unwrap().bytes).0, 0);
    }
}

#[test]
fn damaged_atoms_are_survived() {
    let prepared = PreparedDictionary::from(dictionary());
    let encoder = Encoder::new().dictionary(prepared.clone()).threads(1);
    let file = encoder.target(Target::Quantiser(84)).encode(&picture());
    let file = file.unwrap().bytes;
    let decoder = Decoder::new()
        .dictionary(prepared)
        .integrity(tessera_codec::Integrity::Ignored);
    let mut read = 0;
    for at in 40..file.len() {
        let mut damaged = file.clone();
        damaged[at] ^= 0x41;
        read += usize::from(decoder.decode(&damaged[..]).is_ok());
    }
    assert!(read > 0, "damage behind checksums decodes to something");
}

//! A dictionary with networks behind its filters and for its patches: the file keeps them, encoder and decoder agree on
//! what they do.

#[path = "conformance_support/networks.rs"]
mod networks;

use networks::{lossless_nets, nets, patch_nets};
use tessera_codec::internals::simd;
use tessera_codec::{BitDepth, Decoder, Encoder, Error, Fingerprint, Picture, PixelFormat, Target};
use tessera_dict::Dictionary;
use tessera_workspace::{formats, synthetic_picture};

fn dictionary() -> Dictionary {
    let edited = Dictionary::builtin().edited(|parts| {
        parts.nets = nets();
        parts.patch_nets = Some(patch_nets());
        parts.lossless_nets = lossless_nets();
    });
    edited.expect("the networks keep to the limits")
}

/// Rings in colour, not a multiple of eight, larger than a superblock.
fn picture() -> Picture {
    let (width, height) = (141, 90);
    let pixel = |i: u32| {
        let (x, y) = (i % width, i / width);
        let ring = ((x * x + y * y) / 300 % 200) as u8;
        [ring, ring / 2 + 40, (x + y) as u8]
    };
    let samples = (0..width * height).flat_map(pixel).collect();
    Picture::rgb8(width, height, samples).expect("a picture")
}

#[test]
fn networks_survive_the_file() {
    let read = Dictionary::from_bytes(&dictionary().to_bytes()).expect("what was written is valid");
    assert_eq!(read.nets(), &nets());
    assert_eq!(read.patch_nets(), Some(&patch_nets()));
    assert_eq!(read.lossless_nets(), &lossless_nets());
}

#[test]
fn the_decoder_sees_what_the_encoder_promised() {
    let encoder = Encoder::new().dictionary(dictionary()).threads(1);
    for (effort, quantiser) in [(1, 64), (5, 40), (5, 64), (5, 90)] {
        let target = Target::Quantiser(quantiser);
        let encoder = encoder.clone().effort(effort).target(target);
        let encoded = encoder.encode(&picture()).unwrap();
        for scalar in [false, true] {
            simd::force_scalar(scalar);
            let decoder = Decoder::new().dictionary(dictionary());
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
fn lossless_pictures_come_back_through_networks() {
    let encoder = Encoder::new().dictionary(dictionary()).lossless(true);
    for depth in [BitDepth::Eight, BitDepth::Twelve, BitDepth::Sixteen] {
        for format in formats(depth) {
            let picture = synthetic_picture(70, 43, format);
            let file = encoder.clone().tile_log2(6).encode(&picture).unwrap().bytes;
            for scalar in [false, true] {
                simd::force_scalar(scalar);
                let decoder = Decoder::new().dictionary(dictionary());
                assert!(decoder.decode(&file[..]).unwrap() == picture, "{format:?}");
            }
            simd::force_scalar(false);
            assert!(matches!(
                Decoder::new().decode(&file[..]),
                Err(Error::Dictionary(_))
            ));
        }
    }
}

#[test]
fn a_lossless_file_that_uses_no_network_names_no_dictionary() {
    let encoder = Encoder::new().dictionary(dictionary()).lossless(true);
    let plain = Picture::gray8(40, 40, vec![9; 1600]).unwrap();
    let fast = synthetic_picture(70, 43, PixelFormat::RGB8);
    for file in [
        encoder.encode(&plain),
        encoder.clone().effort(1).encode(&fast),
    ] {
        assert!(Decoder::new().decode(&file.unwrap().bytes[..]).is_ok());
    }
}

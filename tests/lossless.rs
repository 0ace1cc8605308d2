//! Lossless files give back every sample, whatever the picture, its format, its tiles and the effort.

use rayon::prelude::*;
use tessera_codec::{
    BitDepth, Decoder, Encoder, Error, Picture, PixelFormat, Rect, Samples, decode,
};
use tessera_workspace::adversarial::{irregular, picture};
use tessera_workspace::graphics::drawings;
use tessera_workspace::{formats, synthetic_picture};

/// One effort of each set of models.
const EFFORTS: [u8; 4] = [1, 3, 5, 9];

fn lossless(picture: &Picture, effort: u8) -> Vec<u8> {
    let encoder = Encoder::new().lossless(true).effort(effort);
    let encoded = encoder.encode(picture).expect("the picture is valid");
    assert_eq!(encoded.psnr(), Some(f64::INFINITY));
    assert_eq!(
        (encoded.lossless, encoded.keeps_its_promise()),
        (Some(0), Some(true))
    );
    encoded.bytes
}

fn assert_round_trip(name: &str, picture: &Picture, effort: u8) -> usize {
    let file = lossless(picture, effort);
    let decoded = decode(&file).expect("the file is valid");
    assert!(decoded == *picture, "{name} differs at effort {effort}");
    file.len()
}

/// Values all over the range, with alpha 0 over colour here and there.
fn rough_picture(width: u32, height: u32, format: PixelFormat, smooth: u32) -> Picture {
    let channels = format.channels() as u32;
    let peak = u32::from(format.depth.max_value());
    let mut state = 7u32;
    let values = (0..width * height * channels).map(|i| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let (x, y) = (i / channels % width, i / channels / width);
        let noise = (state >> 8) % (peak / smooth + 1);
        let slope = (x * 37 + y * 91 + i % channels * 50) * (peak / 255) % (peak + 1);
        let is_alpha = format.alpha && i % channels == channels - 1;
        if is_alpha && (x + y) % 5 == 0 {
            0
        } else {
            ((slope + noise) % (peak + 1)) as u16
        }
    });
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(values.map(|value| value as u8).collect()),
        _ => Samples::U16(values.collect()),
    };
    Picture::new(width, height, format, samples).expect("sizes match")
}

#[test]
fn every_format_and_depth_at_odd_sizes() {
    let sizes = [(1, 1), (1, 9), (9, 1), (2, 3), (67, 45), (130, 33)];
    BitDepth::ALL.into_par_iter().for_each(|depth| {
        for format in formats(depth) {
            for (width, height) in sizes {
                for effort in EFFORTS {
                    let name = format!("{width} x {height} {format:?}");
                    assert_round_trip(&name, &synthetic_picture(width, height, format), effort);
                    for smooth in [1, 40] {
                        let rough = rough_picture(width, height, format, smooth);
                        let encoder = Encoder::new().lossless(true).keep_opaque_alpha(true);
                        let file = encoder.effort(effort).encode(&rough).unwrap().bytes;
                        assert!(decode(&file).unwrap() == rough, "{name}, rough");
                    }
                }
            }
        }
    });
}

#[test]
fn drawings_and_patterns() {
    drawings().par_iter().for_each(|(name, picture)| {
        for effort in [1, 5] {
            assert_round_trip(name, picture, effort);
        }
    });
    irregular().par_iter().for_each(|(name, pattern)| {
        for format in [PixelFormat::GRAY8, PixelFormat::RGB8] {
            assert_round_trip(name, &picture(90, 70, format, pattern), 5);
        }
    });
}

#[test]
fn tiles_regions_and_threads() {
    let picture = synthetic_picture(200, 150, PixelFormat::RGB8);
    let encoder = |threads| Encoder::new().lossless(true).tile_log2(6).threads(threads);
    let file = encoder(1).encode(&picture).unwrap().bytes;
    assert!(
        file == encoder(3).encode(&picture).unwrap().bytes,
        "threads change the file"
    );
    assert!(Decoder::new().threads(3).decode(&file).unwrap() == picture);
    let region = Rect {
        x: 60,
        y: 50,
        width: 70,
        height: 33,
    };
    let part = Decoder::new().decode_region(&file, region).unwrap();
    for y in 0..region.height {
        for x in 0..region.width * 3 {
            let whole = (y + region.y) * 600 + region.x * 3 + x;
            let index = (y * region.width * 3 + x) as usize;
            assert_eq!(
                part.samples().get(index),
                picture.samples().get(whole as usize)
            );
        }
    }
}

#[test]
fn metadata_is_kept() {
    let mut picture = synthetic_picture(20, 20, PixelFormat::GRAY8);
    picture.metadata.xmp = Some(b"<x:xmpmeta/>".to_vec());
    assert_round_trip("with metadata", &picture, 5);
}

#[test]
fn nearly_lossless_is_as_near_as_asked() {
    for depth in [BitDepth::Eight, BitDepth::Sixteen] {
        for format in formats(depth) {
            let original = rough_picture(60, 50, format, 9);
            let exact = lossless(&original, 5).len();
            for near in [1, 2, 9, 255] {
                let encoded = Encoder::new().near(near).encode(&original).unwrap();
                assert_eq!(encoded.keeps_its_promise(), Some(true));
                assert!(encoded.bytes.len() < exact);
                let decoded = decode(&encoded.bytes).unwrap();
                for i in 0..original.samples().len() {
                    let (a, b) = (original.samples().get(i), decoded.samples().get(i));
                    let is_alpha = format.alpha && (i + 1) % format.channels() == 0;
                    let most = if is_alpha { 0 } else { u16::from(near) };
                    assert!(a.abs_diff(b) <= most, "{a} became {b}");
                }
            }
        }
    }
}

#[test]
fn hidden_colour_is_kept_unless_told() {
    let format = PixelFormat {
        alpha: true,
        ..PixelFormat::RGB8
    };
    let original = rough_picture(40, 40, format, 3);
    let clean = Encoder::new().lossless(true).clean_alpha(true);
    let cleaned = decode(&clean.encode(&original).unwrap().bytes).unwrap();
    let (Samples::U8(before), Samples::U8(after)) = (original.samples(), cleaned.samples()) else {
        panic!("eight bits");
    };
    for (before, after) in before.chunks(4).zip(after.chunks(4)) {
        let expected = if before[3] == 0 { &[0; 4] } else { before };
        assert_eq!(after, expected);
    }
}

/// Contrast that was stretched leaves gaps among the values; they cost nothing.
#[test]
fn values_that_never_occur_are_free() {
    let format = PixelFormat {
        depth: BitDepth::Sixteen,
        ..PixelFormat::GRAY8
    };
    let narrow = synthetic_picture(128, 128, PixelFormat::GRAY8);
    let samples = (0..128 * 128).map(|i| narrow.samples().get(i) * 257);
    let wide = Picture::new(128, 128, format, Samples::U16(samples.collect())).unwrap();
    let (narrow, wide) = (lossless(&narrow, 5).len(), lossless(&wide, 5).len());
    assert!(wide < narrow + 64, "{narrow} and {wide} bytes");
}

#[test]
fn gray_stored_as_colour_costs_a_few_bytes() {
    let gray = rough_picture(96, 96, PixelFormat::GRAY8, 20);
    let samples = (0..96 * 96).flat_map(|i| [gray.samples().get(i) as u8; 3]);
    let colour = Picture::rgb8(96, 96, samples.collect()).unwrap();
    let (gray, colour) = (lossless(&gray, 5).len(), lossless(&colour, 5).len());
    assert!(colour <= gray + 4, "{gray} and {colour} bytes");
}

#[test]
fn no_drawing_is_larger_than_its_lossless_file_and_photos_stay_lossy() {
    let encoder = Encoder::new().effort(1).lossless_if_smaller(true);
    let mut turned = 0;
    for (name, drawing) in drawings() {
        let chosen = encoder.encode(&drawing).unwrap();
        let lossy = encoder
            .clone()
            .lossless_if_smaller(false)
            .encode(&drawing)
            .unwrap();
        let exact = lossless(&drawing, 1).len();
        assert!(chosen.bytes.len() <= lossy.bytes.len().min(exact), "{name}");
        turned += usize::from(chosen.lossless == Some(0));
    }
    assert!(turned > 3, "{turned} drawings turned lossless");
    let grainy = rough_picture(160, 120, PixelFormat::RGB8, 10);
    assert_eq!(encoder.encode(&grainy).unwrap().lossless, None);
}

#[test]
fn what_fits_a_size_without_loss_is_lossless() {
    let (_, text) = drawings().swap_remove(0);
    let encoder = Encoder::new().effort(1).lossless_if_smaller(true);
    let small = encoder.clone().target_size(100_000).encode(&text).unwrap();
    assert_eq!(small.lossless, Some(0));
    assert!(small.bytes.len() < 100_000);
    let reached = encoder.target_psnr(90.0).encode(&text).unwrap();
    assert_eq!(reached.lossless, Some(0));
}

#[test]
fn damage_is_an_error() {
    let picture = synthetic_picture(70, 40, PixelFormat::RGB8);
    let file = lossless(&picture, 5);
    for cut in 0..file.len() {
        assert!(decode(&file[..cut]).is_err(), "cut at {cut}");
    }
    for index in 0..file.len() {
        let mut damaged = file.clone();
        damaged[index] ^= 0x10;
        assert!(matches!(
            decode(&damaged),
            Err(Error::Format(_) | Error::Limits(_) | Error::Dictionary(_))
        ));
    }
}

#[test]
fn a_plain_picture_takes_a_few_bytes() {
    let plain = Picture::gray8(900, 700, vec![9; 900 * 700]).unwrap();
    assert!(lossless(&plain, 5).len() < 64);
}

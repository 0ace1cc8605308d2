//! Lossy files whose graphics are drawn pixel by pixel: what a decoder makes of them, and what they are worth.

use tessera_codec::internals::stages;
use tessera_codec::{
    Decoder, Encoded, Encoder, Fingerprint, Picture, PixelFormat, Rect, Samples, Tune, decode,
};
use tessera_workspace::graphics::drawings;
use tessera_workspace::synthetic_picture;

fn drawing(wanted: &str) -> Picture {
    let mut all = drawings().into_iter();
    let found = all.find(|(name, _)| *name == wanted);
    found.expect("there is such a drawing").1
}

fn is_drawn(file: &[u8]) -> bool {
    let (header, _) = stages::header(file).expect("the file is valid");
    header.graphics
}

/// Encodes, and holds the encoder to what a decoder makes of it.
fn encode(name: &str, encoder: &Encoder, picture: &Picture) -> Encoded {
    let encoded = encoder.encode(picture).expect("the picture is valid");
    let decoded = decode(&encoded.bytes).expect("the file is valid");
    let seen = Fingerprint::of(&decoded);
    let promised = encoded.measured.expect("it was measured").fingerprint;
    assert_eq!(seen, promised, "{name}: the decoder sees another picture");
    encoded
}

#[test]
fn decoders_see_what_encoders_drew() {
    for (name, picture) in drawings() {
        for (effort, quality) in [(1, 40), (2, 85)] {
            let encoder = Encoder::new().effort(effort).quality(quality);
            let encoded = encode(name, &encoder, &picture);
            let drawn = is_drawn(&encoded.bytes);
            assert!(drawn, "{name}, effort {effort}: nothing is drawn");
            assert_eq!(encoded.keeps_its_promise(), Some(true), "{name}");
        }
    }
}

#[test]
fn photos_draw_nothing() {
    for format in tessera_workspace::formats(tessera_codec::BitDepth::Eight) {
        let photo = synthetic_picture(150, 90, format);
        let encoded = encode("photo", &Encoder::new().effort(2), &photo);
        assert!(!is_drawn(&encoded.bytes));
    }
}

#[test]
fn threads_tiles_and_regions_agree() {
    let screen = drawing("screen with a photo");
    for tile_log2 in [6, 8, 10] {
        let encoder = Encoder::new().effort(1).tile_log2(tile_log2);
        let file = encode("screen", &encoder.clone().threads(1), &screen).bytes;
        assert_eq!(file, encode("screen", &encoder.threads(3), &screen).bytes);
        assert!(is_drawn(&file));
        let whole = decode(&file).unwrap();
        for threads in [1, 2, 3] {
            assert!(Decoder::new().threads(threads).decode(&file[..]).unwrap() == whole);
        }
        let region = Rect {
            x: 130,
            y: 45,
            width: 77,
            height: 101,
        };
        let part = Decoder::new().decode_region(&file[..], region).unwrap();
        let all = Rect {
            x: 0,
            y: 0,
            ..region
        };
        assert!(part.planes(all).unwrap() == whole.planes(region).unwrap());
    }
}

#[test]
fn alpha_is_drawn_too() {
    let screen = drawing("screen");
    let Samples::U8(samples) = screen.samples() else {
        panic!("drawings have 8 bits");
    };
    let with_alpha = samples.chunks(3).enumerate().flat_map(|(at, pixel)| {
        let (x, y) = (at % 640, at / 640);
        let inside = x * y % 7 < 5 && x / 40 % 2 == y / 40 % 2;
        [pixel[0], pixel[1], pixel[2], if inside { 255 } else { 40 }]
    });
    let picture = {
        let format = PixelFormat {
            alpha: true,
            ..PixelFormat::RGB8
        };
        Picture::new(640, 400, format, Samples::U8(with_alpha.collect())).unwrap()
    };
    let encoded = encode("screen with alpha", &Encoder::new().effort(1), &picture);
    assert!(is_drawn(&encoded.bytes));
}

#[test]
fn truncated_files_are_errors() {
    let file = encode("chart", &Encoder::new().effort(1), &drawing("chart")).bytes;
    let decoder = Decoder::new();
    for length in (0..file.len()).step_by(97) {
        assert!(decoder.decode(&file[..length]).is_err(), "{length} bytes");
    }
}

/// The photo takes a few thousand bytes by its frequencies, the rest as many pixel by pixel; either way alone takes
/// three times as much.
#[test]
fn a_screen_with_a_photo_gets_both() {
    let screen = drawing("screen with a photo");
    let encoder = Encoder::new().effort(2).tune(Tune::Psnr);
    let mixed = encode("screen", &encoder.clone().target_psnr(43.0), &screen);
    let lossless = encoder.lossless(true).encode(&screen).unwrap();
    let (mixed, lossless) = (mixed.bytes.len(), lossless.bytes.len());
    assert!(3 * mixed < lossless, "{mixed} and {lossless} bytes");
}

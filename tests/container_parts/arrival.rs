//! Pictures whose end has not arrived.

use super::{encoder, synthetic_picture};
use tessera_codec::{Decoder, Encoder, Picture, PixelFormat, Rect, Samples, TileStart};

/// A picture in one tile with two streams.
fn large() -> Picture {
    synthetic_picture(400, 300, PixelFormat::RGB8)
}

/// What `bytes` of a file of one tile show.
fn start(bytes: &[u8]) -> Option<TileStart> {
    let coded = Decoder::new().parse(bytes).unwrap();
    let range = coded.tile_range(0);
    coded.decode_tile_start(0, &bytes[range]).unwrap()
}

fn rows(start: &Option<TileStart>) -> u32 {
    start.as_ref().map_or(0, |start| start.rect.height)
}

/// The first `rows` rows of a picture.
fn top(picture: &Picture, rows: u32) -> &[u8] {
    let Samples::U8(samples) = picture.samples() else {
        panic!("8 bits");
    };
    let len = picture.width() as usize * picture.format().channels() * rows as usize;
    &samples[..len]
}

#[test]
fn rows_come_one_after_the_other_and_stay() {
    for format in [PixelFormat::GRAY8, PixelFormat::RGB8] {
        // One stream for all planes.
        let file = encoder(40)
            .encode(&synthetic_picture(200, 250, format))
            .unwrap()
            .bytes;
        let last = start(&file).unwrap();
        let mut seen = 0;
        for len in (40..file.len()).step_by(97) {
            let arrived = start(&file[..len]);
            let rows = rows(&arrived);
            assert!(rows >= seen && rows.is_multiple_of(64), "{rows}");
            seen = rows;
            if let Some(arrived) = arrived {
                assert_eq!(
                    top(&arrived.picture, rows),
                    top(&last.picture, rows),
                    "{len}"
                );
            }
        }
        assert!(seen >= 192, "{seen}");
    }
}

#[test]
fn colour_comes_behind_luma_in_two_streams() {
    let picture = large();
    let file = encoder(50).encode(&picture).unwrap().bytes;
    let is_gray = |pixels: &[u8]| {
        pixels
            .as_chunks::<3>()
            .0
            .iter()
            .all(|[r, g, b]| r == g && g == b)
    };
    let parts = (1..40).map(|part| &file[..file.len() * part / 40]);
    let first = parts.filter_map(start).next().unwrap();
    let Rect { height, .. } = first.rect;
    assert!(height >= 64 && height < picture.height(), "{height}");
    assert!(is_gray(top(&first.picture, height)));
    let most = start(&file[..file.len() * 19 / 20]).unwrap();
    assert_eq!(most.rect.height, picture.height(), "luma is all there");
    assert!(!is_gray(top(&most.picture, 64)));
    // Before the filter, and so not the same; but the same picture.
    let whole = Decoder::new().decode(&file).unwrap();
    let (shown, filtered) = (top(&most.picture, 64), top(&whole, 64));
    let squares = shown
        .iter()
        .zip(filtered)
        .map(|(a, b)| f64::from(a.abs_diff(*b)).powi(2));
    assert!(squares.sum::<f64>() / (shown.len() as f64) < 30.0);
}

#[test]
fn alpha_that_is_not_there_is_opaque() {
    let format = PixelFormat {
        alpha: true,
        ..PixelFormat::RGB8
    };
    let file = encoder(40)
        .encode(&synthetic_picture(150, 200, format))
        .unwrap()
        .bytes;
    let early = start(&file[..file.len() / 3]).unwrap().picture;
    assert!(early.is_opaque());
    let late = start(&file[..file.len() - 8]).unwrap();
    assert_eq!(late.rect.height, 200, "colour is all there");
    assert!(!late.picture.is_opaque());
}

#[test]
fn a_partial_decode_shows_what_has_arrived() {
    let picture = large();
    let file = encoder(50).encode(&picture).unwrap().bytes;
    let cut = &file[..file.len() * 2 / 3];
    let partial = Decoder::new().decode_partial(cut).unwrap();
    assert_eq!(partial.damaged.len(), 1, "all of it is reported");
    let arrived = start(cut).unwrap();
    let rows = arrived.rect.height;
    assert_eq!(top(&partial.picture, rows), top(&arrived.picture, rows));
    let below = &top(&partial.picture, picture.height())[top(&arrived.picture, rows).len()..];
    assert!(below.iter().all(|&sample| sample == 128));
    // Of several tiles those that are there are exact, and the cut one begins.
    let file = encoder(50).tile_log2(7).encode(&picture).unwrap().bytes;
    let whole = Decoder::new().decode(&file).unwrap();
    let cut = &file[..file.len() / 2];
    let coded = Decoder::new().parse(cut).unwrap();
    let partial = coded.decode_partial().unwrap();
    let missing = (0..coded.grid().count()).filter(|&tile| coded.tile(tile).is_err());
    assert_eq!(partial.damaged.len(), missing.count());
    assert_eq!(top(&partial.picture, 128), top(&whole, 128));
}

#[test]
fn lossless_tiles_have_no_beginning() {
    let file = Encoder::new()
        .effort(1)
        .lossless(true)
        .encode(&large())
        .unwrap()
        .bytes;
    let coded = Decoder::new().parse(&file).unwrap();
    let range = coded.tile_range(0);
    assert!(coded.decode_tile_start(0, &file[range]).unwrap().is_none());
}

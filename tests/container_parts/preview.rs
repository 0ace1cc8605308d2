//! The small picture in front of the large one.

use super::{encoder, synthetic_picture};
use std::io::Cursor;
use tessera_codec::internals::container::{self, Header, TileData, WorkBound};
use tessera_codec::{
    BitDepth, Colour, Decoder, DictId, Dictionary, Encoder, Error, FormatError, MAX_PREVIEW_SIDE,
    Metadata, Picture, PixelFormat, Scale,
};
use tessera_workspace::formats;

fn with_preview(picture: &Picture) -> Vec<u8> {
    encoder(60).preview(true).encode(picture).unwrap().bytes
}

/// Bytes of a file up to the end of its preview.
fn front_len(file: &[u8]) -> usize {
    let coded = Decoder::new().parse(file).unwrap();
    let tiles = coded.tile_range(0).start;
    tiles - coded.header().metadata_len
}

#[test]
fn every_format_has_one_that_looks_like_the_picture() {
    for format in BitDepth::ALL.into_iter().flat_map(formats) {
        let picture = synthetic_picture(300, 120, format);
        let file = with_preview(&picture);
        let preview = Decoder::new().preview(&file).unwrap().unwrap();
        let small = PixelFormat {
            depth: BitDepth::Eight,
            ..format
        };
        assert_eq!(preview.format(), small);
        let side = preview.width();
        assert!(side <= MAX_PREVIEW_SIDE && preview.height() == (side * 120 + 150) / 300);
        assert!(front_len(&file) < 1024 + 40, "{format:?}");
        let whole = Decoder::new().decode(&file).unwrap();
        let scaled = Decoder::new()
            .decode_scaled(&file, Scale::MaxSide(side))
            .unwrap();
        assert!(mean_difference(&preview, &scaled) < 12.0, "{format:?}");
        let plain = encoder(60).encode(&picture).unwrap().bytes;
        assert_eq!(whole, Decoder::new().decode(&plain).unwrap());
        assert_eq!(Decoder::new().preview(&plain).unwrap(), None);
    }
}

/// In units of 8 bits.
fn mean_difference(preview: &Picture, scaled: &Picture) -> f64 {
    let top = f64::from(scaled.format().depth.max_value());
    let difference = |index: usize| {
        let there = f64::from(scaled.samples().get(index)) * 255.0 / top;
        (f64::from(preview.samples().get(index)) - there).abs()
    };
    let count = preview.samples().len();
    (0..count).map(difference).sum::<f64>() / count as f64
}

#[test]
fn the_beginning_of_a_file_is_enough() {
    let file = with_preview(&synthetic_picture(300, 200, PixelFormat::RGB8));
    let end = front_len(&file);
    let whole = Decoder::new().preview(&file).unwrap();
    assert_eq!(Decoder::new().preview(&file[..end]).unwrap(), whole);
    for len in 2..end {
        let error = Decoder::new().preview(&file[..len]).unwrap_err();
        let truncated = matches!(error, Error::Format(FormatError::Truncated { .. }));
        assert!(truncated, "{len} of {end}: {error}");
    }
    let stored = Decoder::new().open(Cursor::new(file.clone())).unwrap();
    assert_eq!(stored.decode_preview().unwrap(), whole);
    // It is a file of its own.
    let cut_out = &stored.preview().unwrap().unwrap();
    assert_eq!(Decoder::new().decode(&cut_out[..]).ok(), whole);
}

#[test]
fn nobody_needs_a_dictionary_to_show_it() {
    let own = Dictionary::builtin();
    let own = own.edited(|parts| parts.provenance = "own".into()).unwrap();
    let picture = synthetic_picture(200, 150, PixelFormat::RGB8);
    let learned = encoder(60).dictionary(own).preview(true);
    let lossless = Encoder::new().effort(1).lossless(true).preview(true);
    for encoder in [learned, lossless] {
        let file = encoder.encode(&picture).unwrap().bytes;
        assert!(Decoder::new().preview(&file).unwrap().is_some());
    }
}

#[test]
fn small_pictures_have_none_and_sizes_count_it() {
    let small = with_preview(&synthetic_picture(100, 90, PixelFormat::RGB8));
    assert_eq!(Decoder::new().preview(&small).unwrap(), None);
    let picture = synthetic_picture(300, 200, PixelFormat::RGB8);
    let sized = Encoder::new().effort(1).target_size(4000).preview(true);
    let file = sized.encode(&picture).unwrap().bytes;
    assert!(file.len() <= 4000);
    assert!(Decoder::new().preview(&file).unwrap().is_some());
}

#[test]
fn damage_hides_nothing_but_itself() {
    let file = with_preview(&synthetic_picture(300, 200, PixelFormat::GRAY8));
    let intact = Decoder::new().decode(&file).unwrap();
    let mut damaged = file.clone();
    damaged[front_len(&file) - 5] ^= 1;
    let part = FormatError::Damaged {
        part: "the preview",
    };
    for outcome in [
        Decoder::new().preview(&damaged).map(drop),
        Decoder::new().decode(&damaged).map(drop),
    ] {
        assert!(matches!(outcome, Err(Error::Format(found)) if found == part));
    }
    let partial = Decoder::new().decode_partial(&damaged).unwrap();
    assert_eq!(partial.picture, intact);
}

/// A file with this preview in front, right checksums all over.
fn file_with(preview: &[u8]) -> Vec<u8> {
    let picture = synthetic_picture(9, 9, PixelFormat::GRAY8);
    let plain = encoder(60).encode(&picture).unwrap().bytes;
    let coded = Decoder::new().parse(&plain).unwrap();
    let tile = TileData {
        colour: coded.tile(0).unwrap().colour().to_vec(),
        alpha: None,
    };
    container::write_with_preview(coded.header().clone(), preview, &[tile])
}

#[test]
fn what_may_not_stand_in_front_is_refused() {
    let encode = |encoder: Encoder, picture: &Picture| encoder.encode(picture).unwrap().bytes;
    let gray = synthetic_picture(40, 30, PixelFormat::GRAY8);
    let right = encode(encoder(60), &gray);
    assert!(Decoder::new().decode(&file_with(&right)).is_ok());
    let mut told = gray.clone();
    told.metadata.icc = Some(vec![1; 9]);
    let edit = |parts: &mut tessera_dict::DictionaryBuilder| parts.provenance = "own".into();
    let own = Dictionary::builtin().edited(edit).unwrap();
    let large = synthetic_picture(257, 2, PixelFormat::GRAY8);
    let deep = PixelFormat {
        depth: BitDepth::Ten,
        ..PixelFormat::GRAY8
    };
    let alpha = PixelFormat {
        alpha: true,
        ..PixelFormat::GRAY8
    };
    let wide = synthetic_picture(70, 70, PixelFormat::GRAY8);
    let nested = file_with(&right);
    let cases = [
        ("too large", encode(encoder(60), &large)),
        ("deep", encode(encoder(60), &synthetic_picture(9, 9, deep))),
        (
            "colour",
            encode(encoder(60), &synthetic_picture(9, 9, PixelFormat::RGB8)),
        ),
        (
            "alpha",
            encode(encoder(60), &synthetic_picture(9, 9, alpha)),
        ),
        ("tiles", encode(encoder(60).tile_log2(6), &wide)),
        ("metadata", encode(encoder(60), &told)),
        ("a preview of its own", nested),
        (
            "a learned dictionary",
            encode(encoder(60).dictionary(own), &gray),
        ),
        ("a byte too many", [&right[..], &[0]].concat()),
        ("a byte too few", right[..right.len() - 1].to_vec()),
        ("no file", b"no picture at all".to_vec()),
    ];
    for (what, preview) in cases {
        let file = file_with(&preview);
        for outcome in [
            Decoder::new().decode(&file).map(drop),
            Decoder::new().preview(&file).map(drop),
        ] {
            assert!(
                matches!(outcome, Err(Error::Format(_))),
                "{what}: {outcome:?}"
            );
        }
    }
}

#[test]
fn claims_of_a_preview_cost_nothing() {
    let header = Header {
        format: PixelFormat {
            colour: Colour::Gray,
            ..PixelFormat::GRAY8
        },
        dictionary: DictId::Builtin(0),
        width: 65535,
        height: 65535,
        tile_log2: 15,
        quantiser: 0,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: false,
        weights: Default::default(),
        alpha_quantiser: None,
        lossless: Some(0),
        tile_work: WorkBound::from_byte(255),
        preview_len: 0,
        metadata_len: 0,
    };
    let huge = container::write(header, &Metadata::default(), &vec![TileData::default(); 4]);
    let error = Decoder::new().preview(&file_with(&huge)).unwrap_err();
    assert!(
        matches!(error, Error::Limits(_) | Error::Format(_)),
        "{error}"
    );
}

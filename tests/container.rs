//! The container around the tile coder: round trips, damage, limits, dictionaries.

#[path = "container_parts/arrival.rs"]
mod arrival;
#[path = "container_parts/preview.rs"]
mod preview;

use std::io::Cursor;
use std::time::Duration;
use tessera_codec::internals::container::{self, Header, TileData, WorkBound};
use tessera_codec::internals::simd;
use tessera_codec::{
    BitDepth, CancelToken, Cicp, Decoder, DictionaryError, Downscaler, Encoded, Encoder, Error,
    Fingerprint, FormatError, Integrity, Limits, Metadata, Picture, PictureInfo, PixelFormat, Rect,
    Samples, Scale, Target, TargetUnreachable, decode, image_io::read_picture,
};
use tessera_dict::{DictId, Dictionary};
use tessera_workspace::{formats, synthetic_picture};

/// Bytes of a file that are not payload, at most, with the built-in dictionary.
const FIXED_COST: usize = 27;

/// Additional bytes that name a learned dictionary.
const IDENTITY_COST: usize = 16;

fn encoder(quantiser: u8) -> Encoder {
    Encoder::new()
        .target(Target::Quantiser(quantiser))
        .effort(1)
}

fn encode(picture: &Picture, quantiser: u8) -> Encoded {
    encoder(quantiser).encode(picture).unwrap()
}

/// Six tiles, alpha, preview and metadata: every structure of the format in one small file.
fn rich_file() -> Vec<u8> {
    let format = PixelFormat {
        alpha: true,
        ..PixelFormat::RGB8
    };
    let mut picture = synthetic_picture(176, 70, format);
    picture.metadata = Metadata {
        icc: Some(vec![7; 40]),
        exif: Some(b"exif".to_vec()),
        cicp: Some(Cicp::new(9, 18, true)),
        ..Metadata::default()
    };
    let encoder = encoder(70).tile_log2(6).preview(true);
    encoder.encode(&picture).unwrap().bytes
}

/// The plain case: one tile, gray, nothing optional.
fn plain_file() -> Vec<u8> {
    encode(&synthetic_picture(9, 7, PixelFormat::GRAY8), 50).bytes
}

fn header(width: u32, height: u32, tile_log2: u8, dictionary: DictId) -> Header {
    Header {
        format: PixelFormat::GRAY8,
        dictionary,
        width,
        height,
        tile_log2,
        quantiser: 60,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: false,
        weights: Default::default(),
        alpha_quantiser: None,
        lossless: None,
        tile_work: WorkBound::at_least(1 << 30),
        preview_len: 0,
        metadata_len: 0,
    }
}

#[test]
fn every_format_and_odd_size_round_trips() {
    for (width, height) in [(1, 1), (1, 9), (13, 1), (17, 11), (65, 3)] {
        for format in BitDepth::ALL.into_iter().flat_map(formats) {
            let picture = synthetic_picture(width, height, format);
            let encoded = encode(&picture, 16);
            let decoded = decode(&encoded.bytes).unwrap();
            assert_eq!(decoded.format(), format);
            assert_eq!((decoded.width(), decoded.height()), (width, height));
            assert_eq!(
                Fingerprint::of(&decoded),
                encoded.measured.unwrap().fingerprint
            );
            let psnr = encoded.psnr().unwrap();
            assert!(psnr > 45.0, "{width}x{height} {format:?}: {psnr}");
        }
    }
}

#[test]
fn the_file_does_not_depend_on_whether_the_outcome_is_wanted() {
    let format = PixelFormat {
        alpha: true,
        ..PixelFormat::RGB8
    };
    let picture = synthetic_picture(90, 70, format);
    for effort in [1, 3] {
        let encoder = encoder(60).effort(effort);
        let unseen = encoder
            .clone()
            .measure_distortion(false)
            .encode(&picture)
            .unwrap();
        assert!(unseen.measured.is_none());
        assert!(unseen.bytes == encoder.encode(&picture).unwrap().bytes);
    }
}

#[test]
fn fixed_cost_is_small() {
    for format in [PixelFormat::GRAY8, PixelFormat::RGB8] {
        let file = encode(&synthetic_picture(200, 150, format), 80).bytes;
        let container = Decoder::new().parse(&file).unwrap();
        let payload = container.tile(0).unwrap().colour().len();
        assert!(file.len() - payload <= FIXED_COST);
    }
    let named = |id| {
        container::write(
            header(200, 150, 10, id),
            &Metadata::default(),
            &[TileData::default()],
        )
        .len()
    };
    let learned = named(DictId::Hash([1; 16]));
    assert_eq!(learned - named(DictId::Builtin(0)), IDENTITY_COST);
    assert!(learned <= FIXED_COST + IDENTITY_COST);
}

#[test]
fn threads_do_not_change_a_bit() {
    let picture = synthetic_picture(150, 70, PixelFormat::RGB8);
    let encode_with = |threads| {
        let encoder = encoder(60).tile_log2(6).threads(threads);
        encoder.encode(&picture).unwrap().bytes
    };
    let file = encode_with(1);
    assert_eq!(file, encode_with(3));
    let decode_with = |threads| Decoder::new().threads(threads).decode(&file).unwrap();
    assert_eq!(decode_with(1), decode_with(3));
}

/// Sums of floats decide what the encoder writes; no instruction set may round them otherwise.
#[test]
fn instruction_sets_do_not_change_a_bit() {
    let photo = include_bytes!("../fixtures/photos/chelsea.png");
    let picture = read_picture(photo).unwrap();
    for effort in [1, 5] {
        let encoder = encoder(60).effort(effort);
        let [plain, vectors] = [true, false].map(|scalar| {
            simd::force_scalar(scalar);
            encoder.encode(&picture).unwrap().bytes
        });
        assert!(plain == vectors, "effort {effort}");
    }
}

/// No mode leaves anything to compare the others with.
#[test]
fn flat_pictures_are_tiny_at_every_effort() {
    for effort in 1..=9 {
        for side in [8, 64, 100] {
            let flat = Picture::gray8(side, side, vec![128; (side * side) as usize]).unwrap();
            let encoder = encoder(60).effort(effort);
            let file = encoder.encode(&flat).unwrap().bytes;
            assert!(
                file.len() <= FIXED_COST + 8,
                "effort {effort}: {}",
                file.len()
            );
            assert_eq!(decode(&file).unwrap().samples(), flat.samples());
        }
    }
}

/// Colour that changes along one axis only, and that luma says nothing about, is predicted along the other one.
#[test]
fn stripes_of_colour_take_few_bits_at_the_default_effort() {
    const SIDE: u32 = 128;
    let stripes = |column: bool| {
        let pixel = |at: u32| {
            let (x, y) = (at % SIDE, at / SIDE);
            let along = if column { x } else { y };
            let tint = (along * along % 61) as f64 - 30.0;
            // Green makes up for what red adds to luma.
            let luma = 120.0 + 20.0 * f64::from((x / 16 + y / 16) % 2);
            [luma + tint, luma - 0.51 * tint, luma].map(|value| value as u8)
        };
        let samples = (0..SIDE * SIDE).flat_map(pixel).collect();
        Picture::rgb8(SIDE, SIDE, samples).unwrap()
    };
    for picture in [stripes(true), stripes(false)] {
        let size = |effort: u8| {
            let encoder = encoder(60).effort(effort);
            encoder.encode(&picture).unwrap().bytes.len()
        };
        // Effort 6 tries every mode.
        let (some, all) = (size(5), size(6));
        assert!(10 * some < 13 * all, "{some} bytes, {all} with every mode");
    }
}

#[test]
fn metadata_is_kept() {
    let decoded = decode(&rich_file()).unwrap();
    assert_eq!(decoded.metadata.icc, Some(vec![7; 40]));
    assert_eq!(decoded.metadata.exif.as_deref(), Some(&b"exif"[..]));
    assert_eq!(decoded.metadata.xmp, None);
    assert_eq!(decoded.metadata.cicp, Some(Cicp::new(9, 18, true)));
}

#[test]
fn opaque_alpha_is_dropped_unless_wanted() {
    let format = PixelFormat {
        alpha: true,
        ..PixelFormat::GRAY8
    };
    let samples = (0..64).flat_map(|v| [v * 3, 255]).collect();
    let picture = Picture::new(8, 8, format, Samples::U8(samples)).unwrap();
    assert!(!decode(&encode(&picture, 40).bytes).unwrap().format().alpha);
    let kept = encoder(40).keep_opaque_alpha(true).encode(&picture);
    let decoded = decode(&kept.unwrap().bytes).unwrap();
    assert!(decoded.format().alpha);
    assert!(decoded.is_opaque());
}

#[test]
fn truncation_at_every_length_is_an_error() {
    for file in [plain_file(), rich_file()] {
        for len in 0..file.len() {
            let error = decode(&file[..len]).unwrap_err();
            assert!(matches!(error, Error::Format(_)), "{len}: {error}");
        }
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for mut file in [plain_file(), rich_file()] {
        for bit in 0..file.len() * 8 {
            file[bit / 8] ^= 1 << (bit % 8);
            assert!(decode(&file).is_err(), "bit {bit}");
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

/// Behind the checksums: damage may decode to something else, but must not panic.
#[test]
fn damage_behind_ignored_checksums_is_harmless() {
    let decoder = Decoder::new().integrity(Integrity::Ignored);
    for (mut file, step) in [(plain_file(), 1), (rich_file(), 61)] {
        for bit in (0..file.len() * 8).step_by(step) {
            file[bit / 8] ^= 1 << (bit % 8);
            let limits = Limits {
                pixels: 1 << 13,
                ..Limits::default()
            };
            let _may_fail = decoder.clone().limits(limits).decode(&file);
            file[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn bytes_after_the_end_are_an_error() {
    for mut file in [plain_file(), rich_file()] {
        file.push(0);
        assert!(decode(&file).is_err());
    }
}

#[test]
fn partial_decode_saves_the_intact_tiles() {
    let file = rich_file();
    let intact = decode(&file).unwrap();
    let last_tile = Rect {
        x: 128,
        y: 64,
        width: 48,
        height: 6,
    };
    // Of the first all but the last bytes of alpha are there.
    let cut = file[..file.len() - 1].to_vec();
    for (damaged, gray) in [(cut, false), (flip_last_byte(&file), true)] {
        let partial = Decoder::new().decode_partial(&damaged).unwrap();
        assert_eq!(partial.damaged.len(), 1);
        assert_eq!(partial.damaged[0].0, last_tile);
        assert_eq!(partial.picture.metadata, intact.metadata);
        assert_same_outside(&partial.picture, &intact, last_tile, gray);
    }
    assert!(
        Decoder::new()
            .decode_partial(&file)
            .unwrap()
            .damaged
            .is_empty()
    );
}

fn flip_last_byte(file: &[u8]) -> Vec<u8> {
    let mut file = file.to_vec();
    *file.last_mut().unwrap() ^= 0xFF;
    file
}

fn assert_same_outside(picture: &Picture, intact: &Picture, lost: Rect, gray: bool) {
    let channels = picture.format().channels();
    let mut lost_differ = 0;
    for index in 0..picture.samples().len() {
        let pixel = (index / channels) as u32;
        let (x, y) = (pixel % picture.width(), pixel / picture.width());
        let same = picture.samples().get(index) == intact.samples().get(index);
        if x >= lost.x && y >= lost.y {
            lost_differ += usize::from(!same);
        } else {
            assert!(same, "pixel {x},{y}");
        }
    }
    assert!(lost_differ > 0 || !gray, "the lost tile must be marked");
}

#[test]
fn region_is_a_crop_and_needs_only_its_tiles() {
    let file = rich_file();
    let whole = decode(&file).unwrap();
    let region = Rect {
        x: 60,
        y: 3,
        width: 15,
        height: 20,
    };
    // The last tile is damaged, but the region does not touch it.
    let part = Decoder::new()
        .decode_region(&flip_last_byte(&file), region)
        .unwrap();
    assert_eq!((part.width(), part.height()), (15, 20));
    let channels = whole.format().channels();
    for index in 0..part.samples().len() {
        let (pixel, channel) = (index / channels, index % channels);
        let (x, y) = (60 + pixel % 15, 3 + pixel / 15);
        let there = whole.samples().get((y * 176 + x) * channels + channel);
        assert_eq!(part.samples().get(index), there);
    }
    let outside = Rect { x: 170, ..region };
    let error = Decoder::new().decode_region(&file, outside).unwrap_err();
    assert!(matches!(error, Error::Parameter(_)));
}

#[test]
fn limits_stop_before_memory_is_taken() {
    let file = plain_file();
    let limited = |limits| Decoder::new().limits(limits).decode(&file).unwrap_err();
    let defaults = Limits::default();
    for limits in [
        Limits {
            pixels: 62,
            ..defaults
        },
        Limits {
            tile_pixels: 62,
            ..defaults
        },
        Limits {
            memory: 100,
            ..defaults
        },
        Limits {
            work: 10,
            ..defaults
        },
    ] {
        assert!(matches!(limited(limits), Error::Limits(_)), "{limits:?}");
    }
}

#[test]
fn a_tiny_file_cannot_claim_a_huge_picture() {
    let metadata = Metadata::default();
    let id = DictId::Builtin(0);
    let one_tile = container::write(
        header(32768, 16384, 15, id),
        &metadata,
        &[TileData::default()],
    );
    assert!(one_tile.len() < 30);
    assert!(matches!(decode(&one_tile), Err(Error::Limits(_))));
    let mut many_tiles = header(8192, 8192, 10, id);
    many_tiles.tile_work = WorkBound::at_least(1 << 22);
    let mut file = container::write(many_tiles, &metadata, &vec![TileData::default(); 64]);
    file.truncate(30);
    let truncated = decode(&file).unwrap_err();
    assert!(matches!(
        truncated,
        Error::Format(FormatError::Truncated { .. })
    ));
}

#[test]
fn stated_work_is_binding() {
    let mut lying = header(64, 64, 10, Dictionary::builtin().id());
    lying.tile_work = WorkBound::at_least(1000);
    let file = container::write(lying, &Metadata::default(), &[TileData::default()]);
    assert!(matches!(decode(&file), Err(Error::Limits(_))));
}

#[test]
fn dictionary_errors_are_told_apart() {
    let header = header(8, 8, 10, DictId::Hash([9; 16]));
    let tiles = [TileData::default()];
    let file = container::write(header.clone(), &Metadata::default(), &tiles);
    let missing = decode(&file).unwrap_err();
    assert!(matches!(
        missing,
        Error::Dictionary(DictionaryError::Missing { id: DictId::Hash(hash) }) if hash == [9; 16]
    ));
    let unknown = container::write(
        Header {
            dictionary: DictId::Builtin(200),
            ..header.clone()
        },
        &Metadata::default(),
        &[TileData::default()],
    );
    assert!(matches!(
        decode(&unknown),
        Err(Error::Dictionary(DictionaryError::UnknownBuiltin(200)))
    ));
    let other = Dictionary::builtin().clone();
    let mismatch = Decoder::new().dictionary(other).decode(&file).unwrap_err();
    assert!(matches!(
        mismatch,
        Error::Dictionary(DictionaryError::Mismatch { .. })
    ));
}

/// An edited copy goes by a name of its own, so files coded with it cannot be taken for files of the original.
#[test]
fn files_of_an_edited_dictionary_are_refused_with_the_unedited_one() {
    let original = Dictionary::untrained();
    let edited = original.edited(|parts| parts.shrinkage = [[0; 3]; 2]);
    let edited = edited.unwrap();
    let picture = synthetic_picture(24, 16, PixelFormat::RGB8);
    let file = encoder(40).dictionary(edited.clone()).encode(&picture);
    let file = file.unwrap().bytes;
    assert!(
        Decoder::new()
            .dictionary(edited.clone())
            .decode(&file)
            .is_ok()
    );
    let refused = Decoder::new().dictionary(original.clone()).decode(&file);
    let named = DictionaryError::Mismatch {
        needed: edited.id(),
        given: original.id(),
    };
    assert_eq!(
        refused.unwrap_err().to_string(),
        Error::from(named).to_string()
    );
}

#[test]
fn size_target_is_met_closely() {
    let picture = synthetic_picture(40, 32, PixelFormat::RGB8);
    let target = |target| encoder(0).target(target).encode(&picture);
    let limit = encode(&picture, 60).bytes.len() as u64;
    let met = target(Target::Size(limit)).unwrap();
    assert!((limit * 95 / 100..=limit).contains(&(met.bytes.len() as u64)));
    assert!(met.quantiser.abs_diff(60) <= 1, "{}", met.quantiser);
    let bpp = limit as f64 * 8.0 / (40.0 * 32.0);
    let by_bpp = target(Target::BitsPerPixel(bpp)).unwrap();
    assert!(by_bpp.bytes.len() as u64 <= limit);
    let Err(Error::TargetUnreachable(TargetUnreachable::Size { asked, least })) =
        target(Target::Size(10))
    else {
        panic!("no picture fits in ten bytes");
    };
    assert!(asked == 10 && (11..limit).contains(&least), "{least}");
}

#[test]
fn psnr_target_is_met_closely() {
    let picture = synthetic_picture(40, 32, PixelFormat::RGB8);
    let target = |decibels| encoder(0).target(Target::Psnr(decibels)).encode(&picture);
    let met = target(38.0).unwrap();
    assert!(
        (38.0..=38.25).contains(&met.psnr().unwrap()),
        "{:?}",
        met.psnr()
    );
    assert!(matches!(target(f64::NAN), Err(Error::Parameter(_))));
}

/// The bytes in the first column of the specification's last table.
fn specification_example() -> Vec<u8> {
    let specification = include_str!("../spec/container.md");
    let (_, example) = specification.split_once("## A file, byte by byte").unwrap();
    let cells = example.lines().filter_map(|line| line.strip_prefix("| `"));
    cells
        .flat_map(|cell| cell.split('`').next().unwrap().split(' '))
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

#[test]
fn the_specification_example_is_what_it_says() {
    let file = specification_example();
    let container = Decoder::new().parse(&file).unwrap();
    container.check().unwrap();
    assert_eq!(container.tile(0).unwrap().colour(), [0x5A, 0xA5]);
    let mut expected = header(3, 1, 10, DictId::Builtin(6));
    expected.quantiser = 40;
    expected.tile_work = WorkBound::at_least(19);
    assert_eq!(container.header(), &expected);
    let tile = TileData {
        colour: vec![0x5A, 0xA5],
        alpha: None,
    };
    assert_eq!(
        container::write(expected, &Metadata::default(), &[tile]),
        file
    );
}

/// Scaled decoding by bands gives what scaling the whole picture gives.
#[test]
fn scaled_pictures_are_means_of_the_decoded_one() {
    for format in formats(BitDepth::Ten).chain(formats(BitDepth::Eight)) {
        let picture = synthetic_picture(150, 70, format);
        let file = encoder(60).tile_log2(6).encode(&picture).unwrap().bytes;
        let whole = decode(&file).unwrap();
        for scale in [
            Scale::Half,
            Scale::Quarter,
            Scale::Eighth,
            Scale::MaxSide(31),
        ] {
            let mut scaler = Downscaler::new(PictureInfo::from(&whole), scale).unwrap();
            let expected = scaler.push(&whole).unwrap().unwrap();
            let found = Decoder::new().threads(1).decode_scaled(&file, scale);
            assert_eq!(found.unwrap().samples(), expected.samples(), "{scale:?}");
        }
    }
}

/// Readers give what slices give.
#[test]
fn readers_and_writers_are_as_good_as_slices() {
    let picture = synthetic_picture(100, 90, PixelFormat::RGB8);
    let mut written = Vec::new();
    let encoder = encoder(50).tile_log2(6);
    let encoded = encoder.encode_to(&picture, &mut written).unwrap();
    assert_eq!(written, encoded.bytes);
    let coded = Decoder::new().open(Cursor::new(written)).unwrap();
    assert_eq!(coded.decode().unwrap(), decode(&encoded.bytes).unwrap());
    assert_eq!(coded.info(), PictureInfo::from(&picture));
}

#[test]
fn cancelled_work_stops_with_its_own_error() {
    let picture = synthetic_picture(200, 200, PixelFormat::GRAY8);
    let file = encoder(60).tile_log2(6).encode(&picture).unwrap().bytes;
    let late = CancelToken::after(Duration::ZERO);
    let decoded = Decoder::new().cancel(&late).decode(&file);
    assert!(matches!(decoded, Err(Error::Cancelled)));
    let damaged = Decoder::new().cancel(&late).decode_partial(&file);
    assert!(matches!(damaged, Err(Error::Cancelled)), "no damage either");
    // After the first tile.
    let token = CancelToken::new();
    let stop = token.clone();
    let encoder = encoder(60).tile_log2(6).cancel(&token);
    let stopped = encoder.on_tile(move |_| stop.cancel()).encode(&picture);
    assert!(matches!(stopped, Err(Error::Cancelled)));
}

#[test]
fn settings_out_of_range_are_named() {
    let picture = synthetic_picture(8, 8, PixelFormat::GRAY8);
    for (encoder, range) in [
        (Encoder::new().quality(101), "0 to 100"),
        (Encoder::new().effort(0), "1 to 9"),
        (Encoder::new().effort(10), "1 to 9"),
        (Encoder::new().tile_log2(5), "2^6 to 2^15"),
    ] {
        let error = encoder.encode(&picture).unwrap_err();
        assert!(matches!(error, Error::Parameter(_)));
        assert!(error.to_string().contains(range), "{error}");
    }
}

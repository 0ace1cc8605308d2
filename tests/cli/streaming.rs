//! Pictures that pass through in bands of rows: the same files and pixels as when they are in memory.

use crate::pictures::open;
use image::{DynamicImage, ImageFormat};
use std::fs;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tessera_codec::image_io::{ReadImageError, open_picture, read_picture};
use tessera_codec::{
    Band, BitDepth, Decoder, Encoder, Error, Picture, PixelFormat, Rect, Samples, StoredFile,
    Target,
};

const WIDTH: u32 = 100;
const HEIGHT: u32 = 150;

/// Every kind of picture that is read and written row by row.
fn images() -> Vec<DynamicImage> {
    let rgba = image::RgbaImage::from_fn(WIDTH, HEIGHT, |x, y| {
        image::Rgba([x as u8, y as u8, (x * y / 50) as u8, 255 - (x / 3) as u8])
    });
    let rgba = DynamicImage::from(rgba);
    vec![
        rgba.to_luma8().into(),
        rgba.to_luma_alpha8().into(),
        rgba.to_rgb8().into(),
        rgba.to_luma16().into(),
        rgba.to_luma_alpha16().into(),
        rgba.to_rgb16().into(),
        rgba.to_rgba16().into(),
        rgba,
    ]
}

fn png(image: &DynamicImage) -> Vec<u8> {
    let mut file = Cursor::new(Vec::new());
    image.write_to(&mut file, ImageFormat::Png).unwrap();
    file.into_inner()
}

/// Graymap or pixmap, with a comment in its header.
fn pnm(picture: &Picture) -> Vec<u8> {
    let kind = 4 + picture.format().channels() / 2 + 1;
    let (largest, samples): (u16, Vec<u8>) = match picture.samples() {
        Samples::U8(samples) => (255, samples.clone()),
        Samples::U16(samples) => (
            65535,
            samples.iter().flat_map(|s| s.to_be_bytes()).collect(),
        ),
    };
    let mut file = format!("P{kind}\n# made by a test\n{WIDTH} {HEIGHT}\n{largest}\n").into_bytes();
    file.extend(samples);
    file
}

fn encoder() -> Encoder {
    Encoder::new()
        .target(Target::Quantiser(70))
        .effort(1)
        .tile_log2(6)
}

#[test]
fn rows_are_those_of_the_image_crate() {
    for image in images() {
        let expected = Picture::try_from(image.clone()).unwrap();
        let file = png(&image);
        assert_eq!(read_picture(&file).unwrap(), expected);
        let mut source = open_picture(file.as_slice()).unwrap();
        assert_eq!(source.info().height(), HEIGHT);
        let mut heights = Vec::new();
        while heights.iter().sum::<u32>() < HEIGHT {
            heights.push(source.next_rows(64).unwrap().height());
        }
        assert_eq!(heights, [64, 64, 22]);
    }
}

#[test]
fn palettes_and_few_bits_are_expanded() {
    let write = |colour: png::ColorType, depth: png::BitDepth, data: &[u8]| {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, 4, 2);
        encoder.set_color(colour);
        encoder.set_depth(depth);
        if colour == png::ColorType::Indexed {
            encoder.set_palette(vec![9, 8, 7, 200, 100, 0]);
            encoder.set_trns(vec![255, 17]);
        }
        let mut writer = encoder.write_header().unwrap();
        writer.write_image_data(data).unwrap();
        writer.finish().unwrap();
        file
    };
    let files = [
        write(
            png::ColorType::Indexed,
            png::BitDepth::One,
            &[0b0110_0000, 0b1000_0000],
        ),
        write(
            png::ColorType::Grayscale,
            png::BitDepth::One,
            &[0b0110_0000, 0b1000_0000],
        ),
        write(
            png::ColorType::Grayscale,
            png::BitDepth::Four,
            &[0x1F, 0x80, 0x73, 0x00],
        ),
    ];
    for file in files {
        let expected = image::load_from_memory(&file).unwrap();
        assert_eq!(
            read_picture(&file).unwrap(),
            Picture::try_from(expected).unwrap()
        );
    }
}

#[test]
fn streamed_and_whole_pictures_give_the_same_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("picture");
    for image in images() {
        let picture = Picture::try_from(image.clone()).unwrap();
        let mut files = vec![png(&image)];
        if !picture.format().alpha {
            files.push(pnm(&picture));
        }
        let expected = encoder().encode(&picture).unwrap();
        for file in files {
            fs::write(&path, &file).unwrap();
            for threads in [1, 3] {
                let mut source = open_picture(path.as_path()).unwrap();
                let streamed = encoder()
                    .threads(threads)
                    .encode_rows(&mut *source)
                    .unwrap();
                assert!(streamed.bytes == expected.bytes, "{:?}", picture.format());
                assert_eq!(streamed.measured, expected.measured);
            }
        }
    }
}

#[test]
fn targets_and_opaque_alpha_read_the_source_again() {
    let opaque = image::RgbaImage::from_fn(WIDTH, HEIGHT, |x, y| {
        image::Rgba([x as u8, y as u8, 0, 255])
    });
    let image = DynamicImage::from(opaque);
    let picture = Picture::try_from(image.clone()).unwrap();
    let encoder = encoder().target(Target::Size(800));
    let expected = encoder.encode(&picture).unwrap();
    let file = png(&image);
    let mut source = open_picture(file.as_slice()).unwrap();
    let streamed = encoder.encode_rows(&mut *source).unwrap();
    assert_eq!(streamed.bytes, expected.bytes);
    let header = Decoder::new()
        .parse(&streamed.bytes)
        .unwrap()
        .header()
        .clone();
    assert!(!header.format.alpha);
}

#[test]
fn bands_add_up_to_the_picture() {
    for image in images() {
        let file = encoder()
            .encode(&Picture::try_from(image).unwrap())
            .unwrap()
            .bytes;
        let decoder = Decoder::new().threads(1);
        let whole = decoder.decode(&file).unwrap();
        let coded = decoder.parse(&file).unwrap();
        let bands = coded.bands(coded.rect()).unwrap();
        let bands: Vec<Band> = bands.map(Result::unwrap).collect();
        assert!(bands.len() > 2);
        let mut at = 0;
        for band in bands {
            let rows = band.intact().unwrap();
            let len = rows.samples().len();
            assert!((0..len).all(|i| rows.samples().get(i) == whole.samples().get(at + i)));
            at += len;
        }
        assert_eq!(at, whole.samples().len());
    }
}

#[test]
fn regions_of_stored_files_read_only_their_tiles() {
    let picture = Picture::try_from(images().remove(2)).unwrap();
    let file = encoder().encode(&picture).unwrap().bytes;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.tsr");
    // Without the last tiles the first ones are all that could be read.
    fs::write(&path, &file[..file.len() / 2]).unwrap();
    let stored = StoredFile::open(&path).unwrap();
    let region = Rect {
        x: 3,
        y: 5,
        width: 60,
        height: 50,
    };
    let decoder = Decoder::new();
    assert_eq!(
        decoder.decode_region(&stored, region).unwrap(),
        decoder.decode_region(&file, region).unwrap()
    );
    assert!(matches!(decoder.decode(&stored), Err(Error::Format(_))));
    fs::write(&path, &file).unwrap();
    let stored = StoredFile::open(&path).unwrap();
    assert_eq!(
        decoder.decode(&stored).unwrap(),
        decoder.decode(&file).unwrap()
    );
}

#[test]
fn cut_off_inputs_are_errors_wherever_they_end() {
    let image = images().remove(5);
    let picture = Picture::try_from(image.clone()).unwrap();
    for file in [png(&image), pnm(&picture)] {
        for len in (1..file.len() - 20).step_by(file.len() / 40) {
            let cut = &file[..len];
            let streamed =
                open_picture(cut).and_then(|mut source| Ok(encoder().encode_rows(&mut *source)?));
            assert!(
                streamed.is_err() && read_picture(cut).is_err(),
                "{len} of {}",
                file.len()
            );
        }
    }
    assert!(matches!(
        read_picture(b"P6 9 9 255\n"),
        Err(ReadImageError::Codec(Error::Input(_)))
    ));
}

fn tessera(arguments: &[&str], input: &Path, output: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tessera"));
    command.args(arguments).arg(input).arg("-o").arg(output);
    command.output().unwrap()
}

/// Decodes by the command to every format and depth; what comes out is what the library decodes.
#[test]
fn outputs_hold_the_decoded_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: String| -> PathBuf { folder.path().join(name) };
    for (number, image) in images().into_iter().enumerate() {
        let file = encoder()
            .encode(&Picture::try_from(image).unwrap())
            .unwrap()
            .bytes;
        let coded = path(format!("{number}.tsr"));
        fs::write(&coded, &file).unwrap();
        let expected = DynamicImage::from(Decoder::new().decode(&file).unwrap());
        for extension in ["png", "pam", "tiff"] {
            let decoded = path(format!("{number}.{extension}"));
            let result = tessera(&["decode"], &coded, &decoded);
            assert!(
                result.status.success(),
                "{}",
                String::from_utf8_lossy(&result.stderr)
            );
            let found = open(&decoded);
            // TIFF has no gray with alpha.
            let same = found == expected || found.to_rgba16() == expected.to_rgba16();
            assert!(same, "{}", decoded.display());
        }
    }
}

#[test]
fn graymaps_and_pixmaps_are_written_as_such() {
    let folder = tempfile::tempdir().unwrap();
    let coded = folder.path().join("a.tsr");
    for (image, ending, magic) in [
        (0, "pnm", "P5\n100 150\n255\n"),
        (5, "pnm", "P6\n100 150\n65535\n"),
        (0, "ppm", "P6\n100 150\n255\n"),
        (5, "ppm", "P6\n100 150\n65535\n"),
        (0, "pgm", "P5\n100 150\n255\n"),
        (1, "pam", "P7\n"),
    ] {
        let decoded = coded.with_extension(ending);
        let picture = Picture::try_from(images().remove(image)).unwrap();
        fs::write(&coded, encoder().encode(&picture).unwrap().bytes).unwrap();
        assert!(
            tessera(&["decode", "--force"], &coded, &decoded)
                .status
                .success()
        );
        assert!(fs::read(&decoded).unwrap().starts_with(magic.as_bytes()));
    }
}

#[test]
fn ten_bits_become_sixteen() {
    let format = PixelFormat {
        depth: BitDepth::Ten,
        ..PixelFormat::GRAY8
    };
    let samples = (0..WIDTH * HEIGHT).map(|i| (i % 1024) as u16).collect();
    let picture = Picture::new(WIDTH, HEIGHT, format, Samples::U16(samples)).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (coded, decoded) = (folder.path().join("a.tsr"), folder.path().join("a.png"));
    let file = encoder().encode(&picture).unwrap().bytes;
    fs::write(&coded, &file).unwrap();
    assert!(tessera(&["decode"], &coded, &decoded).status.success());
    let expected = DynamicImage::from(Decoder::new().decode(&file).unwrap());
    assert_eq!(open(&decoded), expected);
}

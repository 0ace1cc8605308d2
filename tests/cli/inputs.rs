//! Pictures in every format that is read: the right pixels, the right way up, with their metadata,
//! and a warning for what was changed or left out.

use crate::inputs_support::{HEIGHT, Run, WIDTH, encode, file, picture, tiff, tiff_pages, written};
use image::codecs::gif::GifEncoder;
use image::{DynamicImage, ImageFormat, RgbImage, RgbaImage};
use jpeg_encoder::{ColorType, Encoder};
use tessera_codec::image_io::{
    ReadImageError, ReadOptions, open_picture_with, read_picture, to_dynamic_image,
};
use tessera_codec::{Colour, Samples};

const USAGE: i32 = 2;

/// What a file is read as.
fn read(file: &[u8]) -> DynamicImage {
    to_dynamic_image(read_picture(file).unwrap())
}

/// What one page or frame of a file is read as.
fn read_page(file: &[u8], page: u32) -> Result<DynamicImage, ReadImageError> {
    let options = ReadOptions { page: Some(page) };
    let mut opened = open_picture_with(file, options)?;
    assert_eq!(opened.warnings, [""; 0], "whoever chooses knows");
    let height = opened.source.info().height();
    Ok(to_dynamic_image(
        opened.source.next_rows(height)?.into_owned(),
    ))
}

/// Encoding works and says each of the words.
fn warned(file: &[u8], words: &[&str]) {
    let Run {
        code,
        message,
        coded,
    } = encode(file, &[]);
    assert_eq!(code, Some(0), "{message}");
    assert!(coded.is_some());
    let warning = message
        .lines()
        .find(|line| line.starts_with("tessera: warning: "));
    let warning = warning.unwrap_or_else(|| panic!("no warning in {message}"));
    assert!(warning.contains("input: "), "{warning}");
    assert!(words.iter().all(|word| warning.contains(word)), "{warning}");
    let quiet = encode(file, &["--quiet"]);
    assert_eq!((quiet.code, quiet.message.as_str()), (Some(0), ""));
}

fn largest_difference(a: &DynamicImage, b: &RgbImage) -> u8 {
    let a = a.to_rgb8();
    assert_eq!(a.dimensions(), b.dimensions());
    let pairs = a.as_raw().iter().zip(b.as_raw());
    pairs.map(|(a, b)| a.abs_diff(*b)).max().unwrap()
}

#[test]
fn formats_without_loss_are_read_exactly() {
    let formats = [
        ImageFormat::Png,
        ImageFormat::WebP,
        ImageFormat::Bmp,
        ImageFormat::Tiff,
        ImageFormat::Qoi,
        ImageFormat::Pnm,
    ];
    for format in formats {
        assert_eq!(read(&file(format)).to_rgb8(), picture(), "{format:?}");
        assert_eq!(encode(&file(format), &[]).code, Some(0), "{format:?}");
    }
}

#[test]
fn targa_is_known_by_its_footer_and_padding_is_no_alpha() {
    let with_alpha = RgbaImage::from_pixel(5, 4, image::Rgba([9, 8, 7, 0]));
    let mut targa = written(&DynamicImage::from(with_alpha), ImageFormat::Tga);
    assert!(
        read_picture(&targa).is_err(),
        "nothing says that this is a picture"
    );
    targa.extend([0; 8]);
    targa.extend(b"TRUEVISION-XFILE.\0");
    assert!(read_picture(&targa).unwrap().format().alpha);
    targa[17] &= 0xF0;
    let picture = read_picture(&targa).unwrap();
    assert!(!picture.format().alpha);
    assert_eq!(picture.samples().get(0), 9);
}

/// Two frames, the second darker.
fn two_frames() -> [RgbaImage; 2] {
    let first = DynamicImage::from(picture()).to_rgba8();
    let mut second = first.clone();
    second.pixels_mut().for_each(|pixel| pixel.0[2] = 0);
    [first, second]
}

fn gif(frames: &[RgbaImage]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = GifEncoder::new_with_speed(&mut file, 1);
    let frames = frames.iter().cloned().map(image::Frame::new);
    encoder.encode_frames(frames).unwrap();
    drop(encoder);
    file
}

fn apng(frames: &[RgbaImage]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, WIDTH, HEIGHT);
    encoder.set_color(png::ColorType::Rgba);
    encoder.set_animated(frames.len() as u32, 0).unwrap();
    let mut writer = encoder.write_header().unwrap();
    for frame in frames {
        writer.write_image_data(frame.as_raw()).unwrap();
    }
    writer.finish().unwrap();
    file
}

/// A chunk of a RIFF file.
fn riff_chunk(name: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut chunk = name.to_vec();
    chunk.extend((content.len() as u32).to_le_bytes());
    chunk.extend(content);
    chunk.resize(chunk.len().next_multiple_of(2), 0);
    chunk
}

/// A WebP file of chunks behind the one that announces `features`.
fn webp(features: u8, chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut content = b"WEBP".to_vec();
    let sides = [WIDTH as u8 - 1, 0, 0, HEIGHT as u8 - 1, 0, 0];
    content.extend(riff_chunk(
        b"VP8X",
        &[&[features, 0, 0, 0][..], &sides].concat(),
    ));
    content.extend(chunks.concat());
    riff_chunk(b"RIFF", &content)
}

fn animated_webp(frames: &[RgbaImage]) -> Vec<u8> {
    let mut chunks = vec![riff_chunk(b"ANIM", &[0; 6])];
    for frame in frames {
        let still = written(&DynamicImage::from(frame.clone()), ImageFormat::WebP);
        let sides = [WIDTH as u8 - 1, 0, 0, HEIGHT as u8 - 1, 0, 0];
        let head = [&[0; 6][..], &sides, &[100, 0, 0, 0]].concat();
        chunks.push(riff_chunk(b"ANMF", &[&head, &still[12..]].concat()));
    }
    webp(0b10, &chunks)
}

#[test]
fn of_an_animation_one_frame_is_taken() {
    let frames = two_frames();
    for make in [gif, apng, animated_webp] {
        let file = make(&frames);
        warned(&file, &["animation", "first frame", "--frame N"]);
        let red = |image: DynamicImage| image.to_rgba8().get_pixel(10, 6).0[2];
        assert!(red(read(&file)).abs_diff(90) < 4);
        assert!(red(read_page(&file, 1).unwrap()).abs_diff(90) < 4);
        assert!(red(read_page(&file, 2).unwrap()) < 4);
        assert!(matches!(
            read_page(&file, 3),
            Err(ReadImageError::NoSuchPage {
                wanted: 3,
                present: 2
            })
        ));
        let Run { code, message, .. } = encode(&file, &["--frame", "3"]);
        assert_eq!(code, Some(USAGE), "{message}");
        assert!(message.contains("holds 2"), "{message}");
        let still = make(&frames[..1]);
        let Run { code, message, .. } = encode(&still, &[]);
        assert_eq!(code, Some(0), "{message}");
        assert!(!message.contains("warning"), "{message}");
    }
}

#[test]
fn a_page_that_is_not_there_is_wrong_usage() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Pnm] {
        let Run { code, message, .. } = encode(&file(format), &["--page", "2"]);
        assert_eq!(code, Some(USAGE), "{message}");
        assert_eq!(encode(&file(format), &["--page", "1"]).code, Some(0));
    }
}

/// EXIF that says how the picture is turned.
fn exif(orientation: u8) -> Vec<u8> {
    let mut exif = b"II\x2A\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0".to_vec();
    exif.extend([orientation, 0, 0, 0, 0, 0, 0, 0]);
    exif
}

/// The file is turned by a quarter, once, and says afterwards that it is upright.
fn assert_turned(file: &[u8]) {
    let expected = image::imageops::rotate90(&picture());
    let read = read_picture(file).unwrap();
    let exif_after = read.metadata.exif.clone();
    assert!(exif_after.is_none_or(|after| after == exif(1)));
    assert_eq!(to_dynamic_image(read).to_rgb8(), expected);
}

#[test]
fn webp_is_turned_by_its_exif_with_and_without_prefix() {
    let still = file(ImageFormat::WebP);
    for prefix in [&b"Exif\0\0"[..], b""] {
        let exif = riff_chunk(b"EXIF", &[prefix, &exif(6)].concat());
        assert_turned(&webp(0b1000, &[still[12..].to_vec(), exif]));
    }
}

/// Puts a chunk into a PNG, `from_end` bytes before its end.
fn with_chunk(from_end: usize, kind: &[u8; 4], content: &[u8]) -> Vec<u8> {
    let mut png = file(ImageFormat::Png);
    let chunk = [&kind[..], content].concat();
    let mut whole = (content.len() as u32).to_be_bytes().to_vec();
    whole.extend(&chunk);
    whole.extend(crc32(&chunk).to_be_bytes());
    let at = png.len() - from_end;
    png.splice(at..at, whole);
    png
}

fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ if crc & 1 != 0 { 0xEDB8_8320 } else { 0 }
        })
    })
}

#[test]
fn png_is_turned_by_exif_anywhere_by_text_and_by_xmp() {
    const END_LEN: usize = 12;
    let png_len = file(ImageFormat::Png).len();
    let behind_header = png_len - 33;
    assert_turned(&with_chunk(behind_header, b"eXIf", &exif(6)));
    assert_turned(&with_chunk(END_LEN, b"eXIf", &exif(6)));
    let digits: String = exif(6).iter().map(|byte| format!("{byte:02x}")).collect();
    let text = format!(
        "Raw profile type exif\0\nexif\n{:8}\n{digits}\n",
        digits.len() / 2
    );
    assert_turned(&with_chunk(END_LEN, b"tEXt", text.as_bytes()));
    let xmp = b"XML:com.adobe.xmp\0\0\0\0\0<x tiff:Orientation=\"6\"/>";
    assert_turned(&with_chunk(END_LEN, b"iTXt", xmp));
}

/// Tags of an RGB page of 8-bit samples.
const RGB_PAGE: [(u16, u16, &[u32]); 5] = [
    (256, 3, &[WIDTH]),
    (257, 3, &[HEIGHT]),
    (258, 3, &[8, 8, 8]),
    (262, 3, &[2]),
    (277, 3, &[3]),
];

fn rgb_page<'a>(more: &[(u16, u16, &'a [u32])]) -> Vec<(u16, u16, &'a [u32])> {
    [&RGB_PAGE[..], more].concat()
}

#[test]
fn tiff_of_two_pages() {
    let pixels = picture().into_raw();
    let dark = vec![0; pixels.len()];
    let tags = rgb_page(&[]);
    let file = tiff_pages(&[(&tags, &[&pixels]), (&tags, &[&dark])]);
    warned(&file, &["several pages", "--page N"]);
    assert_eq!(read(&file).to_rgb8(), picture());
    assert_eq!(read_page(&file, 2).unwrap().to_rgb8().into_raw(), dark);
    assert!(read_page(&file, 3).is_err());
}

#[test]
fn tiff_in_planes_and_tiles() {
    let rgb = picture();
    let plane = |channel: usize| -> Vec<u8> { rgb.pixels().map(|p| p.0[channel]).collect() };
    let planes = [0, 1, 2].map(plane);
    let strips: Vec<&[u8]> = planes.iter().map(Vec::as_slice).collect();
    let planar = rgb_page(&[(284, 3, &[2])]);
    assert_eq!(read(&tiff(&planar, &strips)).to_rgb8(), rgb);
    // Tiles of 16 x 16: two across, and both stick out.
    let tile = |plane: &[u8], left: usize| -> Vec<u8> {
        let at = |x: usize, y: usize| plane.get(y * WIDTH as usize + left + x).copied();
        (0..256).map(|i| at(i % 16, i / 16).unwrap_or(0)).collect()
    };
    let tiles: Vec<Vec<u8>> = planes
        .iter()
        .flat_map(|plane| [tile(plane, 0), tile(plane, 16)])
        .collect();
    let tiles: Vec<&[u8]> = tiles.iter().map(Vec::as_slice).collect();
    let tiled = rgb_page(&[(284, 3, &[2]), (322, 3, &[16]), (323, 3, &[16])]);
    assert_eq!(read(&tiff(&tiled, &tiles)).to_rgb8(), rgb);
    assert!(read_picture(&tiff(&tiled, &tiles[..5])).is_err());
}

#[test]
fn tiff_with_the_first_pixel_in_the_lowest_bits() {
    let reversed: Vec<u8> = picture()
        .into_raw()
        .iter()
        .map(|v| v.reverse_bits())
        .collect();
    let tags = rgb_page(&[(266, 3, &[2])]);
    assert_eq!(read(&tiff(&tags, &[&reversed])).to_rgb8(), picture());
}

#[test]
fn tiff_colours_are_divided_by_associated_alpha() {
    let pixel = [50, 100, 0, 128, 10, 20, 30, 255, 0, 0, 0, 0];
    let tags = |kind| -> Vec<(u16, u16, &'static [u32])> {
        vec![
            (256, 3, &[3]),
            (257, 3, &[1]),
            (258, 3, &[8, 8, 8, 8]),
            (262, 3, &[2]),
            (277, 3, &[4]),
            (338, 3, kind),
        ]
    };
    let associated = read(&tiff(&tags(&[1]), &[&pixel])).to_rgba8().into_raw();
    assert_eq!(associated, [100, 199, 0, 128, 10, 20, 30, 255, 0, 0, 0, 0]);
    let plain = read(&tiff(&tags(&[2]), &[&pixel])).to_rgba8().into_raw();
    assert_eq!(plain, pixel);
    let unknown = tiff(&tags(&[0]), &[&pixel]);
    assert!(!read_picture(&unknown).unwrap().format().alpha);
    warned(&unknown, &["extra channels", "left out"]);
}

#[test]
fn tiff_keeps_a_profile_of_any_type() {
    let profile = [7u32; 130];
    for kind in [1, 7] {
        let tags = rgb_page(&[(34675, kind, &profile)]);
        let read = read_picture(&tiff(&tags, &[&picture().into_raw()])).unwrap();
        assert_eq!(read.metadata.icc, Some(vec![7; 130]));
    }
}

#[test]
fn tiff_of_few_bits() {
    let tags = |bits, photometric| -> Vec<(u16, u16, &'static [u32])> {
        vec![
            (256, 3, &[4]),
            (257, 3, &[1]),
            (258, 3, bits),
            (262, 3, photometric),
            (277, 3, &[1]),
        ]
    };
    let gray = |file: &[u8]| read_picture(file).unwrap().into_samples();
    let four = tiff(&tags(&[4], &[1]), &[&[0x0F, 0x5A]]);
    assert_eq!(gray(&four), Samples::U8(vec![0, 255, 85, 170]));
    let white_is_zero = tiff(&tags(&[2], &[0]), &[&[0b0001_1011]]);
    assert_eq!(gray(&white_is_zero), Samples::U8(vec![255, 170, 85, 0]));
    let twelve = tiff(&tags(&[12], &[1]), &[&[0, 0x0F, 0xFF, 0x80, 0, 0]]);
    assert_eq!(gray(&twelve), Samples::U16(vec![0, 65535, 32776, 0]));
    let mut palette = tags(&[1], &[3]);
    palette.push((320, 3, &[0xFFFF, 0, 0x8000, 0, 0, 0x4000]));
    let picture = read_picture(&tiff(&palette, &[&[0b0100_0000]])).unwrap();
    assert_eq!(picture.format().colour, Colour::Rgb);
    assert_eq!(&gray_start(&picture), &[255, 128, 0, 0, 0, 64]);
}

fn gray_start(picture: &tessera_codec::Picture) -> Vec<u16> {
    (0..6).map(|at| picture.samples().get(at)).collect()
}

#[test]
fn tiff_in_print_colours_and_lab() {
    let tags = |photometric, bits, samples| -> Vec<(u16, u16, &'static [u32])> {
        vec![
            (256, 3, &[2]),
            (257, 3, &[1]),
            (258, 3, bits),
            (262, 3, photometric),
            (277, 3, samples),
        ]
    };
    let cmyk = tiff(
        &tags(&[5], &[8, 8, 8, 8], &[4]),
        &[&[0, 255, 0, 0, 0, 0, 0, 255]],
    );
    assert_eq!(read(&cmyk).to_rgb8().into_raw(), [255, 0, 255, 0, 0, 0]);
    warned(&cmyk, &["CMYK", "plain formula"]);
    let lab = tiff(&tags(&[8], &[8, 8, 8], &[3]), &[&[255, 0, 0, 0, 0, 0]]);
    assert!(
        read(&lab)
            .to_rgb8()
            .into_raw()
            .iter()
            .zip([255, 255, 255, 0, 0, 0])
            .all(|(a, b)| a.abs_diff(b) < 2)
    );
    warned(&lab, &["Lab"]);
}

#[test]
fn jpeg_in_print_colours() {
    let inks: Vec<u8> = (0..16 * 16).flat_map(|_| [255, 0, 255, 0]).collect();
    for colours in [ColorType::Cmyk, ColorType::CmykAsYcck] {
        let mut file = Vec::new();
        Encoder::new(&mut file, 95)
            .encode(&inks, 16, 16, colours)
            .unwrap();
        let rgb = read(&file).to_rgb8();
        let green = image::RgbImage::from_pixel(16, 16, image::Rgb([0, 255, 0]));
        assert!(
            largest_difference(&rgb.clone().into(), &green) < 6,
            "{:?}",
            rgb.get_pixel(8, 8)
        );
        warned(&file, &["CMYK", "plain formula"]);
    }
}

#[test]
fn jpeg_2000_with_and_without_container() {
    let picture_files = [
        include_bytes!("fixtures/picture.jp2").as_slice(),
        include_bytes!("fixtures/picture.j2k"),
    ];
    for file in picture_files {
        assert!(largest_difference(&read(file), &picture()) < 2);
        assert_eq!(encode(file, &[]).code, Some(0));
        let cut = &file[..file.len() - 20];
        assert!(matches!(
            read_picture(cut),
            Err(ReadImageError::Truncated(_))
        ));
    }
    let deep = read_picture(include_bytes!("fixtures/deep.jp2")).unwrap();
    let row: Vec<u16> = (0..WIDTH as usize).map(|x| deep.samples().get(x)).collect();
    let expected: Vec<u16> = (0..WIDTH as u16).map(|x| x * 12 * 257).collect();
    assert_eq!(row, expected);
}

#[test]
fn avif_with_alpha_and_turned_by_its_container() {
    let turned = include_bytes!("fixtures/turned.avif");
    let upright = image::imageops::rotate90(&picture());
    assert!(largest_difference(&read(turned), &upright) < 16);
    assert_eq!(encode(turned, &[]).code, Some(0));
    let with_alpha = read(include_bytes!("fixtures/alpha.avif"));
    assert!(largest_difference(&with_alpha, &picture()) < 6);
    let alpha = with_alpha.to_rgba8().get_pixel(10, 6).0[3];
    assert!(alpha.abs_diff(128) < 4, "{alpha}");
    for cut in 0..turned.len() {
        assert!(read_picture(&turned[..cut]).is_err(), "{cut}");
    }
}

//! Streams of the built-in dictionary, one for every corner of the format, and the specification's example.

use super::{Stream, example_page, write_streams};
use crate::conformance::support::folder;
use anyhow::{Context, Result, ensure};
use std::collections::BTreeSet;
use std::fs;
use tessera_codec::internals::container::{self, Header, TileData, WorkBound, tile_work};
use tessera_codec::internals::stages;
use tessera_codec::internals::tile::WeightCurve;
use tessera_codec::internals::tile::trace::Event;
use tessera_codec::{
    BitDepth, Cicp, Decoder, Encoder, GainMap, Metadata, Picture, PixelFormat, Samples, Target,
    Tune,
};
use tessera_dict::{Dictionary, PlaneKind};

/// Writes the streams and the page about one of them.
pub(super) fn write() -> Result<()> {
    let mut streams = pictures()?;
    add_noises(&mut streams)?;
    streams.push(example()?);
    let folder = folder();
    write_streams(&folder, &streams, &Decoder::new())?;
    let page = example_page::render(&fs::read(folder.join(example_page::FILE))?);
    fs::write(folder.join("../../spec/example.md"), page)?;
    Ok(())
}

/// Pseudo-random numbers that are the same everywhere.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as u32
    }
}

const RGB: PixelFormat = PixelFormat::RGB8;
const GRAY: PixelFormat = PixelFormat::GRAY8;

fn with_alpha(format: PixelFormat) -> PixelFormat {
    PixelFormat {
        alpha: true,
        ..format
    }
}

fn deep(format: PixelFormat, depth: BitDepth) -> PixelFormat {
    PixelFormat { depth, ..format }
}

/// Slopes, stripes in a direction that turns along the picture, an edge and some grain.
fn drawn(width: u32, height: u32, format: PixelFormat, grain: u32) -> Result<Picture> {
    let mut noise = Noise(u64::from(width * 7919 + height));
    let peak = u32::from(format.depth.max_value());
    let mut samples = Vec::new();
    for y in 0..height {
        for x in 0..width {
            let turn = (x / 16 + y / 16 * 5) % 9;
            let stripe = if (x * turn + y * (8 - turn)) / 24 % 2 == 0 {
                0
            } else {
                70
            };
            let edge = if x * 2 > width + y { 50 } else { 0 };
            for channel in 0..format.channels() as u32 {
                let slope = (x + y * (channel + 1)) % 100;
                let tinted = if channel == 1 { stripe / 2 } else { stripe };
                let value = slope + tinted + edge + noise.next() % (grain + 1);
                samples.push((value.min(255) * peak / 255) as u16);
            }
        }
    }
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(samples.iter().map(|&v| v as u8).collect()),
        _ => Samples::U16(samples),
    };
    Ok(Picture::new(width, height, format, samples)?)
}

/// Columns of colour over rows of light, or turned by a right angle.
fn crossed(turned: bool) -> Result<Picture> {
    let mut noise = Noise(5);
    let mut samples = Vec::new();
    for at in 0..64 * 64u32 {
        let (x, y) = if turned {
            (at / 64, at % 64)
        } else {
            (at % 64, at / 64)
        };
        let (column, row) = (x / 3 * 37 % 50, y / 3 * 29 % 60);
        let light = 90 + row + noise.next() % 3;
        samples.extend([light + column, light, light + 50 - column].map(|v| v as u8));
    }
    Ok(Picture::new(64, 64, RGB, Samples::U8(samples))?)
}

fn quality(value: u8) -> Target {
    Target::Quality(value)
}

/// Encoded pictures, one for every corner.
fn pictures() -> Result<Vec<Stream>> {
    let mut streams = sizes_and_formats()?;
    streams.extend(tiles_and_metadata()?);
    streams.extend(qualities()?);
    streams.extend(tuned_for_psnr()?);
    streams.extend(efforts()?);
    streams.extend(depths()?);
    streams.extend(graphics()?);
    Ok(streams)
}

fn encoder() -> Encoder {
    Encoder::new().threads(1)
}

fn stream(name: &str, covers: &str, picture: &Picture, encoder: &Encoder) -> Result<Stream> {
    Ok(Stream {
        name: name.into(),
        covers: covers.into(),
        bytes: encoder.encode(picture)?.bytes,
    })
}

fn sizes_and_formats() -> Result<Vec<Stream>> {
    let (gray_alpha, rgba) = (with_alpha(GRAY), with_alpha(RGB));
    let cases = [
        ("pixel-gray", "1x1, gray", drawn(1, 1, GRAY, 0)?),
        ("pixel-rgba", "1x1, colour, alpha", drawn(1, 1, rgba, 0)?),
        ("row", "200x1, colour", drawn(200, 1, RGB, 5)?),
        ("column", "1x200, gray", drawn(1, 200, GRAY, 5)?),
        (
            "odd",
            "33x47, padding on both sides",
            drawn(33, 47, RGB, 4)?,
        ),
        ("superblock", "64x64, gray", drawn(64, 64, GRAY, 4)?),
        ("flat", "200x150 of one colour, no coefficients", flat()?),
        ("gray-alpha", "gray, alpha", drawn(40, 24, gray_alpha, 3)?),
        ("rgba", "colour, alpha", drawn(48, 40, rgba, 3)?),
    ];
    let streams = cases.iter();
    streams
        .map(|(name, covers, picture)| stream(name, covers, picture, &encoder()))
        .collect()
}

fn tiles_and_metadata() -> Result<Vec<Stream>> {
    let small_tiles = encoder().tile_log2(6).target(quality(30));
    let colour = drawn(150, 140, RGB, 1)?;
    let alpha = drawn(140, 20, with_alpha(GRAY), 1)?;
    Ok(vec![
        stream(
            "tiles",
            "9 tiles of 64, the last ones cut",
            &colour,
            &small_tiles,
        )?,
        stream("tiles-alpha", "3 tiles, gray, alpha", &alpha, &small_tiles)?,
        stream(
            "two-streams",
            "a tile of 65792 samples: chroma has a stream of its own",
            &drawn(257, 256, RGB, 0)?,
            &encoder().target(quality(5)),
        )?,
        stream(
            "one-stream",
            "a tile of 65536 samples: chroma shares the stream",
            &drawn(256, 256, RGB, 0)?,
            &encoder().target(quality(5)),
        )?,
        stream(
            "metadata",
            "code points, ICC, EXIF, XMP and a gain map",
            &described()?,
            &encoder(),
        )?,
        stream(
            "preview",
            "a preview, metadata and several tiles",
            &with_metadata(drawn(176, 80, RGB, 3)?)?,
            &encoder().tile_log2(6).target(quality(30)).preview(true),
        )?,
    ])
}

fn qualities() -> Result<Vec<Stream>> {
    let cases = [
        ("lowest", "quality 0", drawn(100, 100, RGB, 9)?, quality(0)),
        (
            "highest",
            "quality 100",
            drawn(24, 24, RGB, 30)?,
            quality(100),
        ),
        (
            "finest",
            "quantiser 0: magnitudes beyond the unary part",
            drawn(16, 16, GRAY, 90)?,
            Target::Quantiser(0),
        ),
        (
            "coarsest",
            "quantiser 127",
            drawn(64, 64, RGB, 9)?,
            Target::Quantiser(127),
        ),
    ];
    let streams = cases.into_iter();
    streams
        .map(|(name, covers, picture, target)| {
            stream(name, covers, &picture, &encoder().target(target))
        })
        .collect()
}

/// Without quantiser offsets and weights.
fn tuned_for_psnr() -> Result<Vec<Stream>> {
    let cases = [
        (
            "psnr-gray",
            "gray, no offsets or weights",
            drawn(70, 66, GRAY, 6)?,
        ),
        (
            "psnr-rgb",
            "colour, no offsets or weights",
            drawn(66, 50, RGB, 5)?,
        ),
    ];
    let encoder = encoder().tune(Tune::Psnr);
    let streams = cases.iter();
    streams
        .map(|(name, covers, picture)| stream(name, covers, picture, &encoder))
        .collect()
}

fn efforts() -> Result<Vec<Stream>> {
    let plain = drawn(56, 56, RGB, 6)?;
    let cases = [
        ("effort-1", "effort 1", plain.clone(), 1),
        ("effort-9", "effort 9", plain, 9),
        (
            "crossed",
            "effort 9, chroma that goes down where luma goes across",
            crossed(false)?,
            9,
        ),
        (
            "crossed-back",
            "effort 9, chroma that goes across where luma goes down",
            crossed(true)?,
            9,
        ),
    ];
    let streams = cases.iter().map(|(name, covers, picture, effort)| {
        let encoder = encoder().effort(*effort);
        stream(name, covers, picture, &encoder)
    });
    streams.collect()
}

fn depths() -> Result<Vec<Stream>> {
    let depths = [BitDepth::Ten, BitDepth::Twelve, BitDepth::Sixteen].into_iter();
    let streams = depths.map(|depth| {
        let (name, covers) = (
            format!("bits-{}", depth.bits()),
            format!("{} bits per sample", depth.bits()),
        );
        let picture = drawn(30, 20, deep(RGB, depth), 3)?;
        stream(&name, &covers, &picture, &encoder())
    });
    streams.collect()
}

/// Letters of a kind on a ground, beside slopes with grain.
fn labelled(width: u32, height: u32, format: PixelFormat) -> Result<Picture> {
    let photo = drawn(width, height, format, 8)?;
    let (channels, peak) = (format.channels() as u32, format.depth.max_value());
    let value = |i: u32| {
        let (x, y) = (i / channels % width, i / channels / width);
        let stroke = x % 7 == 2 || y % 9 == 4 && x % 21 < 11 || x % 7 == 3 && y % 9 == 5;
        match (x > width / 2 && y > height / 3, stroke) {
            (true, _) => photo.samples().get(i as usize),
            (_, true) => peak / 4 * (i % channels) as u16,
            (_, false) => peak - peak / 16 * (i % channels) as u16,
        }
    };
    let samples = (0..width * height * channels).map(value);
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(samples.map(|value| value as u8).collect()),
        _ => Samples::U16(samples.collect()),
    };
    Ok(Picture::new(width, height, format, samples)?)
}

fn graphics() -> Result<Vec<Stream>> {
    let cases = [
        ("drawn-gray", "drawn blocks, gray", GRAY, (70, 53), 75),
        ("drawn-rgb", "drawn blocks, colour", RGB, (150, 70), 75),
        ("drawn-coarse", "drawn blocks, coarse", RGB, (100, 81), 10),
        (
            "drawn-fine",
            "drawn blocks with a fine palette",
            RGB,
            (56, 40),
            100,
        ),
        (
            "drawn-alpha",
            "drawn blocks, colour and alpha of 10 bits",
            with_alpha(deep(RGB, BitDepth::Ten)),
            (81, 50),
            60,
        ),
        (
            "drawn-two-streams",
            "drawn blocks before two streams",
            RGB,
            (300, 220),
            20,
        ),
    ];
    let streams = cases.map(|(name, covers, format, (width, height), value)| {
        let picture = labelled(width, height, format)?;
        let stream = stream(name, covers, &picture, &encoder().target(quality(value)))?;
        let (header, _) = stages::header(&stream.bytes)?;
        ensure!(header.graphics, "nothing of {name} is drawn");
        Ok(stream)
    });
    streams.into_iter().collect()
}

fn flat() -> Result<Picture> {
    Ok(Picture::rgb8(200, 150, [200, 90, 30].repeat(200 * 150))?)
}

fn described() -> Result<Picture> {
    with_metadata(drawn(16, 16, RGB, 2)?)
}

fn with_metadata(mut picture: Picture) -> Result<Picture> {
    picture.metadata = Metadata {
        icc: Some((0..200).collect()),
        exif: Some(b"II*\0\x08\0\0\0\0\0\0\0\0\0".to_vec()),
        xmp: Some(b"<x:xmpmeta xmlns:x='adobe:ns:meta/'></x:xmpmeta>".repeat(4)),
        cicp: Some(Cicp::new(9, 16, true)),
        gain_map: Some(GainMap::new(6, b"a picture of another format")?),
    };
    Ok(picture)
}

/// Shapes (13 per plane kind) and modes (35 and 6) that leaves can have.
const TOOLS: usize = 2 * 13 + 35 + 6;

/// The shapes and modes a file uses: plane kind, whether a mode, index.
fn tools(file: &[u8]) -> Result<BTreeSet<(PlaneKind, bool, usize)>> {
    let traces = Decoder::new().trace(file)?;
    let events = traces.iter().flat_map(|trace| &trace.events);
    let leaves = events.filter_map(|event| match event {
        Event::Leaf(leaf) => Some(leaf),
        Event::Decision(_) => None,
    });
    Ok(leaves
        .flat_map(|leaf| {
            [
                (leaf.kind, false, leaf.shape.index()),
                (leaf.kind, true, leaf.mode),
            ]
        })
        .collect())
}

/// Adds streams of random bytes: a fixed number, then as many as it takes to cover every tool.
fn add_noises(streams: &mut Vec<Stream>) -> Result<()> {
    const ALWAYS: u64 = 14;
    const AT_MOST: u64 = 5000;
    let mut covered = BTreeSet::new();
    for stream in streams.iter() {
        covered.extend(tools(&stream.bytes)?);
    }
    for seed in 0..AT_MOST {
        if seed >= ALWAYS && covered.len() == TOOLS {
            break;
        }
        let stream = noise(seed)?;
        let own = tools(&stream.bytes)?;
        if seed < ALWAYS || !own.is_subset(&covered) {
            covered.extend(own);
            streams.push(stream);
        }
    }
    Ok(())
}

/// Any bytes are a tile. Random ones say what the model finds likely, tools no encoder of ours favours included.
fn noise(seed: u64) -> Result<Stream> {
    let colour = !seed.is_multiple_of(3);
    let (quantiser, chroma_offset) = [(40, 0), (56, 6), (70, -9), (84, 0)][seed as usize % 4];
    let chroma_offset = if colour { chroma_offset } else { 0 };
    let adaptive = seed % 4 >= 2;
    // Rising, falling and flat curves, and one that reaches the limit.
    let curves = [[0, 0, 0], [-8, 8, 24], [30, -20, 5], [-100, 60, 127]].map(WeightCurve);
    let (luma, chroma) = (curves[seed as usize % 4], curves[(seed as usize + 2) % 4]);
    let template = Header {
        format: if colour { RGB } else { GRAY },
        dictionary: Dictionary::builtin().id(),
        width: 0,
        height: 0,
        tile_log2: 10,
        quantiser,
        chroma_offsets: [chroma_offset, chroma_offset / 2],
        adaptive,
        graphics: false,
        weights: [
            luma,
            if colour {
                chroma
            } else {
                WeightCurve::default()
            },
        ],
        alpha_quantiser: None,
        lossless: None,
        tile_work: WorkBound::at_least(0),
        preview_len: 0,
        metadata_len: 0,
    };
    Ok(Stream {
        name: format!("noise-{seed:02}"),
        covers: format!(
            "random payload, quantiser {quantiser}, chroma offset {chroma_offset}, quantiser offsets {adaptive}, \
             weights {:?}",
            luma.0
        ),
        bytes: noise_file(seed, &template).context("random bytes filled no picture")?,
    })
}

/// The largest square picture that 2,000 random bytes fill.
fn noise_file(seed: u64, template: &Header) -> Option<Vec<u8>> {
    let mut noise = Noise(seed + 1);
    let payload: Vec<u8> = (0..2000).map(|_| noise.next() as u8).collect();
    [320, 256, 192, 160, 128, 96, 72, 56, 40, 24, 8]
        .into_iter()
        .map(|side| {
            let planes = template.format.colour_channels() as u64;
            let samples = planes * u64::from(side) * u64::from(side);
            let header = Header {
                width: side,
                height: side,
                tile_work: WorkBound::at_least(tile_work(samples, payload.len())),
                ..template.clone()
            };
            let tile = TileData {
                colour: payload.clone(),
                alpha: None,
            };
            container::write(header, &Metadata::default(), &[tile])
        })
        .find(|file| Decoder::new().decode(file).is_ok())
}

fn example() -> Result<Stream> {
    let samples = vec![60, 70, 90, 120, 64, 76, 99, 140, 70, 90, 120, 160];
    let picture = Picture::gray8(4, 3, samples)?;
    Ok(Stream {
        name: example_page::FILE.trim_end_matches(".tsr").into(),
        covers: "the file of spec/example.md".into(),
        // Without offsets and weights there is less to explain.
        bytes: (Encoder::new().target(quality(60)).tune(Tune::Psnr))
            .encode(&picture)?
            .bytes,
    })
}

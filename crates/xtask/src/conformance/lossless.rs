//! Lossless streams: every method, format and depth, and random payloads.

use super::support::{expected_folder, lossless_folder};
use super::{Stream, write_streams};
use anyhow::{Result, bail};
use tessera_codec::internals::container::{self, Header, TileData, WorkBound, tile_work};
use tessera_codec::{
    BitDepth, Colour, Decoder, DictId, Encoder, Metadata, Picture, PixelFormat, Samples,
};
use tessera_dict::Dictionary;

/// Methods by the lower bits of a payload's first byte, with its level above.
const METHODS: [(u8, &str); 8] = [
    (0, "planes, level 0"),
    (4, "planes, level 1"),
    (8, "planes, level 2"),
    (1, "colours, level 0"),
    (5, "colours, level 1"),
    (9, "colours, level 2"),
    (2, "palette"),
    (3, "fast"),
];

/// Writes the streams.
pub(super) fn write() -> Result<()> {
    let mut streams = Vec::new();
    for (colour, alpha) in [
        (Colour::Gray, false),
        (Colour::Gray, true),
        (Colour::Rgb, false),
        (Colour::Rgb, true),
    ] {
        for depth in BitDepth::ALL {
            let format = PixelFormat {
                colour,
                alpha,
                depth,
            };
            streams.push(picture(format)?);
        }
    }
    streams.extend(special()?);
    for (seed, (method, name)) in METHODS.into_iter().enumerate() {
        let (seed, nothing) = (seed as u32, DictId::Builtin(0));
        streams.push(random_payload(
            seed,
            (method, name),
            &Decoder::new(),
            nothing,
        )?);
    }
    write_streams(&lossless_folder(), &streams, &Decoder::new())
}

/// Writes the streams of level 3, whose samples the networks of a dictionary expect.
pub(super) fn write_expected(dictionary: &Dictionary) -> Result<()> {
    let mut streams = Vec::new();
    for depth in [BitDepth::Eight, BitDepth::Sixteen] {
        for (colour, alpha) in [(Colour::Gray, false), (Colour::Rgb, true)] {
            let format = PixelFormat {
                colour,
                alpha,
                depth,
            };
            let (channels, bits) = (format.channels(), depth.bits());
            let encoder = encoder(5).dictionary(dictionary.clone());
            streams.push(Stream {
                name: format!("expected_{channels}x{bits}"),
                covers: format!("networks, {channels} channels of {bits} bits"),
                bytes: encoder.encode(&drawn(41, 27, format)?)?.bytes,
            });
        }
    }
    let decoder = Decoder::new().dictionary(dictionary.clone());
    for seed in 0..4 {
        let noise = (12, "planes, level 3");
        streams.push(random_payload(seed, noise, &decoder, dictionary.id())?);
    }
    write_streams(&expected_folder(), &streams, &decoder)
}

/// Pseudo-random numbers that are the same everywhere.
fn random(state: &mut u32, bound: u32) -> u32 {
    *state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
    (*state >> 8) % bound
}

/// Slopes with grain in every channel.
fn drawn(width: u32, height: u32, format: PixelFormat) -> Result<Picture> {
    let channels = format.channels() as u32;
    let peak = u32::from(format.depth.max_value());
    let mut state = width * 31 + height;
    let mut samples = Vec::new();
    for i in 0..width * height * channels {
        let (x, y) = (i / channels % width, i / channels / width);
        let edge = if x > y + 4 { peak / 4 } else { 0 };
        let slope = (x * 5 + y * 3 + i % channels * 20) * peak / 400;
        samples.push(((slope + edge + random(&mut state, peak / 24 + 2)) % (peak + 1)) as u16);
    }
    made(width, height, format, samples)
}

fn made(width: u32, height: u32, format: PixelFormat, samples: Vec<u16>) -> Result<Picture> {
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(samples.iter().map(|&value| value as u8).collect()),
        _ => Samples::U16(samples),
    };
    Ok(Picture::new(width, height, format, samples)?)
}

fn encoder(effort: u8) -> Encoder {
    Encoder::new().lossless(true).effort(effort)
}

/// A stream of each format, with efforts in turn.
fn picture(format: PixelFormat) -> Result<Stream> {
    let bits = format.depth.bits();
    let effort = [1, 3, 5, 9][format.depth as usize];
    let channels = format.channels();
    Ok(Stream {
        name: format!("lossless_{channels}x{bits}"),
        covers: format!("{channels} channels of {bits} bits, effort {effort}"),
        bytes: encoder(effort).encode(&drawn(29, 19, format)?)?.bytes,
    })
}

/// Squares that repeat beside grain: some pixels are candidates, others are not.
fn mixed() -> Result<Picture> {
    let mut state = 5;
    let mut samples = Vec::new();
    for i in 0..64 * 40u32 {
        let (x, y) = (i % 64, i / 64);
        let pixel: [u16; 3] = if x < 40 {
            let kind = (x / 8 * 3 + y / 8 * 5) % 4;
            [kind * 60, (x * y % 8) / 5 * 200, 255 - kind * 20].map(|value| value as u16)
        } else {
            [0; 3].map(|_| (100 + x + random(&mut state, 9)) as u16)
        };
        samples.extend(pixel);
    }
    made(64, 40, PixelFormat::RGB8, samples)
}

fn special() -> Result<Vec<Stream>> {
    let mut streams = Vec::new();
    let mut add = |name: &str, covers: &str, encoder: Encoder, picture: &Picture| -> Result<()> {
        streams.push(Stream {
            name: format!("lossless_{name}"),
            covers: covers.into(),
            bytes: encoder.encode(picture)?.bytes,
        });
        Ok(())
    };
    let mixed = mixed()?;
    for effort in [3, 5, 9] {
        let name = format!("colours_{effort}");
        add(
            &name,
            "candidates, and samples where there is none",
            encoder(effort),
            &mixed,
        )?;
    }
    let few = |i: u32| [0, 80, 255][(i % 17 * i / 48 % 3) as usize];
    let palette = made(48, 20, PixelFormat::GRAY8, (0..960).map(few).collect())?;
    add("palette", "a palette of three", encoder(5), &palette)?;
    let gray = drawn(31, 17, PixelFormat::GRAY8)?;
    let copied = (0..31 * 17 * 3)
        .map(|i| gray.samples().get(i / 3))
        .collect();
    let copied = made(31, 17, PixelFormat::RGB8, copied)?;
    add("copied", "planes like the one before", encoder(5), &copied)?;
    let constant = (0..600)
        .map(|i| [i * i % 251, 40, 77][i as usize % 3] as u16)
        .collect();
    let constant = made(20, 10, PixelFormat::RGB8, constant)?;
    add("constant", "constant planes", encoder(5), &constant)?;
    let rgb = drawn(33, 18, PixelFormat::RGB8)?;
    add(
        "ranks",
        "values that never occur",
        Encoder::new().near(2),
        &rgb,
    )?;
    let large = drawn(80, 70, PixelFormat::GRAY8)?;
    add("tiles", "several tiles", encoder(3).tile_log2(6), &large)?;
    Ok(streams)
}

/// Random bytes behind a good header, read with a method.
fn random_payload(
    seed: u32,
    (method, name): (u8, &str),
    decoder: &Decoder,
    dictionary: DictId,
) -> Result<Stream> {
    let alpha = seed % 2 == 1;
    let depth = BitDepth::ALL[seed as usize % 4];
    let format = PixelFormat {
        colour: [Colour::Rgb, Colour::Gray][seed as usize / 4 % 2],
        alpha,
        depth,
    };
    let (width, height) = (23, 11);
    let samples = u64::from(width * height) * format.channels() as u64;
    let mut state = seed + 99;
    for _ in 0..1000 {
        let mut payload = vec![method];
        payload.extend((0..samples * 2).map(|_| random(&mut state, 256) as u8));
        let header = Header {
            format,
            dictionary,
            width,
            height,
            tile_log2: 10,
            quantiser: 0,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            alpha_quantiser: alpha.then_some(0),
            lossless: Some(0),
            tile_work: WorkBound::at_least(tile_work(samples, payload.len())),
            preview_len: 0,
            metadata_len: 0,
        };
        let data = TileData {
            colour: payload,
            alpha: None,
        };
        let bytes = container::write(header, &Metadata::default(), &[data]);
        if decoder.decode(&bytes).is_ok() {
            return Ok(Stream {
                name: format!("lossless_noise_{seed}"),
                covers: format!("random payload, {name}"),
                bytes,
            });
        }
    }
    bail!("no random payload decodes with {name}")
}

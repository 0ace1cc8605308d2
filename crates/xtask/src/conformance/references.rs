//! Streams of reference pictures, networks and free atoms, and their dictionary.
//!
//! It has cosine bases and flat priors so that it stays small, and so that random payloads use everything.

use super::support::{REFERENCE_DICTIONARY, reference_folder};
use super::{Stream, atoms, lossless, networks, write_streams};
use anyhow::{Context, Result, bail};
use std::fs;
use tessera_codec::internals::container::{self, Header, TileData, WorkBound, tile_work};
use tessera_codec::{Decoder, Encoder, Metadata, Picture, PixelFormat, Samples, Target};
use tessera_dict::{BasisSet, Dictionary, Prior, Reference};

const RGB: PixelFormat = PixelFormat::RGB8;
const GRAY: PixelFormat = PixelFormat::GRAY8;
const RGBA: PixelFormat = PixelFormat { alpha: true, ..RGB };

/// Writes the dictionary and the streams.
pub(super) fn write() -> Result<()> {
    let file = dictionary()?.to_bytes();
    let dictionary = Dictionary::from_bytes(&file)?;
    let mut streams = pictures(&dictionary)?;
    for seed in 0..48 {
        streams.push(noise(seed, &dictionary)?);
    }
    let folder = reference_folder();
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(REFERENCE_DICTIONARY), &file)?;
    lossless::write_expected(&dictionary)?;
    write_streams(&folder, &streams, &Decoder::new().dictionary(dictionary))
}

/// The untrained dictionary with empty magnitude models, networks, free atoms, and three references: colour, colour with alpha,
/// gray.
fn dictionary() -> Result<Dictionary> {
    let mut dictionary = Dictionary::builder();
    dictionary.luma = without_models(&dictionary.luma).with_atoms(atoms::atoms());
    dictionary.luma_prior = Prior::untrained(dictionary.luma.totals());
    dictionary.chroma = without_models(&dictionary.chroma);
    dictionary.nets = networks::nets();
    dictionary.patch_nets = Some(networks::patch_nets());
    dictionary.lossless_nets = networks::lossless_nets();
    dictionary.provenance = "untrained, for the conformance streams of references".into();
    let sources = [
        drawn(104, 72, RGB, (0, 0))?,
        drawn(48, 80, RGBA, (40, 3))?,
        drawn(40, 40, GRAY, (7, 60))?,
    ];
    for picture in &sources {
        let stream = Encoder::new().target(quality(55)).encode(picture)?.bytes;
        let (width, height) = (picture.width() as u16, picture.height() as u16);
        dictionary
            .references
            .push(Reference::new(width, height, stream));
    }
    Ok(dictionary.build()?)
}

fn without_models(bases: &BasisSet) -> BasisSet {
    let mut groups = bases.groups().to_vec();
    for basis in groups.iter_mut().flatten() {
        basis.model.base.fill(0);
        basis.model.activity.fill(0);
        basis.model.gradient.fill(0);
        basis.model.weights.to_mut().fill(0);
    }
    bases.regrouped(groups)
}

fn quality(value: u8) -> Target {
    Target::Quality(value)
}

/// Part of an endless pattern of bars, rings and patches, seen from (left, top).
fn drawn(width: u32, height: u32, format: PixelFormat, (left, top): (u32, u32)) -> Result<Picture> {
    let mut samples = Vec::new();
    for y in top..top + height {
        for x in left..left + width {
            let ring = (x * x + y * y) / 90 % 7 * 20;
            let patch = (x / 12 * 37 + y / 10 * 53) % 90;
            for channel in 0..format.channels() as u32 {
                let value = 30 + ring + patch * (channel + 1) % 110;
                samples.push(value.min(255) as u8);
            }
        }
    }
    Ok(Picture::new(width, height, format, Samples::U8(samples))?)
}

/// Encoded pictures that show what the references show, and some that do not.
fn pictures(dictionary: &Dictionary) -> Result<Vec<Stream>> {
    let encoder = || Encoder::new().threads(1).dictionary(dictionary.clone());
    let coarse = encoder().target(quality(30));
    let cases = [
        (
            "same",
            "colour, zero shift",
            drawn(104, 72, RGB, (0, 0))?,
            coarse.clone(),
        ),
        (
            "shifted",
            "colour, other shifts",
            drawn(70, 50, RGB, (13, 9))?,
            coarse.clone(),
        ),
        (
            "beyond",
            "reads outside of references",
            drawn(150, 120, GRAY, (0, 0))?,
            encoder().target(quality(10)),
        ),
        (
            "alpha",
            "alpha has references of its own",
            drawn(48, 80, RGBA, (40, 3))?,
            coarse.clone(),
        ),
        (
            "brighter",
            "another contrast",
            contrasted(drawn(64, 64, GRAY, (20, 0))?)?,
            coarse.clone(),
        ),
        (
            "tiles",
            "the place of a tile counts",
            drawn(104, 72, GRAY, (0, 0))?,
            coarse.tile_log2(6),
        ),
        (
            "two-streams",
            "references under a stream of chroma",
            drawn(300, 220, RGB, (0, 0))?,
            encoder().target(quality(0)),
        ),
        (
            "unlike",
            "references not in use",
            Picture::gray8(40, 40, vec![77; 1600])?,
            encoder(),
        ),
    ];
    let encoded = cases.into_iter().map(|(name, covers, picture, encoder)| {
        Ok(Stream {
            name: name.into(),
            covers: covers.into(),
            bytes: encoder.encode(&picture)?.bytes,
        })
    });
    encoded.collect()
}

fn contrasted(picture: Picture) -> Result<Picture> {
    let Samples::U8(samples) = picture.samples() else {
        bail!("drawn pictures have eight bits");
    };
    let samples = samples.iter().map(|&v| 60 + v / 2).collect();
    Ok(Picture::gray8(picture.width(), picture.height(), samples)?)
}

/// Random bytes behind a first bit that says "in use".
fn noise(seed: u64, dictionary: &Dictionary) -> Result<Stream> {
    const SIDES: [u32; 6] = [96, 64, 48, 32, 16, 8];
    let mut state = seed + 1;
    let mut payload: Vec<u8> = (0..900)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(99);
            (state >> 56) as u8
        })
        .collect();
    payload[0] &= 0x7f;
    let colour = !seed.is_multiple_of(3);
    let files = SIDES.map(|side| {
        let planes = if colour { 3 } else { 1 };
        let work = tile_work(planes * u64::from(side * side), payload.len());
        let header = Header {
            format: if colour { RGB } else { GRAY },
            dictionary: dictionary.id(),
            width: side,
            height: side,
            tile_log2: 10,
            quantiser: [50, 64, 80][seed as usize % 3],
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            alpha_quantiser: None,
            lossless: None,
            tile_work: WorkBound::at_least(work),
            preview_len: 0,
            metadata_len: 0,
        };
        let tile = TileData {
            colour: payload.clone(),
            alpha: None,
        };
        container::write(header, &Metadata::default(), &[tile])
    });
    let decoder = Decoder::new().dictionary(dictionary.clone());
    let found = files.into_iter().find(|file| decoder.decode(file).is_ok());
    Ok(Stream {
        name: format!("noise-{seed}"),
        covers: "random payload".into(),
        bytes: found.context("random bytes filled no picture")?,
    })
}

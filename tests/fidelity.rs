//! Whatever the picture, its error stays within what its quality promises, at every effort.
//!
//! The quantiser's own noise is a twelfth of its squared step. Levels that cost more bits than they are worth are dropped,
//! filters move samples, and red, green and blue lie up to twice as far apart as luma and chroma.

use rayon::prelude::*;
use std::path::Path;
use tessera_codec::internals::encoder::{SpeedSettings, encode_tile};
use tessera_codec::internals::tile::{PlaneLayout, TileConfig};
use tessera_codec::{
    BitDepth, Colour, Decoder, Encoder, Picture, PixelFormat, PreparedDictionary, Samples, Tune,
};
use tessera_patch::Plane;
use tessera_patch::colour::rgb_to_ycbcr;
use tessera_workspace::adversarial::{Pattern, irregular, patterns, picture, within};

/// Largest mean squared error of a gray picture: six times the noise of its quantiser.
const MOST_ERROR: f64 = 6.0 * QUANTISER_NOISE;
/// The same for red, green and blue, which move up to 1.8 times as far as chroma does.
const MOST_COLOUR_ERROR: f64 = 12.0 * QUANTISER_NOISE;
/// How much more the eye is taken to forgive: the highest frequencies have steps up to 2.2 times as large, and busy blocks
/// in a smooth picture up to four times.
const VISUAL: f64 = 5.0;
/// Mean squared error of rounding, in squared steps.
const QUANTISER_NOISE: f64 = 1.0 / 12.0;
/// Price of a bit in squared steps, as in the encoder.
const LAMBDA: f64 = 0.096;

const EFFORTS: std::ops::RangeInclusive<u8> = 1..=9;

const RGB8: PixelFormat = PixelFormat {
    colour: Colour::Rgb,
    ..PixelFormat::GRAY8
};

/// What came of encoding and decoding a picture.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    /// Mean squared error over all colour samples, on the scale of 8 bits.
    error: f64,
    /// The same for alpha.
    alpha_error: f64,
    /// Step of the quantiser on that scale.
    step: f64,
}

impl Outcome {
    fn of(picture: &Picture, tune: Tune, effort: u8, quality: u8) -> Self {
        let encoder = Encoder::new()
            .quality(quality)
            .tune(tune)
            .effort(effort)
            .threads(1);
        let encoded = encoder.encode(picture).unwrap();
        assert_eq!(encoded.keeps_its_promise(), Some(true));
        let file = encoded.bytes;
        let decoded = Decoder::new().threads(1).decode(&file).unwrap();
        assert_eq!(decoded.format(), picture.format());
        let format = picture.format();
        let channels = format.channels();
        let scale = 255.0 / f64::from(format.depth.max_value());
        let error = |channel: usize| {
            let pair = |i: usize| (picture.samples().get(i), decoded.samples().get(i));
            let square = |(a, b): (u16, u16)| ((f64::from(a) - f64::from(b)) * scale).powi(2);
            let indices = (channel..picture.samples().len()).step_by(channels);
            indices.map(|i| square(pair(i))).sum::<f64>() / picture.pixels() as f64
        };
        let colours = format.colour_channels();
        Self {
            error: (0..colours).map(error).sum::<f64>() / colours as f64,
            alpha_error: if format.alpha { error(colours) } else { 0.0 },
            step: 2f64.powf(f64::from(encoded.quantiser) / 8.0) / 16.0,
        }
    }

    /// Error in squared steps, where the rounding of samples to 8 bits does not count.
    fn in_steps(&self) -> f64 {
        (self.error - QUANTISER_NOISE).max(0.0) / self.step.powi(2)
    }

    /// Alpha has a quarter of the step.
    fn alpha_in_steps(&self) -> f64 {
        16.0 * (self.alpha_error - QUANTISER_NOISE).max(0.0) / self.step.powi(2)
    }
}

/// A picture with its name and the qualities to try it at.
struct Case {
    name: String,
    picture: Picture,
    qualities: Vec<u8>,
}

/// Tries cases at all efforts; returns what failed.
fn failures(cases: &[Case]) -> Vec<String> {
    let check = |case: &Case| -> Vec<String> {
        let Case {
            name,
            picture,
            qualities,
        } = case;
        let most = match picture.format().colour {
            Colour::Gray => MOST_ERROR,
            Colour::Rgb => MOST_COLOUR_ERROR,
        };
        let pairs = EFFORTS.flat_map(|effort| qualities.iter().map(move |&q| (effort, q)));
        let failure = |tune: Tune, effort: u8, q: u8| {
            let outcome = Outcome::of(picture, tune, effort, q);
            let most = match tune {
                Tune::Visual => VISUAL * most,
                Tune::Psnr => most,
            };
            let fails = outcome.in_steps() > most || outcome.alpha_in_steps() > MOST_ERROR;
            fails.then(|| format!("{name}, {tune:?}, effort {effort}, q {q}: {outcome:?}"))
        };
        // Every other case for the eye, the others for the squared error.
        pairs
            .enumerate()
            .filter_map(|(at, (effort, q))| {
                let tune = if (name.len() + at).is_multiple_of(2) {
                    Tune::Visual
                } else {
                    Tune::Psnr
                };
                failure(tune, effort, q)
            })
            .collect()
    };
    cases.par_iter().flat_map_iter(check).collect()
}

fn assert_none(failures: &[String]) {
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// A small photo of the fixtures.
fn photo(name: &str) -> Picture {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/photos")
        .join(name);
    tessera_codec::image_io::read_picture(&std::fs::read(path).unwrap()).unwrap()
}

/// All patterns in gray and, the irregular ones, in colour.
fn cases(side: u32, qualities: impl Fn(usize) -> Vec<u8>) -> Vec<Case> {
    let gray = patterns()
        .into_iter()
        .map(|pattern| (pattern, PixelFormat::GRAY8));
    let coloured = irregular().into_iter();
    let coloured = coloured.map(|(name, pattern)| ((name.to_owned(), pattern), RGB8));
    let all = gray.chain(coloured).enumerate();
    all.map(|(i, ((name, pattern), format))| Case {
        picture: picture(side, side, format, &pattern),
        qualities: qualities(i),
        name,
    })
    .collect()
}

#[test]
fn patterns_survive() {
    let scale = [20, 40, 60, 80, 100];
    assert_none(&failures(&cases(64, |i| vec![scale[i % scale.len()]])));
}

#[test]
#[ignore = "takes minutes"]
fn patterns_survive_at_all_qualities() {
    assert_none(&failures(&cases(64, |_| (20..=100).step_by(10).collect())));
}

#[test]
fn patterns_survive_in_every_format_and_at_odd_sizes() {
    let depths = [BitDepth::Eight, BitDepth::Sixteen];
    let formats: Vec<PixelFormat> = depths
        .into_iter()
        .flat_map(tessera_workspace::formats)
        .collect();
    let case = |(i, (name, pattern)): (usize, (&str, Pattern))| {
        let format = formats[i % formats.len()];
        Case {
            name: format!("{name} as {format:?}"),
            picture: picture(75, 67, format, &pattern),
            qualities: vec![[25, 75, 95][i % 3]],
        }
    };
    let cases: Vec<Case> = irregular().into_iter().enumerate().map(case).collect();
    assert_none(&failures(&cases));
}

#[test]
fn patterns_survive_as_part_of_photos() {
    let photo = crop(&photo("chelsea.png"), 128);
    let case = |(i, (name, pattern)): (usize, (&str, Pattern))| Case {
        name: name.to_owned(),
        picture: picture(128, 128, RGB8, &within(&photo, pattern)),
        qualities: vec![[30, 50, 90][i % 3]],
    };
    let some = irregular().into_iter().enumerate().step_by(2);
    let cases: Vec<Case> = some.map(case).collect();
    assert_none(&failures(&cases));
}

/// The upper left square of a picture.
fn crop(photo: &Picture, side: u32) -> Picture {
    let row = photo.width() as usize * photo.format().channels();
    let wanted = side as usize * photo.format().channels();
    let samples = (0..side as usize).flat_map(|y| (0..wanted).map(move |x| y * row + x));
    let samples = Samples::U8(samples.map(|i| photo.samples().get(i) as u8).collect());
    Picture::new(side, side, photo.format(), samples).unwrap()
}

/// A finer quantiser may be less lucky with a pattern of few levels, but then it is as good as rounding, within a quarter.
#[test]
fn quality_never_falls() {
    let qualities: Vec<u8> = (20..=100).step_by(10).collect();
    let check = |(name, pattern): (&str, Pattern)| -> Vec<String> {
        let picture = picture(64, 64, RGB8, &pattern);
        let outcomes: Vec<Outcome> = qualities
            .iter()
            .map(|&q| Outcome::of(&picture, Tune::Psnr, 5, q))
            .collect();
        let falls = |pair: &&[Outcome]| {
            let rounding = 1.25 * QUANTISER_NOISE * pair[1].step.powi(2);
            pair[1].error > pair[0].error.max(rounding)
        };
        let fell = outcomes.windows(2).filter(falls);
        fell.map(|pair| format!("{name}: {pair:?}")).collect()
    };
    let failures: Vec<String> = irregular().into_par_iter().flat_map_iter(check).collect();
    assert_none(&failures);
}

/// Error in squared steps and the price of the bits at every effort, as the encoder counts them: of planes, before samples
/// are rounded to the depth of a picture.
fn costs(pattern: &Pattern, layout: PlaneLayout, quantiser: u8) -> Vec<f64> {
    const SIDE: usize = 64;
    let planes = planes(pattern, layout, SIDE);
    let config = TileConfig {
        width: SIDE as u32,
        height: SIDE as u32,
        layout,
        quantiser,
        chroma_offsets: [0; 2],
        adaptive: false,
        graphics: true,
        weights: Default::default(),
        origin: (0, 0),
        alpha: false,
    };
    let step = 2f64.powf(f64::from(quantiser) / 8.0);
    let cost = |effort: u8| {
        let speed = SpeedSettings::preset(effort);
        let tile = encode_tile(&planes, &config, PreparedDictionary::builtin(), speed);
        let pairs = planes.iter().zip(&tile.planes);
        let error: f64 = pairs
            .flat_map(|(original, drawn)| original.data.iter().zip(&drawn.data))
            .map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2))
            .sum();
        error / step.powi(2) + LAMBDA * 8.0 * tile.bytes.len() as f64
    };
    EFFORTS.map(cost).collect()
}

/// A square of a pattern, as an encoder sees it.
fn planes(pattern: &Pattern, layout: PlaneLayout, side: usize) -> Vec<Plane> {
    let channels = match layout {
        PlaneLayout::Gray => 1,
        PlaneLayout::Ycbcr444 => 3,
    };
    let plane = |channel: usize| {
        let sample = |at: usize| {
            let pixel = pattern((at % side) as u32, (at / side) as u32);
            let pixel = pixel.map(|value| BitDepth::Eight.to_internal(value.into()));
            match layout {
                PlaneLayout::Gray => pixel[1],
                PlaneLayout::Ycbcr444 => rgb_to_ycbcr(pixel)[channel],
            }
        };
        Plane {
            width: side,
            height: side,
            data: (0..side * side).map(sample).collect(),
        }
    };
    (0..channels).map(plane).collect()
}

/// Every pattern at some quantisers: where an effort costs more than the one before by a hundredth of it and a byte. Faint
/// noise may be the grain of a photo and is coded like one: three hundredths.
fn falls(quantisers: impl Fn(usize) -> Vec<u8> + Sync) -> Vec<String> {
    const TOLERANCE: f64 = 1.01;
    const GRAIN: f64 = 1.03;
    const BYTE: f64 = 8.0 * LAMBDA;
    let coloured = irregular().into_iter();
    let coloured = coloured.map(|(name, pattern)| (name.to_owned(), pattern));
    let gray = patterns().into_iter();
    let cases: Vec<_> = gray
        .map(|case| (case, PlaneLayout::Gray))
        .chain(coloured.map(|case| (case, PlaneLayout::Ycbcr444)))
        .enumerate()
        .collect();
    let check = |(at, ((name, pattern), layout)): &(usize, ((String, Pattern), PlaneLayout))| {
        let falls = |quantiser: u8| -> Option<String> {
            let costs = costs(pattern, *layout, quantiser);
            let most = if name == "faint noise" {
                GRAIN
            } else {
                TOLERANCE
            };
            let falls = costs.windows(2).any(|pair| pair[1] > most * pair[0] + BYTE);
            falls.then(|| format!("{name}, {layout:?}, quantiser {quantiser}: {costs:.1?}"))
        };
        let found: Vec<String> = quantisers(*at).into_iter().filter_map(falls).collect();
        found
    };
    cases.par_iter().flat_map_iter(check).collect()
}

/// From a quality of 100 to one of 0.
#[test]
fn more_effort_never_costs_more() {
    let scale = [32, 46, 59, 70, 80, 88];
    assert_none(&falls(|at| vec![scale[at % scale.len()]]));
}

#[test]
#[ignore = "takes minutes"]
fn more_effort_never_costs_more_at_all_quantisers() {
    assert_none(&falls(|_| (32..=88).step_by(7).collect()));
}

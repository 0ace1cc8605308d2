//! Lossless coding of a tile (`spec/lossless.md`).
//!
//! Photos are coded plane by plane around predictions that learn by least squares (`planar`, `predictive`); graphics pixel
//! by pixel as one of a few candidates that neighbourhoods suggest (`coloured`, `colours`). All decisions are binary; their
//! probabilities are made of those of several contexts in the logistic domain. Integers only, the same on every machine.

mod cell;
mod coder;
mod coloured;
mod colours;
mod decisions;
mod drawn;
mod errors;
mod fast;
mod history;
mod least_squares;
mod level;
mod logistic;
mod mask;
mod mixer;
mod network;
mod numbers;
mod odds;
mod palette;
mod planar;
mod planes;
mod predictive;
mod residual;
mod taps;
mod template;
mod values;

#[cfg(feature = "encoder")]
mod encode;
#[cfg(feature = "encoder")]
mod paint;
#[cfg(feature = "encoder")]
pub(crate) mod training;

use crate::picture::{PixelFormat, Samples};
use crate::simd::{PairOperation, PairProducts, with_pairs};
use crate::tile::entropy::range::RangeDecoder;
use coder::Coder;
use coloured::{Escapes, code_colours};
use colours::Colour;
use level::Level;
use planar::{Models, code_planes};
use planes::BorderedPlane;
use tessera_dict::LosslessNets;
use tessera_dict::lossless_net::PLANES;

pub(crate) use drawn::{Drawn, DrawnShape, decode_drawn};
pub(crate) use mask::{BLOCK as DRAWN_BLOCK, Mask};

#[cfg(feature = "encoder")]
pub(crate) use encode::{Options, encode_tile};
#[cfg(feature = "encoder")]
pub(crate) use paint::{Original, Way};

/// Why a payload cannot be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// It ends too early.
    Exhausted,
    /// It says something that has no meaning.
    Invalid(&'static str),
}

/// What is known of a tile from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    width: usize,
    height: usize,
    channels: usize,
    alpha: bool,
    depth: u32,
}

impl Shape {
    pub(crate) fn new(width: u32, height: u32, format: PixelFormat) -> Self {
        Self {
            width: width as usize,
            height: height as usize,
            channels: format.channels(),
            alpha: format.alpha,
            depth: format.depth.bits(),
        }
    }

    /// The largest value of a sample.
    fn max(&self) -> u16 {
        u16::MAX >> (16 - self.depth)
    }

    /// The number of the first plane that is no alpha.
    fn first_colour(&self) -> usize {
        usize::from(self.alpha)
    }

    /// Channels of the picture in coding order: alpha, then gray or green, red, blue.
    fn order(&self) -> &'static [usize] {
        match self.channels {
            1 => &[0],
            2 => &[1, 0],
            3 => &[1, 0, 2],
            _ => &[3, 1, 0, 2],
        }
    }
}

/// How a tile is coded; the first byte of its payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Planes(Level),
    Colours(Level),
    Palette,
    Fast,
}

impl Method {
    fn from_byte(byte: u8) -> Option<Self> {
        let level = Level::ALL.get(usize::from(byte >> 2)).copied();
        match (byte & 3, level?) {
            (0, level) => Some(Self::Planes(level)),
            (1, level) if level != Level::Learned => Some(Self::Colours(level)),
            (2, Level::One) => Some(Self::Palette),
            (3, Level::One) => Some(Self::Fast),
            _ => None,
        }
    }

    #[cfg(feature = "encoder")]
    fn byte(self) -> u8 {
        match self {
            Self::Planes(level) => (level as u8) << 2,
            Self::Colours(level) => (level as u8) << 2 | 1,
            Self::Palette => 2,
            Self::Fast => 3,
        }
    }
}

/// The samples of a tile on their way in, in coding order; a reader has none.
#[derive(Clone, Debug, Default)]
struct Tile {
    planes: Vec<Vec<u16>>,
    /// The values that colour samples have, if planes hold ranks among them.
    used: Option<Vec<u16>>,
    /// Sorted colours, if they are few.
    palette: Vec<Colour>,
}

impl Tile {
    /// The samples of a pixel together.
    #[inline(always)]
    fn colour(&self, index: usize) -> Colour {
        let mut colour = 0;
        for plane in &self.planes {
            colour = colour << 16 | Colour::from(plane.get(index).copied().unwrap_or(0));
        }
        colour
    }
}

/// The networks of a tile that needs no dictionary.
pub(crate) static NO_NETS: LosslessNets = [const { None }; PLANES];

/// The same walk for writing and reading.
fn code_tile(
    coder: &mut impl Coder,
    shape: &Shape,
    source: &Tile,
    method: Method,
    nets: &LosslessNets,
) -> Result<Vec<BorderedPlane>, Fault> {
    let mut planes = Ok(Vec::new());
    with_pairs(Walk {
        coder,
        shape,
        source,
        method,
        nets,
        planes: &mut planes,
    });
    planes
}

/// The walk over a tile, for the instruction set at hand.
struct Walk<'a, C> {
    coder: &'a mut C,
    shape: &'a Shape,
    source: &'a Tile,
    method: Method,
    nets: &'a LosslessNets,
    /// What comes of it.
    planes: &'a mut Result<Vec<BorderedPlane>, Fault>,
}

impl<C: Coder> PairOperation for Walk<'_, C> {
    #[inline(always)]
    fn call(self, simd: impl PairProducts) {
        let Self { shape, source, .. } = self;
        // Each walk is named once, outside closures: what is not inlined is compiled for the baseline.
        *self.planes = match self.method {
            Method::Colours(_) | Method::Palette => {
                let escapes = match self.method {
                    Method::Colours(level) => Escapes::Samples(level),
                    _ => Escapes::Palette,
                };
                code_colours(simd, self.coder, shape, source, escapes)
            }
            Method::Fast | Method::Planes(_) => {
                let models = match self.method {
                    Method::Planes(Level::Learned) => Models::Learned(self.nets),
                    Method::Planes(level) => Models::Level(level),
                    _ => Models::Fast,
                };
                code_planes(simd, self.coder, shape, source, models)
            }
        };
    }
}

/// Memory of the models of a tile, beside that of its samples.
pub(crate) fn model_bytes(pixels: u64, channels: u64) -> u64 {
    const PER_PIXEL: u64 = 256;
    const MOST: u64 = 24 << 20;
    const PER_CHANNEL: u64 = 4 << 20;
    pixels.saturating_mul(PER_PIXEL).min(MOST) + channels * PER_CHANNEL
}

/// Memory for the drawn blocks of a lossy tile, beside that of its samples: models, colours, and planes of their own.
pub(crate) fn drawn_bytes(pixels: u64) -> u64 {
    const PER_PIXEL: u64 = 14;
    model_bytes(pixels, 1).saturating_add(pixels.saturating_mul(PER_PIXEL))
}

/// Units of decode work that a sample of a payload takes: so many times as long as one of a lossy tile takes at most.
pub(crate) fn sample_work(payload: &[u8]) -> u64 {
    let method = payload.first().and_then(|&byte| Method::from_byte(byte));
    match method {
        None => 0,
        Some(Method::Fast) => 2,
        Some(Method::Planes(Level::One)) => 4,
        Some(Method::Planes(Level::Two)) => 6,
        Some(Method::Planes(Level::Four)) => 10,
        Some(Method::Planes(Level::Learned)) => 20,
        // Most pixels are candidates.
        Some(Method::Colours(_) | Method::Palette) => 3,
    }
}

/// Decodes a tile to interleaved samples, with the networks of the dictionary if the file names one.
pub(crate) fn decode_tile(
    data: &[u8],
    shape: &Shape,
    format: PixelFormat,
    nets: Option<&LosslessNets>,
) -> Result<Samples, Fault> {
    let (&byte, data) = data.split_first().ok_or(Fault::Exhausted)?;
    let method = Method::from_byte(byte).ok_or(Fault::Invalid("a reserved method"))?;
    if method == Method::Planes(Level::Learned) && nets.is_none() {
        return Err(Fault::Invalid("a network without a dictionary"));
    }
    let nets = nets.unwrap_or(&NO_NETS);
    let mut coder = RangeDecoder::new(data);
    let planes = code_tile(&mut coder, shape, &Tile::default(), method, nets)?;
    if coder.exhausted() {
        return Err(Fault::Exhausted);
    }
    Ok(to_samples(shape, &planes, format))
}

/// Planes as interleaved samples of the picture.
fn to_samples(shape: &Shape, planes: &[BorderedPlane], format: PixelFormat) -> Samples {
    match format.bytes_per_sample() {
        1 => Samples::U8(interleave(shape, planes, |value| value as u8)),
        _ => Samples::U16(interleave(shape, planes, |value| value)),
    }
}

fn interleave<S: Copy + Default>(
    shape: &Shape,
    planes: &[BorderedPlane],
    store: impl Fn(u16) -> S,
) -> Vec<S> {
    let mut samples = vec![S::default(); shape.width * shape.height * shape.channels];
    for (plane, &channel) in planes.iter().zip(shape.order()) {
        let rows = samples.chunks_exact_mut(shape.width * shape.channels);
        for (y, row) in rows.enumerate() {
            let from = &plane.data[plane.at(0, y)..][..shape.width];
            for (pixel, &value) in row.chunks_exact_mut(shape.channels).zip(from) {
                pixel[channel] = store(value);
            }
        }
    }
    samples
}

//! Which colours drawn blocks get: for each pixel the one that costs least, by its error and its bits.

use super::coder::{Coder, Ends};
use super::colours::Colour;
use super::drawn::{
    Drawn, DrawnModels, DrawnShape, LEAST_PRECISION, Painter, Palette, SAMPLE_BITS, code_drawn,
    sample,
};
use super::mask::{BLOCK, Mask};
use super::palette::MAX_COLOURS;
use super::template::Near;
use crate::simd::dispatch;
use crate::tile::entropy::coder::{code_length, code_lengths};
use crate::tile::entropy::range::RangeEncoder;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Bits that a colour of the palette takes, about.
const ENTRY_BITS: f32 = 24.0;
/// Rounding of a palette may be as coarse as this part of a step.
const ROUNDING: f32 = 0.5;

/// How freely colours are chosen.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Way {
    /// Colours become one if their error costs no more than so many bits per pixel.
    pub(crate) merging: f32,
    /// A bit counts so many times its price where a pixel may get a colour that is not the nearest: what is exact repeats
    /// itself, what is not saves bits at once.
    pub(crate) thrift: f32,
}

/// What drawn blocks are made from.
#[derive(Debug)]
pub(crate) struct Original<'a> {
    pub(crate) shape: DrawnShape,
    /// Samples of 12 bits.
    pub(crate) planes: &'a [Vec<u16>],
    /// Samples in a row of them.
    pub(crate) stride: usize,
    /// Steps of the planes.
    pub(crate) steps: [f32; 3],
    /// Price of a bit in squared steps.
    pub(crate) lambda: f32,
}

/// Drawn blocks and what they cost.
#[derive(Debug)]
pub(crate) struct Painted {
    pub(crate) bytes: Vec<u8>,
    pub(crate) drawn: Drawn,
    /// By block of the mask; errors in squared steps and the price of bits.
    pub(crate) costs: Vec<f32>,
    /// Errors of all blocks, and the price of all bytes.
    pub(crate) cost: f32,
    used: BTreeSet<Colour>,
}

impl Painted {
    /// The colours in use.
    pub(crate) fn palette(&self, palette: &Palette) -> Palette {
        Palette {
            precision: palette.precision,
            colours: self.used.iter().copied().collect(),
        }
    }
}

impl Original<'_> {
    /// Colours that stand for all of those in a mask: the most frequent ones, and others that are worth their bits.
    pub(crate) fn palette(&self, mask: &Mask, way: Way) -> Palette {
        let precision = self.precision();
        let mut counts = BTreeMap::new();
        for (x, y) in self.pixels(mask) {
            *counts.entry(self.rounded(x, y, precision)).or_insert(0u32) += 1;
        }
        let mut counts: Vec<(Colour, u32)> = counts.into_iter().collect();
        counts.sort_by_key(|&(colour, count)| (std::cmp::Reverse(count), colour));
        let mut colours: Vec<Colour> = Vec::new();
        for (colour, count) in counts {
            let worth = self.lambda * (ENTRY_BITS / count as f32 + way.merging);
            let wanted = self.samples(colour, precision);
            let stands = |&other: &Colour| self.error(&wanted, other, precision) <= worth;
            if !colours.iter().any(stands) {
                colours.push(colour);
            }
            if colours.len() == MAX_COLOURS {
                break;
            }
        }
        colours.sort_unstable();
        Palette { precision, colours }
    }

    /// Codes the blocks of a mask with a palette that is not empty.
    pub(crate) fn paint(&self, mask: &Mask, palette: &Palette, way: Way) -> Painted {
        let mut costs = mask.clone();
        let costs = vec![0.0; costs.flags_mut().len()];
        let mut artist = Artist {
            original: self,
            palette,
            mask,
            price: self.lambda * way.thrift,
            nearest: HashMap::new(),
            costs,
            errors: 0.0,
            used: BTreeSet::new(),
        };
        let mut coder = Meter {
            encoder: RangeEncoder::new(),
            bits: 0.0,
        };
        let drawn = dispatch(
            #[inline(always)]
            || code_drawn(&mut coder, self.shape, mask.clone(), palette, &mut artist),
        );
        let bytes = coder.encoder.finish();
        Painted {
            cost: artist.errors + self.lambda * 8.0 * bytes.len() as f32,
            bytes,
            drawn: drawn.expect("a writer writes no faults"),
            costs: artist.costs,
            used: artist.used,
        }
    }

    /// Bits of the samples of a palette that is about as fine as the steps.
    fn precision(&self) -> u32 {
        let finest = self.steps[..self.shape.channels].iter().copied();
        let finest = finest.fold(f32::INFINITY, f32::min);
        let fine =
            |precision: &u32| f32::from(1u16 << (SAMPLE_BITS - precision)) <= ROUNDING * finest;
        (LEAST_PRECISION..SAMPLE_BITS)
            .find(fine)
            .unwrap_or(SAMPLE_BITS)
    }

    fn pixels(&self, mask: &Mask) -> impl Iterator<Item = (usize, usize)> {
        let DrawnShape { width, height, .. } = self.shape;
        mask.places().flat_map(move |(left, top)| {
            let rows = top..(top + BLOCK).min(height);
            rows.flat_map(move |y| (left..(left + BLOCK).min(width)).map(move |x| (x, y)))
        })
    }

    /// The colour of a pixel with samples of so many bits.
    fn rounded(&self, x: usize, y: usize, precision: u32) -> Colour {
        let shift = SAMPLE_BITS - precision;
        let most = (1u32 << precision) - 1;
        let mut colour = 0;
        for plane in &self.planes[..self.shape.channels] {
            let sample = u32::from(plane[y * self.stride + x]);
            let rounded = ((sample + ((1 << shift) >> 1)) >> shift).min(most);
            colour = colour << 16 | Colour::from(rounded);
        }
        colour
    }

    fn samples(&self, colour: Colour, precision: u32) -> [u16; 3] {
        let channels = self.shape.channels;
        std::array::from_fn(|channel| match channel < channels {
            true => sample(colour, channels, channel, precision),
            false => 0,
        })
    }

    /// Error of a colour in squared steps.
    fn error(&self, wanted: &[u16; 3], colour: Colour, precision: u32) -> f32 {
        let samples = self.samples(colour, precision);
        let mut error = 0.0;
        for channel in 0..3 {
            let difference = f32::from(wanted[channel]) - f32::from(samples[channel]);
            error += (difference / self.steps[channel]).powi(2);
        }
        error
    }
}

/// Chooses colours, and keeps the books.
struct Artist<'a> {
    original: &'a Original<'a>,
    palette: &'a Palette,
    mask: &'a Mask,
    /// Price of a bit where a colour is chosen.
    price: f32,
    /// Colours of the palette that are nearest to those of the original.
    nearest: HashMap<Colour, Colour>,
    costs: Vec<f32>,
    errors: f32,
    used: BTreeSet<Colour>,
}

impl Artist<'_> {
    fn wanted(&self, (x, y): (usize, usize)) -> [u16; 3] {
        let Original { planes, stride, .. } = self.original;
        std::array::from_fn(|channel| match channel < self.original.shape.channels {
            true => planes[channel][y * stride + x],
            false => 0,
        })
    }

    fn error(&self, wanted: &[u16; 3], colour: Colour) -> f32 {
        self.original.error(wanted, colour, self.palette.precision)
    }

    /// The colour of the palette that is nearest to the original.
    fn nearest(&mut self, wanted: &[u16; 3]) -> Colour {
        let key = wanted
            .iter()
            .fold(0, |key, &sample| key << 16 | Colour::from(sample));
        if let Some(&known) = self.nearest.get(&key) {
            return known;
        }
        let colours = self.palette.colours.iter().copied();
        let near = colours.map(|colour| (self.error(wanted, colour), colour));
        let near = near
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map_or(0, |(_, colour)| colour);
        self.nearest.insert(key, near);
        near
    }
}

impl Painter<Meter> for Artist<'_> {
    fn choose(&mut self, models: &mut DrawnModels, near: &Near, place: (usize, usize)) -> Colour {
        let wanted = self.wanted(place);
        let nearest = self.nearest(&wanted);
        if self.price == 0.0 || models.colours.first_candidate(near) == Some(nearest) {
            return nearest;
        }
        let lambda = self.price;
        let (options, escape) = models.colours.options(near);
        let number = self.palette.colours.binary_search(&nearest).unwrap_or(0);
        let escape = escape + models.escapes.bits(near, number);
        let mut best = (self.error(&wanted, nearest) + lambda * escape, nearest);
        for (colour, bits) in options {
            let cost = self.error(&wanted, colour) + lambda * bits;
            if cost < best.0 {
                best = (cost, colour);
            }
        }
        best.1
    }

    fn coded(&mut self, coder: &mut Meter, place: (usize, usize), colour: Colour) {
        let bits = std::mem::take(&mut coder.bits);
        let error = self.error(&self.wanted(place), colour);
        self.costs[self.mask.index(place.0, place.1)] += error + self.original.lambda * bits;
        self.errors += error;
        self.used.insert(colour);
    }
}

/// Writes, and counts bits.
struct Meter {
    encoder: RangeEncoder,
    bits: f32,
}

impl Coder for Meter {
    #[inline(always)]
    fn code(&mut self, bit: bool, one: u32) -> bool {
        self.bits += code_lengths(one)[usize::from(bit)];
        self.encoder.code(bit, one)
    }

    fn exhausted(&self) -> bool {
        false
    }

    #[inline(always)]
    fn raw(&mut self, bits: u32, number: u32) -> u32 {
        self.bits += bits as f32;
        self.encoder.raw(bits, number)
    }

    #[inline(always)]
    fn symbol(&mut self, ends: &Ends, symbol: usize) -> usize {
        let start = if symbol == 0 { 0 } else { ends[symbol - 1] };
        self.bits += code_length(((ends[symbol] - start) as u32) << 2);
        self.encoder.symbol(ends, symbol)
    }
}

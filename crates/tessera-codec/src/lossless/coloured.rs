//! A tile pixel by pixel (`spec/lossless.md`, "Colours").

use super::coder::Coder;
use super::colours::{Colour, ColourModel};
use super::level::Level;
use super::palette::{IndexModel, PaletteOrder, code_palette};
use super::planes::BorderedPlane;
use super::predictive::PlaneModel;
use super::taps::{Around, Taps};
use super::template::{Near, REACH};
use super::{Fault, Shape, Tile};
use crate::simd::PairProducts;

/// How colours are coded that are no candidates.
#[derive(Clone, Copy, Debug)]
pub(super) enum Escapes {
    Samples(Level),
    Palette,
}

/// The models of [`Escapes`].
enum EscapeModel<P> {
    Samples {
        planes: Vec<BorderedPlane>,
        models: Vec<PlaneModel<P>>,
    },
    Palette {
        palette: Vec<Colour>,
        model: IndexModel,
    },
}

/// Colours with a border.
#[derive(Debug)]
pub(super) struct Canvas {
    width: usize,
    pub(super) stride: usize,
    pub(super) colours: Vec<Colour>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize) -> Self {
        let stride = width + 2 * REACH;
        Self {
            width,
            stride,
            colours: vec![0; stride * (height + REACH)],
        }
    }

    #[inline(always)]
    pub(super) fn at(&self, x: usize, y: usize) -> usize {
        (y + REACH) * self.stride + REACH + x
    }

    /// On the left of a row stands what is above its first pixel.
    pub(super) fn open_row(&mut self, y: usize) {
        let start = self.at(0, y);
        let above = self.colours[start - self.stride];
        self.colours[start - REACH..start].fill(above);
    }

    /// On the right of a row stands its last pixel.
    pub(super) fn close_row(&mut self, y: usize) {
        let end = self.at(self.width, y);
        let last = self.colours[end - 1];
        self.colours[end..end + REACH].fill(last);
    }
}

/// Codes a tile; a reader is given one without samples.
#[inline(always)]
pub(super) fn code_colours(
    simd: impl PairProducts,
    coder: &mut impl Coder,
    shape: &Shape,
    source: &Tile,
    escapes: Escapes,
) -> Result<Vec<BorderedPlane>, Fault> {
    let mut canvas = Canvas::new(shape.width, shape.height);
    let mut model = ColourModel::new(shape.width * shape.height);
    let mut escape = EscapeModel::new(simd, coder, shape, source, escapes)?;
    for y in 0..shape.height {
        canvas.open_row(y);
        escape.open_row(y);
        for x in 0..shape.width {
            let at = canvas.at(x, y);
            let near = Near::new(&canvas.colours, canvas.stride, at);
            let wanted = source.colour(y * shape.width + x);
            let colour = match model.code(coder, near, wanted) {
                Some(colour) => {
                    escape.put(shape, (x, y), colour);
                    colour
                }
                None => escape.code(coder, shape, &near, (x, y), wanted),
            };
            model.learn(colour);
            canvas.colours[at] = colour;
        }
        canvas.close_row(y);
        escape.close_row(y);
        if coder.exhausted() {
            return Err(Fault::Exhausted);
        }
    }
    Ok(escape.into_planes(shape, &canvas))
}

/// A sample of a colour.
#[inline(always)]
fn sample(colour: Colour, channels: usize, channel: usize) -> u16 {
    (colour >> (16 * (channels - 1 - channel))) as u16
}

impl<P: PairProducts> EscapeModel<P> {
    fn new(
        simd: P,
        coder: &mut impl Coder,
        shape: &Shape,
        source: &Tile,
        escapes: Escapes,
    ) -> Result<Self, Fault> {
        match escapes {
            Escapes::Samples(level) => {
                let (width, height) = (shape.width, shape.height);
                let each = 0..shape.channels;
                let plane = |_| BorderedPlane::new(width, height);
                let model = |_| PlaneModel::new(simd, width, shape.max(), level);
                Ok(Self::Samples {
                    planes: each.clone().map(plane).collect(),
                    models: each.map(model).collect(),
                })
            }
            Escapes::Palette => {
                let palette = code_palette(
                    coder,
                    &source.palette,
                    (shape.channels, shape.depth),
                    PaletteOrder::AlongColours,
                );
                let palette = palette.ok_or(Fault::Invalid("a palette that cannot be"))?;
                let model = IndexModel::new(palette.len());
                Ok(Self::Palette { palette, model })
            }
        }
    }

    fn open_row(&mut self, y: usize) {
        if let Self::Samples { planes, models } = self {
            planes.iter_mut().for_each(|plane| plane.open_row(y));
            models.iter_mut().for_each(PlaneModel::open_row);
        }
    }

    fn close_row(&mut self, y: usize) {
        if let Self::Samples { planes, models } = self {
            planes.iter_mut().for_each(|plane| plane.close_row(y));
            models.iter_mut().for_each(PlaneModel::close_row);
        }
    }

    /// Codes a colour that is no candidate.
    #[inline(always)]
    fn code(
        &mut self,
        coder: &mut impl Coder,
        shape: &Shape,
        near: &Near,
        (x, y): (usize, usize),
        wanted: Colour,
    ) -> Colour {
        match self {
            Self::Palette { palette, model } => {
                let number = palette.binary_search(&wanted).unwrap_or(0);
                palette[model.code(coder, near, number).min(palette.len() - 1)]
            }
            Self::Samples { planes, models } => {
                let mut colour = 0;
                let mut before = None;
                for (channel, model) in models.iter_mut().enumerate() {
                    let taps = taps(shape, planes, channel, (x, y));
                    let wanted = sample(wanted, shape.channels, channel);
                    let (value, error) = model.code(coder, &taps, before, x, wanted);
                    before = (channel >= shape.first_colour()).then_some(error);
                    let at = planes[channel].at(x, y);
                    planes[channel].data[at] = value;
                    colour = colour << 16 | Colour::from(value);
                }
                colour
            }
        }
    }

    /// Notes a pixel that was a candidate.
    #[inline(always)]
    fn put(&mut self, shape: &Shape, (x, y): (usize, usize), colour: Colour) {
        let Self::Samples { planes, models } = self else {
            return;
        };
        for (channel, plane) in planes.iter_mut().enumerate() {
            let at = plane.at(x, y);
            plane.data[at] = sample(colour, shape.channels, channel);
            models[channel].skip(x);
        }
    }

    /// The planes of a finished tile.
    fn into_planes(self, shape: &Shape, canvas: &Canvas) -> Vec<BorderedPlane> {
        if let Self::Samples { planes, .. } = self {
            return planes;
        }
        let plane = |channel| {
            let mut plane = BorderedPlane::new(shape.width, shape.height);
            for y in 0..shape.height {
                let (from, to) = (canvas.at(0, y), plane.at(0, y));
                for x in 0..shape.width {
                    plane.data[to + x] = sample(canvas.colours[from + x], shape.channels, channel);
                }
            }
            plane
        };
        (0..shape.channels).map(plane).collect()
    }
}

/// Neighbours of a sample whose pixel is in work.
#[inline(always)]
fn taps(shape: &Shape, planes: &[BorderedPlane], channel: usize, (x, y): (usize, usize)) -> Taps {
    let at = planes[channel].at(x, y);
    let around = |channel: usize| Around::new(&planes[channel], at);
    let first = shape.first_colour();
    match channel.saturating_sub(first) {
        0 => Taps::new(around(channel), &[], false),
        1 => Taps::new(around(channel), &[around(first)], false),
        _ => Taps::new(around(channel), &[around(first), around(first + 1)], false),
    }
}

//! Blocks of a lossy tile that are coded pixel by pixel (`spec/bitstream.md`, "Drawn blocks").

use super::Fault;
use super::coder::Coder;
use super::coloured::Canvas;
use super::colours::{Colour, ColourModel};
use super::mask::{BLOCK, Mask};
use super::palette::{IndexModel, PaletteOrder, code_palette};
use super::template::Near;
use crate::simd::dispatch;
use crate::tile::entropy::range::RangeDecoder;

/// Bits of the samples of tiles.
pub(super) const SAMPLE_BITS: u32 = 12;
/// Fewest bits of the samples of a palette.
pub(super) const LEAST_PRECISION: u32 = 8;

/// What is known of a tile from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DrawnShape {
    pub(crate) width: usize,
    pub(crate) height: usize,
    /// Planes: one or three.
    pub(crate) channels: usize,
}

/// What the blocks of a tile are drawn with.
#[derive(Clone, Debug)]
pub(crate) struct Palette {
    /// Bits of its samples.
    pub(super) precision: u32,
    /// Sorted.
    pub(super) colours: Vec<Colour>,
}

/// Blocks that were coded.
#[derive(Debug)]
pub(crate) struct Drawn {
    pub(crate) mask: Mask,
    precision: u32,
    channels: usize,
    canvas: Canvas,
}

impl Drawn {
    /// A sample of a pixel of a block that is drawn, in 12 bits.
    #[inline(always)]
    pub(crate) fn sample(&self, x: usize, y: usize, channel: usize) -> u16 {
        let colour = self.canvas.colours[self.canvas.at(x, y)];
        sample(colour, self.channels, channel, self.precision)
    }
}

/// A sample of a colour, in 12 bits.
#[inline(always)]
pub(super) fn sample(colour: Colour, channels: usize, channel: usize, precision: u32) -> u16 {
    ((colour >> (16 * (channels - 1 - channel))) as u16) << (SAMPLE_BITS - precision)
}

/// Says which colour a pixel gets.
pub(super) trait Painter<C> {
    /// The colour of a pixel; a reader does not know it.
    fn choose(&mut self, models: &mut DrawnModels, near: &Near, place: (usize, usize)) -> Colour;

    /// Told of the colour that was coded.
    fn coded(&mut self, coder: &mut C, place: (usize, usize), colour: Colour);
}

/// Knows nothing.
struct Reader;

impl<C> Painter<C> for Reader {
    #[inline(always)]
    fn choose(&mut self, _: &mut DrawnModels, _: &Near, _: (usize, usize)) -> Colour {
        0
    }

    #[inline(always)]
    fn coded(&mut self, _: &mut C, _: (usize, usize), _: Colour) {}
}

/// Everything that adapts.
pub(super) struct DrawnModels {
    pub(super) colours: ColourModel,
    pub(super) escapes: IndexModel,
}

/// Decodes the drawn blocks of a tile.
pub(crate) fn decode_drawn(data: &[u8], shape: DrawnShape) -> Result<Drawn, Fault> {
    let mut coder = RangeDecoder::new(data);
    let mask = Mask::new(shape.width, shape.height);
    let unknown = Palette {
        precision: LEAST_PRECISION,
        colours: Vec::new(),
    };
    let drawn = dispatch(
        #[inline(always)]
        || code_drawn(&mut coder, shape, mask, &unknown, &mut Reader),
    )?;
    match coder.exhausted() {
        true => Err(Fault::Exhausted),
        false => Ok(drawn),
    }
}

/// The same walk for writing and reading; a reader is given a mask and a palette that say nothing.
#[inline(always)]
pub(super) fn code_drawn<C: Coder, P: Painter<C>>(
    coder: &mut C,
    shape: DrawnShape,
    mut mask: Mask,
    palette: &Palette,
    painter: &mut P,
) -> Result<Drawn, Fault> {
    let less = coder.raw(3, palette.precision - LEAST_PRECISION);
    let precision = (LEAST_PRECISION + less).min(SAMPLE_BITS);
    mask.code(coder);
    let palette = code_palette(
        coder,
        &palette.colours,
        (shape.channels, precision),
        PaletteOrder::AlongPalette,
    );
    let palette = palette.ok_or(Fault::Invalid("a palette that cannot be"))?;
    let mut models = DrawnModels {
        colours: ColourModel::new((mask.count() * BLOCK * BLOCK).max(1)),
        escapes: IndexModel::new(palette.len()),
    };
    let mut canvas = Canvas::new(shape.width, shape.height);
    for y in 0..shape.height {
        canvas.open_row(y);
        for (column, &drawn) in mask.row(y).iter().enumerate() {
            let start = column * BLOCK;
            let columns = start..(start + BLOCK).min(shape.width);
            if !drawn {
                // What follows goes on from where the last drawn block ended.
                let at = canvas.at(start, y);
                let before = canvas.colours[at - 1];
                canvas.colours[at..at + columns.len()].fill(before);
                continue;
            }
            for x in columns {
                code_pixel(coder, &mut canvas, &mut models, &palette, painter, (x, y));
            }
        }
        canvas.close_row(y);
        if coder.exhausted() {
            return Err(Fault::Exhausted);
        }
    }
    Ok(Drawn {
        mask,
        precision,
        channels: shape.channels,
        canvas,
    })
}

#[inline(always)]
fn code_pixel<C: Coder, P: Painter<C>>(
    coder: &mut C,
    canvas: &mut Canvas,
    models: &mut DrawnModels,
    palette: &[Colour],
    painter: &mut P,
    place: (usize, usize),
) {
    let at = canvas.at(place.0, place.1);
    let near = Near::new(&canvas.colours, canvas.stride, at);
    let wanted = painter.choose(models, &near, place);
    let colour = match models.colours.code(coder, near, wanted) {
        Some(colour) => colour,
        None => {
            let number = palette.binary_search(&wanted).unwrap_or(0);
            let number = models.escapes.code(coder, &near, number);
            palette[number.min(palette.len() - 1)]
        }
    };
    models.colours.learn(colour);
    canvas.colours[at] = colour;
    painter.coded(coder, place, colour);
}

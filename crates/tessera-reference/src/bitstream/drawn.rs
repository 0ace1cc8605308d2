//! `bitstream.md`, "Drawn blocks".

use super::canvas::Leaf;
use super::shapes::Shape;
use super::{Payload, Tile};
use crate::bytes::Reader;
use crate::error::Result;
use crate::lossless::{Cell, Colours, Continued, Escapes, Palette, sample_of};
use crate::plane::Plane;
use crate::range_coder::RangeCoder;

const BLOCK: usize = 16;
const FLAG_LIMIT: u8 = 60;

/// Which blocks of 16x16 samples are drawn, and their samples of 12 bits.
#[derive(Debug)]
pub(super) struct Drawn {
    across: usize,
    down: usize,
    flags: Vec<bool>,
    planes: Vec<Plane>,
}

impl Drawn {
    fn none(payload: &Payload<'_>) -> Self {
        let (across, down) = (
            payload.width.div_ceil(BLOCK),
            payload.height.div_ceil(BLOCK),
        );
        Self {
            across,
            down,
            flags: vec![false; across * down],
            planes: Vec::new(),
        }
    }

    fn is_drawn(&self, x: usize, y: usize) -> bool {
        self.flags[y / BLOCK * self.across + x / BLOCK]
    }

    /// The flags of the blocks that a square touches, as far as it lies inside the canvas.
    fn flags_of(&self, x: usize, y: usize, size: usize) -> impl Iterator<Item = bool> {
        let rows = y / BLOCK..(y + size).div_ceil(BLOCK).min(self.down);
        let columns = x / BLOCK..(x + size).div_ceil(BLOCK).min(self.across);
        rows.flat_map(move |y| {
            columns
                .clone()
                .map(move |x| self.flags[y * self.across + x])
        })
    }

    /// Whether a square lies within drawn blocks.
    pub(super) fn covers(&self, x: usize, y: usize, size: usize) -> bool {
        self.flags_of(x, y, size).all(|drawn| drawn)
    }

    /// Whether a part of a square is drawn.
    pub(super) fn touches(&self, x: usize, y: usize, size: usize) -> bool {
        self.flags_of(x, y, size).any(|drawn| drawn)
    }

    /// The first samples of the drawn blocks.
    fn blocks(&self) -> Vec<(usize, usize)> {
        let drawn = (0..self.flags.len()).filter(|&i| self.flags[i]);
        drawn
            .map(|i| (i % self.across * BLOCK, i / self.across * BLOCK))
            .collect()
    }
}

/// Reads the drawn blocks of a payload.
pub(super) fn read(payload: &Payload<'_>, reader: &mut Reader<'_>) -> Result<Drawn> {
    let mut drawn = Drawn::none(payload);
    if !payload.has_drawn {
        return Ok(drawn);
    }
    let length = reader.length()?;
    let stream = reader.take(length)?;
    if stream.is_empty() {
        return Ok(drawn);
    }
    let mut coder = RangeCoder::new(stream);
    let depth = (8 + coder.raw(3)).min(12);
    drawn.flags = flags(&mut coder, drawn.across, drawn.down);
    let palette = Palette::read(&mut coder, payload.planes, depth, true)?;
    let colours = pixels(&mut coder, payload, &drawn, palette)?;
    coder.check_end()?;
    for plane in 0..payload.planes {
        drawn.planes.push(Plane::new(payload.width, payload.height));
        for y in 0..payload.height {
            for x in 0..payload.width {
                let sample = sample_of(colours.at(x as i64, y as i64), plane, payload.planes);
                drawn.planes[plane].set(x, y, sample << (12 - depth));
            }
        }
    }
    Ok(drawn)
}

fn flags(coder: &mut RangeCoder<'_>, across: usize, down: usize) -> Vec<bool> {
    let mut cells = [Cell::NEW; 16];
    let mut flags: Vec<bool> = Vec::new();
    for i in 0..across * down {
        let (x, y) = ((i % across) as i64, (i / across) as i64);
        let at = |x: i64, y: i64| {
            let inside = (0..across as i64).contains(&x) && y >= 0;
            usize::from(inside && flags[y as usize * across + x as usize])
        };
        let cell = at(x - 1, y) + 2 * at(x, y - 1) + 4 * at(x - 1, y - 1) + 8 * at(x + 1, y - 1);
        flags.push(cells[cell].decide(coder, FLAG_LIMIT));
    }
    flags
}

/// Reads the pixels of drawn blocks; the others take the colour on their left.
fn pixels(
    coder: &mut RangeCoder<'_>,
    payload: &Payload<'_>,
    drawn: &Drawn,
    palette: Palette,
) -> Result<Continued> {
    let mut escapes = Escapes::new(palette);
    let mut colours = Continued::new(payload.width, payload.height);
    let mut candidates = Colours::new((256 * drawn.blocks().len()).max(1));
    for y in 0..payload.height {
        for x in 0..payload.width {
            let (xi, yi) = (x as i64, y as i64);
            let (w, n) = (colours.at(xi - 1, yi), colours.at(xi, yi - 1));
            let colour = match drawn.is_drawn(x, y) {
                true => candidates.pixel(coder, &colours, x, y, |coder| escapes.read(coder, w, n)),
                false => w,
            };
            colours.set(x, y, colour);
        }
        coder.check_end()?;
    }
    Ok(colours)
}

impl Tile<'_> {
    /// The cells of drawn blocks are those of decoded leaves.
    pub(super) fn cover_drawn(&mut self) {
        for (x, y) in self.drawn.blocks() {
            let leaf = Leaf {
                x,
                y,
                shape: Shape { w: BLOCK, h: BLOCK },
                mode: 0,
                taps: false,
                reference: None,
                coded: [false; 2],
                activity: [0; 2],
            };
            self.canvases
                .iter_mut()
                .for_each(|canvas| canvas.cover(&leaf));
        }
    }

    /// Puts the samples of drawn blocks on the canvas, the last column and row of the tile repeated to its edge.
    pub(super) fn put_drawn(&mut self) {
        for (left, top) in self.drawn.blocks() {
            let planes = self
                .canvases
                .iter_mut()
                .flat_map(|canvas| &mut canvas.planes);
            for (plane, drawn) in planes.zip(&self.drawn.planes) {
                for y in top..(top + BLOCK).min(plane.height) {
                    for x in left..(left + BLOCK).min(plane.width) {
                        plane.set(x, y, drawn.nearest(x as i64, y as i64));
                    }
                }
            }
        }
    }
}

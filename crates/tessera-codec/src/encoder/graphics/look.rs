//! A look at a tile that tells whether it is a photo, and which blocks may be graphics.
//!
//! It must cost next to nothing, for most pictures are photos: of every four rows one is looked at.

use crate::encoder::source::Source;
use crate::lossless::{DRAWN_BLOCK, Mask};
use crate::tile::TileConfig;

/// Of every so many rows the second is looked at.
const ROW_STRIDE: usize = 4;
/// Blocks of no more colours may be graphics, whatever they look like.
const FEW_COLOURS: usize = 8;
/// Other blocks may be from this share of pixels like a neighbour on, one in so many.
const FLAT: usize = 4;
/// How far luma is from what its neighbours say at an edge of graphics, out of 4096.
const HARD: i32 = 400;
/// Edges in a block of graphics, one in so many pixels.
const EDGES: usize = 24;
/// A tile has graphics if one in so many blocks is clearly so: of 24 Kodak pictures and 20 training photos the nearest has one in 55,
/// of drawings the farthest one in 38. If fewer than one in so many looks like a photo it is none: of 125 training photos the
/// nearest, a night sky, has one in 12.
const CLEAR: usize = 48;
/// A block is noise if so many of as many pixels are edges.
const NOISY: (usize, usize) = (2, 3);
/// A tile is noise if one in so many blocks is: of 125 training photos the nearest has one in 31.
const NOISE: usize = 4;

/// What a look at a block says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sight {
    Photo,
    /// A flat ground or the like: as good for photos.
    Plain,
    Graphics,
    /// Nothing tells what comes next.
    Noise,
}

/// What a look at a tile says.
#[derive(Debug)]
pub(super) enum Look {
    Photo,
    /// Neither a photo nor anything to draw: fine lines, noise, a blank page.
    Pattern,
    /// With the blocks that may be drawn.
    Graphics(Mask),
}

/// Looks at all blocks of a tile.
pub(super) fn look(source: &Source, config: &TileConfig) -> Look {
    let (width, height) = (config.width as usize, config.height as usize);
    let mut mask = Mask::new(width, height);
    let (mut photo, mut clear, mut noise) = (0, 0, 0);
    for y in (0..height).step_by(DRAWN_BLOCK) {
        for x in (0..width).step_by(DRAWN_BLOCK) {
            let size = (DRAWN_BLOCK.min(width - x), DRAWN_BLOCK.min(height - y));
            let sight = look_at(source, (x, y), size);
            let at = mask.index(x, y);
            mask.flags_mut()[at] = matches!(sight, Sight::Plain | Sight::Graphics);
            photo += usize::from(sight == Sight::Photo);
            clear += usize::from(sight == Sight::Graphics);
            noise += usize::from(sight == Sight::Noise);
        }
    }
    let blocks = mask.flags_mut().len();
    if clear > 0 && clear * CLEAR >= blocks {
        Look::Graphics(mask)
    } else if photo * CLEAR < blocks || noise * NOISE >= blocks {
        Look::Pattern
    } else {
        Look::Photo
    }
}

fn look_at(source: &Source, (left, top): (usize, usize), (width, height): (usize, usize)) -> Sight {
    let (planes, stride) = (source.planes(), source.stride);
    let luma = source.luma();
    let mut colours = Colours::default();
    let (mut pixels, mut flat, mut edges) = (0, 0, 0);
    for y in (top + 1..top + height).step_by(ROW_STRIDE) {
        for x in left.max(1)..left + width {
            let at = y * stride + x;
            let like = |other: usize| planes.iter().all(|plane| plane[at] == plane[other]);
            pixels += 1;
            if like(at - 1) || like(at - stride) {
                flat += 1;
                continue;
            }
            colours.add(planes, at);
            let [here, w, n, nw] =
                [at, at - 1, at - stride, at - stride - 1].map(|at| i32::from(luma[at]));
            let predicted = (w + n - nw).clamp(w.min(n), w.max(n));
            edges += usize::from((here - predicted).abs() > HARD);
        }
    }
    let few = colours.are_few();
    if !few && flat * FLAT < pixels {
        let (share, of) = NOISY;
        let noisy = edges * of >= pixels * share;
        return if noisy { Sight::Noise } else { Sight::Photo };
    }
    let sharp = edges * EDGES >= pixels && edges > 0;
    match sharp && (few || 2 * flat >= pixels) {
        true => Sight::Graphics,
        false => Sight::Plain,
    }
}

/// Different colours, as long as they are few.
#[derive(Default)]
struct Colours {
    list: [[u16; 3]; FEW_COLOURS],
    count: usize,
}

impl Colours {
    fn add(&mut self, planes: &[Vec<u16>], at: usize) {
        if self.count > FEW_COLOURS {
            return;
        }
        let mut colour = [0; 3];
        for (to, plane) in colour.iter_mut().zip(planes) {
            *to = plane[at];
        }
        if self.list[..self.count.min(FEW_COLOURS)].contains(&colour) {
            return;
        }
        if let Some(free) = self.list.get_mut(self.count) {
            *free = colour;
        }
        self.count += 1;
    }

    fn are_few(&self) -> bool {
        self.count <= FEW_COLOURS
    }
}

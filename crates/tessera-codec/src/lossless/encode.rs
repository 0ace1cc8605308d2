//! Which method a tile is coded with, and the coding itself.

use super::colours::Colour;
use super::palette::MAX_COLOURS;
use super::planes::BorderedPlane;
use super::{Level, Method, Shape, Tile, code_tile, to_samples};
use crate::picture::{Picture, PixelFormat, Samples};
use crate::tile::entropy::range::RangeEncoder;
use crate::tile_grid::Rect;
use tessera_dict::LosslessNets;

/// From this share of pixels equal to a neighbour on, out of 64, a tile may be graphics.
const SOME_FLAT: usize = 16;
/// Below this share a tile of many colours is a smooth photo.
const RATHER_FLAT: usize = 24;
/// Tiles of no more pixels are tried with every method.
const SMALL: usize = 1 << 17;
/// From this share on it is not a photo.
const MOSTLY_FLAT: usize = 40;
/// Up to so many colours nothing but a palette is tried.
const FEW_COLOURS: usize = 64;

/// How to code tiles.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub(crate) effort: u8,
    /// How far samples of colour may be moved.
    pub(crate) near: u8,
    /// Whether colour under alpha 0 becomes black.
    pub(crate) clean_alpha: bool,
}

/// A coded tile and what a decoder makes of it.
#[derive(Debug, Default)]
pub(crate) struct EncodedTile {
    pub(crate) bytes: Vec<u8>,
    /// Whether a decoder needs the dictionary.
    pub(crate) needs_dictionary: bool,
    planes: Vec<BorderedPlane>,
}

impl EncodedTile {
    /// Interleaved samples as a decoder returns them.
    pub(crate) fn samples(&self, shape: &Shape, format: PixelFormat) -> Samples {
        to_samples(shape, &self.planes, format)
    }
}

/// Codes the part of a picture at `rect`, without alpha if the shape has none, with the networks that a dictionary has.
pub(crate) fn encode_tile(
    picture: &Picture,
    rect: Rect,
    shape: &Shape,
    options: &Options,
    nets: &LosslessNets,
) -> EncodedTile {
    let mut tile = read_tile(picture, rect, shape);
    if options.clean_alpha && shape.alpha {
        clean_alpha(&mut tile);
    }
    if options.near > 0 {
        approximate(&mut tile, shape, options.near.into());
    }
    tile.palette = palette(&tile).unwrap_or_default();
    let candidates = methods(&tile, shape, options.effort, nets);
    let coded = candidates
        .into_iter()
        .map(|method| write(&tile, shape, method, nets));
    coded
        .min_by_key(|coded| coded.bytes.len())
        .unwrap_or_default()
}

/// Makes colour under alpha 0 black.
fn clean_alpha(tile: &mut Tile) {
    let Some((alpha, colours)) = tile.planes.split_first_mut() else {
        return;
    };
    for plane in colours {
        for (sample, _) in plane
            .iter_mut()
            .zip(&*alpha)
            .filter(|(_, alpha)| **alpha == 0)
        {
            *sample = 0;
        }
    }
}

/// Moves samples of colour to multiples of `2 * near + 1`.
fn approximate(tile: &mut Tile, shape: &Shape, near: u32) {
    let step = 2 * near + 1;
    for plane in &mut tile.planes[shape.first_colour()..] {
        for sample in plane {
            let multiple = (u32::from(*sample) + near) / step * step;
            *sample = multiple.min(shape.max().into()) as u16;
        }
    }
}

/// The methods worth trying.
fn methods(tile: &Tile, shape: &Shape, effort: u8, nets: &LosslessNets) -> Vec<Method> {
    let level = match effort {
        0..=4 => Level::One,
        5..=7 => Level::Two,
        _ => Level::Four,
    };
    let colour_planes = shape.channels - shape.first_colour();
    let learned = nets[..colour_planes].iter().any(Option::is_some);
    let planes = match effort {
        0..=2 => Method::Fast,
        _ if learned => Method::Planes(Level::Learned),
        _ => Method::Planes(level),
    };
    let flat = flat_share(tile, shape);
    let colours = tile.palette.len();
    let small = shape.width * shape.height <= SMALL;
    if effort <= 5 && !small && colours == 0 && (SOME_FLAT..RATHER_FLAT).contains(&flat) {
        // Seldom worth the time of both: colours take three times that of planes, reading too.
        return vec![match planes {
            Method::Fast => Method::Planes(level),
            _ => planes,
        }];
    }
    let mut methods = Vec::new();
    if colours > 0 && (flat >= SOME_FLAT || colours <= FEW_COLOURS) {
        methods.push(Method::Palette);
    }
    if flat >= SOME_FLAT && !(1..=FEW_COLOURS).contains(&colours) {
        methods.push(Method::Colours(level));
    }
    if methods.is_empty() || ((flat < MOSTLY_FLAT || small) && colours != 2) {
        methods.push(planes);
    }
    methods
}

fn write(tile: &Tile, shape: &Shape, method: Method, nets: &LosslessNets) -> EncodedTile {
    let ranked;
    let source = match method {
        Method::Planes(_) | Method::Fast => {
            ranked = by_rank(tile, shape);
            ranked.as_ref().unwrap_or(tile)
        }
        _ => tile,
    };
    let mut coder = RangeEncoder::new();
    let planes = code_tile(&mut coder, shape, source, method, nets);
    let mut bytes = vec![method.byte()];
    bytes.extend(coder.finish());
    EncodedTile {
        bytes,
        needs_dictionary: method == Method::Planes(Level::Learned),
        planes: planes.expect("a writer writes no faults"),
    }
}

/// Planes in coding order.
pub(super) fn read_tile(picture: &Picture, rect: Rect, shape: &Shape) -> Tile {
    let planes = shape
        .order()
        .iter()
        .map(|&channel| match picture.samples() {
            Samples::U8(samples) => read_plane(samples, picture, rect, channel),
            Samples::U16(samples) => read_plane(samples, picture, rect, channel),
        });
    Tile {
        planes: planes.collect(),
        ..Tile::default()
    }
}

fn read_plane<S: Copy + Into<u16>>(
    samples: &[S],
    picture: &Picture,
    rect: Rect,
    channel: usize,
) -> Vec<u16> {
    let channels = picture.format().channels();
    let width = picture.width() as usize;
    let rows = (rect.y as usize..).take(rect.height as usize);
    rows.flat_map(|y| {
        let start = (y * width + rect.x as usize) * channels;
        let row = &samples[start..][..rect.width as usize * channels];
        row.iter().skip(channel).step_by(channels)
    })
    .map(|&sample| sample.into())
    .collect()
}

/// The colours of a tile, unless they are many.
fn palette(tile: &Tile) -> Option<Vec<Colour>> {
    // Open addressing; never more than a quarter of it is taken.
    const SLOTS: usize = 4 * MAX_COLOURS;
    let mut slots = vec![None; SLOTS];
    let mut colours = Vec::new();
    let mut last = None;
    for index in 0..tile.planes[0].len() {
        let colour = tile.colour(index);
        if last == Some(colour) {
            continue;
        }
        last = Some(colour);
        let mut slot = (colour.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize % SLOTS;
        while slots[slot].is_some_and(|other| other != colour) {
            slot = (slot + 1) % SLOTS;
        }
        if slots[slot].is_none() {
            if colours.len() == MAX_COLOURS {
                return None;
            }
            slots[slot] = Some(colour);
            colours.push(colour);
        }
    }
    colours.sort_unstable();
    Some(colours)
}

/// How many pixels out of 64 are like the one on their left or above.
fn flat_share(tile: &Tile, shape: &Shape) -> usize {
    let width = shape.width;
    let mut flat = 0;
    let mut differences = vec![[0u16; 2]; width];
    for y in 0..shape.height {
        // What has no neighbour there differs from it.
        differences.fill([0, u16::from(y == 0)]);
        differences[0][0] = u16::from(y == 0);
        for plane in &tile.planes {
            note_differences(&mut differences, plane, y);
        }
        let like = |[left, above]: &&[u16; 2]| (*left == 0) | (*above == 0);
        flat += differences.iter().filter(like).count();
    }
    flat * 64 / (width * shape.height)
}

/// Notes where the samples of row `y` differ from those on their left and above.
fn note_differences(differences: &mut [[u16; 2]], plane: &[u16], y: usize) {
    let width = differences.len();
    let start = y * width;
    let row = &plane[start..][..width];
    if start > 0 {
        let above = &plane[start - width..][..width];
        for ((to, a), b) in differences.iter_mut().zip(row).zip(above) {
            to[1] |= a ^ b;
        }
        differences[0][0] |= row[0] ^ plane[start - 1];
    }
    for ((to, a), b) in differences[1..].iter_mut().zip(&row[1..]).zip(row) {
        to[0] |= a ^ b;
    }
}

/// The tile with colour samples replaced by ranks among the values that occur, if that leaves out a quarter of them.
fn by_rank(tile: &Tile, shape: &Shape) -> Option<Tile> {
    let mut rank = vec![None; usize::from(shape.max()) + 1];
    for plane in &tile.planes[shape.first_colour()..] {
        for &value in plane {
            rank[usize::from(value)] = Some(0);
        }
    }
    let used: Vec<u16> = (0..=shape.max())
        .filter(|&value| rank[usize::from(value)].is_some())
        .collect();
    let span = usize::from(used[used.len() - 1] - used[0]) + 1;
    if used.len() * 4 > span * 3 {
        return None;
    }
    for (number, &value) in used.iter().enumerate() {
        rank[usize::from(value)] = Some(number as u16);
    }
    let mut ranked = tile.clone();
    for plane in &mut ranked.planes[shape.first_colour()..] {
        for value in plane {
            *value = rank[usize::from(*value)].unwrap_or(0);
        }
    }
    ranked.used = Some(used);
    Some(ranked)
}

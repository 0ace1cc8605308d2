//! Between interleaved pixels of a picture and the 12-bit planes of a tile.

use crate::picture::{Colour, Picture, PixelFormat, Samples};
use crate::tile_grid::Rect;
use tessera_patch::Plane;
use tessera_patch::colour::ycbcr_to_rgb;

#[cfg(feature = "encoder")]
use crate::error::{Error, Result};
#[cfg(feature = "encoder")]
use tessera_patch::colour::rgb_to_ycbcr;

/// A stored sample of either width.
trait Sample: Copy {
    #[cfg(feature = "encoder")]
    fn load(self) -> u16;
    fn store(value: u16) -> Self;
}

impl Sample for u8 {
    #[cfg(feature = "encoder")]
    fn load(self) -> u16 {
        u16::from(self)
    }
    fn store(value: u16) -> Self {
        value as u8
    }
}

impl Sample for u16 {
    #[cfg(feature = "encoder")]
    fn load(self) -> u16 {
        self
    }
    fn store(value: u16) -> Self {
        value
    }
}

/// The planes of one tile: one for gray or three for colour, and alpha apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TilePlanes {
    pub(crate) colour: Vec<Plane>,
    pub(crate) alpha: Option<Plane>,
}

/// Where the samples of a row of `rect` lie inside the picture.
fn row_span(width: u32, channels: usize, rect: Rect, y: usize) -> std::ops::Range<usize> {
    let start = ((rect.y as usize + y) * width as usize + rect.x as usize) * channels;
    start..start + rect.width as usize * channels
}

/// Cuts a tile out of a picture and converts it to planes.
#[cfg(feature = "encoder")]
pub(crate) fn read_tile(picture: &Picture, rect: Rect) -> Result<TilePlanes> {
    match picture.samples() {
        Samples::U8(samples) => read_samples(samples, picture, rect),
        Samples::U16(samples) => read_samples(samples, picture, rect),
    }
}

#[cfg(feature = "encoder")]
fn read_samples<S: Sample>(samples: &[S], picture: &Picture, rect: Rect) -> Result<TilePlanes> {
    let format = picture.format();
    let new_plane = || {
        Plane::new(rect.width as usize, rect.height as usize)
            .map_err(|error| Error::Parameter(error.to_string()))
    };
    let mut colour = (0..format.colour_channels())
        .map(|_| new_plane())
        .collect::<Result<Vec<_>>>()?;
    let mut alpha = format.alpha.then(new_plane).transpose()?;
    for y in 0..rect.height as usize {
        let row = &samples[row_span(picture.width(), format.channels(), rect, y)];
        for (x, pixel) in row.chunks_exact(format.channels()).enumerate() {
            let internal = |channel: usize| format.depth.to_internal(pixel[channel].load());
            match colour.as_mut_slice() {
                [gray] => gray.row_mut(y)[x] = internal(0),
                planes => {
                    let ycbcr = rgb_to_ycbcr([internal(0), internal(1), internal(2)]);
                    for (plane, value) in planes.iter_mut().zip(ycbcr) {
                        plane.row_mut(y)[x] = value;
                    }
                }
            }
            if let Some(plane) = &mut alpha {
                plane.row_mut(y)[x] = internal(format.channels() - 1);
            }
        }
    }
    Ok(TilePlanes { colour, alpha })
}

/// A tile as interleaved samples of the picture's format.
pub(crate) fn to_samples(planes: &TilePlanes, format: PixelFormat) -> Samples {
    match format.bytes_per_sample() {
        1 => Samples::U8(interleave(planes, format)),
        _ => Samples::U16(interleave(planes, format)),
    }
}

fn interleave<S: Sample>(planes: &TilePlanes, format: PixelFormat) -> Vec<S> {
    let first = &planes.colour[0];
    let mut out = Vec::with_capacity(first.data.len() * format.channels());
    let store = |value| S::store(format.depth.from_internal(value));
    for index in 0..first.data.len() {
        match format.colour {
            Colour::Gray => out.push(store(first.data[index])),
            Colour::Rgb => {
                let ycbcr = [0, 1, 2].map(|channel: usize| planes.colour[channel].data[index]);
                out.extend(ycbcr_to_rgb(ycbcr).map(store));
            }
        }
        if let Some(alpha) = &planes.alpha {
            out.push(store(alpha.data[index]));
        }
    }
    out
}

/// Copies the part of a tile that lies inside the picture's window.
///
/// `tile` is where the tile lies in the whole picture, `window` the part of the whole that
/// `picture` holds.
pub(crate) fn paste(picture: &mut Picture, window: Rect, tile: Rect, samples: &Samples) {
    let Some(shared) = window.intersection(&tile) else {
        return;
    };
    let channels = picture.format().channels();
    match (picture.samples_mut(), samples) {
        (Samples::U8(to), Samples::U8(from)) => copy(to, window, from, tile, shared, channels),
        (Samples::U16(to), Samples::U16(from)) => copy(to, window, from, tile, shared, channels),
        _ => unreachable!("both sides were made from the same format"),
    }
}

fn copy<S: Copy>(
    to: &mut [S],
    window: Rect,
    from: &[S],
    tile: Rect,
    shared: Rect,
    channels: usize,
) {
    let inside = |outer: Rect| Rect {
        x: shared.x - outer.x,
        y: shared.y - outer.y,
        ..shared
    };
    for y in 0..shared.height as usize {
        let source = row_span(tile.width, channels, inside(tile), y);
        let target = row_span(window.width, channels, inside(window), y);
        to[target].copy_from_slice(&from[source]);
    }
}

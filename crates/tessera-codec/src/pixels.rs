//! Between interleaved pixels of a picture and the 12-bit planes of a tile.

use crate::picture::{Picture, PixelFormat, Samples};
use crate::simd::kernel;
use crate::threads;
use crate::tile_grid::Rect;
use tessera_patch::Plane;
use tessera_patch::colour::{BitDepth, ycbcr_to_rgb};

#[cfg(feature = "encoder")]
use crate::error::{Error, Result};
#[cfg(feature = "encoder")]
use tessera_patch::colour::rgb_to_ycbcr;

/// A stored sample of either width.
trait Sample: Copy + Send {
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
    let channels = format.channels();
    let mut planes = (0..channels)
        .map(|_| Plane::new(rect.width as usize, rect.height as usize))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|error| Error::Parameter(error.to_string()))?;
    for y in 0..rect.height as usize {
        let row = &samples[row_span(picture.width(), channels, rect, y)];
        for (channel, plane) in planes.iter_mut().enumerate() {
            let values = row.iter().skip(channel).step_by(channels);
            for (to, from) in plane.row_mut(y).iter_mut().zip(values) {
                *to = format.depth.to_internal(from.load());
            }
        }
    }
    let alpha = if format.alpha { planes.pop() } else { None };
    if let [r, g, b] = planes.as_mut_slice() {
        to_ycbcr(&mut r.data, &mut g.data, &mut b.data);
    }
    Ok(TilePlanes {
        colour: planes,
        alpha,
    })
}

#[cfg(feature = "encoder")]
kernel! {
    /// Turns RGB planes into YCbCr.
    fn to_ycbcr(r: &mut [u16], g: &mut [u16], b: &mut [u16]) {
        for ((r, g), b) in r.iter_mut().zip(g).zip(b) {
            [*r, *g, *b] = rgb_to_ycbcr([*r, *g, *b]);
        }
    }
}

/// A tile as interleaved samples of the picture's format.
pub(crate) fn to_samples(planes: &TilePlanes, format: PixelFormat) -> Samples {
    match format.bytes_per_sample() {
        1 => Samples::U8(interleave(planes, format)),
        _ => Samples::U16(interleave(planes, format)),
    }
}

fn interleave<S: Sample>(planes: &TilePlanes, format: PixelFormat) -> Vec<S> {
    let channels = format.channels();
    let store = |value| S::store(format.depth.from_internal(value));
    let mut out = vec![S::store(0); planes.colour[0].data.len() * channels];
    match planes.colour.as_slice() {
        [y, cb, cr] => {
            threads::for_each_chunk(&mut out, PORTION * channels, |at, out| {
                let start = at * PORTION;
                let part = start..start + out.len() / channels;
                let planes = [y, cb, cr].map(|plane| &plane.data[part.clone()]);
                to_rgb(planes, channels, format.depth, out);
            });
        }
        planes => put_channel(&mut out, channels, 0, &planes[0], store),
    }
    if let Some(alpha) = &planes.alpha {
        put_channel(&mut out, channels, channels - 1, alpha, store);
    }
    out
}

/// Pixels converted by one thread before it looks for more.
const PORTION: usize = 1 << 15;
/// Pixels converted at once.
const RUN: usize = 64;

kernel! {
    /// Turns planes of YCbCr into interleaved RGB of a picture; further channels are left alone.
    fn to_rgb<S: Sample>(planes: [&[u16]; 3], channels: usize, depth: BitDepth, out: &mut [S]) {
        // What the compiler knows when it lays out the loops is worth a copy of them.
        match (channels, depth) {
            (3, BitDepth::Eight) => to_rgb_channels::<3, S>(planes, BitDepth::Eight, out),
            (3, depth) => to_rgb_channels::<3, S>(planes, depth, out),
            (_, depth) => to_rgb_channels::<4, S>(planes, depth, out),
        }
    }
}

#[inline(always)]
fn to_rgb_channels<const CHANNELS: usize, S: Sample>(
    planes: [&[u16]; 3],
    depth: BitDepth,
    out: &mut [S],
) {
    let [y, cb, cr] = planes.map(|plane| plane.chunks(RUN));
    let (pixels, _) = out.as_chunks_mut::<CHANNELS>();
    for (pixels, (y, (cb, cr))) in pixels.chunks_mut(RUN).zip(y.zip(cb.zip(cr))) {
        let rgb = match [y, cb, cr].map(|plane| plane.first_chunk()) {
            [Some(y), Some(cb), Some(cr)] => run_to_rgb([y, cb, cr], depth),
            _ => {
                let mut run = [[0; RUN]; 3];
                for (to, from) in run.iter_mut().zip([y, cb, cr]) {
                    to[..from.len()].copy_from_slice(from);
                }
                run_to_rgb(run.each_ref(), depth)
            }
        };
        for (i, pixel) in pixels.iter_mut().enumerate() {
            for (to, channel) in pixel.iter_mut().zip(&rgb) {
                *to = S::store(channel[i]);
            }
        }
    }
}

#[inline(always)]
fn run_to_rgb(run: [&[u16; RUN]; 3], depth: BitDepth) -> [[u16; RUN]; 3] {
    let mut rgb = [[0; RUN]; 3];
    for i in 0..RUN {
        let pixel = ycbcr_to_rgb([run[0][i], run[1][i], run[2][i]]);
        for (channel, value) in rgb.iter_mut().zip(pixel) {
            channel[i] = depth.from_internal(value);
        }
    }
    rgb
}

/// Writes a plane into one of several interleaved channels.
fn put_channel<S>(
    out: &mut [S],
    channels: usize,
    channel: usize,
    plane: &Plane,
    store: impl Fn(u16) -> S,
) {
    for (pixel, &value) in out.chunks_exact_mut(channels).zip(&plane.data) {
        pixel[channel] = store(value);
    }
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

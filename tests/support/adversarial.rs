//! Pictures no photo prepares a codec for: fine regular patterns, dither, noise, text, saturated colour.
//!
//! All are functions of the place, so that they are the same on every machine and may fill any part of a picture.

use tessera_codec::{BitDepth, Colour, Picture, PixelFormat, Samples};

/// A pattern: red, green and blue from 0 to 255 at a place.
pub type Pattern = Box<dyn Fn(u32, u32) -> [u8; 3] + Send + Sync>;

/// Directions of lines as (columns, rows) per unit of phase.
const DIRECTIONS: [(i32, i32); 6] = [(1, 0), (0, 1), (1, 1), (1, -1), (1, 2), (2, 1)];
/// Longest period of regular patterns.
const LONGEST: i32 = 9;

/// All patterns with their names.
pub fn patterns() -> Vec<(String, Pattern)> {
    let mut patterns = regular();
    patterns.extend(
        irregular()
            .into_iter()
            .map(|(name, pattern)| (name.to_owned(), pattern)),
    );
    patterns
}

/// Lines, grids and checkerboards of periods 1 to 9.
fn regular() -> Vec<(String, Pattern)> {
    let mut patterns: Vec<(String, Pattern)> = Vec::new();
    for period in 1..=LONGEST {
        for (dx, dy) in DIRECTIONS.into_iter().filter(|_| period > 1) {
            let on =
                move |x: i32, y: i32| (dx * x + dy * y).rem_euclid(period) < (period / 2).max(1);
            patterns.push((
                format!("lines {dx},{dy} of period {period}"),
                black_and_white(on),
            ));
        }
        let crossed = move |x: i32, y: i32| x % (period + 1) == 0 || y % (period + 1) == 0;
        patterns.push((
            format!("grid of period {}", period + 1),
            black_and_white(crossed),
        ));
        let squares = move |x: i32, y: i32| (x / period + y / period) % 2 == 0;
        patterns.push((
            format!("checkerboard of squares of {period}"),
            black_and_white(squares),
        ));
    }
    patterns
}

/// Everything that does not repeat, or not in one colour.
pub fn irregular() -> Vec<(&'static str, Pattern)> {
    vec![
        (
            "dots every two pixels",
            black_and_white(|x, y| x % 2 == 0 && y % 2 == 0),
        ),
        ("halftone", gray(halftone)),
        (
            "stipple",
            gray(|x, y| {
                if random(x, y, 1) < shade(x, y) {
                    255
                } else {
                    0
                }
            }),
        ),
        (
            "bayer dither",
            gray(|x, y| if bayer(x, y) < shade(x, y) { 255 } else { 0 }),
        ),
        ("noise", gray(|x, y| random(x, y, 2))),
        (
            "coloured noise",
            Box::new(|x, y| [3, 4, 5].map(|seed| random(x as i32, y as i32, seed))),
        ),
        ("faint noise", gray(|x, y| 120 + random(x, y, 6) / 16)),
        ("zone plate", gray(zone_plate)),
        (
            "single bright pixels",
            black_and_white(|x, y| x % 23 == 7 && y % 19 == 5),
        ),
        (
            "single dark pixels",
            black_and_white(|x, y| !(x % 31 == 3 && y % 17 == 11)),
        ),
        ("text of one pixel", black_and_white(|x, y| !ink(x, y))),
        (
            "gradient with dither",
            gray(|x, y| shade(x, y) / 2 + 60 + bayer(x, y) / 128),
        ),
        ("fine steps", gray(|x, _| 100 + (x % 2) as u8)),
        (
            "red and blue stripes",
            two_colours(|x, _| x % 2 == 0, [255, 0, 0], [0, 0, 255]),
        ),
        (
            "red text on blue",
            two_colours(ink, [255, 0, 0], [0, 0, 255]),
        ),
        (
            "yellow and cyan squares",
            two_colours(
                |x, y| (x / 3 + y / 3) % 2 == 0,
                [255, 255, 0],
                [0, 255, 255],
            ),
        ),
        // Of nearly the same luma, so that only chroma has detail.
        (
            "colours of one luma",
            two_colours(|x, y| (x + y) % 2 == 0, [200, 80, 80], [40, 150, 120]),
        ),
        (
            "chroma dots",
            two_colours(
                |x, y| x % 2 == 0 && y % 2 == 0,
                [200, 80, 80],
                [40, 150, 120],
            ),
        ),
        (
            "saturated edges",
            Box::new(|x, y| SATURATED[((x / 11 + 3 * (y / 13)) % 8) as usize]),
        ),
    ]
}

const SATURATED: [[u8; 3]; 8] = [
    [255, 0, 0],
    [0, 255, 0],
    [0, 0, 255],
    [255, 255, 0],
    [255, 0, 255],
    [0, 255, 255],
    [0, 0, 0],
    [255, 255, 255],
];

fn gray(level: impl Fn(i32, i32) -> u8 + Send + Sync + 'static) -> Pattern {
    Box::new(move |x, y| [level(x as i32, y as i32); 3])
}

fn black_and_white(on: impl Fn(i32, i32) -> bool + Send + Sync + 'static) -> Pattern {
    gray(move |x, y| if on(x, y) { 255 } else { 0 })
}

fn two_colours(
    first: impl Fn(i32, i32) -> bool + Send + Sync + 'static,
    one: [u8; 3],
    other: [u8; 3],
) -> Pattern {
    Box::new(move |x, y| {
        if first(x as i32, y as i32) {
            one
        } else {
            other
        }
    })
}

/// A smooth picture: bright and dark hills.
fn shade(x: i32, y: i32) -> u8 {
    let wave = |at: i32, length: f64| (f64::from(at) / length).sin();
    (128.0 + 60.0 * wave(x + y, 29.0) + 55.0 * wave(2 * x - y, 61.0)) as u8
}

/// Dots of a screen turned by about 27 degrees that grow with darkness.
fn halftone(x: i32, y: i32) -> u8 {
    let turn = |at: i32| (f64::from(at) * 0.9).cos();
    let screen = 127.5 + 63.0 * (turn(2 * x + y) + turn(x - 2 * y));
    if screen < f64::from(shade(x, y)) {
        255
    } else {
        0
    }
}

/// An ordered dither matrix of 8 by 8, from 2 to 254.
fn bayer(x: i32, y: i32) -> u8 {
    let bit = |value: i32, at: i32| value >> at & 1;
    let (x, y) = (x & 7, y & 7);
    let order = (0..3).fold(0, |order, at| {
        order << 2 | (bit(x ^ y, at) << 1 | bit(y, at))
    });
    (order * 4 + 2) as u8
}

fn random(x: i32, y: i32, seed: u64) -> u8 {
    let mut value = (x as u64) << 40 ^ (y as u64) << 16 ^ seed;
    for _ in 0..3 {
        value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    }
    (value >> 56) as u8
}

fn zone_plate(x: i32, y: i32) -> u8 {
    let square = f64::from(x * x + y * y);
    (127.5 + 127.5 * (square / 90.0).cos()) as u8
}

/// Letters in lines: columns of five pixels, bits from the top.
fn ink(x: i32, y: i32) -> bool {
    const LETTERS: [[u8; 5]; 6] = [
        [0x7C, 0x12, 0x11, 0x12, 0x7C],
        [0x7F, 0x49, 0x49, 0x49, 0x36],
        [0x3E, 0x41, 0x49, 0x49, 0x7A],
        [0x7F, 0x08, 0x14, 0x22, 0x41],
        [0x01, 0x01, 0x7F, 0x01, 0x01],
        [0x63, 0x14, 0x08, 0x14, 0x63],
    ];
    let (column, row) = (x % 6, y % 10);
    let letter = (x / 6 * 7 + y / 10 * 5) % 6;
    column < 5 && row < 7 && LETTERS[letter as usize][column as usize] >> row & 1 == 1
}

/// A picture of a pattern; alpha is the pattern once more, a little further on.
pub fn picture(width: u32, height: u32, format: PixelFormat, pattern: &Pattern) -> Picture {
    let peak = u32::from(format.depth.max_value());
    let scaled = |value: u8| (u32::from(value) * peak / 255) as u16;
    let mut values = Vec::new();
    for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
        let pixel = pattern(x, y);
        match format.colour {
            Colour::Gray => values.push(scaled(pixel[1])),
            Colour::Rgb => values.extend(pixel.map(scaled)),
        }
        if format.alpha {
            values.push(scaled(pattern(x + 5, y + 3)[0]));
        }
    }
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(values.into_iter().map(|value| value as u8).collect()),
        _ => Samples::U16(values),
    };
    Picture::new(width, height, format, samples).expect("sizes and samples match")
}

/// `photo` with the pattern in its middle.
pub fn within(photo: &Picture, pattern: Pattern) -> Pattern {
    let (width, height) = (photo.width(), photo.height());
    let channels = photo.format().channels();
    let samples = photo.samples().clone();
    let peak = u32::from(photo.format().depth.max_value());
    Box::new(move |x, y| {
        let middle = |at: u32, side: u32| (side / 4..3 * side / 4).contains(&at);
        if middle(x, width) && middle(y, height) {
            return pattern(x, y);
        }
        let first = (y.min(height - 1) * width + x.min(width - 1)) as usize * channels;
        let colours = photo_channels(channels);
        colours.map(|channel| (u32::from(samples.get(first + channel)) * 255 / peak) as u8)
    })
}

/// Where red, green and blue are among so many channels.
fn photo_channels(channels: usize) -> [usize; 3] {
    if channels < 3 { [0; 3] } else { [0, 1, 2] }
}

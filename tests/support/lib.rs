//! Helpers shared by the top-level tests and benches.

pub mod adversarial;
pub mod graphics;
pub mod learning;

use tessera_codec::{BitDepth, Colour, Picture, PixelFormat, Samples};

/// Every combination of colour and alpha at a depth.
pub fn formats(depth: BitDepth) -> impl Iterator<Item = PixelFormat> {
    [Colour::Gray, Colour::Rgb]
        .into_iter()
        .flat_map(move |colour| {
            [false, true].map(|alpha| PixelFormat {
                colour,
                alpha,
                depth,
            })
        })
}

/// A smooth picture with an edge and a little texture, the same on every machine.
pub fn synthetic_picture(width: u32, height: u32, format: PixelFormat) -> Picture {
    let peak = u32::from(format.depth.max_value());
    let sample = |x: u32, y: u32, channel: u32| {
        let ramp = (x * 3 + y * 2 + channel * 40) % 160;
        let edge = if x > y + 10 { 60 } else { 0 };
        let texture = (x * 7 + y * 13) % 9;
        ((ramp + edge + texture).min(255) * peak / 255) as u16
    };
    let channels = format.channels() as u32;
    let values = (0..height).flat_map(|y| {
        (0..width).flat_map(move |x| (0..channels).map(move |channel| sample(x, y, channel)))
    });
    let samples = match format.depth {
        BitDepth::Eight => Samples::U8(values.map(|value| value as u8).collect()),
        _ => Samples::U16(values.collect()),
    };
    Picture::new(width, height, format, samples).expect("sizes and samples match")
}

//! `container.md`, "From planes to pixels".

use super::{Header, Planes};
use crate::picture::Picture;

pub(super) fn from_planes(planes: &Planes, header: &Header) -> Picture {
    let (width, height) = (header.width, header.height);
    let channels = planes.colour.len() + usize::from(header.alpha);
    let mut samples = Vec::with_capacity(width * height * channels);
    for i in 0..width * height {
        let mut pixel: Vec<i32> = planes.colour.iter().map(|plane| plane.samples[i]).collect();
        if !header.lossless && pixel.len() == 3 {
            pixel = rgb(pixel[0], pixel[1], pixel[2]);
        }
        pixel.extend(planes.alpha.iter().map(|plane| plane.samples[i]));
        samples.extend(pixel.into_iter().map(|sample| match header.lossless {
            true => sample as u16,
            false => at_depth(sample, header.bits) as u16,
        }));
    }
    Picture {
        width,
        height,
        channels,
        bits: header.bits,
        samples,
    }
}

fn rgb(y: i32, cb: i32, cr: i32) -> Vec<i32> {
    let (b, r) = (cb - 2048, cr - 2048);
    let red = y + ((91881 * r + 32768) >> 16);
    let green = y - ((22554 * b + 46802 * r + 32768) >> 16);
    let blue = y + ((116_130 * b + 32768) >> 16);
    [red, green, blue].map(|v| v.clamp(0, 4095)).to_vec()
}

/// A sample of 12 bits at the picture's depth.
fn at_depth(s: i32, bits: u32) -> i32 {
    match bits {
        8 => ((s + 8) >> 4).min(255),
        10 => ((s + 2) >> 2).min(1023),
        12 => s,
        _ => (s << 4) | (s >> 8),
    }
}

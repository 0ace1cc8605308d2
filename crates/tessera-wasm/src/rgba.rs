//! Pictures as a canvas wants them: eight bits, red, green, blue, alpha.

use crate::failure::{Cause, Failure, Result};
use tessera_codec::{Colour, Picture, PixelFormat, Samples};

/// Appends a picture as RGBA.
pub(crate) fn append(picture: &Picture, out: &mut Vec<u8>) -> Result<()> {
    let start = out.len();
    let len = picture.samples().len() / picture.format().channels() * 4;
    let made = out.try_reserve_exact(len);
    made.map_err(|_| Failure::new(Cause::Memory, format!("no memory for {len} bytes")))?;
    out.resize(start + len, 0);
    let pixels = &mut out[start..];
    match picture.samples() {
        Samples::U8(samples) => spread(samples, picture.format(), pixels, |value| value),
        Samples::U16(samples) => {
            let largest = u32::from(picture.format().depth.max_value());
            let rounded = |value| ((u32::from(value) * 255 + largest / 2) / largest) as u8;
            spread(samples, picture.format(), pixels, rounded);
        }
    }
    Ok(())
}

fn spread<T: Copy>(samples: &[T], format: PixelFormat, out: &mut [u8], byte: impl Fn(T) -> u8) {
    let pixels = out.as_chunks_mut::<4>().0.iter_mut();
    match (format.colour, format.alpha) {
        (Colour::Gray, false) => fill(samples, pixels, |[v]: [T; 1]| {
            let v = byte(v);
            [v, v, v, 255]
        }),
        (Colour::Gray, true) => fill(samples, pixels, |[v, a]: [T; 2]| {
            let v = byte(v);
            [v, v, v, byte(a)]
        }),
        (Colour::Rgb, false) => fill(samples, pixels, |[r, g, b]: [T; 3]| {
            [byte(r), byte(g), byte(b), 255]
        }),
        (Colour::Rgb, true) => fill(samples, pixels, |pixel: [T; 4]| pixel.map(&byte)),
    }
}

fn fill<'a, T: Copy, const N: usize>(
    samples: &[T],
    pixels: impl Iterator<Item = &'a mut [u8; 4]>,
    rgba: impl Fn([T; N]) -> [u8; 4],
) {
    for (from, to) in samples.as_chunks::<N>().0.iter().zip(pixels) {
        *to = rgba(*from);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_codec::BitDepth;

    fn rgba(format: PixelFormat, samples: Samples) -> Vec<u8> {
        let picture = Picture::new(1, 1, format, samples).unwrap();
        let mut out = vec![7];
        append(&picture, &mut out).unwrap();
        assert_eq!(out.remove(0), 7);
        out
    }

    #[test]
    fn every_format_becomes_four_bytes() {
        let with_alpha = |format| PixelFormat {
            alpha: true,
            ..format
        };
        let (gray, rgb) = (PixelFormat::GRAY8, PixelFormat::RGB8);
        assert_eq!(rgba(gray, Samples::U8(vec![9])), [9, 9, 9, 255]);
        assert_eq!(
            rgba(with_alpha(gray), Samples::U8(vec![9, 3])),
            [9, 9, 9, 3]
        );
        assert_eq!(rgba(rgb, Samples::U8(vec![1, 2, 3])), [1, 2, 3, 255]);
        let four = Samples::U8(vec![1, 2, 3, 4]);
        assert_eq!(rgba(with_alpha(rgb), four), [1, 2, 3, 4]);
    }

    #[test]
    fn deep_samples_are_rounded() {
        let ten = PixelFormat {
            depth: BitDepth::Ten,
            ..PixelFormat::RGB8
        };
        let samples = Samples::U16(vec![0, 1023, 3]);
        assert_eq!(rgba(ten, samples), [0, 255, 1, 255]);
    }
}

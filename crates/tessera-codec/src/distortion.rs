//! How far a decoded picture is from its original, and whether two decodes are the same.

use crate::picture::{Picture, PixelFormat, Samples};
use crate::tile::intra::SAMPLE_MAX;
use crate::tile::transform::quantiser::Step;
use crate::tile_grid::Rect;
use std::iter::Sum;

/// Squared error over the colour samples (alpha does not count).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Distortion {
    squared_error: u128,
    samples: u64,
    peak: u16,
}

/// Largest mean squared error that choosing levels explains, in squared steps.
const MOST_ERROR: f64 = 2.0;

impl Distortion {
    /// Compares a tile, given as decoded samples in `format`, with its place in the original.
    /// The original may have an alpha channel that the decoded tile lacks.
    pub(crate) fn of_tile(
        original: &Picture,
        rect: Rect,
        decoded: &Samples,
        format: PixelFormat,
    ) -> Self {
        let colours = format.colour_channels();
        let (stride, step) = (original.format().channels(), format.channels());
        let width = rect.width as usize;
        let mut squared_error = 0u128;
        for y in 0..rect.height as usize {
            let row = (rect.y as usize + y) * original.width() as usize + rect.x as usize;
            let (from, to) = (row * stride..(row + width) * stride, y * width * step);
            let to = to..to + width * step;
            squared_error += u128::from(match (original.samples(), decoded) {
                (Samples::U8(original), Samples::U8(decoded)) => {
                    row_error(&original[from], stride, &decoded[to], step, colours)
                }
                (Samples::U16(original), Samples::U16(decoded)) => {
                    row_error(&original[from], stride, &decoded[to], step, colours)
                }
                _ => unreachable!("both sides have the same depth"),
            });
        }
        Self {
            squared_error,
            samples: rect.area() * colours as u64,
            peak: format.depth.max_value(),
        }
    }

    /// Whether the error is one that this quantiser explains.
    ///
    /// Rounding leaves a twelfth of a squared step, levels that are not worth their bits up to about one, and red, green
    /// and blue move up to 1.8 times as far as chroma does. What was wiped out at low quality lies above that.
    pub(crate) fn is_explained_by(&self, quantiser: u8) -> bool {
        let unit = f64::from(self.peak) / f64::from(SAMPLE_MAX);
        let step = f64::from(Step::from_index(quantiser).value()) * unit;
        let mean = self.squared_error as f64 / self.samples.max(1) as f64;
        mean <= MOST_ERROR * step * step + unit * unit + 1.0
    }

    /// Sum of the squared errors of all colour samples, in squares of the whole range of a sample.
    pub fn squared_error(&self) -> f64 {
        self.squared_error as f64 / f64::from(self.peak.max(1)).powi(2)
    }

    /// How many colour samples were compared.
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Whether it can be that no sample is further than `most` from its value.
    pub(crate) fn is_within(&self, most: u8) -> bool {
        self.squared_error <= u128::from(self.samples) * u128::from(most).pow(2)
    }

    /// Peak signal to noise ratio in decibels over all colour samples; infinite when identical.
    pub fn psnr(&self) -> f64 {
        let mean = self.squared_error as f64 / self.samples.max(1) as f64;
        10.0 * (f64::from(self.peak).powi(2) / mean).log10()
    }
}

/// Squared error of a row over the first `colours` channels of both pictures.
fn row_error<S: Copy + Into<u64>>(
    original: &[S],
    stride: usize,
    decoded: &[S],
    step: usize,
    colours: usize,
) -> u64 {
    let square = |(&a, &b): (&S, &S)| a.into().abs_diff(b.into()).pow(2);
    if stride == colours && step == colours {
        return original.iter().zip(decoded).map(square).sum();
    }
    let pixels = original
        .chunks_exact(stride)
        .zip(decoded.chunks_exact(step));
    pixels
        .map(|(a, b)| a[..colours].iter().zip(b).map(square).sum::<u64>())
        .sum()
}

impl Sum for Distortion {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        let nothing = Self {
            squared_error: 0,
            samples: 0,
            peak: 0,
        };
        parts.fold(nothing, |total, part| Self {
            squared_error: total.squared_error + part.squared_error,
            samples: total.samples + part.samples,
            peak: part.peak,
        })
    }
}

/// A sum over the pixels of a picture that changes with any of them; parts add up in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of a decoded picture.
    pub fn of(picture: &Picture) -> Self {
        let whole = Rect {
            x: 0,
            y: 0,
            width: picture.width(),
            height: picture.height(),
        };
        Self::of_part(whole, picture.samples())
    }

    /// Of the part of a picture that lies at `rect`, given as its samples; the sum over all parts
    /// is the fingerprint of the whole.
    pub fn of_part(rect: Rect, samples: &Samples) -> Self {
        Self(match samples {
            Samples::U8(samples) => sum_of_part(rect, samples),
            Samples::U16(samples) => sum_of_part(rect, samples),
        })
    }
}

fn sum_of_part<S: Copy + Into<u64>>(rect: Rect, samples: &[S]) -> u64 {
    let per_row = samples.len() / rect.height as usize;
    let left = u64::from(rect.x) * (per_row / rect.width as usize) as u64;
    let mut sum = 0u64;
    for (y, row) in (u64::from(rect.y)..).zip(samples.chunks_exact(per_row)) {
        for (along, &sample) in (left..).zip(row) {
            sum = sum.wrapping_add(mix((y << 34) | (along << 16) | sample.into()));
        }
    }
    sum
}

impl Sum for Fingerprint {
    fn sum<I: Iterator<Item = Self>>(parts: I) -> Self {
        Self(parts.fold(0, |total, part| total.wrapping_add(part.0)))
    }
}

/// A bijection of 64 bits in which every input bit reaches every output bit.
fn mix(mut value: u64) -> u64 {
    value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Rect = Rect {
        x: 0,
        y: 0,
        width: 1,
        height: 2,
    };
    const RIGHT: Rect = Rect { x: 1, ..LEFT };

    #[test]
    fn fingerprint_adds_up_over_tiles_and_sees_places() {
        let picture = Picture::gray8(2, 2, vec![1, 2, 3, 4]).unwrap();
        let left = Fingerprint::of_part(LEFT, &Samples::U8(vec![1, 3]));
        let right = Fingerprint::of_part(RIGHT, &Samples::U8(vec![2, 4]));
        assert_eq!(Fingerprint::of(&picture), [left, right].into_iter().sum());
        let swapped = Picture::gray8(2, 2, vec![2, 1, 3, 4]).unwrap();
        assert_ne!(Fingerprint::of(&picture), Fingerprint::of(&swapped));
    }

    #[test]
    fn errors_beyond_the_quantiser_are_told_from_its_own() {
        let picture = Picture::gray8(2, 2, vec![100; 4]).unwrap();
        let off_by = |error: u8| {
            let decoded = Samples::U8(vec![100 - error, 100 + error]);
            Distortion::of_tile(&picture, LEFT, &decoded, PixelFormat::GRAY8)
        };
        // The step of quantiser 64 is nearly sixteen levels of 8 bits, that of 32 is one.
        assert!(off_by(22).is_explained_by(64));
        assert!(!off_by(23).is_explained_by(64));
        assert!(off_by(1).is_explained_by(32));
        assert!(!off_by(2).is_explained_by(32));
    }

    #[test]
    fn psnr_of_known_errors() {
        let picture = Picture::gray8(2, 2, vec![10; 4]).unwrap();
        let format = PixelFormat::GRAY8;
        let off_by_one = Samples::U8(vec![11, 9]);
        let exact = Samples::U8(vec![10, 10]);
        let left = Distortion::of_tile(&picture, LEFT, &off_by_one, format);
        let right = Distortion::of_tile(&picture, RIGHT, &exact, format);
        assert!((left.psnr() - 48.1308).abs() < 1e-3);
        assert!(right.psnr().is_infinite());
        let both: Distortion = [left, right].into_iter().sum();
        assert!((both.psnr() - 51.1411).abs() < 1e-3);
    }
}

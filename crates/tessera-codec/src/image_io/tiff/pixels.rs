//! Samples as stored to the colours they mean.

use crate::image_io::colour::{self, Inks};
use crate::image_io::error::ReadImageError;
use crate::image_io::found::{self, Found};
use crate::image_io::tiff::TIFF;
use crate::image_io::tiff::compression;
use crate::image_io::tiff::page::{Page, Photometric};
use crate::picture::{Colour, Samples};
use image::DynamicImage;

/// Kinds of extra samples.
const ASSOCIATED_ALPHA: u64 = 1;
const ALPHA: u64 = 2;

/// A sample of 8 or 16 bits.
trait Sample: Copy + Into<u32> + Default {
    const MAX: u32;
    fn of(value: u32) -> Self;
    fn wrap(samples: Vec<Self>) -> Samples;
}

impl Sample for u8 {
    const MAX: u32 = 255;
    fn of(value: u32) -> Self {
        value as Self
    }
    fn wrap(samples: Vec<Self>) -> Samples {
        Samples::U8(samples)
    }
}

impl Sample for u16 {
    const MAX: u32 = 65535;
    fn of(value: u32) -> Self {
        value as Self
    }
    fn wrap(samples: Vec<Self>) -> Samples {
        Samples::U16(samples)
    }
}

/// The page as a picture.
pub(super) fn to_image(
    page: &Page,
    samples: Samples,
    to: &mut Found,
) -> Result<DynamicImage, ReadImageError> {
    match samples {
        Samples::U8(samples) => image_of(page, samples, to),
        Samples::U16(samples) => image_of(page, samples, to),
    }
}

fn image_of<T: Sample>(
    page: &Page,
    mut samples: Vec<T>,
    to: &mut Found,
) -> Result<DynamicImage, ReadImageError> {
    let alpha = alpha_kind(page, to);
    if page.photometric == Photometric::Palette {
        return from_palette(page, &samples, alpha);
    }
    stretch(page, &mut samples);
    let colours = page.photometric.colours();
    let mut samples = pick(
        samples,
        page.samples,
        colours + usize::from(alpha.is_some()),
    );
    if alpha == Some(ASSOCIATED_ALPHA) {
        divide_by_alpha(&mut samples, colours + 1);
    }
    let channels = colours + usize::from(alpha.is_some());
    match page.photometric {
        Photometric::Cmyk => return from_inks(page, samples, channels, to),
        Photometric::WhiteIsZero => {
            let gray = samples.iter_mut().step_by(channels);
            gray.for_each(|gray| *gray = T::of(T::MAX - (*gray).into()));
        }
        Photometric::YCbCr
            if page.compression != compression::JPEG
                && page.compression != compression::OLD_JPEG =>
        {
            convert(&mut samples, channels, |ycc| {
                let half = 128.0 / 255.0;
                colour::ycbcr_to_rgb(colour::BT601, [ycc[0], ycc[1] - half, ycc[2] - half])
            });
        }
        Photometric::Lab => {
            let text = "the CIE Lab colours were converted to sRGB";
            to.warnings.push(text.into());
            to.metadata.icc = None;
            convert(&mut samples, channels, |lab| {
                // Colour differences are signed: the upper half stands for the negative ones.
                let signed = |v: f32| {
                    if v > 0.5 {
                        v * 255.0 - 256.0
                    } else {
                        v * 255.0
                    }
                };
                colour::lab_to_srgb([lab[0] * 100.0, signed(lab[1]), signed(lab[2])])
            });
        }
        _ => {}
    }
    let colour = if colours == 1 {
        Colour::Gray
    } else {
        Colour::Rgb
    };
    picture(page, colour, alpha.is_some(), samples)
}

/// What the first extra sample is for, if it is alpha; anything else is left out with a warning.
fn alpha_kind(page: &Page, to: &mut Found) -> Option<u64> {
    let extra = page.samples - page.photometric.colours();
    if extra == 0 {
        return None;
    }
    let kind = match &page.extra {
        Some(kinds) => kinds.first().copied().unwrap_or(0),
        None => {
            let text = "the file does not say what its extra channel is; it was taken for alpha";
            to.warnings.push(text.into());
            ALPHA
        }
    };
    let is_alpha =
        matches!(kind, ASSOCIATED_ALPHA | ALPHA) && page.photometric != Photometric::Cmyk;
    if extra > usize::from(is_alpha) {
        let text = "extra channels that are no alpha were left out";
        to.warnings.push(text.into());
    }
    is_alpha.then_some(kind)
}

/// Makes the largest value the largest of 8 or 16 bits.
fn stretch<T: Sample>(page: &Page, samples: &mut [T]) {
    let most = (1u64 << page.bits) - 1;
    if most < u64::from(T::MAX) {
        for sample in samples {
            let value: u32 = (*sample).into();
            *sample = T::of(((u64::from(value) * u64::from(T::MAX) + most / 2) / most) as u32);
        }
    }
}

/// The first `wanted` of every `present` samples.
fn pick<T: Sample>(samples: Vec<T>, present: usize, wanted: usize) -> Vec<T> {
    if present == wanted {
        return samples;
    }
    let pixels = samples.chunks_exact(present);
    pixels.flat_map(|pixel| &pixel[..wanted]).copied().collect()
}

fn divide_by_alpha<T: Sample>(samples: &mut [T], channels: usize) {
    for pixel in samples.chunks_exact_mut(channels) {
        let Some((alpha, colours)) = pixel.split_last_mut() else {
            continue;
        };
        let alpha = u64::from((*alpha).into());
        for colour in colours.iter_mut().filter(|_| alpha > 0) {
            let value: u32 = (*colour).into();
            let light = (u64::from(value) * u64::from(T::MAX) + alpha / 2) / alpha;
            *colour = T::of(light.min(u64::from(T::MAX)) as u32);
        }
    }
}

/// Applies `to_rgb`, which works on 0 to 1, to the first three samples of every pixel.
fn convert<T: Sample>(samples: &mut [T], channels: usize, to_rgb: impl Fn([f32; 3]) -> [f32; 3]) {
    let most = T::MAX as f32;
    for pixel in samples.chunks_exact_mut(channels) {
        let [a, b, c, ..] = pixel else { continue };
        let rgb = to_rgb([*a, *b, *c].map(|v| v.into() as f32 / most));
        [*a, *b, *c] = rgb.map(|v| T::of((v.clamp(0.0, 1.0) * most).round() as u32));
    }
}

fn from_inks<T: Sample>(
    page: &Page,
    samples: Vec<T>,
    channels: usize,
    to: &mut Found,
) -> Result<DynamicImage, ReadImageError> {
    let samples = pick(samples, channels, 4);
    let (width, height) = (page.width as u32, page.height as u32);
    let inks = match T::wrap(samples) {
        Samples::U8(samples) => Inks::new(width, height, samples, false),
        Samples::U16(samples) => Inks::deep(width, height, samples),
    };
    colour::cmyk_to_rgb(inks, &mut to.metadata.icc, &mut to.warnings)
}

fn from_palette<T: Sample>(
    page: &Page,
    samples: &[T],
    alpha: Option<u64>,
) -> Result<DynamicImage, ReadImageError> {
    // Some writers fill in 8-bit values where 16-bit ones belong.
    let shift = if page.palette.iter().all(|&v| v < 256) {
        0
    } else {
        8
    };
    let size = 1 << page.bits;
    let mut rgb = Vec::with_capacity(samples.len() / page.samples * 4);
    for pixel in samples.chunks_exact(page.samples) {
        let index = pixel[0].into() as usize;
        rgb.extend((0..3).map(|channel| (page.palette[channel * size + index] >> shift) as u8));
        if alpha.is_some() {
            rgb.push((pixel[1].into() * 255 / ((1 << page.bits) - 1)) as u8);
        }
    }
    if alpha == Some(ASSOCIATED_ALPHA) {
        divide_by_alpha(&mut rgb, 4);
    }
    picture(page, Colour::Rgb, alpha.is_some(), rgb)
}

fn picture<T: Sample>(
    page: &Page,
    colour: Colour,
    alpha: bool,
    samples: Vec<T>,
) -> Result<DynamicImage, ReadImageError> {
    let size = (page.width as u32, page.height as u32);
    found::image_of(TIFF, size, (colour, alpha), T::wrap(samples))
}

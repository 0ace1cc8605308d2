//! Colours that are neither gray nor RGB: inks by their profile or by the usual formula, Lab, and
//! luma with colour differences.

use crate::image_io::error::ReadImageError;
use crate::metadata::Cicp;
use image::{DynamicImage, ImageBuffer};
use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, DataColorSpace, Layout, MatrixCoefficients,
    TransferCharacteristics, TransformOptions,
};

/// A profile for colours beyond those of sRGB that are named by code points; none for brightness beyond that of a usual
/// screen, which profiles do not hold.
pub(super) fn profile_of(cicp: Cicp) -> Option<Vec<u8>> {
    // The numbers of BT.2020 and of the two kinds of P3.
    if !matches!(cicp.primaries(), 9 | 11 | 12) || cicp.is_hdr() || !cicp.full_range() {
        return None;
    }
    let profile = ColorProfile::new_from_cicp(CicpProfile {
        color_primaries: CicpColorPrimaries::try_from(cicp.primaries()).ok()?,
        transfer_characteristics: TransferCharacteristics::try_from(cicp.transfer()).ok()?,
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    });
    profile.encode().ok()
}

/// Picture of cyan, magenta, yellow and black, where the largest value is full ink.
pub(super) struct Inks {
    width: u32,
    height: u32,
    samples: InkSamples,
}

enum InkSamples {
    Bytes(Vec<u8>),
    Words(Vec<u16>),
}

impl Inks {
    /// Eight bits per ink; `upside_down` if the largest value is no ink.
    pub(super) fn new(width: u32, height: u32, mut samples: Vec<u8>, upside_down: bool) -> Self {
        if upside_down {
            samples.iter_mut().for_each(|sample| *sample = !*sample);
        }
        Self {
            width,
            height,
            samples: InkSamples::Bytes(samples),
        }
    }

    /// Sixteen bits per ink.
    pub(super) fn deep(width: u32, height: u32, samples: Vec<u16>) -> Self {
        Self {
            width,
            height,
            samples: InkSamples::Words(samples),
        }
    }
}

/// Turns inks into sRGB. A profile that belongs to them is used, and in any case taken away: it
/// does not describe the result.
pub(super) fn cmyk_to_rgb(
    inks: Inks,
    icc: &mut Option<Vec<u8>>,
    warnings: &mut Vec<String>,
) -> Result<DynamicImage, ReadImageError> {
    let profile = icc
        .take()
        .and_then(|icc| ColorProfile::new_from_slice(&icc).ok());
    let profile = profile.filter(|profile| profile.color_space == DataColorSpace::Cmyk);
    let by_profile = profile.and_then(|profile| by_profile(&inks, &profile));
    let how = match by_profile {
        Some(_) => "by the colour profile of the file",
        None => {
            "by the plain formula, for lack of a usable colour profile; colours may differ from print"
        }
    };
    warnings.push(format!(
        "the print colours (CMYK) were converted to sRGB {how}"
    ));
    match by_profile {
        Some(image) => Ok(image),
        None => Ok(by_formula(&inks)),
    }
}

fn by_profile(inks: &Inks, profile: &ColorProfile) -> Option<DynamicImage> {
    let srgb = ColorProfile::new_srgb();
    let options = TransformOptions::default();
    let (width, height) = (inks.width, inks.height);
    match &inks.samples {
        InkSamples::Bytes(samples) => {
            let mut rgb = vec![0; samples.len() / 4 * 3];
            let transform =
                profile.create_transform_8bit(Layout::Rgba, &srgb, Layout::Rgb, options);
            transform.ok()?.transform(samples, &mut rgb).ok()?;
            ImageBuffer::from_raw(width, height, rgb).map(DynamicImage::ImageRgb8)
        }
        InkSamples::Words(samples) => {
            let mut rgb = vec![0; samples.len() / 4 * 3];
            let transform =
                profile.create_transform_16bit(Layout::Rgba, &srgb, Layout::Rgb, options);
            transform.ok()?.transform(samples, &mut rgb).ok()?;
            ImageBuffer::from_raw(width, height, rgb).map(DynamicImage::ImageRgb16)
        }
    }
}

/// Each ink and black take their share of the light.
fn by_formula(inks: &Inks) -> DynamicImage {
    let (width, height) = (inks.width, inks.height);
    let image = match &inks.samples {
        InkSamples::Bytes(samples) => {
            let rgb = light(
                samples,
                |ink| 255 - u32::from(ink),
                255,
                |light| light as u8,
            );
            ImageBuffer::from_raw(width, height, rgb).map(DynamicImage::ImageRgb8)
        }
        InkSamples::Words(samples) => {
            let rgb = light(
                samples,
                |ink| 65535 - u32::from(ink),
                65535,
                |light| light as u16,
            );
            ImageBuffer::from_raw(width, height, rgb).map(DynamicImage::ImageRgb16)
        }
    };
    image.expect("three samples for every four inks")
}

fn light<T: Copy>(
    samples: &[T],
    passed: impl Fn(T) -> u32,
    most: u64,
    sample: impl Fn(u64) -> T,
) -> Vec<T> {
    let mut rgb = Vec::with_capacity(samples.len() / 4 * 3);
    for [colours @ .., black] in samples.as_chunks::<4>().0 {
        let black = u64::from(passed(*black));
        rgb.extend(colours.map(|ink| sample((u64::from(passed(ink)) * black + most / 2) / most)));
    }
    rgb
}

/// Luma, colour differences and black to the four inks, as stored.
pub(super) fn ycck_to_cmyk(samples: &mut [u8]) {
    for pixel in samples.as_chunks_mut::<4>().0 {
        let [y, cb, cr, _] = pixel.map(f32::from);
        let rgb = ycbcr_to_rgb(BT601, [y, cb - 128.0, cr - 128.0]);
        for (ink, light) in pixel.iter_mut().zip(rgb) {
            *ink = 255 - light.round().clamp(0.0, 255.0) as u8;
        }
    }
}

/// Share of red and of blue in luma.
pub(super) type LumaShares = (f32, f32);
pub(super) const BT601: LumaShares = (0.299, 0.114);

/// RGB of luma and colour differences around zero, all in the same units.
pub(super) fn ycbcr_to_rgb((kr, kb): LumaShares, [y, cb, cr]: [f32; 3]) -> [f32; 3] {
    let red = y + 2.0 * (1.0 - kr) * cr;
    let blue = y + 2.0 * (1.0 - kb) * cb;
    [red, (y - kr * red - kb * blue) / (1.0 - kr - kb), blue]
}

/// sRGB from 0 to 1 of a CIE Lab colour under D50.
pub(super) fn lab_to_srgb([l, a, b]: [f32; 3]) -> [f32; 3] {
    const D50: [f32; 3] = [0.9642, 1.0, 0.8249];
    // From D50 to linear sRGB, adapted by Bradford's matrix.
    const TO_RGB: [[f32; 3]; 3] = [
        [3.133_86, -1.616_87, -0.490_61],
        [-0.978_77, 1.916_14, 0.033_45],
        [0.071_95, -0.228_99, 1.405_24],
    ];
    let y = (l + 16.0) / 116.0;
    let cubed = |t: f32| match t > 6.0 / 29.0 {
        true => t * t * t,
        false => 3.0 * (6.0f32 / 29.0).powi(2) * (t - 4.0 / 29.0),
    };
    let xyz = [y + a / 500.0, y, y - b / 200.0].map(cubed);
    TO_RGB.map(|row| {
        let linear: f32 = (0..3).map(|i| row[i] * xyz[i] * D50[i]).sum();
        encode_srgb(linear.clamp(0.0, 1.0))
    })
}

fn encode_srgb(linear: f32) -> f32 {
    match linear <= 0.003_130_8 {
        true => 12.92 * linear,
        false => 1.055 * linear.powf(1.0 / 2.4) - 0.055,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ink_takes_light_away_and_a_foreign_profile_is_dropped() {
        let samples = vec![0, 0, 0, 0, 255, 0, 0, 0, 0, 0, 0, 255, 0, 128, 0, 128];
        let mut icc = ColorProfile::new_srgb().encode().ok();
        let mut warnings = Vec::new();
        let inks = Inks::new(4, 1, samples, false);
        let image = cmyk_to_rgb(inks, &mut icc, &mut warnings).unwrap();
        let expected = [255, 255, 255, 0, 255, 255, 0, 0, 0, 127, 63, 127];
        assert_eq!(image.as_bytes(), expected);
        assert_eq!(icc, None);
        assert!(warnings[0].contains("plain formula"), "{warnings:?}");
    }

    #[test]
    fn upside_down_and_deep_inks_agree() {
        let bytes = vec![200, 100, 50, 25];
        let words = bytes
            .iter()
            .map(|&v: &u8| u16::from(255 - v) * 257)
            .collect();
        let shallow = by_formula(&Inks::new(1, 1, bytes, true)).to_rgb8();
        let deep = by_formula(&Inks::deep(1, 1, words)).to_rgb8();
        assert_eq!(shallow, deep);
    }

    #[test]
    fn lab_of_known_colours() {
        let near = |lab: [f32; 3], rgb: [f32; 3]| {
            let found = lab_to_srgb(lab).map(|v| v * 255.0);
            let close = found.iter().zip(rgb).all(|(f, e)| (f - e).abs() < 1.0);
            assert!(close, "{found:?} {rgb:?}");
        };
        near([100.0, 0.0, 0.0], [255.0, 255.0, 255.0]);
        near([0.0, 0.0, 0.0], [0.0, 0.0, 0.0]);
        near([54.29, 80.81, 69.89], [255.0, 0.0, 0.0]);
    }
}

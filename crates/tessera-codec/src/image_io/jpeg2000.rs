//! JPEG 2000, as a bare codestream or in its own container.

use crate::image_io::colour::{self, Inks};
use crate::image_io::error::{INCONSISTENT, MAX_READ_BYTES, ReadImageError};
use crate::image_io::found::{self, Found};
use crate::picture::{Colour, Samples};
use hayro_jpeg2000::{ColorSpace, ComponentData, DecodeSettings, DecoderContext, Image};
use image::DynamicImage;

const JPEG2000: &str = "JPEG 2000";
/// The last two bytes of a codestream.
const END: [u8; 2] = [0xFF, 0xD9];

/// Reads a file.
pub(super) fn read(file: &[u8]) -> Result<Found, ReadImageError> {
    let damaged = |_| ReadImageError::Damaged(JPEG2000, INCONSISTENT);
    // The decoder makes do with what is there, and would blur the rest.
    let coded = codestream(file).ok_or(ReadImageError::Truncated(JPEG2000))?;
    let unpadded = coded.iter().rposition(|&byte| byte != 0);
    if !unpadded.is_some_and(|last| coded[..=last].ends_with(&END)) {
        return Err(ReadImageError::Truncated(JPEG2000));
    }
    let settings = DecodeSettings {
        strict: true,
        ..DecodeSettings::default()
    };
    let image = Image::new(file, &settings).map_err(damaged)?;
    // The strict reading of the container takes an unexplained fourth channel for black ink.
    let lenient = Image::new(file, &DecodeSettings::default()).map_err(damaged)?;
    let pixels = u64::from(image.width()) * u64::from(image.height());
    // The decoder holds every component as floating-point numbers, and again as coefficients.
    if pixels * 32 > MAX_READ_BYTES {
        return Err(ReadImageError::TooLarge);
    }
    let mut found = Found::plain(DynamicImage::new_luma8(1, 1));
    if let ColorSpace::Icc { profile, .. } = lenient.color_space() {
        found.metadata.icc = Some(profile.clone());
    }
    let mut context = DecoderContext::default();
    let decoded = image.decode(&mut context).map_err(damaged)?;
    let size = (image.width(), image.height());
    let components = decoded.components();
    let unexplained = coded.len() == file.len() && components.len() == 4;
    if unexplained {
        let text = "the file does not say what its fourth channel is; it was taken for alpha";
        found.warnings.push(text.into());
    }
    let alpha = unexplained || lenient.has_alpha();
    found.image = to_image(size, alpha, components, &mut found)?;
    Ok(found)
}

/// The coded data: the whole file, or that part of the container.
fn codestream(file: &[u8]) -> Option<&[u8]> {
    if file.starts_with(&[0xFF]) {
        return Some(file);
    }
    let mut rest = file;
    loop {
        let (head, after) = rest.split_at_checked(8)?;
        let len = u32::from_be_bytes(*head.first_chunk()?);
        let (head_len, len) = match len {
            0 => (8, rest.len()),
            1 => (16, u64::from_be_bytes(*after.first_chunk()?) as usize),
            len => (8, len as usize),
        };
        if &head[4..] == b"jp2c" {
            return rest.get(head_len..len);
        }
        rest = rest.get(len.max(8)..)?;
    }
}

fn to_image(
    (width, height): (u32, u32),
    alpha: bool,
    components: &[ComponentData],
    to: &mut Found,
) -> Result<DynamicImage, ReadImageError> {
    let colours = components.len() - usize::from(alpha);
    let deep = components.iter().any(|component| component.bit_depth() > 8);
    let samples = match deep {
        true => Samples::U16(interleaved(components, 65535.0, |v| v as u16)),
        false => Samples::U8(interleaved(components, 255.0, |v| v as u8)),
    };
    let colour = match colours {
        1 => Colour::Gray,
        3 => Colour::Rgb,
        4 if !alpha => {
            let inks = match samples {
                Samples::U8(samples) => Inks::new(width, height, samples, false),
                Samples::U16(samples) => Inks::deep(width, height, samples),
            };
            return colour::cmyk_to_rgb(inks, &mut to.metadata.icc, &mut to.warnings);
        }
        _ => return Err(ReadImageError::variant(JPEG2000, "colours of this kind")),
    };
    found::image_of(JPEG2000, (width, height), (colour, alpha), samples)
}

/// The components pixel by pixel, each stretched to `most`.
fn interleaved<T>(components: &[ComponentData], most: f32, sample: fn(f32) -> T) -> Vec<T> {
    let scale = |component: &ComponentData| most / ((1u64 << component.bit_depth()) - 1) as f32;
    let planes: Vec<_> = components.iter().map(|c| (c.samples(), scale(c))).collect();
    let pixels = planes
        .iter()
        .map(|(plane, _)| plane.len())
        .min()
        .unwrap_or(0);
    let value = |at: usize| move |(plane, scale): &(&[f32], f32)| (plane[at] * scale).round();
    (0..pixels)
        .flat_map(|at| planes.iter().map(value(at)))
        .map(|value| sample(value.clamp(0.0, most)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codestream_without_its_end_is_refused() {
        let cut = b"\xFF\x4F\xFF\x51\0\x29";
        assert!(matches!(
            read(cut),
            Err(ReadImageError::Truncated(JPEG2000))
        ));
        let boxes = b"\0\0\0\x0CjP  \x0D\x0A\x87\x0A\0\0\0\0jp2c\xFF\x4F\xFF\xD9";
        assert_eq!(codestream(boxes), Some(&b"\xFF\x4F\xFF\xD9"[..]));
        assert!(matches!(read(boxes), Err(ReadImageError::Damaged(..))));
    }
}

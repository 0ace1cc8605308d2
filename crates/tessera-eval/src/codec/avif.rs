//! AVIF in pure Rust: rav1e encodes, rav1d decodes, neither with assembler.

use super::{Codec, CodecError, Quality, Tuning};
use crate::picture::{Channels, Picture};
use crate::timing::Timed;
use ravif::{BitDepth, Encoder, Img, RGBA8};
use re_rav1d::dav1d::{Decoder, Picture as Frame, PixelLayout, PlanarImageComponent, Settings};

/// rav1e's effort, 1 (best) to 10; 4 is ravif's default.
const SPEED: u8 = 4;

/// 10-bit 4:4:4 AVIF.
#[derive(Clone, Copy, Debug)]
pub(super) struct Avif;

impl Codec for Avif {
    fn name(&self) -> &str {
        "avif"
    }

    fn version(&self) -> String {
        "ravif 0.13 (rav1e 0.8, no assembler), decoded by re_rav1d 0.1".into()
    }

    fn settings(&self) -> String {
        format!("speed {SPEED}, 10 bit, 4:4:4, one thread; gray is coded as RGB")
    }

    fn ladder(&self) -> Vec<Quality> {
        Quality::list("10,25,40,55,70,85")
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(Tuning {
            smallest: 1.0,
            largest: 100.0,
            step: 1.0,
        })
    }

    fn encode(&self, picture: &Picture, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
        let quality = quality.within(1.0, 100.0, "1 to 100")? as f32;
        let rgb = picture.to_rgb();
        let pixels: Vec<RGBA8> = rgb
            .samples()
            .chunks_exact(3)
            .map(|p| RGBA8::new(p[0], p[1], p[2], u8::MAX))
            .collect();
        // ravif drops an opaque alpha. Its `encode_rgb` would do as well, but is `inline` and has all
        // of rav1e compiled anew, slowly and less optimised, inside every crate that calls it.
        let image = Img::new(&pixels[..], rgb.width() as usize, rgb.height() as usize);
        let encoded = Encoder::new()
            .with_quality(quality)
            .with_speed(SPEED)
            .with_bit_depth(BitDepth::Ten)
            .with_num_threads(Some(1))
            .encode_rgba(image)
            .map_err(|error| CodecError::Failed(error.to_string()))?;
        Ok(encoded.avif_file.into())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Picture>, CodecError> {
        let payload = media_data(bytes)
            .ok_or_else(|| CodecError::Failed("AVIF file without media data".into()))?;
        Ok(to_rgb(&decode_frame(payload)?)?.into())
    }
}

/// The content of the `mdat` box: in a picture without alpha, exactly its AV1 data.
fn media_data(mut file: &[u8]) -> Option<&[u8]> {
    loop {
        let (head, rest) = file.split_at_checked(8)?;
        let size = u32::from_be_bytes(head[..4].try_into().ok()?) as usize;
        let (content, after) = rest.split_at_checked(size.checked_sub(8)?)?;
        if &head[4..] == b"mdat" {
            return Some(content);
        }
        file = after;
    }
}

fn decode_frame(payload: &[u8]) -> Result<Frame, CodecError> {
    let failed = |error: re_rav1d::dav1d::Error| CodecError::Failed(format!("rav1d: {error}"));
    let mut settings = Settings::new();
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    let mut decoder = Decoder::with_settings(&settings).map_err(failed)?;
    decoder
        .send_data(payload.to_vec(), None, None, None)
        .map_err(failed)?;
    decoder.get_picture().map_err(failed)
}

/// BT.601 full range at 10 bits to 8-bit RGB, the inverse of what ravif does.
fn to_rgb(frame: &Frame) -> Result<Picture, CodecError> {
    if frame.pixel_layout() != PixelLayout::I444 || frame.bit_depth() != 10 {
        return Err(CodecError::Failed(
            "not the 10-bit 4:4:4 that was encoded".into(),
        ));
    }
    let components = [
        PlanarImageComponent::Y,
        PlanarImageComponent::U,
        PlanarImageComponent::V,
    ];
    let [y, u, v] = components.map(|c| frame.plane(c));
    let [luma_stride, chroma_stride] = [0, 1].map(|i| frame.stride(components[i]) as usize);
    let (width, height) = (frame.width(), frame.height());
    let mut samples = Vec::with_capacity(width as usize * height as usize * 3);
    for row in 0..height as usize {
        let luma = ten_bit(&y[row * luma_stride..]);
        let chroma = ten_bit(&u[row * chroma_stride..]).zip(ten_bit(&v[row * chroma_stride..]));
        for (y, (cb, cr)) in luma.zip(chroma).take(width as usize) {
            samples.extend(rgb_of(y, cb - 512.0, cr - 512.0));
        }
    }
    Ok(Picture::new(width, height, Channels::Rgb, samples)?)
}

fn ten_bit(row: &[u8]) -> impl Iterator<Item = f64> + '_ {
    row.chunks_exact(2)
        .map(|pair| f64::from(u16::from_ne_bytes([pair[0], pair[1]])))
}

fn rgb_of(y: f64, cb: f64, cr: f64) -> [u8; 3] {
    const KR: f64 = 0.299;
    const KB: f64 = 0.114;
    let red = y + 2.0 * (1.0 - KR) * cr;
    let blue = y + 2.0 * (1.0 - KB) * cb;
    let green = (y - KR * red - KB * blue) / (1.0 - KR - KB);
    [red, green, blue].map(|v| (v * (255.0 / 1023.0)).round().clamp(0.0, 255.0) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_walked_and_damage_is_none() {
        let file = b"\0\0\0\x0cftypavif\0\0\0\x0bmdatxyz";
        assert_eq!(media_data(file), Some(&b"xyz"[..]));
        assert_eq!(media_data(&file[..20]), None);
        assert_eq!(media_data(b"\0\0\0\x01oops"), None);
    }
}

//! AVIF in pure Rust: rav1e encodes, rav1d decodes, neither with assembler.

use super::{Codec, CodecError, Quality, Tuning};
use crate::image8::{Channels, Image8};
use crate::timing::Timed;
use ravif::{BitDepth, Encoder, Img, RGBA8};
use tessera_codec::image_io::{ReadImageError, read_picture, to_dynamic_image};

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

    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
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

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError> {
        let failed = |error: ReadImageError| CodecError::Failed(error.to_string());
        let rgb = to_dynamic_image(read_picture(bytes).map_err(failed)?).into_rgb8();
        let (width, height) = rgb.dimensions();
        Ok(Image8::new(width, height, Channels::Rgb, rgb.into_raw())?.into())
    }
}

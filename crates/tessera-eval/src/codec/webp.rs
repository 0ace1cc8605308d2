//! Lossy WebP by libwebp, and lossless WebP for pictures embedded in a report.

use super::{Codec, CodecError, Quality, Tuning};
use crate::image8::{Channels, Image8};
use crate::timing::Timed;
use webp::{Decoder, Encoder, WebPConfig};

/// Effort of libwebp's slowest and best search.
const METHOD: i32 = 6;

/// Lossy WebP.
#[derive(Clone, Copy, Debug)]
pub(super) struct Webp;

impl Codec for Webp {
    fn name(&self) -> &str {
        "webp"
    }

    fn version(&self) -> String {
        "libwebp by the crate webp 0.3".into()
    }

    fn settings(&self) -> String {
        format!("lossy, method {METHOD}, one thread; gray is coded as RGB")
    }

    fn ladder(&self) -> Vec<Quality> {
        Quality::list("0,8,25,50,72,85,92")
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(Tuning {
            smallest: 0.0,
            largest: 100.0,
            step: 0.5,
        })
    }

    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
        let mut config = configuration()?;
        config.quality = quality.within(0.0, 100.0, "0 to 100")? as f32;
        config.method = METHOD;
        Ok(encode_with(picture, &config)?.into())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError> {
        let image = Decoder::new(bytes)
            .decode()
            .ok_or_else(|| CodecError::Failed("libwebp cannot decode it".into()))?;
        let rgb = Image8::new(image.width(), image.height(), Channels::Rgb, image.to_vec())?;
        Ok(rgb.into())
    }
}

/// Lossless WebP: the smallest exact form that every browser shows.
///
/// # Errors
/// [`CodecError::Failed`] if libwebp refuses, as for sides over 16383 pixels.
pub fn lossless(picture: &Image8) -> Result<Vec<u8>, CodecError> {
    let mut config = configuration()?;
    config.lossless = 1;
    config.exact = 1;
    config.quality = 60.0;
    encode_with(picture, &config)
}

fn configuration() -> Result<WebPConfig, CodecError> {
    WebPConfig::new().map_err(|()| CodecError::Failed("libwebp has another version".into()))
}

fn encode_with(picture: &Image8, config: &WebPConfig) -> Result<Vec<u8>, CodecError> {
    let rgb = picture.to_rgb();
    let encoded = Encoder::from_rgb(rgb.samples(), rgb.width(), rgb.height())
        .encode_advanced(config)
        .map_err(|error| CodecError::Failed(format!("libwebp: {error:?}")))?;
    Ok(encoded.to_vec())
}

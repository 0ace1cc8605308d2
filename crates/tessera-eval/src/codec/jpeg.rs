//! Baseline JPEG, the anchor everyone knows.
//!
//! Optimised Huffman tables make jpeg-encoder write one scan per component. zune-jpeg 0.5 (the
//! decoder behind `image`) garbles such files when chroma is subsampled, hence jpeg-decoder.

use super::{Codec, CodecError, Quality, Tuning};
use crate::image8::{Channels, Image8};
use crate::timing::Timed;
use jpeg_decoder::{Decoder, PixelFormat};
use jpeg_encoder::{ColorType, Encoder, SamplingFactor};

/// JPEG with the standard tables and optimised Huffman codes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jpeg {
    pub(super) subsampled: bool,
}

impl Codec for Jpeg {
    fn name(&self) -> &str {
        if self.subsampled { "jpeg" } else { "jpeg444" }
    }

    fn version(&self) -> String {
        "jpeg-encoder 0.7, decoded by jpeg-decoder 0.3".into()
    }

    fn settings(&self) -> String {
        let chroma = if self.subsampled { "4:2:0" } else { "4:4:4" };
        format!("baseline, optimised Huffman tables, {chroma}")
    }

    fn ladder(&self) -> Vec<Quality> {
        Quality::list("5,10,20,35,55,75,90")
    }

    fn tuning(&self) -> Option<Tuning> {
        Some(Tuning {
            smallest: 1.0,
            largest: 100.0,
            step: 1.0,
        })
    }

    fn encode(&self, picture: &Image8, quality: &Quality) -> Result<Timed<Vec<u8>>, CodecError> {
        let quality = quality.within(1.0, 100.0, "1 to 100")?.round() as u8;
        let mut bytes = Vec::new();
        let mut encoder = Encoder::new(&mut bytes, quality);
        encoder.set_optimized_huffman_tables(true);
        encoder.set_sampling_factor(if self.subsampled {
            SamplingFactor::F_2_2
        } else {
            SamplingFactor::F_1_1
        });
        let color = match picture.channels() {
            Channels::Gray => ColorType::Luma,
            Channels::Rgb => ColorType::Rgb,
        };
        let too_large = |_| CodecError::Failed("JPEG ends at 65535 pixels a side".into());
        let width = u16::try_from(picture.width()).map_err(too_large)?;
        let height = u16::try_from(picture.height()).map_err(too_large)?;
        encoder
            .encode(picture.samples(), width, height, color)
            .map_err(|error| CodecError::Failed(error.to_string()))?;
        Ok(bytes.into())
    }

    fn decode(&self, bytes: &[u8]) -> Result<Timed<Image8>, CodecError> {
        let failed = |error: jpeg_decoder::Error| CodecError::Failed(error.to_string());
        let mut decoder = Decoder::new(bytes);
        let samples = decoder.decode().map_err(failed)?;
        let info = decoder
            .info()
            .ok_or_else(|| CodecError::Failed("JPEG without a frame".into()))?;
        let channels = match info.pixel_format {
            PixelFormat::L8 => Channels::Gray,
            PixelFormat::RGB24 => Channels::Rgb,
            other => return Err(CodecError::Failed(format!("unexpected {other:?} samples"))),
        };
        let (width, height) = (u32::from(info.width), u32::from(info.height));
        Ok(Image8::new(width, height, channels, samples)?.into())
    }
}

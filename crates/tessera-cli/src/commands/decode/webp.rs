//! Lossy WebP by libwebp, which leaves metadata to us (RIFF container of the WebP specification).

use anyhow::{Result, anyhow};
use std::io::Write;
use tessera_codec::image_io::{Losses, to_dynamic_image};
use tessera_codec::{Metadata, Picture, PictureInfo};
use webp::{Encoder, WebPConfig};

/// "RIFF", the length behind it, "WEBP".
const RIFF_HEADER: usize = 12;
/// Name and length of a chunk.
const CHUNK_HEADER: usize = 8;

// Flags of the VP8X chunk.
const ICC: u8 = 0x20;
const ALPHA: u8 = 0x10;
const EXIF: u8 = 0x08;
const XMP: u8 = 0x04;

/// Collects rows and encodes them at the end.
pub(super) struct LossyWebp {
    info: PictureInfo,
    metadata: Metadata,
    quality: u8,
    /// RGB or RGBA.
    samples: Vec<u8>,
}

impl LossyWebp {
    pub(super) fn new(info: PictureInfo, metadata: Metadata, quality: u8) -> Self {
        Self {
            info,
            metadata,
            quality,
            samples: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, rows: Picture) {
        let image = to_dynamic_image(rows);
        self.samples.extend(match self.info.format().alpha {
            true => image.into_rgba8().into_raw(),
            false => image.into_rgb8().into_raw(),
        });
    }

    /// # Errors
    /// When libwebp refuses or writing fails.
    pub(super) fn finish(self, mut out: impl Write) -> Result<Losses> {
        let (width, height) = (self.info.width(), self.info.height());
        let encoder = match self.info.format().alpha {
            true => Encoder::from_rgba(&self.samples, width, height),
            false => Encoder::from_rgb(&self.samples, width, height),
        };
        let mut config =
            WebPConfig::new().map_err(|()| anyhow!("libwebp is of another version"))?;
        config.quality = f32::from(self.quality);
        let file = encoder
            .encode_advanced(&config)
            .map_err(|error| anyhow!("libwebp cannot encode it ({error:?})"))?;
        out.write_all(&with_metadata(&file, &self.metadata, self.info))?;
        Ok(Losses {
            dropped: Vec::new(),
            reduced_to_8_bits: self.info.format().bytes_per_sample() > 1,
        })
    }
}

/// The same picture with metadata around it.
fn with_metadata(file: &[u8], metadata: &Metadata, info: PictureInfo) -> Vec<u8> {
    if metadata.iter().next().is_none() {
        return file.to_vec();
    }
    let flag = |block: &Option<Vec<u8>>, flag| if block.is_some() { flag } else { 0 };
    let alpha = if info.format().alpha { ALPHA } else { 0 };
    let flags =
        alpha | flag(&metadata.icc, ICC) | flag(&metadata.exif, EXIF) | flag(&metadata.xmp, XMP);
    let mut head = vec![flags, 0, 0, 0];
    for side in [info.width(), info.height()] {
        head.extend(&(side - 1).to_le_bytes()[..3]);
    }
    let mut body = b"WEBP".to_vec();
    put_chunk(&mut body, b"VP8X", &head);
    let mut put = |name, block: &Option<Vec<u8>>| {
        block
            .iter()
            .for_each(|block| put_chunk(&mut body, name, block));
    };
    put(b"ICCP", &metadata.icc);
    for (name, content) in chunks(file).filter(|(name, _)| name != b"VP8X") {
        put_chunk(&mut body, &name, content);
    }
    let mut put = |name, block: &Option<Vec<u8>>| {
        block
            .iter()
            .for_each(|block| put_chunk(&mut body, name, block));
    };
    put(b"EXIF", &metadata.exif);
    put(b"XMP ", &metadata.xmp);
    let mut whole = b"RIFF".to_vec();
    whole.extend((body.len() as u32).to_le_bytes());
    whole.extend(body);
    whole
}

fn put_chunk(file: &mut Vec<u8>, name: &[u8; 4], content: &[u8]) {
    file.extend(name);
    file.extend((content.len() as u32).to_le_bytes());
    file.extend(content);
    // Chunks have even lengths.
    file.resize(file.len().next_multiple_of(2), 0);
}

/// Name and content of each chunk of a file that libwebp made.
fn chunks(file: &[u8]) -> impl Iterator<Item = ([u8; 4], &[u8])> {
    let mut rest = file.get(RIFF_HEADER..).unwrap_or_default();
    std::iter::from_fn(move || {
        let (head, behind) = rest.split_at_checked(CHUNK_HEADER)?;
        let (name, len) = head.split_at(4);
        let len = u32::from_le_bytes(len.try_into().ok()?) as usize;
        let content = behind.get(..len)?;
        rest = behind.get(len.next_multiple_of(2)..).unwrap_or_default();
        Some((name.try_into().ok()?, content))
    })
}

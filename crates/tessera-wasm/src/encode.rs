//! From the pixels of a canvas to a file.

use crate::failure::Result;
use tessera_codec::{BitDepth, Colour, Encoder, Picture, PixelFormat, PreparedDictionary, Samples};

/// What a file is to become.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    /// Quality from 0 to 100.
    pub(crate) quality: u8,
    /// Most bytes of the file, instead of a quality.
    pub(crate) size: Option<u32>,
    /// 1 (fast) to 9 (small).
    pub(crate) effort: u8,
    /// Whether a small picture goes in front.
    pub(crate) preview: bool,
}

/// Encodes RGBA; `hear` gets the pixels of every tile that is done.
pub(crate) fn encode(
    rgba: &[u8],
    (width, height): (u32, u32),
    settings: Settings,
    dictionary: PreparedDictionary,
    hear: impl Fn(u64) + Send + Sync + 'static,
) -> Result<Vec<u8>> {
    let picture = picture(rgba, width, height)?;
    let encoder = Encoder::new()
        .effort(settings.effort)
        .preview(settings.preview)
        .dictionary(dictionary)
        .measure_distortion(false)
        .on_tile(hear);
    let encoder = match settings.size {
        Some(bytes) => encoder.target_size(u64::from(bytes)),
        None => encoder.quality(settings.quality),
    };
    Ok(encoder.encode(&picture)?.bytes)
}

/// The picture with no more channels than it needs: a canvas has four whatever was drawn on it.
fn picture(rgba: &[u8], width: u32, height: u32) -> Result<Picture> {
    let pixels = rgba.as_chunks::<4>().0;
    let alpha = pixels.iter().any(|pixel| pixel[3] != 255);
    let gray = pixels.iter().all(|[r, g, b, _]| r == g && g == b);
    let colour = if gray { Colour::Gray } else { Colour::Rgb };
    let kept: &[usize] = match (gray, alpha) {
        (true, false) => &[0],
        (true, true) => &[0, 3],
        (false, false) => &[0, 1, 2],
        (false, true) => &[0, 1, 2, 3],
    };
    let format = PixelFormat {
        colour,
        alpha,
        depth: BitDepth::Eight,
    };
    let samples = pixels
        .iter()
        .flat_map(|pixel| kept.iter().map(|&at| pixel[at]));
    let mut bytes = Vec::with_capacity(pixels.len() * kept.len());
    bytes.extend(samples);
    Ok(Picture::new(width, height, format, Samples::U8(bytes))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn channels_that_say_nothing_are_dropped() {
        let channels = |pixel: [u8; 4]| {
            let two = [pixel, [3, 3, 3, 255]].concat();
            picture(&two, 2, 1).unwrap().format().channels()
        };
        assert_eq!(channels([9, 9, 9, 255]), 1);
        assert_eq!(channels([9, 9, 9, 254]), 2);
        assert_eq!(channels([9, 8, 9, 255]), 3);
        assert_eq!(channels([9, 8, 9, 0]), 4);
        assert!(picture(&[0; 4], 2, 1).is_err());
    }
}

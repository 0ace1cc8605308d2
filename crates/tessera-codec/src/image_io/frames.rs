//! Animations, of which one frame is taken.

use crate::image_io::error::{ReadImageError, image_error};
use crate::image_io::found::Found;
use crate::image_io::orientation;
use crate::metadata::Metadata;
use image::codecs::gif::GifDecoder;
use image::codecs::png::PngDecoder;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, DynamicImage, Frame, Frames, ImageDecoder, Limits};
use std::io::Cursor;

/// A format that can be an animation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Animation {
    Png,
    Gif,
    WebP,
}

impl Animation {
    fn name(self) -> &'static str {
        match self {
            Self::Png => "PNG",
            Self::Gif => "GIF",
            Self::WebP => "WebP",
        }
    }

    /// The frames as they are shown, one after the other.
    fn frames(self, file: &[u8], limits: Limits) -> Result<Frames<'_>, ReadImageError> {
        let failed = |error| image_error(self.name(), error);
        let reader = Cursor::new(file);
        Ok(match self {
            Self::Png => {
                let decoder = PngDecoder::with_limits(reader, limits).map_err(failed)?;
                decoder.apng().map_err(failed)?.into_frames()
            }
            Self::Gif => limited(GifDecoder::new(reader), limits)
                .map_err(failed)?
                .into_frames(),
            Self::WebP => limited(WebPDecoder::new(reader), limits)
                .map_err(failed)?
                .into_frames(),
        })
    }
}

fn limited<D: ImageDecoder>(
    decoder: image::ImageResult<D>,
    limits: Limits,
) -> image::ImageResult<D> {
    let mut decoder = decoder?;
    decoder.set_limits(limits)?;
    Ok(decoder)
}

/// What to say when frames are left out.
pub(super) fn further_frames() -> String {
    "the file is an animation and only its first frame was taken; --frame N takes another".into()
}

/// Refuses a page number above one for a file that holds one picture.
pub(super) fn only_one(page: Option<u32>) -> Result<(), ReadImageError> {
    match page {
        None | Some(1) => Ok(()),
        Some(wanted) => Err(ReadImageError::NoSuchPage { wanted, present: 1 }),
    }
}

/// One frame, counted from 1.
pub(super) fn read(
    file: &[u8],
    animation: Animation,
    page: u32,
    limits: Limits,
) -> Result<DynamicImage, ReadImageError> {
    Ok(nth(&mut animation.frames(file, limits)?, animation, page)?.into())
}

fn nth(
    frames: &mut Frames<'_>,
    animation: Animation,
    page: u32,
) -> Result<image::RgbaImage, ReadImageError> {
    let mut present = 0;
    for frame in frames.by_ref() {
        let frame = frame.map_err(|error| image_error(animation.name(), error))?;
        present += 1;
        if present == page {
            return Ok(Frame::into_buffer(frame));
        }
    }
    let wanted = page;
    Err(ReadImageError::NoSuchPage { wanted, present })
}

/// A GIF: the frame that was asked for, or the first with a warning if there are more.
pub(super) fn read_gif(
    file: &[u8],
    page: Option<u32>,
    limits: Limits,
) -> Result<Found, ReadImageError> {
    let decoder = GifDecoder::new(Cursor::new(file));
    let mut decoder = decoder.map_err(|error| image_error("GIF", error))?;
    let found = take_frame(file, Animation::Gif, page, limits)?;
    Ok(Found {
        metadata: metadata_of(&mut decoder),
        ..found
    })
}

/// An animated WebP likewise; `None` for a still one.
pub(super) fn read_webp(
    file: &[u8],
    page: Option<u32>,
    limits: Limits,
) -> Result<Option<Found>, ReadImageError> {
    let decoder = WebPDecoder::new(Cursor::new(file));
    let mut decoder = decoder.map_err(|error| image_error("WebP", error))?;
    if !decoder.has_animation() {
        return Ok(None);
    }
    let found = take_frame(file, Animation::WebP, page, limits)?;
    Ok(Some(Found {
        metadata: metadata_of(&mut decoder),
        ..found
    }))
}

fn take_frame(
    file: &[u8],
    animation: Animation,
    page: Option<u32>,
    limits: Limits,
) -> Result<Found, ReadImageError> {
    let mut frames = animation.frames(file, limits)?;
    let image = match nth(&mut frames, animation, page.unwrap_or(1)) {
        Err(ReadImageError::NoSuchPage { present: 0, .. }) => {
            let nothing = "it holds no picture";
            return Err(ReadImageError::Damaged(animation.name(), nothing));
        }
        image => image?,
    };
    let more = page.is_none() && matches!(frames.next(), Some(Ok(_)));
    Ok(Found {
        warnings: more.then(further_frames).into_iter().collect(),
        ..Found::plain(image.into())
    })
}

/// The metadata a decoder offers. A block that it cannot give is no reason to lose the picture.
pub(super) fn metadata_of(decoder: &mut impl ImageDecoder) -> Metadata {
    let given = |block: image::ImageResult<Option<Vec<u8>>>| {
        block.ok().flatten().filter(|bytes| !bytes.is_empty())
    };
    Metadata {
        icc: given(decoder.icc_profile()),
        exif: given(decoder.exif_metadata()).map(orientation::without_prefix),
        xmp: given(decoder.xmp_metadata()),
        ..Metadata::default()
    }
}

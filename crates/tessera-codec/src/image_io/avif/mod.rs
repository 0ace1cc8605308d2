//! AVIF: the container is read here, the pictures in it by rav1d.

mod boxes;
mod items;
mod planes;

use crate::image_io::error::{INCONSISTENT, MAX_READ_BYTES, ReadImageError};
use crate::image_io::found::{self, Found};
use crate::image_io::{colour, frames, orientation};
use crate::metadata::{Cicp, Metadata};
use crate::picture::{Colour, Samples};
use image::DynamicImage;
use image::metadata::Orientation;
use items::{Item, Items};
use planes::Coding;
use re_rav1d::dav1d::{Decoder, Picture as Frame, Settings};

const AVIF: &str = "AVIF";
const DAMAGED: ReadImageError = ReadImageError::Damaged(AVIF, INCONSISTENT);

/// Reads the picture of a file.
pub(super) fn read(file: &[u8]) -> Result<Found, ReadImageError> {
    let items = Items::read(file).ok_or(DAMAGED)?;
    let primary = items.primary().ok_or(DAMAGED)?;
    refuse_rare(primary)?;
    let frame = decode(&items.data(primary).ok_or(ReadImageError::Truncated(AVIF))?)?;
    let coding = Coding::new(&frame, primary.nclx)?;
    let alpha = items.alpha_of(primary).map(|item| {
        let data = items.data(item).ok_or(ReadImageError::Truncated(AVIF))?;
        decode(&data)
    });
    let alpha = alpha.transpose()?;
    let image = to_image(&frame, &coding, alpha.as_ref())?;
    let cicp = code_points(primary);
    let icc = primary.icc.map(<[u8]>::to_vec);
    let metadata = Metadata {
        // For those who know profiles only.
        icc: icc.or_else(|| cicp.and_then(colour::profile_of)),
        exif: items.exif().map(orientation::without_prefix),
        xmp: items.xmp(),
        cicp,
        gain_map: None,
    };
    let animated = file.get(8..12) == Some(b"avis");
    let gain_map = || {
        "the gain map of the file was left out; the picture is the one for usual screens".to_owned()
    };
    let warnings = [
        animated.then(frames::further_frames),
        items.has_gain_map().then(gain_map),
    ];
    Ok(Found {
        // The container has the last word, EXIF is only for show.
        orientation: Some(Orientation::NoTransforms),
        metadata,
        warnings: warnings.into_iter().flatten().collect(),
        image: turned(image, primary),
    })
}

fn refuse_rare(item: &Item<'_>) -> Result<(), ReadImageError> {
    let rare = match item {
        Item {
            kind: [b'g', b'r', b'i', b'd'],
            ..
        } => "pictures put together from tiles",
        Item { kind, .. } if kind != b"av01" => "pictures that are not coded as AV1",
        Item { cropped: true, .. } => "cropping by the container",
        Item {
            premultiplied: true,
            ..
        } => "colours that are multiplied by alpha",
        _ => return Ok(()),
    };
    Err(ReadImageError::variant(AVIF, rare))
}

fn decode(data: &[u8]) -> Result<Frame, ReadImageError> {
    let damaged = |_| ReadImageError::Damaged(AVIF, "its AV1 data cannot be decoded");
    let mut settings = Settings::new();
    settings.set_n_threads(1);
    settings.set_max_frame_delay(1);
    settings.set_frame_size_limit((MAX_READ_BYTES / 16) as u32);
    let mut decoder = Decoder::with_settings(&settings).map_err(damaged)?;
    let sent = decoder.send_data(data.to_vec(), None, None, None);
    sent.map_err(damaged)?;
    decoder.get_picture().map_err(damaged)
}

fn to_image(
    frame: &Frame,
    coding: &Coding,
    alpha: Option<&Frame>,
) -> Result<DynamicImage, ReadImageError> {
    let (width, height) = (frame.width(), frame.height());
    let alpha = alpha.map(|alpha| planes::alpha(alpha, (width, height)).ok_or(DAMAGED));
    let alpha = alpha.transpose()?;
    let has_alpha = alpha.is_some();
    let deep = frame.bit_depth() > 8;
    let samples = match deep {
        true => Samples::U16(planes::samples(frame, coding, alpha, 65535.0, |v| v as u16)),
        false => Samples::U8(planes::samples(frame, coding, alpha, 255.0, |v| v as u8)),
    };
    let colour = match coding.gray() {
        true => Colour::Gray,
        false => Colour::Rgb,
    };
    found::image_of(AVIF, (width, height), (colour, has_alpha), samples)
}

/// Quarter turns against the clock, then mirrored.
fn turned(image: DynamicImage, item: &Item<'_>) -> DynamicImage {
    let image = match item.turns {
        1 => image.rotate270(),
        2 => image.rotate180(),
        3 => image.rotate90(),
        _ => image,
    };
    match item.mirror {
        Some(0) => image.flipv(),
        Some(_) => image.fliph(),
        None => image,
    }
}

/// What the container says of the colours; nothing if that is sRGB, as it is without a word. Samples are RGB of the full
/// range by then.
fn code_points(item: &Item<'_>) -> Option<Cicp> {
    const UNSPECIFIED: u8 = 2;
    let nclx = item.nclx?;
    let primaries = u8::try_from(nclx.primaries).ok()?;
    let transfer = u8::try_from(nclx.transfer).ok()?;
    let usual = matches!(primaries, 1 | UNSPECIFIED) && matches!(transfer, 13 | UNSPECIFIED);
    (!usual).then(|| Cicp::new(primaries, transfer, true))
}

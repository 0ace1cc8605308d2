//! Planes of luma and colour differences to gray or RGB.

use crate::image_io::avif::AVIF;
use crate::image_io::avif::items::Nclx;
use crate::image_io::colour::{self, LumaShares};
use crate::image_io::error::ReadImageError;
use re_rav1d::dav1d::pixel::{MatrixCoefficients, YUVRange};
use re_rav1d::dav1d::{Picture as Frame, PixelLayout, PlanarImageComponent};

/// How numbers stand for colours.
pub(super) struct Coding {
    layout: PixelLayout,
    /// None if the planes are green, blue and red themselves.
    shares: Option<LumaShares>,
    full_range: bool,
}

impl Coding {
    /// What the container says goes before what the data says.
    pub(super) fn new(frame: &Frame, nclx: Option<Nclx>) -> Result<Self, ReadImageError> {
        let in_data = match frame.matrix_coefficients() {
            MatrixCoefficients::Identity => 0,
            MatrixCoefficients::BT709 => 1,
            MatrixCoefficients::BT2020NonConstantLuminance => 9,
            MatrixCoefficients::Unspecified
            | MatrixCoefficients::BT470BG
            | MatrixCoefficients::ST170M => 6,
            _ => u16::MAX,
        };
        let shares = match nclx.map_or(in_data, |nclx| nclx.matrix) {
            0 => None,
            1 => Some((0.2126, 0.0722)),
            2 | 5 | 6 => Some(colour::BT601),
            9 => Some((0.2627, 0.0593)),
            _ => {
                return Err(ReadImageError::variant(
                    AVIF,
                    "colour differences of this kind",
                ));
            }
        };
        Ok(Self {
            layout: frame.pixel_layout(),
            shares,
            full_range: match nclx {
                Some(nclx) => nclx.full_range,
                None => frame.color_range() == YUVRange::Full,
            },
        })
    }

    /// Whether there is nothing but luma.
    pub(super) fn gray(&self) -> bool {
        self.layout == PixelLayout::I400
    }
}

/// One plane; samples are scaled so that luma is 0 to 1 and differences are around zero.
struct Plane {
    samples: Vec<f32>,
    width: usize,
    height: usize,
    /// Whether it has half the columns or rows of the picture.
    half: (bool, bool),
}

impl Plane {
    fn new(
        frame: &Frame,
        component: PlanarImageComponent,
        half: (bool, bool),
        scale: impl Fn(f32) -> f32,
    ) -> Self {
        let side = |side: u32, half: bool| if half { side.div_ceil(2) } else { side } as usize;
        let (width, height) = (side(frame.width(), half.0), side(frame.height(), half.1));
        let plane = frame.plane(component);
        let stride = frame.stride(component) as usize;
        let bytes = if frame.bit_depth() > 8 { 2 } else { 1 };
        let mut samples = Vec::with_capacity(width * height);
        for row in plane.chunks(stride).take(height) {
            let values = row[..width * bytes]
                .chunks_exact(bytes)
                .map(|value| match value {
                    [low, high] => f32::from(u16::from_ne_bytes([*low, *high])),
                    _ => f32::from(value[0]),
                });
            samples.extend(values.map(&scale));
        }
        Self {
            samples,
            width,
            height,
            half,
        }
    }

    /// The value at a pixel of the picture, between the nearest samples where there are fewer.
    fn at(&self, x: usize, y: usize) -> f32 {
        if self.half == (false, false) {
            return self.samples[y * self.width + x];
        }
        let (left, right, across) = neighbours(x, self.half.0, self.width);
        let (top, bottom, down) = neighbours(y, self.half.1, self.height);
        let row = |y: usize| {
            let row = &self.samples[y * self.width..];
            row[left] + (row[right] - row[left]) * across
        };
        let above = row(top);
        above + (row(bottom) - above) * down
    }
}

/// The two samples around a position and the share of the second. A sample of a halved plane
/// lies in the middle of its two pixels.
fn neighbours(at: usize, half: bool, len: usize) -> (usize, usize, f32) {
    if !half {
        return (at, at, 0.0);
    }
    let (first, share) = match at % 2 {
        0 => ((at / 2).checked_sub(1), 0.75),
        _ => (Some(at / 2), 0.25),
    };
    let second = first.map_or(0, |first| first + 1).min(len - 1);
    (first.unwrap_or(0), second, share)
}

/// Scales luma to 0 to 1.
fn luma_scale(frame: &Frame, full_range: bool) -> impl Fn(f32) -> f32 {
    let unit = (1u32 << (frame.bit_depth() - 8)) as f32;
    let most = (256.0 * unit) - 1.0;
    move |v| match full_range {
        true => v / most,
        false => (v - 16.0 * unit) / (219.0 * unit),
    }
}

/// Scales colour differences to be around zero.
fn chroma_scale(frame: &Frame, full_range: bool) -> impl Fn(f32) -> f32 {
    let unit = (1u32 << (frame.bit_depth() - 8)) as f32;
    let span = if full_range {
        256.0 * unit - 1.0
    } else {
        224.0 * unit
    };
    move |v| (v - 128.0 * unit) / span
}

/// The alpha of a picture from 0 to 1; `None` if it is of another size.
pub(super) fn alpha(frame: &Frame, (width, height): (u32, u32)) -> Option<Vec<f32>> {
    let full_range = frame.color_range() == YUVRange::Full;
    let scale = luma_scale(frame, full_range);
    let plane = Plane::new(frame, PlanarImageComponent::Y, (false, false), scale);
    (frame.width() == width && frame.height() == height).then_some(plane.samples)
}

/// All pixels, with alpha if there is some, from 0 to `most`.
pub(super) fn samples<T>(
    frame: &Frame,
    coding: &Coding,
    alpha: Option<Vec<f32>>,
    most: f32,
    sample: fn(f32) -> T,
) -> Vec<T> {
    let colours = Colours::new(frame, coding);
    let (width, height) = (frame.width() as usize, frame.height() as usize);
    let channels = if coding.gray() { 1 } else { 3 } + usize::from(alpha.is_some());
    let to_sample = |v: f32| sample((v * most).round().clamp(0.0, most));
    let mut samples = Vec::with_capacity(width * height * channels);
    for y in 0..height {
        for x in 0..width {
            match &colours {
                Colours::Gray(luma) => samples.push(to_sample(luma.at(x, y))),
                Colours::Own([green, blue, red]) => {
                    samples.extend([red, green, blue].map(|plane| to_sample(plane.at(x, y))));
                }
                Colours::Differences(planes, shares) => {
                    let ycc = [0, 1, 2].map(|i| planes[i].at(x, y));
                    samples.extend(colour::ycbcr_to_rgb(*shares, ycc).map(to_sample));
                }
            }
            samples.extend(alpha.as_ref().map(|alpha| to_sample(alpha[y * width + x])));
        }
    }
    samples
}

/// What the planes hold.
enum Colours {
    Gray(Plane),
    /// Green, blue and red.
    Own([Plane; 3]),
    Differences([Plane; 3], LumaShares),
}

impl Colours {
    fn new(frame: &Frame, coding: &Coding) -> Self {
        let half = match coding.layout {
            PixelLayout::I420 => (true, true),
            PixelLayout::I422 => (true, false),
            _ => (false, false),
        };
        let luma = |component, half| {
            Plane::new(frame, component, half, luma_scale(frame, coding.full_range))
        };
        let chroma = |component| {
            Plane::new(
                frame,
                component,
                half,
                chroma_scale(frame, coding.full_range),
            )
        };
        let y = luma(PlanarImageComponent::Y, (false, false));
        let (u, v) = (PlanarImageComponent::U, PlanarImageComponent::V);
        match (coding.layout, coding.shares) {
            (PixelLayout::I400, _) => Self::Gray(y),
            (_, None) => Self::Own([y, luma(u, half), luma(v, half)]),
            (_, Some(shares)) => Self::Differences([y, chroma(u), chroma(v)], shares),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halved_planes_are_read_between_their_samples() {
        let plane = Plane {
            samples: vec![0.0, 4.0],
            width: 2,
            height: 1,
            half: (true, false),
        };
        let row: Vec<f32> = (0..4).map(|x| plane.at(x, 0)).collect();
        assert_eq!(row, [0.0, 1.0, 3.0, 4.0]);
    }
}

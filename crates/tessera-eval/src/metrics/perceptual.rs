//! The perceptual metrics, by the crates that keep them.

use super::{Metric, MetricError};
use crate::image8::Image8;
use ::butteraugli::{ButteraugliParams, Img, RGB8};
use fast_ssim2::{PixelDescriptor, PixelSlice, compute_ssimulacra2};

/// Below this side neither metric is defined.
const MIN_SIDE: u32 = 8;

/// SSIMULACRA 2; gray pictures are replicated to RGB. `None` below 8 pixels a side.
///
/// # Errors
/// [`MetricError::Library`] if the crate fails.
pub fn ssimulacra2(a: &Image8, b: &Image8) -> Result<Option<f64>, MetricError> {
    if too_small(a) {
        return Ok(None);
    }
    let (a, b) = (a.to_rgb(), b.to_rgb());
    let value = compute_ssimulacra2(&rgb_slice(&a)?, &rgb_slice(&b)?)
        .map_err(|error| library_error(Metric::Ssimulacra2, &error))?;
    Ok(Some(value))
}

fn rgb_slice(picture: &Image8) -> Result<PixelSlice<'_>, MetricError> {
    let (width, height) = (picture.width(), picture.height());
    let stride = width as usize * 3;
    PixelSlice::new(
        picture.samples(),
        width,
        height,
        stride,
        PixelDescriptor::RGB8_SRGB,
    )
    .map_err(|error| library_error(Metric::Ssimulacra2, &error))
}

/// Butteraugli's 3-norm; gray pictures are replicated to RGB. `None` below 8 pixels a side.
///
/// # Errors
/// [`MetricError::Library`] if the crate fails.
pub fn butteraugli(a: &Image8, b: &Image8) -> Result<Option<f64>, MetricError> {
    if too_small(a) {
        return Ok(None);
    }
    let size = (a.width() as usize, a.height() as usize);
    let (a, b) = (rgb_pixels(a), rgb_pixels(b));
    let view = |pixels| Img::new(pixels, size.0, size.1);
    let params = ButteraugliParams::default().with_compute_diffmap(true);
    let result = ::butteraugli::butteraugli(view(&a[..]), view(&b[..]), &params)
        .map_err(|error| library_error(Metric::Butteraugli, &error))?;
    Ok(result.pnorm(3.0))
}

fn rgb_pixels(picture: &Image8) -> Vec<RGB8> {
    let rgb = picture.to_rgb();
    let pixels = rgb.samples().chunks_exact(3);
    pixels.map(|p| RGB8::new(p[0], p[1], p[2])).collect()
}

fn too_small(picture: &Image8) -> bool {
    picture.width().min(picture.height()) < MIN_SIDE
}

fn library_error(metric: Metric, error: &dyn std::fmt::Display) -> MetricError {
    let reason = error.to_string();
    MetricError::Library { metric, reason }
}

//! What the encoder spends its bits on: what people see, or the squared error.

use crate::encoder::masking::PictureActivity;
use crate::quality::Tune;
use crate::tile::{PlaneLayout, TileConfig, WeightCurve};

/// Quantiser indices Cb and Cr are coarser than luma.
const CHROMA_OFFSETS: [i8; 2] = [2, 4];
/// Octaves the step grows by from the lowest to the highest frequency along an axis, at these quantisers and beyond:
/// more where less is left of the picture anyway.
const FINEST: (u8, f32) = (46, 0.6);
const COARSEST: (u8, f32) = (80, 1.3);

/// How much the step grows with frequency at a quantiser.
fn slope(quantiser: u8) -> f32 {
    let ((fine, least), (coarse, most)) = (FINEST, COARSEST);
    let way = (f32::from(quantiser) - f32::from(fine)) / f32::from(coarse - fine);
    least + way.clamp(0.0, 1.0) * (most - least)
}

/// The curve of a slope: linear in frequency, one at a quarter of the highest.
fn curve(slope: f32) -> WeightCurve {
    WeightCurve([-0.25, 0.25, 0.75].map(|frequency| (32.0 * slope * frequency).round() as i8))
}

/// The curve of a photo at a quantiser.
pub(crate) fn photo_curve(quantiser: u8) -> WeightCurve {
    curve(slope(quantiser))
}

/// Indices that a plane of a photo is coarser than luma.
pub(crate) fn plane_offset(plane: usize) -> i32 {
    match plane.checked_sub(1) {
        Some(chroma) => i32::from(CHROMA_OFFSETS[chroma]),
        None => 0,
    }
}

/// Sets a tile's parameters for what the encoder is tuned for, in a picture of this kind.
pub(crate) fn apply(tune: Tune, activity: &PictureActivity, config: &mut TileConfig) {
    if tune == Tune::Psnr || config.alpha {
        return;
    }
    // Sharp edges of text and line art need their high frequencies.
    let photographic = 1.0 - activity.drawn_share().min(1.0);
    let curve = curve(photographic * slope(config.quantiser));
    config.adaptive = true;
    config.weights = match config.layout {
        PlaneLayout::Gray => [curve, WeightCurve::default()],
        PlaneLayout::Ycbcr444 => [curve; 2],
    };
    config.chroma_offsets = match config.layout {
        PlaneLayout::Gray => [0; 2],
        PlaneLayout::Ycbcr444 => CHROMA_OFFSETS,
    };
}

/// Sets a tile's parameters as for the eye, for training.
pub fn tune_for_training(config: &mut TileConfig) {
    apply(Tune::Visual, &PictureActivity::default(), config);
}

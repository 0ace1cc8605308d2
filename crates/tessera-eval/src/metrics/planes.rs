//! BT.601 full-range planes in floating point, the colour space of the PSNRs and of MS-SSIM.

use super::psnr::psnr;
use crate::image8::{Channels, Image8};

/// Rows give Y, Cb and Cr; chroma is centred on zero.
const YUV_FROM_RGB: [[f64; 3]; 3] = [
    [0.299, 0.587, 0.114],
    [-0.168_735_892, -0.331_264_108, 0.5],
    [0.5, -0.418_687_589, -0.081_312_411],
];

/// The planes of one picture at full resolution: luma, and chroma unless it is gray.
#[derive(Debug)]
pub struct Planes {
    luma: Vec<f64>,
    chroma: Option<[Vec<f64>; 2]>,
}

impl Planes {
    /// Converts a picture; nothing is rounded.
    #[must_use]
    pub fn of(picture: &Image8) -> Self {
        match picture.channels() {
            Channels::Gray => Self {
                luma: picture.samples().iter().map(|&v| f64::from(v)).collect(),
                chroma: None,
            },
            Channels::Rgb => Self {
                luma: weighted(picture, YUV_FROM_RGB[0]),
                chroma: Some([
                    weighted(picture, YUV_FROM_RGB[1]),
                    weighted(picture, YUV_FROM_RGB[2]),
                ]),
            },
        }
    }

    /// The luma plane, rows from the top.
    #[must_use]
    pub fn luma(&self) -> &[f64] {
        &self.luma
    }

    /// PSNR of luma.
    #[must_use]
    pub fn psnr_y(&self, other: &Self) -> f64 {
        plane_psnr(&self.luma, &other.luma)
    }

    /// `(6 Y + U + V) / 8` of the planes' PSNRs; of a gray picture the luma's.
    #[must_use]
    pub fn psnr_yuv(&self, other: &Self) -> f64 {
        let luma = self.psnr_y(other);
        match (&self.chroma, &other.chroma) {
            (Some(a), Some(b)) => {
                let chroma: f64 = a.iter().zip(b).map(|(a, b)| plane_psnr(a, b)).sum();
                (6.0 * luma + chroma) / 8.0
            }
            _ => luma,
        }
    }
}

fn weighted(picture: &Image8, weights: [f64; 3]) -> Vec<f64> {
    let weigh = |rgb: &[u8]| -> f64 {
        rgb.iter()
            .zip(weights)
            .map(|(&v, w)| f64::from(v) * w)
            .sum()
    };
    picture.samples().chunks_exact(3).map(weigh).collect()
}

fn plane_psnr(a: &[f64], b: &[f64]) -> f64 {
    psnr(a.iter().zip(b).map(|(x, y)| x - y))
}

//! What a codec lost: the metrics, their names and how a curve may use them.

mod msssim;
mod perceptual;
mod planes;
mod psnr;

pub use msssim::{MIN_SIDE as MSSSIM_MIN_SIDE, ms_ssim};
pub use perceptual::{butteraugli, ssimulacra2};
pub use planes::Planes;
pub use psnr::{IDENTICAL_DB, psnr};

use crate::image8::{Channels, Image8};
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use thiserror::Error;

/// Why two pictures could not be compared.
#[derive(Debug, Error)]
pub enum MetricError {
    /// Sizes or channels differ.
    #[error("the pictures differ in shape: {0} and {1}")]
    Shape(String, String),
    /// A metric library refused the pictures.
    #[error("{metric}: {reason}")]
    Library {
        /// Which metric.
        metric: Metric,
        /// Its own words.
        reason: String,
    },
    /// No metric has this name.
    #[error("no metric is called '{0}'; there are {known}", known = Metric::names())]
    Unknown(String),
}

/// A full-reference quality metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Metric {
    /// PSNR of BT.601 full-range luma, kept in floating point.
    PsnrY,
    /// `(6 Y + U + V) / 8` of the three PSNRs, chroma at full size.
    PsnrYuv,
    /// PSNR of the error pooled over R, G and B.
    PsnrRgb,
    /// Five-scale MS-SSIM of luma, as `-10 log10(1 - value)`.
    MsSsim,
    /// The same MS-SSIM on its own scale of 0..1.
    MsSsimLinear,
    /// SSIMULACRA 2 (100 is identical, below 0 is awful).
    Ssimulacra2,
    /// Butteraugli, 3-norm of the difference map (0 is identical).
    Butteraugli,
}

impl Metric {
    /// Every metric, in the order of reports.
    pub const ALL: [Self; 7] = [
        Self::PsnrY,
        Self::PsnrYuv,
        Self::PsnrRgb,
        Self::MsSsim,
        Self::MsSsimLinear,
        Self::Ssimulacra2,
        Self::Butteraugli,
    ];

    /// The name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::PsnrY => "psnr-y",
            Self::PsnrYuv => "psnr-yuv",
            Self::PsnrRgb => "psnr-rgb",
            Self::MsSsim => "ms-ssim",
            Self::MsSsimLinear => "ms-ssim-linear",
            Self::Ssimulacra2 => "ssimulacra2",
            Self::Butteraugli => "butteraugli",
        }
    }

    /// The name in tables and on axes, with the unit.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::PsnrY => "PSNR-Y (dB)",
            Self::PsnrYuv => "PSNR-YUV (dB)",
            Self::PsnrRgb => "PSNR-RGB (dB)",
            Self::MsSsim => "MS-SSIM (dB)",
            Self::MsSsimLinear => "MS-SSIM (linear)",
            Self::Ssimulacra2 => "SSIMULACRA2",
            Self::Butteraugli => "Butteraugli (3-norm)",
        }
    }

    /// The column of `points.csv`.
    #[must_use]
    pub fn column(self) -> &'static str {
        match self {
            Self::PsnrY => "psnr_y",
            Self::PsnrYuv => "psnr_yuv",
            Self::PsnrRgb => "psnr_rgb",
            Self::MsSsim => "msssim_db",
            Self::MsSsimLinear => "msssim",
            Self::Ssimulacra2 => "ssimu2",
            Self::Butteraugli => "ba3",
        }
    }

    /// Whether a smaller value is a better picture.
    #[must_use]
    pub fn lower_is_better(self) -> bool {
        self == Self::Butteraugli
    }

    /// The value oriented so that more is better.
    #[must_use]
    pub fn oriented(self, value: f64) -> f64 {
        if self.lower_is_better() {
            -value
        } else {
            value
        }
    }

    /// Why BD-rates in this metric would mislead, if they would.
    ///
    /// A scale that bends towards a ceiling squeezes the high qualities into a sliver of the
    /// integration range, so the average weighs the low rates alone.
    #[must_use]
    pub fn bd_refusal(self) -> Option<&'static str> {
        (self == Self::MsSsimLinear).then_some(
            "saturates towards 1, so high rates would weigh nothing; use ms-ssim (in dB)",
        )
    }

    /// The oriented value from which on a point only says "nothing left to measure".
    #[must_use]
    pub fn ceiling(self) -> f64 {
        match self {
            Self::MsSsimLinear => 1.0,
            Self::Butteraugli => 0.0,
            _ => 98.0,
        }
    }

    /// All names, for messages.
    #[must_use]
    pub fn names() -> String {
        Self::ALL.map(Self::name).join(", ")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Metric {
    type Err = MetricError;

    fn from_str(name: &str) -> Result<Self, MetricError> {
        let named = Self::ALL.into_iter().find(|m| m.name() == name);
        named.ok_or_else(|| MetricError::Unknown(name.to_owned()))
    }
}

/// Compares pictures with one original, whose planes are prepared once.
#[derive(Debug)]
pub struct Comparison<'a> {
    reference: &'a Image8,
    planes: Planes,
}

impl<'a> Comparison<'a> {
    /// Prepares the original.
    #[must_use]
    pub fn with(reference: &'a Image8) -> Self {
        let planes = Planes::of(reference);
        Self { reference, planes }
    }

    /// The metrics of a distorted picture, in the order asked for.
    ///
    /// A metric that a picture of this size does not have (MS-SSIM below 176 pixels a side,
    /// SSIMULACRA2 and Butteraugli below 8) is `None`.
    ///
    /// # Errors
    /// [`MetricError::Shape`] if the pictures differ in size or channels,
    /// [`MetricError::Library`] if a metric crate fails.
    pub fn measure(
        &self,
        distorted: &Image8,
        metrics: &[Metric],
    ) -> Result<Vec<Option<f64>>, MetricError> {
        check_shape(self.reference, distorted)?;
        let planes = Planes::of(distorted);
        let wants_msssim = metrics
            .iter()
            .any(|m| matches!(m, Metric::MsSsim | Metric::MsSsimLinear));
        let structural = if wants_msssim {
            ms_ssim(
                self.planes.luma(),
                planes.luma(),
                self.reference.width() as usize,
            )
        } else {
            None
        };
        let one = |metric: &Metric| match metric {
            Metric::PsnrY => Ok(Some(self.planes.psnr_y(&planes))),
            Metric::PsnrYuv => Ok(Some(self.planes.psnr_yuv(&planes))),
            Metric::PsnrRgb => Ok(Some(psnr_samples(self.reference, distorted))),
            Metric::MsSsimLinear => Ok(structural),
            Metric::MsSsim => Ok(structural.map(msssim::decibels)),
            Metric::Ssimulacra2 => ssimulacra2(self.reference, distorted),
            Metric::Butteraugli => butteraugli(self.reference, distorted),
        };
        metrics.iter().map(one).collect()
    }
}

fn psnr_samples(a: &Image8, b: &Image8) -> f64 {
    let pairs = a.samples().iter().zip(b.samples());
    psnr(pairs.map(|(&x, &y)| f64::from(x) - f64::from(y)))
}

fn check_shape(a: &Image8, b: &Image8) -> Result<(), MetricError> {
    let shape = |p: &Image8| {
        let kind = match p.channels() {
            Channels::Gray => "gray",
            Channels::Rgb => "RGB",
        };
        format!("{}x{} {kind}", p.width(), p.height())
    };
    if shape(a) == shape(b) {
        Ok(())
    } else {
        Err(MetricError::Shape(shape(a), shape(b)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_parse_back() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse::<Metric>().unwrap(), metric);
        }
        let error = "vmaf".parse::<Metric>().unwrap_err().to_string();
        assert!(
            error.contains("vmaf") && error.contains("psnr-y"),
            "{error}"
        );
    }

    #[test]
    fn different_shapes_are_refused() {
        let gray = Image8::new(2, 1, Channels::Gray, vec![0, 0]).unwrap();
        let error = Comparison::with(&gray)
            .measure(&gray.to_rgb(), &[Metric::PsnrY])
            .unwrap_err();
        assert!(
            error.to_string().contains("2x1 gray and 2x1 RGB"),
            "{error}"
        );
    }

    #[test]
    fn small_pictures_have_no_ms_ssim() {
        let gray = Image8::new(100, 200, Channels::Gray, vec![7; 20_000]).unwrap();
        let values = Comparison::with(&gray)
            .measure(&gray, &[Metric::MsSsim, Metric::PsnrY])
            .unwrap();
        assert_eq!(values, [None, Some(IDENTICAL_DB)]);
    }
}

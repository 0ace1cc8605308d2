//! Colours of a picture with a profile, as a canvas in sRGB shows them.

use moxcms::{
    CicpColorPrimaries, CicpProfile, ColorProfile, DataColorSpace, Layout, MatrixCoefficients,
    TransferCharacteristics, TransformExecutor, TransformOptions,
};
use std::sync::Arc;

/// Turns RGBA of a profile into RGBA of sRGB.
pub(crate) struct ToSrgb(Arc<dyn TransformExecutor<u8> + Send + Sync>);

impl ToSrgb {
    /// `None` if the profile is sRGB, cannot be used or belongs to other colours: then pixels are shown as they are, as
    /// browsers do.
    ///
    /// A profile is an ICC profile, or four code points (ITU-T H.273) as files have them.
    pub(crate) fn new(profile: &[u8]) -> Option<Self> {
        let profile = match *profile {
            [primaries, transfer, _, _] => by_code_points(primaries, transfer)?,
            _ => ColorProfile::new_from_slice(profile).ok()?,
        };
        if profile.color_space != DataColorSpace::Rgb {
            return None;
        }
        let srgb = ColorProfile::new_srgb();
        let options = TransformOptions::default();
        let transform = profile.create_transform_8bit(Layout::Rgba, &srgb, Layout::Rgba, options);
        let to_srgb = Self(transform.ok()?);
        (!to_srgb.is_idle()).then_some(to_srgb)
    }

    /// Whether colours stay what they are: many files carry a profile of sRGB itself.
    fn is_idle(&self) -> bool {
        const COLOURS: [[u8; 4]; 5] = [
            [255, 0, 0, 255],
            [0, 255, 0, 255],
            [0, 0, 255, 255],
            [60, 60, 60, 255],
            [200, 100, 50, 255],
        ];
        let mut mapped = COLOURS.concat();
        self.apply(&mut mapped);
        let pairs = mapped.iter().zip(COLOURS.as_flattened());
        pairs.into_iter().all(|(a, b)| a.abs_diff(*b) <= 1)
    }

    /// Converts pixels in place, a row's worth at a time.
    pub(crate) fn apply(&self, pixels: &mut [u8]) {
        const RUN: usize = 4 * 1024;
        let mut converted = [0; RUN];
        for run in pixels.chunks_mut(RUN) {
            let to = &mut converted[..run.len()];
            if self.0.transform(run, to).is_ok() {
                run.copy_from_slice(to);
            }
        }
    }
}

fn by_code_points(primaries: u8, transfer: u8) -> Option<ColorProfile> {
    Some(ColorProfile::new_from_cicp(CicpProfile {
        color_primaries: CicpColorPrimaries::try_from(primaries).ok()?,
        transfer_characteristics: TransferCharacteristics::try_from(transfer).ok()?,
        matrix_coefficients: MatrixCoefficients::Identity,
        full_range: true,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_colours_are_mapped_and_alpha_is_kept() {
        let wide = ColorProfile::new_display_p3().encode().unwrap();
        for profile in [&wide[..], &[12, 13, 0, 1]] {
            let mut pixels = vec![200, 100, 50, 7, 128, 128, 128, 255];
            ToSrgb::new(profile).unwrap().apply(&mut pixels);
            assert!(pixels[0] > 205 && pixels[2] < 45, "{pixels:?}");
            assert_eq!((pixels[3], pixels[7]), (7, 255));
            assert!(pixels[4..7].iter().all(|v| v.abs_diff(128) <= 1));
        }
    }

    #[test]
    fn what_is_no_other_profile_of_rgb_changes_nothing() {
        let srgb = ColorProfile::new_srgb().encode().unwrap();
        assert!(ToSrgb::new(&srgb).is_none());
        assert!(ToSrgb::new(&[1, 13, 0, 1]).is_none());
        assert!(ToSrgb::new(&[255, 13, 0, 1]).is_none());
        assert!(ToSrgb::new(b"no profile").is_none());
        let gray = ColorProfile::new_gray_with_gamma(2.2).encode().unwrap();
        assert!(ToSrgb::new(&gray).is_none());
    }
}

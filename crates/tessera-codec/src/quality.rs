//! The dials: what people turn, and what the tile coder gets.
//!
//! The tile coder quantises with the step `2^(index / 8)` in sixteenths of an 8-bit level, so
//! eight indices double the step and index 32 is one level.

use crate::error::{Error, Result};

/// The coarsest quantiser.
pub const MAX_QUANTISER: u8 = 127;

/// Points of a quality scale as (quality, quantiser index), joined by straight lines.
///
/// Falling in the index, so that quality is monotone in size and in fidelity.
type QualityScale = [(u8, u8); 6];

/// For the eye: photos of quality 90, 75, 50 and 25 have about 90, 80, 65 and 45 points of SSIMULACRA2. An encoder moves
/// away from these by what it sees in a picture.
const VISUAL: QualityScale = [(0, 88), (25, 73), (50, 66), (75, 58), (90, 48), (100, 32)];
/// For the squared error.
const PSNR: QualityScale = [(0, 88), (25, 80), (50, 70), (75, 59), (90, 46), (100, 32)];

/// The points of a scale between which a quality lies.
pub(crate) fn segment<T: Copy>(scale: &[(u8, T); 6], quality: u8) -> [(u8, T); 2] {
    let upper = scale.partition_point(|&(point, _)| point < quality).max(1);
    [scale[upper - 1], scale[upper]]
}

/// What an encoder is tuned for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tune {
    /// For the eye: bits go where errors are seen.
    #[default]
    Visual,
    /// For the smallest squared error at a size.
    Psnr,
}

/// Quality from 0 (smallest) to 100 (almost indistinguishable).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Quality(u8);

impl Quality {
    /// Checks the range.
    ///
    /// # Errors
    /// [`Error::Parameter`] above 100.
    pub fn new(value: u8) -> Result<Self> {
        if value > 100 {
            let message = format!("quality is a number from 0 to 100, not {value}");
            return Err(Error::Parameter(message));
        }
        Ok(Self(value))
    }

    /// The number on the scale.
    pub fn value(self) -> u8 {
        self.0
    }

    /// The quantiser index of the colour planes.
    pub fn quantiser(self, tune: Tune) -> u8 {
        let scale = match tune {
            Tune::Visual => &VISUAL,
            Tune::Psnr => &PSNR,
        };
        let q = u32::from(self.0);
        let [(q0, i0), (q1, i1)] = segment(scale, self.0);
        let (q0, i0) = (u32::from(q0), u32::from(i0));
        let (span, drop) = (u32::from(q1) - q0, i0 - u32::from(i1));
        (i0 - ((q - q0) * drop + span / 2) / span) as u8
    }
}

impl Default for Quality {
    /// About as good as a JPEG of quality 85.
    fn default() -> Self {
        Self(75)
    }
}

/// The quantiser of the alpha plane: a quarter of the step of the colour planes, because edges
/// of transparency are seen against any background.
#[cfg(feature = "encoder")]
pub(crate) fn alpha_quantiser(quantiser: u8) -> u8 {
    quantiser.saturating_sub(16)
}

/// Hardly any search.
#[cfg(feature = "encoder")]
pub(crate) const FASTEST_EFFORT: u8 = 1;

/// A good compromise.
#[cfg(feature = "encoder")]
pub(crate) const DEFAULT_EFFORT: u8 = 5;

/// Checks how hard the encoder is to search.
#[cfg(feature = "encoder")]
pub(crate) fn check_effort(effort: u8) -> Result<()> {
    if (1..=9).contains(&effort) {
        return Ok(());
    }
    let message = format!("effort is a number from 1 to 9, not {effort}");
    Err(Error::Parameter(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scale_hits_its_points_and_never_rises() {
        for (tune, scale) in [(Tune::Visual, VISUAL), (Tune::Psnr, PSNR)] {
            for (q, index) in scale {
                assert_eq!(Quality(q).quantiser(tune), index);
            }
            for q in 1..=100 {
                assert!(Quality(q).quantiser(tune) <= Quality(q - 1).quantiser(tune));
            }
        }
    }

    #[test]
    fn ranges_are_checked() {
        assert!(Quality::new(101).is_err());
        #[cfg(feature = "encoder")]
        assert!(check_effort(0).is_err() && check_effort(10).is_err() && check_effort(9).is_ok());
    }
}

//! The stated decode work: a small floating-point number in one byte.

/// The work of decoding one payload: one unit per sample and one per coded bit.
///
/// Prediction, transform and filter cost by the sample, entropy decoding by the bit; both are
/// known before decoding starts, so a receiver can refuse without trying.
pub fn tile_work(samples: u64, payload_len: usize) -> u64 {
    samples.saturating_add((payload_len as u64).saturating_mul(8))
}

/// An upper bound on work that fits in one byte: three bits of mantissa, five of exponent.
///
/// The value is `(8 + mantissa) << (exponent + 4)`, from 128 to about 5e11, at most one eighth
/// above the true work: plenty for a receiver that decides whether to decode at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkBound(u8);

impl WorkBound {
    /// The bound as stored in the file.
    pub fn from_byte(byte: u8) -> Self {
        Self(byte)
    }

    /// The byte to store.
    pub fn byte(self) -> u8 {
        self.0
    }

    /// The bound in units of work.
    pub fn units(self) -> u64 {
        u64::from(8 + (self.0 & 7)) << (u32::from(self.0 >> 3) + 4)
    }

    /// The smallest bound not below `units`, or the largest there is.
    #[cfg(feature = "encoder")]
    pub fn at_least(units: u64) -> Self {
        (0..u8::MAX)
            .map(Self)
            .find(|bound| bound.units() >= units)
            .unwrap_or(Self(u8::MAX))
    }
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;

    #[test]
    fn bounds_rise_with_their_byte() {
        assert_eq!(WorkBound(0).units(), 128);
        for byte in 1..=u8::MAX {
            assert!(WorkBound(byte).units() > WorkBound(byte - 1).units());
        }
    }

    #[test]
    fn bound_is_tight() {
        for units in [0, 1, 128, 129, 1000, 123_456_789, 400_000_000_000] {
            let bound = WorkBound::at_least(units).units();
            assert!(bound >= units);
            assert!(
                bound <= (units + units / 8 + 16).max(128),
                "{units}: {bound}"
            );
        }
    }
}

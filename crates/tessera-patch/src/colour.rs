//! Bit depths and the colour transform, both in integers so that every decoder agrees to the bit.
//!
//! A picture of any depth becomes planes of [`SAMPLE_BITS`] bits by shifts,
//! and RGB becomes full-range BT.601 YCbCr at that precision. For 8-, 10- and 12-bit pictures
//! both steps together are exactly reversible: the rounding of the transform stays below half a
//! level of the picture. The inverse is normative (`spec/container.md`, "From planes to pixels");
//! the forward direction is the encoder's business.

use crate::{MAX_SAMPLE, SAMPLE_BITS};

/// Bits per sample of a picture outside the codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BitDepth {
    /// 8 bits.
    Eight,
    /// 10 bits.
    Ten,
    /// 12 bits.
    Twelve,
    /// 16 bits; the codec keeps the upper twelve.
    Sixteen,
}

impl BitDepth {
    /// Every depth there is, in the order of the header's code.
    pub const ALL: [Self; 4] = [Self::Eight, Self::Ten, Self::Twelve, Self::Sixteen];

    /// The number of bits.
    #[inline]
    pub fn bits(self) -> u32 {
        match self {
            Self::Eight => 8,
            Self::Ten => 10,
            Self::Twelve => 12,
            Self::Sixteen => 16,
        }
    }

    /// The largest value of a sample of this depth.
    #[inline]
    pub fn max_value(self) -> u16 {
        u16::MAX >> (16 - self.bits())
    }

    /// Maps a sample of this depth to the codec's twelve bits.
    ///
    /// ```
    /// use tessera_patch::colour::BitDepth;
    /// assert_eq!(BitDepth::Eight.to_internal(255), 4080);
    /// assert_eq!(BitDepth::Sixteen.to_internal(65535), 4095);
    /// ```
    #[inline]
    pub fn to_internal(self, value: u16) -> u16 {
        match self {
            Self::Sixteen => {
                ((u32::from(value) * u32::from(MAX_SAMPLE) + 32767) / u32::from(u16::MAX)) as u16
            }
            _ => value.min(self.max_value()) << (SAMPLE_BITS - self.bits()),
        }
    }

    /// Maps a sample of the codec back to this depth, to the nearest value.
    ///
    /// ```
    /// use tessera_patch::colour::BitDepth;
    /// assert_eq!(BitDepth::Eight.from_internal(4080 - 8), 255);
    /// assert_eq!(BitDepth::Eight.from_internal(4080 - 9), 254);
    /// assert_eq!(BitDepth::Sixteen.from_internal(4095), 65535);
    /// ```
    #[inline(always)]
    pub fn from_internal(self, sample: u16) -> u16 {
        let sample = sample.min(MAX_SAMPLE);
        match self {
            Self::Sixteen => (sample << 4) | (sample >> 8),
            Self::Twelve => sample,
            _ => {
                let shift = SAMPLE_BITS - self.bits();
                ((sample + (1 << (shift - 1))) >> shift).min(self.max_value())
            }
        }
    }
}

/// The value of a chroma sample without colour.
pub const CHROMA_CENTRE: i32 = 1 << (SAMPLE_BITS - 1);

/// Fraction bits of the transform's coefficients.
const FRACTION: u32 = 16;
const HALF: i32 = 1 << (FRACTION - 1);

/// RGB of twelve bits to YCbCr of twelve bits, each rounded once.
#[inline(always)]
pub fn rgb_to_ycbcr(rgb: [u16; 3]) -> [u16; 3] {
    let [r, g, b] = rgb.map(|v| i32::from(v.min(MAX_SAMPLE)));
    let y = round(19595 * r + 38470 * g + 7471 * b);
    let cb = round(-11058 * r - 21710 * g + 32768 * b) + CHROMA_CENTRE;
    let cr = round(32768 * r - 27439 * g - 5329 * b) + CHROMA_CENTRE;
    [clamp(y), clamp(cb), clamp(cr)]
}

/// YCbCr of twelve bits to RGB of twelve bits; normative.
#[inline(always)]
pub fn ycbcr_to_rgb(ycbcr: [u16; 3]) -> [u16; 3] {
    let [y, cb, cr] = ycbcr.map(|v| i32::from(v.min(MAX_SAMPLE)));
    let (cb, cr) = (cb - CHROMA_CENTRE, cr - CHROMA_CENTRE);
    let r = y + round(91881 * cr);
    let g = y - round(22554 * cb + 46802 * cr);
    let b = y + round(116130 * cb);
    [clamp(r), clamp(g), clamp(b)]
}

/// Drops the fraction of a product, halves rounding up (towards plus infinity).
#[inline(always)]
fn round(product: i32) -> i32 {
    (product + HALF) >> FRACTION
}

#[inline(always)]
fn clamp(value: i32) -> u16 {
    value.clamp(0, i32::from(MAX_SAMPLE)) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_of_the_lower_depths_survives() {
        for depth in [BitDepth::Eight, BitDepth::Ten, BitDepth::Twelve] {
            for value in 0..=depth.max_value() {
                assert_eq!(depth.from_internal(depth.to_internal(value)), value);
            }
        }
    }

    #[test]
    fn sixteen_bits_are_kept_to_within_half_a_step() {
        for value in 0..=u16::MAX {
            let back = BitDepth::Sixteen.from_internal(BitDepth::Sixteen.to_internal(value));
            assert!(value.abs_diff(back) <= 9, "{value} became {back}");
        }
        for value in [0, u16::MAX] {
            assert_eq!(
                BitDepth::Sixteen.from_internal(BitDepth::Sixteen.to_internal(value)),
                value
            );
        }
    }

    /// The cube is sampled with steps prime to 256 so that all residues appear.
    #[test]
    fn eight_bit_colours_survive_the_transform() {
        let depth = BitDepth::Eight;
        for r in (0..=255u16).step_by(3) {
            for g in (0..=255u16).step_by(5) {
                for b in (0..=255u16).step_by(3) {
                    let rgb = [r, g, b].map(|v| depth.to_internal(v));
                    let back = ycbcr_to_rgb(rgb_to_ycbcr(rgb)).map(|v| depth.from_internal(v));
                    assert_eq!(back, [r, g, b]);
                }
            }
        }
    }

    #[test]
    fn gray_has_no_chroma() {
        for v in 0..=MAX_SAMPLE {
            assert_eq!(
                rgb_to_ycbcr([v; 3]),
                [v, CHROMA_CENTRE as u16, CHROMA_CENTRE as u16]
            );
            assert_eq!(
                ycbcr_to_rgb([v, CHROMA_CENTRE as u16, CHROMA_CENTRE as u16]),
                [v; 3]
            );
        }
    }

    #[test]
    fn out_of_range_colours_are_clamped() {
        assert_eq!(ycbcr_to_rgb([4095, 4095, 4095]), [4095, 1929, 4095]);
        assert_eq!(ycbcr_to_rgb([0, 0, 0]), [0, 2167, 0]);
    }
}

//! Step sizes and reconstruction points (`spec/bitstream.md`, section "Quantiser").

/// Largest quantiser index.
pub(crate) const MAX_INDEX: u8 = 127;

/// 256 * 2^(i / 8), rounded.
const MANTISSAS: [u32; 8] = [256, 279, 304, 332, 362, 395, 431, 470];

/// A step size, in 12-bit sample units with 8 fractional bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Step(u32);

impl Step {
    /// The step 2^(index / 8).
    pub(crate) fn from_index(index: u8) -> Self {
        let index = index.min(MAX_INDEX);
        Self(MANTISSAS[usize::from(index % 8)] << (index / 8))
    }

    /// 8-bit fixed-point value.
    pub(crate) fn fixed(self) -> u32 {
        self.0
    }

    /// The step as a float.
    #[cfg(feature = "encoder")]
    pub(crate) fn value(self) -> f32 {
        self.0 as f32 / 256.0
    }

    /// Coefficient that a level stands for.
    pub(crate) fn dequantise(self, level: i32, points: &[u8; 3]) -> i32 {
        let magnitude = level.unsigned_abs();
        let position = i64::from(magnitude) * 256 - i64::from(shrinkage(magnitude, points));
        let value = (position * i64::from(self.0) + (1 << 15)) >> 16;
        let value = value.clamp(0, 1 << 22) as i32;
        if level < 0 { -value } else { value }
    }
}

/// How far below a magnitude its reconstruction lies, in 1/256 step.
pub(crate) fn shrinkage(magnitude: u32, points: &[u8; 3]) -> u32 {
    match magnitude {
        0 => 0,
        1..=3 => u32::from(points[magnitude as usize - 1]),
        _ => u32::from(points[2]),
    }
}

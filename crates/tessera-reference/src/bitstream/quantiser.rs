//! `bitstream.md`, "Quantiser".

use super::Tile;

const M: [i64; 8] = [256, 279, 304, 332, 362, 395, 431, 470];

/// The step of an index, 8 fractional bits.
pub(super) fn step(index: i32) -> i64 {
    M[index as usize % 8] << (index / 8)
}

/// The coefficient that a level stands for.
pub(super) fn coefficient(level: i64, step: i64, points: [u8; 3]) -> i32 {
    let a = level.abs();
    if a == 0 {
        return 0;
    }
    let point = i64::from(points[a.min(3) as usize - 1]);
    let magnitude = (((256 * a - point) * step + 32768) >> 16).min(1 << 22);
    (level.signum() * magnitude) as i32
}

impl Tile<'_> {
    /// The step of a component for an area, quantiser offsets included.
    pub(super) fn step(
        &self,
        kind: usize,
        component: usize,
        x: usize,
        y: usize,
        w: usize,
        h: usize,
    ) -> i64 {
        let index = self.payload.indices[kind + component] + self.offsets.of_area(x, y, w, h);
        step(index.clamp(0, 127))
    }

    /// The step of a component for an offset of zero.
    pub(super) fn plain_step(&self, kind: usize, component: usize) -> i64 {
        step(self.payload.indices[kind + component])
    }
}

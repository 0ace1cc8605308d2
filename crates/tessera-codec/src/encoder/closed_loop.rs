//! Quantiser offsets corrected by how a first encoding looks.
//!
//! Masking guesses from the original where errors hide; here they are measured. Bits are spent best where one more of
//! them would take the same visible error away everywhere. A step twice as coarse saves bits about in proportion to
//! those a block takes, so blocks should show errors in proportion to their bits: those that show more get a finer step.

use crate::encoder::masking::{LEVEL, log2, moved_offset};
use crate::encoder::{SpeedSettings, TileEncoder};
use crate::prepared::PreparedDictionary;
use crate::tile::quantiser_map::{OFFSET_BLOCK, QuantiserMap};
use crate::tile::{TileConfig, superblocks};
use tessera_patch::Plane;

/// The effort of the encoding that is looked at.
const FIRST_EFFORT: u8 = 4;
/// Octaves of the step for every octave a block shows more than its share. More gains SSIMULACRA2 and loses butteraugli.
const STRENGTH: f32 = 0.1;
/// Side of the windows that errors are seen in, and how far apart they are.
const WINDOW: usize = 8;
const STRIDE: usize = 4;
/// Variance, in squared levels, below which nothing hides an error.
const UNMASKED: f32 = 58.5;
/// Sizes that errors are looked for at, each half of the one before.
const SCALES: usize = 2;
/// Keeps logarithms finite where nothing is seen.
const INVISIBLE: f32 = 1e-3;
/// Bits any block takes.
const LEAST_BITS: f32 = 8.0;

/// The settings of the encoding to look at before one with these.
fn first_pass(speed: &SpeedSettings) -> SpeedSettings {
    SpeedSettings {
        lambda: speed.lambda,
        mean_activity: speed.mean_activity,
        ..SpeedSettings::preset(FIRST_EFFORT)
    }
}

/// Corrects offsets that were chosen by masking.
pub(crate) fn correct_offsets(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    speed: &SpeedSettings,
    map: &mut QuantiserMap,
) {
    let mut first = TileEncoder::new(planes, config, dictionary, first_pass(speed));
    let bytes = first.run_and_filter(config);
    let decoded = first.recon.into_planes(config);
    let errors = visible_errors(&planes[0], &decoded[0]);
    let columns = planes[0].width.div_ceil(OFFSET_BLOCK);
    let mut excess = vec![0.0; errors.len()];
    for (superblock, bytes) in superblocks(config).zip(bytes) {
        let bits = log2(8.0 * bytes as f32 + LEAST_BITS);
        for quarter in superblock.quarters() {
            let (column, row) = (quarter.x / OFFSET_BLOCK, quarter.y / OFFSET_BLOCK);
            let at = row * columns + column;
            if column < columns && at < errors.len() {
                excess[at] = log2(errors[at] + INVISIBLE) - bits;
            }
        }
    }
    let mean = excess.iter().sum::<f32>() / excess.len() as f32;
    for (offset, excess) in map.offsets_mut().iter_mut().zip(excess) {
        *offset = moved_offset(*offset, STRENGTH * (mean - excess));
    }
}

/// How visible the errors in each block of [`OFFSET_BLOCK`] samples are.
fn visible_errors(original: &Plane, decoded: &Plane) -> Vec<f32> {
    let columns = original.width.div_ceil(OFFSET_BLOCK);
    let rows = original.height.div_ceil(OFFSET_BLOCK);
    let mut sums = vec![(0.0f32, 0u32); columns * rows];
    let mut scale = Scale::of(original, decoded);
    for halvings in 0..SCALES {
        if halvings > 0 {
            scale = scale.halved();
        }
        for y in (0..(scale.height + 1).saturating_sub(WINDOW)).step_by(STRIDE) {
            for x in (0..(scale.width + 1).saturating_sub(WINDOW)).step_by(STRIDE) {
                let place = |start: usize| ((start + WINDOW / 2) << halvings) / OFFSET_BLOCK;
                let (sum, count) = &mut sums[place(y) * columns + place(x)];
                *sum += scale.visible_error(x, y);
                *count += 1;
            }
        }
    }
    let mean = |(sum, count): (f32, u32)| sum / count.max(1) as f32;
    sums.into_iter().map(mean).collect()
}

/// An original and its decoded picture at some size, in levels around the middle.
struct Scale {
    width: usize,
    height: usize,
    pairs: Vec<[f32; 2]>,
}

impl Scale {
    fn of(original: &Plane, decoded: &Plane) -> Self {
        let level = |sample: u16| f32::from(sample) / LEVEL - 128.0;
        let pairs = original.data.iter().zip(&decoded.data);
        Self {
            width: original.width,
            height: original.height,
            pairs: pairs.map(|(&a, &b)| [level(a), level(b)]).collect(),
        }
    }

    /// Squared error of a window over its masking: nearly the variance, so that busy windows still count for something.
    fn visible_error(&self, x: usize, y: usize) -> f32 {
        let (mut sums, mut squares, mut product) = ([0.0f32; 2], [0.0f32; 2], 0.0f32);
        for row in y..y + WINDOW {
            for [a, b] in &self.pairs[row * self.width + x..][..WINDOW] {
                sums = [sums[0] + a, sums[1] + b];
                squares = [squares[0] + a * a, squares[1] + b * b];
                product += a * b;
            }
        }
        let count = (WINDOW * WINDOW) as f32;
        let means = sums.map(|sum| sum / count);
        let variance =
            (squares[0] + squares[1]) / count - means[0] * means[0] - means[1] * means[1];
        let error = (squares[0] + squares[1] - 2.0 * product) / count;
        // To the power of three quarters; roots are the same on every machine, powers are not.
        let root = (variance.max(0.0) + UNMASKED).sqrt();
        error.max(0.0) / (root * root.sqrt())
    }

    fn halved(&self) -> Self {
        let (width, height) = (self.width / 2, self.height / 2);
        let mut pairs = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let at = 2 * y * self.width + 2 * x;
                let four = [at, at + 1, at + self.width, at + self.width + 1];
                let mean =
                    |side: usize| four.iter().map(|&at| self.pairs[at][side]).sum::<f32>() / 4.0;
                pairs.push([mean(0), mean(1)]);
            }
        }
        Self {
            width,
            height,
            pairs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plane(sample: impl Fn(usize, usize) -> u16) -> Plane {
        Plane {
            width: 64,
            height: 32,
            data: (0..64 * 32).map(|at| sample(at % 64, at / 64)).collect(),
        }
    }

    #[test]
    fn errors_are_seen_where_they_are_and_hidden_by_texture() {
        let texture = |x: usize, y: usize| 1000 + (x * 577 + y * 331) as u16 % 900;
        let smooth = plane(|_, _| 2000);
        let error = |x: usize| if x < 32 { 40 * (x as u16 % 2) } else { 0 };
        let [left, right] = visible_errors(&smooth, &plane(|x, _| 2000 + error(x)))[..] else {
            panic!("two blocks");
        };
        assert!(left > 10.0 * right && right >= 0.0, "{left} {right}");
        let hidden = visible_errors(&plane(texture), &plane(|x, y| texture(x, y) + error(x)));
        assert!(hidden[0] < left / 2.0, "{} {left}", hidden[0]);
    }
}

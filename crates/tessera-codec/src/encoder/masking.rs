//! Where the eye misses errors: busy blocks hide them, smooth ones show them.
//!
//! The activity of a block is the mean, over its parts of 8x8 samples, of the logarithm of their standard deviation. A
//! block that is busier than the picture gets a coarser quantiser, a smoother one a finer one. Text and line art are
//! busy too, but hide nothing: their parts count as no busier than the picture.

use crate::encoder::source::Source;
use crate::tile::quantiser_map::{MAX_OFFSET, OFFSET_BLOCK, OFFSET_UNIT, QuantiserMap};
use tessera_patch::Plane;

/// Side of the parts whose variance is taken.
const PART: usize = 8;
/// Samples of 12 bits in a level of 8 bits.
pub(crate) const LEVEL: f32 = 16.0;
/// Variance, in squared levels, that noise below sight leaves anywhere.
const NOISE: f32 = 16.0;
/// Octaves of the step for every octave of activity. Best by SSIMULACRA2 on training photos, like the two above.
const STRENGTH: f32 = 0.4;
/// Quantiser indices in an octave of the step.
pub(crate) const INDICES_PER_OCTAVE: f32 = 8.0;
/// A part is drawn rather than photographed if its variance is above this, in squared levels, and so many of its
/// neighbouring samples in a row are equal, of 56.
const DRAWN_VARIANCE: f32 = 64.0;
const DRAWN_EQUAL: usize = 28;

/// What a part of a picture looks like.
#[derive(Clone, Copy, Debug)]
struct Part {
    /// Logarithm of the standard deviation in levels.
    activity: f32,
    drawn: bool,
}

impl Part {
    /// Of the samples (12 bits) at the start of rows `stride` apart.
    fn of(samples: &[u16], stride: usize) -> Self {
        let (mut sum, mut squares, mut equal) = (0u32, 0u64, 0);
        for row in samples.chunks(stride).take(PART) {
            let row: &[u16; PART] = row.first_chunk().expect("a part lies in its plane");
            for &sample in row {
                sum += u32::from(sample);
                squares += u64::from(sample) * u64::from(sample);
            }
            equal += row.windows(2).filter(|pair| pair[0] == pair[1]).count();
        }
        let count = (PART * PART) as f32;
        let mean = sum as f32 / count;
        let variance = (squares as f32 / count - mean * mean).max(0.0) / (LEVEL * LEVEL);
        Self {
            activity: 0.5 * log2(variance + NOISE),
            drawn: variance > DRAWN_VARIANCE && equal >= DRAWN_EQUAL,
        }
    }
}

/// log2 of a positive float of usual size. Libraries of machines differ in its last bits, and with them files would.
pub(crate) fn log2(value: f32) -> f32 {
    const TWO_BY_LN_2: f64 = 2.0 * std::f64::consts::LOG2_E;
    let bits = value.to_bits();
    let exponent = f64::from((bits >> 23) as i32 - 127);
    let mantissa = f64::from(f32::from_bits(bits & 0x007f_ffff | 0x3f80_0000));
    // ln(m) = 2 (s + s^3 / 3 + s^5 / 5 + ...), where s is at most a third.
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..10)
        .rev()
        .fold(0.0, |sum, k| sum * s * s + 1.0 / f64::from(2 * k + 1));
    (exponent + TWO_BY_LN_2 * s * series) as f32
}

/// Sums over the parts of a picture.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PictureActivity {
    activity: f64,
    parts: u32,
    busy: u32,
    drawn: u32,
}

impl PictureActivity {
    /// Takes in every other part of every other row of a plane of luma.
    pub(crate) fn add(&mut self, samples: &[u16], width: usize) {
        let rows = samples.len() / width;
        for y in (0..(rows + 1).saturating_sub(PART)).step_by(2 * PART) {
            for x in (0..(width + 1).saturating_sub(PART)).step_by(2 * PART) {
                let part = Part::of(&samples[y * width + x..], width);
                self.activity += f64::from(part.activity);
                self.parts += 1;
                self.busy += u32::from(part.activity > 0.5 * log2(DRAWN_VARIANCE + NOISE));
                self.drawn += u32::from(part.drawn);
            }
        }
    }

    /// Mean activity; nothing is known of pictures smaller than a part.
    pub(crate) fn mean(&self) -> Option<f32> {
        (self.parts > 0).then(|| (self.activity / f64::from(self.parts)) as f32)
    }

    /// The share of busy parts that are drawn.
    pub(crate) fn drawn_share(&self) -> f32 {
        self.drawn as f32 / self.busy.max(1) as f32
    }
}

/// Chooses the offsets of all blocks of a tile, in a picture of this mean activity.
pub(crate) fn choose_offsets(source: &Source, mean: Option<f32>, map: &mut QuantiserMap) {
    let mean = mean.unwrap_or_else(|| {
        let mut own = PictureActivity::default();
        own.add(source.luma(), source.stride);
        own.mean().unwrap_or(0.0)
    });
    let columns = source.stride.div_ceil(OFFSET_BLOCK);
    for (at, offset) in map.offsets_mut().iter_mut().enumerate() {
        let place = (at % columns * OFFSET_BLOCK, at / columns * OFFSET_BLOCK);
        *offset = self::offset(block_activity(source, place, mean), mean);
    }
}

/// The offset of a block of this activity in a picture of this mean activity.
pub(crate) fn offset(activity: f32, mean: f32) -> i8 {
    moved_offset(0, STRENGTH * (activity - mean))
}

/// An offset so many octaves of the step away from another one, as near as there is.
pub(crate) fn moved_offset(offset: i8, octaves: f32) -> i8 {
    let units = f32::from(offset) + octaves * INDICES_PER_OCTAVE / OFFSET_UNIT as f32;
    units.round().clamp(-MAX_OFFSET as f32, MAX_OFFSET as f32) as i8
}

/// Mean activity of the whole parts of a block of a plane, as far as it has any.
pub(crate) fn activity_at(plane: &Plane, (x0, y0): (usize, usize)) -> f32 {
    let ends = |start: usize, length: usize| {
        let end = (start + OFFSET_BLOCK).min(length);
        (start..(end + 1).saturating_sub(PART)).step_by(PART)
    };
    let (mut sum, mut count) = (0.0, 0);
    for y in ends(y0, plane.height) {
        for x in ends(x0, plane.width) {
            sum += Part::of(&plane.data[y * plane.width + x..], plane.width).activity;
            count += 1;
        }
    }
    sum / count.max(1) as f32
}

/// Mean activity of the parts of a block, drawn ones counting as no busier than `mean`.
fn block_activity(source: &Source, (x0, y0): (usize, usize), mean: f32) -> f32 {
    let (right, bottom) = (
        (x0 + OFFSET_BLOCK).min(source.stride),
        (y0 + OFFSET_BLOCK).min(source.rows()),
    );
    let (mut sum, mut count) = (0.0, 0);
    for y in (y0..bottom).step_by(PART) {
        for x in (x0..right).step_by(PART) {
            let part = Part::of(&source.luma()[y * source.stride + x..], source.stride);
            sum += if part.drawn {
                part.activity.min(mean)
            } else {
                part.activity
            };
            count += 1;
        }
    }
    sum / count as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::canvas::Canvas;

    fn offsets(sample: impl Fn(usize, usize) -> u16) -> Vec<i8> {
        let canvas = Canvas::new(64, 32, 1);
        let data = (0..64 * 32).map(|at| sample(at % 64, at / 64)).collect();
        let plane = Plane {
            width: 64,
            height: 32,
            data,
        };
        let source = Source::new(&[plane], &canvas);
        let mut map = QuantiserMap::new(&canvas);
        choose_offsets(&source, None, &mut map);
        map.offsets_mut().to_vec()
    }

    /// Any number from 0 to 999 that hangs on a place.
    fn noise(x: usize, y: usize) -> u16 {
        let mixed = (x as u64 * 0x9e37_79b9 + y as u64 * 0x85eb_ca6b).wrapping_mul(0xc2b2_ae35);
        (mixed >> 20) as u16 % 1000
    }

    #[test]
    fn logarithms_are_those_of_the_library() {
        for value in [16.0f32, 16.001, 17.5, 31.999, 64.0, 80.0, 1234.5, 65536.0] {
            let error = f64::from(log2(value)) - f64::from(value).log2();
            assert!(error.abs() < 1e-6, "{value}: {error}");
        }
    }

    #[test]
    fn busy_blocks_are_coarser_and_smooth_ones_finer() {
        let found = offsets(|x, y| if x < 32 { 2000 } else { 1500 + noise(x, y) });
        assert!(found[0] < 0 && found[1] > 0, "{found:?}");
    }

    #[test]
    fn text_is_not_coarser() {
        let found = offsets(|x, y| match (x < 32, (x / 3 + y / 5) % 2) {
            (true, _) => 2000 + noise(x, y) / 10,
            (false, 0) => 4000,
            _ => 0,
        });
        assert!(found[1] <= 0, "{found:?}");
    }
}

//! How a picture will look at a quantiser, guessed before it is encoded, so that a quality means the same to the eye in
//! every picture.
//!
//! Blocks of 16x16 samples are taken from all over the picture, halved to 8x8, transformed and quantised as the tile
//! coder would. How much of their structure is lost, on average, tells within a few points what SSIMULACRA2 will say of
//! the decoded picture; brightness tells a little more.

use crate::encoder::forward::dct::{transform_columns, transform_rows};
use crate::encoder::masking::{self, INDICES_PER_OCTAVE, LEVEL, PictureActivity, log2};
use crate::encoder::tune;
use crate::quality::{MAX_QUANTISER, Quality, Tune, segment};
use crate::tile::quantiser_map::OFFSET_UNIT;
use crate::tile::transform::weights::{FrequencyWeights, power_of_two};
use tessera_patch::Shape;

/// Side of the blocks that are looked at, and of what is left of them.
pub(crate) const BLOCK: usize = 16;
const HALF: usize = BLOCK / 2;
/// What makes sums of eight cosines orthonormal, and the sum of the lowest frequency.
const NORM: f32 = 0.5;
const LOWEST_NORM: f32 = 0.5 * std::f32::consts::FRAC_1_SQRT_2;
/// So many blocks tell enough of any picture.
const ENOUGH: usize = 2048;

/// Coefficients below this share of the step are dropped; others are rounded down a little, as bits are worth something.
const DEAD_ZONE: f32 = 0.63;
const ROUNDING: f32 = 0.4;
/// Variance, in squared levels, that structure is compared with.
const STABILITY: f32 = 58.5;
/// Keeps logarithms finite where nothing is lost.
const LEAST_LOSS: f32 = 1e-6;
/// Logarithm of the mean luma of photos.
const USUAL_LUMA: f32 = 6.657;

/// What is known of photos at a quantiser. Logarithms are to the base of two; "visible loss" is 100 points less the
/// SSIMULACRA2 of the decoded picture.
struct Photos {
    quantiser: f32,
    /// Mean logarithm of the visible loss.
    visible: f32,
    /// Mean logarithm of the loss of structure, and how the visible loss follows it.
    structure: (f32, f32),
    /// How the visible loss follows the logarithm of the mean luma.
    luma: f32,
}

const fn photos(quantiser: u8, visible: f32, structure: (f32, f32), luma: f32) -> Photos {
    Photos {
        quantiser: quantiser as f32,
        visible,
        structure,
        luma,
    }
}

/// Fitted to 63 training photos, made smaller or cut to 512 to 768 pixels, at effort 5.
const PHOTOS: [Photos; 8] = [
    photos(40, 2.603, (-11.277, 0.182), 0.096),
    photos(46, 3.075, (-9.889, 0.187), -0.002),
    photos(54, 3.852, (-8.141, 0.222), -0.067),
    photos(60, 4.482, (-6.902, 0.269), -0.084),
    photos(66, 5.091, (-5.736, 0.325), -0.094),
    photos(72, 5.679, (-4.679, 0.378), -0.100),
    photos(80, 6.369, (-3.473, 0.402), -0.112),
    photos(88, 6.923, (-2.464, 0.348), -0.080),
];

/// The visible loss that a quality stands for, joined by straight lines in its logarithm.
const VISIBLE_LOSS: [(u8, f32); 6] = [
    (0, 123.0),
    (25, 55.0),
    (50, 35.0),
    (75, 20.0),
    (90, 10.0),
    (100, 4.0),
];

/// Indices a picture may be away from the usual quantiser of a quality, and the qualities at either end of the scale over
/// which that shrinks to nothing.
const FARTHEST: f32 = 12.0;
const ENDS: f32 = 25.0;

/// A block at half its size.
#[derive(Clone, Debug)]
struct Sample {
    activity: f32,
    coefficients: [f32; HALF * HALF],
}

/// What a look over a picture tells.
#[derive(Clone, Debug, Default)]
pub(crate) struct Appearance {
    pub(crate) activity: PictureActivity,
    luma: f64,
    samples: Vec<Sample>,
}

/// Every how many rows of blocks a picture of this size is looked at.
pub(crate) fn row_stride(width: u32, height: u32) -> usize {
    let blocks = (width as usize / BLOCK) * (height as usize / BLOCK);
    blocks.div_ceil(ENOUGH).max(1)
}

impl Appearance {
    /// Takes in a row of blocks: [`BLOCK`] rows of luma.
    pub(crate) fn add(&mut self, samples: &[u16], width: usize) {
        self.activity.add(samples, width);
        for x in (0..(width + 1).saturating_sub(BLOCK)).step_by(BLOCK) {
            let mut halved = [[0.0; HALF]; HALF];
            for (at, half) in halved.as_flattened_mut().iter_mut().enumerate() {
                let place = at / HALF * 2 * width + x + at % HALF * 2;
                let sum = |at: usize| f32::from(samples[at]) + f32::from(samples[at + 1]);
                *half = (sum(place) + sum(place + width)) / (4.0 * LEVEL);
            }
            self.luma +=
                f64::from(halved.as_flattened().iter().sum::<f32>()) / (HALF * HALF) as f64;
            let mut coefficients = cosine_transform(halved);
            coefficients[0] = 0.0;
            self.samples.push(Sample {
                activity: masking::activity_at(samples, width, x, BLOCK),
                coefficients,
            });
        }
    }

    /// The quantiser at which this picture will look as good as the quality says, never coarser than that of a lower one.
    pub(crate) fn quantiser(&self, quality: Quality) -> u8 {
        let usual = quality.quantiser(Tune::Visual);
        let Some(mean) = self.activity.mean().filter(|_| !self.samples.is_empty()) else {
            return usual;
        };
        let curve = self.visible_losses(mean);
        let up_to_it = (0..=quality.value()).filter_map(|value| Quality::new(value).ok());
        let quantisers = up_to_it.map(|quality| self.quantiser_on(&curve, quality));
        quantisers.min().unwrap_or(usual)
    }

    /// Where the picture's curve meets a quality, not too far from where others do.
    fn quantiser_on(&self, curve: &[(f32, f32)], quality: Quality) -> u8 {
        let usual = f32::from(quality.quantiser(Tune::Visual));
        let value = f32::from(quality.value());
        let room = FARTHEST * (value.min(100.0 - value) / ENDS).min(1.0);
        // Nothing here was learned from text and line art.
        let photographic = 1.0 - self.activity.drawn_share().min(1.0);
        let away = meeting(curve, visible_loss(quality)) - usual;
        let found = usual + photographic * away.clamp(-room, room);
        found.round().clamp(0.0, f32::from(MAX_QUANTISER)) as u8
    }

    /// Quantisers and the logarithm of the visible loss there, both rising.
    fn visible_losses(&self, mean: f32) -> [(f32, f32); PHOTOS.len()] {
        let luma = log2((self.luma / self.samples.len() as f64) as f32 + 1.0) - USUAL_LUMA;
        let mut highest = f32::NEG_INFINITY;
        PHOTOS.map(|photos| {
            let structure = self.structure_loss(photos.quantiser as u8, mean);
            let (usual, slope) = photos.structure;
            let loss = photos.visible
                + slope * (log2(structure + LEAST_LOSS) - usual)
                + photos.luma * luma;
            highest = loss.max(highest + 0.02);
            (photos.quantiser, highest)
        })
    }

    /// Mean share of the structure of blocks that a quantiser takes away.
    fn structure_loss(&self, quantiser: u8, mean: f32) -> f32 {
        let weights = FrequencyWeights::new(tune::photo_curve(quantiser));
        let shape = Shape::new(BLOCK, BLOCK).expect("blocks are patches");
        let weights = weights.of(shape).expect("photos have weights");
        let weights: [f32; HALF * HALF] =
            std::array::from_fn(|at| f32::from(weights[at / HALF * BLOCK + at % HALF]) / 4096.0);
        let lost = |sample: &Sample| {
            let offset = OFFSET_UNIT * i32::from(masking::offset(sample.activity, mean));
            // In levels, of blocks that have half the amplitudes of those they come from.
            let step =
                power_of_two(32 / INDICES_PER_OCTAVE as i32 * (i32::from(quantiser) + offset))
                    / (2.0 * LEVEL);
            structure_lost(&sample.coefficients, &weights, step)
        };
        let sum: f64 = self
            .samples
            .iter()
            .map(|sample| f64::from(lost(sample)))
            .sum();
        (sum / self.samples.len() as f64) as f32
    }
}

/// How much of the structure of a block goes with its quantisation: one less the SSIM, means left aside.
fn structure_lost(coefficients: &[f32; 64], weights: &[f32; 64], step: f32) -> f32 {
    let (mut before, mut after, mut common) = (0.0f32, 0.0f32, 0.0f32);
    for (&value, weight) in coefficients.iter().zip(weights) {
        let step = step * weight;
        let magnitude = value.abs() / step;
        let level = if magnitude < DEAD_ZONE {
            0.0
        } else {
            (magnitude + ROUNDING).floor()
        };
        let decoded = level * step;
        before += value * value;
        after += decoded * decoded;
        common += value.abs() * decoded;
    }
    let stability = STABILITY * 64.0;
    (1.0 - (2.0 * common + stability) / (before + after + stability)).max(0.0)
}

/// Logarithm of the visible loss that a quality stands for.
fn visible_loss(quality: Quality) -> f32 {
    let quality = quality.value();
    let [(q0, from), (q1, to)] = segment(&VISIBLE_LOSS, quality);
    let way = f32::from(quality - q0) / f32::from(q1 - q0);
    log2(from) + way * (log2(to) - log2(from))
}

/// Where a rising curve, drawn on beyond its ends, has a value.
fn meeting(curve: &[(f32, f32)], value: f32) -> f32 {
    let upper = curve
        .partition_point(|&(_, at)| at < value)
        .clamp(1, curve.len() - 1);
    let ((x0, y0), (x1, y1)) = (curve[upper - 1], curve[upper]);
    x0 + (x1 - x0) * (value - y0) / (y1 - y0)
}

/// Orthonormal cosine transform of a block.
fn cosine_transform(mut block: [[f32; HALF]; HALF]) -> [f32; HALF * HALF] {
    let mut spectrum = [[0.0; HALF]; HALF];
    transform_columns::<HALF, HALF>(&mut block);
    transform_rows(&block, &mut spectrum);
    let norm = |frequency: usize| if frequency == 0 { LOWEST_NORM } else { NORM };
    std::array::from_fn(|at| {
        let (v, u) = (at / HALF, at % HALF);
        spectrum[v][u] * norm(u) * norm(v)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_orthonormal() {
        let spectra: Vec<[f32; 64]> = (0..64)
            .map(|at| {
                let mut block = [[0.0; HALF]; HALF];
                block[at / HALF][at % HALF] = 1.0;
                cosine_transform(block)
            })
            .collect();
        for (i, a) in spectra.iter().enumerate() {
            for (j, b) in spectra.iter().enumerate() {
                let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((product - f32::from(u8::from(i == j))).abs() < 1e-6);
            }
        }
    }

    /// Looks at a picture of 128x128.
    fn appearance(sample: impl Fn(usize, usize) -> u16) -> Appearance {
        let mut appearance = Appearance::default();
        for row in 0..8 {
            let samples: Vec<u16> = (0..BLOCK * 128)
                .map(|at| sample(at % 128, row * BLOCK + at / 128))
                .collect();
            appearance.add(&samples, 128);
        }
        appearance
    }

    fn quantiser(appearance: &Appearance, quality: u8) -> u8 {
        appearance.quantiser(Quality::new(quality).unwrap())
    }

    #[test]
    fn pictures_that_lose_more_get_a_finer_quantiser() {
        let clear =
            appearance(|x, y| (2000.0 + 1500.0 * (x as f32 / 9.0 + y as f32 / 17.0).sin()) as u16);
        let faint = appearance(|x, y| 2000 + ((x * 7919 + y * 104_729) % 97) as u16 * 2);
        assert!(quantiser(&faint, 50) < quantiser(&clear, 50));
        assert_eq!(
            quantiser(&faint, 100),
            Quality::new(100).unwrap().quantiser(Tune::Visual)
        );
    }

    #[test]
    fn more_quality_is_never_coarser() {
        let picture = appearance(|x, y| 1000 + ((x * x + 3 * y * y) / 11 % 1500) as u16);
        let quantisers: Vec<u8> = (0..=100)
            .map(|quality| quantiser(&picture, quality))
            .collect();
        assert!(quantisers.is_sorted_by(|a, b| a >= b), "{quantisers:?}");
    }

    #[test]
    fn nothing_seen_changes_nothing() {
        let usual = Quality::new(40).unwrap();
        let tiny = Appearance::default();
        assert_eq!(tiny.quantiser(usual), usual.quantiser(Tune::Visual));
    }
}

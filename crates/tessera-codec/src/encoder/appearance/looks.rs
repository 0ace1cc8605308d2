//! What a quantiser takes away from blocks of a picture, seen at several scales.

use crate::encoder::forward::dct::{transform_columns, transform_rows};
use crate::encoder::masking::{self, INDICES_PER_OCTAVE, LEVEL, log2};
use crate::encoder::tune;
use crate::tile::quantiser_map::{OFFSET_BLOCK, OFFSET_UNIT};
use crate::tile::transform::weights::{FrequencyWeights, power_of_two};
use tessera_patch::{Plane, Shape};

/// Side of the cells that a picture is looked at in.
pub(crate) const CELL: usize = 64;
/// Side of what is left of blocks at any scale.
const SIDE: usize = 8;
const COUNT: usize = SIDE * SIDE;
/// Blocks are at least so far apart: at the finest scale some tell enough.
const LEAST_DISTANCE: usize = 16;
/// What makes sums of eight cosines orthonormal, and the sum of the lowest frequency.
const NORM: f32 = 0.5;
const LOWEST_NORM: f32 = 0.5 * std::f32::consts::FRAC_1_SQRT_2;

/// Coefficients below this share of the step are dropped; others are rounded down a little, as bits are worth something.
const DEAD_ZONE: f32 = 0.63;
const ROUNDED_DOWN: f32 = 0.1;
/// Adding and taking this away again rounds small numbers, on every machine alike.
const ROUNDER: f32 = 8_388_608.0;

/// One way of looking at what a quantiser does.
#[derive(Clone, Copy, Debug)]
struct Look {
    /// Luma, or Cr, whose errors show more than those of Cb.
    plane: usize,
    /// How many samples become one along an axis.
    scale: usize,
    measure: Measure,
}

/// What is asked of a block, and how blocks are taken together.
#[derive(Clone, Copy, Debug)]
enum Measure {
    /// How much of the structure goes: one less the SSIM, means left aside.
    Loss {
        /// Variance, in squared levels, that structure is compared with.
        stability: f32,
        /// Whether errors count more where it is dark.
        by_brightness: bool,
        /// Of the mean over blocks: four gives the worst most weight.
        power: Power,
    },
    /// How many coefficients stay.
    Coefficients,
}

#[derive(Clone, Copy, Debug)]
enum Power {
    One,
    Four,
}

/// How many looks there are.
pub(crate) const LOOKS: usize = 6;

/// Chosen from 250 by what they add to each other.
const ALL: [Look; LOOKS] = [
    look(0, 1, loss(58.5, false, Power::Four)),
    look(0, 1, loss(250.0, true, Power::Four)),
    look(0, 2, loss(250.0, true, Power::One)),
    look(0, 4, loss(58.5, false, Power::One)),
    look(0, 8, Measure::Coefficients),
    look(2, 2, loss(250.0, true, Power::Four)),
];

const fn look(plane: usize, scale: usize, measure: Measure) -> Look {
    Look {
        plane,
        scale,
        measure,
    }
}

const fn loss(stability: f32, by_brightness: bool, power: Power) -> Measure {
    Measure::Loss {
        stability,
        by_brightness,
        power,
    }
}

/// A block, made smaller and transformed.
#[derive(Clone, Debug)]
struct Sample {
    activity: f32,
    /// What structure is compared with.
    stability: f32,
    energy: f32,
    coefficients: [[f32; SIDE]; SIDE],
}

/// Blocks from all over a picture, for each look.
#[derive(Clone, Debug, Default)]
pub(super) struct Samples([Vec<Sample>; LOOKS]);

impl Samples {
    /// Takes in a cell.
    pub(super) fn add(&mut self, planes: &[Plane]) {
        let luma = &planes[0];
        let activities = activities(luma);
        for (look, samples) in ALL.iter().zip(&mut self.0) {
            let Some(plane) = planes.get(look.plane) else {
                continue;
            };
            let side = SIDE * look.scale;
            let starts = |length: usize| {
                (0..(length + 1).saturating_sub(side)).step_by(side.max(LEAST_DISTANCE))
            };
            for y in starts(luma.height) {
                for x in starts(luma.width) {
                    let activity = activity_of(&activities, (x, y), side);
                    samples.push(look.sample(plane, luma, (x, y), activity));
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Vec::is_empty)
    }

    /// What each look loses at a quantiser; nothing if it has no blocks.
    pub(super) fn losses(&self, quantiser: u8, mean_activity: f32) -> [Option<f32>; LOOKS] {
        let weights = FrequencyWeights::new(tune::photo_curve(quantiser));
        std::array::from_fn(|at| {
            let (look, samples) = (&ALL[at], &self.0[at]);
            let steps = Steps::new(look, &weights, quantiser);
            let sum: f64 = samples
                .iter()
                .map(|sample| {
                    look.measure
                        .of(steps.quantised(sample, mean_activity), sample)
                })
                .sum();
            let mean = sum / samples.len() as f64;
            (!samples.is_empty()).then(|| look.measure.of_mean(mean) as f32)
        })
    }
}

impl Measure {
    /// Of one block, so that means over blocks can be taken.
    fn of(self, quantised: Quantised, sample: &Sample) -> f64 {
        let Self::Loss { power, .. } = self else {
            return f64::from(quantised.kept);
        };
        let loss = f64::from(quantised.loss(sample));
        match power {
            Power::One => loss,
            Power::Four => (loss * loss) * (loss * loss),
        }
    }

    /// Of all blocks together.
    fn of_mean(self, mean: f64) -> f64 {
        match self {
            Self::Loss {
                power: Power::Four, ..
            } => mean.sqrt().sqrt(),
            _ => mean,
        }
    }

    /// What structure is compared with, in a block around this mean in levels.
    fn stability(self, mean: impl FnOnce() -> f32) -> f32 {
        match self {
            Self::Loss {
                stability,
                by_brightness: true,
                ..
            } => stability * COUNT as f32 / squared_sensitivity(mean()),
            Self::Loss { stability, .. } => stability * COUNT as f32,
            Self::Coefficients => 1.0,
        }
    }
}

impl Look {
    fn sample(&self, plane: &Plane, luma: &Plane, place: (usize, usize), activity: f32) -> Sample {
        let mut coefficients = cosine_transform(reduced(plane, place, self.scale));
        coefficients[0][0] = 0.0;
        let energy = coefficients.as_flattened().iter().map(|c| c * c).sum();
        let mean = || mean_of(&reduced(luma, place, self.scale));
        Sample {
            activity,
            stability: self.measure.stability(mean),
            energy,
            coefficients,
        }
    }
}

/// How much more errors show, squared, around this mean in levels: brightness is seen by less than its square root.
fn squared_sensitivity(mean: f32) -> f32 {
    const STRENGTH: f32 = -0.54;
    const USUAL: f32 = 0.7225;
    let octaves = STRENGTH * log2(mean / 255.0 + 0.05);
    USUAL * power_of_two((32.0 * octaves).round() as i32)
}

/// The steps of a look's blocks.
struct Steps {
    weights: [[f32; SIDE]; SIDE],
    /// Index of the quantiser of its plane.
    quantiser: i32,
    /// Of blocks that have smaller amplitudes than those they come from.
    scale: f32,
}

impl Steps {
    fn new(look: &Look, weights: &FrequencyWeights, quantiser: u8) -> Self {
        let side = SIDE * look.scale;
        let shape = Shape::new(side, side).expect("blocks are patches");
        let weights = weights.of(shape).expect("photos have weights");
        let weight = |v: usize, u: usize| f32::from(weights[v * side + u]) / 4096.0;
        Self {
            weights: std::array::from_fn(|v| std::array::from_fn(|u| weight(v, u))),
            quantiser: i32::from(quantiser) + tune::plane_offset(look.plane),
            scale: 1.0 / (look.scale as f32 * LEVEL),
        }
    }

    /// What comes of a block in a picture of this mean activity.
    fn quantised(&self, sample: &Sample, mean_activity: f32) -> Quantised {
        let offset = OFFSET_UNIT * i32::from(masking::offset(sample.activity, mean_activity));
        let index = self.quantiser + offset;
        let step = self.scale * power_of_two(32 / INDICES_PER_OCTAVE as i32 * index);
        // Sums side by side, so that rows are worked on as a whole.
        let [mut energy, mut common, mut kept] = [[0.0f32; SIDE]; 3];
        for (row, weights) in sample.coefficients.iter().zip(&self.weights) {
            for at in 0..SIDE {
                let (value, step) = (row[at].abs(), step * weights[at]);
                let magnitude = value / step;
                let rounded = (magnitude - ROUNDED_DOWN + ROUNDER) - ROUNDER;
                let stays = magnitude >= DEAD_ZONE;
                let decoded = if stays { rounded * step } else { 0.0 };
                kept[at] += if stays { 1.0 } else { 0.0 };
                energy[at] += decoded * decoded;
                common[at] += value * decoded;
            }
        }
        let [energy, common, kept] = [energy, common, kept].map(|sums| sums.iter().sum());
        Quantised {
            energy,
            common,
            kept,
        }
    }
}

/// What is left of a block.
#[derive(Clone, Copy, Debug)]
struct Quantised {
    energy: f32,
    /// With the block as it was.
    common: f32,
    /// Number of coefficients.
    kept: f32,
}

impl Quantised {
    fn loss(self, sample: &Sample) -> f32 {
        let similar = 2.0 * self.common + sample.stability;
        (1.0 - similar / (sample.energy + self.energy + sample.stability)).max(0.0)
    }
}

/// Activities of the blocks of a cell that have quantiser offsets of their own.
fn activities(luma: &Plane) -> [[f32; CELL / OFFSET_BLOCK]; CELL / OFFSET_BLOCK] {
    std::array::from_fn(|row| {
        std::array::from_fn(|column| {
            masking::activity_at(luma, (column * OFFSET_BLOCK, row * OFFSET_BLOCK))
        })
    })
}

/// The activity around a block, which lies inside one of those or covers all of them.
fn activity_of(
    activities: &[[f32; CELL / OFFSET_BLOCK]; CELL / OFFSET_BLOCK],
    (x, y): (usize, usize),
    side: usize,
) -> f32 {
    match side > OFFSET_BLOCK {
        true => {
            let all = activities.as_flattened();
            all.iter().sum::<f32>() / all.len() as f32
        }
        false => activities[y / OFFSET_BLOCK][x / OFFSET_BLOCK],
    }
}

/// A block of a plane in levels, each value the mean of `scale` squared samples.
fn reduced(plane: &Plane, (x0, y0): (usize, usize), scale: usize) -> [[f32; SIDE]; SIDE] {
    let factor = 1.0 / ((scale * scale) as f32 * LEVEL);
    let mut block = [[0.0; SIDE]; SIDE];
    for (v, row) in block.iter_mut().enumerate() {
        for (u, value) in row.iter_mut().enumerate() {
            let mut sum = 0u32;
            for y in y0 + v * scale..y0 + (v + 1) * scale {
                let start = y * plane.width + x0 + u * scale;
                let samples = &plane.data[start..start + scale];
                sum += samples.iter().map(|&sample| u32::from(sample)).sum::<u32>();
            }
            *value = sum as f32 * factor;
        }
    }
    block
}

fn mean_of(block: &[[f32; SIDE]; SIDE]) -> f32 {
    block.as_flattened().iter().sum::<f32>() / COUNT as f32
}

/// Orthonormal cosine transform of a block.
fn cosine_transform(mut block: [[f32; SIDE]; SIDE]) -> [[f32; SIDE]; SIDE] {
    let mut spectrum = [[0.0; SIDE]; SIDE];
    transform_columns::<SIDE, SIDE>(&mut block);
    transform_rows(&block, &mut spectrum);
    let norm = |frequency: usize| if frequency == 0 { LOWEST_NORM } else { NORM };
    for (v, row) in spectrum.iter_mut().enumerate() {
        for (u, value) in row.iter_mut().enumerate() {
            *value *= norm(u) * norm(v);
        }
    }
    spectrum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_transform_is_orthonormal() {
        let spectra: Vec<[[f32; SIDE]; SIDE]> = (0..COUNT)
            .map(|at| {
                let mut block = [[0.0; SIDE]; SIDE];
                block[at / SIDE][at % SIDE] = 1.0;
                cosine_transform(block)
            })
            .collect();
        for (i, a) in spectra.iter().enumerate() {
            for (j, b) in spectra.iter().enumerate() {
                let pairs = a.as_flattened().iter().zip(b.as_flattened());
                let product: f32 = pairs.map(|(a, b)| a * b).sum();
                assert!((product - f32::from(u8::from(i == j))).abs() < 1e-6);
            }
        }
    }

    #[test]
    fn coarser_quantisers_lose_more_and_keep_less() {
        let wave = |at: usize| (2000.0 + 700.0 * ((at % CELL * (at / CELL)) as f32).sin()) as u16;
        let plane = Plane {
            width: CELL,
            height: CELL,
            data: (0..CELL * CELL).map(wave).collect(),
        };
        let mut samples = Samples::default();
        samples.add(&[plane.clone(), plane.clone(), plane]);
        let [fine, coarse] = [40, 80].map(|quantiser| samples.losses(quantiser, 5.0));
        for ((fine, coarse), look) in fine.into_iter().zip(coarse).zip(&ALL) {
            let more = fine.unwrap() < coarse.unwrap();
            assert_eq!(
                more,
                matches!(look.measure, Measure::Loss { .. }),
                "{look:?}"
            );
        }
    }
}

//! Frequency weights: how much coarser than the step each frequency is quantised (`spec/bitstream.md`, "Weights").

use std::cell::OnceCell;
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// Fractional bits of a weight.
pub(crate) const WEIGHT_BITS: u32 = 12;
/// Frequencies between which the logarithm of the weight is linear, in 1/1024 of the highest one along an axis.
const KNOTS: [i32; 4] = [0, 256, 512, 1024];
/// Largest logarithm of a weight, in 1/32: three octaves.
const MAX_LOG: i32 = 96;

/// 4096 * 2^(i / 32), rounded.
const MANTISSAS: [u32; 32] = [
    4096, 4186, 4277, 4371, 4467, 4565, 4664, 4767, 4871, 4978, 5087, 5198, 5312, 5428, 5547, 5668,
    5793, 5919, 6049, 6182, 6317, 6455, 6597, 6741, 6889, 7039, 7194, 7351, 7512, 7677, 7845, 8017,
];

/// Logarithms of weights in 1/32 at frequency zero, at half the highest one and at the highest one; at a quarter of it
/// the weight is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WeightCurve(pub [i8; 3]);

impl WeightCurve {
    /// Whether all weights are one.
    pub fn is_flat(self) -> bool {
        self == Self::default()
    }

    /// Logarithm of the weight of a frequency in 1/1024 of the highest one along an axis.
    fn log(self, frequency: i32) -> i32 {
        let [lowest, half, highest] = self.0.map(i32::from);
        let values = [lowest, 0, half, highest];
        let segment = match frequency {
            ..256 => 0,
            256..512 => 1,
            _ => 2,
        };
        let (from, to) = (values[segment], values[segment + 1]);
        let (start, length) = (KNOTS[segment], KNOTS[segment + 1] - KNOTS[segment]);
        let log = from + ((to - from) * (frequency - start) + length / 2).div_euclid(length);
        log.clamp(-MAX_LOG, MAX_LOG)
    }

    /// The largest weight.
    #[cfg(feature = "encoder")]
    pub(crate) fn largest(self) -> f32 {
        // Logarithms are linear between these; the highest frequency is a diagonal one.
        let knots = [0, 256, 512, 1024, 1448].map(|frequency| weight(self.log(frequency)));
        let largest = knots.into_iter().fold(0, u32::max);
        largest as f32 / (1u32 << WEIGHT_BITS) as f32
    }
}

/// 2^(`log` / 32) with [`WEIGHT_BITS`] fractional bits.
fn weight(log: i32) -> u32 {
    let mantissa = MANTISSAS[log.rem_euclid(32) as usize];
    match log.div_euclid(32) {
        octave @ 0.. => mantissa << octave,
        octave => mantissa >> -octave,
    }
}

/// 2^(`log` / 32), the same on every machine.
#[cfg(feature = "encoder")]
pub(crate) fn power_of_two(log: i32) -> f32 {
    weight(log) as f32 / (1u32 << WEIGHT_BITS) as f32
}

/// The weights of all shapes by raster index, made when first asked for.
#[derive(Debug)]
pub(crate) struct FrequencyWeights {
    curve: WeightCurve,
    tables: [OnceCell<Vec<u16>>; SHAPE_COUNT],
}

impl FrequencyWeights {
    pub(crate) fn new(curve: WeightCurve) -> Self {
        Self {
            curve,
            tables: std::array::from_fn(|_| OnceCell::new()),
        }
    }

    /// The largest weight of any frequency.
    #[cfg(feature = "encoder")]
    pub(crate) fn largest(&self) -> f32 {
        self.curve.largest()
    }

    /// Weights of the frequencies of a shape, row by row; `None` if all are one.
    pub(crate) fn of(&self, shape: Shape) -> Option<&[u16]> {
        if self.curve.is_flat() {
            return None;
        }
        let table = || {
            let (w, h) = (shape.width(), shape.height());
            let weight = |at: usize| {
                let (u, v) = (at % w * 64 / w, at / w * 64 / h);
                let frequency = ((u * u + v * v) << 8).isqrt();
                weight(self.curve.log(frequency as i32)) as u16
            };
            (0..w * h).map(weight).collect()
        };
        Some(self.tables[shape.index()].get_or_init(table))
    }
}

/// A weighted coefficient.
#[inline(always)]
pub(crate) fn weighted(value: i32, weight: u16) -> i32 {
    ((i64::from(value) * i64::from(weight) + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_follow_their_curve() {
        let weights = FrequencyWeights::new(WeightCurve([-8, 8, 24]));
        let shape = Shape::new(8, 8).unwrap();
        let table = weights.of(shape).expect("the curve is not flat");
        let wanted = |at: usize| {
            let (u, v) = ((at % 8) as f64 / 8.0, (at / 8) as f64 / 8.0);
            4096.0 * ((u.hypot(v)) - 0.25).exp2()
        };
        for (at, &weight) in table.iter().enumerate() {
            let ratio = f64::from(weight) / wanted(at);
            assert!((0.97..1.03).contains(&ratio), "{at}: {ratio}");
        }
        assert!(
            FrequencyWeights::new(WeightCurve::default())
                .of(shape)
                .is_none()
        );
    }

    #[cfg(feature = "encoder")]
    #[test]
    fn no_weight_exceeds_the_largest() {
        for curve in [[-8, 8, 24], [30, -20, 5], [-100, 60, 127]].map(WeightCurve) {
            let weights = FrequencyWeights::new(curve);
            for shape in Shape::all() {
                let table = weights.of(shape).expect("the curve is not flat");
                let largest = 4096.0 * curve.largest();
                assert!(table.iter().all(|&weight| f32::from(weight) <= largest));
            }
        }
    }
}

//! Prediction of a patch from decoded neighbours (`spec/bitstream.md`, section "Prediction").
//!
//! Samples are 12-bit; all arithmetic is in 32-bit integers.

mod border;
mod cfl;
mod luma_taps;
mod modes;
pub(crate) mod neural;
pub(crate) mod packed_net;

pub(crate) use border::{Border, Known};
pub(crate) use cfl::predict_from_luma;
pub(crate) use luma_taps::LumaTaps;
use modes::{Predict, predict_shape};

use crate::tile::intra::neural::NeuralIntra;
use std::cell::OnceCell;
use tessera_patch::Shape;

/// Largest sample value.
pub(crate) const SAMPLE_MAX: i32 = 4095;
/// Number of luma prediction modes: planar, mean and 33 directions.
pub(crate) const MODES: usize = 35;
/// Smooth surface through the border, or the first prediction of the dictionary's network for the shape.
pub(crate) const PLANAR: usize = 0;
/// Mean of the border, or the second prediction of that network.
pub(crate) const MEAN: usize = 1;
/// From the left.
pub(crate) const HORIZONTAL: usize = 10;
/// From above.
pub(crate) const VERTICAL: usize = 26;
/// First direction predicted from above rather than from the left.
const FIRST_VERTICAL: usize = 18;

/// Horizontal shift per row in 1/32 sample, for modes 2..=34.
pub(crate) const ANGLES: [i32; 33] = [
    32, 26, 21, 17, 13, 9, 5, 2, 0, -2, -5, -9, -13, -17, -21, -26, -32, -26, -21, -17, -13, -9,
    -5, -2, 0, 2, 5, 9, 13, 17, 21, 26, 32,
];
/// Predicts patches of one shape from one border.
#[derive(Debug)]
pub(crate) struct Predictor<'a> {
    pub(crate) raw: Border,
    smooth: OnceCell<Border>,
    shape: Shape,
    /// The dictionary's networks, if it has some.
    networks: Option<NeuralIntra<'a>>,
}

impl<'a> Predictor<'a> {
    pub(crate) fn new(raw: Border, shape: Shape) -> Self {
        Self::with_networks(raw, shape, None)
    }

    #[inline(always)]
    pub(crate) fn with_networks(
        raw: Border,
        shape: Shape,
        networks: Option<NeuralIntra<'a>>,
    ) -> Self {
        Self {
            raw,
            smooth: OnceCell::new(),
            shape,
            networks,
        }
    }

    /// Fills `out` (row-major, the patch's area) with the prediction of `mode`.
    pub(crate) fn predict(&self, mode: usize, out: &mut [i32]) {
        if mode <= MEAN
            && let Some(networks) = &self.networks
            && let Some(net) = networks.net(self.shape)
        {
            self.predict_plainly(PLANAR, out);
            return networks.correct(net, mode, self.shape, &self.raw, out);
        }
        self.predict_plainly(mode, out);
    }

    /// The prediction of `mode` without networks.
    fn predict_plainly(&self, mode: usize, out: &mut [i32]) {
        match (self.shape.width(), self.shape.height()) {
            (4, 4) => predict_shape(Predict::<4, 4>::new(self, mode, out)),
            (4, _) => predict_shape(Predict::<4, 8>::new(self, mode, out)),
            (8, 4) => predict_shape(Predict::<8, 4>::new(self, mode, out)),
            (8, 8) => predict_shape(Predict::<8, 8>::new(self, mode, out)),
            (8, _) => predict_shape(Predict::<8, 16>::new(self, mode, out)),
            (16, 8) => predict_shape(Predict::<16, 8>::new(self, mode, out)),
            (16, 16) => predict_shape(Predict::<16, 16>::new(self, mode, out)),
            (16, _) => predict_shape(Predict::<16, 32>::new(self, mode, out)),
            (32, 16) => predict_shape(Predict::<32, 16>::new(self, mode, out)),
            (32, 32) => predict_shape(Predict::<32, 32>::new(self, mode, out)),
            (32, _) => predict_shape(Predict::<32, 64>::new(self, mode, out)),
            (64, 32) => predict_shape(Predict::<64, 32>::new(self, mode, out)),
            _ => predict_shape(Predict::<64, 64>::new(self, mode, out)),
        }
    }

    fn smooth(&self) -> &Border {
        self.smooth.get_or_init(|| self.raw.smoothed())
    }

    /// Whether a direction this close to an axis reads the smoothed border.
    fn is_smooth(&self, mode: usize) -> bool {
        let axis = if mode >= FIRST_VERTICAL {
            VERTICAL
        } else {
            HORIZONTAL
        };
        let tolerance = match (self.shape.log_width() + self.shape.log_height()) >> 1 {
            2 => 99,
            3 => 7,
            4 => 1,
            _ => 0,
        };
        mode.abs_diff(axis) > tolerance
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    fn flat(value: u16) -> Border {
        Border::new(16, [value; 16].into_iter(), Some(value), &[value; 16])
    }

    #[test]
    fn a_flat_border_predicts_a_flat_patch() {
        let shape = Shape::new(8, 8).unwrap();
        let predictor = Predictor::new(flat(1000), shape);
        for mode in 0..MODES {
            let mut out = [0; 64];
            predictor.predict(mode, &mut out);
            for value in out {
                assert!((999..=1001).contains(&value), "mode {mode}: {value}");
            }
        }
    }

    #[test]
    fn missing_samples_repeat_their_predecessor() {
        let border = Border::new(8, [100, 101, 102, 103].into_iter(), Some(7), &[]);
        assert_eq!(border.left[8], 103);
        assert_eq!(border.top[1..=9], [7; 9]);
        let nothing = Border::new(8, [].into_iter(), None, &[]);
        assert_eq!((nothing.top[3], nothing.left[3]), (2048, 2048));
        let only_top = Border::new(8, [].into_iter(), None, &[9, 8, 7, 6]);
        assert_eq!(
            (only_top.left[5], only_top.top[0], only_top.top[6]),
            (9, 9, 6)
        );
    }

    #[test]
    fn a_vertical_edge_above_continues_downwards() {
        let top: Vec<u16> = (0..16).map(|x| if x < 4 { 0 } else { 4000 }).collect();
        let border = Border::new(16, [0; 16].into_iter(), Some(0), &top);
        let mut out = [0; 64];
        Predictor::new(border, Shape::new(8, 8).unwrap()).predict(VERTICAL, &mut out);
        assert!(
            out.chunks_exact(8)
                .all(|row| row[..4] == [0; 4] && row[4..] == [4000; 4])
        );
    }
}

//! What is known of photos: how the visible loss follows from what is lost of blocks.

use super::LOOKS;
use crate::encoder::masking::log2;

/// Keeps logarithms finite, and looks that see hardly anything quiet: a share of the usual loss.
const LEAST: f32 = 0.03;

/// What is known of photos at a quantiser. Logarithms are to the base of two; "visible loss" is 100 points less the
/// SSIMULACRA2 of the decoded picture.
#[derive(Debug)]
pub(super) struct Photos {
    pub(super) quantiser: u8,
    /// Logarithm of the visible loss of a photo that loses what is usual.
    visible: f32,
    /// What each look usually loses, and how the visible loss follows it.
    usual: [f32; LOOKS],
    slopes: [f32; LOOKS],
}

impl Photos {
    /// Logarithm of the visible loss of a photo whose looks lose so much; what is not known counts as usual.
    pub(super) fn visible_loss(&self, losses: [Option<f32>; LOOKS]) -> f32 {
        let mut loss = self.visible;
        for ((lost, usual), slope) in losses.iter().zip(self.usual).zip(self.slopes) {
            let lost = lost.unwrap_or(usual);
            loss += slope * log2(lost / usual + LEAST);
        }
        loss
    }
}

const fn photos(quantiser: u8, visible: f32, usual: [f32; LOOKS], slopes: [f32; LOOKS]) -> Photos {
    Photos {
        quantiser,
        visible,
        usual,
        slopes,
    }
}

/// Made by `cargo xtask quality-scale` from training photos, as they are, made smaller or cut, at effort 5.
#[rustfmt::skip]
pub(super) const PHOTOS: [Photos; 8] = [
    photos(40, 2.623, [0.004455, 0.001827, 0.0002175, 0.00007565, 60.45, 0.001102], [0.223, -0.046, -0.178, 0.189, -0.192, 0.067]),
    photos(46, 3.059, [0.009909, 0.004602, 0.0005704, 0.0002002, 58.88, 0.002549], [0.182, -0.001, -0.037, 0.103, -0.173, 0.065]),
    photos(54, 3.819, [0.02853, 0.01503, 0.001843, 0.0006931, 55.83, 0.007617], [0.215, 0.032, 0.102, 0.044, -0.109, 0.060]),
    photos(60, 4.444, [0.05898, 0.03268, 0.004597, 0.001742, 52.60, 0.01495], [0.214, 0.042, 0.117, 0.067, -0.077, 0.048]),
    photos(66, 5.041, [0.1086, 0.06316, 0.01050, 0.004035, 47.52, 0.02479], [0.158, 0.108, 0.145, 0.103, -0.095, 0.038]),
    photos(72, 5.614, [0.1950, 0.1120, 0.02172, 0.009606, 40.98, 0.04121], [0.013, 0.168, 0.199, 0.146, -0.127, 0.028]),
    photos(80, 6.307, [0.3488, 0.2165, 0.05224, 0.02674, 31.03, 0.07068], [-0.216, 0.233, 0.257, 0.194, -0.126, 0.017]),
    photos(88, 6.865, [0.5131, 0.3524, 0.1040, 0.06908, 20.33, 0.1102], [-0.205, 0.190, 0.196, 0.205, -0.037, 0.003]),
];

//! Networks that learned nothing but make a difference, for streams and tests.

use tessera_dict::net::{Nets, STRIDES, WEIGHTS};
use tessera_dict::{LosslessNet, LosslessNets, Net, PatchNet, PatchNets, lossless_net, patch_net};
use tessera_patch::Shape;

/// The shape without a network.
const LEFT_OUT: usize = 5;

/// Layers of weights that follow no rule; one of 64 is not zero, so that files stay small.
fn layers(seed: u32, sizes: [usize; 3]) -> [Vec<i16>; 3] {
    let mut state = seed;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as i16
    };
    let mut weight = || match random() & 63 {
        0 => random() % 800,
        _ => 0,
    };
    sizes.map(|count| (0..count).map(|_| weight()).collect())
}

/// Weights that follow no rule; one of eight is not zero, and no unit has too many.
fn bytes(seed: u32, layer: usize) -> Vec<i8> {
    let mut state = seed;
    let mut random = move || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 16) as usize
    };
    let mut weights = vec![0; WEIGHTS[layer]];
    for unit in weights.chunks_exact_mut(STRIDES[layer]) {
        for _ in 0..STRIDES[layer] / 8 {
            unit[random() % STRIDES[layer]] = (random() % 63) as i8 - 31;
        }
    }
    weights
}

/// Networks behind the filters of luma and chroma.
pub(crate) fn nets() -> Nets {
    [1, 2].map(|seed| {
        let net = Net::new([100, 90], [0, 1, 2].map(|layer| bytes(seed, layer)));
        Some(net.expect("networks within their limits"))
    })
}

/// Networks that expect samples of lossless pictures, of all planes but the second.
pub(crate) fn lossless_nets() -> LosslessNets {
    let net = |plane: usize| {
        let [first, second, last] = layers(40 + plane as u32, lossless_net::WEIGHTS);
        (plane != 1).then_some(LosslessNet {
            first,
            second,
            last,
        })
    };
    std::array::from_fn(net)
}

/// Networks for luma patches of all shapes but one.
pub(crate) fn patch_nets() -> PatchNets {
    let net = |shape: usize| {
        let sizes = patch_net::weights(Shape::from_index(shape));
        let [first, second, last] = layers(3 + shape as u32, sizes);
        (shape != LEFT_OUT).then_some(PatchNet {
            first,
            second,
            last,
        })
    };
    PatchNets {
        extent: [120, 80],
        nets: std::array::from_fn(net),
    }
}

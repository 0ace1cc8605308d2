//! Weights of the small networks that predict luma patches from their borders (`spec/bitstream.md`, "Learned prediction").
//!
//! Like the networks behind the filter, only dictionaries of one collection carry them.

use crate::error::Error;
use crate::net::{read_extent, read_layers, write_extent, write_layers};
use byteorder::ReadBytesExt;
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// Most units of each of the two hidden layers.
pub const MAX_UNITS: usize = 256;
/// Predictions a network makes of a patch: those of the modes 0 and 1.
pub const PREDICTIONS: usize = 2;
/// Most means along one side of a patch, and most frequencies along it.
pub const SIDE: usize = 8;
/// Means of what lies beyond the patch along one arm of its border.
pub const BEYOND: usize = 4;
/// Samples at the corner of the border.
pub const CORNER: usize = 4;
/// Numbers that say where a patch lies in its picture.
pub const PLACES: usize = 8;
/// Most inputs of a network.
pub const MAX_INPUTS: usize = 4 * SIDE + 2 * BEYOND + CORNER + 2 + PLACES + 1;
/// Largest magnitude of a weight: keeps all sums inside 32 bits.
pub const MAX_WEIGHT: i16 = 2000;

/// Means along the width and along the height of a patch.
pub fn means(shape: Shape) -> [usize; 2] {
    [shape.width().min(SIDE), shape.height().min(SIDE)]
}

/// Units of each of the two hidden layers: larger patches show more of the picture, and there are fewer of them.
pub fn units(shape: Shape) -> usize {
    match shape.area() {
        0..64 => 64,
        64..256 => 128,
        _ => MAX_UNITS,
    }
}

/// Numbers the surroundings of a patch are described by: two lines of means along both sides, what lies beyond, the
/// corner, mean and quantiser, the place, and a constant.
pub fn inputs(shape: Shape) -> usize {
    let [across, down] = means(shape);
    2 * (across + down) + 2 * BEYOND + CORNER + 2 + PLACES + 1
}

/// Lowest frequencies of a patch that every prediction consists of.
pub fn outputs(shape: Shape) -> usize {
    let [across, down] = means(shape);
    across * down
}

/// Number of weights of each layer.
pub fn weights(shape: Shape) -> [usize; 3] {
    let units = units(shape);
    [
        units * inputs(shape),
        units * (units + 1),
        PREDICTIONS * outputs(shape) * (units + 1),
    ]
}

/// Weights of the units of three layers, one unit after the other; the last weight of a unit is that of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchNet {
    /// [`units`] with [`inputs`] weights each.
    pub first: Vec<i16>,
    /// [`units`] with [`units`] + 1 weights each.
    pub second: Vec<i16>,
    /// [`outputs`] with [`units`] + 1 weights each, for the first prediction and then for the second.
    pub last: Vec<i16>,
}

/// The networks of a dictionary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchNets {
    /// Width and height of the pictures they were learned from, not zero: the scale of a patch's place.
    pub extent: [u16; 2],
    /// By the index of the shape; none where there was too little to learn from.
    pub nets: [Option<PatchNet>; SHAPE_COUNT],
}

/// Body of the section (`spec/dictionary.md`, "Networks of patches").
pub(crate) fn write(all: &PatchNets) -> Vec<u8> {
    let mut out = Vec::new();
    write_extent(all.extent, &mut out);
    for net in &all.nets {
        out.push(u8::from(net.is_some()));
        if let Some(net) = net {
            write_layers([&net.first, &net.second, &net.last], &mut out);
        }
    }
    out
}

/// Reads the section and checks the weights.
pub(crate) fn read(mut body: &[u8]) -> Result<PatchNets, Error> {
    let extent = read_extent(&mut body)?;
    let mut nets = [const { None }; SHAPE_COUNT];
    for (net, shape) in nets.iter_mut().zip(Shape::all()) {
        *net = match body.read_u8()? {
            0 => None,
            1 => {
                let [first, second, last] = read_layers(&mut body, weights(shape), MAX_WEIGHT)?;
                Some(PatchNet {
                    first,
                    second,
                    last,
                })
            }
            _ => return Err(Error::Corrupt("unknown kind of network")),
        };
    }
    match body {
        [] => Ok(PatchNets { extent, nets }),
        _ => Err(Error::Corrupt("data behind the last network")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nets(weight: i16) -> PatchNets {
        let mut nets = [const { None }; SHAPE_COUNT];
        for index in [0, 4, 12] {
            let layer = |count: usize| (0..count).map(|i| weight - (i % 7) as i16).collect();
            let [first, second, last] = weights(Shape::from_index(index)).map(layer);
            nets[index] = Some(PatchNet {
                first,
                second,
                last,
            });
        }
        PatchNets {
            extent: [300, 200],
            nets,
        }
    }

    #[test]
    fn networks_round_trip() {
        assert_eq!(read(&write(&nets(-300))).unwrap(), nets(-300));
    }

    #[test]
    fn damage_is_refused() {
        let good = write(&nets(5));
        assert!(read(&good[..good.len() - 1]).is_err());
        assert!(read(&[&good[..], &[0]].concat()).is_err());
        let unknown = [&good[..4], &[2], &good[5..]].concat();
        assert!(matches!(read(&unknown), Err(Error::Corrupt(_))));
        let empty = [&[0; 4], &good[4..]].concat();
        assert!(matches!(read(&empty), Err(Error::Corrupt(_))));
        let large = write(&nets(MAX_WEIGHT + 1));
        assert!(matches!(read(&large), Err(Error::Corrupt(_))));
    }

    #[test]
    fn sums_stay_inside_32_bits() {
        assert_eq!(Shape::all().map(inputs).max(), Some(MAX_INPUTS));
        let most = MAX_INPUTS.max(MAX_UNITS + 1) as i64;
        assert!(most * 4095 * i64::from(MAX_WEIGHT) + (1 << 20) < i64::from(i32::MAX));
    }
}

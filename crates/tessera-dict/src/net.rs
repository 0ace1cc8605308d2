//! Weights of the small network that restores what the filter leaves (`spec/bitstream.md`, "Network").
//!
//! Only dictionaries of one collection carry it: there it knows what the pictures look like, and the time it takes
//! does not matter as it does for photographs at large.

use crate::basis::PlaneKind;
use crate::error::Error;
use crate::format::take;
use byteorder::{LittleEndian, ReadBytesExt};

/// Numbers a square of samples and its surroundings are described by; the last one is constant.
pub const INPUTS: usize = 56;
/// Units of the first layer.
pub const FIRST: usize = 64;
/// Units of the second layer.
pub const SECOND: usize = 32;
/// What a network says: how much is missing of each sample of the square.
pub const OUTPUTS: usize = 4;
/// Fractional bits of a weight of the hidden layers, and of the last one.
pub const FRACTIONS: [u32; 3] = [5, 5, 7];
/// Fractional bits of a weight of the other kinds of networks, which have 16 bits.
pub const WEIGHT_BITS: u32 = 10;
/// Most that the positive weights of a unit may add up to, and the negative ones: keeps all sums inside 16 bits.
pub const MOST_WEIGHT: i32 = 255;

/// Weights of the units of three layers, one unit after the other; the last weight of a unit is that of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Width and height of the pictures it was learned from, not zero: the scale of a sample's place.
    pub extent: [u16; 2],
    /// [`FIRST`] units with [`INPUTS`] weights each.
    pub first: Vec<i8>,
    /// [`SECOND`] units with [`FIRST`] + 1 weights each.
    pub second: Vec<i8>,
    /// [`OUTPUTS`] units with [`SECOND`] + 1 weights each.
    pub last: Vec<i8>,
}

/// Number of weights of each layer.
pub const WEIGHTS: [usize; 3] = [FIRST * INPUTS, SECOND * (FIRST + 1), OUTPUTS * (SECOND + 1)];

/// Number of weights of a unit of each layer.
pub const STRIDES: [usize; 3] = [INPUTS, FIRST + 1, SECOND + 1];

impl Net {
    /// Of layers of as many weights as [`WEIGHTS`] says.
    ///
    /// # Errors
    /// If a unit has more than [`MOST_WEIGHT`].
    pub fn new(extent: [u16; 2], layers: [Vec<i8>; 3]) -> Result<Self, Error> {
        for (layer, stride) in layers.iter().zip(STRIDES) {
            if !layer.chunks_exact(stride).all(fits) {
                return Err(Error::Corrupt("a unit of a network has too much weight"));
            }
        }
        let [first, second, last] = layers;
        Ok(Self {
            extent,
            first,
            second,
            last,
        })
    }
}

/// Whether the sums of a unit with these weights stay inside 16 bits.
fn fits(unit: &[i8]) -> bool {
    let sum = |sign: i32| -> i32 {
        let weights = unit.iter().map(|&weight| sign * i32::from(weight));
        weights.map(|weight| weight.max(0)).sum()
    };
    sum(1) <= MOST_WEIGHT && sum(-1) <= MOST_WEIGHT
}

/// The networks of luma and of chroma, as far as there are any.
pub type Nets = [Option<Net>; 2];

/// Says that a network follows; 1 was one of another kind.
const THERE: u8 = 2;

/// Body of the section (`spec/dictionary.md`, "Networks").
pub(crate) fn write(nets: &Nets) -> Vec<u8> {
    let mut out = Vec::new();
    for net in nets {
        out.push(if net.is_some() { THERE } else { 0 });
        if let Some(net) = net {
            write_extent(net.extent, &mut out);
            for layer in [&net.first, &net.second, &net.last] {
                out.extend(layer.iter().map(|&weight| weight as u8));
            }
        }
    }
    out
}

/// Reads the section and checks the weights.
pub(crate) fn read(mut body: &[u8]) -> Result<Nets, Error> {
    let mut nets = [None, None];
    for kind in [PlaneKind::Luma, PlaneKind::Chroma] {
        nets[kind as usize] = match take(&mut body, 1)?[0] {
            0 => None,
            THERE => Some(read_net(&mut body)?),
            _ => return Err(Error::Corrupt("unknown kind of network")),
        };
    }
    if !body.is_empty() {
        return Err(Error::Corrupt("data behind the last network"));
    }
    Ok(nets)
}

fn read_net(body: &mut &[u8]) -> Result<Net, Error> {
    let extent = read_extent(body)?;
    let mut layers = [const { Vec::new() }; 3];
    for (layer, count) in layers.iter_mut().zip(WEIGHTS) {
        layer.extend(take(body, count)?.iter().map(|&weight| weight as i8));
    }
    Net::new(extent, layers)
}

pub(crate) fn write_extent(extent: [u16; 2], out: &mut Vec<u8>) {
    out.extend(extent.iter().flat_map(|side| side.to_le_bytes()));
}

pub(crate) fn read_extent(body: &mut &[u8]) -> Result<[u16; 2], Error> {
    let extent = [
        body.read_u16::<LittleEndian>()?,
        body.read_u16::<LittleEndian>()?,
    ];
    match extent.contains(&0) {
        true => Err(Error::Corrupt("a network is for empty pictures")),
        false => Ok(extent),
    }
}

pub(crate) fn write_layers(layers: [&Vec<i16>; 3], out: &mut Vec<u8>) {
    for layer in layers {
        let start = out.len();
        out.resize(start + 2 * layer.len(), 0);
        for (to, weight) in out[start..].as_chunks_mut().0.iter_mut().zip(layer) {
            *to = weight.to_le_bytes();
        }
    }
}

/// Reads layers of these numbers of weights, none larger than `limit`.
pub(crate) fn read_layers(
    body: &mut &[u8],
    counts: [usize; 3],
    limit: i16,
) -> Result<[Vec<i16>; 3], Error> {
    let mut layers = [const { Vec::new() }; 3];
    for (layer, count) in layers.iter_mut().zip(counts) {
        let pairs = take(body, 2 * count)?.chunks_exact(2);
        layer.extend(pairs.map(|pair| i16::from_le_bytes([pair[0], pair[1]])));
    }
    let fits = |weight: &i16| weight.unsigned_abs() <= limit.unsigned_abs();
    match layers.iter().flatten().all(fits) {
        true => Ok(layers),
        false => Err(Error::Corrupt("a weight of a network is too large")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(weight: i8) -> Net {
        let layer = |count: usize| (0..count).map(|i| weight - (i % 7) as i8).collect();
        Net::new([300, 200], WEIGHTS.map(layer)).unwrap()
    }

    #[test]
    fn networks_round_trip() {
        for nets in [
            [Some(net(3)), None],
            [None, Some(net(2))],
            [Some(net(1)), Some(net(2))],
        ] {
            assert_eq!(read(&write(&nets)).unwrap(), nets);
        }
    }

    #[test]
    fn damage_is_refused() {
        let good = write(&[Some(net(3)), None]);
        assert!(read(&good[..good.len() - 1]).is_err());
        assert!(read(&[&good[..], &[0]].concat()).is_err());
        assert!(read(&[1, 0]).is_err());
        assert!(read(&[3, 0]).is_err());
        let empty = Net {
            extent: [0, 7],
            ..net(3)
        };
        assert!(read(&write(&[Some(empty), None])).is_err());
    }

    #[test]
    fn units_with_too_much_weight_are_refused() {
        for sign in [-1, 1] {
            let mut heavy = net(3);
            for layer in [&mut heavy.first, &mut heavy.second, &mut heavy.last] {
                layer.fill(0);
                layer[..3].copy_from_slice(&[127 * sign, 127 * sign, sign]);
            }
            assert!(read(&write(&[Some(heavy.clone()), None])).is_ok());
            heavy.second[3] = sign;
            let heavy = write(&[Some(heavy), None]);
            assert!(matches!(read(&heavy), Err(Error::Corrupt(_))));
        }
    }
}

//! Weights of the small network that restores what the filter leaves (`spec/bitstream.md`, "Network").
//!
//! Only dictionaries of one collection carry it: there it knows what the pictures look like, and the time it takes
//! does not matter as it does for photographs at large.

use crate::basis::PlaneKind;
use crate::error::Error;
use crate::format::take;
use byteorder::{LittleEndian, ReadBytesExt};

/// Numbers a sample and its surroundings are described by; the last one is constant.
pub const INPUTS: usize = 48;
/// Units of the first layer.
pub const FIRST: usize = 64;
/// Units of the second layer.
pub const SECOND: usize = 32;
/// Fractional bits of a weight.
pub const WEIGHT_BITS: u32 = 10;
/// Largest magnitude of a weight: keeps all sums inside 32 bits.
pub const MAX_WEIGHT: i16 = 8000;

/// Weights of the units of three layers, one unit after the other; the last weight of a unit is that of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Net {
    /// Width and height of the pictures it was learned from, not zero: the scale of a sample's place.
    pub extent: [u16; 2],
    /// [`FIRST`] units with [`INPUTS`] weights each.
    pub first: Vec<i16>,
    /// [`SECOND`] units with [`FIRST`] + 1 weights each.
    pub second: Vec<i16>,
    /// One unit with [`SECOND`] + 1 weights.
    pub last: Vec<i16>,
}

/// Number of weights of each layer.
pub const WEIGHTS: [usize; 3] = [FIRST * INPUTS, SECOND * (FIRST + 1), SECOND + 1];

/// The networks of luma and of chroma, as far as there are any.
pub type Nets = [Option<Net>; 2];

/// Body of the section (`spec/dictionary.md`, "Networks").
pub(crate) fn write(nets: &Nets) -> Vec<u8> {
    let mut out = Vec::new();
    for net in nets {
        out.push(u8::from(net.is_some()));
        if let Some(net) = net {
            write_extent(net.extent, &mut out);
            write_layers([&net.first, &net.second, &net.last], &mut out);
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
            1 => Some(read_net(&mut body)?),
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
    let [first, second, last] = read_layers(body, WEIGHTS, MAX_WEIGHT)?;
    Ok(Net {
        extent,
        first,
        second,
        last,
    })
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

    fn net(weight: i16) -> Net {
        let layer = |count: usize| (0..count).map(|i| weight - (i % 7) as i16).collect();
        let [first, second, last] = WEIGHTS.map(layer);
        Net {
            extent: [300, 200],
            first,
            second,
            last,
        }
    }

    #[test]
    fn networks_round_trip() {
        for nets in [
            [Some(net(5)), None],
            [None, Some(net(-300))],
            [Some(net(1)), Some(net(2))],
        ] {
            assert_eq!(read(&write(&nets)).unwrap(), nets);
        }
    }

    #[test]
    fn damage_is_refused() {
        let good = write(&[Some(net(5)), None]);
        assert!(read(&good[..good.len() - 1]).is_err());
        assert!(read(&[&good[..], &[0]].concat()).is_err());
        assert!(read(&[2, 0]).is_err());
        let empty = Net {
            extent: [0, 7],
            ..net(5)
        };
        assert!(read(&write(&[Some(empty), None])).is_err());
        let large = write(&[Some(net(MAX_WEIGHT + 1)), None]);
        assert!(matches!(read(&large), Err(Error::Corrupt(_))));
    }
}

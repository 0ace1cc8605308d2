//! Weights of the small networks that expect samples of lossless pictures (`spec/lossless.md`, "Network").

use crate::error::Error;
use crate::format::take;
use crate::net::{read_layers, write_layers};

/// Numbers a sample's surroundings are described by; the last one is constant.
pub const INPUTS: usize = 64;
/// Units of the first layer.
pub const FIRST: usize = 64;
/// Units of the second layer.
pub const SECOND: usize = 16;
/// What a network says: where the sample lies, and how far from there it may be.
pub const OUTPUTS: usize = 2;
/// Largest magnitude of a weight: keeps all sums inside 32 bits.
pub const MAX_WEIGHT: i16 = 8000;

/// Number of weights of each layer.
pub const WEIGHTS: [usize; 3] = [FIRST * INPUTS, SECOND * (FIRST + 1), OUTPUTS * (SECOND + 1)];

/// Weights of the units of three layers, one unit after the other; the last weight of a unit is that of a constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LosslessNet {
    /// [`FIRST`] units with [`INPUTS`] weights each.
    pub first: Vec<i16>,
    /// [`SECOND`] units with [`FIRST`] + 1 weights each.
    pub second: Vec<i16>,
    /// [`OUTPUTS`] units with [`SECOND`] + 1 weights each.
    pub last: Vec<i16>,
}

/// Planes that have a network of their own: gray or the first colour, the second, the third.
pub const PLANES: usize = 3;

/// The networks of all planes, as far as there are any.
pub type LosslessNets = [Option<LosslessNet>; PLANES];

/// Body of the section (`spec/dictionary.md`, "Lossless networks").
pub(crate) fn write(nets: &LosslessNets) -> Vec<u8> {
    let mut out = Vec::new();
    for net in nets {
        out.push(u8::from(net.is_some()));
        if let Some(net) = net {
            write_layers([&net.first, &net.second, &net.last], &mut out);
        }
    }
    out
}

/// Reads the section and checks the weights.
pub(crate) fn read(mut body: &[u8]) -> Result<LosslessNets, Error> {
    let mut nets = [const { None }; PLANES];
    for net in &mut nets {
        *net = match take(&mut body, 1)?[0] {
            0 => None,
            1 => {
                let [first, second, last] = read_layers(&mut body, WEIGHTS, MAX_WEIGHT)?;
                Some(LosslessNet {
                    first,
                    second,
                    last,
                })
            }
            _ => return Err(Error::Corrupt("unknown kind of lossless network")),
        };
    }
    match body.is_empty() {
        true => Ok(nets),
        false => Err(Error::Corrupt("data behind the last lossless network")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn net(weight: i16) -> LosslessNet {
        let layer = |count: usize| (0..count).map(|i| weight - (i % 7) as i16).collect();
        let [first, second, last] = WEIGHTS.map(layer);
        LosslessNet {
            first,
            second,
            last,
        }
    }

    #[test]
    fn networks_round_trip() {
        for nets in [
            [Some(net(5)), None, None],
            [None, Some(net(-300)), Some(net(7))],
        ] {
            assert_eq!(read(&write(&nets)).unwrap(), nets);
        }
    }

    #[test]
    fn damage_is_refused() {
        let good = write(&[Some(net(5)), None, None]);
        assert!(read(&good[..good.len() - 1]).is_err());
        assert!(read(&[&good[..], &[0]].concat()).is_err());
        assert!(read(&[2, 0, 0]).is_err());
        let large = write(&[None, None, Some(net(MAX_WEIGHT + 1))]);
        assert!(matches!(read(&large), Err(Error::Corrupt(_))));
    }
}

//! `dictionary.md`, "Networks", "Networks of patches" and "Lossless networks".

use super::file::i16_bytes;
use crate::bitstream::shapes::{SHAPES, Shape};
use crate::bytes::Reader;
use crate::error::{Result, ensure, refuse};

/// Weights of a network behind the filter.
#[derive(Debug, Clone)]
pub(crate) struct FilterNetwork {
    pub(crate) extent: [u16; 2],
    pub(crate) a: Vec<i8>,
    pub(crate) b: Vec<i8>,
    pub(crate) c: Vec<i8>,
}

/// Weights of another network.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) a: Vec<i16>,
    pub(crate) b: Vec<i16>,
    pub(crate) c: Vec<i16>,
}

/// Networks that predict luma patches, by shape.
#[derive(Debug, Clone)]
pub(crate) struct PatchNetworks {
    pub(crate) extent: [u16; 2],
    pub(crate) networks: Vec<Option<Network>>,
}

/// Numbers of weights of A, B and C of a network behind the filter.
pub(super) const SIZES: [usize; 3] = [64 * 56, 32 * 65, 4 * 33];
/// Weights of a unit of each of its layers.
pub(super) const STRIDES: [usize; 3] = [56, 65, 33];
/// What there is of a network behind the filter if there is one.
const THERE: u8 = 2;
/// The same of a lossless network.
pub(super) const LOSSLESS_SIZES: [usize; 3] = [64 * 64, 16 * 65, 2 * 17];
pub(super) const MAX_WEIGHT: i16 = 8000;
pub(super) const MAX_PATCH_WEIGHT: i16 = 2000;

/// `n`, `m`, `a` and `b` of "Learned prediction".
pub(crate) fn patch_sizes(shape: Shape) -> [usize; 4] {
    let (a, b) = (shape.w.min(8), shape.h.min(8));
    let m = match shape.area() {
        0..64 => 64,
        64..256 => 128,
        _ => 256,
    };
    [2 * (a + b) + 23, m, a, b]
}

/// Numbers of weights of A, B and C of a network of patches.
pub(super) fn patch_weights(shape: Shape) -> [usize; 3] {
    let [n, m, a, b] = patch_sizes(shape);
    [m * n, m * (m + 1), 2 * a * b * (m + 1)]
}

pub(super) fn read(body: &[u8]) -> Result<[Option<FilterNetwork>; 2]> {
    let mut reader = Reader::new(body);
    let mut kind = || -> Result<Option<FilterNetwork>> {
        match reader.u8()? {
            0 => return Ok(None),
            THERE => (),
            _ => return refuse("a network of a kind that is reserved"),
        }
        let extent = read_extent(&mut reader)?;
        let network = FilterNetwork {
            extent,
            a: reader.i8s(SIZES[0])?,
            b: reader.i8s(SIZES[1])?,
            c: reader.i8s(SIZES[2])?,
        };
        check(&network)?;
        Ok(Some(network))
    };
    let networks = [kind()?, kind()?];
    reader.end("the networks")?;
    Ok(networks)
}

/// The sums of a unit's positive and of its negative weights are limited.
pub(super) fn check(network: &FilterNetwork) -> Result<()> {
    for (layer, stride) in [&network.a, &network.b, &network.c]
        .into_iter()
        .zip(STRIDES)
    {
        for unit in layer.chunks_exact(stride) {
            let weights = unit.iter().map(|&weight| i32::from(weight));
            let positive: i32 = weights.clone().filter(|&weight| weight > 0).sum();
            let negative: i32 = weights.filter(|&weight| weight < 0).sum();
            let bounded = positive <= 255 && negative >= -255;
            ensure(bounded, "a unit of a network has too much weight")?;
        }
    }
    Ok(())
}

pub(super) fn read_patches(body: &[u8]) -> Result<PatchNetworks> {
    let mut reader = Reader::new(body);
    let extent = read_extent(&mut reader)?;
    let mut networks = Vec::new();
    for &shape in &SHAPES {
        networks.push(match is_there(&mut reader)? {
            true => Some(read_weights(
                &mut reader,
                patch_weights(shape),
                MAX_PATCH_WEIGHT,
            )?),
            false => None,
        });
    }
    reader.end("the networks of patches")?;
    Ok(PatchNetworks { extent, networks })
}

pub(super) fn read_lossless(body: &[u8]) -> Result<[Option<Network>; 3]> {
    let mut reader = Reader::new(body);
    let mut plane = || -> Result<Option<Network>> {
        match is_there(&mut reader)? {
            true => read_weights(&mut reader, LOSSLESS_SIZES, MAX_WEIGHT).map(Some),
            false => Ok(None),
        }
    };
    let networks = [plane()?, plane()?, plane()?];
    reader.end("the lossless networks")?;
    Ok(networks)
}

fn is_there(reader: &mut Reader<'_>) -> Result<bool> {
    match reader.u8()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => refuse("a network of a kind that is reserved"),
    }
}

fn read_extent(reader: &mut Reader<'_>) -> Result<[u16; 2]> {
    let extent = [reader.u16()?, reader.u16()?];
    ensure(!extent.contains(&0), "networks with an extent of zero")?;
    Ok(extent)
}

fn read_weights(reader: &mut Reader<'_>, sizes: [usize; 3], limit: i16) -> Result<Network> {
    let mut layer = |size| -> Result<Vec<i16>> {
        let weights = reader.i16s(size)?;
        let bounded = weights
            .iter()
            .all(|weight| (-limit..=limit).contains(weight));
        ensure(bounded, "a weight of a network is too large")?;
        Ok(weights)
    };
    Ok(Network {
        a: layer(sizes[0])?,
        b: layer(sizes[1])?,
        c: layer(sizes[2])?,
    })
}

pub(super) fn write(networks: &[Option<FilterNetwork>; 2]) -> Vec<u8> {
    let mut body = Vec::new();
    for network in networks {
        match network {
            None => body.push(0),
            Some(network) => {
                body.push(THERE);
                body.extend(network.extent.iter().flat_map(|side| side.to_le_bytes()));
                for layer in [&network.a, &network.b, &network.c] {
                    body.extend(layer.iter().map(|&weight| weight as u8));
                }
            }
        }
    }
    body
}

pub(super) fn write_lossless(networks: &[Option<Network>; 3]) -> Vec<u8> {
    let mut body = Vec::new();
    for network in networks {
        body.push(u8::from(network.is_some()));
        if let Some(network) = network {
            write_weights(network, &mut body);
        }
    }
    body
}

pub(super) fn write_patches(patches: &PatchNetworks) -> Vec<u8> {
    let mut body: Vec<u8> = patches
        .extent
        .iter()
        .flat_map(|side| side.to_le_bytes())
        .collect();
    for network in &patches.networks {
        body.push(u8::from(network.is_some()));
        if let Some(network) = network {
            write_weights(network, &mut body);
        }
    }
    body
}

fn write_weights(network: &Network, body: &mut Vec<u8>) {
    for layer in [&network.a, &network.b, &network.c] {
        body.extend(i16_bytes(layer));
    }
}

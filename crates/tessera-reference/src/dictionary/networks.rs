//! `dictionary.md`, "Networks", "Networks of patches" and "Lossless networks".

use super::file::i16_bytes;
use crate::bitstream::shapes::{SHAPES, Shape};
use crate::bytes::Reader;
use crate::error::{Result, ensure, refuse};

/// Weights of a network, and for those behind the filter their extent.
#[derive(Debug, Clone)]
pub(crate) struct Network {
    pub(crate) extent: [u16; 2],
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
pub(super) const SIZES: [usize; 3] = [64 * 48, 32 * 65, 33];
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

pub(super) fn read(body: &[u8]) -> Result<[Option<Network>; 2]> {
    let mut reader = Reader::new(body);
    let mut kind = || -> Result<Option<Network>> {
        if !is_there(&mut reader)? {
            return Ok(None);
        }
        let extent = read_extent(&mut reader)?;
        read_weights(&mut reader, extent, SIZES, MAX_WEIGHT).map(Some)
    };
    let networks = [kind()?, kind()?];
    reader.end("the networks")?;
    Ok(networks)
}

pub(super) fn read_patches(body: &[u8]) -> Result<PatchNetworks> {
    let mut reader = Reader::new(body);
    let extent = read_extent(&mut reader)?;
    let mut networks = Vec::new();
    for &shape in &SHAPES {
        networks.push(match is_there(&mut reader)? {
            true => Some(read_weights(
                &mut reader,
                extent,
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
            true => read_weights(&mut reader, [0; 2], LOSSLESS_SIZES, MAX_WEIGHT).map(Some),
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

fn read_weights(
    reader: &mut Reader<'_>,
    extent: [u16; 2],
    sizes: [usize; 3],
    limit: i16,
) -> Result<Network> {
    let mut layer = |size| -> Result<Vec<i16>> {
        let weights = reader.i16s(size)?;
        let bounded = weights
            .iter()
            .all(|weight| (-limit..=limit).contains(weight));
        ensure(bounded, "a weight of a network is too large")?;
        Ok(weights)
    };
    Ok(Network {
        extent,
        a: layer(sizes[0])?,
        b: layer(sizes[1])?,
        c: layer(sizes[2])?,
    })
}

pub(super) fn write(networks: &[Option<Network>; 2]) -> Vec<u8> {
    let mut body = Vec::new();
    for network in networks {
        body.push(u8::from(network.is_some()));
        if let Some(network) = network {
            body.extend(network.extent.iter().flat_map(|side| side.to_le_bytes()));
            write_weights(network, &mut body);
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

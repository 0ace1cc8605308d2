//! What reference pictures would save, block by block, for those who choose them.

use crate::encoder::lookahead::orientation::Orientations;
use crate::encoder::lookahead::{BlockEstimator, luma_site};
use crate::encoder::reference_search::ReferenceSearch;
use crate::encoder::reference_search::matching::ReferenceMatches;
use crate::encoder::{SpeedSettings, TileEncoder};
use crate::prepared::PreparedDictionary;
use crate::tile::syntax::Block;
use crate::tile::{TileConfig, superblocks};
use tessera_patch::shape::SUPERBLOCK;
use tessera_patch::{Plane, Shape};

/// Side of the blocks that are looked at.
const SIDE: usize = 16;
/// Bits it takes to name a reference and a shift, roughly.
const REFERENCE_BITS: f32 = 6.0;

/// Rough costs of a block of luma in bits, its error included at the encoder's rate of exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct BlockCosts {
    /// Predicted from its surroundings.
    pub alone: f32,
    /// Predicted from each of the dictionary's references.
    pub with: Vec<f32>,
}

/// The costs of all whole blocks of a tile, in raster order; empty if the dictionary has no references.
pub fn reference_costs(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    speed: SpeedSettings,
) -> Vec<BlockCosts> {
    let mut encoder = TileEncoder::new(planes, config, dictionary, speed);
    let Some(references) = encoder.recon.references.take() else {
        return Vec::new();
    };
    let (patches, source) = (encoder.patches(), &encoder.tile.source);
    let matches: Vec<ReferenceMatches> = (0..references.len() as u8)
        .map(|index| {
            let among = index..index + 1;
            ReferenceMatches::find(&references, among, source.luma(), source.stride)
        })
        .collect();
    let across = source.stride.div_ceil(SUPERBLOCK);
    let orientations: Vec<Orientations> = superblocks(config)
        .map(|block| Orientations::of(source, block, 1))
        .collect();
    let shape = Shape::new(SIDE, SIDE).expect("the block is a shape");
    let to_bits = 1.0 / patches.lambda();
    let (columns, rows) = (planes[0].width / SIDE, planes[0].height / SIDE);
    let blocks = (0..columns * rows).map(|at| (at % columns * SIDE, at / columns * SIDE));
    blocks
        .map(|(x, y)| {
            let site = luma_site(x, y, shape);
            let with = matches.iter().map(|matches| {
                let search = ReferenceSearch::new(patches, matches);
                let cost = search.estimate_shifts(&references, &site, matches.shifts(&site));
                cost * to_bits + REFERENCE_BITS
            });
            let estimator = BlockEstimator {
                patches,
                matches: &encoder.lookahead.matches,
                orientations: &orientations[y / SUPERBLOCK * across + x / SUPERBLOCK],
            };
            let alone = estimator.estimate(Block { x, y, size: SIDE });
            BlockCosts {
                alone: alone.cost * to_bits,
                with: with.collect(),
            }
        })
        .collect()
}

//! Which blocks of a tile are drawn pixel by pixel.
//!
//! Where a tile has graphics it is first coded without drawn blocks, which tells what its blocks cost that way. Those
//! that cost less drawn are; then the others are coded again around them.

mod look;

use crate::container::bytes::put_varint;
use crate::encoder::{SpeedSettings, TileEncoder};
use crate::lossless::{DRAWN_BLOCK, Mask, Original, Painted, Way};
use crate::prepared::PreparedDictionary;
use crate::tile::graphics::GraphicsLayer;
use crate::tile::syntax::Block;
use crate::tile::transform::quantiser::Step;
use crate::tile::{TileConfig, superblocks};
use tessera_patch::Plane;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// Bits per cell of four samples that is coded, beside those its levels take.
const CELL_BITS: f32 = 0.25;
/// The ways that are tried; which is best hangs on how much of a tile repeats itself.
const WAYS: [Way; 3] = [
    Way {
        merging: 0.0,
        thrift: 0.3,
    },
    Way {
        merging: 0.0,
        thrift: 0.0,
    },
    Way {
        merging: 2.0,
        thrift: 0.3,
    },
];

/// Codes all superblocks of a tile, with drawn blocks where they cost less; returns also what begins its payload.
pub(super) fn run<'d>(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &'d PreparedDictionary,
    speed: SpeedSettings,
) -> (TileEncoder<'d>, Vec<u8>) {
    let mut plain = TileEncoder::in_closed_loop(planes, config, dictionary, speed);
    let spent = plain.run(config, None);
    if !config.graphics {
        return (plain, Vec::new());
    }
    let none = vec![0];
    let candidates = look::candidates(&plain.tile.source, config);
    let Some(painted) = candidates.and_then(|mask| plain.paint(config, &spent, mask)) else {
        return (plain, none);
    };
    let mut payload = Vec::new();
    put_varint(&mut payload, painted.bytes.len() as u64);
    payload.extend(&painted.bytes);
    let mut mixed = TileEncoder::new(planes, config, dictionary, speed);
    mixed.recon.offsets = plain.recon.offsets.clone();
    let layer = GraphicsLayer::new(painted.drawn, config.drawn_shape());
    mixed.recon.draw_graphics(Some(layer));
    mixed.run(config, None);
    match mixed.cost(config, payload.len()) < plain.cost(config, none.len()) {
        true => (mixed, payload),
        false => (plain, none),
    }
}

impl TileEncoder<'_> {
    /// Draws those of the blocks of a mask that cost less so, if there are any.
    fn paint(&self, config: &TileConfig, spent: &[usize], mut mask: Mask) -> Option<Painted> {
        let original = Original {
            shape: config.drawn_shape(),
            planes: self.tile.source.planes(),
            stride: self.tile.source.stride,
            steps: steps(config),
            lambda: self.tile.costs.lambda,
        };
        let costs = drawn_costs(&original, &mask);
        for (superblock, &bytes) in superblocks(config).zip(spent) {
            for (block, cost) in self.costs_of(config, superblock, bytes) {
                let at = mask.index(block.x, block.y);
                mask.flags_mut()[at] &= costs[at] < cost;
            }
        }
        if mask.count() == 0 {
            return None;
        }
        let painted = WAYS.map(|way| {
            let palette = original.palette(&mask, way);
            let painted = original.paint(&mask, &palette, way);
            (painted.cost, way, painted.palette(&palette))
        });
        let best = painted.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(_, way, used)| original.paint(&mask, &used, way))
    }

    /// What the blocks of a superblock cost that took so many bytes.
    fn costs_of(
        &self,
        config: &TileConfig,
        superblock: Block,
        bytes: usize,
    ) -> impl Iterator<Item = (Block, f32)> {
        let blocks: Vec<Block> = blocks_of(config, superblock).collect();
        let shares: Vec<f32> = blocks
            .iter()
            .map(|&block| self.likely_bits(block))
            .collect();
        let all: f32 = shares.iter().sum();
        let bits = 8.0 * bytes as f32;
        let costs: Vec<f32> = blocks
            .iter()
            .zip(shares)
            .map(|(&block, share)| {
                self.error(config, block) + self.tile.costs.lambda * bits * share / all
            })
            .collect();
        blocks.into_iter().zip(costs)
    }

    /// About how many bits a block took, by the levels its cells remember.
    fn likely_bits(&self, block: Block) -> f32 {
        let mut bits = 0.0;
        let canvases = std::iter::once(&self.recon.luma).chain(&self.recon.chroma);
        for canvas in canvases {
            for y in (block.y..block.y + block.size).step_by(MIN_SIDE) {
                for x in (block.x..block.x + block.size).step_by(MIN_SIDE) {
                    let Some(cell) = canvas.cell(x as isize, y as isize) else {
                        continue;
                    };
                    bits += CELL_BITS;
                    for activity in &cell.activity[..canvas.components.len()] {
                        bits += 16.0 * (1.0 + f32::from(*activity) / 256.0).log2();
                    }
                }
            }
        }
        bits
    }

    /// Error of a block in squared steps.
    fn error(&self, config: &TileConfig, block: Block) -> f32 {
        let canvases = std::iter::once(&self.recon.luma).chain(&self.recon.chroma);
        let drawn = canvases.flat_map(|canvas| &canvas.components);
        let source = &self.tile.source;
        let pairs = source.planes().iter().zip(drawn).zip(steps(config));
        pairs
            .map(|((original, drawn), step)| {
                source.squared_error(config, original, drawn, block) / (step * step)
            })
            .sum()
    }

    /// Error of the whole tile, and the price of what was written of it and of `more` bytes.
    fn cost(&self, config: &TileConfig, more: usize) -> f32 {
        let errors: f32 = superblocks(config)
            .map(|block| self.error(config, block))
            .sum();
        errors + self.tile.costs.lambda * 8.0 * (self.writer.written() + more) as f32
    }
}

/// What each block of a mask costs drawn, in the better of two ways.
fn drawn_costs(original: &Original<'_>, mask: &Mask) -> Vec<f32> {
    let [first, _, last] = WAYS.map(|way| {
        original
            .paint(mask, &original.palette(mask, way), way)
            .costs
    });
    let pairs = first.into_iter().zip(last);
    pairs.map(|(one, other)| one.min(other)).collect()
}

/// Steps of the planes.
fn steps(config: &TileConfig) -> [f32; 3] {
    config
        .quantisers()
        .map(|index| Step::from_index(index).value())
}

/// The blocks of a superblock that may be drawn.
fn blocks_of(config: &TileConfig, superblock: Block) -> impl Iterator<Item = Block> {
    let (width, height) = (config.width as usize, config.height as usize);
    let across = SUPERBLOCK / DRAWN_BLOCK;
    let place = move |i: usize| Block {
        x: superblock.x + i % across * DRAWN_BLOCK,
        y: superblock.y + i / across * DRAWN_BLOCK,
        size: DRAWN_BLOCK,
    };
    let inside = move |block: &Block| block.x < width && block.y < height;
    (0..across * across).map(place).filter(inside)
}

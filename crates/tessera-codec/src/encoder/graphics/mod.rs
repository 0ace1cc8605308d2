//! Which blocks of a tile are drawn pixel by pixel.
//!
//! Where a tile has graphics it is first coded without drawn blocks, which tells what its blocks cost that way. Those
//! that cost less drawn are; then the others are coded again around them. `rivals` keeps the better of both.

mod look;

use crate::container::bytes::put_varint;
use crate::encoder::source::Source;
use crate::encoder::{EncodedTile, SpeedSettings, TileEncoder};
use crate::lossless::{DRAWN_BLOCK, Mask, Original, Way};
use crate::prepared::PreparedDictionary;
use crate::tile::graphics::GraphicsLayer;
use crate::tile::syntax::Block;
use crate::tile::transform::quantiser::Step;
use crate::tile::{TileConfig, superblocks};
use look::{Look, look};
use tessera_patch::Plane;
use tessera_patch::shape::{MIN_SIDE, SUPERBLOCK};

/// What begins the payload of a tile without drawn blocks.
pub(super) const NOTHING_DRAWN: [u8; 1] = [0];
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

/// What draws the blocks of a tile.
pub(super) struct Easel<'a> {
    original: Original<'a>,
    /// Blocks that may be graphics.
    candidates: Mask,
    /// What each of them costs drawn; nothing if there are none.
    costs: Vec<f32>,
    /// What was drawn last, and where.
    last: Option<(Mask, Drawing)>,
}

/// Drawn blocks, and what begins a payload with them.
#[derive(Clone)]
struct Drawing {
    payload: Vec<u8>,
    layer: GraphicsLayer,
}

impl<'a> Easel<'a> {
    /// `None` for a photo, or where nothing may be drawn.
    pub(super) fn new(source: &'a Source, config: &TileConfig, lambda: f32) -> Option<Self> {
        if !config.graphics {
            return None;
        }
        let candidates = match look(source, config) {
            Look::Photo => return None,
            Look::Pattern => Mask::new(config.width as usize, config.height as usize),
            Look::Graphics(mask) => mask,
        };
        let original = Original {
            shape: config.drawn_shape(),
            planes: source.planes(),
            stride: source.stride,
            steps: steps(config),
            lambda,
        };
        Some(Self {
            costs: match candidates.count() {
                0 => Vec::new(),
                _ => drawn_costs(&original, &candidates),
            },
            original,
            candidates,
            last: None,
        })
    }

    /// Draws those of the blocks that cost less so than by an encoder that took so many bytes for each superblock, if there
    /// are any. A tile that was drawn altogether is not drawn once more.
    fn draw(
        &mut self,
        config: &TileConfig,
        plain: &TileEncoder<'_>,
        spent: &[usize],
    ) -> Option<Drawing> {
        if self.costs.is_empty() {
            return None;
        }
        let mut mask = self.candidates.clone();
        for (superblock, &bytes) in superblocks(config).zip(spent) {
            for (block, cost) in plain.costs_of(config, superblock, bytes) {
                let at = mask.index(block.x, block.y);
                mask.flags_mut()[at] &= self.costs[at] < cost;
            }
        }
        if mask.count() == 0 {
            return None;
        }
        if let Some((drawn, drawing)) = self.last.as_ref().filter(|(drawn, _)| *drawn == mask) {
            let everything = drawn.count() == mask.flags_mut().len();
            return (!everything).then(|| drawing.clone());
        }
        let drawing = self.drawing(&mask);
        self.last = Some((mask, drawing.clone()));
        Some(drawing)
    }

    /// Draws the blocks of a mask in the way that costs least.
    fn drawing(&self, mask: &Mask) -> Drawing {
        let original = &self.original;
        let painted = WAYS.map(|way| {
            let palette = original.palette(mask, way);
            let painted = original.paint(mask, &palette, way);
            (painted.cost, way, painted.palette(&palette))
        });
        let best = painted.into_iter().min_by(|a, b| a.0.total_cmp(&b.0));
        let (_, way, used) = best.expect("there are ways");
        let painted = original.paint(mask, &used, way);
        let mut payload = Vec::new();
        put_varint(&mut payload, painted.bytes.len() as u64);
        payload.extend(&painted.bytes);
        Drawing {
            payload,
            layer: GraphicsLayer::new(painted.drawn, original.shape),
        }
    }
}

/// Codes a tile without drawn blocks, and with those drawn that cost less so if there are any.
pub(super) fn encode(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    speed: SpeedSettings,
    easel: &mut Easel<'_>,
) -> [Option<EncodedTile>; 2] {
    let mut plain = TileEncoder::new(planes, config, dictionary, speed)
        .in_closed_loop(planes, config, dictionary);
    let spent = plain.run(config, None);
    let mixed = easel.draw(config, &plain, &spent).map(|drawing| {
        let mut mixed = TileEncoder::new(planes, config, dictionary, speed);
        mixed.recon.offsets = plain.recon.offsets.clone();
        mixed.recon.draw_graphics(Some(drawing.layer));
        mixed.run(config, None);
        mixed.finish(config, drawing.payload)
    });
    [Some(plain.finish(config, NOTHING_DRAWN.into())), mixed]
}

impl TileEncoder<'_> {
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
pub(super) fn steps(config: &TileConfig) -> [f32; 3] {
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

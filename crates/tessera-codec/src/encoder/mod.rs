//! Writes a tile: searches partition, modes, bases and levels by one Lagrangian for the whole picture.
//!
//! Superblock by superblock the look-ahead estimates what every block would cost, the partition search codes on trial
//! what can still win, and the best is written. What everything costs is told by `cost`, from rough to exact.

pub(crate) mod appearance;
mod atom_search;
mod closed_loop;
pub mod cost;
mod fidelity;
mod filter_decision;
pub(crate) mod forward;
mod graphics;
mod lookahead;
pub(crate) mod masking;
mod mode_chroma;
mod mode_luma;
mod partition;
mod patch_search;
mod rdoq;
mod reference_search;
mod rivals;
mod single_pass;
mod source;
mod speed;
pub mod training;
pub(crate) mod tune;

use crate::prepared::PreparedDictionary;
use crate::tile::entropy::coder::Writer;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::state::{Site, TileState};
use crate::tile::syntax::{Block, Split, code_split};
use crate::tile::{TileConfig, superblocks};
use cost::CostModel;
use forward::ForwardTransform;
use lookahead::Lookahead;
use lookahead::cfl_stats::CflStats;
use partition::{PartitionSearch, PartitionTree};
use patch_search::{LeafCandidate, PatchSearch};
use reference_search::ReferenceSearch;
use reference_search::matching::ReferenceMatches;
use single_pass::SinglePass;
use source::Source;
pub use speed::SpeedSettings;
use tessera_patch::Plane;
use training::PatchObserver;
pub use tune::tune_for_training;

/// A written tile.
#[derive(Debug)]
pub struct EncodedTile {
    /// The bitstream.
    pub bytes: Vec<u8>,
    /// What the decoder will see.
    pub planes: Vec<Plane>,
}

/// Encodes the planes of a tile.
pub fn encode_tile(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    speed: SpeedSettings,
) -> EncodedTile {
    rivals::encode(planes, config, dictionary, speed, |encoder, payload| {
        encoder.finish(config, payload)
    })
}

/// Encodes the planes of a tile without saying what the decoder will see: less work where no decision hangs on it.
pub fn encode_tile_no_recon(
    planes: &[Plane],
    config: &TileConfig,
    dictionary: &PreparedDictionary,
    speed: SpeedSettings,
) -> Vec<u8> {
    let tile = rivals::encode(planes, config, dictionary, speed, |encoder, payload| {
        EncodedTile {
            bytes: encoder.finish_no_recon(config, payload),
            planes: Vec::new(),
        }
    });
    tile.bytes
}

/// What all decisions about a tile read.
#[derive(Debug)]
pub(crate) struct TileContext<'d> {
    pub(crate) source: Source,
    pub(crate) speed: SpeedSettings,
    pub(crate) forward: ForwardTransform<'d>,
    pub(crate) costs: CostModel,
}

/// The encoder of one tile: what decisions read, what is known about the present superblock, what a decoder will have
/// at this point, and what is written.
struct TileEncoder<'d> {
    tile: TileContext<'d>,
    lookahead: Lookahead,
    recon: TileState<'d>,
    writer: Writer,
}

impl<'d> TileEncoder<'d> {
    fn new(
        planes: &[Plane],
        config: &TileConfig,
        dictionary: &'d PreparedDictionary,
        speed: SpeedSettings,
    ) -> Self {
        let speed = speed.with(dictionary);
        let mut recon = TileState::new(config, dictionary);
        let writer = Writer::new(dictionary, config);
        let forward = ForwardTransform::new(dictionary.rotations(), config.weights);
        let source = Source::new(planes, &recon.luma);
        if let Some(offsets) = &mut recon.offsets {
            masking::choose_offsets(&source, speed.mean_activity, offsets);
        }
        Self {
            tile: TileContext {
                source,
                costs: CostModel::new(dictionary, &writer.models, &forward, speed.lambda),
                forward,
                speed,
            },
            lookahead: Lookahead::default(),
            recon,
            writer,
        }
    }

    /// Corrects offsets by a first encoding if the settings want that.
    fn in_closed_loop(
        mut self,
        planes: &[Plane],
        config: &TileConfig,
        dictionary: &PreparedDictionary,
    ) -> Self {
        let speed = &self.tile.speed;
        if let (true, Some(map)) = (speed.closed_loop, &mut self.recon.offsets) {
            closed_loop::correct_offsets(planes, config, dictionary, speed, map);
        }
        self
    }

    /// Codes all superblocks; how many bytes each took, give or take a few.
    fn run(
        &mut self,
        config: &TileConfig,
        mut observer: Option<&mut dyn PatchObserver>,
    ) -> Vec<usize> {
        if let Some(references) = &self.recon.references {
            let (all, source) = (0..references.len() as u8, &self.tile.source);
            self.lookahead.matches =
                ReferenceMatches::find(references, all, source.luma(), source.stride);
        }
        let patches = self.patches();
        let in_use = ReferenceSearch::new(patches, &self.lookahead.matches).references_pay();
        (self.recon).code_references_in_use(&mut self.writer, in_use);
        let single_pass = self.tile.speed.single_pass && !in_use && observer.is_none();
        let mut bytes = Vec::new();
        for block in superblocks(config) {
            let before = self.writer.written();
            self.recon.code_offsets(&mut self.writer, block);
            if single_pass {
                for &kind in config.layout.kinds() {
                    self.single_pass().write_superblock(kind, block);
                }
            } else {
                self.look_ahead(config, block);
                for &kind in config.layout.kinds() {
                    self.code_superblock(kind, block, &mut observer);
                }
                self.recon.finish_superblock();
            }
            bytes.push(self.writer.written() - before);
        }
        bytes
    }

    /// The same, and filters what was coded.
    fn run_and_filter(&mut self, config: &TileConfig) -> Vec<usize> {
        let bytes = self.run(config, None);
        for &kind in config.layout.kinds() {
            self.filter(config, kind);
        }
        bytes
    }

    /// Filters what was coded and ends the payload that began so.
    fn finish(mut self, config: &TileConfig, mut payload: Vec<u8>) -> EncodedTile {
        for &kind in config.layout.kinds() {
            self.filter(config, kind);
        }
        payload.extend(self.writer.finish());
        EncodedTile {
            planes: self.recon.into_planes(config),
            bytes: payload,
        }
    }

    /// The same, but only the payload.
    fn finish_no_recon(mut self, config: &TileConfig, mut payload: Vec<u8>) -> Vec<u8> {
        for &kind in config.layout.kinds() {
            self.filter_no_recon(config, kind);
        }
        payload.extend(self.writer.finish());
        payload
    }

    fn patches(&self) -> PatchSearch<'_, 'd> {
        PatchSearch {
            tile: &self.tile,
            models: &self.writer.models,
            recon: &self.recon,
        }
    }

    fn single_pass(&mut self) -> SinglePass<'_, 'd> {
        SinglePass {
            tile: &self.tile,
            recon: &mut self.recon,
            writer: &mut self.writer,
        }
    }

    fn look_ahead(&mut self, config: &TileConfig, superblock: Block) {
        let map =
            lookahead::estimate_superblock(self.patches(), &self.lookahead.matches, superblock);
        self.lookahead.map = map;
        if config.layout.kinds().contains(&PlaneKind::Chroma) {
            let Source { stride, .. } = self.tile.source;
            let planes = self.tile.source.planes();
            self.lookahead.cfl = CflStats::of(planes, stride, superblock.x, superblock.y);
        }
    }

    /// Searches a superblock of one plane kind and writes what was found.
    fn code_superblock(
        &mut self,
        kind: PlaneKind,
        block: Block,
        observer: &mut Option<&mut dyn PatchObserver>,
    ) {
        (self.tile.costs).refresh_levels(&self.writer.models, kind);
        let mut search = PartitionSearch {
            tile: &self.tile,
            lookahead: &self.lookahead,
            models: &self.writer.models,
            recon: &mut self.recon,
            kind,
        };
        let (_, mut tree) = (search.search(block, f32::INFINITY)).expect("no bound was given");
        let sound = fidelity::within_distortion_bound(&self.tile.source, &self.recon, kind, block);
        self.recon.canvas_mut(kind).erase(block);
        if sound {
            self.write(kind, block, &mut tree, observer);
        } else {
            self.single_pass().write_exactly(kind, block);
        }
    }

    /// Writes a searched partition whose samples are drawn.
    fn write(
        &mut self,
        kind: PlaneKind,
        block: Block,
        tree: &mut PartitionTree,
        observer: &mut Option<&mut dyn PatchObserver>,
    ) {
        let split = match tree {
            PartitionTree::Outside => return,
            PartitionTree::Leaf(_) => Split::None,
            PartitionTree::Halves(split, _) => *split,
            PartitionTree::Quarters(_) => Split::Quad,
        };
        let (canvas, guide) = (self.recon.canvas(kind), self.recon.guide(kind));
        code_split(&mut self.writer, kind, canvas, guide, block, split);
        match tree {
            PartitionTree::Outside => {}
            PartitionTree::Leaf(leaf) => self.write_leaf(kind, leaf, observer),
            PartitionTree::Halves(_, leaves) => leaves
                .iter_mut()
                .for_each(|leaf| self.write_leaf(kind, leaf, observer)),
            PartitionTree::Quarters(trees) => {
                for (quarter, tree) in block.quarters().into_iter().zip(trees.iter_mut()) {
                    self.write(kind, quarter, tree, observer);
                }
            }
        }
    }

    fn write_leaf(
        &mut self,
        kind: PlaneKind,
        candidate: &mut LeafCandidate,
        observer: &mut Option<&mut dyn PatchObserver>,
    ) {
        let site = Site {
            kind,
            component: 0,
            x: candidate.x,
            y: candidate.y,
            shape: candidate.shape,
        };
        if let Some(observer) = observer {
            training::observe(self.patches(), &site, &candidate.leaf, *observer);
        }
        let LeafCandidate { leaf, info, .. } = candidate;
        if leaf.reference.is_none() {
            (self.recon).code_drawn_leaf(&mut self.writer, &site, leaf, *info);
        } else {
            self.recon.code_leaf(&mut self.writer, &site, leaf);
        }
        candidate.reclaim(&self.recon.samples);
    }
}

//! Which superblocks the loop filter brings closer to the original.

use crate::encoder::TileEncoder;
use crate::tile::entropy::mix::PlaneKind;
use crate::tile::loop_filter::FilterFlags;
use crate::tile::syntax::Block;
use crate::tile::{TileConfig, superblocks};

impl TileEncoder<'_> {
    /// Filters the superblocks that come closer to the original by it, or all of them in a single pass.
    pub(crate) fn filter(&mut self, config: &TileConfig, kind: PlaneKind) {
        let mut flags = FilterFlags::new(self.recon.canvas(kind)).everywhere();
        let planes = self.recon.canvas(kind).components.clone();
        let filtered = self.recon.filtered(kind, planes, &flags);
        let source = &self.tile.source;
        let gain = |block: Block| -> f32 {
            let components = &self.recon.canvas(kind).components;
            let pairs = components.iter().zip(&filtered).enumerate();
            pairs
                .map(|(component, (before, after))| {
                    let original = source.component(kind, component);
                    source.squared_error(config, original, before, block)
                        - source.squared_error(config, original, after, block)
                })
                .sum()
        };
        // It nearly always helps; asking costs as much as half of the filtering.
        if !self.tile.speed.single_pass {
            flags.on = superblocks(config).map(|block| gain(block) > 0.0).collect();
        }
        flags.code(&mut self.writer, kind);
        let canvas = self.recon.canvas_mut(kind);
        for (block, _) in superblocks(config).zip(&flags.on).filter(|(_, on)| **on) {
            for (to, from) in canvas.components.iter_mut().zip(&filtered) {
                to.copy_block(from, block.x, block.y, block.size);
            }
        }
    }

    /// Codes the flags of [`Self::filter`] without filtering, where they hang on nothing.
    pub(crate) fn filter_no_recon(&mut self, config: &TileConfig, kind: PlaneKind) {
        if self.tile.speed.single_pass {
            let flags = FilterFlags::new(self.recon.canvas(kind));
            flags.everywhere().code(&mut self.writer, kind);
        } else {
            self.filter(config, kind);
        }
    }
}

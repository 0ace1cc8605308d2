//! Prices of the indices of free atoms.
//!
//! Models learn only when a superblock is written, so that one table serves all trials within it.

use crate::tile::entropy::coder::{ModelPair, quick_costs};
use crate::tile::entropy::mix::Contexts;
use std::cell::OnceCell;
use tessera_dict::PlaneKind;
use tessera_dict::atoms::{AtomSet, CLASSES};
use tessera_dict::layout::Element;
use tessera_patch::shape::SHAPE_COUNT;

/// Prices in squared steps by shape and mode class, once they were asked for.
#[derive(Debug, Default)]
pub(crate) struct AtomCosts([[OnceCell<IndexPrices>; CLASSES]; SHAPE_COUNT]);

/// Prices of all indices of a set in a mode class.
#[derive(Debug)]
pub(crate) struct IndexPrices {
    pub(crate) all: Vec<f32>,
    pub(crate) least: f32,
}

impl AtomCosts {
    /// Forgets prices that models have outgrown.
    pub(crate) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Prices of all indices of a set in a mode class.
    pub(crate) fn indices(
        &self,
        models: &ModelPair,
        set: AtomSet<'_>,
        class: u32,
        lambda: f32,
    ) -> &IndexPrices {
        let prices = &self.0[set.atoms.shape.index()][class as usize];
        prices.get_or_init(|| index_prices(models, set, class, lambda))
    }
}

/// Walks down the tree of indices.
fn index_prices(models: &ModelPair, set: AtomSet<'_>, class: u32, lambda: f32) -> IndexPrices {
    let count = 1 << set.index_bits();
    let mut nodes = vec![0.0; 2 * count];
    for node in 1..count {
        let contexts = Contexts::single(set.cell(class, node as u32));
        let bits = quick_costs(models, PlaneKind::Luma, Element::AtomIndex, &contexts);
        for (bit, bits) in bits.into_iter().enumerate() {
            nodes[2 * node + bit] = nodes[node] + lambda * bits;
        }
    }
    let all = nodes.split_off(count);
    let least = all
        .iter()
        .fold(f32::INFINITY, |least, &price| least.min(price));
    IndexPrices { all, least }
}

//! Prices of levels by the magnitude expected of them alone.
//!
//! Models learn only when a superblock is written, so that one table serves all trials within it.

use crate::encoder::rdoq::choose::Scratch;
use crate::encoder::rdoq::last_bits;
use crate::tile::entropy::coder::{ModelPair, code_lengths, quick_costs};
use crate::tile::syntax::last_class;
use crate::tile::syntax::patch_context::{
    EXPECTED_CLASSES, PatchContext, UNARY_LIMIT, last_position, place_bits,
};
use std::cell::{OnceCell, RefCell};
use tessera_dict::PlaneKind;
use tessera_dict::layout::Element;
use tessera_patch::shape::{MAX_CODED, SHAPE_COUNT};

/// Magnitudes with a price of their own, and the escape to all larger ones.
pub(crate) const MAGNITUDES: usize = UNARY_LIMIT as usize + 1;
/// Cells of significance of one size group.
const GROUP_CELLS: usize = 4 * EXPECTED_CLASSES;
/// Classes of activity that last positions tell apart.
const ACTIVITIES: usize = 8;

/// Prices in squared steps, by plane kind.
#[derive(Debug, Default)]
pub(crate) struct LevelCosts {
    kinds: [KindPrices; 2],
    lambda: f32,
    /// Kept here so that not every patch needs fresh memory.
    pub(crate) scratch: RefCell<Scratch>,
}

#[derive(Debug, Default)]
struct KindPrices {
    /// Of significance, by size group.
    significance: Vec<SignificancePrices>,
    /// Of magnitudes from one with their sign, by the class of the expected one; last that of the escape.
    magnitudes: Vec<[f32; MAGNITUDES]>,
    /// Of last positions by shape and activity, once they were asked for.
    last: [[OnceCell<LastPositions>; ACTIVITIES]; SHAPE_COUNT],
}

/// Prices of zeros and of anything else in patches of one size group, by the rest of the first cell of significance.
#[derive(Clone, Debug)]
pub(crate) struct SignificancePrices {
    zeros: [f32; GROUP_CELLS],
    ones: [f32; GROUP_CELLS],
}

impl SignificancePrices {
    fn new(cells: &[[f32; 2]; GROUP_CELLS]) -> Self {
        Self {
            zeros: cells.map(|[zero, _]| zero),
            ones: cells.map(|[_, one]| one),
        }
    }

    /// Of a zero at `position` where a magnitude of class `expected` is expected.
    #[inline(always)]
    pub(crate) fn zero(&self, position: usize, expected: u32) -> f32 {
        self.zeros[(place_bits(position) | expected) as usize % GROUP_CELLS]
    }

    /// Of anything else there.
    #[inline(always)]
    pub(crate) fn one(&self, position: usize, expected: u32) -> f32 {
        self.ones[(place_bits(position) | expected) as usize % GROUP_CELLS]
    }

    /// Of zeros at the positions from `first` on.
    #[inline(always)]
    pub(crate) fn zeros<const N: usize>(&self, first: usize, expected: &[u32; N]) -> [f32; N] {
        let mut prices = [0.0; N];
        for (lane, price) in prices.iter_mut().enumerate() {
            *price = self.zero(first + lane, expected[lane]);
        }
        prices
    }
}

/// Classes of last positions.
const LAST_CLASSES: usize = 21;

/// Prices of last positions by class, and by the first bit of those that follow.
#[derive(Debug)]
pub(crate) struct LastPositions([[f32; 2]; LAST_CLASSES]);

impl LastPositions {
    fn new(models: &ModelPair, patch: &PatchContext<'_>, lambda: f32) -> Self {
        let mut prices = [[0.0; 2]; LAST_CLASSES];
        let mut bits = [[0.0; 2]; 64];
        for (node, bits) in (1..).zip(&mut bits[1..]) {
            let contexts = last_position(patch, node);
            *bits = quick_costs(models, patch.kind, Element::Last, &contexts);
        }
        let mut last = 0;
        while last < MAX_CODED {
            let (class, extra, rest) = last_class(last);
            let first = if extra > 0 {
                rest >> (extra - 1) & 1
            } else {
                0
            };
            let price = last_bits(last, |node, bit| bits[node as usize][bit as usize]);
            prices[class as usize][first as usize] = lambda * price;
            last += if extra > 1 { 1 << (extra - 1) } else { 1 };
        }
        Self(prices)
    }

    #[inline(always)]
    pub(crate) fn of(&self, last: usize) -> f32 {
        let (class, extra, rest) = last_class(last);
        let first = if extra > 0 {
            rest >> (extra - 1) & 1
        } else {
            0
        };
        self.0[class as usize][first as usize]
    }
}

impl LevelCosts {
    /// Takes the prices of a plane kind from models.
    pub(crate) fn refresh(&mut self, models: &ModelPair, kind: PlaneKind, lambda: f32) {
        self.lambda = lambda;
        let models = &models.0[kind as usize];
        let prices = |one: u32| code_lengths(one).map(|bits| lambda * bits);
        let of = &mut self.kinds[kind as usize];
        let cells: Vec<[f32; 2]> = models
            .first_cells(Element::Significance, 8 * GROUP_CELLS)
            .map(prices)
            .collect();
        let groups = cells.as_chunks().0.iter();
        of.significance.clear();
        (of.significance).extend(groups.map(SignificancePrices::new));
        let steps: Vec<[f32; 2]> = models
            .first_cells(Element::Magnitude, EXPECTED_CLASSES * MAGNITUDES)
            .map(prices)
            .collect();
        let steps = steps.as_chunks().0.iter();
        of.magnitudes.clear();
        (of.magnitudes).extend(steps.map(|steps| add_up(steps, lambda)));
        of.last = Default::default();
    }

    /// Prices of significance in a patch.
    #[inline(always)]
    pub(crate) fn significance(&self, patch: &PatchContext<'_>) -> &SignificancePrices {
        &self.kinds[patch.kind as usize].significance[patch.size_group as usize]
    }

    /// What magnitudes from one cost beside their significance, by the class of the expected one; last the escape to
    /// larger ones.
    #[inline(always)]
    pub(crate) fn magnitudes(&self, kind: PlaneKind) -> &[[f32; MAGNITUDES]] {
        &self.kinds[kind as usize].magnitudes
    }

    /// The price of a bit.
    #[inline(always)]
    pub(crate) fn lambda(&self) -> f32 {
        self.lambda
    }

    /// Prices of last positions in a patch.
    pub(crate) fn last_positions(
        &self,
        models: &ModelPair,
        patch: &PatchContext<'_>,
    ) -> &LastPositions {
        let shapes = &self.kinds[patch.kind as usize].last;
        let prices = &shapes[patch.shape as usize][patch.activity_class as usize / 2];
        prices.get_or_init(|| LastPositions::new(models, patch, self.lambda))
    }
}

/// Prices of magnitudes from those of stopping and of going on at each of them.
fn add_up(steps: &[[f32; 2]; MAGNITUDES], lambda: f32) -> [f32; MAGNITUDES] {
    let mut longer = 0.0;
    std::array::from_fn(|at| {
        if at == MAGNITUDES - 1 {
            return longer;
        }
        let [stop, go_on] = steps[at];
        let price = longer + stop + lambda;
        longer += go_on;
        price
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::PlaneLayout;
    use tessera_dict::Dictionary;
    use tessera_patch::Shape;

    #[test]
    fn magnitudes_cost_what_their_decisions_cost() {
        const LAMBDA: f32 = 0.1;
        let models = ModelPair::new(&Dictionary::untrained(), PlaneLayout::Gray.kinds());
        let mut prices = LevelCosts::default();
        prices.refresh(&models, PlaneKind::Luma, LAMBDA);
        let expected = 9;
        let magnitudes = &prices.magnitudes(PlaneKind::Luma)[expected];
        let mut longer = 0.0;
        for magnitude in 1..=UNARY_LIMIT {
            let cell = (magnitude - 1) | (expected as u32) << 4;
            let one = models.0[0].cell(Element::Magnitude, 0, cell);
            let price = magnitudes[magnitude as usize - 1] / LAMBDA;
            let [stop, go_on] = code_lengths(one);
            let bits = longer + stop + 1.0;
            assert!((price - bits).abs() < 1e-3, "{magnitude}: {price} {bits}");
            longer += go_on;
        }
        assert!((magnitudes[MAGNITUDES - 1] / LAMBDA - longer).abs() < 1e-3);
    }

    #[test]
    fn last_positions_cost_what_their_decisions_cost() {
        const LAMBDA: f32 = 0.1;
        let dictionary = Dictionary::untrained();
        let models = ModelPair::new(&dictionary, PlaneLayout::Gray.kinds());
        let mut prices = LevelCosts::default();
        prices.refresh(&models, PlaneKind::Luma, LAMBDA);
        let patch = PatchContext::plain(dictionary.luma(), Shape::new(64, 64).unwrap());
        for last in 0..MAX_CODED {
            let decision = |node, bit: u32| {
                let contexts = last_position(&patch, node);
                quick_costs(&models, PlaneKind::Luma, Element::Last, &contexts)[bit as usize]
            };
            let bits = last_bits(last, decision);
            let price = prices.last_positions(&models, &patch).of(last) / LAMBDA;
            assert!((price - bits).abs() < 1e-3, "{last}: {price} {bits}");
        }
    }
}

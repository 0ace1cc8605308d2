//! Prices of levels by the magnitude expected of them alone.
//!
//! Mixing all contexts tells the bits of a level better, but ranks the ways of coding a patch no better: single cells
//! give the same files at a fraction of the work. Models learn only when a superblock is written, so that one table
//! serves all trials within it.

use crate::tile::coder::{ModelPair, code_lengths};
use crate::tile::patch_context::UNARY_LIMIT;
use tessera_dict::PlaneKind;
use tessera_dict::layout::Element;

/// Magnitudes with a price of their own, and the escape to all larger ones.
const MAGNITUDES: usize = UNARY_LIMIT as usize + 1;

/// Prices in squared steps, by plane kind.
#[derive(Debug, Default)]
pub(crate) struct LevelPrices {
    /// Of a zero and of anything else, by the first cell of significance.
    significance: [Vec<[f32; 2]>; 2],
    /// Of magnitudes from one with their sign, by the class of the expected one; last that of the escape.
    magnitudes: [Vec<[f32; MAGNITUDES]>; 2],
    lambda: f32,
}

impl LevelPrices {
    /// Takes the prices of a plane kind from models.
    pub(crate) fn refresh(&mut self, models: &ModelPair, kind: PlaneKind, lambda: f32) {
        self.lambda = lambda;
        let models = &models.0[kind as usize];
        let prices = |one: u32| code_lengths(one).map(|bits| lambda * bits);
        let significance = &mut self.significance[kind as usize];
        significance.clear();
        significance.extend(models.first_cells(Element::Significance).map(prices));
        let magnitudes = &mut self.magnitudes[kind as usize];
        magnitudes.clear();
        let steps: Vec<[f32; 2]> = models.first_cells(Element::Magnitude).map(prices).collect();
        magnitudes.extend(
            steps
                .as_chunks()
                .0
                .iter()
                .map(|steps| add_up(steps, lambda)),
        );
    }

    #[inline(always)]
    pub(crate) fn significance(&self, kind: PlaneKind, cell: u32) -> [f32; 2] {
        self.significance[kind as usize][cell as usize]
    }

    /// What a level of this magnitude costs beside its significance.
    #[inline(always)]
    pub(crate) fn magnitude(&self, kind: PlaneKind, expected: u32, magnitude: u32) -> f32 {
        let prices = &self.magnitudes[kind as usize][expected as usize];
        if magnitude <= UNARY_LIMIT {
            return prices[magnitude as usize - 1];
        }
        let length = 32 - (magnitude - UNARY_LIMIT).leading_zeros();
        prices[MAGNITUDES - 1] + self.lambda * (2 * length) as f32
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

    #[test]
    fn magnitudes_cost_what_their_decisions_cost() {
        const LAMBDA: f32 = 0.1;
        let models = ModelPair::new(&Dictionary::untrained(), PlaneLayout::Gray);
        let mut prices = LevelPrices::default();
        prices.refresh(&models, PlaneKind::Luma, LAMBDA);
        let expected = 9;
        let mut longer = 0.0;
        for magnitude in 1..=UNARY_LIMIT {
            let cell = (magnitude - 1) | expected << 4;
            let one = models.0[0].cell(Element::Magnitude, 0, cell);
            let price = prices.magnitude(PlaneKind::Luma, expected, magnitude) / LAMBDA;
            let [stop, go_on] = code_lengths(one);
            let bits = longer + stop + 1.0;
            assert!((price - bits).abs() < 1e-3, "{magnitude}: {price} {bits}");
            longer += go_on;
        }
        // Two bits of length and sign beyond the escape.
        let price = prices.magnitude(PlaneKind::Luma, expected, UNARY_LIMIT + 1) / LAMBDA;
        assert!((price - longer - 2.0).abs() < 1e-3);
    }
}

//! Levels without a search: a coefficient of the cosine basis is kept where the priors say that it pays.

use crate::encoder::cost::estimate::CostEstimator;
use crate::encoder::forward::ForwardTransform;
use crate::simd::kernel;
use crate::tile::transform::BasisOrientation;
use std::cell::OnceCell;
use tessera_dict::{Basis, BasisSet, PlaneKind};
use tessera_patch::Shape;

/// Bits a patch takes beside its levels; they are cheap where neighbours have some as well.
const CODED_BITS: f32 = 1.0;
/// What is added to a magnitude before it is cut off.
const ROUNDING: f32 = 0.45;

/// Which levels are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rounding {
    /// Those that pay.
    RateAware,
    /// All.
    Nearest,
}

/// Where frequencies are coded, by plane kind, group and whether the patch is transposed.
#[derive(Debug, Default)]
pub(crate) struct DeadzoneTables {
    places: [Vec<[OnceCell<DeadzoneTable>; 2]>; 2],
}

impl DeadzoneTables {
    pub(crate) fn new() -> Self {
        let unmade = |kind| BasisSet::keys(kind).map(|_| Default::default()).collect();
        Self {
            places: [PlaneKind::Luma, PlaneKind::Chroma].map(unmade),
        }
    }

    /// Places of the frequencies of a patch, as the fast transform leaves them.
    pub(crate) fn get(
        &self,
        bases: &BasisSet,
        (shape, orientation): (Shape, BasisOrientation),
        (forward, prices): (&ForwardTransform, &CostEstimator),
    ) -> &DeadzoneTable {
        let group = bases.group_index(orientation.apply(shape), orientation.class);
        let places =
            &self.places[bases.kind() as usize][group][usize::from(orientation.transposed)];
        places.get_or_init(|| {
            let prices = prices.places(bases.kind(), group, 0);
            let basis = &bases.groups()[group][0];
            DeadzoneTable::new(
                forward,
                (bases.kind(), shape),
                orientation.transposed,
                basis,
                prices,
            )
        })
    }
}

/// Places of the frequencies of a patch, as they lie in the result of the fast transform.
#[derive(Debug)]
pub(crate) struct DeadzoneTable {
    /// What makes them orthonormal.
    norms: Vec<f32>,
    /// What a level of one costs there.
    prices: Vec<f32>,
    /// Their positions in coding order.
    positions: Vec<u16>,
}

impl DeadzoneTable {
    fn new(
        forward: &ForwardTransform<'_>,
        (kind, shape): (PlaneKind, Shape),
        transposed: bool,
        basis: &Basis,
        prices: &[f32],
    ) -> Self {
        let area = shape.area();
        let mut places = Self {
            norms: vec![0.0; area],
            prices: vec![f32::INFINITY; area],
            positions: vec![0; area],
        };
        let scan = forward.scan(kind, shape, transposed);
        for (position, &price) in prices[..shape.coded()].iter().enumerate() {
            let scanned = basis
                .order
                .get(position)
                .map_or(position, |&at| at as usize);
            let at = usize::from(scan[scanned].at);
            places.norms[at] = scan[scanned].norm;
            places.prices[at] = price;
            places.positions[at] = position as u16;
        }
        places
    }

    /// The levels (coding order) of frequencies that pay for themselves at this price of a bit.
    pub(crate) fn rate_aware_levels(&self, frequencies: &[f32], lambda: f32) -> Vec<i32> {
        round(frequencies, self, lambda * CODED_BITS)
    }

    /// The nearest levels (coding order) of frequencies, whatever they cost.
    pub(crate) fn nearest_levels(&self, frequencies: &[f32]) -> Vec<i32> {
        let mut levels = vec![0; frequencies.len()];
        for (at, frequency) in frequencies.iter().enumerate() {
            let level = (frequency * self.norms[at]).round() as i32;
            // Of places that are not coded the norm is zero, and so is the level.
            if level != 0 {
                levels[usize::from(self.positions[at])] = level;
            }
        }
        let coded = levels.iter().rposition(|&level| level != 0);
        levels.truncate(coded.map_or(0, |last| last + 1));
        levels
    }
}

kernel! {
    /// The levels that cost less than their absence; none if together they save less than `least`.
    fn round(frequencies: &[f32], table: &DeadzoneTable, least: f32) -> Vec<i32> {
        let mut levels = Vec::new();
        let mut saved = [0f32; 8];
        let chunks = frequencies.as_chunks::<8>().0.iter();
        let norms = table.norms.as_chunks::<8>().0;
        let prices = table.prices.as_chunks::<8>().0;
        let positions = table.positions.as_chunks::<8>().0;
        for (((chunk, norm), price), positions) in chunks.zip(norms).zip(prices).zip(positions) {
            let mut rounded = [0i32; 8];
            for i in 0..8 {
                let value = chunk[i] * norm[i];
                let saving = (value * value - price[i]).max(0.0);
                let magnitude = (value.abs() + ROUNDING).max(1.0);
                let kept = if saving > 0.0 { magnitude } else { 0.0 };
                saved[i] += saving;
                rounded[i] = kept.copysign(value) as i32;
            }
            if rounded != [0; 8] {
                place(&mut levels, &rounded, positions);
            }
        }
        if saved.iter().sum::<f32>() < least {
            levels.clear();
        }
        levels
    }
}

/// Puts those of eight levels that are not zero at their positions.
#[inline(always)]
fn place(levels: &mut Vec<i32>, rounded: &[i32; 8], positions: &[u16; 8]) {
    for (&level, &position) in rounded
        .iter()
        .zip(positions)
        .filter(|(level, _)| **level != 0)
    {
        let position = usize::from(position);
        if position >= levels.len() {
            levels.resize(position + 1, 0);
        }
        levels[position] = level;
    }
}

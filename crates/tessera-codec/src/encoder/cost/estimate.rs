//! Rough prices of coefficients, for comparing many ways of coding a patch before a few are coded in full.
//!
//! A coefficient is either dropped, or pays for being significant at its place in its basis, for its sign and for
//! the logarithm of its size. How likely it is to be significant there is what the dictionary expects in usual
//! surroundings.

use crate::encoder::forward::rotation::RotationSet;
use crate::encoder::forward::{ForwardTransform, Peaks};
use crate::simd::kernel;
use crate::tile::entropy::coder::{ModelPair, code_length};
use crate::tile::syntax::patch_context::usual_significance;
use tessera_dict::basis::MAX_BASES;
use tessera_dict::layout::Element;
use tessera_dict::{Basis, BasisSet, Dictionary, PlaneKind};
use tessera_patch::Shape;

/// Distortion of a coded coefficient, in squared steps.
const CODED_DISTORTION: f32 = 0.08;
/// Bits of a coded coefficient beside its significance: the sign, and that its magnitude stops at one.
const CODED_BITS: f32 = 2.25;
/// Bits for every doubling of a magnitude.
const DOUBLING_BITS: f32 = 2.0;

/// Prices of all bases by plane kind, group, choice and place, in squared steps.
#[derive(Debug)]
pub(crate) struct CostEstimator {
    significance: [Vec<Vec<Vec<f32>>>; 2],
    /// Those of the cosine bases as frequencies lie in the result of the fast transform, for the patch as it is
    /// and transposed.
    cosine: [Vec<[FrequencyPrices; 2]>; 2],
    /// Those of the rotated frequencies of the cosine bases in scan order.
    scanned: [Vec<Vec<f32>>; 2],
    slope: f32,
}

impl CostEstimator {
    pub(crate) fn new(
        dictionary: &Dictionary,
        models: &ModelPair,
        forward: &ForwardTransform<'_>,
        lambda: f32,
    ) -> Self {
        let of = |set: &BasisSet| {
            let groups = BasisSet::keys(set.kind());
            let price = |(shape, class): (Shape, usize)| {
                let group = set.group(shape, class).iter();
                group
                    .map(|basis| places(set.kind(), shape, basis, models, lambda))
                    .collect()
            };
            groups.map(price).collect()
        };
        let chroma = if models.0[PlaneKind::Chroma as usize].is_absent() {
            Vec::new()
        } else {
            of(dictionary.chroma())
        };
        let significance: [Vec<Vec<Vec<f32>>>; 2] = [of(dictionary.luma()), chroma];
        let cosine = [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
            let set = [dictionary.luma(), dictionary.chroma()][kind as usize];
            let groups = BasisSet::keys(kind).zip(&significance[kind as usize]);
            let prices = |((shape, class), prices): (_, &Vec<Vec<f32>>)| {
                lay_out(
                    forward,
                    kind,
                    shape,
                    &prices[0],
                    &set.group(shape, class)[0].order,
                )
            };
            groups.map(prices).collect()
        });
        let scanned = [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
            let set = [dictionary.luma(), dictionary.chroma()][kind as usize];
            let groups = set.groups().iter().zip(&significance[kind as usize]);
            let scan = |(group, prices): (&Vec<Basis>, &Vec<Vec<f32>>)| {
                let mut scanned = vec![0.0; group[0].order.len()];
                for (&at, &price) in group[0].order.iter().zip(&prices[0]) {
                    scanned[usize::from(at)] = price;
                }
                scanned
            };
            groups.map(scan).collect()
        });
        Self {
            significance,
            cosine,
            scanned,
            slope: DOUBLING_BITS * lambda,
        }
    }

    /// Rough cost of what the fast transform left, coded in the cosine basis of a group.
    pub(crate) fn estimate_frequencies(
        &self,
        kind: PlaneKind,
        group: usize,
        transposed: bool,
        frequencies: &[f32],
    ) -> f32 {
        let prices = &self.cosine[kind as usize][group][usize::from(transposed)];
        estimate_frequencies(frequencies, prices, self.slope)
    }

    /// What a coefficient of magnitude one costs at every place of a basis.
    pub(crate) fn places(&self, kind: PlaneKind, group: usize, choice: usize) -> &[f32] {
        &self.significance[kind as usize][group][choice]
    }

    /// Rough costs of the rotated frequencies of a spectrum in all bases of a group; infinite where there are fewer.
    pub(crate) fn estimate_all(
        &self,
        kind: PlaneKind,
        group: usize,
        rotations: &RotationSet,
        spectrum: &[f32],
        peaks: &Peaks,
    ) -> [f32; MAX_BASES] {
        let places = &self.significance[kind as usize][group];
        let mut prices = rotations.prices(peaks, places, self.slope);
        prices.iter_mut().for_each(|price| *price += peaks.rest());
        if prices[0].is_infinite() {
            prices[0] = estimate(spectrum, &self.scanned[kind as usize][group], self.slope);
        }
        prices
    }

    /// Rough cost of coefficients (in steps) in the first basis, from place `start` of its coding order on.
    pub(crate) fn estimate(
        &self,
        kind: PlaneKind,
        group: usize,
        start: usize,
        coefficients: &[f32],
    ) -> f32 {
        estimate(
            coefficients,
            &self.significance[kind as usize][group][0][start..],
            self.slope,
        )
    }
}

#[cfg(test)]
impl CostEstimator {
    /// Forgets which places are coded, for tests of what guards against wrong estimates.
    pub(crate) fn pretend_all_is_coded(&mut self) {
        let cosine = self.cosine.iter_mut().flatten().flatten();
        let frequencies = cosine.map(|prices| &mut prices.significance);
        let places = self.significance.iter_mut().flatten().flatten();
        for price in frequencies.chain(places).flatten() {
            *price = price.min(CODED_DISTORTION);
        }
    }
}

/// The prices of frequencies, and what makes them orthonormal.
#[derive(Debug)]
struct FrequencyPrices {
    significance: Vec<f32>,
    norms: Vec<f32>,
}

/// Prices of places as the fast transform leaves their frequencies: of the shape itself, and of the transposed patch.
/// `order` leads from the first places to the scan, the others are those of the scan.
fn lay_out(
    forward: &ForwardTransform<'_>,
    kind: PlaneKind,
    shape: Shape,
    prices: &[f32],
    order: &[u16],
) -> [FrequencyPrices; 2] {
    [(shape, false), (shape.transposed(), true)].map(|(shape, transposed)| {
        let (mut significance, mut norms) = (vec![0.0; shape.area()], vec![0.0; shape.area()]);
        let scan = forward.scan(kind, shape, transposed);
        for (place, &price) in prices.iter().enumerate() {
            let scanned = order.get(place).map_or(place, |&at| usize::from(at));
            let step = &scan[scanned];
            significance[usize::from(step.at)] = price;
            norms[usize::from(step.at)] = step.norm;
        }
        FrequencyPrices {
            significance,
            norms,
        }
    })
}

/// The price of a coefficient of magnitude one at every place of a basis; none can be had at places beyond those that
/// are coded, so that what lies there counts as lost.
fn places(
    kind: PlaneKind,
    shape: Shape,
    basis: &Basis,
    models: &ModelPair,
    lambda: f32,
) -> Vec<f32> {
    let price = |place: usize| {
        if place >= shape.coded() {
            return f32::INFINITY;
        }
        let cell = usual_significance(shape, basis, place);
        let one = models.0[kind as usize].cell(Element::Significance, 0, cell);
        CODED_DISTORTION + lambda * (CODED_BITS + code_length(one))
    };
    (0..shape.area()).map(price).collect()
}

/// Rough cost of one coefficient.
#[inline(always)]
pub(crate) fn rough_cost(coefficient: f32, significance: f32, slope: f32) -> f32 {
    let log = rough_log2(coefficient.abs().max(1.0));
    (coefficient * coefficient).min(significance + slope * log)
}

/// log2 of a positive float, linear between powers of two, from its bits: the same on every machine.
#[inline(always)]
pub(crate) fn rough_log2(value: f32) -> f32 {
    value.to_bits() as i32 as f32 * (1.0 / 8_388_608.0) - 127.0
}

/// Rough cost of coefficients at places of these prices.
#[inline(always)]
pub(crate) fn rough_sum(coefficients: &[f32], significance: &[f32], slope: f32) -> f32 {
    let mut lanes = [0f32; 8];
    let prices = significance.as_chunks::<8>().0;
    for (chunk, price) in coefficients.as_chunks::<8>().0.iter().zip(prices) {
        for i in 0..8 {
            lanes[i] += rough_cost(chunk[i], price[i], slope);
        }
    }
    lanes.iter().sum()
}

kernel! {
    /// Rough cost of coefficients at places of these prices.
    fn estimate(coefficients: &[f32], significance: &[f32], slope: f32) -> f32 {
        rough_sum(coefficients, significance, slope)
    }
}

kernel! {
    /// Rough cost of frequencies as the fast transform leaves them.
    fn estimate_frequencies(frequencies: &[f32], prices: &FrequencyPrices, slope: f32) -> f32 {
        let mut lanes = [0f32; 8];
        let chunks = frequencies.as_chunks::<8>().0;
        let norms = prices.norms.as_chunks::<8>().0;
        let prices = prices.significance.as_chunks::<8>().0;
        for ((chunk, price), norm) in chunks.iter().zip(prices).zip(norms) {
            for i in 0..8 {
                lanes[i] += rough_cost(chunk[i] * norm[i], price[i], slope);
            }
        }
        lanes.iter().sum()
    }
}

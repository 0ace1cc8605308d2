//! The learned bases of a group side by side: one pass over the peaks of a spectrum prices all of them.

use super::analysis::Peaks;
use super::prices::rough_sum;
use crate::simd::vectorised;
use pulp::NullaryFnOnce;
use tessera_dict::Basis;
use tessera_dict::basis::{MAX_BASES, Rotation};

/// Learned bases of a group.
pub(super) const MAX_LEARNED: usize = MAX_BASES - 1;

/// The rotations of a group.
#[derive(Debug)]
pub(super) struct Union {
    learned: usize,
    /// Frequencies each of them rotates.
    m: usize,
    /// What each frequency adds to the coefficients of the first basis, then of the next.
    rows: Vec<f32>,
}

impl Union {
    /// The rotations behind the cosine basis, unless the group is made otherwise.
    pub(super) fn new(group: &[Basis]) -> Option<Self> {
        let (cosine, learned) = group.split_first()?;
        let rotations = learned.iter().map(|basis| basis.rotation.as_ref());
        let rotations: Vec<&Rotation> = rotations.collect::<Option<_>>()?;
        if cosine.rotation.is_some() {
            return None;
        }
        let m = cosine.order.len();
        let stride = m * learned.len();
        let mut rows = vec![0.0; m * stride];
        for (start, rotation) in (0..stride).step_by(m).zip(rotations) {
            for (at, atom) in (start..).zip(rotation.to_rows().chunks_exact(m)) {
                for (row, value) in rows.chunks_exact_mut(stride).zip(atom) {
                    row[at] = *value;
                }
            }
        }
        Some(Self {
            learned: learned.len(),
            m,
            rows,
        })
    }

    /// Rough costs of the peaks in each basis, by what coefficients of magnitude one cost at their places.
    pub(super) fn prices(
        &self,
        peaks: &Peaks,
        significance: &[Vec<f32>],
        slope: f32,
    ) -> [f32; MAX_LEARNED] {
        vectorised(PriceAll {
            union: self,
            peaks,
            significance,
            slope,
        })
    }

    /// The coefficients of the first, second or third basis from a spectrum.
    pub(super) fn rotate(&self, basis: usize, spectrum: &[f32], out: &mut [f32]) {
        vectorised(Rotate {
            union: self,
            basis,
            spectrum: &spectrum[..self.m],
            out: &mut out[..self.m],
        });
    }

    /// `N` neighbouring coefficients from place `start` of all bases on, from some frequencies.
    #[inline(always)]
    fn coefficients<const N: usize>(
        &self,
        start: usize,
        frequencies: impl Iterator<Item = (usize, f32)>,
    ) -> [f32; N] {
        let stride = self.m * self.learned;
        let mut sums = [0f32; N];
        for (at, value) in frequencies {
            let row: &[f32; N] = self.rows[at * stride + start..]
                .first_chunk()
                .expect("blocks lie in their row");
            for i in 0..N {
                sums[i] = value.mul_add(row[i], sums[i]);
            }
        }
        sums
    }
}

struct PriceAll<'a> {
    union: &'a Union,
    peaks: &'a Peaks,
    significance: &'a [Vec<f32>],
    slope: f32,
}

impl NullaryFnOnce for PriceAll<'_> {
    type Output = [f32; MAX_LEARNED];

    #[inline(always)]
    fn call(self) -> Self::Output {
        // Short bases together, so that there are enough sums to add to at a time.
        match (self.union.m, self.union.learned) {
            (16, 3) => self.in_blocks::<48>(),
            (32, 3) => self.in_blocks::<96>(),
            (16, 2) | (32, _) => self.in_blocks::<32>(),
            (16, _) => self.in_blocks::<16>(),
            _ => self.in_blocks::<64>(),
        }
    }
}

impl PriceAll<'_> {
    #[inline(always)]
    fn in_blocks<const N: usize>(&self) -> [f32; MAX_LEARNED] {
        let Union { learned, m, .. } = *self.union;
        let mut prices = [0.0; MAX_LEARNED];
        for start in (0..m * learned).step_by(N) {
            let sums: [f32; N] = self.union.coefficients(start, self.peaks.iter());
            let width = N.min(m);
            for (part, sums) in sums.chunks_exact(width).enumerate() {
                let at = start + part * width;
                let significance = &self.significance[at / m][at % m..];
                prices[at / m] += rough_sum(sums, significance, self.slope);
            }
        }
        prices
    }
}

struct Rotate<'a> {
    union: &'a Union,
    basis: usize,
    spectrum: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Rotate<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        match self.union.m {
            16 => self.in_blocks::<16>(),
            32 => self.in_blocks::<32>(),
            _ => self.in_blocks::<64>(),
        }
    }
}

impl Rotate<'_> {
    #[inline(always)]
    fn in_blocks<const N: usize>(self) {
        let first = self.basis * self.union.m;
        for (block, out) in self.out.as_chunks_mut().0.iter_mut().enumerate() {
            let frequencies = self.spectrum.iter().copied().enumerate();
            *out = self.union.coefficients::<N>(first + block * N, frequencies);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::encoder::analysis::Analysis;
    use crate::tile::encoder::prices::rough_cost;
    use tessera_dict::{BasisSet, Dictionary, PlaneKind};

    #[test]
    fn prices_and_rotations_are_those_of_each_basis_alone() {
        let dictionary = Dictionary::builtin();
        let analysis = Analysis::new(dictionary, true);
        for (kind, bases) in [
            (PlaneKind::Luma, &dictionary.luma),
            (PlaneKind::Chroma, &dictionary.chroma),
        ] {
            for (group, (shape, _)) in bases.groups().iter().zip(BasisSet::keys(kind)) {
                let union = Union::new(group).expect("a cosine basis, then learned ones");
                let m = shape.rotated();
                let sparse =
                    |i: usize| ((i * 31 % 17) as f32 - 8.0) * f32::from(i.is_multiple_of(3));
                let spectrum: Vec<f32> = (0..m).map(sparse).collect();
                let peaks = analysis.peaks(&spectrum, m);
                let place = |i: usize| 0.3 + i as f32 / 64.0;
                let significance: Vec<Vec<f32>> =
                    vec![(0..m).map(place).collect(); group.len() - 1];
                let prices = union.prices(&peaks, &significance, 0.2);
                for (at, basis) in group[1..].iter().enumerate() {
                    let rotation = basis.rotation.as_ref().expect("it is learned");
                    let rows = rotation.to_rows();
                    let dot = |atom: &[f32]| -> f32 {
                        atom.iter().zip(&spectrum).map(|(a, b)| a * b).sum()
                    };
                    let wanted: Vec<f32> = rows.chunks_exact(m).map(dot).collect();
                    let mut found = vec![0.0; m];
                    union.rotate(at, &spectrum, &mut found);
                    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
                    assert!(found.iter().zip(&wanted).all(near));
                    let costs = wanted.iter().zip(&significance[at]);
                    let cost: f32 = costs.map(|(&c, &price)| rough_cost(c, price, 0.2)).sum();
                    assert!(
                        (prices[at] - cost).abs() < 1e-3 * cost,
                        "{} {cost}",
                        prices[at]
                    );
                }
            }
        }
    }
}

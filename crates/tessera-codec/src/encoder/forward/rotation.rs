//! The learned bases of a group side by side: one pass over the peaks of a spectrum prices all of them.

use crate::encoder::cost::estimate::rough_sum;
use crate::encoder::forward::{Peaks, add_scaled};
use crate::simd::kernel;
use std::sync::OnceLock;
use tessera_dict::basis::MAX_BASES;
use tessera_dict::{Basis, BasisSet, Dictionary};
use tessera_patch::shape::MAX_ROTATED;

/// The learned bases of a dictionary by plane kind and group, made when first asked for: a small picture needs few of
/// them.
#[derive(Debug)]
pub(crate) struct RotationCache([Vec<OnceLock<RotationSet>>; 2]);

impl RotationCache {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let groups = [dictionary.luma(), dictionary.chroma()].map(BasisSet::groups);
        Self(groups.map(|groups| groups.iter().map(|_| OnceLock::new()).collect()))
    }

    /// The bases of a group side by side; `bases` are those of the dictionary this was made for.
    pub(crate) fn get(&self, bases: &BasisSet, group: usize) -> &RotationSet {
        let rotations = &self.0[bases.kind() as usize][group];
        rotations.get_or_init(|| RotationSet::new(&bases.groups()[group]))
    }
}

/// The bases of a group but for the cosine basis it usually starts with.
#[derive(Debug)]
pub(crate) struct RotationSet {
    /// Index in the group of the first of them.
    first: usize,
    learned: usize,
    /// Frequencies each of them rotates.
    m: usize,
    /// What each frequency adds to the coefficients of the first basis, then of the next.
    rows: Vec<f32>,
}

impl RotationSet {
    pub(crate) fn new(group: &[Basis]) -> Self {
        let first = usize::from(group[0].rotation.is_none());
        let learned = &group[first..];
        let m = group[0].order.len();
        let stride = m * learned.len();
        let mut rows = vec![0.0; m * stride];
        for (start, basis) in (0..stride).step_by(m).zip(learned) {
            for (at, atom) in (start..).zip(atoms(basis).chunks_exact(m)) {
                for (row, value) in rows.chunks_exact_mut(stride).zip(atom) {
                    row[at] = *value;
                }
            }
        }
        Self {
            first,
            learned: learned.len(),
            m,
            rows,
        }
    }

    /// Rough costs of the peaks in each basis of the group, by what coefficients of magnitude one cost at the places of
    /// each; those of bases that are not here stay infinite.
    pub(crate) fn prices(
        &self,
        peaks: &Peaks,
        significance: &[Vec<f32>],
        slope: f32,
    ) -> [f32; MAX_BASES] {
        let priced = price_all(self, peaks, &significance[self.first..], slope);
        let mut prices = [f32::INFINITY; MAX_BASES];
        prices[self.first..][..self.learned].copy_from_slice(&priced[..self.learned]);
        prices
    }

    /// The coefficients of a basis of the group from a spectrum.
    pub(crate) fn rotate(&self, choice: usize, spectrum: &[f32], out: &mut [f32]) {
        rotate(self, choice - self.first, spectrum, out);
    }

    /// Adds what atoms that are not quite orthonormal missed of a spectrum to its coefficients.
    pub(crate) fn refine(&self, choice: usize, spectrum: &[f32], coefficients: &mut [f32]) {
        let mut buffers = [[0.0; MAX_ROTATED]; 2];
        let [missed, added] = buffers.each_mut().map(|buffer| &mut buffer[..self.m]);
        self.synthesise(choice, coefficients, missed);
        for (missed, value) in missed.iter_mut().zip(spectrum) {
            *missed = value - *missed;
        }
        self.rotate(choice, missed, added);
        for (coefficient, added) in coefficients.iter_mut().zip(added) {
            *coefficient += *added;
        }
    }

    /// The spectrum that coefficients of a basis of the group stand for.
    fn synthesise(&self, choice: usize, coefficients: &[f32], out: &mut [f32]) {
        synthesise(self, choice - self.first, coefficients, out);
    }

    #[inline(always)]
    fn price_in_blocks<const N: usize>(
        &self,
        peaks: &Peaks,
        significance: &[Vec<f32>],
        slope: f32,
    ) -> [f32; MAX_BASES] {
        let Self { learned, m, .. } = *self;
        let mut prices = [0.0; MAX_BASES];
        for start in (0..m * learned).step_by(N) {
            let sums: [f32; N] = self.coefficients(start, peaks.iter());
            let width = N.min(m);
            for (part, sums) in sums.chunks_exact(width).enumerate() {
                let at = start + part * width;
                let significance = &significance[at / m][at % m..];
                prices[at / m] += rough_sum(sums, significance, slope);
            }
        }
        prices
    }

    #[inline(always)]
    fn rotate_in_blocks<const N: usize>(&self, basis: usize, spectrum: &[f32], out: &mut [f32]) {
        let first = basis * self.m;
        for (block, out) in out.as_chunks_mut().0.iter_mut().enumerate() {
            let frequencies = spectrum.iter().copied().enumerate();
            *out = self.coefficients::<N>(first + block * N, frequencies);
        }
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
            add_scaled(&mut sums, value, row);
        }
        sums
    }
}

/// The atoms of a basis, an atom after the other.
fn atoms(basis: &Basis) -> Vec<f32> {
    if let Some(rotation) = &basis.rotation {
        return rotation.to_rows();
    }
    let m = basis.order.len();
    let mut rows = vec![0.0; m * m];
    for (row, &at) in rows.chunks_exact_mut(m).zip(&basis.order) {
        row[usize::from(at)] = 1.0;
    }
    rows
}

kernel! {
    /// Rough costs of peaks in all learned bases.
    fn price_all(
        rotations: &RotationSet,
        peaks: &Peaks,
        significance: &[Vec<f32>],
        slope: f32,
    ) -> [f32; MAX_BASES] {
        // Short bases together, so that there are enough sums to add to at a time.
        match (rotations.m, rotations.learned) {
            (16, 3) => rotations.price_in_blocks::<48>(peaks, significance, slope),
            (32, 3) => rotations.price_in_blocks::<96>(peaks, significance, slope),
            (16, 2) | (32, _) => rotations.price_in_blocks::<32>(peaks, significance, slope),
            (16, _) => rotations.price_in_blocks::<16>(peaks, significance, slope),
            _ => rotations.price_in_blocks::<64>(peaks, significance, slope),
        }
    }
}

kernel! {
    /// The coefficients of one of the learned bases from a spectrum.
    fn rotate(rotations: &RotationSet, basis: usize, spectrum: &[f32], out: &mut [f32]) {
        match rotations.m {
            16 => rotations.rotate_in_blocks::<16>(basis, spectrum, out),
            32 => rotations.rotate_in_blocks::<32>(basis, spectrum, out),
            _ => rotations.rotate_in_blocks::<64>(basis, spectrum, out),
        }
    }
}

kernel! {
    /// The spectrum that coefficients of one of the learned bases stand for.
    fn synthesise(rotations: &RotationSet, basis: usize, coefficients: &[f32], out: &mut [f32]) {
        let RotationSet {
            learned, m, rows, ..
        } = rotations;
        let rows = rows.chunks_exact(m * learned);
        for (value, row) in out.iter_mut().zip(rows) {
            *value = dot(&row[basis * m..][..*m], coefficients);
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] = x[i].mul_add(y[i], lanes[i]);
        }
    }
    lanes.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encoder::cost::estimate::rough_cost;
    use crate::encoder::forward::ForwardTransform;
    use tessera_dict::PlaneKind;

    #[test]
    fn prices_and_rotations_are_those_of_each_basis_alone() {
        let dictionary = Dictionary::builtin();
        let cache = RotationCache::new(dictionary);
        let forward = ForwardTransform::new(&cache, Default::default());
        for (kind, bases) in [
            (PlaneKind::Luma, dictionary.luma()),
            (PlaneKind::Chroma, dictionary.chroma()),
        ] {
            for (group, (shape, _)) in bases.groups().iter().zip(BasisSet::keys(kind)) {
                let rotations = RotationSet::new(group);
                let m = shape.rotated();
                let sparse =
                    |i: usize| ((i * 31 % 17) as f32 - 8.0) * f32::from(i.is_multiple_of(3));
                let spectrum: Vec<f32> = (0..m).map(sparse).collect();
                let peaks = forward.peaks(&spectrum, m);
                let place = |i: usize| 0.3 + i as f32 / 64.0;
                let significance: Vec<Vec<f32>> = vec![(0..m).map(place).collect(); group.len()];
                let prices = rotations.prices(&peaks, &significance, 0.2);
                for (at, basis) in group.iter().enumerate().skip(1) {
                    let rotation = basis.rotation.as_ref().expect("it is learned");
                    let rows = rotation.to_rows();
                    let dot = |atom: &[f32]| -> f32 {
                        atom.iter().zip(&spectrum).map(|(a, b)| a * b).sum()
                    };
                    let wanted: Vec<f32> = rows.chunks_exact(m).map(dot).collect();
                    let mut found = vec![0.0; m];
                    rotations.rotate(at, &spectrum, &mut found);
                    let near = |(a, b): (&f32, &f32)| (a - b).abs() < 1e-3;
                    let mut back = vec![0.0; m];
                    rotations.synthesise(at, &wanted, &mut back);
                    let mut sum = vec![0.0; m];
                    for (atom, c) in rows.chunks_exact(m).zip(&wanted) {
                        sum.iter_mut().zip(atom).for_each(|(sum, a)| *sum += c * a);
                    }
                    assert!(back.iter().zip(&sum).all(near));
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

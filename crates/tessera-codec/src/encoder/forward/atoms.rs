//! The free atoms of a shape side by side: one pass over the peaks of a spectrum finds those that resemble it.

use crate::encoder::forward::{Peaks, add_scaled, energy};
use crate::simd::kernel;
use std::sync::OnceLock;
use tessera_dict::basis::Rotation;
use tessera_dict::{BasisSet, Dictionary};
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// The free atoms of a dictionary by shape, made when first asked for.
#[derive(Debug, Default)]
pub(crate) struct AtomCache([OnceLock<AtomMatrix>; SHAPE_COUNT]);

impl AtomCache {
    /// The atoms of a shape; `dictionary` is always the same.
    pub(crate) fn get(&self, dictionary: &Dictionary, shape: Shape) -> Option<&AtomMatrix> {
        let set = BasisSet::atoms(dictionary.luma()).get(shape)?;
        Some(self.0[shape.index()].get_or_init(|| AtomMatrix::new(set.atoms)))
    }
}

/// Atoms that are multiplied with a peak at a time.
const BLOCK: usize = 64;

/// Free atoms as the encoder multiplies with them.
#[derive(Debug)]
pub(crate) struct AtomMatrix {
    count: usize,
    /// Atom after atom, frequencies in the order of the scan.
    rows: Vec<f32>,
    /// What each frequency adds to the products with all atoms; of whole blocks.
    columns: Vec<f32>,
    /// Energy of each atom: one, but for rounding.
    energies: Vec<f32>,
}

/// An atom and how much of a residual's cost it roughly takes away.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LikelyAtom {
    pub(crate) index: usize,
    pub(crate) gain: f32,
}

impl AtomMatrix {
    fn new(atoms: &Rotation) -> Self {
        let (count, m) = (atoms.scales.len(), atoms.shape.area());
        let rows = atoms.to_rows();
        let stride = count.next_multiple_of(BLOCK);
        let mut columns = vec![0.0; m * stride];
        for (j, atom) in rows.chunks_exact(m).enumerate() {
            for (column, value) in columns.chunks_exact_mut(stride).zip(atom) {
                column[j] = *value;
            }
        }
        Self {
            count,
            energies: rows.chunks_exact(m).map(energy).collect(),
            rows,
            columns,
        }
    }

    /// The likeliest atoms of two different blocks for a spectrum with these peaks, the better one first; `prices` are
    /// those of the indices.
    pub(crate) fn likeliest(&self, peaks: &Peaks, prices: &[f32]) -> [LikelyAtom; 2] {
        likeliest(self, peaks, prices)
    }

    /// Product of an atom with a spectrum, and its energy.
    pub(crate) fn project(&self, index: usize, spectrum: &[f32]) -> (f32, f32) {
        let m = self.rows.len() / self.count;
        let atom = &self.rows[index * m..][..m];
        let product = atom.iter().zip(spectrum).map(|(a, b)| a * b).sum();
        (product, self.energies[index])
    }
}

kernel! {
    /// [`AtomMatrix::likeliest`].
    fn likeliest(atoms: &AtomMatrix, peaks: &Peaks, prices: &[f32]) -> [LikelyAtom; 2] {
        let none = LikelyAtom { index: 0, gain: f32::NEG_INFINITY };
        let mut best = [none; 2];
        let stride = atoms.count.next_multiple_of(BLOCK);
        for start in (0..stride).step_by(BLOCK) {
            let mut gains = [0f32; BLOCK];
            for (at, value) in peaks.iter() {
                let column = atoms.columns[at * stride + start..].first_chunk();
                add_scaled(&mut gains, value, column.expect("blocks lie in their column"));
            }
            let prices = &prices[start..atoms.count.min(start + BLOCK)];
            for (gain, price) in gains.iter_mut().zip(prices) {
                *gain = *gain * *gain - price;
            }
            let gains = &gains[..prices.len()];
            let gain = gains.iter().fold(f32::NEG_INFINITY, |most, &gain| most.max(gain));
            if gain > best[1].gain {
                let place = gains.iter().position(|&own| own == gain).unwrap_or(0);
                best[1] = LikelyAtom { index: start + place, gain };
                if gain > best[0].gain {
                    best.swap(0, 1);
                }
            }
        }
        best
    }
}

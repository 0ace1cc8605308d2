//! Sparse codes: which atoms every sample uses, and with what amplitude.

use crate::error::same_size;
use crate::{Dictionary, Error, SampleMatrix};
use faer::Mat;

/// The sparse matrix X of `Y ~ A X`, stored sample by sample.
///
/// The support is structural: an entry counts towards the budget whatever its value, zero
/// included. Invariants: within a sample atoms rise strictly and are below `atom_count`;
/// `offsets` has one more element than there are samples and rises from zero to
/// `atoms.len() == values.len()`.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseCode {
    atom_count: usize,
    offsets: Vec<usize>,
    atoms: Vec<u32>,
    values: Vec<f64>,
}

impl SparseCode {
    /// A code without samples, to be filled with [`SparseCode::push`].
    pub fn new(atom_count: usize) -> Self {
        Self {
            atom_count,
            offsets: vec![0],
            atoms: Vec::new(),
            values: Vec::new(),
        }
    }

    /// Appends a sample's entries, in any order.
    ///
    /// # Errors
    /// [`Error::Parameter`] if an atom is out of range or named twice.
    pub fn push(&mut self, entries: &[(usize, f64)]) -> Result<(), Error> {
        let mut sorted = entries.to_vec();
        sorted.sort_by_key(|entry| entry.0);
        let repeated = sorted.windows(2).any(|pair| pair[0].0 == pair[1].0);
        let outside = sorted
            .last()
            .is_some_and(|entry| entry.0 >= self.atom_count);
        if repeated || outside {
            let reason = format!(
                "atoms of a sample must differ and be below {}",
                self.atom_count
            );
            return Err(Error::parameter("entries", reason));
        }
        self.push_sorted(sorted.iter().map(|&(atom, value)| (atom as u32, value)));
        Ok(())
    }

    /// Appends a sample whose entries are known to rise strictly in the atom.
    pub(crate) fn push_sorted(&mut self, entries: impl IntoIterator<Item = (u32, f64)>) {
        for (atom, value) in entries {
            self.atoms.push(atom);
            self.values.push(value);
        }
        self.offsets.push(self.atoms.len());
    }

    /// Number of samples.
    pub fn count(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of atoms of the dictionary the code belongs to.
    pub fn atom_count(&self) -> usize {
        self.atom_count
    }

    /// Number of entries of the whole batch: what the budget limits.
    pub fn nonzeros(&self) -> usize {
        self.atoms.len()
    }

    /// The atoms of a sample, rising.
    pub fn support(&self, sample: usize) -> &[u32] {
        &self.atoms[self.offsets[sample]..self.offsets[sample + 1]]
    }

    /// The amplitudes of a sample, in the order of [`SparseCode::support`].
    pub fn values(&self, sample: usize) -> &[f64] {
        &self.values[self.offsets[sample]..self.offsets[sample + 1]]
    }

    /// Atom and amplitude of each entry of a sample.
    pub fn entries(&self, sample: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let atoms = self.support(sample).iter().map(|&atom| atom as usize);
        atoms.zip(self.values(sample).iter().copied())
    }

    /// How many samples use each atom.
    pub fn uses(&self) -> Vec<usize> {
        let mut uses = vec![0; self.atom_count];
        for &atom in &self.atoms {
            uses[atom as usize] += 1;
        }
        uses
    }

    /// The code as a dense matrix, atoms by samples.
    pub fn to_mat(&self) -> Mat<f64> {
        let mut dense = Mat::zeros(self.atom_count, self.count());
        for sample in 0..self.count() {
            for (atom, value) in self.entries(sample) {
                dense[(atom, sample)] = value;
            }
        }
        dense
    }

    /// Every amplitude times `factor`.
    pub(crate) fn scaled(mut self, factor: f64) -> Self {
        self.values.iter_mut().for_each(|value| *value *= factor);
        self
    }

    /// Offsets, atoms and amplitudes of all samples; only the amplitudes may change.
    pub(crate) fn all_values_mut(&mut self) -> (&[usize], &[u32], &mut [f64]) {
        (&self.offsets, &self.atoms, &mut self.values)
    }

    /// Moves atom `i` to `place[i].0`, multiplying its amplitudes by `place[i].1`.
    pub(crate) fn with_atoms_moved(&self, place: &[(u32, f64)]) -> Self {
        let mut moved = Self::new(self.atom_count);
        let mut entries = Vec::new();
        for sample in 0..self.count() {
            entries.clear();
            entries.extend(self.entries(sample).map(|(atom, value)| {
                let (to, sign) = place[atom];
                (to, sign * value)
            }));
            entries.sort_unstable_by_key(|entry| entry.0);
            moved.push_sorted(entries.iter().copied());
        }
        moved
    }

    /// Fails on an amplitude that is NaN or infinite.
    pub(crate) fn check_finite(&self) -> Result<(), Error> {
        for sample in 0..self.count() {
            if let Some((atom, _)) = self.entries(sample).find(|entry| !entry.1.is_finite()) {
                return Err(Error::NonFinite {
                    what: "the code",
                    row: atom,
                    column: sample,
                });
            }
        }
        Ok(())
    }

    /// Fails unless the code can belong to this dictionary and these samples.
    pub(crate) fn check_fits(
        &self,
        dictionary: &Dictionary,
        samples: &SampleMatrix,
    ) -> Result<(), Error> {
        check_dimension(dictionary, samples)?;
        same_size(
            "the code's number of atoms",
            dictionary.count(),
            self.atom_count,
        )?;
        same_size(
            "the code's number of samples",
            samples.count(),
            self.count(),
        )
    }
}

/// Fails unless atoms and samples have the same length.
pub(crate) fn check_dimension(
    dictionary: &Dictionary,
    samples: &SampleMatrix,
) -> Result<(), Error> {
    same_size(
        "the length of an atom",
        samples.dimension(),
        dictionary.dimension(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structural_zeros_count() {
        let mut code = SparseCode::new(3);
        code.push(&[(2, 0.0), (0, 1.5)]).unwrap();
        code.push(&[]).unwrap();
        assert_eq!((code.nonzeros(), code.count()), (2, 2));
        assert_eq!(code.support(0), &[0, 2]);
        assert_eq!(code.uses(), vec![1, 0, 1]);
    }

    #[test]
    fn wrong_atoms_are_refused() {
        let mut code = SparseCode::new(3);
        assert!(code.push(&[(3, 1.0)]).is_err());
        assert!(code.push(&[(1, 1.0), (1, 2.0)]).is_err());
        assert_eq!(code.count(), 0);
    }
}

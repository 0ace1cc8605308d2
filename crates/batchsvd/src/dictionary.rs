//! A dictionary: unit atoms in columns.

use crate::linalg::Columns;
use crate::linalg::kernels::{axpy, sum_of_squares};
use crate::samples::checked_magnitude;
use crate::{Error, SampleMatrix, SparseCode};
use faer::MatRef;

/// Unit-norm atoms, one per column.
///
/// Every atom has the canonical sign: its entry of largest magnitude (the first such entry)
/// is positive. Learned dictionaries are also in canonical order: atoms used by more
/// samples come first.
#[derive(Clone, Debug, PartialEq)]
pub struct Dictionary {
    atoms: Columns,
}

impl Dictionary {
    /// Normalises the columns of `atoms`.
    ///
    /// # Errors
    /// [`Error::Empty`], [`Error::NonFinite`], [`Error::OutOfRange`] or [`Error::ZeroAtom`].
    pub fn new(atoms: MatRef<'_, f64>) -> Result<Self, Error> {
        checked_magnitude("the dictionary", atoms)?;
        let mut atoms = Columns::from_mat(atoms);
        for j in 0..atoms.count() {
            if normalise(atoms.col_mut(j)).is_none() {
                return Err(Error::ZeroAtom { atom: j });
            }
            if has_negative_peak(atoms.col(j)) {
                atoms.col_mut(j).iter_mut().for_each(|v| *v = -*v);
            }
        }
        Ok(Self { atoms })
    }

    /// Wraps atoms that are unit already and brings sign and order of the pair into
    /// canonical form, so that `atoms * code` stays the same. Atoms are ordered inside blocks
    /// of the given size.
    pub(crate) fn canonical(
        atoms: &Columns,
        code: &SparseCode,
        block: usize,
    ) -> (Self, SparseCode) {
        let order = canonical_order(atoms, code, block);
        let mut sorted = Columns::zeros(atoms.rows(), atoms.count());
        let mut place = vec![(0, 1.0); atoms.count()];
        for (to, &from) in order.iter().enumerate() {
            let sign = if has_negative_peak(atoms.col(from)) {
                -1.0
            } else {
                1.0
            };
            axpy(sign, atoms.col(from), sorted.col_mut(to));
            place[from] = (to as u32, sign);
        }
        (Self { atoms: sorted }, code.with_atoms_moved(&place))
    }

    /// Length of an atom.
    pub fn dimension(&self) -> usize {
        self.atoms.rows()
    }

    /// Number of atoms.
    pub fn count(&self) -> usize {
        self.atoms.count()
    }

    /// The atoms, one per column.
    pub fn atoms(&self) -> MatRef<'_, f64> {
        self.atoms.as_mat()
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.atoms
    }

    /// The norm `||y - A x||` of every sample's error.
    ///
    /// # Errors
    /// [`Error::Shape`] when the three do not belong together.
    pub fn errors(&self, samples: &SampleMatrix, code: &SparseCode) -> Result<Vec<f64>, Error> {
        code.check_fits(self, samples)?;
        let scale = samples.scale();
        let mut residual = vec![0.0; self.dimension()];
        let norm_of = |j: usize| {
            residual.copy_from_slice(samples.columns().col(j));
            for (atom, value) in code.entries(j) {
                axpy(-value / scale, self.atoms.col(atom), &mut residual);
            }
            sum_of_squares(&residual).sqrt() * scale
        };
        Ok((0..samples.count()).map(norm_of).collect())
    }
}

/// Scales a vector to unit norm and returns its former norm; `None` if it has no direction.
///
/// Divides by the largest magnitude first, so that squares neither overflow nor vanish.
pub(crate) fn normalise(vector: &mut [f64]) -> Option<f64> {
    let peak = vector.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    if peak <= 0.0 {
        return None;
    }
    vector.iter_mut().for_each(|v| *v /= peak);
    let norm = sum_of_squares(vector).sqrt();
    vector.iter_mut().for_each(|v| *v /= norm);
    Some(norm * peak)
}

fn has_negative_peak(atom: &[f64]) -> bool {
    let (mut peak, mut negative) = (0.0, false);
    for &value in atom {
        if value.abs() > peak {
            (peak, negative) = (value.abs(), value < 0.0);
        }
    }
    negative
}

/// Atoms by block, then by falling number of uses, then by rising content.
fn canonical_order(atoms: &Columns, code: &SparseCode, block: usize) -> Vec<usize> {
    let uses = code.uses();
    let mut order: Vec<usize> = (0..atoms.count()).collect();
    order.sort_by(|&a, &b| {
        let content = || {
            let pairs = atoms.col(a).iter().zip(atoms.col(b));
            pairs.map(|(x, y)| x.total_cmp(y)).find(|o| o.is_ne())
        };
        let place = (a / block).cmp(&(b / block)).then(uses[b].cmp(&uses[a]));
        place.then_with(|| content().unwrap_or(std::cmp::Ordering::Equal))
    });
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use faer::mat;

    #[test]
    fn atoms_are_unit_and_have_a_positive_peak() {
        let dictionary = Dictionary::new(mat![[-3.0, 1e-130], [4.0, -1e-130]].as_ref()).unwrap();
        let atoms = dictionary.atoms();
        assert!((atoms[(0, 0)] + 0.6).abs() < 1e-15 && (atoms[(1, 0)] - 0.8).abs() < 1e-15);
        assert!(atoms[(0, 1)] > 0.0 && atoms[(1, 1)] < 0.0);
    }

    #[test]
    fn zero_atoms_are_refused() {
        let refused = Dictionary::new(mat![[1.0, 0.0], [1.0, 0.0]].as_ref());
        assert!(matches!(refused, Err(Error::ZeroAtom { atom: 1 })));
    }
}

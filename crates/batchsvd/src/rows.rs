//! The code seen atom by atom, as the row-switching phases need it.

use crate::SparseCode;

/// Entries `(sample, amplitude)` of every atom, samples rising.
#[derive(Clone, Debug)]
pub(crate) struct Rows(Vec<Vec<(u32, f64)>>);

impl Rows {
    pub(crate) fn of(code: &SparseCode) -> Self {
        let mut rows: Vec<Vec<(u32, f64)>> =
            code.uses().into_iter().map(Vec::with_capacity).collect();
        for sample in 0..code.count() {
            for (atom, value) in code.entries(sample) {
                rows[atom].push((sample as u32, value));
            }
        }
        Self(rows)
    }

    pub(crate) fn row(&self, atom: usize) -> &[(u32, f64)] {
        &self.0[atom]
    }

    pub(crate) fn replace(&mut self, atom: usize, row: Vec<(u32, f64)>) {
        debug_assert!(row.is_sorted_by(|a, b| a.0 < b.0));
        self.0[atom] = row;
    }

    /// Sets the entry of `atom` at `sample`, or removes it.
    pub(crate) fn set(&mut self, atom: usize, sample: u32, value: Option<f64>) {
        let row = &mut self.0[atom];
        match (row.binary_search_by_key(&sample, |entry| entry.0), value) {
            (Ok(at), Some(value)) => row[at].1 = value,
            (Ok(at), None) => {
                row.remove(at);
            }
            (Err(at), Some(value)) => row.insert(at, (sample, value)),
            (Err(_), None) => {}
        }
    }

    /// Back to the code of `count` samples.
    pub(crate) fn to_code(&self, count: usize) -> SparseCode {
        let mut samples: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for (atom, row) in self.0.iter().enumerate() {
            for &(sample, value) in row {
                samples[sample as usize].push((atom as u32, value));
            }
        }
        let mut code = SparseCode::new(self.0.len());
        for entries in samples {
            code.push_sorted(entries);
        }
        code
    }
}

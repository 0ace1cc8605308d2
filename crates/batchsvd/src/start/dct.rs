//! Overcomplete separable cosine atoms.

use crate::dictionary::normalise;
use crate::linalg::Columns;
use std::f64::consts::PI;

/// `count` atoms for grids of the given shape: products of cosines, low frequencies first.
///
/// The number of frequencies per axis is in proportion to the axis, just enough for `count`.
pub(super) fn atoms(rows: usize, columns: usize, count: usize) -> Columns {
    let (across_rows, across_columns) = frequencies(rows, columns, count);
    let mut pairs: Vec<(usize, usize)> = (0..across_columns)
        .flat_map(|v| (0..across_rows).map(move |u| (u, v)))
        .collect();
    pairs.sort_by_key(|&(u, v)| (u * across_columns + v * across_rows, v));
    let mut atoms = Columns::zeros(rows * columns, count);
    for (j, &(u, v)) in pairs.iter().take(count).enumerate() {
        let atom = atoms.col_mut(j);
        for column in 0..columns {
            for row in 0..rows {
                let vertical = cosine(row, u, across_rows);
                atom[column * rows + row] = vertical * cosine(column, v, across_columns);
            }
        }
        if normalise(atom).is_none() {
            atom[0] = 1.0;
        }
    }
    atoms
}

fn cosine(at: usize, frequency: usize, frequencies: usize) -> f64 {
    (PI * (at as f64 + 0.5) * frequency as f64 / frequencies as f64).cos()
}

/// Smallest multiples of the two axes, in steps, that give at least `count` products.
fn frequencies(rows: usize, columns: usize, count: usize) -> (usize, usize) {
    let ratio = (count as f64 / (rows * columns) as f64).sqrt().max(1.0);
    let mut per_row = ((rows as f64 * ratio).floor() as usize).max(1);
    let mut per_column = ((columns as f64 * ratio).floor() as usize).max(1);
    while per_row * per_column < count {
        if per_row * columns <= per_column * rows && rows > 1 {
            per_row += 1;
        } else {
            per_column += 1;
        }
    }
    (per_row, per_column)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::kernels::dot;

    #[test]
    fn complete_set_is_orthonormal() {
        let atoms = atoms(4, 3, 12);
        for i in 0..12 {
            for j in 0..12 {
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((dot(atoms.col(i), atoms.col(j)) - expected).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn overcomplete_sets_have_the_asked_size() {
        for (rows, columns, count) in [(8, 8, 256), (8, 8, 100), (5, 1, 17), (1, 5, 17), (2, 2, 3)]
        {
            let atoms = atoms(rows, columns, count);
            assert_eq!((atoms.rows(), atoms.count()), (rows * columns, count));
            for j in 0..count {
                assert!((dot(atoms.col(j), atoms.col(j)) - 1.0).abs() < 1e-12);
            }
        }
    }
}

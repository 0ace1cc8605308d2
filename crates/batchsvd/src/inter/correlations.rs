//! The correlations A'R of all atoms with all residuals, kept current while columns change.
//!
//! Stored in tiles of 64 samples, atom after atom, so that a row is read 64 values at a time
//! and a changed sample touches one tile only. For every atom and tile there is an upper
//! bound of `|a'r|` over the samples that do not hold the atom; a bound only grows when
//! columns change and is tightened when a search has looked at the tile anyway.

use crate::linalg::Columns;
use crate::linalg::kernels::vectorised;
use crate::rows::Rows;
use bitvec::prelude::{BitVec, Lsb0, bitvec};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use pulp::NullaryFnOnce;
use rayon::prelude::*;

/// Samples of a tile: one bit each in a mask word.
pub(super) const TILE: usize = u64::BITS as usize;

pub(super) struct Correlations {
    atom_count: usize,
    tile_count: usize,
    gram: Columns,
    values: Vec<f64>,
    bounds: Vec<f64>,
    /// The support of the code, a row of whole tiles per atom.
    held: BitVec<u64>,
}

impl Correlations {
    pub(super) fn new(atoms: &Columns, residual: &Columns, rows: &Rows) -> Self {
        let (n, tile_count) = (atoms.count(), residual.count().div_ceil(TILE));
        let mut this = Self {
            atom_count: n,
            tile_count,
            gram: atoms.gram(),
            values: vec![0.0; n * tile_count * TILE],
            bounds: vec![0.0; n * tile_count],
            held: bitvec![u64, Lsb0; 0; n * tile_count * TILE],
        };
        let parts = residual.data().par_chunks(residual.rows() * TILE);
        this.values
            .par_chunks_mut(n * TILE)
            .zip(parts)
            .for_each(|(tile, part)| fill_tile(tile, atoms, part));
        for atom in 0..n {
            for &(sample, _) in rows.row(atom) {
                this.set_held(atom, sample as usize, true);
            }
            (0..tile_count).for_each(|tile| this.tighten(atom, tile));
        }
        this
    }

    pub(super) fn tile_count(&self) -> usize {
        self.tile_count
    }

    /// `a_i' a_j`.
    pub(super) fn between(&self, i: usize, j: usize) -> f64 {
        self.gram.col(i)[j]
    }

    /// `a'r` of one atom with one sample's residual.
    pub(super) fn at(&self, atom: usize, sample: usize) -> f64 {
        self.row(atom, sample / TILE)[sample % TILE]
    }

    /// `a'r` of one atom with the samples of a tile; beyond the last sample, zeros.
    pub(super) fn row(&self, atom: usize, tile: usize) -> &[f64] {
        &self.values[(tile * self.atom_count + atom) * TILE..][..TILE]
    }

    /// Upper bounds of an atom, one per tile.
    pub(super) fn bounds(&self, atom: usize) -> &[f64] {
        &self.bounds[atom * self.tile_count..][..self.tile_count]
    }

    /// Which samples of a tile hold the atom, the first in the lowest bit.
    pub(super) fn held(&self, atom: usize, tile: usize) -> u64 {
        self.held.as_raw_slice()[atom * self.tile_count + tile]
    }

    pub(super) fn set_held(&mut self, atom: usize, sample: usize, held: bool) {
        self.held.set(atom * self.tile_count * TILE + sample, held);
    }

    /// Makes the bound of a tile exact.
    pub(super) fn tighten(&mut self, atom: usize, tile: usize) {
        let held = self.held(atom, tile);
        let row = self.row(atom, tile);
        let mut bound = 0.0;
        for (lane, value) in row.iter().enumerate() {
            if held >> lane & 1 == 0 && value.abs() > bound {
                bound = value.abs();
            }
        }
        self.bounds[atom * self.tile_count + tile] = bound;
    }

    /// Accounts for amplitudes of a pair of atoms that change by `changes` in a sample.
    pub(super) fn change(&mut self, sample: usize, pair: [usize; 2], changes: [f64; 2]) {
        let (tile, lane) = (sample / TILE, sample % TILE);
        let size = self.atom_count * TILE;
        vectorised(Change {
            values: &mut self.values[tile * size..][..size],
            bounds: &mut self.bounds,
            grams: [self.gram.col(pair[0]), self.gram.col(pair[1])],
            changes,
            tile,
            lane,
            tile_count: self.tile_count,
        });
    }
}

/// Writes the correlations of up to 64 residuals with all atoms.
fn fill_tile(tile: &mut [f64], atoms: &Columns, residuals: &[f64]) {
    let count = residuals.len() / atoms.rows();
    let right = MatRef::from_column_major_slice(residuals, atoms.rows(), count).transpose();
    let out = MatMut::from_column_major_slice_mut(tile, TILE, atoms.count());
    let out = out.subrows_mut(0, count);
    matmul(out, Accum::Replace, right, atoms.as_mat(), 1.0, Par::Seq);
}

struct Change<'a> {
    values: &'a mut [f64],
    bounds: &'a mut [f64],
    grams: [&'a [f64]; 2],
    changes: [f64; 2],
    tile: usize,
    lane: usize,
    tile_count: usize,
}

impl NullaryFnOnce for Change<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let rows = self.values.chunks_exact_mut(TILE);
        let bounds = self.bounds.chunks_exact_mut(self.tile_count);
        for (atom, (row, bounds)) in rows.zip(bounds).enumerate() {
            let moved =
                self.grams[0][atom] * self.changes[0] + self.grams[1][atom] * self.changes[1];
            let value = row[self.lane] - moved;
            row[self.lane] = value;
            let bound = &mut bounds[self.tile];
            *bound = if value.abs() > *bound {
                value.abs()
            } else {
                *bound
            };
        }
    }
}

//! First row and first column of what one coefficient stands for (`spec/bitstream.md`, "Signs").

use super::{add_atom, cosine_matrix, geometry, round};
use crate::simd::kernel;
use std::sync::OnceLock;
use tessera_dict::basis::Rotation;
use tessera_dict::{Basis, Dictionary};
use tessera_patch::Shape;
use tessera_patch::shape::{MAX_ROTATED, SHAPE_COUNT, SUPERBLOCK};

/// The coefficient that edges are worked out for: one, with 12 fractional bits.
const UNIT: i32 = 1 << 12;
/// Largest sample of an edge.
const MOST: i32 = 8191;
/// Samples are taken so many at a time.
pub(crate) const LANES: usize = 8;
/// Most samples of an edge.
pub(crate) const MOST_SAMPLES: usize = 2 * SUPERBLOCK;

/// Samples of an edge: the row, the column, and zeros that fill the last lane.
pub(crate) type Edge = [[i16; LANES]];

/// The edges of the atoms of a basis or set, each made when it is first asked for.
type Edges = OnceLock<Vec<OnceLock<Box<Edge>>>>;

/// The edges of all atoms of a dictionary.
#[derive(Debug)]
pub(crate) struct EdgeCache {
    /// By kind and number of the basis.
    bases: [Vec<Edges>; 2],
    /// Of free atoms, by shape.
    atoms: [Edges; SHAPE_COUNT],
}

impl EdgeCache {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let edges = |count: usize| (0..count).map(|_| OnceLock::new()).collect();
        Self {
            bases: [dictionary.luma(), dictionary.chroma()].map(|set| edges(set.totals().bases)),
            atoms: Default::default(),
        }
    }

    /// Calls `with` with the edge of a coefficient of a basis of a kind.
    pub(crate) fn of_coefficient<T>(
        &self,
        kind: usize,
        shape: Shape,
        basis: &Basis,
        position: usize,
        with: impl FnOnce(&Edge) -> T,
    ) -> T {
        if let Some(rotation) = &basis.rotation
            && position < basis.order.len()
        {
            let edges = &self.bases[kind][basis.id as usize];
            return with(edge_of(edges, basis.order.len(), rotation, position));
        }
        let place = match basis.order.get(position) {
            Some(&place) => usize::from(place),
            None => position,
        };
        let raster = usize::from(geometry(shape).scan[place]);
        with(edge_of_frequency(shape, raster).of(shape))
    }

    /// The edge of a free atom.
    pub(crate) fn of_atom(&self, atoms: &Rotation, index: usize) -> &Edge {
        let edges = &self.atoms[atoms.shape.index()];
        edge_of(edges, atoms.scales.len(), atoms, index)
    }
}

/// The edge of one of `count` atoms.
fn edge_of<'e>(edges: &'e Edges, count: usize, atoms: &Rotation, index: usize) -> &'e Edge {
    let edges = edges.get_or_init(|| (0..count).map(|_| OnceLock::new()).collect());
    edges[index].get_or_init(|| edge_of_atom(atoms, index).of(atoms.shape).into())
}

/// Room for any edge.
struct Samples([[i16; LANES]; MOST_SAMPLES / LANES]);

impl Samples {
    /// Sums of frequencies along both lines.
    #[inline(always)]
    fn new(row: &[i32], column: &[i32]) -> Self {
        let mut samples = [[0; LANES]; MOST_SAMPLES / LANES];
        let places = samples.as_flattened_mut().iter_mut();
        for (to, &sum) in places.zip(row.iter().chain(column)) {
            *to = round(sum).clamp(-MOST, MOST) as i16;
        }
        Self(samples)
    }

    /// Those of a shape.
    #[inline(always)]
    fn of(&self, shape: Shape) -> &Edge {
        &self.0[..(shape.width() + shape.height()).div_ceil(LANES)]
    }
}

/// The edge of an atom.
fn edge_of_atom(atoms: &Rotation, index: usize) -> Samples {
    match atoms.shape.width() {
        4 => edge_of_columns::<4>(atoms, index),
        8 => edge_of_columns::<8>(atoms, index),
        16 => edge_of_columns::<16>(atoms, index),
        32 => edge_of_columns::<32>(atoms, index),
        _ => edge_of_columns::<64>(atoms, index),
    }
}

kernel! {
    /// [`edge_of_atom`] for patches of `W` columns.
    fn edge_of_columns<const W: usize>(atoms: &Rotation, index: usize) -> Samples {
        let shape = atoms.shape;
        let h = shape.height();
        let mut sums = [0i32; MAX_ROTATED];
        let sums = &mut sums[..shape.rotated()];
        add_atom(atoms, index, UNIT, sums);
        let across = cosine_matrix(shape.log_width()).entries.as_chunks::<W>().0;
        let upright = &cosine_matrix(shape.log_height()).entries;
        let (mut along, mut down) = ([0i32; W], [0i32; SUPERBLOCK]);
        if Rotation::is_raster(shape) {
            for (v, line) in sums.as_chunks::<W>().0.iter().enumerate() {
                for u in 0..W {
                    let value = round(line[u]);
                    along[u] = along[u].wrapping_add(value.wrapping_mul(upright[v * h]));
                    down[v] = down[v].wrapping_add(value.wrapping_mul(across[u][0]));
                }
            }
        } else {
            for (&raster, &sum) in geometry(shape).scan.iter().zip(&*sums) {
                let (u, v) = (usize::from(raster) % W, usize::from(raster) / W);
                let value = round(sum);
                along[u] = along[u].wrapping_add(value.wrapping_mul(upright[v * h]));
                down[v] = down[v].wrapping_add(value.wrapping_mul(across[u][0]));
            }
        }
        let (mut row, mut column) = ([0i32; W], [0i32; SUPERBLOCK]);
        for (&sum, frequency) in along.iter().zip(across) {
            add_frequency(&mut row, round(sum), frequency);
        }
        for (&sum, frequency) in down.iter().zip(upright.chunks_exact(h)) {
            add_frequency(&mut column[..h], round(sum), frequency);
        }
        Samples::new(&row, &column[..h])
    }
}

kernel! {
    /// The edge of one frequency.
    fn edge_of_frequency(shape: Shape, raster: usize) -> Samples {
        let (w, h) = (shape.width(), shape.height());
        let (u, v) = (raster % w, raster / w);
        let across = &cosine_matrix(shape.log_width()).entries[u * w..][..w];
        let down = &cosine_matrix(shape.log_height()).entries[v * h..][..h];
        let (mut row, mut column) = ([0i32; SUPERBLOCK], [0i32; SUPERBLOCK]);
        add_frequency(&mut row[..w], down[0], across);
        add_frequency(&mut column[..h], across[0], down);
        Samples::new(&row[..w], &column[..h])
    }
}

#[inline(always)]
fn add_frequency(sums: &mut [i32], value: i32, frequency: &[i32]) {
    for (sum, &factor) in sums.iter_mut().zip(frequency) {
        *sum = sum.wrapping_add(value.wrapping_mul(factor));
    }
}

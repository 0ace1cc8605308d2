//! From coefficients to residual samples, in integers (`spec/bitstream.md`, section "Reconstruction").
//!
//! Sums are taken modulo 2^32: a valid stream never overflows, a hostile one gets defined garbage.

mod atom;
mod orientation;
pub(crate) mod quantiser;
pub(crate) mod weights;

pub(crate) use atom::synthesise_atom;
pub(crate) use orientation::BasisOrientation;

use crate::simd::kernel;
use std::sync::LazyLock;
use tessera_dict::Basis;
use tessera_dict::basis::{Rotation, SCALE_BITS};
use tessera_patch::Shape;
use tessera_patch::shape::{MAX_ROTATED, SHAPE_COUNT};
use weights::weighted;

/// Fractional bits of the cosine matrices.
pub(crate) const COSINE_BITS: u32 = 12;

/// cos(pi t / 128) with 30 fractional bits, t = 0..=64.
const COSINES: [i64; 65] = [
    1073741824, 1073418433, 1072448455, 1070832474, 1068571464, 1065666786, 1062120190, 1057933813,
    1053110176, 1047652185, 1041563127, 1034846671, 1027506862, 1019548121, 1010975242, 1001793390,
    992008094, 981625251, 970651112, 959092290, 946955747, 934248793, 920979082, 907154608,
    892783698, 877875009, 862437520, 846480531, 830013654, 813046808, 795590213, 777654384,
    759250125, 740388522, 721080937, 701339000, 681174602, 660599890, 639627258, 618269338,
    596538995, 574449320, 552013618, 529245404, 506158392, 482766489, 459083786, 435124548,
    410903207, 386434353, 361732726, 336813204, 311690799, 286380643, 260897982, 235258165,
    209476638, 183568930, 157550647, 131437462, 105245103, 78989349, 52686014, 26350943, 0,
];

/// sqrt(2 / n) with 30 fractional bits for n = 4, 8, 16, 32, 64.
const NORMS: [i64; 5] = [759250125, 536870912, 379625062, 268435456, 189812531];

/// Row k of the n-point cosine matrix holds the samples of frequency k.
#[derive(Debug)]
pub(crate) struct CosineMatrix {
    pub(crate) entries: Vec<i32>,
}

impl CosineMatrix {
    fn new(log_side: usize) -> Self {
        let side = 1usize << log_side;
        let entry = |k: usize, i: usize| {
            if k == 0 {
                // sqrt(1 / n) = sqrt(2 / n) * sqrt(1 / 2), and cos(pi / 4) is COSINES[32].
                return fixed(COSINES[32], log_side);
            }
            let turn = (2 * i + 1) * k * (64 / side) % 256;
            fixed(cosine(turn), log_side)
        };
        let entries = (0..side * side)
            .map(|at| entry(at / side, at % side))
            .collect();
        Self { entries }
    }
}

/// cos(pi turn / 128) with 30 fractional bits, for turns below 256.
pub(crate) fn cosine(turn: usize) -> i64 {
    match turn {
        0..=64 => COSINES[turn],
        65..=128 => -COSINES[128 - turn],
        129..=192 => -COSINES[turn - 128],
        _ => COSINES[256 - turn],
    }
}

fn fixed(cosine: i64, log_side: usize) -> i32 {
    let product = cosine * NORMS[log_side - 2];
    ((product + (1 << 47)) >> 48) as i32
}

/// Tables that depend on the shape alone.
#[derive(Debug)]
pub(crate) struct Geometry {
    /// Raster index of every scan position.
    pub(crate) scan: Vec<u16>,
}

static GEOMETRIES: LazyLock<Vec<Geometry>> = LazyLock::new(|| {
    (0..SHAPE_COUNT)
        .map(|index| Geometry {
            scan: Shape::from_index(index).scan(),
        })
        .collect()
});

static MATRICES: LazyLock<[CosineMatrix; 5]> =
    LazyLock::new(|| std::array::from_fn(|i| CosineMatrix::new(i + 2)));

/// The geometry of `shape`.
pub(crate) fn geometry(shape: Shape) -> &'static Geometry {
    &GEOMETRIES[shape.index()]
}

/// The cosine matrix of side 2^`log_side`.
pub(crate) fn cosine_matrix(log_side: usize) -> &'static CosineMatrix {
    &MATRICES[log_side - 2]
}

/// Writes the residual whose coefficients are `values` (coding order) to `out`; `weights` are those of the shape's
/// frequencies.
pub(crate) fn synthesise(
    shape: Shape,
    basis: &Basis,
    weights: Option<&[u16]>,
    values: &[i32],
    out: &mut [i32],
) {
    match (shape.width(), shape.height()) {
        (4, ..=8) => synthesise_within::<4, 8>(shape, basis, weights, values, out),
        (8, ..=8) => synthesise_within::<8, 8>(shape, basis, weights, values, out),
        (8, _) => synthesise_within::<8, 16>(shape, basis, weights, values, out),
        (16, ..=16) => synthesise_within::<16, 16>(shape, basis, weights, values, out),
        (16, _) => synthesise_within::<16, 32>(shape, basis, weights, values, out),
        (32, ..=32) => synthesise_within::<32, 32>(shape, basis, weights, values, out),
        (32, _) => synthesise_within::<32, 64>(shape, basis, weights, values, out),
        _ => synthesise_within::<64, 64>(shape, basis, weights, values, out),
    }
}

/// Most rows of [`synthesise_low`].
const LOW_ROWS: usize = 8;

/// Writes the residual whose lowest frequencies are `low`, `columns` of them in each of at most eight rows, to `out`.
pub(crate) fn synthesise_low(shape: Shape, low: &[i32], columns: usize, out: &mut [i32]) {
    match shape.width() {
        4 => synthesise_low_columns::<4>(low, columns, out),
        8 => synthesise_low_columns::<8>(low, columns, out),
        16 => synthesise_low_columns::<16>(low, columns, out),
        32 => synthesise_low_columns::<32>(low, columns, out),
        _ => synthesise_low_columns::<64>(low, columns, out),
    }
}

kernel! {
    /// [`synthesise_low`] for patches of `W` columns.
    fn synthesise_low_columns<const W: usize>(low: &[i32], columns: usize, out: &mut [i32]) {
        let mut spectrum = [[0; W]; LOW_ROWS];
        let rows = low.len() / columns;
        for (to, from) in spectrum.iter_mut().zip(low.chunks_exact(columns)) {
            to[..columns].copy_from_slice(from);
        }
        inverse_cosine(&mut spectrum[..rows], out.as_chunks_mut().0);
    }
}

kernel! {
    /// [`synthesise`] for patches of `W` columns and at most `H` rows: clearing larger buffers than needed would cost
    /// more than small patches do.
    fn synthesise_within<const W: usize, const H: usize>(
        shape: Shape,
        basis: &Basis,
        weights: Option<&[u16]>,
        values: &[i32],
        out: &mut [i32],
    ) {
        let mut spectrum = [[0i32; W]; H];
        let rotated = basis.order.len();
        let head = &values[..values.len().min(rotated)];
        let out = &mut out.as_chunks_mut::<W>().0[..shape.height()];
        if let Some(rotation) = &basis.rotation
            && Rotation::is_raster(shape)
        {
            let spectrum = &mut spectrum[..shape.height()];
            rotate(rotation, head, spectrum.as_flattened_mut());
            finish_spectrum(spectrum.as_flattened_mut(), weights);
            return inverse_cosine(spectrum, out);
        }
        let scan = &geometry(shape).scan;
        let mut rows = 0;
        let mut put = |position: usize, value: i32| {
            if value != 0 {
                let raster = scan[position] as usize;
                spectrum[raster / W][raster % W] = match weights {
                    Some(weights) => weighted(value, weights[raster]),
                    None => value,
                };
                rows = rows.max(raster / W + 1);
            }
        };
        match &basis.rotation {
            None => {
                for (&position, &value) in basis.order.iter().zip(head) {
                    put(position as usize, value);
                }
            }
            Some(rotation) => {
                let mut sums = [0i32; MAX_ROTATED];
                let sums = &mut sums[..rotated];
                rotate(rotation, head, sums);
                for (position, sum) in sums.iter().enumerate() {
                    put(position, round(*sum));
                }
            }
        }
        for (position, &value) in values.iter().enumerate().skip(rotated) {
            put(position, value);
        }
        inverse_cosine(&mut spectrum[..rows], out);
    }
}

/// Rounds sums of atoms to a spectrum and weighs it.
#[inline(always)]
fn finish_spectrum(sums: &mut [i32], weights: Option<&[u16]>) {
    for sum in sums.iter_mut() {
        *sum = round(*sum);
    }
    for (value, &weight) in sums.iter_mut().zip(weights.unwrap_or_default()) {
        *value = weighted(*value, weight);
    }
}

/// Adds up the atoms of the non-zero coefficients.
#[inline(always)]
fn rotate(rotation: &Rotation, values: &[i32], sums: &mut [i32]) {
    for (j, &value) in values.iter().enumerate().filter(|(_, value)| **value != 0) {
        add_atom(rotation, j, value, sums);
    }
}

/// Adds a multiple of atom `j` to sums of as many frequencies.
#[inline(always)]
fn add_atom(rotation: &Rotation, j: usize, value: i32, sums: &mut [i32]) {
    let m = sums.len();
    let scaled =
        ((i64::from(value) * i64::from(rotation.scales[j])) >> (SCALE_BITS - COSINE_BITS)) as i32;
    let atom = &rotation.entries[j * m..(j + 1) * m];
    for (sum, &entry) in sums.iter_mut().zip(atom) {
        *sum = sum.wrapping_add(scaled.wrapping_mul(i32::from(entry as i8)));
    }
}

#[inline(always)]
fn round(sum: i32) -> i32 {
    sum.wrapping_add(1 << (COSINE_BITS - 1)) >> COSINE_BITS
}

/// Separable inverse transform of the first rows of a spectrum, the others being zero.
#[inline(always)]
fn inverse_cosine<const W: usize>(spectrum: &mut [[i32; W]], out: &mut [[i32; W]]) {
    let log = |side: usize| side.trailing_zeros() as usize;
    let across = cosine_matrix(log(W)).entries.as_chunks::<W>().0;
    let across: &[[i32; W]; W] = across.try_into().expect("the matrix is square");
    for row in spectrum.iter_mut() {
        let mut sums = [0i32; W];
        for (&value, frequency) in row.iter().zip(across) {
            if value != 0 {
                accumulate(&mut sums, value, frequency);
            }
        }
        *row = sums.map(round);
    }
    let h = out.len();
    let down = cosine_matrix(log(h)).entries.chunks_exact(h);
    mirror_down(spectrum, down, out);
}

/// The columns' transform. Even frequencies are the same from both ends, odd ones change their sign, so that a pair of
/// rows takes the products of one; sums are modulo 2^32 and do not depend on their order.
#[inline(always)]
fn mirror_down<'m, const W: usize>(
    spectrum: &[[i32; W]],
    down: impl Iterator<Item = &'m [i32]> + Clone,
    out: &mut [[i32; W]],
) {
    let (upper, lower) = out.split_at_mut(out.len() / 2);
    for (y, (one, other)) in upper.iter_mut().zip(lower.iter_mut().rev()).enumerate() {
        let mut sums = [[0i32; W]; 2];
        for (v, (row, frequency)) in spectrum.iter().zip(down.clone()).enumerate() {
            accumulate(&mut sums[v % 2], frequency[y], row);
        }
        let [even, odd] = sums;
        for x in 0..W {
            one[x] = round(even[x].wrapping_add(odd[x]));
            other[x] = round(even[x].wrapping_sub(odd[x]));
        }
    }
}

#[inline(always)]
fn accumulate<const W: usize>(sums: &mut [i32; W], factor: i32, values: &[i32; W]) {
    for (sum, &value) in sums.iter_mut().zip(values) {
        *sum = sum.wrapping_add(factor.wrapping_mul(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cosine_matrices_are_orthonormal_and_mirrored() {
        for log_side in 2..=6 {
            let side = 1usize << log_side;
            let matrix = &cosine_matrix(log_side).entries;
            for a in 0..side {
                for b in 0..side {
                    let dot: i64 = (0..side)
                        .map(|i| i64::from(matrix[a * side + i]) * i64::from(matrix[b * side + i]))
                        .sum();
                    let expected = if a == b { 1i64 << 24 } else { 0 };
                    assert!(
                        (dot - expected).abs() < 1 << 14,
                        "{side}: {a},{b} gives {dot}"
                    );
                }
                let row = &matrix[a * side..(a + 1) * side];
                let sign = if a % 2 == 0 { 1 } else { -1 };
                assert!((0..side).all(|i| row[i] == sign * row[side - 1 - i]));
            }
        }
    }
}

//! `bitstream.md`, "Reconstruction".

use super::shapes::Shape;
use super::weights::weight;
use crate::dictionary::{AtomSet, Basis, Transform};
use crate::notation::log2;
use std::sync::OnceLock;

const N: [i64; 5] = [
    759_250_125,
    536_870_912,
    379_625_062,
    268_435_456,
    189_812_531,
];
const Q: [i64; 65] = [
    1073741824, 1073418433, 1072448455, 1070832474, 1068571464, 1065666786, 1062120190, 1057933813,
    1053110176, 1047652185, 1041563127, 1034846671, 1027506862, 1019548121, 1010975242, 1001793390,
    992008094, 981625251, 970651112, 959092290, 946955747, 934248793, 920979082, 907154608,
    892783698, 877875009, 862437520, 846480531, 830013654, 813046808, 795590213, 777654384,
    759250125, 740388522, 721080937, 701339000, 681174602, 660599890, 639627258, 618269338,
    596538995, 574449320, 552013618, 529245404, 506158392, 482766489, 459083786, 435124548,
    410903207, 386434353, 361732726, 336813204, 311690799, 286380643, 260897982, 235258165,
    209476638, 183568930, 157550647, 131437462, 105245103, 78989349, 52686014, 26350943, 0,
];

fn round(s: i32) -> i32 {
    s.wrapping_add(2048) >> 12
}

/// A coefficient times the scale of an atom, exact.
fn scaled(v: i32, scale: u16) -> i32 {
    ((i64::from(v) * i64::from(scale)) >> 10) as i32
}

/// The spectrum of the coefficients V[0..last] of a basis.
pub(super) fn spectrum(values: &[i32], basis: &Basis, shape: Shape) -> Vec<i32> {
    let (m, scan) = (shape.rotated(), shape.scan());
    let mut spectrum = vec![0; shape.area()];
    match &basis.transform {
        Transform::Cosine { order } => {
            for (&place, &v) in order.iter().zip(values) {
                spectrum[scan[usize::from(place)]] = v;
            }
        }
        Transform::Rotation { scale, entry } => {
            let factors: Vec<i32> = values
                .iter()
                .zip(scale)
                .map(|(&v, &scale)| scaled(v, scale))
                .collect();
            for i in 0..m {
                let products = factors.iter().zip(entry[i..].iter().step_by(m));
                let products =
                    products.map(|(factor, &entry)| factor.wrapping_mul(i32::from(entry)));
                let frequency = if m == shape.area() { i } else { scan[i] };
                spectrum[frequency] = round(products.fold(0, i32::wrapping_add));
            }
        }
    }
    for (&place, &v) in scan.iter().zip(values).skip(m) {
        spectrum[place] = v;
    }
    spectrum
}

/// The spectrum of a patch that is an atom.
pub(super) fn atom_spectrum(v: i32, set: &AtomSet, index: usize, shape: Shape) -> Vec<i32> {
    let factor = scaled(v, set.scale[index]);
    let entries = set
        .entry
        .chunks_exact(shape.area())
        .nth(index)
        .unwrap_or_default();
    entries
        .iter()
        .map(|&entry| round(factor.wrapping_mul(i32::from(entry))))
        .collect()
}

/// Weighs every frequency, if the curve is not all zero.
pub(super) fn apply_weights(spectrum: &mut [i32], curve: [i8; 3], shape: Shape) {
    if curve == [0; 3] {
        return;
    }
    for (i, value) in spectrum.iter_mut().enumerate() {
        let weight = weight(curve, i % shape.w, i / shape.w, shape);
        *value = ((i64::from(*value) * i64::from(weight) + 2048) >> 12) as i32;
    }
}

/// "Rows" and "Columns".
pub(super) fn inverse_cosine(spectrum: &[i32], shape: Shape) -> Vec<i32> {
    let Shape { w, h } = shape;
    let (across, down) = (cosines(w), cosines(h));
    let mut half = vec![0; w * h];
    for (row, half) in spectrum.chunks_exact(w).zip(half.chunks_exact_mut(w)) {
        if row.iter().all(|&value| value == 0) {
            continue;
        }
        for (x, half) in half.iter_mut().enumerate() {
            let products = row
                .iter()
                .enumerate()
                .map(|(u, s)| s.wrapping_mul(across[u * w + x]));
            *half = round(products.fold(0, i32::wrapping_add));
        }
    }
    let mut residual = Vec::with_capacity(w * h);
    for y in 0..h {
        for x in 0..w {
            let products = (0..h).map(|v| down[v * h + y].wrapping_mul(half[v * w + x]));
            residual.push(round(products.fold(0, i32::wrapping_add)));
        }
    }
    residual
}

/// `C_n[k][i]`, row by row.
fn cosines(n: usize) -> &'static [i32] {
    static TABLES: OnceLock<Vec<Vec<i32>>> = OnceLock::new();
    let tables = TABLES.get_or_init(|| [4, 8, 16, 32, 64].map(cosine_table).to_vec());
    &tables[log2(n) - 2]
}

fn cosine_table(n: usize) -> Vec<i32> {
    let entry = |k: usize, i: usize| {
        let wave = if k == 0 {
            759_250_125
        } else {
            cosine((2 * i + 1) * k * (64 / n) % 256)
        };
        ((wave * N[log2(n) - 2] + (1 << 47)) >> 48) as i32
    };
    (0..n * n).map(|at| entry(at / n, at % n)).collect()
}

fn cosine(t: usize) -> i64 {
    match t {
        0..=64 => Q[t],
        65..=128 => -Q[128 - t],
        129..=192 => -Q[t - 128],
        _ => Q[256 - t],
    }
}

/// A residual in the folded shape as the patch has it.
pub(super) fn transpose_back(residual: &[i32], folded: Shape) -> Vec<i32> {
    let Shape { w, h } = folded;
    (0..w * h).map(|i| residual[i % h * w + i / h]).collect()
}

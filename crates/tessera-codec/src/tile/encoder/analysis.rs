//! From residual samples to coefficients, in floats: the encoder's side of the transform.

use crate::simd::vectorised;
use crate::tile::transform::{COSINE_BITS, cosine_matrix, geometry};
use pulp::NullaryFnOnce;
use tessera_dict::{BasisSet, Dictionary};
use tessera_patch::Shape;

/// Float copies of everything the analysis multiplies with.
#[derive(Debug)]
pub(crate) struct Analysis {
    /// Cosine matrices by log2 of the side, and their transposes.
    cosines: Vec<[Vec<f32>; 2]>,
    /// Scans of every shape, as it is and transposed.
    scans: Vec<[Vec<u16>; 2]>,
    /// Rotations by plane kind, group and choice; empty for the cosine basis.
    rotations: [Vec<Vec<Vec<f32>>>; 2],
}

impl Analysis {
    pub(crate) fn new(dictionary: &Dictionary) -> Self {
        let cosines = (0..=6)
            .map(|log| {
                if log < 2 {
                    [vec![], vec![]]
                } else {
                    cosine_pair(log)
                }
            })
            .collect();
        Self {
            cosines,
            scans: Shape::all().map(scan_pair).collect(),
            rotations: [rotations(&dictionary.luma), rotations(&dictionary.chroma)],
        }
    }

    /// Cosine spectrum of `original` minus `prediction`, times `scale`, in the scan order of the folded shape.
    pub(crate) fn spectrum(
        &self,
        shape: Shape,
        transposed: bool,
        patch: Difference<'_>,
        scale: f32,
    ) -> Vec<f32> {
        let down = &self.cosines[shape.log_height()][0];
        let across = &self.cosines[shape.log_width()][1];
        let scan = &self.scans[shape.index()][usize::from(transposed)];
        match shape.width() {
            4 => transform::<4, 32>(down, across, patch, scale, scan),
            8 => transform::<8, 128>(down, across, patch, scale, scan),
            16 => transform::<16, 512>(down, across, patch, scale, scan),
            32 => transform::<32, 2048>(down, across, patch, scale, scan),
            _ => transform::<64, 4096>(down, across, patch, scale, scan),
        }
    }

    /// Coefficients of basis `choice` from a spectrum in scan order, in coding order.
    pub(crate) fn rotate(
        &self,
        bases: &BasisSet,
        shape: Shape,
        class: usize,
        choice: usize,
        spectrum: &[f32],
        out: &mut [f32],
    ) {
        let basis = &bases.group(shape, class)[choice];
        let m = basis.order.len();
        let rotation =
            &self.rotations[bases.kind() as usize][bases.group_index(shape, class)][choice];
        if rotation.is_empty() {
            for (value, &position) in out.iter_mut().zip(&basis.order) {
                *value = spectrum[position as usize];
            }
        } else {
            vectorised(Project {
                atoms: rotation,
                spectrum: &spectrum[..m],
                out: &mut out[..m],
            });
        }
        let area = shape.area();
        out[m..area].copy_from_slice(&spectrum[m..area]);
    }
}

fn rotations(bases: &BasisSet) -> Vec<Vec<Vec<f32>>> {
    let rows = |basis: &tessera_dict::Basis| {
        basis
            .rotation
            .as_ref()
            .map_or(vec![], |rotation| rotation.to_rows())
    };
    bases
        .groups()
        .iter()
        .map(|group| group.iter().map(rows).collect())
        .collect()
}

fn cosine_pair(log: usize) -> [Vec<f32>; 2] {
    let side = 1usize << log;
    let unit = 1.0 / (1u32 << COSINE_BITS) as f32;
    let matrix: Vec<f32> = cosine_matrix(log)
        .entries
        .iter()
        .map(|&v| v as f32 * unit)
        .collect();
    let transpose = (0..side * side)
        .map(|at| matrix[at % side * side + at / side])
        .collect();
    [matrix, transpose]
}

/// Raster indices in scan order, and those of the transposed patch in the scan order of its transpose.
fn scan_pair(shape: Shape) -> [Vec<u16>; 2] {
    let folded = shape.transposed();
    let (w, folded_width) = (shape.width() as u16, folded.width() as u16);
    let exchange = |&raster: &u16| raster % folded_width * w + raster / folded_width;
    [
        geometry(shape).scan.clone(),
        geometry(folded).scan.iter().map(exchange).collect(),
    ]
}

/// A patch of the original (rows `stride` apart) and its prediction (packed).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) original: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) prediction: &'a [i32],
}

/// Transforms a patch of `W` columns and at most `N` samples.
fn transform<const W: usize, const N: usize>(
    down: &[f32],
    across: &[f32],
    patch: Difference<'_>,
    scale: f32,
    scan: &[u16],
) -> Vec<f32> {
    vectorised(Transform::<W, N> {
        down,
        across,
        patch,
        scale,
        scan,
    })
}

struct Transform<'a, const W: usize, const N: usize> {
    down: &'a [f32],
    across: &'a [f32],
    patch: Difference<'a>,
    scale: f32,
    scan: &'a [u16],
}

impl<const W: usize, const N: usize> NullaryFnOnce for Transform<'_, W, N> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn call(self) -> Vec<f32> {
        let Self {
            down,
            across,
            patch,
            scale,
            scan,
        } = self;
        let h = patch.prediction.len() / W;
        let mut residual = [0f32; N];
        let mut half = [0f32; N];
        let rows = patch
            .original
            .chunks(patch.stride)
            .zip(patch.prediction.chunks_exact(W));
        for (to, (original, prediction)) in residual.chunks_exact_mut(W).zip(rows) {
            for ((to, original), prediction) in to.iter_mut().zip(original).zip(prediction) {
                *to = (original - *prediction as f32) * scale;
            }
        }
        for (v, row) in half.chunks_exact_mut(W).enumerate().take(h) {
            let mut sums = [0f32; W];
            for (factor, row) in down[v * h..(v + 1) * h]
                .iter()
                .zip(residual.chunks_exact(W))
            {
                axpy(&mut sums, *factor, row);
            }
            row.copy_from_slice(&sums);
        }
        let full = &mut residual;
        for (to, from) in full.chunks_exact_mut(W).zip(half.chunks_exact(W)).take(h) {
            let mut sums = [0f32; W];
            for (factor, row) in from.iter().zip(across.chunks_exact(W)) {
                axpy(&mut sums, *factor, row);
            }
            to.copy_from_slice(&sums);
        }
        scan.iter().map(|&raster| full[raster as usize]).collect()
    }
}

#[inline(always)]
fn axpy<const W: usize>(sums: &mut [f32; W], factor: f32, row: &[f32]) {
    let row: &[f32; W] = row.try_into().expect("rows have W columns");
    for (sum, value) in sums.iter_mut().zip(row) {
        *sum += factor * value;
    }
}

/// Inner products of a spectrum with atoms.
struct Project<'a> {
    atoms: &'a [f32],
    spectrum: &'a [f32],
    out: &'a mut [f32],
}

impl NullaryFnOnce for Project<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let atoms = self.atoms.chunks_exact(self.spectrum.len());
        for (value, atom) in self.out.iter_mut().zip(atoms) {
            *value = dot(atom, self.spectrum);
        }
    }
}

#[inline(always)]
fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut lanes = [0f32; 8];
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        for i in 0..8 {
            lanes[i] += x[i] * y[i];
        }
    }
    lanes.iter().sum()
}

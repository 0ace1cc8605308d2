//! From residual samples to coefficients, in floats: the encoder's side of the transform.

pub(crate) mod atoms;
pub(crate) mod dct;
pub(crate) mod rotation;

use crate::encoder::forward::dct::{transform_columns, transform_rows};
use crate::encoder::forward::rotation::{RotationCache, RotationSet};
use crate::simd::kernel;
use crate::tile::pool::Pool;
use crate::tile::transform::geometry;
use crate::tile::transform::weights::{FrequencyWeights, WEIGHT_BITS, WeightCurve};
use std::cell::{OnceCell, Ref, RefCell};
use tessera_dict::{BasisSet, PlaneKind};
use tessera_patch::Shape;
use tessera_patch::shape::MAX_ROTATED;

/// Float copies of everything the analysis multiplies with.
#[derive(Debug)]
pub(crate) struct ForwardTransform<'d> {
    /// Scans by plane kind and shape, as it is and transposed, made when first asked for.
    scans: [Vec<OnceCell<[Vec<ScanStep>; 2]>>; 2],
    weights: [FrequencyWeights; 2],
    /// Learned bases, shared by all tiles.
    rotations: &'d RotationCache,
    /// For spectra and coefficients.
    pub(crate) buffers: Pool<f32>,
    /// Of the spectrum at hand; kept here so that not every patch needs fresh memory.
    peaks: RefCell<Peaks>,
}

/// Where a frequency lies in the result of the fast transform, and what makes it orthonormal and takes its weight off.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanStep {
    pub(crate) at: u16,
    pub(crate) norm: f32,
}

/// The frequencies of a spectrum that are worth a look, and the energy of all others a rotation would mix.
#[derive(Debug)]
pub(crate) struct Peaks {
    /// Of these and the values, the first `count` are peaks.
    places: [u16; MAX_ROTATED],
    values: [f32; MAX_ROTATED],
    count: usize,
    rest: f32,
}

/// From this energy (in squared steps) on it matters that atoms of 8 bits are not quite orthonormal: what their inner
/// products with a spectrum miss of it is projected once more.
const LARGE_ENERGY: f32 = 400.0;
/// Frequencies below this (in steps) hardly change the rough price of any basis.
const PEAK: f32 = 0.3;

impl Default for Peaks {
    fn default() -> Self {
        Self {
            places: [0; MAX_ROTATED],
            values: [0.0; MAX_ROTATED],
            count: 0,
            rest: 0.0,
        }
    }
}

impl Peaks {
    /// Finds the peaks of a spectrum.
    fn find(&mut self, spectrum: &[f32]) {
        self.count = 0;
        for (first, chunk) in spectrum.as_chunks::<8>().0.iter().enumerate() {
            // Most frequencies are small, and so are their neighbours.
            if !chunk.iter().fold(false, |any, &value| any | is_peak(value)) {
                continue;
            }
            // Every frequency is written down, and the next one over it unless it is a peak: which ones are, no branch
            // would foresee.
            for (i, &value) in chunk.iter().enumerate() {
                self.places[self.count] = (8 * first + i) as u16;
                self.values[self.count] = value;
                self.count += usize::from(is_peak(value));
            }
        }
        let small = |value: f32| if is_peak(value) { 0.0 } else { value };
        self.rest = sum_of_squares(spectrum, small);
    }

    /// Places and values.
    #[inline(always)]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (usize, f32)> {
        let places = self.places[..self.count].iter();
        let values = &self.values[..self.count];
        places
            .zip(values)
            .map(|(&place, &value)| (usize::from(place), value))
    }

    /// Energy of all that are none.
    pub(crate) fn rest(&self) -> f32 {
        self.rest
    }
}

#[inline(always)]
fn is_peak(value: f32) -> bool {
    value.abs() >= PEAK
}

/// Energy of values after `map`, in several sums at once.
#[inline(always)]
fn sum_of_squares(values: &[f32], map: impl Fn(f32) -> f32) -> f32 {
    let square = |value: f32| map(value) * map(value);
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums = [0f32; 8];
    for chunk in chunks {
        for (sum, &value) in sums.iter_mut().zip(chunk) {
            *sum += square(value);
        }
    }
    let rest: f32 = rest.iter().map(|&value| square(value)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Energy of values.
pub(crate) fn energy(values: &[f32]) -> f32 {
    sum_of_squares(values, |value| value)
}

impl<'d> ForwardTransform<'d> {
    /// With the bases of a dictionary and the frequency weights of luma and chroma.
    pub(crate) fn new(rotations: &'d RotationCache, weights: [WeightCurve; 2]) -> Self {
        Self {
            buffers: Pool::default(),
            peaks: RefCell::default(),
            scans: [0, 1].map(|_| Shape::all().map(|_| OnceCell::new()).collect()),
            weights: weights.map(FrequencyWeights::new),
            rotations,
        }
    }

    /// The learned bases of a group side by side.
    pub(crate) fn rotations(&self, bases: &BasisSet, group: usize) -> &'d RotationSet {
        self.rotations.get(bases, group)
    }

    /// The scan of a shape, or of its transpose as it lies in the result of the fast transform.
    pub(crate) fn scan(&self, kind: PlaneKind, shape: Shape, transposed: bool) -> &[ScanStep] {
        let weights = &self.weights[kind as usize];
        let scans =
            self.scans[kind as usize][shape.index()].get_or_init(|| scan_pair(shape, weights));
        &scans[usize::from(transposed)]
    }

    /// Frequencies of `original` minus `prediction`, times `scale`, as the fast transform leaves them.
    pub(crate) fn frequencies(
        &self,
        shape: Shape,
        patch: Difference<'_>,
        scale: f32,
        out: &mut [f32],
    ) {
        transform_of(shape)(patch, scale, out);
    }

    /// Cosine spectrum in the scan order of the shape the basis sees, from what the fast transform left.
    pub(crate) fn spectrum(
        &self,
        (kind, shape): (PlaneKind, Shape),
        transposed: bool,
        frequencies: &[f32],
        out: &mut [f32],
    ) {
        order(self.scan(kind, shape, transposed), frequencies, out);
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
        let group = bases.group_index(shape, class);
        if basis.rotation.is_none() {
            for (value, &position) in out.iter_mut().zip(&basis.order) {
                *value = spectrum[position as usize];
            }
        } else {
            let rotations = self.rotations(bases, group);
            rotations.rotate(choice, &spectrum[..m], &mut out[..m]);
            if energy(&spectrum[..m]) > LARGE_ENERGY {
                rotations.refine(choice, &spectrum[..m], &mut out[..m]);
            }
        }
        let area = shape.area();
        out[m..area].copy_from_slice(&spectrum[m..area]);
    }

    /// The peaks among the first `m` frequencies.
    pub(crate) fn peaks(&self, spectrum: &[f32], m: usize) -> Ref<'_, Peaks> {
        (self.peaks.borrow_mut()).find(&spectrum[..m.min(MAX_ROTATED)]);
        self.peaks.borrow()
    }
}

/// The scan of a shape, and for the transposed patch the scan of the transposed shape.
fn scan_pair(shape: Shape, weights: &FrequencyWeights) -> [Vec<ScanStep>; 2] {
    let (w, h) = (shape.width(), shape.height());
    let weights = weights.of(shape);
    let weight = |u: usize, v: usize| {
        let fixed = weights.map_or(1 << WEIGHT_BITS, |weights| weights[v * w + u]);
        f64::from(fixed) / f64::from(1u32 << WEIGHT_BITS)
    };
    // The fast transform leaves columns in rows of wide shapes.
    let step = |u: usize, v: usize| {
        let norm = |frequency: usize, side: usize| {
            let square = if frequency == 0 { 1.0 } else { 2.0 } / side as f64;
            square.sqrt()
        };
        ScanStep {
            at: if w > WIDEST_UPRIGHT {
                u * h + v
            } else {
                v * w + u
            } as u16,
            norm: (norm(u, w) * norm(v, h) / weight(u, v)) as f32,
        }
    };
    let upright = |&raster: &u16| step(usize::from(raster) % w, usize::from(raster) / w);
    let turned = |&raster: &u16| step(usize::from(raster) / h, usize::from(raster) % h);
    [
        geometry(shape).scan.iter().map(upright).collect(),
        geometry(shape.transposed())
            .scan
            .iter()
            .map(turned)
            .collect(),
    ]
}

/// A patch of the original (rows `stride` apart) and its prediction (packed).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Difference<'a> {
    pub(crate) original: &'a [u16],
    pub(crate) stride: usize,
    pub(crate) prediction: &'a [i32],
}

/// Up to this width the fast transform works on rows where they are; wider ones are transposed for it.
const WIDEST_UPRIGHT: usize = 16;

/// The transform of patches of a shape.
fn transform_of(shape: Shape) -> fn(Difference<'_>, f32, &mut [f32]) {
    match (shape.width(), shape.height()) {
        (4, 4) => transform::<4, 4>,
        (4, 8) => transform::<4, 8>,
        (8, 4) => transform::<8, 4>,
        (8, 8) => transform::<8, 8>,
        (8, 16) => transform::<8, 16>,
        (16, 8) => transform::<16, 8>,
        (16, 16) => transform::<16, 16>,
        (16, 32) => transform::<16, 32>,
        (32, 16) => transform::<32, 16>,
        (32, 32) => transform::<32, 32>,
        (32, 64) => transform::<32, 64>,
        (64, 32) => transform::<64, 32>,
        _ => transform::<64, 64>,
    }
}

kernel! {
    /// Transforms a patch of `W` columns and `H` rows.
    fn transform<const W: usize, const H: usize>(
        patch: Difference<'_>,
        scale: f32,
        out: &mut [f32],
    ) {
        let mut rows = [[0f32; W]; H];
        let originals = patch.original.chunks(patch.stride);
        let predictions = patch.prediction.as_chunks::<W>().0;
        for (to, (original, prediction)) in rows.iter_mut().zip(originals.zip(predictions)) {
            let original: &[u16; W] = original.first_chunk().expect("a patch lies in its plane");
            for x in 0..W {
                to[x] = (i32::from(original[x]) - prediction[x]) as f32 * scale;
            }
        }
        transform_columns::<W, H>(&mut rows);
        if W <= WIDEST_UPRIGHT {
            transform_rows::<W>(&rows, out.as_chunks_mut::<W>().0);
            return;
        }
        let columns = out.as_chunks_mut::<H>().0;
        for (y, row) in rows.iter().enumerate() {
            for (column, value) in columns.iter_mut().zip(row) {
                column[y] = *value;
            }
        }
        transform_columns::<H, W>(columns);
    }
}

/// Adds a multiple of a row to sums: the inner loop of every product of a matrix and a vector.
#[inline(always)]
fn add_scaled<const N: usize>(sums: &mut [f32; N], factor: f32, row: &[f32; N]) {
    for i in 0..N {
        sums[i] = factor.mul_add(row[i], sums[i]);
    }
}

kernel! {
    /// Puts frequencies in the order of a scan.
    fn order(scan: &[ScanStep], frequencies: &[f32], out: &mut [f32]) {
        match frequencies.len() {
            16 => order_of::<16>(scan, frequencies, out),
            32 => order_of::<32>(scan, frequencies, out),
            64 => order_of::<64>(scan, frequencies, out),
            128 => order_of::<128>(scan, frequencies, out),
            256 => order_of::<256>(scan, frequencies, out),
            512 => order_of::<512>(scan, frequencies, out),
            1024 => order_of::<1024>(scan, frequencies, out),
            2048 => order_of::<2048>(scan, frequencies, out),
            _ => order_of::<4096>(scan, frequencies, out),
        }
    }
}

/// Orders `N` frequencies: where their number is known, places need no check.
#[inline(always)]
fn order_of<const N: usize>(scan: &[ScanStep], frequencies: &[f32], out: &mut [f32]) {
    let frequencies: &[f32; N] = frequencies.try_into().expect("a patch has its area");
    let scan = scan.as_chunks::<8>().0;
    for (out, steps) in out.as_chunks_mut::<8>().0.iter_mut().zip(scan) {
        for (out, step) in out.iter_mut().zip(steps) {
            *out = frequencies[usize::from(step.at) % N] * step.norm;
        }
    }
}

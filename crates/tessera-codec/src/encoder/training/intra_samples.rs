//! What the networks for luma patches may learn from.

use crate::encoder::lookahead::luma_site;
use crate::encoder::patch_search::PatchSearch;
use crate::encoder::training::PatchObserver;
use crate::tile::intra::{Border, HORIZONTAL, Known, MEAN, PLANAR, Predictor, VERTICAL};
use crate::tile::state::Site;
use crate::tile::transform::BasisOrientation;
use crate::tile::transform::geometry;
use crate::tile::transform::weights::WEIGHT_BITS;
use tessera_dict::patch_net;
use tessera_patch::Shape;
use tessera_patch::shape::MIN_SIDE;

/// What a network for luma patches may learn from one place.
#[derive(Debug)]
pub struct IntraSample {
    /// Shape of the patch.
    pub shape: Shape,
    /// The network's inputs but for the place, see [`crate::encoder::training::fill_in_places`].
    pub inputs: Vec<i16>,
    /// Column and row of the patch's middle in its picture.
    pub middle: [u32; 2],
    /// The lowest frequencies of what the planar prediction misses, row by row, in samples.
    pub frequencies: Vec<f32>,
    /// Sum of the squared errors of the best of a few plain modes, in squared steps.
    pub rest: f32,
    /// Step of the quantiser, in samples.
    pub step: f32,
}

/// Shows the surroundings of all shapes that could start where a leaf of this mode does.
pub(crate) fn observe_surroundings(
    patches: PatchSearch<'_, '_>,
    place: &Site,
    mode: usize,
    observer: &mut dyn PatchObserver,
) {
    let canvas = &patches.recon.luma;
    for shape in Shape::all() {
        let (w, h) = (shape.width(), shape.height());
        let aligned = place.x.is_multiple_of(w) && place.y.is_multiple_of(h);
        let fits = aligned && place.x + w <= canvas.width && place.y + h <= canvas.height;
        if fits && observer.intra_samples_missing(shape).is_some() {
            let site = Site { shape, ..*place };
            let border = canvas.border(0, site.x, site.y, shape);
            observer.intra_sample(record(patches, &site, border, mode));
        }
    }
}

/// Shows the surroundings of other places, spread over a tile that is coded: large shapes are rare in the
/// partition, but there is as much to learn about them.
pub(crate) fn observe_elsewhere(patches: PatchSearch<'_, '_>, observer: &mut dyn PatchObserver) {
    let canvas = &patches.recon.luma;
    for shape in Shape::all() {
        let (w, h) = (shape.width(), shape.height());
        let missing = observer.intra_samples_missing(shape).unwrap_or(0);
        if w > canvas.width || h > canvas.height {
            continue;
        }
        let columns = (canvas.width - w) / MIN_SIDE + 1;
        let places = columns * ((canvas.height - h) / MIN_SIDE + 1);
        // Small tiles have no more to tell than they have places.
        for turn in 0..missing.min(places) {
            let place = spread(turn, places);
            let (x, y) = (place % columns * MIN_SIDE, place / columns * MIN_SIDE);
            let site = luma_site(x, y, shape);
            let border = likely_border(patches, &site, turn);
            let cell = canvas.cell((x + w / 2) as isize, (y + h / 2) as isize);
            let mode = cell.map_or(PLANAR, |cell| usize::from(cell.mode));
            observer.intra_sample(record(patches, &site, border, mode));
        }
    }
}

/// The border of a patch as it could be in mid-coding: in the order of coding, a quarter of all patches has
/// decoded samples beyond both ends, and a quarter beyond none.
fn likely_border(patches: PatchSearch<'_, '_>, site: &Site, turn: usize) -> Border {
    let canvas = &patches.recon.luma;
    let samples = &canvas.components[0];
    let Site { x, y, shape, .. } = *site;
    let (w, h) = (shape.width(), shape.height());
    let arm = |along: usize, beyond: usize, known: bool, room: usize| {
        (along + if known { beyond } else { 0 }).min(room)
    };
    let tops = match y {
        0 => 0,
        _ => arm(w, h, !turn.is_multiple_of(4), canvas.width - x),
    };
    let lefts = match x {
        0 => 0,
        _ => arm(h, w, turn % 4 == 1, canvas.height - y),
    };
    let known = Known {
        lefts,
        tops,
        corner: x > 0 && y > 0,
    };
    Border::read(&samples.data, samples.stride, (x, y), w + h, known)
}

/// What can be learned from a patch with this border; `mode` is one that may suit it.
fn record(patches: PatchSearch<'_, '_>, site: &Site, border: Border, mode: usize) -> IntraSample {
    let shape = site.shape;
    let predictor = Predictor::new(border, shape);
    let spectrum = |mode: usize| {
        let mut prediction = patches.recon.samples.take(shape.area());
        predictor.predict(mode, &mut prediction);
        let frequencies = patches.frequencies(site, &prediction);
        patches.recon.samples.give(prediction);
        patches.spectrum(site, BasisOrientation::NONE, frequencies)
    };
    let energy = |spectrum: &[f32]| -> f32 { spectrum.iter().map(|c| c * c).sum() };
    let planar = spectrum(PLANAR);
    let others = [MEAN, mode, HORIZONTAL, VERTICAL].map(|mode| {
        let spectrum = spectrum(mode);
        let energy = energy(&spectrum);
        patches.tile.forward.buffers.give(spectrum);
        energy
    });
    let rest = others.into_iter().fold(energy(&planar), f32::min);
    let step = patches.recon.step(site).value();
    let decoded = &patches.recon.luma.components[0];
    let neural_context = patches
        .recon
        .neural_context(site, &decoded.data, decoded.stride);
    let frequencies = lowest(shape, &planar, step, patches.recon.weights[0].of(shape));
    patches.tile.forward.buffers.give(planar);
    IntraSample {
        shape,
        inputs: neural_context
            .describe(shape, &predictor.raw)
            .all()
            .to_vec(),
        middle: neural_context.middle(shape),
        frequencies,
        rest,
        step,
    }
}

/// Item `turn` of an even spread over `count` places.
fn spread(turn: usize, count: usize) -> usize {
    // Multiples of the golden ratio.
    let part = (turn as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32;
    ((part * count as u64) >> 32) as usize
}

/// The frequencies that a network predicts, in samples, from a spectrum in scan order and steps.
fn lowest(shape: Shape, spectrum: &[f32], step: f32, weights: Option<&[u16]>) -> Vec<f32> {
    let [columns, rows] = patch_net::means(shape);
    let mut low = vec![0.0; columns * rows];
    for (&raster, value) in geometry(shape).scan.iter().zip(spectrum) {
        let (u, v) = (
            usize::from(raster) % shape.width(),
            usize::from(raster) / shape.width(),
        );
        if u < columns && v < rows {
            let weight = weights.map_or(1.0, |weights| {
                f32::from(weights[usize::from(raster)]) / (1u32 << WEIGHT_BITS) as f32
            });
            low[v * columns + u] = step * weight * value;
        }
    }
    low
}

//! Patches predicted by the dictionary's networks (`spec/bitstream.md`, section "Learned prediction").
//!
//! A network sees two lines of decoded samples around the patch, as differences to their mean, and says by how much
//! the lowest frequencies of the patch differ from those of the planar prediction. It makes two such predictions.

use crate::tile::intra::packed_net::{
    CONSTANT, Hidden, InputPairs, LARGEST, PackedNet, PackedNets,
};
use crate::tile::intra::{Border, SAMPLE_MAX};
use crate::tile::transform::synthesise_low;
use std::cell::OnceCell;
use tessera_dict::PatchNets;
use tessera_dict::net::WEIGHT_BITS;
use tessera_dict::patch_net::{self, BEYOND, MAX_INPUTS, PLACES, SIDE};
use tessera_patch::Shape;
use tessera_patch::shape::SUPERBLOCK;

/// Samples of buffers for patches, of which the largest are seldom needed and take long to clear.
const BUFFERS: [usize; 4] = [64, 256, 1024, SUPERBLOCK * SUPERBLOCK];
/// Quantiser index in the middle of the usual range.
const MIDDLE_QUANTISER: i32 = 68;

/// The surroundings of a patch beyond its border.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NeuralContext<'a> {
    /// Samples of the plane, of which those around the patch are decoded.
    pub(crate) samples: &'a [u16],
    pub(crate) stride: usize,
    /// Column and row of the patch in the plane.
    pub(crate) at: (usize, usize),
    /// Column and row of the plane's first sample in its picture.
    pub(crate) origin: (u32, u32),
    pub(crate) quantiser: u8,
}

impl NeuralContext<'_> {
    /// Column and row of the middle of the patch in its picture.
    pub(crate) fn middle(&self, shape: Shape) -> [u32; 2] {
        let (x, y) = self.at;
        let (x, y) = (x + shape.width() / 2, y + shape.height() / 2);
        [self.origin.0 + x as u32, self.origin.1 + y as u32]
    }

    /// The inputs of the network for the shape, but for the place.
    pub(crate) fn describe(&self, shape: Shape, border: &Border) -> Inputs {
        let ((x, y), w, h) = (self.at, shape.width(), shape.height());
        let [across, down] = patch_net::means(shape);
        let (top, left) = (&border.top[1..=w], &border.left[1..=h]);
        let mut inputs = Inputs::around(border.mean(shape));
        inputs.push_means(top, across);
        let row = |i: usize| Some((x + i, y.checked_sub(2)?));
        inputs.push_means(&self.second_line(top, row)[..w], across);
        inputs.push_means(&border.top[w + 1..=w + h], BEYOND);
        inputs.push_means(left, down);
        let column = |i: usize| Some((x.checked_sub(2)?, y + i));
        inputs.push_means(&self.second_line(left, column)[..h], down);
        inputs.push_means(&border.left[h + 1..=w + h], BEYOND);
        for (dx, dy) in [(2, 2), (1, 2), (2, 1), (1, 1)] {
            let decoded = x >= dx && y >= dy;
            let sample = decoded.then(|| self.sample(x - dx, y - dy));
            inputs.push_difference(sample.unwrap_or(border.top[0]));
        }
        inputs.push((inputs.level - 2048) >> 1);
        inputs.push(32 * (i32::from(self.quantiser) - MIDDLE_QUANTISER));
        inputs.count += PLACES;
        inputs.push(i32::from(CONSTANT));
        inputs
    }

    fn sample(&self, x: usize, y: usize) -> i16 {
        self.samples[y * self.stride + x] as i16
    }

    /// The line behind the `first` one along a side of the patch, or the first one where there is none; `place` says
    /// where its samples lie, if the plane has them.
    fn second_line(
        &self,
        first: &[i16],
        place: impl Fn(usize) -> Option<(usize, usize)>,
    ) -> [i16; SUPERBLOCK] {
        let mut line = [0; SUPERBLOCK];
        for (i, (to, &first)) in line.iter_mut().zip(first).enumerate() {
            *to = place(i).map_or(first, |(x, y)| self.sample(x, y));
        }
        line
    }
}

/// The networks before one patch.
#[derive(Debug)]
pub(crate) struct NeuralIntra<'a> {
    nets: &'a PatchNets,
    packed: &'a PackedNets,
    neural_context: NeuralContext<'a>,
    /// Common to both predictions.
    hidden: OnceCell<Hidden>,
}

impl<'a> NeuralIntra<'a> {
    /// `packed` are those of `nets`.
    pub(crate) fn new(
        nets: &'a PatchNets,
        packed: &'a PackedNets,
        neural_context: NeuralContext<'a>,
    ) -> Self {
        Self {
            nets,
            packed,
            neural_context,
            hidden: OnceCell::new(),
        }
    }

    /// The network for patches of this shape, if there is one.
    pub(super) fn net(&self, shape: Shape) -> Option<&'a PackedNet> {
        self.packed.of(self.nets, shape)
    }

    /// Adds to a planar prediction what the network's prediction for `mode`, 0 or 1, says it misses.
    pub(super) fn correct(
        &self,
        net: &PackedNet,
        mode: usize,
        shape: Shape,
        border: &Border,
        out: &mut [i32],
    ) {
        let hidden = (self.hidden).get_or_init(|| self.hidden_layers(net, shape, border));
        let mut frequencies = [0; SIDE * SIDE];
        let frequencies = &mut frequencies[..patch_net::outputs(shape)];
        net.frequencies(mode, hidden, output_shift(shape), frequencies);
        match BUFFERS.map(|samples| shape.area() <= samples) {
            [true, ..] => add_frequencies(shape, frequencies, &mut [0; BUFFERS[0]], out),
            [_, true, ..] => add_frequencies(shape, frequencies, &mut [0; BUFFERS[1]], out),
            [_, _, true, _] => add_frequencies(shape, frequencies, &mut [0; BUFFERS[2]], out),
            _ => add_frequencies(shape, frequencies, &mut [0; BUFFERS[3]], out),
        }
    }

    /// What both predictions start from.
    fn hidden_layers(&self, net: &PackedNet, shape: Shape, border: &Border) -> Hidden {
        let mut inputs = self.neural_context.describe(shape, border);
        let places = place_inputs(self.neural_context.middle(shape), self.nets.extent);
        fill_in_places(&mut inputs.values[..inputs.count], places);
        net.hidden(&inputs.pairs())
    }
}

/// Adds the lowest frequencies of a patch to its prediction; `residual` is a buffer.
fn add_frequencies(shape: Shape, frequencies: &[i32], residual: &mut [i32], out: &mut [i32]) {
    let residual = &mut residual[..shape.area()];
    synthesise_low(shape, frequencies, patch_net::means(shape)[0], residual);
    for (sample, residual) in out.iter_mut().zip(residual) {
        *sample = sample.wrapping_add(*residual).clamp(0, SAMPLE_MAX);
    }
}

/// Fractional bits of the sums that are frequencies: fewer for larger patches, whose frequencies are larger for the
/// same amplitude.
pub fn output_shift(shape: Shape) -> u32 {
    WEIGHT_BITS + 3 - ((shape.log_width() + shape.log_height()) >> 1) as u32
}

/// The inputs of a network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs {
    values: [i16; MAX_INPUTS],
    count: usize,
    /// What samples are compared with.
    level: i32,
}

impl Inputs {
    fn around(level: i32) -> Self {
        Self {
            values: [0; MAX_INPUTS],
            count: 0,
            level,
        }
    }

    fn push(&mut self, value: i32) {
        self.values[self.count] = value.clamp(-LARGEST, LARGEST) as i16;
        self.count += 1;
    }

    fn push_difference(&mut self, sample: i16) {
        self.push(i32::from(sample) - self.level);
    }

    /// Means of `count` runs.
    fn push_means(&mut self, samples: &[i16], count: usize) {
        let run = samples.len() / count;
        for samples in samples.chunks_exact(run) {
            let sum: i32 = samples.iter().map(|&sample| i32::from(sample)).sum();
            let run = run as i32;
            self.push((2 * sum + run) / (2 * run) - self.level);
        }
    }

    fn pairs(&self) -> InputPairs {
        let mut pairs: InputPairs = [[0; 2]; MAX_INPUTS.div_ceil(2)];
        pairs.as_flattened_mut()[..self.count].copy_from_slice(self.all());
        pairs
    }

    pub(crate) fn all(&self) -> &[i16] {
        &self.values[..self.count]
    }
}

/// Completes the inputs of a network; the constant stands behind the place.
pub fn fill_in_places(inputs: &mut [i16], places: [i16; PLACES]) {
    let start = inputs.len() - 1 - PLACES;
    inputs[start..][..PLACES].copy_from_slice(&places);
}

/// The place of a patch's middle in pictures of this size: triangle waves of rising frequency along both sides.
pub fn place_inputs(middle: [u32; 2], extent: [u16; 2]) -> [i16; PLACES] {
    let mut places = [0; PLACES];
    for (axis, places) in places
        .as_chunks_mut::<{ PLACES / 2 }>()
        .0
        .iter_mut()
        .enumerate()
    {
        let part = (u64::from(middle[axis]) << 10) / u64::from(extent[axis]);
        let part = part.min(1023) as i16;
        for (wave, place) in (1..).zip(places) {
            let phase = (wave * part) & 2047;
            *place = phase.min(2047 - phase) - 512;
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tile::canvas::Canvas;
    use crate::tile::intra::{MEAN, PLANAR, Predictor};
    use tessera_dict::PatchNet;
    use tessera_patch::shape::SHAPE_COUNT;

    /// Networks whose first prediction adds a constant to the patch, a multiple of 1/8 sample.
    fn nets(constant: i16) -> PatchNets {
        let mut nets = [const { None }; SHAPE_COUNT];
        for (net, shape) in nets.iter_mut().zip(Shape::all()) {
            let [first, second, last] = patch_net::weights(shape).map(|count| vec![0; count]);
            let mut constant_net = PatchNet {
                first,
                second,
                last,
            };
            constant_net.last[patch_net::units(shape)] = constant;
            *net = Some(constant_net);
        }
        PatchNets {
            extent: [64, 64],
            nets,
        }
    }

    /// Mean difference of both predictions, in an undecoded corner and in the middle of a ramp.
    fn change(shape: Shape, constant: i16) -> [i32; 2] {
        let mut canvas = Canvas::new(128, 128, 1);
        let ramp = (0..128 * 128).map(|i| 1000 + (i % 128 + i / 128) as u16);
        canvas.components[0].data = ramp.collect();
        let nets = nets(constant);
        [0, 64].map(|place| {
            let neural_context = NeuralContext {
                samples: &canvas.components[0].data,
                stride: 128,
                at: (place, place),
                origin: (7, 9),
                quantiser: 60,
            };
            let border = canvas.border(0, place, place, shape);
            let packed = PackedNets::default();
            let neural_intra = NeuralIntra::new(&nets, &packed, neural_context);
            let predictor = Predictor::with_networks(border, shape, Some(neural_intra));
            let sum = |mode: usize| {
                let mut out = vec![0; shape.area()];
                predictor.predict(mode, &mut out);
                out.iter().sum::<i32>()
            };
            (sum(PLANAR) - sum(MEAN)) / shape.area() as i32
        })
    }

    #[test]
    fn a_network_without_weights_predicts_twice_the_same() {
        for shape in Shape::all() {
            assert_eq!(change(shape, 0), [0, 0]);
        }
    }

    #[test]
    fn the_lowest_frequency_moves_the_whole_patch_by_the_same_at_every_size() {
        for shape in Shape::all().filter(|shape| shape.width() == shape.height()) {
            // 1024 x 512 / 2^10 / 8 samples.
            let [corner, middle] = change(shape, 1024);
            assert!((63..=65).contains(&corner), "{shape:?}: {corner}");
            assert!((63..=65).contains(&middle), "{shape:?}: {middle}");
        }
    }

    #[test]
    fn places_run_along_both_sides() {
        let [left, right] = [0, 99].map(|x| place_inputs([x, 20], [100, 40]));
        assert_eq!(left[..4], [-512; 4]);
        assert!(right[0] > 460 && right[1] < -460 && right[2] > 460 && right[3] < -460);
        assert_eq!(left[4..], right[4..]);
        assert_eq!(left[4], 0);
        assert_eq!(place_inputs([5000, 0], [100, 40])[0], 511);
    }
}

//! Networks of patches laid out for instructions that multiply pairs of 16-bit numbers (`spec/bitstream.md`, "Learned
//! prediction").

use crate::simd::{PairOperation, PairProducts, with_pairs};
use std::sync::OnceLock;
use tessera_dict::net::WEIGHT_BITS;
use tessera_dict::patch_net::{self, MAX_INPUTS, MAX_UNITS, PREDICTIONS};
use tessera_dict::{PatchNet, PatchNets};
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// The input that never changes, and what stands behind the units of a layer.
pub(super) const CONSTANT: i16 = 512;
/// Largest magnitude of an input and of what a unit passes on.
pub(super) const LARGEST: i32 = 4095;
/// Units that one instruction adds to. All layers have a multiple of twice as many.
const GROUP: usize = 8;

/// The inputs of a layer in pairs; what is missing of the last pair is zero.
type Pairs<const COUNT: usize> = [[i16; 2]; COUNT];
/// The inputs of a network.
pub(super) type InputPairs = Pairs<{ MAX_INPUTS.div_ceil(2) }>;
/// What the units of a hidden layer pass on, and the constant behind the last of them.
pub(super) type Hidden = Pairs<{ MAX_UNITS / 2 + 1 }>;

/// The networks of a dictionary as they are multiplied with, each made when it is first asked for.
#[derive(Debug, Default)]
pub(crate) struct PackedNets([OnceLock<PackedNet>; SHAPE_COUNT]);

impl PackedNets {
    /// The network that `nets`, always the same, have for a shape.
    pub(super) fn of(&self, nets: &PatchNets, shape: Shape) -> Option<&PackedNet> {
        let net = nets.nets[shape.index()].as_ref()?;
        Some(self.0[shape.index()].get_or_init(|| PackedNet::new(net, shape)))
    }
}

/// A network of three layers, of which the last is there once for every prediction.
#[derive(Debug)]
pub(super) struct PackedNet {
    first: Layer,
    second: Layer,
    last: [Layer; PREDICTIONS],
}

impl PackedNet {
    fn new(net: &PatchNet, shape: Shape) -> Self {
        let inputs = patch_net::inputs(shape);
        let units = net.first.len() / inputs;
        let first = used_units(&net.first, inputs);
        let second = used_units(&net.second, units + 1);
        let (own, other) = net.last.split_at(net.last.len() / PREDICTIONS);
        let outputs = patch_net::outputs(shape);
        let last = |weights| Layer::new(weights, units + 1, outputs, second);
        Self {
            first: Layer::new(&net.first, inputs, first, inputs - 1),
            second: Layer::new(&net.second, units + 1, second, first),
            last: [last(own), last(other)],
        }
    }

    /// What the units of the second hidden layer pass on.
    pub(super) fn hidden(&self, inputs: &InputPairs) -> Hidden {
        let mut hidden = [[0; 2]; MAX_UNITS / 2 + 1];
        with_pairs(HiddenLayers {
            net: self,
            inputs,
            hidden: &mut hidden,
        });
        hidden
    }

    /// The frequencies that a prediction consists of.
    pub(super) fn frequencies(
        &self,
        prediction: usize,
        hidden: &Hidden,
        shift: u32,
        to: &mut [i32],
    ) {
        with_pairs(LastLayer {
            layer: &self.last[prediction],
            hidden,
            shift,
            frequencies: to,
        });
    }
}

/// The number of units up to the last one with a weight, and as many more as layers must have: small networks are stored
/// as large ones whose other units pass on nothing.
fn used_units(weights: &[i16], inputs: usize) -> usize {
    let mut units = weights.chunks_exact(inputs);
    let used = units.rposition(|unit| unit.iter().any(|&weight| weight != 0));
    used.map_or(0, |last| last + 1).next_multiple_of(2 * GROUP)
}

/// The weights of a layer.
#[derive(Debug)]
struct Layer {
    /// Pairs of inputs.
    pairs: usize,
    /// For every eight units one entry per pair of inputs: both weights of the first unit, of the second, and so on.
    weights: Vec<[i16; 2 * GROUP]>,
}

impl Layer {
    /// Of the first `units` of a layer stored unit by unit, `inputs` weights each, the last that of the constant; of the
    /// other inputs the first `used` count.
    fn new(weights: &[i16], inputs: usize, units: usize, used: usize) -> Self {
        let pairs = used / 2 + 1;
        let mut packed = vec![[0; 2 * GROUP]; pairs * units / GROUP];
        let groups = weights.chunks_exact(GROUP * inputs);
        for (to, units) in packed.chunks_exact_mut(pairs).zip(groups) {
            pack(units, inputs, used, to);
        }
        Self {
            pairs,
            weights: packed,
        }
    }

    /// Hands on the sums of all units, eight at a time, with the number of the first.
    #[inline(always)]
    fn each_sum(
        &self,
        pairs: impl PairProducts,
        inputs: &[[i16; 2]],
        mut take: impl FnMut(usize, [i32; GROUP]),
    ) {
        let inputs = &inputs[..self.pairs];
        let mut unit = 0;
        let fours = self.weights.chunks_exact(4 * self.pairs);
        let two = fours.remainder();
        for four in fours {
            each_of::<4>(pairs, four, inputs, |at, sums| take(unit + at, sums));
            unit += 4 * GROUP;
        }
        if !two.is_empty() {
            each_of::<2>(pairs, two, inputs, |at, sums| take(unit + at, sums));
        }
    }

    /// Units that add up their inputs and pass on what is above zero; the constant stands behind them.
    #[inline(always)]
    fn pass_on(&self, pairs: impl PairProducts, inputs: &[[i16; 2]], units: &mut Hidden) {
        let passed = units.as_flattened_mut();
        self.each_sum(pairs, inputs, |unit, sums| {
            for (passed, sum) in passed[unit..][..GROUP].iter_mut().zip(sums) {
                let sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
                *passed = sum.clamp(0, LARGEST) as i16;
            }
        });
        units[self.weights.len() / self.pairs * GROUP / 2] = [CONSTANT, 0];
    }
}

/// Lays out the weights of eight units; `used` of their inputs count, and the constant.
fn pack(units: &[i16], inputs: usize, used: usize, to: &mut [[i16; 2 * GROUP]]) {
    for (lane, unit) in units.chunks_exact(inputs).enumerate() {
        let (whole, odd) = unit[..used].as_chunks::<2>();
        for (to, pair) in to.iter_mut().zip(whole) {
            to[2 * lane] = pair[0];
            to[2 * lane + 1] = pair[1];
        }
        let last = &mut to[whole.len()];
        let constant = unit[inputs - 1];
        [last[2 * lane], last[2 * lane + 1]] = match odd {
            [odd] => [*odd, constant],
            _ => [constant, 0],
        };
    }
}

/// The sums of `N` times eight units.
#[inline(always)]
fn each_of<const N: usize>(
    pairs: impl PairProducts,
    weights: &[[i16; 2 * GROUP]],
    inputs: &[[i16; 2]],
    mut take: impl FnMut(usize, [i32; GROUP]),
) {
    let mut groups = [weights; N];
    for (group, weights) in groups.iter_mut().zip(weights.chunks_exact(inputs.len())) {
        *group = weights;
    }
    let mut sums = [pairs.wide(); N];
    for (at, &input) in inputs.iter().enumerate() {
        for (sums, weights) in sums.iter_mut().zip(&groups) {
            *sums = pairs.add_products(*sums, &weights[at], input);
        }
    }
    for (at, sums) in sums.into_iter().enumerate() {
        take(GROUP * at, pairs.wide_values(sums));
    }
}

/// Both hidden layers.
struct HiddenLayers<'a> {
    net: &'a PackedNet,
    inputs: &'a InputPairs,
    hidden: &'a mut Hidden,
}

impl PairOperation for HiddenLayers<'_> {
    #[inline(always)]
    fn call(self, pairs: impl PairProducts) {
        let mut first = [[0; 2]; MAX_UNITS / 2 + 1];
        self.net.first.pass_on(pairs, self.inputs, &mut first);
        self.net.second.pass_on(pairs, &first, self.hidden);
    }
}

/// The last layer of one prediction.
struct LastLayer<'a> {
    layer: &'a Layer,
    hidden: &'a Hidden,
    shift: u32,
    frequencies: &'a mut [i32],
}

impl PairOperation for LastLayer<'_> {
    #[inline(always)]
    fn call(self, pairs: impl PairProducts) {
        self.layer.each_sum(pairs, self.hidden, |at, sums| {
            let to = self.frequencies[at..][..GROUP].iter_mut();
            for (frequency, sum) in to.zip(sums) {
                *frequency = (sum + (1 << (self.shift - 1))) >> self.shift;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights and inputs that repeat after long periods.
    fn numbers(count: usize, largest: i32) -> Vec<i16> {
        let number = |i: usize| ((i * 7919) as i32 % (2 * largest + 1) - largest) as i16;
        (0..count).map(number).collect()
    }

    fn plain_sums(weights: &[i16], inputs: &[i16]) -> Vec<i32> {
        let sum = |unit: &[i16]| -> i32 {
            let products = unit.iter().zip(inputs);
            products.map(|(&w, &i)| i32::from(w) * i32::from(i)).sum()
        };
        weights.chunks_exact(inputs.len()).map(sum).collect()
    }

    fn plain_units(weights: &[i16], inputs: &[i16]) -> Vec<i16> {
        let unit = |sum: i32| ((sum + 512) >> 10).clamp(0, LARGEST) as i16;
        let sums = plain_sums(weights, inputs).into_iter();
        sums.map(unit).chain([CONSTANT]).collect()
    }

    /// A network of which the units from `used` on have no weights.
    fn net(shape: Shape, used: usize) -> PatchNet {
        let [mut first, mut second, last] =
            patch_net::weights(shape).map(|count| numbers(count, 2000));
        let units = patch_net::units(shape);
        for (layer, inputs) in [
            (&mut first, patch_net::inputs(shape)),
            (&mut second, units + 1),
        ] {
            layer[used.min(units) * inputs..].fill(0);
        }
        PatchNet {
            first,
            second,
            last,
        }
    }

    #[test]
    fn packed_networks_say_what_plain_sums_say() {
        for (shape, used) in
            Shape::all().flat_map(|shape| [0, 7, 40, 256].map(|used| (shape, used)))
        {
            let net = net(shape, used);
            let inputs = numbers(patch_net::inputs(shape), LARGEST);
            let wanted = plain_units(&net.second, &plain_units(&net.first, &inputs));
            let wanted = plain_sums(&net.last, &wanted);
            let packed = PackedNet::new(&net, shape);
            let mut pairs: InputPairs = [[0; 2]; MAX_INPUTS.div_ceil(2)];
            pairs.as_flattened_mut()[..inputs.len()].copy_from_slice(&inputs);
            let hidden = packed.hidden(&pairs);
            for (prediction, wanted) in wanted.chunks(patch_net::outputs(shape)).enumerate() {
                let mut said = vec![0; wanted.len()];
                packed.frequencies(prediction, &hidden, 9, &mut said);
                let wanted: Vec<i32> = wanted.iter().map(|sum| (sum + 256) >> 9).collect();
                assert_eq!(said, wanted, "{shape:?}, {used} units");
            }
        }
    }
}

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
/// Units whose sums grow side by side: two registers of eight. All layers have a multiple of them.
const LANES: usize = 16;

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
        let (own, other) = net.last.split_at(net.last.len() / PREDICTIONS);
        Self {
            first: Layer::new(&net.first, inputs),
            second: Layer::new(&net.second, units + 1),
            last: [own, other].map(|weights| Layer::new(weights, units + 1)),
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

/// The weights of a layer.
#[derive(Debug)]
struct Layer {
    /// Pairs of inputs.
    pairs: usize,
    /// For every eight units one entry per pair of inputs: both weights of the first unit, of the second, and so on.
    weights: Vec<[i16; LANES]>,
}

impl Layer {
    /// Of weights unit by unit, so many each.
    fn new(weights: &[i16], inputs: usize) -> Self {
        let (pairs, group) = (inputs.div_ceil(2), LANES / 2 * inputs);
        let packed = |units: &[i16], pair: usize| {
            std::array::from_fn(|lane| {
                let input = 2 * pair + lane % 2;
                let exists = input < inputs;
                if exists {
                    units[lane / 2 * inputs + input]
                } else {
                    0
                }
            })
        };
        let groups = weights.chunks_exact(group);
        let weights = groups.flat_map(|units| (0..pairs).map(move |pair| packed(units, pair)));
        Self {
            pairs,
            weights: weights.collect(),
        }
    }

    /// Hands on the sums of all units, some at a time.
    #[inline(always)]
    fn each_sum(
        &self,
        pairs: impl PairProducts,
        inputs: &[[i16; 2]],
        mut take: impl FnMut(usize, [[i32; LANES / 2]; 2]),
    ) {
        let inputs = &inputs[..self.pairs];
        for (at, weights) in self.weights.chunks_exact(2 * inputs.len()).enumerate() {
            let (low, high) = weights.split_at(inputs.len());
            let mut sums = [[0; LANES / 2]; 2];
            for ((&[first, second], low), high) in inputs.iter().zip(low).zip(high) {
                let input = std::array::from_fn(|i| if i % 2 == 0 { first } else { second });
                for (sums, weights) in sums.iter_mut().zip([low, high]) {
                    let products = pairs.pair_products(*weights, input);
                    for (sum, product) in sums.iter_mut().zip(products) {
                        *sum += product;
                    }
                }
            }
            take(at, sums);
        }
    }

    /// Units that add up their inputs and pass on what is above zero; the constant stands behind them.
    #[inline(always)]
    fn pass_on(&self, pairs: impl PairProducts, inputs: &[[i16; 2]], units: &mut Hidden) {
        let mut count = 0;
        self.each_sum(pairs, inputs, |at, sums| {
            let to = units.as_flattened_mut()[at * LANES..][..LANES].iter_mut();
            for (unit, sum) in to.zip(sums.as_flattened()) {
                let sum = (sum + (1 << (WEIGHT_BITS - 1))) >> WEIGHT_BITS;
                *unit = sum.clamp(0, LARGEST) as i16;
            }
            count += LANES / 2;
        });
        units[count] = [CONSTANT, 0];
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
            let to = self.frequencies[at * LANES..][..LANES].iter_mut();
            for (frequency, sum) in to.zip(sums.as_flattened()) {
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

    #[test]
    fn packed_networks_say_what_plain_sums_say() {
        for shape in Shape::all() {
            let [first, second, last] = patch_net::weights(shape).map(|count| numbers(count, 2000));
            let inputs = numbers(patch_net::inputs(shape), LARGEST);
            let wanted = plain_units(&second, &plain_units(&first, &inputs));
            let wanted = plain_sums(&last, &wanted);
            let packed = PackedNet::new(
                &PatchNet {
                    first,
                    second,
                    last,
                },
                shape,
            );
            let mut pairs: InputPairs = [[0; 2]; MAX_INPUTS.div_ceil(2)];
            pairs.as_flattened_mut()[..inputs.len()].copy_from_slice(&inputs);
            let hidden = packed.hidden(&pairs);
            for (prediction, wanted) in wanted.chunks(patch_net::outputs(shape)).enumerate() {
                let mut said = vec![0; wanted.len()];
                packed.frequencies(prediction, &hidden, 9, &mut said);
                let wanted: Vec<i32> = wanted.iter().map(|sum| (sum + 256) >> 9).collect();
                assert_eq!(said, wanted, "{shape:?}");
            }
        }
    }
}

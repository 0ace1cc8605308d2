//! The networks that predict luma patches, learned from what the encoder's closed loop leaves around them.

use crate::budget::Budget;
use crate::descent::{Examples, Schedule, learn};
use crate::error::TrainError;
use crate::net::extent_of;
use crate::thrift::NetSize;
use borsh::{BorshDeserialize, BorshSerialize};
use rayon::prelude::*;
use tessera_codec::internals::encoder::training::{
    IntraSample, PatchObserver, PatchRecord, fill_in_places, output_shift, place_inputs,
};
use tessera_dict::net::WEIGHT_BITS;
use tessera_dict::patch_net::{MAX_WEIGHT, PREDICTIONS, inputs, outputs, units};
use tessera_dict::{PatchNet, PatchNets};
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// Most patches a network is learned from.
const MOST_PATCHES: usize = 250_000;
/// Most samples of these patches: large ones tell more each, and take longer to look at.
const MOST_SAMPLES: usize = 60_000_000;
/// Fewest; with less the network would learn them by heart.
const FEWEST_PATCHES: usize = 5_000;
/// Patches of one step of the descent.
const BATCH: usize = 512;
/// Times all patches are gone through.
const EPOCHS: usize = 8;
/// Networks learned at the same time; between them training can be stopped.
const SIDE_BY_SIDE: usize = 4;
/// What inputs, units and outputs call one, in samples.
const ONE: f32 = 512.0;
/// Squared error per sample, in squared steps, below which it does not matter: it will not be coded.
const UNCODED: f32 = 0.15;
/// Bits that the second prediction of a patch must save to be learned from the patch: the first one is what is used
/// where little is to be coded, and the choice between them has its price.
const WORTH_CHOOSING: f32 = 2.0;
/// How much the first prediction learns from patches that are the second's, and the other way round.
const FROM_OTHERS: [f32; 2] = [0.25, 0.05];
/// The same for the second one as long as it has to find its own.
const EARLY_FROM_OTHERS: f32 = 0.3;

/// Patches of one shape with their surroundings.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
struct Patches {
    /// One after the other, as many as the network has.
    inputs: Vec<i16>,
    middles: Vec<[u32; 2]>,
    /// Frequencies one after the other, in samples.
    frequencies: Vec<i16>,
    weights: Vec<f32>,
    /// Step of the quantiser, in samples.
    steps: Vec<f32>,
}

impl Patches {
    fn len(&self) -> usize {
        self.weights.len()
    }

    /// Keeps about `count` patches, evenly spread.
    fn thin_out(&mut self, count: usize) {
        let (all, [inputs, outputs]) = (self.len(), self.widths());
        let kept: Vec<usize> = (0..count).map(|i| i * all / count).collect();
        let rows = |values: &[i16], width: usize| -> Vec<i16> {
            let rows = kept.iter().map(|&i| &values[i * width..(i + 1) * width]);
            rows.flatten().copied().collect()
        };
        self.inputs = rows(&self.inputs, inputs);
        self.frequencies = rows(&self.frequencies, outputs);
        self.middles = kept.iter().map(|&i| self.middles[i]).collect();
        self.weights = kept.iter().map(|&i| self.weights[i]).collect();
        self.steps = kept.iter().map(|&i| self.steps[i]).collect();
    }

    fn widths(&self) -> [usize; 2] {
        [&self.inputs, &self.frequencies].map(|values| values.len() / self.len().max(1))
    }

    fn merge(&mut self, other: Self) {
        self.inputs.extend(other.inputs);
        self.middles.extend(other.middles);
        self.frequencies.extend(other.frequencies);
        self.weights.extend(other.weights);
        self.steps.extend(other.steps);
    }
}

/// Collects what networks can learn from, by shape.
#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
pub(crate) struct PatchNetSamples {
    patches: [Patches; SHAPE_COUNT],
    /// Number of parts that contribute the same.
    parts: usize,
}

impl PatchObserver for PatchNetSamples {
    fn patch(&mut self, _: PatchRecord<'_>) {}

    fn intra_samples_missing(&self, shape: Shape) -> Option<usize> {
        let seen = self.patches[shape.index()].len();
        Some(self.share(shape).saturating_sub(seen))
    }

    fn intra_sample(&mut self, record: IntraSample) {
        let patches = &mut self.patches[record.shape.index()];
        patches.inputs.extend(&record.inputs);
        patches.middles.push(record.middle);
        let stored = |frequency: &f32| frequency.round().clamp(-32000.0, 32000.0) as i16;
        patches
            .frequencies
            .extend(record.frequencies.iter().map(stored));
        // What shrinks is the part of the error that is left, not the error of the patches that are hard to predict.
        let square = record.step * record.step;
        let unimportant = UNCODED * record.shape.area() as f32;
        let weight = 1.0 / (square * (record.rest + unimportant));
        patches.weights.push(weight);
        patches.steps.push(record.step);
    }
}

impl PatchNetSamples {
    /// For one of `parts` parts.
    pub(crate) fn new(parts: usize) -> Self {
        Self {
            parts,
            ..Self::default()
        }
    }

    /// How many patches of a shape each part contributes.
    fn share(&self, shape: Shape) -> usize {
        MOST_PATCHES.min(MOST_SAMPLES / shape.area()) / self.parts.max(1)
    }

    /// Adds the share of a part.
    pub(crate) fn merge(&mut self, mut part: Self) {
        for shape in Shape::all() {
            let (share, patches) = (part.share(shape), &mut part.patches[shape.index()]);
            if patches.len() > share {
                patches.thin_out(share);
            }
            self.patches[shape.index()].merge(std::mem::take(patches));
        }
    }

    /// Learns a network for every shape that was seen often enough; `go_on` is asked now and then.
    ///
    /// All networks get the same part of the time.
    pub(crate) fn learn(
        self,
        seed: u64,
        size: NetSize,
        budget: Budget,
        mut go_on: impl FnMut(usize) -> Result<(), TrainError>,
    ) -> Result<Option<PatchNets>, TrainError> {
        let extent = extent_of(self.patches.iter().flat_map(|patches| &patches.middles));
        let mut nets = Vec::with_capacity(SHAPE_COUNT);
        let enough = |(_, patches): &&(Shape, Patches)| patches.len() >= FEWEST_PATCHES;
        let mut waiting = (self.patches.iter())
            .filter(|patches| patches.len() >= FEWEST_PATCHES)
            .count();
        let mut shapes = Shape::all().zip(self.patches);
        while nets.len() < SHAPE_COUNT {
            go_on(nets.len())?;
            let turns = waiting.div_ceil(rayon::current_num_threads().min(SIDE_BY_SIDE));
            let share = 1.0 / turns.max(1) as f64;
            let some: Vec<(Shape, Patches)> = shapes.by_ref().take(SIDE_BY_SIDE).collect();
            waiting -= some.iter().filter(enough).count();
            let learned = some.into_par_iter().map(|(shape, patches)| {
                learn_net(patches, shape, extent, seed, size, budget.share(share))
            });
            nets.extend(learned.collect::<Vec<Option<PatchNet>>>());
        }
        Ok(nets.iter().any(Option::is_some).then(|| PatchNets {
            extent,
            nets: nets.try_into().expect("there is one for every shape"),
        }))
    }
}

fn learn_net(
    mut patches: Patches,
    shape: Shape,
    extent: [u16; 2],
    seed: u64,
    size: NetSize,
    budget: Budget,
) -> Option<PatchNet> {
    if patches.len() < FEWEST_PATCHES {
        return None;
    }
    let described = patches.inputs.chunks_exact_mut(inputs(shape));
    for (inputs, &middle) in described.zip(&patches.middles) {
        fill_in_places(inputs, place_inputs(middle, extent));
    }
    let mean = patches.weights.iter().sum::<f32>() / patches.len() as f32;
    patches
        .weights
        .iter_mut()
        .for_each(|weight| *weight /= mean);
    let fraction = output_shift(shape) as i32 - WEIGHT_BITS as i32;
    let examples = PatchNetExamples {
        patches,
        inputs: inputs(shape),
        outputs: outputs(shape),
        scale: 2f32.powi(fraction) / ONE,
    };
    let used = size.units.min(units(shape));
    let [first, second, last] = learn(
        &examples,
        &Schedule {
            sizes: [examples.inputs, used, used, PREDICTIONS * examples.outputs],
            constant: 1.0,
            batch: BATCH,
            epochs: EPOCHS,
            seed,
            max_weights: [MAX_WEIGHT; 3],
            steps: [size.step; 3],
            bytes: None,
            budget,
        },
    );
    let all = units(shape);
    Some(PatchNet {
        first: padded(first, examples.inputs, examples.inputs, all),
        second: padded(second, used + 1, all + 1, all),
        last: padded(last, used + 1, all + 1, PREDICTIONS * examples.outputs),
    })
}

/// A layer of few units as one of `units` that have `inputs` inputs, the last of them constant; the others count for
/// nothing.
fn padded(weights: Vec<i16>, from: usize, inputs: usize, units: usize) -> Vec<i16> {
    let mut all = vec![0; units * inputs];
    for (to, own) in all.chunks_exact_mut(inputs).zip(weights.chunks_exact(from)) {
        to[..from - 1].copy_from_slice(&own[..from - 1]);
        to[inputs - 1] = own[from - 1];
    }
    all
}

/// Patches as examples.
struct PatchNetExamples {
    patches: Patches,
    inputs: usize,
    outputs: usize,
    /// From frequencies in samples to what the network's last layer adds up.
    scale: f32,
}

impl Examples for PatchNetExamples {
    fn count(&self) -> usize {
        self.patches.len()
    }

    fn input(&self, example: usize, at: usize) -> f32 {
        f32::from(self.patches.inputs[example * self.inputs + at]) / ONE
    }

    fn blame(&self, example: usize, said: &mut [f32], early: bool) {
        let wanted = &self.patches.frequencies[example * self.outputs..][..self.outputs];
        let (first, second) = said.split_at_mut(self.outputs);
        let per_step = 1.2 / (self.scale * self.patches.steps[example]);
        let [first_bits, second_bits] = [&mut *first, &mut *second].map(|prediction| {
            for (said, &wanted) in prediction.iter_mut().zip(wanted) {
                *said -= f32::from(wanted) * self.scale;
            }
            bits(prediction, per_step)
        });
        let [from_second, from_first] = FROM_OTHERS;
        let shares = match early {
            true if first_bits > second_bits => [from_second, 1.0],
            true => [1.0, EARLY_FROM_OTHERS],
            false if first_bits > second_bits + WORTH_CHOOSING => [from_second, 1.0],
            false => [1.0, from_first],
        };
        for (prediction, share) in [first, second].into_iter().zip(shares) {
            let weight = share * self.patches.weights[example];
            prediction.iter_mut().for_each(|error| *error *= weight);
        }
    }
}

/// What it takes, roughly, to code these errors.
fn bits(errors: &[f32], per_step: f32) -> f32 {
    // One logarithm for all; 64 factors of this size do not overflow.
    let factor = |&error: &f32| 1.0 + f64::from((error * per_step).clamp(-200.0, 200.0)).powi(2);
    errors.iter().map(factor).product::<f64>().log2() as f32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::descent;
    use rand::RngExt;
    use rand_pcg::Pcg64Mcg;

    /// Patches of one shape whose lowest frequency follows the first input, if that is above zero.
    fn patch_net_samples(shape: Shape, count: usize) -> PatchNetSamples {
        let random = &mut Pcg64Mcg::new(9);
        let mut all = PatchNetSamples::new(1);
        for _ in 0..count {
            let mut inputs = vec![0i16; inputs(shape)];
            for input in &mut inputs {
                *input = random.random_range(-600..=600);
            }
            *inputs.last_mut().unwrap() = ONE as i16;
            let mut frequencies = vec![0.0; outputs(shape)];
            frequencies[0] = 2.0 * f32::from(inputs[0]).max(0.0);
            all.intra_sample(IntraSample {
                shape,
                inputs,
                middle: [random.random_range(0..200), random.random_range(0..100)],
                frequencies,
                rest: 10.0,
                step: 16.0,
            });
        }
        all
    }

    #[test]
    fn networks_learn_where_there_is_enough_to_learn_from() {
        let shape = Shape::new(4, 4).unwrap();
        let mut all = patch_net_samples(shape, 3 * FEWEST_PATCHES);
        all.merge(patch_net_samples(Shape::new(8, 8).unwrap(), 100));
        let nets = all
            .learn(1, NetSize::FULL, Budget::default(), |_| Ok(()))
            .unwrap()
            .unwrap();
        assert!(nets.extent[0] > 190 && nets.extent[1] > 90);
        assert_eq!(nets.nets.iter().flatten().count(), 1);
        let net = nets.nets[shape.index()].as_ref().unwrap();
        let (mut before, mut after) = (0.0, 0.0);
        let mut fresh = patch_net_samples(shape, 500).patches;
        let fresh = &mut fresh[shape.index()];
        for example in 0..500 {
            let own = &mut fresh.inputs[example * inputs(shape)..][..inputs(shape)];
            fill_in_places(own, place_inputs(fresh.middles[example], nets.extent));
            let own: Vec<f32> = own.iter().map(|&i| f32::from(i) / ONE).collect();
            let layers = [&net.first, &net.second, &net.last];
            // A frequency of a patch of 4x4 is half of what the last layer adds up.
            let said = descent::outputs(layers, &own, 1.0)[0] * ONE / 2.0;
            let wanted = f32::from(fresh.frequencies[example * outputs(shape)]);
            before += wanted * wanted;
            after += (said - wanted).powi(2);
        }
        assert!(after < 0.1 * before, "{after} of {before}");
    }

    #[test]
    fn two_predictions_share_what_one_cannot_say() {
        let shape = Shape::new(4, 4).unwrap();
        let mut all = patch_net_samples(shape, 8 * FEWEST_PATCHES);
        let patches = &mut all.patches[shape.index()];
        // Half of the patches are dark, half are bright, and nothing around them tells which.
        for (i, patch) in patches
            .frequencies
            .chunks_exact_mut(outputs(shape))
            .enumerate()
        {
            patch.fill(if i % 2 == 0 { 100 } else { -100 });
        }
        let nets = all
            .learn(1, NetSize::FULL, Budget::default(), |_| Ok(()))
            .unwrap()
            .unwrap();
        let net = nets.nets[shape.index()].as_ref().unwrap();
        let layers = [&net.first, &net.second, &net.last];
        let mut seen = vec![0.0; inputs(shape)];
        *seen.last_mut().unwrap() = 1.0;
        let said = descent::outputs(layers, &seen, 1.0);
        let [first, second] = [said[0], said[outputs(shape)]].map(|said| said * ONE / 2.0);
        assert!((first - second).abs() > 50.0, "{first} and {second}");
    }

    #[test]
    fn few_units_are_stored_as_all_of_which_most_do_nothing() {
        let shape = Shape::new(4, 4).unwrap();
        let size = NetSize { units: 8, step: 32 };
        let all = patch_net_samples(shape, 3 * FEWEST_PATCHES);
        let nets = all.learn(1, size, Budget::default(), |_| Ok(())).unwrap();
        let nets = nets.unwrap();
        let net = nets.nets[shape.index()].as_ref().unwrap();
        let layers = [&net.first, &net.second, &net.last];
        let sizes = tessera_dict::patch_net::weights(shape);
        assert_eq!(layers.map(Vec::len), sizes);
        let used = layers.into_iter().flatten().filter(|&&weight| weight != 0);
        assert!(used.clone().count() <= 8 * inputs(shape) + 8 * 9 + 32 * 9);
        assert!(used.clone().all(|weight| weight % 32 == 0));
        // It still says what it learned: the lowest frequency follows the first input.
        let mut seen = vec![0.0; inputs(shape)];
        *seen.last_mut().unwrap() = 1.0;
        let dark = descent::outputs(layers, &seen, 1.0)[0];
        seen[0] = 1.0;
        let bright = descent::outputs(layers, &seen, 1.0)[0];
        assert!(bright - dark > 1.0, "{dark} to {bright}");
    }

    #[test]
    fn stopping_is_heard_and_parts_share() {
        let shape = Shape::new(4, 4).unwrap();
        let all = patch_net_samples(shape, 100);
        assert!(matches!(
            all.learn(1, NetSize::FULL, Budget::default(), |_| Err(
                TrainError::Stopped
            )),
            Err(TrainError::Stopped)
        ));
        let part = PatchNetSamples {
            parts: MOST_PATCHES / 30,
            ..patch_net_samples(shape, 100)
        };
        assert_eq!(part.intra_samples_missing(shape), Some(0));
        let mut all = PatchNetSamples::default();
        all.merge(part);
        assert_eq!(all.patches[shape.index()].len(), 30);
        assert_eq!(all.patches[shape.index()].inputs.len(), 30 * inputs(shape));
    }
}

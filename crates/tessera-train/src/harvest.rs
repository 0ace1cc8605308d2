//! Patches collected from the encoder's closed loop, by the group of bases that would code them.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use tessera_codec::tile::encoder::training::{PatchObserver, PatchRecord};
use tessera_dict::PlaneKind;
use tessera_patch::Shape;

/// Identifies a group of bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GroupKey {
    /// Plane kind.
    pub kind: PlaneKind,
    /// Index of the folded shape.
    pub shape: usize,
    /// Mode class.
    pub class: usize,
}

/// Fractional bits of stored coefficients.
const STORED_SCALE: f32 = 32.0;

/// One harvested patch.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Activity of the neighbours, in steps.
    pub activity: f32,
    /// Gradient of the border, in steps.
    pub gradient: f32,
    spectrum: Box<[i16]>,
}

impl Sample {
    /// Leading coefficients of the spectrum, in steps.
    pub fn spectrum(&self) -> impl Iterator<Item = f32> {
        self.spectrum.iter().map(|&v| f32::from(v) / STORED_SCALE)
    }
}

/// Patches with something to code; each group keeps a uniform sample of bounded size.
#[derive(Debug)]
pub struct Harvest {
    groups: BTreeMap<GroupKey, Reservoir>,
    random: Pcg64Mcg,
}

#[derive(Debug, Default)]
struct Reservoir {
    seen: u64,
    samples: Vec<Sample>,
}

/// Below this size (in steps) no coefficient is worth coding.
const WORTH_CODING: f32 = 0.9;

/// How many patches a group keeps: fewer of the large ones, whose spectra take more memory.
fn capacity(rotated: usize) -> u64 {
    (3_000_000 / rotated as u64 + 20_000).min(80_000)
}

impl Harvest {
    /// An empty harvest whose sampling follows `seed`.
    pub fn new(seed: u64) -> Self {
        Self {
            groups: BTreeMap::new(),
            random: Pcg64Mcg::new(u128::from(seed) << 1 | 1),
        }
    }

    /// The groups in order with their samples.
    pub fn groups(&self) -> impl Iterator<Item = (GroupKey, &[Sample])> {
        self.groups
            .iter()
            .map(|(key, group)| (*key, group.samples.as_slice()))
    }

    /// Adds what another harvest collected.
    pub fn merge(&mut self, other: Self) {
        for (key, group) in other.groups {
            let rotated = Shape::from_index(key.shape).rotated();
            let own = self.groups.entry(key).or_default();
            for sample in group.samples {
                own.offer(sample, capacity(rotated), &mut self.random);
            }
        }
    }
}

impl Reservoir {
    fn offer(&mut self, sample: Sample, capacity: u64, random: &mut Pcg64Mcg) {
        self.seen += 1;
        if self.seen <= capacity {
            self.samples.push(sample);
        } else {
            let place = random.random_range(0..self.seen);
            if place < capacity {
                self.samples[place as usize] = sample;
            }
        }
    }
}

impl PatchObserver for Harvest {
    fn patch(&mut self, record: PatchRecord<'_>) {
        let rotated = record.shape.rotated();
        let head = &record.spectrum[..rotated];
        if head.iter().all(|c| c.abs() <= WORTH_CODING) {
            return;
        }
        let store = |c: &f32| (c * STORED_SCALE).round().clamp(-32000.0, 32000.0) as i16;
        let sample = Sample {
            activity: record.activity,
            gradient: record.gradient,
            spectrum: head.iter().map(store).collect(),
        };
        let key = GroupKey {
            kind: record.kind,
            shape: record.shape.index(),
            class: record.class,
        };
        let group = self.groups.entry(key).or_default();
        group.offer(sample, capacity(rotated), &mut self.random);
    }
}

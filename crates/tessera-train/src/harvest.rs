//! Patches collected from the encoder's closed loop, by the group of bases that would code them.

use borsh::{BorshDeserialize, BorshSerialize};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;
use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use tessera_codec::internals::encoder::training::{PatchObserver, PatchRecord};
use tessera_dict::PlaneKind;
use tessera_patch::Shape;

/// Identifies a group of bases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, BorshSerialize, BorshDeserialize)]
pub(crate) struct GroupKey {
    /// Plane kind.
    #[borsh(serialize_with = "put_kind", deserialize_with = "take_kind")]
    pub(crate) kind: PlaneKind,
    /// Index of the folded shape.
    pub(crate) shape: usize,
    /// Mode class.
    pub(crate) class: usize,
}

/// Fractional bits of stored coefficients.
const STORED_SCALE: f32 = 32.0;

fn stored(coefficient: &f32) -> i16 {
    (coefficient * STORED_SCALE)
        .round()
        .clamp(-32000.0, 32000.0) as i16
}

fn put_kind(kind: &PlaneKind, to: &mut impl Write) -> io::Result<()> {
    (*kind as u8).serialize(to)
}

fn take_kind(from: &mut impl Read) -> io::Result<PlaneKind> {
    match u8::deserialize_reader(from)? {
        0 => Ok(PlaneKind::Luma),
        1 => Ok(PlaneKind::Chroma),
        _ => Err(io::ErrorKind::InvalidData.into()),
    }
}

/// One harvested patch.
#[derive(Clone, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Sample {
    /// Activity of the neighbours, in steps.
    pub(crate) activity: f32,
    /// Gradient of the border, in steps.
    pub(crate) gradient: f32,
    /// Number of the picture it was taken from.
    pub(crate) picture: u32,
    spectrum: Box<[i16]>,
}

impl Sample {
    /// A patch of calm surroundings.
    #[cfg(test)]
    pub(crate) fn new(picture: u32, spectrum: &[f32]) -> Self {
        Self {
            activity: 0.0,
            gradient: 0.0,
            picture,
            spectrum: spectrum.iter().map(stored).collect(),
        }
    }

    /// Number of coefficients.
    pub(crate) fn dimension(&self) -> usize {
        self.spectrum.len()
    }

    /// Leading coefficients of the spectrum, in steps.
    pub(crate) fn spectrum(&self) -> impl Iterator<Item = f32> {
        self.spectrum.iter().map(|&v| f32::from(v) / STORED_SCALE)
    }
}

/// Patches with something to code; each group keeps a uniform sample of bounded size.
#[derive(Debug, BorshSerialize, BorshDeserialize)]
pub(crate) struct Harvest {
    groups: BTreeMap<GroupKey, Reservoir>,
    /// Sum of (level - coefficient) and count, by plane kind and magnitude 1, 2, 3 and more.
    offsets: [[(f64, u64); 3]; 2],
    /// How often every basis of a group was chosen.
    usage: BTreeMap<(GroupKey, usize), u64>,
    picture: u32,
    /// Only for what is added, and nothing is added to a harvest that has travelled.
    #[borsh(serialize_with = "put_nothing", deserialize_with = "take_any")]
    random: Pcg64Mcg,
}

fn put_nothing(_: &Pcg64Mcg, _: &mut impl Write) -> io::Result<()> {
    Ok(())
}

fn take_any(_: &mut impl Read) -> io::Result<Pcg64Mcg> {
    Ok(Pcg64Mcg::new(1))
}

#[derive(Debug, Default, BorshSerialize, BorshDeserialize)]
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
    /// An empty harvest of one picture, whose sampling follows `seed`.
    pub(crate) fn new(picture: usize, seed: u64) -> Self {
        Self {
            groups: BTreeMap::new(),
            offsets: [[(0.0, 0); 3]; 2],
            usage: BTreeMap::new(),
            picture: picture as u32,
            random: Pcg64Mcg::new(u128::from(seed) << 1 | 1),
        }
    }

    /// The groups in order with their samples.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (GroupKey, &[Sample])> {
        self.groups
            .iter()
            .map(|(key, group)| (*key, group.samples.as_slice()))
    }

    /// How many patches of a group had something to code.
    pub(crate) fn patches(&self, key: GroupKey) -> usize {
        self.groups.get(&key).map_or(0, |group| group.seen as usize)
    }

    /// How many patches chose a basis.
    pub(crate) fn usage(&self, key: GroupKey, choice: usize) -> u64 {
        self.usage.get(&(key, choice)).copied().unwrap_or(0)
    }

    /// How far below their levels coefficients lie on average, in 1/256 step, by plane kind and magnitude;
    /// `start` counts for `pull` observations.
    pub(crate) fn shrinkage(&self, start: [[u8; 3]; 2], pull: u64) -> [[u8; 3]; 2] {
        let mean = |kind: usize, magnitude: usize| {
            let (sum, count) = self.offsets[kind][magnitude];
            let held = pull as f64 * f64::from(start[kind][magnitude]);
            let mean = (256.0 * sum + held) / (count + pull).max(1) as f64;
            mean.round().clamp(0.0, 64.0) as u8
        };
        [0, 1].map(|kind| [0, 1, 2].map(|magnitude| mean(kind, magnitude)))
    }

    /// Adds what another harvest collected.
    pub(crate) fn merge(&mut self, other: Self) {
        for (own, other) in self
            .offsets
            .iter_mut()
            .flatten()
            .zip(other.offsets.iter().flatten())
        {
            *own = (own.0 + other.0, own.1 + other.1);
        }
        for (key, count) in other.usage {
            *self.usage.entry(key).or_default() += count;
        }
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
        for (coefficient, level) in record.coefficients.iter().zip(record.levels) {
            let magnitude = level.unsigned_abs() as usize;
            if magnitude > 0 {
                let (sum, count) = &mut self.offsets[record.kind as usize][magnitude.min(3) - 1];
                *sum += f64::from(magnitude as f32 - coefficient.abs());
                *count += 1;
            }
        }
        let key = GroupKey {
            kind: record.kind,
            shape: record.shape.index(),
            class: record.class,
        };
        if !record.levels.is_empty() {
            *self.usage.entry((key, record.choice)).or_default() += 1;
        }
        let rotated = record.shape.rotated();
        let head = &record.spectrum[..rotated];
        if head.iter().all(|c| c.abs() <= WORTH_CODING) {
            return;
        }
        let sample = Sample {
            activity: record.activity,
            gradient: record.gradient,
            picture: self.picture,
            spectrum: head.iter().map(stored).collect(),
        };
        let group = self.groups.entry(key).or_default();
        group.offer(sample, capacity(rotated), &mut self.random);
    }
}

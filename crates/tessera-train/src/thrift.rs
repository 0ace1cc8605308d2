//! What of a dictionary is worth its bytes: changes that would save less than they cost are not made.
//!
//! A dictionary of a collection is stored as a difference, so whatever stays as it was costs nothing. Numbers that change
//! move in coarse steps, which take fewer bits and hardly predict worse.

use crate::harvest::{GroupKey, Harvest};
use tessera_dict::basis::{Basis, MagnitudeModel, Rotation};
use tessera_dict::layout::MAX_INPUTS;
use tessera_dict::patch_net::{self, MAX_UNITS};
use tessera_dict::{BasisSet, Prior, net};
use tessera_patch::Shape;

/// Steps of the log-odds of a cell: an eighth of a bit costs less than it saves.
const ODDS_STEP: i32 = 4;
/// Steps of a mixing weight, 14 fractional bits.
const MIXING_STEP: i32 = 256;
/// Steps of a rotation's entry and of its scale.
const ENTRY_STEP: i32 = 8;
const SCALE_STEP: i32 = 512;
/// Steps of a magnitude model: factors of the surroundings, and of other coefficients.
const FACTOR_STEP: i32 = 64;
const WEIGHT_STEP: i32 = 8;
/// What a number that changed takes, roughly, in bits.
const NUMBER_BITS: f64 = 5.0;
/// Part of its bits that a group of patches saves at most with bases of its own.
const BASES_SAVE: f64 = 0.04;

/// What a weight of a network takes, roughly, in bits.
const NET_WEIGHT_BITS: f64 = 3.5;
/// Steps of these weights.
const NET_STEP: i16 = 32;
/// Units that networks for patches may have.
const NET_UNITS: [usize; 5] = [MAX_UNITS, 64, 32, 16, 8];
/// Part of all bytes that may be spent on networks for patches, and on the network behind the filter: half of what they
/// save where they save much. Networks of 16 units for patches saved 2.7 % on faces, the network behind the filter 4 %.
const PATCH_NETS_PART: f64 = 0.012;
const FILTER_NET_PART: f64 = 0.02;

/// How much may be spent: what all expected pictures take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Thrift {
    /// Pictures that will be coded with the dictionary; infinitely many if size does not matter.
    pub(crate) pictures: f64,
    /// Bytes of one of them before.
    pub(crate) bytes: f64,
}

/// How large a network may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NetSize {
    /// Most units of a hidden layer.
    pub(crate) units: usize,
    /// Steps of a weight, 10 fractional bits.
    pub(crate) step: i16,
}

impl NetSize {
    /// As large as the format has it.
    pub(crate) const FULL: Self = Self {
        units: MAX_UNITS,
        step: 1,
    };

    /// What the networks for all shapes take, roughly, in bytes.
    fn bytes(self) -> f64 {
        let weights = |shape: Shape| {
            let units = patch_net::units(shape).min(self.units);
            let outputs = patch_net::PREDICTIONS * patch_net::outputs(shape);
            units * patch_net::inputs(shape) + (units + outputs) * (units + 1)
        };
        NET_WEIGHT_BITS / 8.0 * Shape::all().map(weights).sum::<usize>() as f64
    }
}

/// `value` moved to the nearest place that lies a number of steps from `from`.
fn snap(value: i32, from: i32, step: i32) -> i32 {
    let delta = f64::from(value - from) / f64::from(step);
    from + step * delta.round() as i32
}

/// The same inside limits.
fn snap_within(value: i32, from: i32, step: i32, limits: std::ops::RangeInclusive<i32>) -> i32 {
    let snapped = snap(value, from, step);
    match limits.contains(&snapped) {
        true => snapped,
        false => from,
    }
}

impl Thrift {
    /// Whether size matters at all.
    pub(crate) fn counts(&self) -> bool {
        self.pictures.is_finite()
    }

    /// Bytes of all pictures.
    pub(crate) fn whole(&self) -> f64 {
        self.pictures * self.bytes
    }

    /// The size of a dictionary as a part of all bytes.
    pub(crate) fn part(&self, bytes: usize) -> f64 {
        match self.counts() {
            true => bytes as f64 / self.whole().max(1.0),
            false => 0.0,
        }
    }

    /// How large networks for patches may be; none pays for few pictures.
    pub(crate) fn patch_nets(&self) -> Option<NetSize> {
        if !self.counts() {
            return Some(NetSize::FULL);
        }
        let sizes = NET_UNITS.map(|units| NetSize {
            units,
            step: NET_STEP,
        });
        let most = PATCH_NETS_PART * self.whole();
        sizes.into_iter().find(|size| size.bytes() <= most)
    }

    /// Whether a network behind the filter may pay; none does for few pictures.
    pub(crate) fn filter_net(&self) -> bool {
        let bytes = NET_WEIGHT_BITS / 8.0 * net::WEIGHTS.iter().sum::<usize>() as f64;
        !self.counts() || bytes <= FILTER_NET_PART * self.whole()
    }

    /// The log-odds of a cell in coarse steps.
    pub(crate) fn odds(log_odds: i8, from: i8) -> i8 {
        snap_within(log_odds.into(), from.into(), ODDS_STEP, -127..=127) as i8
    }

    pub(crate) fn mixing_weights(self, prior: &mut Prior, from: &Prior) {
        if self.counts() {
            for (vector, from) in prior.weights.iter_mut().zip(&from.weights) {
                for lane in 0..MAX_INPUTS {
                    vector[lane] = snap(vector[lane], from[lane], MIXING_STEP);
                }
            }
        }
    }

    /// Bases in coarse steps from those of `from`, and as they were in groups that are not used enough.
    pub(crate) fn bases(self, bases: BasisSet, from: &BasisSet, harvest: &Harvest) -> BasisSet {
        if !self.counts() {
            return bases;
        }
        let all = harvest.groups().map(|(key, _)| harvest.patches(key));
        let all = all.sum::<usize>().max(1) as f64;
        let kind = bases.kind();
        let keys = BasisSet::keys(kind).map(|(shape, class)| GroupKey {
            kind,
            shape: shape.index(),
            class,
        });
        let groups = keys.zip(bases.groups()).zip(from.groups());
        let groups = groups.map(|((key, group), from)| {
            let coarse: Vec<Basis> = (group.iter().enumerate())
                .map(|(at, basis)| coarse_basis(basis, from.get(at), &from[0]))
                .collect();
            let share = harvest.patches(key) as f64 / all;
            let cost = NUMBER_BITS / 8.0 * changes(&coarse, from) as f64;
            match cost < BASES_SAVE * share * self.whole() {
                true => coarse,
                false => from.clone(),
            }
        });
        from.regrouped(groups.collect())
    }
}

fn coarse_basis(basis: &Basis, like: Option<&Basis>, first: &Basis) -> Basis {
    let rotation = basis.rotation.as_ref().map(|rotation| {
        let like = like.and_then(|like| like.rotation.as_ref());
        coarse_rotation(rotation, like)
    });
    Basis {
        rotation,
        order: basis.order.clone(),
        model: coarse_model(&basis.model, &like.unwrap_or(first).model),
        id: basis.id,
    }
}

fn coarse_rotation(rotation: &Rotation, like: Option<&Rotation>) -> Rotation {
    let m = rotation.scales.len();
    let scale = |row: usize| match like {
        Some(like) => like.scales[row],
        None => snap(rotation.scales[row].into(), 0, SCALE_STEP).clamp(SCALE_STEP, 65024) as u16,
    };
    let scales: Vec<u16> = (0..m).map(scale).collect();
    let entry = |at: usize| {
        let stretch = f32::from(rotation.scales[at / m]) / f32::from(scales[at / m]);
        let wanted = f32::from(rotation.entries[at] as i8) * stretch;
        let wanted = wanted.round().clamp(-127.0, 127.0) as i32;
        let from = like.map_or(0, |like| i32::from(like.entries[at] as i8));
        snap_within(wanted, from, ENTRY_STEP, -127..=127) as i8 as u8
    };
    Rotation {
        shape: rotation.shape,
        entries: (0..m * m).map(entry).collect::<Vec<u8>>().into(),
        scales,
    }
}

fn coarse_model(model: &MagnitudeModel, from: &MagnitudeModel) -> MagnitudeModel {
    let factors = |own: &[u16], from: &[u16]| -> Vec<u16> {
        let pairs = own.iter().zip(from);
        pairs
            .map(|(&own, &from)| {
                snap_within(own.into(), from.into(), FACTOR_STEP, 0..=65535) as u16
            })
            .collect()
    };
    let weights = model.weights.iter().zip(from.weights.iter());
    let weights = weights
        .map(|(&own, &from)| snap_within(own.into(), from.into(), WEIGHT_STEP, 0..=255) as u8);
    MagnitudeModel {
        base: factors(&model.base, &from.base),
        activity: factors(&model.activity, &from.activity),
        gradient: factors(&model.gradient, &from.gradient),
        weights: weights.collect::<Vec<u8>>().into(),
    }
}

/// Numbers of a group that are not those of the group it came from.
fn changes(group: &[Basis], from: &[Basis]) -> usize {
    let differing = |own: &[u8], from: &[u8]| own.iter().zip(from).filter(|(a, b)| a != b).count();
    let basis = |(at, basis): (usize, &Basis)| {
        let like = from.get(at);
        let model = &like.unwrap_or(&from[0]).model;
        let rotated = match (
            &basis.rotation,
            like.and_then(|like| like.rotation.as_ref()),
        ) {
            (None, _) => 0,
            (Some(own), Some(from)) => differing(&own.entries, &from.entries),
            (Some(own), None) => own.entries.iter().filter(|&&entry| entry != 0).count(),
        };
        let factors = [
            (&basis.model.base, &model.base),
            (&basis.model.activity, &model.activity),
            (&basis.model.gradient, &model.gradient),
        ];
        let factors =
            factors.map(|(own, from)| own.iter().zip(from).filter(|(a, b)| a != b).count());
        rotated + factors.iter().sum::<usize>() + differing(&basis.model.weights, &model.weights)
    };
    group.iter().enumerate().map(basis).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_dict::Dictionary;

    const DEAR: Thrift = Thrift {
        pictures: 10.0,
        bytes: 100.0,
    };

    #[test]
    fn networks_grow_with_the_collection() {
        let of = |pictures| Thrift {
            pictures,
            bytes: 2000.0,
        };
        assert_eq!(
            (of(50.0).patch_nets(), of(50.0).filter_net()),
            (None, false)
        );
        let sizes = [300.0, 3000.0, 30_000.0].map(|pictures| of(pictures).patch_nets());
        let units = sizes.map(|size| size.map_or(0, |size| size.units));
        assert!(units.is_sorted() && units[0] < units[2], "{units:?}");
        assert_eq!(of(f64::INFINITY).patch_nets(), Some(NetSize::FULL));
        assert!(of(f64::INFINITY).filter_net() && of(3000.0).filter_net());
    }

    #[test]
    fn steps_start_from_what_was() {
        assert_eq!(Thrift::odds(10, 3), 11);
        assert_eq!(Thrift::odds(4, 3), 3);
        assert_eq!(Thrift::odds(127, 126), 126);
    }

    #[test]
    fn bases_that_nobody_uses_stay_as_they_were() {
        let from = Dictionary::builtin().luma();
        let mut groups = from.groups().to_vec();
        groups[0][0].model.base[0] += 640;
        let changed = from.regrouped(groups);
        let harvest = Harvest::new(0, 1);
        assert_eq!(&DEAR.bases(changed.clone(), from, &harvest), from);
        let free = Thrift {
            pictures: f64::INFINITY,
            ..DEAR
        };
        assert_eq!(free.bases(changed.clone(), from, &harvest), changed);
        assert_eq!(changes(&changed.groups()[0], &from.groups()[0]), 1);
    }
}

//! One budget for all pictures of a pack.
//!
//! With a price of a byte that is the same everywhere, every picture is coded where error plus price of its bytes is
//! least; the price is what the budget makes it. All pictures are coded at some quantisers around the one that would meet
//! the budget alone, and the choice is made among what was measured.

use super::gather::Found;
use crate::exit::Usage;
use crate::verbosity;
use anyhow::{Result, bail};
use rayon::prelude::*;
use std::collections::BTreeMap;
use tessera_codec::{Encoder, Error, Target};

/// Pictures and how they are encoded.
pub(super) struct Batch<'a> {
    pub(super) found: &'a [Found],
    pub(super) encoder: Encoder,
    /// What the same quality for all is, from 0 to 100.
    pub(super) even: fn(u8) -> Target,
}

/// What a pack is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Goal {
    /// The same for every picture.
    Each(Target),
    /// The best pictures in so many bytes; with `even` all of one quality.
    Size { bytes: usize, even: bool },
    /// The smallest pack with this PSNR over all samples of all pictures.
    Psnr(f64),
}

/// One way to code a picture.
#[derive(Debug, Clone)]
struct Trial {
    bytes: usize,
    /// Squared error in squares of the whole range.
    error: f64,
    samples: u64,
    file: Vec<u8>,
}

/// Bytes of the trailer and the start of an index.
const INDEX_BYTES: usize = 60;
/// Bytes of a name and a place in the index, beyond the letters that are not shared.
const ENTRY_BYTES: usize = 9;
/// Finest and coarsest quantiser that is used.
const QUANTISERS: std::ops::RangeInclusive<i32> = 8..=120;
/// Where the search begins.
const FIRST_QUANTISER: i32 = 64;
/// Indices of the quantiser that halve the bytes, about.
const PER_HALVING: f64 = 11.0;
/// Distance of the quantisers that are measured around the right one.
const AROUND: i32 = 3;
/// Most sets of encodes of the search.
const MOST_PASSES: usize = 8;

/// Encodes all pictures so that the goal is met; the files in the order of the pictures.
pub(super) fn allocate(batch: &Batch<'_>, goal: Goal, fixed: usize) -> Result<Vec<Vec<u8>>> {
    match goal {
        Goal::Each(_) => unreachable!("pictures that stand alone are encoded one by one"),
        Goal::Size { bytes, even } => {
            let names: usize = batch.found.iter().map(|picture| picture.name.len()).sum();
            let index = INDEX_BYTES + ENTRY_BYTES * batch.found.len() + names / 2;
            let Some(room) = bytes.checked_sub(fixed + index) else {
                bail!(Usage(format!(
                    "{bytes} bytes do not hold the dictionary and the index of {} pictures",
                    batch.found.len()
                )));
            };
            match even {
                true => evenly(batch, room),
                false => by_price(batch, room),
            }
        }
        Goal::Psnr(decibels) => {
            let most = 10f64.powf(-decibels / 10.0);
            by_price_for_error(batch, most)
        }
    }
}

/// What a choice for every picture adds up to.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Sum {
    bytes: f64,
    error: f64,
}

/// The best common quality that fits.
fn evenly(batch: &Batch<'_>, room: usize) -> Result<Vec<Vec<u8>>> {
    let (mut fits, mut low, mut high) = (None, 0u8, 101u8);
    while low < high {
        let quality = (low + high) / 2;
        match measure(batch, (batch.even)(quality.min(100))) {
            Ok(trials) if total(&trials).bytes <= room as f64 => {
                fits = Some(trials);
                low = quality + 1;
            }
            Err(error) if !is_too_good(&error) => return Err(error),
            _ => high = quality,
        }
    }
    let Some(trials) = fits else {
        bail!(too_small(room));
    };
    Ok(trials.into_iter().map(|trial| trial.file).collect())
}

/// Whether no encode of some picture is as good as was asked for.
fn is_too_good(error: &anyhow::Error) -> bool {
    let causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes
        .into_iter()
        .any(|cause| matches!(cause, Error::TargetUnreachable(_)))
}

fn too_small(room: usize) -> Usage {
    Usage(format!(
        "the pictures do not fit into {room} bytes at any quality; allow more, or pack fewer"
    ))
}

/// Sets of encodes by quantiser.
type Sets = BTreeMap<i32, Vec<Trial>>;

/// Measures around the quantiser at which all pictures together stop to fit, and picks by price.
fn by_price(batch: &Batch<'_>, room: usize) -> Result<Vec<Vec<u8>>> {
    let fits = |sum: Sum| sum.bytes <= room as f64;
    let sets = sets_around(batch, &fits)?;
    tell_gains(&sets, &fits);
    let choice = cheapest_that_fits(&sets, &fits);
    let Some(choice) = choice else {
        bail!(too_small(room));
    };
    Ok(files(sets, &choice))
}

/// The same for a limit on the error: the dearest bytes that are still needed.
fn by_price_for_error(batch: &Batch<'_>, most: f64) -> Result<Vec<Vec<u8>>> {
    let meets = |sum: Sum, samples: f64| sum.error <= most * samples;
    let trials = measure(batch, Target::Quantiser(FIRST_QUANTISER as u8))?;
    let samples: f64 = trials.iter().map(|trial| trial.samples as f64).sum();
    let too_coarse = |sum: Sum| !meets(sum, samples);
    let mut sets = sets_around(batch, &too_coarse)?;
    sets.entry(FIRST_QUANTISER).or_insert(trials);
    // From coarse to fine, the first choice that is good enough.
    let choices = prices().rev().map(|price| pick(&sets, price));
    let choice = choices
        .into_iter()
        .find(|choice| meets(sum(&sets, choice), samples));
    match choice {
        Some(choice) => Ok(files(sets, &choice)),
        None => bail!(Usage("this PSNR cannot be reached; ask for less".into())),
    }
}

fn files(mut sets: Sets, choice: &[i32]) -> Vec<Vec<u8>> {
    let mut take = |(at, quantiser): (usize, &i32)| {
        let set = sets.get_mut(quantiser)?;
        Some(std::mem::take(&mut set[at].file))
    };
    choice.iter().enumerate().filter_map(&mut take).collect()
}

/// Encodes at the finest quantiser that fits, the next one, and some around.
fn sets_around(batch: &Batch<'_>, fits: &impl Fn(Sum) -> bool) -> Result<Sets> {
    let mut sets = Sets::new();
    let mut quantiser = FIRST_QUANTISER;
    let (mut fine, mut coarse) = (*QUANTISERS.start() - 1, *QUANTISERS.end() + 1);
    for _ in 0..MOST_PASSES {
        let trials = measure(batch, Target::Quantiser(quantiser as u8))?;
        let whole = total(&trials);
        sets.insert(quantiser, trials);
        match fits(whole) {
            true => coarse = quantiser,
            false => fine = quantiser,
        }
        if coarse - fine <= 1 {
            break;
        }
        let next = quantiser + distance(whole, fits).round() as i32;
        quantiser = next.clamp(fine + 1, coarse - 1);
    }
    let middle = coarse.clamp(*QUANTISERS.start(), *QUANTISERS.end());
    for around in [middle - AROUND, middle - 1, middle, middle + AROUND] {
        if QUANTISERS.contains(&around) && !sets.contains_key(&around) {
            sets.insert(around, measure(batch, Target::Quantiser(around as u8))?);
        }
    }
    Ok(sets)
}

/// How many indices of the quantiser away all pictures would just fit.
fn distance(whole: Sum, fits: &impl Fn(Sum) -> bool) -> f64 {
    let at = |halvings: f64| Sum {
        bytes: whole.bytes * 0.5f64.powf(halvings),
        error: whole.error * 2.6f64.powf(halvings),
    };
    let (mut low, mut high) = (-8.0, 8.0);
    for _ in 0..30 {
        let middle = (low + high) / 2.0;
        match fits(at(middle)) {
            true => high = middle,
            false => low = middle,
        }
    }
    PER_HALVING * high
}

fn measure(batch: &Batch<'_>, target: Target) -> Result<Vec<Trial>> {
    let encoder = batch
        .encoder
        .clone()
        .target(target)
        .measure_distortion(true);
    let trial = |picture: &Found| {
        let encoded = batch.encode_by(picture, &encoder)?;
        let distortion = encoded.measured.map(|measured| measured.distortion);
        Ok(Trial {
            bytes: encoded.bytes.len(),
            error: distortion.map_or(0.0, |distortion| distortion.squared_error()),
            samples: distortion.map_or(0, |distortion| distortion.samples()),
            file: encoded.bytes,
        })
    };
    batch.found.par_iter().map(trial).collect()
}

fn total(trials: &[Trial]) -> Sum {
    Sum {
        bytes: trials.iter().map(|trial| trial.bytes as f64).sum(),
        error: trials.iter().map(|trial| trial.error).sum(),
    }
}

fn sum(sets: &Sets, choice: &[i32]) -> Sum {
    let chosen = choice
        .iter()
        .enumerate()
        .map(|(at, quantiser)| &sets[quantiser][at]);
    chosen.fold(
        Sum {
            bytes: 0.0,
            error: 0.0,
        },
        |sum, trial| Sum {
            bytes: sum.bytes + trial.bytes as f64,
            error: sum.error + trial.error,
        },
    )
}

/// Prices of a byte, from bytes that cost nothing to bytes that nothing is worth.
fn prices() -> impl DoubleEndedIterator<Item = f64> {
    (0..1200).map(|step| 10f64.powf(-12.0 + f64::from(step) / 100.0))
}

/// For every picture the quantiser at which error and price of the bytes are least.
fn pick(sets: &Sets, price: f64) -> Vec<i32> {
    let count = sets.values().next().map_or(0, Vec::len);
    let cost = |at: usize, quantiser: i32| {
        let trial = &sets[&quantiser][at];
        trial.error + price * trial.bytes as f64
    };
    let cheapest = |at: usize| {
        let quantisers = sets.keys().copied();
        quantisers.min_by(|&a, &b| cost(at, a).total_cmp(&cost(at, b)))
    };
    (0..count).filter_map(cheapest).collect()
}

/// The choice of the lowest price that fits, and finer pictures where what is left of the room allows it, those first that
/// gain most for their bytes.
fn cheapest_that_fits(sets: &Sets, fits: &impl Fn(Sum) -> bool) -> Option<Vec<i32>> {
    let mut choice = prices()
        .map(|price| pick(sets, price))
        .find(|choice| fits(sum(sets, choice)))?;
    let mut whole = sum(sets, &choice);
    let mut steps: Vec<(f64, usize, i32)> = Vec::new();
    for (at, &own) in choice.iter().enumerate() {
        let from = &sets[&own][at];
        for (&quantiser, set) in sets.range(..own) {
            let (gain, cost) = (
                from.error - set[at].error,
                set[at].bytes as f64 - from.bytes as f64,
            );
            if gain > 0.0 && cost > 0.0 {
                steps.push((gain / cost, at, quantiser));
            }
        }
    }
    steps.sort_by(|a, b| b.0.total_cmp(&a.0));
    let mut moved = vec![false; choice.len()];
    for (_, at, quantiser) in steps {
        let (from, to) = (&sets[&choice[at]][at], &sets[&quantiser][at]);
        let next = Sum {
            bytes: whole.bytes + to.bytes as f64 - from.bytes as f64,
            error: whole.error + to.error - from.error,
        };
        if !moved[at] && fits(next) {
            moved[at] = true;
            choice[at] = quantiser;
            whole = next;
        }
    }
    Some(choice)
}

/// Says what one budget for all gains over the same PSNR for all and over the same bytes per pixel, in total squared error at
/// the same number of bytes, as far as what was measured tells.
fn tell_gains(sets: &Sets, fits: &impl Fn(Sum) -> bool) {
    let Some(choice) = cheapest_that_fits(sets, fits) else {
        return;
    };
    let own = sum(sets, &choice);
    let curves: Vec<Curve> = (0..choice.len()).map(|at| Curve::new(sets, at)).collect();
    let same_psnr = |curve: &Curve, log: f64| curve.at_error(log + curve.samples.ln());
    let same_rate = |curve: &Curve, log: f64| curve.at_bytes(log + curve.samples.ln());
    let evenly = |point: &dyn Fn(&Curve, f64) -> Sum| {
        let whole = |log: f64| {
            let sums = curves.iter().map(|curve| point(curve, log));
            sums.fold(
                Sum {
                    bytes: 0.0,
                    error: 0.0,
                },
                |a, b| Sum {
                    bytes: a.bytes + b.bytes,
                    error: a.error + b.error,
                },
            )
        };
        // Bytes rise or fall along the scale; look for the place where they are those of the choice.
        let rising = whole(1.0).bytes > whole(0.0).bytes;
        let (mut low, mut high) = (-40.0, 40.0);
        for _ in 0..60 {
            let middle = (low + high) / 2.0;
            match (whole(middle).bytes > own.bytes) == rising {
                true => high = middle,
                false => low = middle,
            }
        }
        whole((low + high) / 2.0).error
    };
    let change = |error: f64| 100.0 * (own.error / error - 1.0);
    verbosity::note(format_args!(
        "one budget for all: {:+.1} % squared error against the same PSNR for every picture, {:+.1} % against the same bits per pixel (from {} encodes of each)",
        change(evenly(&same_psnr)),
        change(evenly(&same_rate)),
        sets.len()
    ));
}

/// Logarithms of bytes and error of a picture, from fine to coarse.
struct Curve {
    points: Vec<[f64; 2]>,
    samples: f64,
}

impl Curve {
    fn new(sets: &Sets, at: usize) -> Self {
        let point = |set: &Vec<Trial>| {
            let Trial { bytes, error, .. } = set[at];
            [(bytes as f64).ln(), error.max(1e-12).ln()]
        };
        let samples = sets.values().next().map_or(1, |set| set[at].samples.max(1));
        Self {
            points: sets.values().map(point).collect(),
            samples: samples as f64,
        }
    }

    fn at_error(&self, log_error: f64) -> Sum {
        self.at(log_error, 1)
    }

    fn at_bytes(&self, log_bytes: f64) -> Sum {
        self.at(log_bytes, 0)
    }

    /// The point with this logarithm, on the line through the two measured ones around or nearest to it.
    fn at(&self, log: f64, axis: usize) -> Sum {
        let distance = |pair: &&[[f64; 2]]| ((pair[0][axis] + pair[1][axis]) / 2.0 - log).abs();
        let pairs = self.points.windows(2);
        let nearest = pairs.min_by(|a, b| distance(a).total_cmp(&distance(b)));
        let [from, to] = match nearest {
            Some(&[from, to]) => [from, to],
            _ => [self.points[0]; 2],
        };
        let span = to[axis] - from[axis];
        let part = if span.abs() < 1e-9 {
            0.0
        } else {
            (log - from[axis]) / span
        };
        let value = |axis: usize| (from[axis] + part * (to[axis] - from[axis])).exp();
        Sum {
            bytes: value(0),
            error: value(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A picture whose error falls by `gain` from one quantiser to the next finer one.
    fn set(bytes: [usize; 2], error: [f64; 2]) -> Vec<Trial> {
        let trial = |at: usize| Trial {
            bytes: bytes[at],
            error: error[at],
            samples: 100,
            file: vec![at as u8],
        };
        vec![trial(0), trial(1)]
    }

    fn sets() -> Sets {
        // The second picture gains four times as much from its finer encode.
        let coarse = set([100, 100], [10.0, 40.0]);
        let fine = set([200, 200], [5.0, 20.0]);
        Sets::from([(60, fine), (70, coarse)])
    }

    #[test]
    fn bytes_go_where_they_lower_the_error_most() {
        let within = |room: f64| move |sum: Sum| sum.bytes <= room;
        assert_eq!(
            cheapest_that_fits(&sets(), &within(400.0)),
            Some(vec![60, 60])
        );
        assert_eq!(
            cheapest_that_fits(&sets(), &within(300.0)),
            Some(vec![70, 60])
        );
        assert_eq!(
            cheapest_that_fits(&sets(), &within(299.0)),
            Some(vec![70, 70])
        );
        assert_eq!(cheapest_that_fits(&sets(), &within(199.0)), None);
        assert_eq!(files(sets(), &[70, 60]), [vec![0], vec![1]]);
    }

    #[test]
    fn curves_go_through_what_was_measured() {
        let curve = Curve::new(&sets(), 1);
        let there = curve.at_bytes(200f64.ln());
        assert!((there.error - 20.0).abs() < 1e-9 && (there.bytes - 200.0).abs() < 1e-9);
        let between = curve.at_error(30f64.ln());
        assert!((100.0..200.0).contains(&between.bytes));
    }
}

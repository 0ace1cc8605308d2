//! One budget for all pictures of a pack.
//!
//! With a price of a byte that is the same everywhere, every picture is coded where error plus price of its bytes is
//! least; the price is what the budget makes it. All pictures are coded at some quantisers around the one that would meet
//! the budget alone, those that may be small without loss are also coded so, and the choice is made among what was measured.

mod choice;
mod gains;
mod objective;

use super::gather::Found;
use crate::exit::Usage;
use anyhow::{Result, bail};
pub(super) use choice::Coded;
use choice::{LOSSLESS, Sets, Sum, Trial, cheapest_that_fits, pick, prices, sum, take};
use gains::tell_gains;
pub(super) use objective::Objective;
use rayon::prelude::*;
use tessera_codec::{Encoded, Encoder, Error, PreparedDictionary, Target};

/// Pictures and how they are encoded.
#[derive(Clone)]
pub(super) struct Batch<'a> {
    pub(super) found: &'a [Found],
    pub(super) encoder: Encoder,
    /// The dictionary it has, unless that is the built-in one.
    pub(super) dictionary: Option<PreparedDictionary>,
    /// Whether pictures that are alike are predicted from each other.
    pub(super) series: bool,
    /// What one budget for all lowers.
    pub(super) objective: Objective,
    /// Whether to say what one budget for all gains.
    pub(super) tells_gains: bool,
    /// Whether pictures keep being lossy where they would be smaller without loss.
    pub(super) lossy: bool,
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
    /// The smallest pack with this PSNR over all samples of all pictures, or in their mean.
    Psnr(f64),
}

/// Bytes of the trailer and the start of an index.
const INDEX_BYTES: usize = 60;
/// Bytes of a name and a place in the index, beyond the letters that are not shared.
const ENTRY_BYTES: usize = 9;
/// Finest and coarsest quantiser that is used.
const QUANTISERS: std::ops::RangeInclusive<i32> = 8..=120;
/// Where the search begins.
const FIRST_QUANTISER: i32 = 64;
/// How many times the bytes at that quantiser a lossless file may have; its error is worth half of the bytes at most, and
/// the right quantiser is hardly ever so much finer.
const LOSSLESS_REACH: u64 = 4;
/// Indices of the quantiser that halve the bytes, about.
const PER_HALVING: f64 = 11.0;
/// Most sets of encodes of the search.
const MOST_PASSES: usize = 8;

/// Encodes all pictures so that the goal is met by those that can be read; what became of each, in their order.
pub(super) fn allocate(batch: &Batch<'_>, goal: Goal, fixed: usize) -> Result<Vec<Result<Coded>>> {
    let (mut readable, mut trials) = (Vec::new(), Vec::new());
    let probed = probe(batch).into_iter().zip(batch.found);
    let states: Vec<Result<()>> = probed
        .map(|(trial, picture)| {
            trials.push(trial?);
            readable.push(picture.clone());
            Ok(())
        })
        .collect();
    let mut chosen = match readable.is_empty() {
        true => Vec::new(),
        false => {
            let found = &readable;
            choose(
                &Batch {
                    found,
                    ..batch.clone()
                },
                goal,
                fixed,
                trials,
            )?
        }
    }
    .into_iter();
    let coded = |state: Result<()>| state.map(|()| chosen.next().unwrap_or_default());
    Ok(states.into_iter().map(coded).collect())
}

fn choose(batch: &Batch<'_>, goal: Goal, fixed: usize, first: Vec<Trial>) -> Result<Vec<Coded>> {
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
                false => by_price(batch, room, first),
            }
        }
        Goal::Psnr(decibels) => {
            let samples = first.iter().map(|trial| trial.coded.samples as f64).sum();
            let most = batch.objective.most(decibels, first.len(), samples);
            by_price_for_error(batch, most, first)
        }
    }
}

/// The best common quality that fits.
fn evenly(batch: &Batch<'_>, room: usize) -> Result<Vec<Coded>> {
    let (mut fits, mut low, mut high) = (None, 0u8, 101u8);
    while low < high {
        let quality = (low + high) / 2;
        let encoder = batch.encoder.clone().target((batch.even)(quality.min(100)));
        match measure(batch, &encoder) {
            Ok(trials) if trials.iter().sum::<Sum>().bytes <= room as f64 => {
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
    Ok(trials.into_iter().map(|trial| trial.coded).collect())
}

/// Whether no encode of some picture is as good as was asked for.
fn is_too_good(error: &anyhow::Error) -> bool {
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref());
    causes.any(|cause| matches!(cause, Error::TargetUnreachable(_)))
}

fn too_small(room: usize) -> Usage {
    Usage(format!(
        "the pictures do not fit into {room} bytes at any quality; allow more, or pack fewer"
    ))
}

/// Measures around the quantiser at which all pictures together stop to fit, and picks by price.
fn by_price(batch: &Batch<'_>, room: usize, first: Vec<Trial>) -> Result<Vec<Coded>> {
    let fits = |sum: Sum| sum.bytes <= room as f64;
    let sets = Search::new(batch, first)?.around(&fits)?;
    // Gains are told in squared error.
    if batch.tells_gains && batch.objective == Objective::Total {
        tell_gains(&sets, &fits);
    }
    match cheapest_that_fits(&sets, &fits) {
        Some(choice) => Ok(take(sets, &choice)),
        None => bail!(too_small(room)),
    }
}

/// The same for a limit on the error: the dearest bytes that are still needed.
fn by_price_for_error(batch: &Batch<'_>, most: f64, first: Vec<Trial>) -> Result<Vec<Coded>> {
    let too_coarse = |sum: Sum| sum.error > most;
    let sets = Search::new(batch, first)?.around(&too_coarse)?;
    // From coarse to fine, the first choice that is good enough.
    let mut choices = prices().rev().map(|price| pick(&sets, price));
    match choices.find(|choice| !too_coarse(sum(&sets, choice))) {
        Some(choice) => Ok(take(sets, &choice)),
        None => bail!(Usage("this PSNR cannot be reached; ask for less".into())),
    }
}

/// What was measured so far.
struct Search<'a> {
    batch: &'a Batch<'a>,
    /// The lossless file of each picture that may have a small one.
    exact: Vec<Option<Trial>>,
    sets: Sets,
}

impl<'a> Search<'a> {
    /// Begins with encodes at the first quantiser.
    fn new(batch: &'a Batch<'a>, first: Vec<Trial>) -> Result<Self> {
        let exact = (batch.found.par_iter().zip(&first))
            .map(|(picture, trial)| lossless(batch, picture, trial))
            .collect::<Result<_>>()?;
        let mut search = Self {
            batch,
            exact,
            sets: Sets::new(),
        };
        search.insert(FIRST_QUANTISER, first);
        Ok(search)
    }

    /// A file without loss takes the place of one that is no smaller.
    fn insert(&mut self, quantiser: i32, mut trials: Vec<Trial>) {
        for (trial, exact) in trials.iter_mut().zip(&self.exact) {
            if let Some(exact) = exact
                && exact.bytes() <= trial.bytes()
            {
                *trial = exact.clone();
            }
        }
        self.sets.insert(quantiser, trials);
    }

    /// What all pictures come to at a quantiser.
    fn at(&mut self, quantiser: i32) -> Result<Sum> {
        if !self.sets.contains_key(&quantiser) {
            let trials = measure(self.batch, &at_quantiser(self.batch, quantiser))?;
            self.insert(quantiser, trials);
        }
        Ok(self.sets[&quantiser].iter().sum())
    }

    /// Encodes at the finest quantiser that fits, the next one, some around, and without loss.
    fn around(mut self, fits: &impl Fn(Sum) -> bool) -> Result<Sets> {
        let mut quantiser = FIRST_QUANTISER;
        let (mut fine, mut coarse) = (*QUANTISERS.start() - 1, *QUANTISERS.end() + 1);
        for _ in 0..MOST_PASSES {
            let whole = self.at(quantiser)?;
            match fits(whole) {
                true => coarse = quantiser,
                false => fine = quantiser,
            }
            if coarse - fine <= 1 {
                break;
            }
            let next = quantiser + distance(self.batch, whole, fits).round() as i32;
            quantiser = next.clamp(fine + 1, coarse - 1);
        }
        let middle = coarse.clamp(*QUANTISERS.start(), *QUANTISERS.end());
        for around in self.batch.objective.around() {
            if QUANTISERS.contains(&(middle + around)) {
                self.at(middle + around)?;
            }
        }
        Ok(self.with_lossless())
    }

    /// All sets and that of the lossless files; where there is none, the finest encode stands for it.
    fn with_lossless(self) -> Sets {
        let Self {
            exact, mut sets, ..
        } = self;
        if let Some(finest) = sets.values().next() {
            let pairs = exact.into_iter().zip(finest);
            let best = pairs.map(|(exact, finest)| exact.unwrap_or_else(|| finest.clone()));
            let best = best.collect();
            sets.insert(LOSSLESS, best);
        }
        sets
    }
}

/// How many indices of the quantiser away all pictures would just fit.
fn distance(batch: &Batch<'_>, whole: Sum, fits: &impl Fn(Sum) -> bool) -> f64 {
    let pictures = batch.found.len();
    let at = |halvings: f64| Sum {
        bytes: whole.bytes * 0.5f64.powf(halvings),
        error: batch.objective.after(whole.error, pictures, halvings),
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

fn at_quantiser(batch: &Batch<'_>, quantiser: i32) -> Encoder {
    let encoder = batch.encoder.clone().lossless(false);
    encoder.target(Target::Quantiser(quantiser as u8))
}

/// Encodes at the first quantiser of all pictures that can be read.
fn probe(batch: &Batch<'_>) -> Vec<Result<Trial>> {
    let encoder = at_quantiser(batch, FIRST_QUANTISER);
    let encode = |picture: &Found| {
        let encoded = picture.encode_loudly(|source| encoder.encode_rows(source))?;
        Ok(Trial::new(encoded, batch.objective))
    };
    batch.found.par_iter().map(encode).collect()
}

fn measure(batch: &Batch<'_>, encoder: &Encoder) -> Result<Vec<Trial>> {
    let trial = |picture: &Found| {
        let encoded = picture.encode(|source| encoder.encode_rows(source))?;
        Ok(Trial::new(encoded, batch.objective))
    };
    batch.found.par_iter().map(trial).collect()
}

/// The lossless file of a picture, if it may be worth its bytes.
fn lossless(batch: &Batch<'_>, picture: &Found, first: &Trial) -> Result<Option<Trial>> {
    if batch.lossy {
        return Ok(None);
    }
    let most = LOSSLESS_REACH * first.coded.file.len() as u64;
    let encode = |source: &mut dyn tessera_codec::RowSource| {
        batch.encoder.encode_lossless_within(source, most)
    };
    let exact = picture.encode(encode)?;
    Ok(exact.map(|encoded| Trial::new(encoded, batch.objective)))
}

impl Trial {
    fn new(encoded: Encoded, objective: Objective) -> Self {
        let coded = Coded::from(encoded);
        let error = objective.error(coded.squared, coded.samples);
        Self { error, coded }
    }
}

impl From<Encoded> for Coded {
    fn from(encoded: Encoded) -> Self {
        let distortion = encoded.measured.map(|measured| measured.distortion);
        Self {
            lossless: encoded.lossless.is_some(),
            squared: distortion.map_or(0.0, |distortion| distortion.squared_error()),
            samples: distortion.map_or(0, |distortion| distortion.samples()),
            file: encoded.bytes,
        }
    }
}

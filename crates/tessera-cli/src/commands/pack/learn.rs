//! The dictionary of a pack: one that is named, or one learned from its pictures if that pays.

use super::PackArgs;
use super::budget::{Batch, Coded, Goal};
use super::filling;
use super::gather::Found;
use crate::progress::StageBar;
use crate::{dictionaries, verbosity};
use anyhow::Result;
use rayon::prelude::*;
use tessera_codec::Target;
use tessera_dict::Dictionary;
use tessera_train::{TrainError, Trainer};

/// From this many pictures on a dictionary is learned unless that is forbidden.
const WORTH_TRYING: usize = 64;
/// Pictures that are encoded to see whether most of them are lossless, which need no dictionary, and how finely the others
/// are coded.
const SAMPLE: usize = 12;
/// Effort of a look at which pictures are series.
const LOOK_EFFORT: u8 = 2;

/// The dictionary to encode with; `None` is the built-in one.
pub(super) fn dictionary(args: &PackArgs, found: &[Found]) -> Result<Option<Dictionary>> {
    if let Some(spec) = &args.dict {
        let own = dictionaries::load(spec)?;
        let helps = !args.goal.lossless || own.lossless_nets().iter().any(Option::is_some);
        return Ok((helps && own.id() != Dictionary::builtin().id()).then_some(own));
    }
    let worth_trying = || {
        let enough = !args.no_train && found.len() >= WORTH_TRYING;
        enough && !are_mostly_lossless(args, found) && !are_mostly_series(args, found)
    };
    match args.train || worth_trying() {
        true => learned(args, found),
        false => Ok(None),
    }
}

/// Whether most pictures, as some of them say, are smaller without loss.
fn are_mostly_lossless(args: &PackArgs, found: &[Found]) -> bool {
    if args.lossy || args.goal.lossless {
        return false;
    }
    let sample = sample(args, found);
    let lossless = sample.iter().filter(|coded| coded.lossless).count();
    2 * lossless > sample.len()
}

/// Some of the pictures, as they would be coded without a dictionary of their own.
fn sample(args: &PackArgs, found: &[Found]) -> Vec<Coded> {
    let batch = args.batch(found, None);
    let target = match args.goal() {
        Goal::Each(target) => target,
        Goal::Size { bytes, .. } => Target::Size((bytes / found.len().max(1)) as u64),
        Goal::Psnr(decibels) => Target::Psnr(decibels),
    };
    let sample = found.iter().step_by(found.len().div_ceil(SAMPLE));
    let coded = sample.map(|picture| batch.try_encode(picture, target));
    coded.filter_map(Result::ok).collect()
}

/// The quantiser in the middle of those that pictures are coded at.
fn usual_quantiser(args: &PackArgs, found: &[Found]) -> Option<u8> {
    let batch = args.batch(found, None);
    let sample = sample(args, found);
    let lossy = sample.iter().filter(|coded| !coded.lossless);
    let mut quantisers: Vec<u8> = lossy
        .filter_map(|coded| Some(batch.parse(coded).ok()?.header().quantiser))
        .collect();
    quantisers.sort_unstable();
    quantisers.get(quantisers.len() / 2).copied()
}

/// Whether most pictures are predicted from others: what a dictionary would tell of them the others tell already.
fn are_mostly_series(args: &PackArgs, found: &[Found]) -> bool {
    let batch = args.batch(found, None);
    let Goal::Each(target) = args.goal() else {
        return false;
    };
    if !batch.series {
        return false;
    }
    let batch = Batch {
        encoder: batch.encoder.clone().effort(LOOK_EFFORT),
        ..batch
    };
    let some = &found[..found.len().min(filling::CHUNK)];
    let encode = |picture| batch.try_encode(picture, target);
    let alone = some.par_iter().map(encode).collect();
    let coding = batch.with_series(some, alone, &|_| target);
    let mostly = 2 * coding.predicted.iter().flatten().count() > some.len();
    if mostly {
        verbosity::note(
            "most of these pictures are predicted from others; --train learns a dictionary all the same",
        );
    }
    mostly
}

fn learned(args: &PackArgs, found: &[Found]) -> Result<Option<Dictionary>> {
    verbosity::note("learning a dictionary for these pictures; --no-train does without");
    let mut bar = StageBar::new();
    let pictures = found.iter().map(|picture| &picture.path);
    let mut trainer = Trainer::new(pictures).lossless(args.goal.lossless);
    if let Some(time) = args.time {
        trainer = trainer.time(time);
    }
    if let Some(quantiser) = usual_quantiser(args, found) {
        trainer = trainer.quantiser(quantiser);
    }
    let trained = trainer.observer(&mut bar).train();
    bar.finish();
    let trained = match trained {
        Err(TrainError::OnePicture) => return Ok(None),
        trained => trained?,
    };
    let total = trained.total_change.unwrap_or_default();
    if total >= 0.0 {
        verbosity::note("no dictionary of their own would pay for its bytes");
        return Ok(None);
    }
    verbosity::note(format_args!(
        "the dictionary has {} bytes; with it everything takes {:.1} % fewer bytes",
        trained.to_file().len(),
        -100.0 * total
    ));
    Ok(Some(trained.dictionary))
}

//! The dictionary of a pack: one that is named, or one learned from its pictures if that pays.

use super::PackArgs;
use super::gather::Found;
use crate::progress::StageBar;
use crate::{dictionaries, verbosity};
use anyhow::Result;
use tessera_dict::Dictionary;
use tessera_train::{TrainError, Trainer};

/// From this many pictures on a dictionary is learned unless that is forbidden.
const WORTH_TRYING: usize = 64;

/// The dictionary to encode with; `None` is the built-in one.
pub(super) fn dictionary(args: &PackArgs, found: &[Found]) -> Result<Option<Dictionary>> {
    if let Some(spec) = &args.dict {
        let own = dictionaries::load(spec)?;
        return Ok((own.id() != Dictionary::builtin().id()).then_some(own));
    }
    let wanted = args.train || found.len() >= WORTH_TRYING && !args.no_train;
    match wanted {
        true => learned(args, found),
        false => Ok(None),
    }
}

fn learned(args: &PackArgs, found: &[Found]) -> Result<Option<Dictionary>> {
    verbosity::note("learning a dictionary for these pictures; --no-train does without");
    let mut bar = StageBar::new();
    let mut trainer = Trainer::new(found.iter().map(|picture| &picture.path));
    if let Some(time) = args.time {
        trainer = trainer.time(time);
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

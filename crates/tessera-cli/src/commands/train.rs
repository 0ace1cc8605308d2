//! `tessera train`: learns a dictionary from pictures.

use crate::dictionaries;
use crate::exit::Usage;
use crate::files::{check_output, write_output};
use crate::progress::StageBar;
use crate::threads::with_threads;
use anyhow::{Context, Result};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use tessera_dict::Dictionary;
use tessera_train::{Gallery, TrainParams, train};

/// Arguments of `tessera train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Folders with pictures (or pictures) to learn from.
    #[arg(required = true)]
    pictures: Vec<PathBuf>,
    /// The dictionary to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to start from: a dictionary file, `default`, or `untrained`.
    #[arg(long, value_name = "FILE", default_value = "default")]
    from: PathBuf,
    /// Seed of the sampling; the same seed gives the same bytes on any number of threads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A text file with licence and credits to store in the dictionary.
    #[arg(long, value_name = "FILE")]
    note: Option<PathBuf>,
    /// Number of threads [default: one per core].
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Overwrite an existing output.
    #[arg(long)]
    force: bool,
}

/// Runs `tessera train`.
///
/// # Errors
/// If there is nothing to learn from, or the output cannot be written.
pub fn run(args: &TrainArgs) -> Result<()> {
    check_output(&args.output, args.force)?;
    let start = start(args)?;
    let gallery = gallery(args)?;
    let params = TrainParams {
        seed: args.seed,
        note: note(args)?,
        ..TrainParams::default()
    };
    let mut bar = StageBar::new();
    let dictionary = with_threads(args.threads, || {
        Ok(train(&gallery, &start, &params, &mut bar)?)
    })?;
    bar.finish();
    let file = dictionary.to_bytes();
    write_output(&args.output, &file, args.force)?;
    eprintln!(
        "{}: {} bytes, learned from {} pictures",
        args.output.display(),
        file.len(),
        gallery.len()
    );
    Ok(())
}

fn start(args: &TrainArgs) -> Result<Dictionary> {
    match args.from.to_str() {
        Some("default") => Ok(Dictionary::builtin().clone()),
        Some("untrained") => Ok(Dictionary::untrained()),
        _ => Ok(dictionaries::load(&args.from)?.as_ref().clone()),
    }
}

fn gallery(args: &TrainArgs) -> Result<Gallery> {
    let gallery = Gallery::open(&args.pictures).context("looking for pictures")?;
    let (gallery, skipped) = gallery.readable();
    for file in &skipped {
        eprintln!("skipped {}: {}", file.file.display(), file.reason);
    }
    if gallery.is_empty() {
        let message =
            "there are no readable pictures in what was given; name folders that hold some";
        return Err(Usage(message.into()).into());
    }
    Ok(gallery)
}

fn note(args: &TrainArgs) -> Result<String> {
    let Some(file) = &args.note else {
        return Ok(String::new());
    };
    std::fs::read_to_string(file).with_context(|| format!("reading the note {}", file.display()))
}

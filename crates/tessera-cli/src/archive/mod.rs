//! Whole folders: find the pictures, encode what is not done yet, sum up.
//!
//! Every output appears by renaming a finished file, so a run can be killed at any moment and
//! started again: what is there is whole, and what is missing is done next time.

mod plan;
mod summary;

pub(crate) use plan::{Plan, Task};
pub(crate) use summary::{Failure, Summary};

use crate::commands::encode::FileEncoder;
use crate::{files, verbosity};
use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use rayon::prelude::*;
use std::fs;

/// How a folder is worked through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArchiveOptions {
    /// Pictures encoded at the same time; zero means one per core.
    pub(crate) jobs: usize,
    /// Encode again what is done already.
    pub(crate) force: bool,
    /// Draw a progress bar.
    pub(crate) bar: bool,
}

/// What became of one picture.
enum Outcome {
    Encoded { before: u64, after: u64 },
    Skipped,
    Failed(Failure),
}

/// Encodes every picture of a plan.
pub(crate) fn encode(
    plan: Plan,
    encoder: &FileEncoder,
    options: ArchiveOptions,
) -> Result<Summary> {
    let Plan {
        tasks, failures, ..
    } = plan;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .context("cannot start the threads")?;
    remove_leftovers(&tasks);
    let bar = progress_bar(tasks.len(), options.bar);
    let encode_one = |task: &Task| {
        let outcome = encode_task(task, encoder, options.force, &bar);
        bar.suspend(|| verbosity::detail(describe(task, &outcome)));
        bar.inc(1);
        outcome
    };
    let outcomes: Vec<Outcome> = pool.install(|| tasks.par_iter().map(encode_one).collect());
    bar.finish_and_clear();
    let mut summary = Summary::new(failures);
    outcomes
        .into_iter()
        .for_each(|outcome| summary.add(outcome));
    Ok(summary)
}

fn encode_task(task: &Task, encoder: &FileEncoder, force: bool, bar: &ProgressBar) -> Outcome {
    if !force && is_done(task) {
        return Outcome::Skipped;
    }
    match try_encode(task, encoder, bar) {
        Ok((before, after)) => Outcome::Encoded { before, after },
        Err(error) => Outcome::Failed(Failure::new(&task.input, &error)),
    }
}

fn try_encode(task: &Task, encoder: &FileEncoder, bar: &ProgressBar) -> Result<(u64, u64)> {
    let done = encoder.encode(&files::Input::open(&task.input)?)?;
    let bytes = &done.encoded.bytes;
    let folder = task.output.parent().unwrap_or(&task.output);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    files::write_output(&task.output, bytes, true)?;
    bar.suspend(|| done.warn(&task.input));
    Ok((done.before as u64, bytes.len() as u64))
}

fn describe(task: &Task, outcome: &Outcome) -> String {
    let (input, output) = (task.input.display(), task.output.display());
    match outcome {
        Outcome::Encoded { before, after } => {
            format!("{input} -> {output}: {before} -> {after} bytes")
        }
        Outcome::Skipped => format!("{input}: done before"),
        Outcome::Failed(_) => format!("{input}: failed"),
    }
}

/// An output counts as done when it is there and not older than its input.
fn is_done(task: &Task) -> bool {
    let modified = |path| fs::metadata(path).and_then(|metadata| metadata.modified());
    match (modified(&task.input), modified(&task.output)) {
        (Ok(input), Ok(output)) => output >= input,
        _ => false,
    }
}

/// Sweeps up the temporary files of runs that were killed.
fn remove_leftovers(tasks: &[Task]) {
    let mut folders: Vec<_> = tasks
        .iter()
        .filter_map(|task| task.output.parent())
        .collect();
    folders.sort();
    folders.dedup();
    folders.into_iter().for_each(files::remove_leftovers);
}

fn progress_bar(tasks: usize, drawn: bool) -> ProgressBar {
    if !drawn {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} pictures, {eta} left");
    let bar = ProgressBar::new(tasks as u64);
    match style {
        Ok(style) => bar.with_style(style),
        Err(_) => bar,
    }
}

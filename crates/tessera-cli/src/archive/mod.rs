//! Whole folders: find the files, process what is not done yet, sum up.
//!
//! Every output appears by renaming a finished file, so a run can be killed at any moment and
//! started again: what is there is whole, and what is missing is done next time.

mod bar;
mod plan;
mod summary;

pub(crate) use plan::{PICTURE_EXTENSIONS, Plan, Task, Wanted};
use summary::{Failure, Summary};

use crate::{files, verbosity};
use anyhow::{Context, Result, bail};
use bar::ArchiveBar;
use rayon::prelude::*;
use std::fs;

/// How a folder is worked through.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ArchiveOptions {
    /// Files processed at the same time; zero means one per core.
    pub(crate) jobs: usize,
    /// Process again what is done already.
    pub(crate) force: bool,
    /// What to do with outputs that are older than their inputs.
    pub(crate) stale: Stale,
    /// Draw a progress bar.
    pub(crate) bar: bool,
}

/// What becomes of an output that is older than its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stale {
    /// It is made again: nothing else makes files of its kind.
    Renew,
    /// It is kept, for it may be an original.
    Keep,
}

/// Bytes of a file before and after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub(crate) before: u64,
    pub(crate) after: u64,
}

/// What became of one file.
enum Outcome {
    Done(Sizes),
    Skipped,
    Failed(Failure),
}

/// Does `work` for every task of a plan, in parallel. `work` writes the output; its folder is there by then.
pub(crate) fn process(
    plan: Plan,
    options: ArchiveOptions,
    work: impl Fn(&Task) -> Result<Sizes> + Sync,
) -> Result<Summary> {
    let Plan {
        tasks,
        failures,
        wanted,
        ..
    } = plan;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(options.jobs)
        .build()
        .context("cannot start the threads")?;
    remove_leftovers(&tasks);
    let bar = ArchiveBar::new(&tasks, options.bar);
    let process_one = |task: &Task| {
        let outcome = process_task(task, options, &work);
        bar.suspend(|| verbosity::detail(describe(task, &outcome)));
        bar.advance(task, matches!(outcome, Outcome::Done(_)));
        outcome
    };
    let outcomes: Vec<Outcome> = pool.install(|| tasks.par_iter().map(process_one).collect());
    bar.finish();
    let mut summary = Summary::new(wanted, failures);
    outcomes
        .into_iter()
        .for_each(|outcome| summary.add(outcome));
    Ok(summary)
}

fn process_task(
    task: &Task,
    options: ArchiveOptions,
    work: impl Fn(&Task) -> Result<Sizes>,
) -> Outcome {
    if !options.force && is_done(task) {
        return Outcome::Skipped;
    }
    let result = check_stale(task, options)
        .and_then(|()| make_folder(task))
        .and_then(|()| work(task));
    match result {
        Ok(sizes) => Outcome::Done(sizes),
        Err(error) => Outcome::Failed(Failure::new(&task.input, &error)),
    }
}

fn check_stale(task: &Task, options: ArchiveOptions) -> Result<()> {
    if options.stale == Stale::Keep && !options.force && task.output.exists() {
        let output = task.output.display();
        bail!(
            "{output} exists already and is older, so it may be an original; use --force to replace it, or -o for another folder"
        );
    }
    Ok(())
}

fn make_folder(task: &Task) -> Result<()> {
    let folder = task.output.parent().unwrap_or(&task.output);
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))
}

fn describe(task: &Task, outcome: &Outcome) -> String {
    let (input, output) = (task.input.display(), task.output.display());
    match outcome {
        Outcome::Done(Sizes { before, after }) => {
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

//! Whole folders: find the files, process what is not done yet, sum up.
//!
//! Every output appears by renaming a finished file, so a run can be killed at any moment and
//! started again: what is there is whole, and what is missing is done next time.

mod bar;
mod plan;
mod shard;
mod summary;

pub(crate) use plan::{Plan, Task, Wanted};
use shard::Shard;
use summary::Summary;
pub(crate) use summary::{Failure, verdict};

use crate::{files, verbosity};
use anyhow::{Context, Result, bail};
use bar::ArchiveBar;
use clap::Args;
use rayon::prelude::*;
use std::fs;
use std::time::{Duration, Instant};

/// The options of commands that take whole folders.
#[derive(Debug, Args)]
pub(crate) struct FolderArgs {
    /// Take all files below the given folders; what is done already is skipped.
    #[arg(short, long)]
    pub(crate) recursive: bool,
    /// With -r: files done at the same time [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(requires = "recursive")]
    jobs: usize,
    /// With -r: print the summary as JSON.
    #[arg(long, requires = "recursive")]
    json: bool,
    /// With -r: only the I-th of N parts of the files, told apart by name, so that N machines can share the work and the
    /// output folder.
    #[arg(long, value_name = "I/N", requires = "recursive")]
    pub(crate) shard: Option<Shard>,
}

/// A temporary file this old is nobody's: one is written in a moment.
const ABANDONED: Duration = Duration::from_secs(3600);

/// What may be replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Replacing {
    /// Whatever is there.
    pub(crate) force: bool,
    /// Outputs that are older than their inputs.
    pub(crate) stale: Stale,
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

/// A file that was processed.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) sizes: Sizes,
    /// What its user should know.
    pub(crate) warnings: Vec<String>,
}

impl Done {
    /// Of which nothing is to be said.
    pub(crate) fn silent(sizes: Sizes) -> Self {
        Self {
            sizes,
            warnings: Vec::new(),
        }
    }
}

/// What became of one file.
enum FileResult {
    Done(Sizes),
    Skipped,
    Failed(Failure),
}

/// Does `work` for every task of a plan, in parallel, and tells what became of them. `work` writes the output; its folder
/// is there by then.
///
/// # Errors
/// If something failed.
pub(crate) fn process(
    plan: Plan,
    args: &FolderArgs,
    replacing: Replacing,
    work: impl Fn(&Task) -> Result<Done> + Sync,
) -> Result<()> {
    let Plan {
        tasks,
        failures,
        wanted,
        ..
    } = plan;
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(args.jobs)
        .build()
        .context("cannot start the threads")?;
    // Other shards may run on other machines, whose processes are not seen here.
    let least_age = args.shard.map_or(Duration::ZERO, |_| ABANDONED);
    remove_leftovers(&tasks, least_age);
    let drawn = !(verbosity::quiet() || args.json);
    let bar = ArchiveBar::new(&tasks, pool.current_num_threads(), drawn);
    let process_one = |task: &Task| {
        let started = Instant::now();
        let (result, warnings) = process_task(task, replacing, &work);
        bar.suspend(|| {
            verbosity::warn(&task.input, &warnings);
            verbosity::detail(describe(task, &result));
        });
        let took_time = matches!(result, FileResult::Done(_));
        bar.advance(task, took_time.then(|| started.elapsed()));
        result
    };
    let results: Vec<FileResult> = pool.install(|| tasks.par_iter().map(process_one).collect());
    bar.finish();
    let mut summary = Summary::new(wanted, failures);
    results.into_iter().for_each(|result| summary.add(result));
    summary.report(args.json)
}

/// Processes one file; also returns what there is to be said of it.
fn process_task(
    task: &Task,
    replacing: Replacing,
    work: impl Fn(&Task) -> Result<Done>,
) -> (FileResult, Vec<String>) {
    if !replacing.force && is_done(task) {
        return (FileResult::Skipped, Vec::new());
    }
    let result = check_stale(task, replacing)
        .and_then(|()| make_folder(task))
        .and_then(|()| work(task));
    match result {
        Ok(done) => (FileResult::Done(done.sizes), done.warnings),
        Err(error) => {
            let failure = Failure::new(&task.input, &error);
            (FileResult::Failed(failure), Vec::new())
        }
    }
}

fn check_stale(task: &Task, replacing: Replacing) -> Result<()> {
    if replacing.stale == Stale::Keep && !replacing.force && task.output.exists() {
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

fn describe(task: &Task, result: &FileResult) -> String {
    let (input, output) = (task.input.display(), task.output.display());
    match result {
        FileResult::Done(Sizes { before, after }) => {
            format!("{input} -> {output}: {before} -> {after} bytes")
        }
        FileResult::Skipped => format!("{input}: done before"),
        FileResult::Failed(_) => format!("{input}: failed"),
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
fn remove_leftovers(tasks: &[Task], least_age: Duration) {
    let mut folders: Vec<_> = tasks
        .iter()
        .filter_map(|task| task.output.parent())
        .collect();
    folders.sort();
    folders.dedup();
    folders
        .into_iter()
        .for_each(|folder| files::remove_leftovers(folder, least_age));
}

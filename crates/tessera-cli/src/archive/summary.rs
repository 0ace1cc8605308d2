//! What a run over many pictures did.

use super::{FileResult, Sizes, Wanted};
use crate::exit::{self, Incomplete};
use crate::files::print_report;
use crate::verbosity;
use anyhow::{Result, anyhow};
use serde::Serialize;
use std::fmt;
use std::path::Path;

/// A picture or folder that could not be processed.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Failure {
    path: String,
    error: String,
}

impl Failure {
    pub(crate) fn new(path: &Path, error: &anyhow::Error) -> Self {
        Self {
            path: path.display().to_string(),
            error: exit::message(error),
        }
    }
}

/// Totals of a run.
#[derive(Debug, Clone)]
pub(super) struct Summary {
    wanted: Wanted,
    done: usize,
    skipped: usize,
    sizes: Sizes,
    /// Files that came out larger, and by how many bytes together.
    larger: usize,
    larger_by: u64,
    failures: Vec<Failure>,
}

impl Summary {
    /// A run in which only `failures` happened so far.
    pub(super) fn new(wanted: Wanted, failures: Vec<Failure>) -> Self {
        Self {
            wanted,
            done: 0,
            skipped: 0,
            sizes: Sizes {
                before: 0,
                after: 0,
            },
            larger: 0,
            larger_by: 0,
            failures,
        }
    }

    pub(super) fn add(&mut self, result: FileResult) {
        match result {
            FileResult::Done(Sizes { before, after }) => {
                self.done += 1;
                self.sizes.before += before;
                self.sizes.after += after;
                self.larger += usize::from(after > before);
                self.larger_by += after.saturating_sub(before);
            }
            FileResult::Skipped => self.skipped += 1,
            FileResult::Failed(failure) => self.failures.push(failure),
        }
    }

    /// Number of files and folders that failed.
    fn failed(&self) -> usize {
        self.failures.len()
    }

    /// As JSON for machines.
    fn to_json(&self) -> serde_json::Value {
        serde_json::json!({
            (self.wanted.verb): self.done,
            "skipped": self.skipped,
            "bytes_before": self.sizes.before,
            "bytes_after": self.sizes.after,
            "larger": self.larger,
            "larger_by": self.larger_by,
            "failures": self.failures,
        })
    }

    /// Says what was done; pictures that grew are said only where the point is to make files smaller.
    ///
    /// # Errors
    /// If something failed.
    pub(super) fn report(&self, json: bool) -> Result<()> {
        if json {
            let text = serde_json::to_string_pretty(&self.to_json())? + "\n";
            print_report(&text)?;
        } else if !verbosity::quiet() || self.failed() > 0 {
            eprintln!("{self}");
        }
        verdict(self.failed())
    }
}

/// An error if something failed; each failure is told already.
pub(crate) fn verdict(failed: usize) -> Result<()> {
    match failed {
        0 => Ok(()),
        failed => Err(anyhow!(Incomplete(format!("{failed} failures, see above")))),
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "failed: {}: {}", self.path, self.error)
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "{failure}")?;
        }
        write!(
            f,
            "{} {}, {} done before, {} failed; {} -> {} bytes",
            self.done,
            self.wanted.verb,
            self.skipped,
            self.failures.len(),
            self.sizes.before,
            self.sizes.after
        )?;
        if self.wanted.shrinks && self.larger > 0 {
            write!(
                f,
                "; {} came out larger than they went in, by {} bytes together",
                self.larger, self.larger_by
            )?;
        }
        Ok(())
    }
}

//! What a run over many pictures did.

use super::Outcome;
use crate::exit;
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

/// Totals of a run; the names are those of the JSON output.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Summary {
    encoded: usize,
    skipped: usize,
    bytes_before: u64,
    bytes_after: u64,
    failures: Vec<Failure>,
}

impl Summary {
    /// A run in which only `failures` happened so far.
    pub(crate) fn new(failures: Vec<Failure>) -> Self {
        Self {
            encoded: 0,
            skipped: 0,
            bytes_before: 0,
            bytes_after: 0,
            failures,
        }
    }

    pub(super) fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Encoded { before, after } => {
                self.encoded += 1;
                self.bytes_before += before;
                self.bytes_after += after;
            }
            Outcome::Skipped => self.skipped += 1,
            Outcome::Failed(failure) => self.failures.push(failure),
        }
    }

    /// Number of pictures and folders that failed.
    pub(crate) fn failed(&self) -> usize {
        self.failures.len()
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in &self.failures {
            writeln!(f, "failed: {}: {}", failure.path, failure.error)?;
        }
        write!(
            f,
            "{} encoded, {} done before, {} failed; {} -> {} bytes",
            self.encoded,
            self.skipped,
            self.failures.len(),
            self.bytes_before,
            self.bytes_after
        )
    }
}

//! How much is said on standard error: one setting for the whole process, like the stream itself.

use clap::Args;
use std::fmt::Display;
use std::path::Path;
use std::sync::atomic::{AtomicU8, Ordering};

/// The options that every command has.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct VerbosityArgs {
    /// Say only what went wrong; no progress bars.
    #[arg(long, global = true, conflicts_with = "verbose")]
    quiet: bool,
    /// Say more about what is done.
    #[arg(short, long, global = true)]
    verbose: bool,
}

const QUIET: u8 = 0;
const NORMAL: u8 = 1;
const VERBOSE: u8 = 2;

static LEVEL: AtomicU8 = AtomicU8::new(NORMAL);

impl VerbosityArgs {
    /// Makes these options those of the process.
    pub(crate) fn apply(self) {
        let level = match (self.quiet, self.verbose) {
            (true, _) => QUIET,
            (_, true) => VERBOSE,
            _ => NORMAL,
        };
        LEVEL.store(level, Ordering::Relaxed);
    }
}

/// True when only errors are wanted.
pub(crate) fn quiet() -> bool {
    LEVEL.load(Ordering::Relaxed) == QUIET
}

/// Says something unless `--quiet` was given.
pub(crate) fn note(text: impl Display) {
    if !quiet() {
        eprintln!("{text}");
    }
}

/// Says what the user should know of an input, unless `--quiet` was given.
pub(crate) fn warn(input: &Path, warnings: &[String]) {
    for warning in warnings {
        note(format_args!(
            "tessera: warning: {}: {warning}",
            input.display()
        ));
    }
}

/// Says something only if `--verbose` was given.
pub(crate) fn detail(text: impl Display) {
    if LEVEL.load(Ordering::Relaxed) == VERBOSE {
        eprintln!("{text}");
    }
}

//! The `--threads` option: how many threads the libraries' parallel loops may use.

use anyhow::{Context, Result};
use std::num::NonZeroUsize;

/// Runs `work` on a pool of `threads` threads, or on all processors if none is given.
///
/// # Errors
/// If the threads cannot be started, or `work` fails.
pub fn with_threads<T: Send>(
    threads: Option<NonZeroUsize>,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.map_or(0, NonZeroUsize::get))
        .build();
    pool.context("cannot start the worker threads")?
        .install(work)
}

//! Work on tiles side by side, on a chosen number of threads. It is split so that results never depend on the number.
//!
//! Without the feature `threads` everything happens on the thread of the caller.

use crate::error::Result;
use std::ops::Range;

/// The number of threads meant by a setting in which zero stands for one per core.
#[cfg(feature = "threads")]
pub(crate) fn count(setting: usize) -> usize {
    match setting {
        0 => rayon::current_num_threads(),
        threads => threads,
    }
}

/// The only number of threads there is.
#[cfg(not(feature = "threads"))]
pub(crate) fn count(_setting: usize) -> usize {
    1
}

/// Runs `work` on exactly `threads` threads: on the current pool when it has that size, else on
/// one of its own.
#[cfg(feature = "threads")]
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    if threads == rayon::current_num_threads() {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| crate::error::Error::Io(std::io::Error::other(error)))?;
    Ok(pool.install(work))
}

#[cfg(not(feature = "threads"))]
pub(crate) fn run<T: Send>(_threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    Ok(work())
}

/// The results of `work` on every tile in order, or an error of one of them.
#[cfg(feature = "threads")]
pub(crate) fn try_map<T: Send>(
    tiles: Range<usize>,
    work: impl Fn(usize) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    use rayon::prelude::*;
    tiles.into_par_iter().map(work).collect()
}

#[cfg(not(feature = "threads"))]
pub(crate) fn try_map<T: Send>(
    tiles: Range<usize>,
    work: impl Fn(usize) -> Result<T> + Send + Sync,
) -> Result<Vec<T>> {
    tiles.map(work).collect()
}

/// Does `work` on chunks of `length`, each with its number.
#[cfg(feature = "threads")]
pub(crate) fn for_each_chunk<T: Send>(
    data: &mut [T],
    length: usize,
    work: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    use rayon::prelude::*;
    let chunks = data.par_chunks_mut(length).enumerate();
    chunks.for_each(|(at, chunk)| work(at, chunk));
}

#[cfg(not(feature = "threads"))]
pub(crate) fn for_each_chunk<T: Send>(
    data: &mut [T],
    length: usize,
    work: impl Fn(usize, &mut [T]) + Send + Sync,
) {
    let chunks = data.chunks_mut(length).enumerate();
    chunks.for_each(|(at, chunk)| work(at, chunk));
}

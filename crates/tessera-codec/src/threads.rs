//! Thread pools of a chosen size. Work is split so that results never depend on the size.

use crate::error::{Error, Result};

/// The number of threads meant by a setting in which zero stands for one per core.
pub(crate) fn count(setting: usize) -> usize {
    if setting == 0 {
        rayon::current_num_threads()
    } else {
        setting
    }
}

/// Runs `work` on exactly `threads` threads: on the current pool when it has that size, else on
/// one of its own.
pub(crate) fn run<T: Send>(threads: usize, work: impl FnOnce() -> T + Send) -> Result<T> {
    if threads == rayon::current_num_threads() {
        return Ok(work());
    }
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .map_err(|error| Error::Io(std::io::Error::other(error)))?;
    Ok(pool.install(work))
}

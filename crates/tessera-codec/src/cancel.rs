//! Stopping work that nobody waits for any more.

use crate::error::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Stops encoders and decoders, from any thread or at a given time. They look at it before every tile and give up with
/// [`Error::Cancelled`]; clones stop the same work.
///
/// ```
/// # fn main() -> Result<(), tessera_codec::Error> {
/// use tessera_codec::{CancelToken, Encoder, Error, Picture};
///
/// let token = CancelToken::new();
/// let encoder = Encoder::new().cancel(&token);
/// token.cancel();
/// let stopped = encoder.encode(&Picture::gray8(4, 4, vec![128; 16])?);
/// assert!(matches!(stopped, Err(Error::Cancelled)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancelToken {
    cancelled: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl CancelToken {
    /// Stops when [`CancelToken::cancel`] is called.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops when this much time has passed, or when cancelled before.
    pub fn after(time: Duration) -> Self {
        Self {
            deadline: Instant::now().checked_add(time),
            ..Self::default()
        }
    }

    /// Stops the work.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Whether to stop.
    pub fn is_cancelled(&self) -> bool {
        let late = || self.deadline.is_some_and(|end| Instant::now() >= end);
        self.cancelled.load(Ordering::Relaxed) || late()
    }

    /// Fails once the work is to stop.
    pub(crate) fn check(&self) -> Result<()> {
        match self.is_cancelled() {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }
}

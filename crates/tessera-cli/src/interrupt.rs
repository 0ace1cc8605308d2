//! Ending long work early: on Ctrl-C, or when its time is up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Says when to stop. The first Ctrl-C asks politely; the second ends the process.
#[derive(Clone, Debug)]
pub(crate) struct Deadline {
    end: Option<Instant>,
    interrupted: Arc<AtomicBool>,
}

impl Deadline {
    /// After `time` from now, if any; and on Ctrl-C from now on.
    pub(crate) fn new(time: Option<Duration>) -> Self {
        let interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&interrupted);
        let asked = ctrlc::set_handler(move || {
            if flag.swap(true, Ordering::SeqCst) {
                std::process::exit(INTERRUPTED);
            }
            eprintln!("stopping; Ctrl-C again to give up what was learned");
        });
        // Without a handler Ctrl-C ends the process as ever; the checkpoint on disk remains.
        drop(asked);
        Self {
            end: time.and_then(|time| Instant::now().checked_add(time)),
            interrupted,
        }
    }

    /// Whether Ctrl-C was pressed.
    pub(crate) fn interrupted(&self) -> bool {
        self.interrupted.load(Ordering::SeqCst)
    }

    /// Whether to stop now.
    pub(crate) fn over(&self) -> bool {
        self.interrupted() || self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// What shells report for a process that Ctrl-C ended.
const INTERRUPTED: i32 = 130;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_runs_out() {
        assert!(Deadline::new(Some(Duration::ZERO)).over());
        assert!(!Deadline::new(Some(Duration::from_secs(3600))).over());
        assert!(!Deadline::new(None).over());
    }
}

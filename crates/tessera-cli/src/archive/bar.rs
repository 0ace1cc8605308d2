//! The progress of a run over many files, measured in bytes: files differ in size far more than bytes differ in time.

use super::Task;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::fs;
use std::sync::Mutex;
use std::time::{Duration, Instant};

const TEMPLATE: &str = "{bar:30} {pos}/{len} files, {msg}";

/// A bar over files that knows how long the rest will take.
pub(super) struct ArchiveBar {
    bar: ProgressBar,
    started: Instant,
    work: Mutex<Work>,
}

/// Bytes of input that took time, and those that may still take some.
#[derive(Debug, Clone, Copy, Default)]
struct Work {
    done: u64,
    ahead: u64,
}

impl ArchiveBar {
    pub(super) fn new(tasks: &[Task], drawn: bool) -> Self {
        let bar = match drawn {
            true => ProgressBar::new(tasks.len() as u64),
            false => ProgressBar::hidden(),
        };
        // A template that does not parse would only cost the decoration.
        if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
            bar.set_style(style);
        }
        let work = Work {
            done: 0,
            ahead: tasks.iter().map(size).sum(),
        };
        bar.set_message(work.text(Duration::ZERO));
        Self {
            bar,
            started: Instant::now(),
            work: Mutex::new(work),
        }
    }

    /// One file is through; `took_time` is false when there was nothing to do for it.
    pub(super) fn advance(&self, task: &Task, took_time: bool) {
        let mut work = self
            .work
            .lock()
            .unwrap_or_else(|broken| broken.into_inner());
        work.ahead = work.ahead.saturating_sub(size(task));
        if took_time {
            work.done += size(task);
        }
        self.bar.set_message(work.text(self.started.elapsed()));
        self.bar.inc(1);
    }

    /// Says something above the bar.
    pub(super) fn suspend(&self, say: impl FnOnce()) {
        self.bar.suspend(say);
    }

    /// Removes the bar.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Work {
    /// What is left at the pace so far; nothing is said before a file is done.
    fn text(self, elapsed: Duration) -> String {
        if self.done == 0 {
            return "time left not known yet".into();
        }
        let left = elapsed.mul_f64(self.ahead as f64 / self.done as f64);
        format!("{} left", HumanDuration(left))
    }
}

fn size(task: &Task) -> u64 {
    fs::metadata(&task.input).map_or(0, |metadata| metadata.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_follows_the_bytes_that_took_time() {
        let minute = Duration::from_secs(60);
        let text = |done, ahead| Work { done, ahead }.text(minute);
        assert_eq!(text(0, 900), "time left not known yet");
        assert_eq!(text(100, 200), "2 minutes left");
        assert_eq!(text(100, 0), "0 seconds left");
    }

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}

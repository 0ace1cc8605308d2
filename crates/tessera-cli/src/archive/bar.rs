//! The progress of a run over many files, measured in bytes: files differ in size far more than bytes differ in time.

use super::Task;
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};
use std::fs;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const TEMPLATE: &str = "{bar:30} {pos}/{len} files, {msg}";

/// A bar over files that knows how long the rest will take.
pub(super) struct ArchiveBar {
    bar: ProgressBar,
    work: Mutex<Work>,
}

/// Bytes of input that took time, how much, and the bytes that may still take some.
#[derive(Debug, Clone, Copy)]
struct Work {
    done: u64,
    time: Duration,
    ahead: u64,
    files_ahead: usize,
    /// Files done at the same time.
    jobs: usize,
}

impl ArchiveBar {
    pub(super) fn new(tasks: &[Task], jobs: usize, drawn: bool) -> Self {
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
            time: Duration::ZERO,
            ahead: tasks.iter().map(size).sum(),
            files_ahead: tasks.len(),
            jobs,
        };
        bar.set_message(work.text());
        let work = Mutex::new(work);
        Self { bar, work }
    }

    /// One file is through; it took no time when there was nothing to do for it.
    pub(super) fn advance(&self, task: &Task, time: Option<Duration>) {
        let mut work = self.work.lock().unwrap_or_else(PoisonError::into_inner);
        work.ahead = work.ahead.saturating_sub(size(task));
        work.files_ahead = work.files_ahead.saturating_sub(1);
        if let Some(time) = time {
            work.done += size(task);
            work.time += time;
        }
        self.bar.set_message(work.text());
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
    /// What is left at the pace so far; nothing is said before a file is done. The time of each file counts, not the time
    /// gone by, in which others were begun and not finished.
    fn text(self) -> String {
        if self.done == 0 {
            return "time left not known yet".into();
        }
        let jobs = self.jobs.min(self.files_ahead).max(1);
        let per_byte = self.time.as_secs_f64() / self.done as f64;
        let left = per_byte * self.ahead as f64 / jobs as f64;
        format!("{} left", HumanDuration(Duration::from_secs_f64(left)))
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
        let text = |done, ahead, files_ahead| {
            let work = Work {
                done,
                time: Duration::from_secs(60),
                ahead,
                files_ahead,
                jobs: 2,
            };
            work.text()
        };
        assert_eq!(text(0, 900, 9), "time left not known yet");
        assert_eq!(text(100, 400, 5), "2 minutes left");
        assert_eq!(text(100, 200, 1), "2 minutes left");
        assert_eq!(text(100, 0, 0), "0 seconds left");
    }

    #[test]
    fn the_template_parses() {
        assert!(ProgressStyle::with_template(TEMPLATE).is_ok());
    }
}

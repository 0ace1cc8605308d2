//! How an experiment tells its progress.

use crate::Method;
use batchsvd::{Observer, Progress};
use std::ops::ControlFlow;

/// Watches an experiment.
pub trait Watch: Send {
    /// The experiment begins and will take this many steps.
    fn begin(&mut self, steps: usize);
    /// The next step begins.
    fn step(&mut self, set: &str, method: Method);
    /// A phase of the current step has ended.
    fn progress(&mut self, progress: &Progress);
}

/// Watches nothing.
impl Watch for () {
    fn begin(&mut self, _: usize) {}
    fn step(&mut self, _: &str, _: Method) {}
    fn progress(&mut self, _: &Progress) {}
}

/// Hands what a learner tells on to the watcher of the experiment.
pub(crate) struct Forward<'a>(pub(crate) &'a mut dyn Watch);

impl Observer for Forward<'_> {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self.0.progress(progress);
        ControlFlow::Continue(())
    }
}

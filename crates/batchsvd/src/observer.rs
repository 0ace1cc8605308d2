//! Progress of a run: one trait, told after every phase.

use crate::{Checkpoint, Factorization};
use std::ops::ControlFlow;

/// Which part of a run has just finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Phase {
    /// Choosing the first dictionary.
    Start,
    /// One pursuit of the whole batch followed by a dictionary update (Algorithm 5).
    Alternate,
    /// Inner-row switching of every row (Algorithm 1).
    Inner,
    /// Inter-row switching of row pairs (Algorithm 2).
    Inter,
    /// Exchange of non-zeros between samples and swaps inside them.
    Exchange,
    /// Amplitude adjustment (Algorithm 3).
    Amplitude,
    /// One round of assignment, threshold and Procrustes rotation of orthonormal blocks.
    Orthonormal,
    /// One iteration of a method that has no phases of its own, such as a baseline.
    Iteration,
}

/// What an observer is told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// The phase that has just finished.
    pub phase: Phase,
    /// Iteration of the stage the phase belongs to, from zero.
    pub iteration: usize,
    /// `||Y - AX||_F^2` after the phase.
    pub objective: f64,
    /// Non-zeros of the batch after the phase.
    pub nonzeros: usize,
}

/// Watches a run and may end it.
pub trait Observer {
    /// Called after every phase. `Break` ends the run at the next iteration boundary, with
    /// the best result so far.
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()>;

    /// Called between iterations. `snapshot` makes a [`Checkpoint`] from which the run can
    /// go on later; making one copies the dictionary and the code.
    fn between_iterations(&mut self, snapshot: &dyn Fn() -> Checkpoint) {
        let _ = snapshot;
    }
}

/// Watches nothing.
impl Observer for () {
    fn observe(&mut self, _: &Progress) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl<F: FnMut(&Progress) -> ControlFlow<()>> Observer for F {
    fn observe(&mut self, progress: &Progress) -> ControlFlow<()> {
        self(progress)
    }
}

/// Passes progress on to an observer, keeps the trace, and remembers a wish to stop.
pub(crate) struct Reporter<'o> {
    pub(crate) observer: &'o mut dyn Observer,
    pub(crate) trace: Vec<Progress>,
    pub(crate) stopped: bool,
}

impl<'o> Reporter<'o> {
    pub(crate) fn new(observer: &'o mut dyn Observer) -> Self {
        Self {
            observer,
            trace: Vec::new(),
            stopped: false,
        }
    }

    pub(crate) fn report(&mut self, phase: Phase, iteration: usize, state: &Factorization<'_>) {
        self.tell(Progress {
            phase,
            iteration,
            objective: state.objective(),
            nonzeros: state.nonzeros(),
        });
    }

    pub(crate) fn tell(&mut self, progress: Progress) {
        self.trace.push(progress);
        self.stopped |= self.observer.observe(&progress).is_break();
    }
}

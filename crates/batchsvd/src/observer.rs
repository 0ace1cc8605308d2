//! Progress of a run: one trait, told after every phase.

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

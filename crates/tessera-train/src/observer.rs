//! What training tells while it runs, and how it is stopped.

use crate::error::TrainError;
use crate::gallery::Skipped;
use crate::references::ReferenceReport;
use tessera_dict::Dictionary;

/// Where training stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Choosing reference pictures.
    References,
    /// Collecting patches.
    Harvest,
    /// Learning bases.
    Bases,
    /// Learning free atoms.
    Atoms,
    /// First adaptation of the models, and the filter.
    Filter,
    /// Final adaptation of the models.
    Priors,
    /// Learning the networks that predict patches.
    Prediction,
    /// Learning the network behind the filter.
    Network,
    /// Measuring a dictionary on the held-out pictures.
    Validation,
}

/// Is told how training proceeds.
pub trait TrainObserver: Send {
    /// `done` of `total` steps of a stage are behind us.
    fn progress(&mut self, stage: Stage, done: usize, total: usize);

    /// A file is no picture that can be learned from.
    fn skipped(&mut self, _file: &Skipped) {}

    /// Reference pictures were chosen; `None` if training was stopped before there was a choice.
    fn references_chosen(&mut self, _report: Option<&ReferenceReport>) {}

    /// A dictionary was measured on the held-out pictures: `change` of their bits at equal error against the start.
    fn validated(&mut self, _change: f64) {}

    /// A round is over; this is the best dictionary so far, good for use and for going on from.
    fn checkpoint(&mut self, _dictionary: &Dictionary) {}

    /// Whether to end at the next opportunity with the best dictionary so far.
    fn stopped(&self) -> bool {
        false
    }
}

impl TrainObserver for () {
    fn progress(&mut self, _: Stage, _: usize, _: usize) {}
}

/// Fails once the observer wants to stop.
pub(crate) fn go_on(observer: &dyn TrainObserver) -> Result<(), TrainError> {
    if observer.stopped() {
        return Err(TrainError::Stopped);
    }
    Ok(())
}

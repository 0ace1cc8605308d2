//! Learning dictionaries from pictures.

use crate::dictionary::Dictionary;
use crate::errors::Raise;
use crate::interrupt::interruptible;
use crate::workers::PythonWorkers;
use pyo3::prelude::*;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tessera_codec::CancelToken;
use tessera_train::gallery::Skipped;
use tessera_train::{Stage, TrainObserver, Trained, Trainer};

/// What is asked of a training.
#[derive(FromPyObject)]
pub(crate) struct Wishes {
    #[pyo3(item)]
    pictures: Vec<PathBuf>,
    #[pyo3(item)]
    start: Option<Dictionary>,
    #[pyo3(item)]
    seconds: Option<f64>,
    #[pyo3(item)]
    holdout: f64,
    #[pyo3(item)]
    max_size: Option<usize>,
    #[pyo3(item)]
    expected: Option<f64>,
    #[pyo3(item)]
    references: bool,
    #[pyo3(item)]
    seed: u64,
    #[pyo3(item)]
    threads: usize,
    #[pyo3(item)]
    note: String,
    #[pyo3(item)]
    progress: Option<Py<PyAny>>,
    /// See [`PythonWorkers`].
    #[pyo3(item)]
    workers: Option<Py<PyAny>>,
}

/// The dictionary, what it changes, whether training ended by itself, how many pictures it learned from and how many
/// were held out, and the files that are no pictures.
type Outcome = (
    Dictionary,
    Option<f64>,
    bool,
    usize,
    usize,
    Vec<(PathBuf, String)>,
);

/// Learns a dictionary.
#[pyfunction]
pub(crate) fn train(py: Python<'_>, wishes: Wishes) -> PyResult<Outcome> {
    let (trained, watch) = interruptible(py, |token| {
        let mut watch = Watch {
            progress: wishes.progress.as_ref(),
            skipped: Vec::new(),
            token,
        };
        let trained = wishes.trainer().observer(&mut watch).train();
        (trained, watch.skipped)
    })?;
    let Trained {
        dictionary,
        change,
        finished,
        training,
        validation,
        ..
    } = trained.raise(py)?;
    Ok((
        dictionary.into(),
        change,
        finished,
        training.len(),
        validation.len(),
        watch,
    ))
}

impl Wishes {
    fn trainer(&self) -> Trainer<'static> {
        let mut trainer = Trainer::new(&self.pictures)
            .holdout(self.holdout)
            .references(self.references)
            .seed(self.seed)
            .note(self.note.as_str());
        if let Some(start) = &self.start {
            trainer = trainer.start(start.0.dictionary().clone());
        }
        if let Some(seconds) = self.seconds {
            trainer = trainer.time(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
        }
        if let Some(bytes) = self.max_size {
            trainer = trainer.max_size(bytes);
        }
        if let Some(count) = self.expected {
            trainer = trainer.expected_pictures(count);
        }
        if let Some(run) = &self.workers {
            let run = Python::attach(|py| run.clone_ref(py));
            trainer = trainer.workers(Arc::new(PythonWorkers(run)));
        }
        match NonZeroUsize::new(self.threads) {
            Some(threads) => trainer.threads(threads),
            None => trainer,
        }
    }
}

/// Tells Python how training proceeds.
struct Watch<'a> {
    progress: Option<&'a Py<PyAny>>,
    skipped: Vec<(PathBuf, String)>,
    token: &'a CancelToken,
}

impl TrainObserver for Watch<'_> {
    fn progress(&mut self, stage: Stage, done: usize, total: usize) {
        let Some(progress) = self.progress else {
            return;
        };
        let stage = format!("{stage:?}").to_lowercase();
        Python::attach(|py| {
            if let Err(error) = progress.call1(py, (stage, done, total)) {
                // Whoever watches is told of its own mistake, and training ends as if it had been interrupted.
                error.print(py);
                self.token.cancel();
            }
        });
    }

    fn skipped(&mut self, file: &Skipped) {
        self.skipped.push((file.file.clone(), file.reason.clone()));
    }

    fn stopped(&self) -> bool {
        self.token.is_cancelled()
    }
}

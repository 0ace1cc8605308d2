//! Measuring: every picture through every codec at every quality, each point once.

mod sources;
mod worker;

pub use sources::{Source, collect_sources};

use crate::codec::{Codec, Quality};
use crate::metrics::Metric;
use crate::points::{Point, PointKey, PointStore, PointsError};
use serde::Serialize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use thiserror::Error;
use worker::Worker;

/// Why a run could not go on. What befalls a single picture or point is a [`Skip`] instead.
#[derive(Debug, Error)]
pub enum RunError {
    /// The points could not be kept.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// An input path does not exist or is a folder that cannot be listed.
    #[error("{}: {source}", path.display())]
    Input {
        /// The path as given.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// Two pictures would share the key of their points.
    #[error("two pictures are called '{0}'; rename one")]
    DuplicateName(String),
    /// Nothing to measure.
    #[error("no readable picture among the inputs")]
    NoPictures,
    /// The threads could not be started.
    #[error("cannot start a job: {0}")]
    Threads(String),
}

/// A picture or point that had to be left out, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Skip {
    /// The picture, or codec, picture and quality.
    pub what: String,
    /// The reason, in the words of whoever refused.
    pub reason: String,
}

/// A codec and the qualities to measure it at.
#[derive(Clone)]
pub struct Ladder {
    /// The codec.
    pub codec: Arc<dyn Codec>,
    /// Its qualities, in ladder order.
    pub qualities: Vec<Quality>,
}

/// What a run measures.
#[derive(Clone)]
pub struct Plan {
    /// The pictures.
    pub sources: Vec<Source>,
    /// The codecs.
    pub ladders: Vec<Ladder>,
    /// The metrics.
    pub metrics: Vec<Metric>,
}

/// Hears of progress, some of it from other threads.
pub trait Observer: Sync {
    /// The run starts: so many points to measure, so many taken from an earlier run.
    fn started(&self, missing: usize, reused: usize);
    /// A point was measured.
    fn measured(&self, point: &Point);
    /// A picture or point was left out.
    fn skipped(&self, skip: &Skip);
    /// All points are there; making the report has come so far.
    fn reporting(&self, stage: ReportStage);
}

/// What is done once all points are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportStage {
    /// Curves and BD-rates are computed.
    Figures,
    /// Pictures are coded to one size for the viewer: so many of so many versions are done.
    Viewer {
        /// Versions that are done.
        done: usize,
        /// All of them.
        total: usize,
    },
    /// The files are written.
    Writing,
}

/// One codec on one picture: the qualities that no earlier run measured.
struct Task<'a> {
    source: &'a Source,
    codec: &'a dyn Codec,
    qualities: Vec<&'a Quality>,
}

impl Plan {
    /// Measures what is missing in the store and returns what had to be left out, in plan order.
    ///
    /// Points do not depend on `jobs`; only their timings may, a little.
    ///
    /// # Errors
    /// [`RunError`] if points cannot be stored or threads not be started.
    pub fn measure(
        &self,
        store: &mut PointStore,
        jobs: usize,
        observer: &dyn Observer,
    ) -> Result<Vec<Skip>, RunError> {
        let tasks = self.missing(store);
        let missing = tasks.iter().map(|t| t.qualities.len()).sum();
        observer.started(missing, self.len() - missing);
        let next = AtomicUsize::new(0);
        let (sender, results) = mpsc::channel();
        let workers = (0..jobs.clamp(1, tasks.len().max(1)))
            .map(|_| Worker::new(&self.metrics))
            .collect::<Result<Vec<_>, _>>()?;
        thread::scope(|scope| {
            for worker in &workers {
                let (sender, next, tasks) = (sender.clone(), &next, &tasks);
                scope.spawn(move || {
                    loop {
                        let position = next.fetch_add(1, Ordering::Relaxed);
                        // The receiver is gone only if storing failed: then stop measuring.
                        let report = |result| sender.send((position, result)).is_ok();
                        match tasks.get(position) {
                            Some(task) if worker.measure(task, report) => {}
                            _ => break,
                        }
                    }
                });
            }
            drop(sender);
            store_results(results, store, observer)
        })
    }

    /// Number of points.
    fn len(&self) -> usize {
        let per_picture: usize = self.ladders.iter().map(|l| l.qualities.len()).sum();
        per_picture * self.sources.len()
    }

    fn missing<'a>(&'a self, store: &PointStore) -> Vec<Task<'a>> {
        let pairs = self
            .ladders
            .iter()
            .flat_map(|ladder| self.sources.iter().map(move |source| (ladder, source)));
        pairs
            .map(|(ladder, source)| Task {
                source,
                codec: &*ladder.codec,
                qualities: self.missing_qualities(ladder, source, store),
            })
            .filter(|task| !task.qualities.is_empty())
            .collect()
    }

    fn missing_qualities<'a>(
        &self,
        ladder: &'a Ladder,
        source: &Source,
        store: &PointStore,
    ) -> Vec<&'a Quality> {
        let setup = ladder.codec.setup();
        let reusable = |quality: &&Quality| {
            let key = PointKey::new(ladder.codec.name(), &source.name, quality.as_str());
            store.get(&key).is_some_and(|point| {
                (point.setup, point.source) == (setup, source.fingerprint)
                    && self.metrics.iter().all(|m| point.values.contains_key(m))
            })
        };
        ladder.qualities.iter().filter(|q| !reusable(q)).collect()
    }

    /// The measured points of this plan, in its order: codec, picture, quality.
    #[must_use]
    pub fn points(&self, store: &PointStore) -> Vec<Point> {
        let mut points = Vec::with_capacity(self.len());
        for ladder in &self.ladders {
            for source in &self.sources {
                let keys = ladder
                    .qualities
                    .iter()
                    .map(|q| PointKey::new(ladder.codec.name(), &source.name, q.as_str()));
                points.extend(keys.filter_map(|key| store.get(&key).cloned()));
            }
        }
        points
    }
}

type Numbered = (usize, Result<Point, Skip>);

fn store_results(
    results: mpsc::Receiver<Numbered>,
    store: &mut PointStore,
    observer: &dyn Observer,
) -> Result<Vec<Skip>, RunError> {
    let mut skips: Vec<(usize, Skip)> = Vec::new();
    for (position, result) in results {
        match result {
            Ok(point) => {
                store.add(point.clone())?;
                observer.measured(&point);
            }
            Err(skip) => {
                observer.skipped(&skip);
                skips.push((position, skip));
            }
        }
    }
    skips.sort_by_key(|(position, _)| *position);
    Ok(skips.into_iter().map(|(_, skip)| skip).collect())
}

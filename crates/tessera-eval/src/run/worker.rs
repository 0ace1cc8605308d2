//! One job: encodes, decodes and compares on a thread of its own.

use super::{RunError, Skip, Task};
use crate::codec::{CodecError, Quality};
use crate::image8::{Image8, Image8Error};
use crate::metrics::{Comparison, Metric, MetricError};
use crate::points::{Point, file_precision};
use crate::timing::{Cost, timed};
use rayon::{ThreadPool, ThreadPoolBuilder};
use thiserror::Error;

/// A pool of one thread: a codec's parallel iterators stay where its CPU clock is read.
pub(super) struct Worker<'a> {
    pool: ThreadPool,
    metrics: &'a [Metric],
}

/// Why a single point failed.
#[derive(Debug, Error)]
enum PointError {
    #[error(transparent)]
    Picture(#[from] Image8Error),
    #[error(transparent)]
    Codec(#[from] CodecError),
    #[error(transparent)]
    Metric(#[from] MetricError),
}

impl<'a> Worker<'a> {
    pub(super) fn new(metrics: &'a [Metric]) -> Result<Self, RunError> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|error| RunError::Threads(error.to_string()))?;
        Ok(Self { pool, metrics })
    }

    /// Measures a task's points one by one; stops early, with `false`, when `report` says so.
    pub(super) fn measure(
        &self,
        task: &Task<'_>,
        report: impl Fn(Result<Point, Skip>) -> bool + Sync,
    ) -> bool {
        self.pool.install(|| {
            let original = match task.source.load() {
                Ok(picture) => picture,
                Err(error) => return report(Err(skip(task, None, &error))),
            };
            let comparison = Comparison::with(&original);
            task.qualities.iter().all(|quality| {
                let point = self.point(task, quality, &original, &comparison);
                report(point.map_err(|error| skip(task, Some(quality), &error)))
            })
        })
    }

    fn point(
        &self,
        task: &Task<'_>,
        quality: &Quality,
        original: &Image8,
        comparison: &Comparison<'_>,
    ) -> Result<Point, PointError> {
        let (bytes, encode) = timed(|| task.codec.encode(original, quality))?;
        let (decoded, decode) = timed(|| task.codec.decode(&bytes))?;
        let decoded = decoded.to_channels(original.channels());
        let values = comparison.measure(&decoded, self.metrics)?;
        let values = values
            .into_iter()
            .map(|v| file_precision(v.unwrap_or(f64::NAN)));
        Ok(Point {
            codec: task.codec.name().to_owned(),
            image: task.source.name.clone(),
            quality: quality.to_string(),
            width: original.width(),
            height: original.height(),
            bytes: bytes.len() as u64,
            values: self.metrics.iter().copied().zip(values).collect(),
            encode: rounded(encode),
            decode: rounded(decode),
            setup: task.codec.setup(),
            source: task.source.fingerprint,
        })
    }
}

fn rounded(cost: Cost) -> Cost {
    Cost {
        cpu: file_precision(cost.cpu),
        wall: file_precision(cost.wall),
    }
}

fn skip(task: &Task<'_>, quality: Option<&Quality>, error: &dyn std::error::Error) -> Skip {
    let quality = quality.map_or_else(String::new, |q| format!(" at {q}"));
    Skip {
        what: format!("{} on {}{quality}", task.codec.name(), task.source.name),
        reason: error.to_string(),
    }
}

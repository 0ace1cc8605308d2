//! Reports: `summary.json`, `report.md`, SVG plots and one self-contained `report.html`.

mod axis;
mod blind;
mod content;
mod html;
mod markdown;
mod model;
mod plots;
mod spread;
mod svg;
mod table;
mod viewer;

pub use blind::{BlindTest, BlindVersion};
pub use model::{
    BdRow, CodecInfo, MeanCurve, MeanPoint, PictureBd, PictureInfo, RateRow, Report, ReportInput,
    SPEED_RATE, SpeedRow, TABLE_RATES,
};
pub use spread::{Extreme, Spread};
pub use viewer::{Coded, Exhibit, ViewerOptions, exhibits};

use crate::metrics::Metric;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a report could not be written.
#[derive(Debug, Error)]
pub enum ReportError {
    /// A file cannot be written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The figures do not fit JSON.
    #[error("summary.json: {0}")]
    Json(#[from] serde_json::Error),
}

fn rd_plot_name(metric: Metric) -> String {
    format!("rd-{metric}.svg")
}

fn spread_plot_name(metric: Metric) -> String {
    format!("bd-{metric}.svg")
}

impl Report {
    /// Writes every file of the report into an existing folder and names them.
    ///
    /// # Errors
    /// [`ReportError`] if one cannot be written.
    pub fn write(&self, folder: &Path, exhibits: &[Exhibit]) -> Result<Vec<PathBuf>, ReportError> {
        let mut files = vec![
            (
                "summary.json".to_owned(),
                serde_json::to_string_pretty(self)? + "\n",
            ),
            ("report.md".to_owned(), markdown::render(self)),
            ("report.html".to_owned(), html::render(self, exhibits)?),
        ];
        for metric in &self.metrics {
            files.push((rd_plot_name(*metric), plots::rd_plot(self, *metric, None)));
            let spread = plots::spread_plot(self, *metric);
            files.extend(spread.map(|svg| (spread_plot_name(*metric), svg)));
        }
        let write = |(name, text): (String, String)| {
            let path = folder.join(name);
            match fs::write(&path, text) {
                Ok(()) => Ok(path),
                Err(source) => Err(ReportError::Io { path, source }),
            }
        };
        files.into_iter().map(write).collect()
    }
}

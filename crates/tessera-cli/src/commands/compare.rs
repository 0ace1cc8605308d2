//! `tessera compare`: all metrics between two pictures, and an error map.

use crate::exit::Usage;
use anyhow::{Context, Result};
use clap::Args;
use std::path::{Path, PathBuf};
use tessera_eval::compare::{all_metrics, error_map, largest_difference};
use tessera_eval::metrics::Metric;
use tessera_eval::picture::Picture;

/// Compare two pictures: every metric, and where they differ.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The original.
    original: PathBuf,

    /// The distorted picture, of the same size.
    distorted: PathBuf,

    /// Write the error map to this PNG: black is equal, then red, yellow, white.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Factor on the differences in the error map.
    #[arg(long, default_value_t = 8.0)]
    gain: f64,
}

/// Runs the command.
///
/// # Errors
/// If a picture cannot be read, the sizes differ, or the map cannot be written.
pub fn run(args: &CompareArgs) -> Result<()> {
    if args.gain <= 0.0 {
        return Err(Usage("--gain must be positive".into()).into());
    }
    let original = read(&args.original)?;
    let distorted = read(&args.distorted)?;
    print!("{}", metric_lines(&all_metrics(&original, &distorted)?));
    println!(
        "{:16} {}",
        "max difference",
        largest_difference(&original, &distorted)
    );
    if let Some(path) = &args.map {
        let map = error_map(&original, &distorted, args.gain)?;
        map.write(path)
            .with_context(|| path.display().to_string())?;
    }
    Ok(())
}

fn read(path: &Path) -> Result<Picture> {
    Picture::read(path).with_context(|| path.display().to_string())
}

fn metric_lines(values: &[(Metric, Option<f64>)]) -> String {
    let line = |(metric, value): &(Metric, Option<f64>)| {
        let text = value.map_or_else(|| "too small".to_owned(), |v| format!("{v:.4}"));
        format!("{:16} {text}\n", metric.name())
    };
    values.iter().map(line).collect()
}

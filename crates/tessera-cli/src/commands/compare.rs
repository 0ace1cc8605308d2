//! `tessera compare`: all metrics between two pictures, and an error map.

use crate::exit::Usage;
use crate::files::print_report;
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
    let metrics = metric_lines(&all_metrics(&original, &distorted)?);
    let largest = largest_difference(&original, &distorted);
    print_report(&format!("{metrics}{:16} {largest}\n", "max difference"))?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use tessera_eval::picture::Channels;

    #[test]
    fn the_map_is_written_and_sizes_must_agree() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, width: u32, value: u8| {
            let samples = vec![value; width as usize * 9];
            let path = folder.path().join(name);
            let picture = Picture::new(width, 9, Channels::Gray, samples).unwrap();
            picture.write(&path).unwrap();
            path
        };
        let args = |distorted: PathBuf| CompareArgs {
            original: write("a.png", 9, 10),
            distorted,
            map: Some(folder.path().join("map.png")),
            gain: 8.5,
        };
        run(&args(write("b.png", 9, 20))).unwrap();
        let map = Picture::read(&folder.path().join("map.png")).unwrap();
        assert_eq!(&map.samples()[..3], [255, 0, 0]);
        let error = run(&args(write("c.png", 10, 20))).unwrap_err();
        assert!(
            error.to_string().contains("9x9 gray and 10x9 gray"),
            "{error}"
        );
    }

    #[test]
    fn metrics_are_listed_with_their_names() {
        let lines = metric_lines(&[(Metric::PsnrY, Some(31.23456)), (Metric::MsSsim, None)]);
        assert_eq!(
            lines,
            "psnr-y           31.2346\nms-ssim          too small\n"
        );
    }
}

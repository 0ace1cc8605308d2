//! `tessera compare`: all metrics between two pictures, and an error map.

use crate::exit::Usage;
use crate::files::{self, print_report};
use crate::overwrite::OverwriteArgs;
use crate::{pictures, verbosity};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::to_dynamic_image;
use tessera_eval::compare::{all_metrics, error_map, largest_difference};
use tessera_eval::image8::Image8;
use tessera_eval::metrics::Metric;

/// Compare two pictures: every metric, and where they differ.
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// The original, in any format that can be encoded, or a .tsr file.
    original: PathBuf,

    /// The distorted picture, of the same size.
    distorted: PathBuf,

    /// Write the error map to this PNG: black is equal, then red, yellow, white.
    #[arg(long, value_name = "FILE")]
    map: Option<PathBuf>,

    /// Factor on the differences in the error map.
    #[arg(long, default_value_t = 8.0)]
    gain: f64,

    /// The dictionary of .tsr files: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,

    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// Runs the command.
///
/// # Errors
/// If a picture cannot be read, the sizes differ, or the map cannot be written.
pub fn run(args: &CompareArgs) -> Result<()> {
    if args.gain <= 0.0 {
        return Err(Usage("--gain must be positive".into()).into());
    }
    let inputs = [args.original.as_path(), args.distorted.as_path()];
    if let Some(path) = &args.map {
        check_map(path)?;
        args.overwrite.check(path, inputs)?;
    }
    let original = read(&args.original, args.dict.as_deref())?;
    let distorted = read(&args.distorted, args.dict.as_deref())?;
    let metrics = metric_lines(&all_metrics(&original, &distorted)?);
    let largest = largest_difference(&original, &distorted);
    print_report(&format!("{metrics}{:16} {largest}\n", "max difference"))?;
    if let Some(path) = &args.map {
        let map = error_map(&original, &distorted, args.gain)?;
        files::write_output(path, &map.to_png()?, args.overwrite.force())?;
    }
    Ok(())
}

/// The map is a PNG, whatever its name says, so its name should say so.
fn check_map(path: &Path) -> Result<()> {
    let ending = path.extension().map(|ending| ending.to_ascii_lowercase());
    if ending.is_some_and(|ending| ending != "png") {
        let path = path.display();
        bail!(Usage(format!("the error map is a PNG; end {path} in .png")));
    }
    Ok(())
}

/// The colours of a picture in any format, 8 bits deep.
fn read(path: &Path, dictionary: Option<&Path>) -> Result<Image8> {
    let picture = pictures::read(path, dictionary)?;
    if picture.format().alpha && !picture.is_opaque() {
        verbosity::note(format_args!(
            "tessera: note: the transparency of {} is not compared",
            path.display()
        ));
    }
    Image8::from_image(&to_dynamic_image(picture)).with_context(|| path.display().to_string())
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
    use tessera_eval::image8::Channels;

    #[test]
    fn the_map_is_written_and_sizes_must_agree() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, width: u32, value: u8| {
            let samples = vec![value; width as usize * 9];
            let path = folder.path().join(name);
            let picture = Image8::new(width, 9, Channels::Gray, samples).unwrap();
            picture.write(&path).unwrap();
            path
        };
        let args = |distorted: PathBuf| CompareArgs {
            original: write("a.png", 9, 10),
            distorted,
            map: Some(folder.path().join("map.png")),
            gain: 8.5,
            dict: None,
            overwrite: OverwriteArgs::default(),
        };
        run(&args(write("b.png", 9, 20))).unwrap();
        let map = Image8::read(&folder.path().join("map.png")).unwrap();
        assert_eq!(&map.samples()[..3], [255, 0, 0]);
        std::fs::remove_file(folder.path().join("map.png")).unwrap();
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

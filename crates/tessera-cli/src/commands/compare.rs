//! `tessera compare`: all metrics between two pictures, and an error map.

use crate::exit::Usage;
use crate::files::{self, print_report};
use crate::overwrite::OverwriteArgs;
use crate::{pictures, verbosity};
use anyhow::{Context, Result, bail};
use clap::Args;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_eval::compare::{all_metrics, error_map, largest_difference};
use tessera_eval::image8::Image8;
use tessera_eval::metrics::Metric;
use tessera_eval::report::{BlindTest, BlindVersion};

/// Compare two pictures: every metric, and where they differ; or two versions of many, by eye.
#[derive(Debug, Args)]
#[command(
    override_usage = "tessera compare [OPTIONS] ORIGINAL DISTORTED\n       \
                            tessera compare --blind [OPTIONS] -o PAGE A B ORIGINAL..."
)]
pub struct CompareArgs {
    /// The original and the distorted picture, in any format that can be encoded or as .tsr files. With --blind: the
    /// two versions and the originals; versions of several originals are folders with files of the same names,
    /// extensions aside.
    #[arg(required = true, num_args = 2..)]
    pictures: Vec<PathBuf>,

    /// Write a page for a blind viewing test of two versions, with a result file at its end.
    #[arg(long, requires = "output", conflicts_with_all = ["map", "gain"])]
    blind: bool,

    /// Where to write the page of --blind.
    #[arg(short, long, value_name = "PAGE", requires = "blind")]
    output: Option<PathBuf>,

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
/// If a picture cannot be read, the sizes differ, or the map or page cannot be written.
pub fn run(args: &CompareArgs) -> Result<()> {
    match (&args.output, &args.pictures[..]) {
        (Some(page), [a, b, originals @ ..]) if args.blind => blind(args, page, [a, b], originals),
        (_, [original, distorted]) => measure(args, original, distorted),
        _ => bail!(Usage(
            "two pictures are compared, the original first; for more of them see --blind".into()
        )),
    }
}

/// Prints the metrics, and writes the map if one is wanted.
fn measure(args: &CompareArgs, original: &Path, distorted: &Path) -> Result<()> {
    if args.gain <= 0.0 {
        return Err(Usage("--gain must be positive".into()).into());
    }
    if let Some(path) = &args.map {
        check_map(path)?;
        args.overwrite.check(path, [original, distorted])?;
    }
    let original = read(original, args.dict.as_deref())?;
    let distorted = read(distorted, args.dict.as_deref())?;
    let metrics = metric_lines(&all_metrics(&original, &distorted)?);
    let largest = largest_difference(&original, &distorted);
    print_report(&format!("{metrics}{:16} {largest}\n", "max difference"))?;
    if let Some(path) = &args.map {
        let map = error_map(&original, &distorted, args.gain)?;
        files::write_output(path, &map.to_png()?, args.overwrite.force())?;
    }
    Ok(())
}

/// Writes the page of a blind test.
fn blind(
    args: &CompareArgs,
    page: &Path,
    versions: [&PathBuf; 2],
    originals: &[PathBuf],
) -> Result<()> {
    if originals.is_empty() {
        bail!(Usage(
            "--blind takes the two versions and then the originals".into()
        ));
    }
    let file = versions.into_iter().find(|version| version.is_file());
    if let (Some(file), [_, _, ..]) = (file, originals) {
        let file = file.display();
        bail!(Usage(format!(
            "{file} is one version of several originals; name folders of versions"
        )));
    }
    args.overwrite
        .check(page, args.pictures.iter().map(PathBuf::as_path))?;
    let [a, b] = versions.map(|version| version.display().to_string());
    let mut test = BlindTest::new(a, b);
    for original in originals {
        add_trial(&mut test, args, versions, original)
            .with_context(|| original.display().to_string())?;
    }
    files::write_output(page, test.page()?.as_bytes(), args.overwrite.force())?;
    verbosity::note(format_args!("open {} in a browser", page.display()));
    Ok(())
}

fn add_trial(
    test: &mut BlindTest,
    args: &CompareArgs,
    versions: [&PathBuf; 2],
    original: &Path,
) -> Result<()> {
    let picture = read(original, args.dict.as_deref())?;
    let load = |version: &Path| -> Result<(Image8, u64)> {
        let path = version_of(version, original)?;
        let version = read(&path, args.dict.as_deref())?.to_channels(picture.channels());
        let bytes = fs::metadata(&path)
            .with_context(|| path.display().to_string())?
            .len();
        if (version.width(), version.height()) != (picture.width(), picture.height()) {
            bail!("{} has another size", path.display());
        }
        Ok((version, bytes))
    };
    let (a, b) = (load(versions[0])?, load(versions[1])?);
    let name = original.file_name().unwrap_or_default().to_string_lossy();
    let versions = [&a, &b].map(|(picture, bytes)| BlindVersion {
        picture,
        bytes: *bytes,
    });
    Ok(test.add(name, &picture, versions)?)
}

/// The version of an original: the file given, or the one of that name in the folder given.
fn version_of(version: &Path, original: &Path) -> Result<PathBuf> {
    if !version.is_dir() {
        return Ok(version.to_owned());
    }
    let stem = original.file_stem();
    let entries = fs::read_dir(version).with_context(|| version.display().to_string())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.file_stem() == stem)
        .collect();
    match (found.pop(), found.pop()) {
        (Some(path), None) => Ok(path),
        (None, _) => bail!("{} has no version of it", version.display()),
        (Some(one), Some(other)) => bail!(
            "{} has two versions of it, {} and {}",
            version.display(),
            one.display(),
            other.display()
        ),
    }
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
    Image8::from_picture(picture).with_context(|| path.display().to_string())
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
            pictures: vec![write("a.png", 9, 10), distorted],
            blind: false,
            output: None,
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

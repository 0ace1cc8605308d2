//! `tessera rd`: rate-distortion curves, BD-rates and a report.

use crate::exit::{Incomplete, Usage};
use crate::files::print_report;
use crate::{dictionaries, verbosity};
use anyhow::{Context, Result};
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tessera_eval::codec::{Codec, ExternalSpec, Quality, Registry, Tessera};
use tessera_eval::metrics::Metric;
use tessera_eval::points::Point;
use tessera_eval::rd::{Import, QualityChoice, RdOutput, Request, execute};
use tessera_eval::report::ViewerOptions;
use tessera_eval::run::{Observer, ReportStage, Skip};

const EXIT_CODES: &str = "\
Exit codes:
  0  every point was measured
  1  no report could be made
  2  the command line is wrong
  6  the report is there, but pictures or points had to be left out (listed in it)

Points already in OUTPUT/points.csv are not measured again unless the codec's
version or settings or the picture have changed: an interrupted run goes on.

The table and plot of the README:
  tessera rd KODAK --codecs tessera,jpeg,webp,avif --anchor jpeg -o OUTPUT";

/// Measure rate-distortion curves of codecs and write a report.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct RdArgs {
    /// Pictures, or folders of pictures.
    #[arg(required_unless_present = "list_codecs")]
    images: Vec<PathBuf>,

    /// Codecs to measure; 'none' to show imported points only [default: tessera,jpeg,webp, and avif if there is one].
    #[arg(long, value_delimiter = ',')]
    codecs: Vec<String>,

    /// Qualities instead of the codecs' own ladders, for all codecs or for one.
    #[arg(long, value_name = "[CODEC=]Q,Q,...")]
    qualities: Vec<String>,

    /// Metrics to measure.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "psnr-y,psnr-yuv,ms-ssim,ssimulacra2,butteraugli"
    )]
    metrics: Vec<Metric>,

    /// Codec that BD-rates compare with [default: jpeg, or else the first].
    #[arg(long)]
    anchor: Option<String>,

    /// Another codec as commands: 'ENC {in} {out} {q}' reads a PNG, 'DEC {in} {out}' writes one.
    #[arg(long, num_args = 4, value_names = ["NAME", "ENC", "DEC", "Q,Q,..."])]
    ext: Vec<String>,

    /// Measure Tessera with this dictionary too, as the codec tessera-FILE.
    #[arg(long, value_name = "FILE")]
    dict: Vec<PathBuf>,

    /// Points measured elsewhere, in the columns of points.csv, shown beside ours.
    #[arg(long, value_name = "FILE[=CODEC,...]")]
    import: Vec<String>,

    /// Measure the luma of colour pictures only.
    #[arg(long)]
    luma: bool,

    /// Points to measure at a time.
    #[arg(long, short, default_value_t = 1)]
    jobs: usize,

    /// Pictures in the report's side-by-side viewer; 0 for a small report.
    #[arg(long, value_name = "COUNT", default_value_t = 3)]
    viewer: usize,

    /// Rate at which the viewer compares codecs, in bits per pixel.
    #[arg(long, value_name = "BPP", default_value_t = 0.4)]
    viewer_bpp: f64,

    /// List the codecs of this machine and exit.
    #[arg(long)]
    list_codecs: bool,

    /// Folder of the report and of the points measured so far.
    #[arg(long, short, required_unless_present = "list_codecs")]
    output: Option<PathBuf>,
}

/// Runs the command.
///
/// # Errors
/// An incomplete report if pictures or points had to be left out of it; anything else means that
/// there is no report.
pub fn run(args: &RdArgs) -> Result<()> {
    let (registry, added) = registry(args)?;
    if args.list_codecs {
        print_report(&codec_list(&registry))?;
        return Ok(());
    }
    let progress = Progress::new();
    let outcome = execute(&request(args, &registry, &added)?, &registry, &progress)?;
    progress.bar.finish_and_clear();
    print_report(&result_text(&outcome))?;
    match outcome.report.skipped.len() {
        0 => Ok(()),
        count => {
            let message =
                format!("the report lacks {count} pictures or points, listed above and in it");
            Err(Incomplete(message).into())
        }
    }
}

/// The codecs of this machine and those of the command line, with the names of the latter.
fn registry(args: &RdArgs) -> Result<(Registry, Vec<String>)> {
    let mut registry = Registry::new();
    let mut added = Vec::new();
    for path in &args.dict {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let codec = Tessera::with(&format!("tessera-{stem}"), dictionaries::load(path)?);
        added.push(codec.name().to_owned());
        registry.add(Arc::new(codec), "with --dict")?;
    }
    for ext in args.ext.chunks_exact(4) {
        registry.add_external(ExternalSpec::of_user(&ext[0], &ext[1], &ext[2], &ext[3]))?;
        added.push(ext[0].clone());
    }
    Ok((registry, added))
}

fn request(args: &RdArgs, registry: &Registry, added: &[String]) -> Result<Request> {
    if args.viewer_bpp <= 0.0 {
        return Err(Usage("--viewer-bpp must be positive".into()).into());
    }
    let mut codecs = args.codecs.clone();
    if codecs.is_empty() {
        codecs = registry.usual();
    }
    let builtin = codecs.iter().filter(|name| *name != "none").cloned();
    let named = added.iter().filter(|name| !codecs.contains(name)).cloned();
    Ok(Request {
        inputs: args.images.clone(),
        luma_only: args.luma,
        codecs: builtin.chain(named).collect(),
        qualities: args
            .qualities
            .iter()
            .map(|text| quality_choice(text))
            .collect::<Result<_>>()?,
        metrics: args.metrics.clone(),
        anchor: args.anchor.clone(),
        imports: args.import.iter().map(|text| import(text)).collect(),
        jobs: args.jobs,
        viewer: ViewerOptions {
            pictures: args.viewer,
            bpp: args.viewer_bpp,
        },
        folder: args.output.clone().context("--output is missing")?,
    })
}

fn quality_choice(text: &str) -> Result<QualityChoice> {
    let (codec, list) = match text.split_once('=') {
        Some((codec, list)) => (Some(codec.to_owned()), list),
        None => (None, text),
    };
    let qualities = Quality::list(list);
    if qualities.is_empty() {
        return Err(Usage(format!("--qualities '{text}' names no quality")).into());
    }
    Ok(QualityChoice { codec, qualities })
}

fn import(text: &str) -> Import {
    let (path, codecs) = text.split_once('=').unwrap_or((text, ""));
    let names = codecs.split(',').filter(|name| !name.is_empty());
    Import {
        path: PathBuf::from(path),
        codecs: names.map(str::to_owned).collect(),
    }
}

fn codec_list(registry: &Registry) -> String {
    let mut text = String::new();
    for entry in registry.entries() {
        let codec = &entry.codec;
        let ladder: Vec<String> = codec.ladder().iter().map(ToString::to_string).collect();
        text += &format!(
            "{:10} {}: {}; {}; qualities {}\n",
            codec.name(),
            entry.origin,
            codec.version(),
            codec.settings(),
            ladder.join(",")
        );
    }
    for (name, commands) in registry.missing() {
        text += &format!(
            "{name:10} not installed: needs {}\n",
            commands.join(" and ")
        );
    }
    text
}

/// The BD-rates on the terminal, and where the rest is.
fn result_text(outcome: &RdOutput) -> String {
    let report = &outcome.report;
    let mut text = format!("BD-rate against {}:\n", report.anchor);
    for row in report
        .bd_rates
        .iter()
        .filter(|row| row.codec != report.anchor)
    {
        let figure = row.spread.as_ref().map_or_else(
            || "refused (see the report)".to_owned(),
            |spread| {
                format!(
                    "{:+.1} % (worst picture {:+.1} %)",
                    spread.mean * 100.0,
                    spread.worst.change * 100.0
                )
            },
        );
        text += &format!("  {:16} {:12} {figure}\n", row.codec, row.metric.name());
    }
    for codec in report.codecs.iter().filter(|c| c.name != report.anchor) {
        if let Some(mean) = report.bd_over_metrics(&codec.name) {
            let (name, metrics) = (&codec.name, "all metrics");
            text += &format!(
                "  {name:16} {metrics:12} {:+.1} % on average\n",
                mean * 100.0
            );
        }
    }
    for file in &outcome.files {
        text += &format!("{}\n", file.display());
    }
    text
}

/// A progress bar on a terminal; elsewhere only what was left out is said.
struct Progress {
    bar: ProgressBar,
}

const POINTS: &str = "{bar:30} {pos}/{len} points, {elapsed} elapsed, {eta} left {msg}";
const REPORT: &str = "{bar:30} {elapsed} elapsed, {msg}";
const REDRAW: Duration = Duration::from_millis(500);

impl Progress {
    /// Shows nothing yet, and nothing at all if only errors are wanted.
    fn new() -> Self {
        let bar = match verbosity::quiet() {
            true => ProgressBar::hidden(),
            false => ProgressBar::new(0),
        };
        Self { bar }
    }

    /// A template that does not parse would only cost the decoration.
    fn set_style(&self, template: &str) {
        if let Ok(style) = ProgressStyle::with_template(template) {
            self.bar.set_style(style);
        }
    }
}

impl Observer for Progress {
    fn started(&self, missing: usize, reused: usize) {
        self.set_style(POINTS);
        self.bar.set_length(missing as u64);
        if reused > 0 {
            self.bar
                .suspend(|| eprintln!("{reused} points of an earlier run are reused"));
        }
    }

    fn measured(&self, point: &Point) {
        self.bar
            .set_message(format!("{} on {}", point.codec, point.image));
        self.bar.inc(1);
    }

    fn skipped(&self, skip: &Skip) {
        self.bar
            .suspend(|| eprintln!("left out: {}: {}", skip.what, skip.reason));
    }

    fn reporting(&self, stage: ReportStage) {
        self.set_style(REPORT);
        // Drawn from time to time, for what follows takes long between two calls.
        self.bar.enable_steady_tick(REDRAW);
        let (done, total) = match stage {
            ReportStage::Viewer { done, total } => (done, total),
            _ => (0, 1),
        };
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(describe(stage));
    }
}

/// What is told while the report is made.
fn describe(stage: ReportStage) -> String {
    match stage {
        ReportStage::Figures => "computing curves and BD-rates".into(),
        ReportStage::Viewer { done, total } => {
            format!("coding pictures to one size for the viewer: {done} of {total}")
        }
        ReportStage::Writing => "writing the report".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exit;
    use clap::Parser;
    use tessera_eval::image8::{Channels, Image8};

    #[derive(Debug, Parser)]
    struct Harness {
        #[command(flatten)]
        args: RdArgs,
    }

    fn parsed(line: &[&str]) -> RdArgs {
        let words = ["rd"].iter().chain(line);
        Harness::try_parse_from(words).unwrap().args
    }

    #[test]
    fn the_report_is_told_of_while_it_is_made() {
        for template in [POINTS, REPORT] {
            assert!(ProgressStyle::with_template(template).is_ok());
        }
        let progress = Progress {
            bar: ProgressBar::hidden(),
        };
        progress.reporting(ReportStage::Viewer { done: 2, total: 12 });
        let (position, length) = (progress.bar.position(), progress.bar.length());
        assert_eq!((position, length), (2, Some(12)));
        assert!(progress.bar.message().contains("viewer: 2 of 12"));
    }

    #[test]
    fn everything_reaches_the_request() {
        let args = parsed(&[
            "a",
            "b",
            "--codecs",
            "webp,jpeg",
            "--qualities",
            "jpeg=5,10",
            "--qualities",
            "30",
            "--metrics",
            "psnr-y,butteraugli",
            "--ext",
            "x",
            "e {in} {out}",
            "d {in} {out}",
            "1,2",
            "--import",
            "p.csv=h,v",
            "--jobs",
            "4",
            "-o",
            "out",
        ]);
        let request = request(&args, &Registry::new(), &["x".into()]).unwrap();
        assert_eq!(request.codecs, ["webp", "jpeg", "x"]);
        assert_eq!(request.qualities[0].codec.as_deref(), Some("jpeg"));
        assert_eq!(request.qualities[1].qualities, [Quality::new("30")]);
        assert_eq!(request.metrics, [Metric::PsnrY, Metric::Butteraugli]);
        assert_eq!(request.imports[0].codecs, ["h", "v"]);
        assert_eq!((request.jobs, request.inputs.len()), (4, 2));
    }

    #[test]
    fn mistakes_are_named() {
        let missing = Harness::try_parse_from(["rd", "a"])
            .unwrap_err()
            .to_string();
        assert!(missing.contains("--output"), "{missing}");
        let metric = Harness::try_parse_from(["rd", "a", "-o", "x", "--metrics", "vmaf"]);
        assert!(metric.unwrap_err().to_string().contains("psnr-y"));
        assert!(quality_choice("jpeg=").is_err());
    }

    #[test]
    fn the_codec_list_names_what_is_missing_too() {
        let list = codec_list(&Registry::new());
        for name in ["jpeg", "webp", "cjxl", "opj"] {
            assert!(list.contains(name), "{list}");
        }
    }

    #[test]
    fn a_damaged_picture_makes_the_report_incomplete() {
        let folder = tempfile::tempdir().unwrap();
        let pictures = folder.path().join("pictures");
        std::fs::create_dir(&pictures).unwrap();
        let samples = (0..48 * 32 * 3).map(|i| (i % 251) as u8).collect();
        let picture = Image8::new(48, 32, Channels::Rgb, samples).unwrap();
        picture.write(&pictures.join("good.png")).unwrap();
        std::fs::write(pictures.join("bad.png"), b"not a PNG").unwrap();
        let output = folder.path().join("report");
        let paths = [&pictures, &output].map(|path| path.to_str().unwrap());
        let line = [
            paths[0],
            "--codecs",
            "jpeg",
            "--metrics",
            "psnr-y",
            "--viewer",
            "0",
            "-o",
            paths[1],
        ];
        let error = run(&parsed(&line)).unwrap_err();
        assert_eq!(exit::code(&error), 6, "{error}");
        assert!(output.join("report.html").is_file());
        let bad = parsed(&[
            paths[0], "--codecs", "jpeg", "--anchor", "bpg", "-o", paths[1],
        ]);
        assert_eq!(exit::code(&run(&bad).unwrap_err()), 1);
    }
}

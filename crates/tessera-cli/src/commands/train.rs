//! `tessera train`: learns a dictionary from pictures.

use crate::dictionaries;
use crate::exit::Usage;
use crate::files::{check_output, print_report, write_output};
use crate::interrupt::Interrupt;
use crate::progress::{StageBar, waiting};
use crate::threads::with_threads;
use crate::verbosity;
use anyhow::{Context, Result, anyhow};
use clap::Args;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tessera_dict::{Dictionary, store};
use tessera_eval::gain;
use tessera_train::gallery::Skipped;
use tessera_train::references::ReferenceReport;
use tessera_train::{Budget, Stage, TrainError, TrainObserver, Trained, Trainer};

/// Arguments of `tessera train`.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Folders with pictures (or pictures) to learn from.
    #[arg(required = true)]
    pictures: Vec<PathBuf>,
    /// The dictionary to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// What to start from: a dictionary file, `default`, or `untrained`.
    #[arg(long, value_name = "FILE", default_value = "default")]
    from: PathBuf,
    /// Goes on from the checkpoint of an earlier run with the same pictures, start and seed.
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    resume: Option<PathBuf>,
    /// Learns what can be learned in this time, the table at the end included: 90s, 10m, 1h.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    time: Option<Duration>,
    /// Share of the pictures that are kept out of the training to measure the gain on.
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = parse_share)]
    holdout: f64,
    /// Largest size of the dictionary: 500000, 800k, 2M.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    max_size: Option<usize>,
    /// How many pictures will be coded with the dictionary: what does not pay for its bytes with so many is left out.
    /// `all` if its size does not matter [default: those that are found].
    #[arg(long = "pictures", value_name = "N", value_parser = parse_expected)]
    expected: Option<f64>,
    /// Learns what makes lossless files smaller (`encode --lossless --dict`), and nothing else.
    #[arg(long, conflicts_with_all = ["resume", "no_references"])]
    lossless: bool,
    /// Carries no reference pictures in the dictionary, even if they would pay.
    #[arg(long)]
    no_references: bool,
    /// Seed of the sampling; the same seed gives the same bytes on any number of threads.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// A text file with licence and credits to store in the dictionary.
    #[arg(long, value_name = "FILE")]
    note: Option<PathBuf>,
    /// Leaves out the table of gains at the end.
    #[arg(long)]
    no_report: bool,
    /// Number of threads [default: one per core].
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Overwrite an existing output; write the dictionary even if it is no better than the default one.
    #[arg(long)]
    force: bool,
}

/// Most held-out pictures of the table at the end.
const MOST_REPORTED: usize = 12;
/// Part of the time for measuring what was learned, on whole files.
const FOR_MEASURING: f64 = 0.15;

/// Runs `tessera train`.
///
/// # Errors
/// If there is nothing to learn from, or the output cannot be written.
pub fn run(args: &TrainArgs) -> Result<()> {
    check_output(&args.output, args.force)?;
    let time = Budget::new(args.time);
    let mut watch = Watch::new(args);
    let trained = trainer(args)?.observer(&mut watch).train();
    watch.bar.finish();
    let trained = trained.map_err(advised)?;
    let better = match trained.change {
        Some(change) => is_better(args, &trained, change, time, &watch)?,
        None => true,
    };
    if !better && !args.force {
        remove_checkpoint(&args.output);
        eprintln!("{}", why_nothing_is_written(args, &trained));
        return Ok(());
    }
    write(args, &trained)
}

/// The training that the command line asks for.
fn trainer(args: &TrainArgs) -> Result<Trainer<'static>> {
    let mut trainer = Trainer::new(&args.pictures)
        .holdout(args.holdout)
        .references(!args.no_references)
        .lossless(args.lossless)
        .seed(args.seed)
        .note(note(args)?);
    trainer = match args.from.to_str() {
        Some("default") => trainer,
        Some("untrained") => trainer.from_scratch(),
        _ => trainer.start(dictionaries::load(&args.from)?),
    };
    if let Some(file) = &args.resume {
        trainer = trainer.resume(dictionaries::load(file)?);
    }
    if let Some(time) = args.time {
        let for_measuring = if args.no_report { 0.0 } else { FOR_MEASURING };
        trainer = trainer.time(time.mul_f64(1.0 - for_measuring));
    }
    if let Some(bytes) = args.max_size {
        trainer = trainer.max_size(bytes);
    }
    if let Some(count) = args.expected {
        trainer = trainer.expected_pictures(count);
    }
    if let Some(threads) = args.threads {
        trainer = trainer.threads(threads);
    }
    Ok(trainer)
}

/// What went wrong, with the option that helps.
fn advised(error: TrainError) -> anyhow::Error {
    match error {
        TrainError::NoPictures | TrainError::OnePicture => Usage(error.to_string()).into(),
        TrainError::OtherRun => anyhow!("{error} (--from)"),
        TrainError::TooLarge { .. } => anyhow!("{error}; allow more with --max-size"),
        error => error.into(),
    }
}

/// Whether the result is worth having instead of the default dictionary; tells the figures that this follows from.
fn is_better(
    args: &TrainArgs,
    trained: &Trained,
    change: f64,
    time: Budget,
    watch: &Watch,
) -> Result<bool> {
    let learned = gain::is_worth_telling(change) && trained.total_change < Some(0.0);
    tell_total(args, trained);
    if args.no_report || args.lossless {
        let what = match args.lossless {
            true => "bytes without loss",
            false => "bits at equal error",
        };
        eprintln!(
            "held-out pictures: {:+.1} % {what} against the default dictionary",
            100.0 * change
        );
        return Ok(learned);
    }
    if !learned && !args.force {
        return Ok(false);
    }
    let bar = waiting("measuring the gain on held-out pictures");
    let shown = trained.validation.clone().sampled(MOST_REPORTED);
    let dictionary = trained.dictionary.clone();
    let go_on = || !time.is_over() && !watch.interrupt.pressed();
    let measured = with_threads(args.threads, || {
        Ok(gain::measure(shown.files(), dictionary, &go_on)?)
    });
    bar.finish_and_clear();
    let measured = measured?;
    print_report(&measured.to_text())?;
    Ok(measured.is_worth_telling())
}

/// What everything together comes to: the reason for what is kept and what is not.
fn tell_total(args: &TrainArgs, trained: &Trained) {
    if let Some(total) = trained.total_change {
        let pictures = match args.expected {
            Some(count) if count.is_infinite() => return,
            Some(count) => count as usize,
            None => trained.training.len() + trained.validation.len(),
        };
        verbosity::detail(format_args!(
            "{pictures} pictures and the dictionary ({} bytes) together: {:+.1} % against the default dictionary",
            trained.to_file().len(),
            100.0 * total
        ));
    }
}

fn why_nothing_is_written(args: &TrainArgs, trained: &Trained) -> String {
    let reason = match trained.finished {
        true => "nothing that was learned is better than the default dictionary",
        false => "nothing better than the default dictionary was found in this time; give it more",
    };
    format!(
        "{reason}: {} was not written (--force writes what there is)",
        args.output.display()
    )
}

fn write(args: &TrainArgs, trained: &Trained) -> Result<()> {
    let file = trained.to_file();
    write_output(&args.output, &file, args.force)?;
    remove_checkpoint(&args.output);
    eprintln!(
        "{}: {} bytes, learned from {} pictures",
        args.output.display(),
        file.len(),
        trained.training.len(),
    );
    if !trained.finished {
        eprintln!(
            "stopped early with the best dictionary so far; go on with --resume {}",
            args.output.display()
        );
    }
    Ok(())
}

fn note(args: &TrainArgs) -> Result<String> {
    let Some(file) = &args.note else {
        return Ok(String::new());
    };
    std::fs::read_to_string(file).with_context(|| format!("reading the note {}", file.display()))
}

/// Shows progress, keeps checkpoints, and stops on Ctrl-C.
struct Watch {
    bar: StageBar,
    interrupt: Interrupt,
    checkpoint: PathBuf,
}

impl Watch {
    fn new(args: &TrainArgs) -> Self {
        Self {
            bar: StageBar::new(),
            interrupt: Interrupt::new(),
            checkpoint: checkpoint_path(&args.output),
        }
    }
}

impl TrainObserver for Watch {
    fn progress(&mut self, stage: Stage, done: usize, total: usize) {
        self.bar.progress(stage, done, total);
    }

    fn skipped(&mut self, file: &Skipped) {
        eprintln!("skipped {}: {}", file.file.display(), file.reason);
    }

    fn references_chosen(&mut self, report: Option<&ReferenceReport>) {
        let Some(report) = report else {
            eprintln!("stopped while choosing reference pictures: none are used");
            return;
        };
        eprintln!("{}", report.summary());
        verbosity::detail(format!("on parts of pictures: {report}"));
    }

    fn validated(&mut self, change: f64) {
        self.bar.validated(change);
        verbosity::detail(format!("held-out bits {:+.2} %", 100.0 * change));
    }

    fn checkpoint(&mut self, dictionary: &Dictionary) {
        if let Err(error) = write_output(&self.checkpoint, &dictionary.to_bytes(), true) {
            eprintln!("no checkpoint was kept: {error:#}");
        }
    }

    fn stopped(&self) -> bool {
        self.interrupt.pressed()
    }
}

/// `cats.tsd` has its checkpoint in `cats.checkpoint.tsd` while training lasts.
fn checkpoint_path(output: &Path) -> PathBuf {
    output.with_extension(format!("checkpoint.{}", store::EXTENSION))
}

fn remove_checkpoint(output: &Path) {
    // There is none if training ended in the first round.
    let _gone_already = std::fs::remove_file(checkpoint_path(output));
}

pub(super) fn parse_time(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.len() - text.ends_with(['s', 'm', 'h']) as usize);
    let seconds = match unit {
        "m" => 60.0,
        "h" => 3600.0,
        _ => 1.0,
    };
    let value: Option<f64> = number.parse().ok();
    value
        .and_then(|value| Duration::try_from_secs_f64(value * seconds).ok())
        .ok_or_else(|| "a time is a number with s, m or h behind it, such as 10m".into())
}

fn parse_expected(text: &str) -> Result<f64, String> {
    if text == "all" {
        return Ok(f64::INFINITY);
    }
    let count: Option<u64> = text.parse().ok().filter(|&count| count > 0);
    count
        .map(|count| count as f64)
        .ok_or_else(|| "a number of pictures, such as 5000, or `all`".into())
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = match text.strip_suffix('%') {
        Some(percent) => percent.parse().map(|value: f64| value / 100.0),
        None => text.parse(),
    };
    let share = share.ok().filter(|share| (0.0..=0.9).contains(share));
    share.ok_or_else(|| "a share is 0 to 90 percent, such as 10% or 0.1".into())
}

pub(crate) fn parse_size(text: &str) -> Result<usize, String> {
    let (number, unit) = text.split_at(text.len() - text.ends_with(['k', 'M']) as usize);
    let factor = match unit {
        "k" => 1_000.0,
        "M" => 1_000_000.0,
        _ => 1.0,
    };
    let value: Option<f64> = number.parse().ok();
    let value = value.filter(|value| *value > 0.0 && value.is_finite());
    value
        .map(|value| (value * factor) as usize)
        .ok_or_else(|| "a size is a number of bytes, such as 800k or 2M".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_shares_and_sizes() {
        assert_eq!(parse_time("90"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(parse_time("2h"), Ok(Duration::from_secs(7200)));
        assert_eq!(parse_share("10%"), Ok(0.1));
        assert_eq!(parse_share("0.25"), Ok(0.25));
        assert_eq!(parse_size("800k"), Ok(800_000));
        assert_eq!(parse_size("1.5M"), Ok(1_500_000));
        for text in ["", "m", "-3s", "inf", "ten"] {
            assert!(parse_time(text).is_err(), "{text}");
            assert!(parse_size(text).is_err(), "{text}");
        }
        for text in ["", "%", "95%", "-1%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
    }

    #[test]
    fn checkpoints_lie_beside_the_output() {
        let path = checkpoint_path(Path::new("a/cats.tsd"));
        assert_eq!(path, Path::new("a/cats.checkpoint.tsd"));
    }
}

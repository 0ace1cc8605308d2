//! `tessera pack`: the pictures of folders in one file.

mod budget;
mod coding;
mod filling;
mod gather;
mod learn;
mod likeness;
mod series;
mod spending;

use crate::commands::encode::TuneArg;
use crate::commands::train::parse_size;
use crate::exit::Usage;
use crate::files::{Output, check_output};
use crate::threads::with_threads;
use crate::{packs, verbosity};
use anyhow::{Context, Result, bail};
use budget::{Batch, Goal, Objective};
use clap::{Args, value_parser};
use filling::Filling;
use gather::Found;
use std::io::Seek;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use tessera_codec::{Dictionary, Encoder, PreparedDictionary, Target};
use tessera_pack::{PackReader, PackWriter};

/// The range of PSNRs that all pictures may have, tuned for it.
const LEAST_PSNR: f64 = 20.0;
const PSNR_STEP: f64 = 0.3;

const FAILURES: &str = "\
A picture that cannot be read is told at the end and left out; the exit code is 6 then.";

/// Arguments of `tessera pack`.
#[derive(Debug, Args)]
#[command(after_help = FAILURES)]
pub struct PackArgs {
    /// Folders with pictures (or pictures) to pack; names in the pack are paths below the folders, without endings.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The pack to write (.tsp).
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Add to a pack that exists; its dictionary is used.
    #[arg(long, conflicts_with_all = ["dict", "train", "no_train"])]
    append: bool,
    /// Encode with this dictionary: a .tsd file or an identity; the pack carries it.
    #[arg(long, value_name = "FILE|ID", conflicts_with_all = ["train", "no_train"])]
    dict: Option<PathBuf>,
    /// Learn a dictionary for these pictures, which takes minutes [default: if there are 64 or more].
    #[arg(long, conflicts_with = "no_train")]
    train: bool,
    /// Learn no dictionary.
    #[arg(long)]
    no_train: bool,
    /// Learns what can be learned in this time: 90s, 10m, 1h.
    #[arg(long, value_name = "TIME", value_parser = super::train::parse_time, conflicts_with = "no_train")]
    time: Option<Duration>,
    #[command(flatten)]
    goal: GoalArgs,
    /// The same quality for every picture; without it a budget goes where it lowers the error of all most.
    #[arg(long)]
    even: bool,
    /// A budget goes where it raises the mean of all PSNRs most: a decibel counts the same in every picture, so those that
    /// are easy to code get more and the others less.
    #[arg(long, conflicts_with = "even")]
    mean: bool,
    /// How hard to search, from 1 (fast) to 9 (smallest files).
    #[arg(short, long, value_name = "1..9", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u8).range(1..=9))]
    effort: u8,
    /// What to spend bits on: what people see, or the squared error (for measuring).
    #[arg(long, value_enum, default_value_t)]
    tune: TuneArg,
    /// Write no picture without loss, even where that is smaller, as it often is for graphics.
    #[arg(long, conflicts_with = "lossless")]
    lossy: bool,
    /// Predict no picture from another one that is like it.
    #[arg(long)]
    no_series: bool,
    /// Leave out ICC, EXIF and XMP.
    #[arg(long)]
    strip: bool,
    /// Number of threads [default: one per core].
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Replace a pack that exists.
    #[arg(short, long)]
    force: bool,
}

/// What to aim at; at most one of these.
#[derive(Debug, Clone, Copy, Args)]
#[group(multiple = false)]
struct GoalArgs {
    /// Quality of every picture, 0 (smallest) to 100 [default: 75].
    #[arg(short, long, value_name = "0..100")]
    #[arg(value_parser = value_parser!(u8).range(0..=100))]
    quality: Option<u8>,
    /// The best pictures in at most so many bytes for the whole pack: 500k, 50M.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    target_size: Option<usize>,
    /// The smallest pack with at least this PSNR over all pictures; with --even of each of them, with --mean on average.
    #[arg(long, value_name = "DB")]
    target_psnr: Option<f64>,
    /// Keep every sample of every picture as it is.
    #[arg(long)]
    lossless: bool,
}

/// Runs the command.
///
/// # Errors
/// If the pack cannot be written, or a picture cannot be read; the others are still packed.
pub fn run(args: &PackArgs) -> Result<()> {
    match (args.append, args.output.is_file()) {
        (true, false) => bail!(Usage(format!(
            "{} is no pack to add to; leave out --append to make one",
            args.output.display()
        ))),
        (true, true) => {}
        (false, _) => check_output(&args.output, args.force)?,
    }
    if args.mean && args.goal.target_size.is_none() && args.goal.target_psnr.is_none() {
        bail!(Usage(
            "--mean spreads a budget; say which by --target-psnr or --target-size".into()
        ));
    }
    let mut found = gather::pictures(&args.inputs)?;
    with_threads(args.threads, || match args.append {
        true => append(args, &mut found),
        false => create(args, &found),
    })
}

fn create(args: &PackArgs, found: &[Found]) -> Result<()> {
    let dictionary = learn::dictionary(args, found)?;
    let batch = args.batch(found, dictionary.clone());
    let file = dictionary.map(|own| own.to_difference(Dictionary::builtin()));
    let output = Output::create(&args.output, args.force)?;
    let failed = || output.failure();
    let out = std::io::BufWriter::new(output.writer()?);
    let writer = PackWriter::new(out, file.as_deref()).with_context(failed)?;
    let fixed = file.map_or(0, |file| file.len());
    let mut filling = Filling::new(writer, &args.output);
    filling.fill(&batch, args.goal(), fixed)?;
    let (writer, filled) = filling.end();
    if filled.packed > 0 {
        writer.finish().with_context(failed)?;
        output.commit()?;
    }
    filled.report(&args.output)
}

fn append(args: &PackArgs, found: &mut Vec<Found>) -> Result<()> {
    let named = || args.output.display().to_string();
    let mut file = packs::open_to_append(&args.output)?;
    let reader = PackReader::open(&mut file).with_context(named)?;
    let names: Vec<String> = reader.names().map(str::to_owned).collect();
    let prepared = reader.dictionary().with_context(named)?;
    let dictionary = prepared.map(|prepared| prepared.dictionary().clone());
    let fixed = reader.file_len() as usize;
    drop(reader);
    found.retain(|picture| {
        let there = names.binary_search(&picture.name).is_ok();
        if there {
            verbosity::note(format_args!("{} is in the pack already", picture.name));
        }
        !there
    });
    let batch = args.batch(found, dictionary);
    let writer = PackWriter::append(&mut file).with_context(named)?;
    let mut filling = Filling::new(writer, &args.output);
    filling.fill(&batch, args.goal(), fixed)?;
    let (writer, filled) = filling.end();
    if filled.packed > 0 {
        writer.finish().with_context(named)?;
        let end = file.stream_position().with_context(named)?;
        // What an interrupted run left may be longer than what was written over it.
        file.set_len(end).with_context(named)?;
        file.sync_all().with_context(named)?;
    }
    filled.report(&args.output)
}

impl PackArgs {
    fn batch<'a>(&self, found: &'a [Found], dictionary: Option<Dictionary>) -> Batch<'a> {
        let encoder = Encoder::new()
            .effort(self.effort)
            .tune(self.tune.into())
            .threads(1)
            .strip_metadata(self.strip)
            .short_dictionary_name(true);
        let mut encoder = match self.goal.lossless {
            true => encoder.lossless(true),
            false => encoder.lossless_if_smaller(!self.lossy),
        };
        let dictionary = dictionary.map(PreparedDictionary::from);
        if let Some(dictionary) = &dictionary {
            encoder = encoder.dictionary(dictionary.clone());
        }
        let even: fn(u8) -> Target = match self.tune {
            TuneArg::Visual => Target::Quality,
            TuneArg::Psnr => |level| Target::Psnr(LEAST_PSNR + PSNR_STEP * f64::from(level)),
        };
        Batch {
            found,
            encoder,
            dictionary,
            series: !self.no_series && !self.goal.lossless,
            objective: match self.mean {
                true => Objective::Mean,
                false => Objective::Total,
            },
            tells_gains: true,
            lossy: self.lossy,
            even,
        }
    }

    fn goal(&self) -> Goal {
        match (self.goal, self.even) {
            (
                GoalArgs {
                    target_size: Some(bytes),
                    ..
                },
                even,
            ) => Goal::Size { bytes, even },
            (
                GoalArgs {
                    target_psnr: Some(decibels),
                    ..
                },
                true,
            ) => Goal::Each(Target::Psnr(decibels)),
            (
                GoalArgs {
                    target_psnr: Some(decibels),
                    ..
                },
                false,
            ) => Goal::Psnr(decibels),
            (
                GoalArgs {
                    quality: Some(quality),
                    ..
                },
                _,
            ) => Goal::Each(Target::Quality(quality)),
            _ => Goal::Each(Target::default()),
        }
    }
}

//! `tessera pack`: the pictures of folders in one file.

mod budget;
mod gather;
mod learn;

use crate::commands::encode::TuneArg;
use crate::commands::train::parse_size;
use crate::exit::Usage;
use crate::files::{Input, Output, check_output};
use crate::threads::with_threads;
use crate::{reader, verbosity};
use anyhow::{Context, Result, bail};
use budget::{Batch, Goal};
use clap::{Args, value_parser};
use gather::Found;
use rayon::prelude::*;
use std::fs::{self, File};
use std::io::{Seek, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;
use tessera_codec::image_io::ReadOptions;
use tessera_codec::{Dictionary, Encoded, Encoder, PreparedDictionary, Target};
use tessera_pack::{PackReader, PackWriter};

/// Pictures encoded side by side before they are written.
const CHUNK: usize = 64;

/// The range of PSNRs that all pictures may have, tuned for it.
const LEAST_PSNR: f64 = 20.0;
const PSNR_STEP: f64 = 0.3;

/// Arguments of `tessera pack`.
#[derive(Debug, Args)]
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
    /// How hard to search, from 1 (fast) to 9 (smallest files).
    #[arg(short, long, value_name = "1..9", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u8).range(1..=9))]
    effort: u8,
    /// What to spend bits on: what people see, or the squared error (for measuring).
    #[arg(long, value_enum, default_value_t)]
    tune: TuneArg,
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
    /// The smallest pack with at least this PSNR over all pictures; with --even of each of them.
    #[arg(long, value_name = "DB")]
    target_psnr: Option<f64>,
}

/// Runs the command.
///
/// # Errors
/// If a picture cannot be read or the pack cannot be written; nothing is written then.
pub fn run(args: &PackArgs) -> Result<()> {
    match (args.append, args.output.is_file()) {
        (true, false) => bail!(Usage(format!(
            "{} is no pack to add to; leave out --append to make one",
            args.output.display()
        ))),
        (true, true) => {}
        (false, _) => check_output(&args.output, args.force)?,
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
    let writer = fill(args, &batch, fixed, writer)?;
    writer.finish().with_context(failed)?;
    output.commit()?;
    report(args, found)
}

fn append(args: &PackArgs, found: &mut Vec<Found>) -> Result<()> {
    let named = || args.output.display().to_string();
    let mut file = (File::options().read(true).write(true))
        .open(&args.output)
        .with_context(named)?;
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
    fill(args, &batch, fixed, writer)?
        .finish()
        .with_context(named)?;
    let end = file.stream_position().with_context(named)?;
    // What an interrupted run left may be longer than what was written over it.
    file.set_len(end).with_context(named)?;
    file.sync_all().with_context(named)?;
    report(args, found)
}

impl PackArgs {
    fn batch<'a>(&self, found: &'a [Found], dictionary: Option<Dictionary>) -> Batch<'a> {
        let mut encoder = Encoder::new()
            .effort(self.effort)
            .tune(self.tune.into())
            .threads(1)
            .strip_metadata(self.strip)
            .short_dictionary_name(true);
        if let Some(dictionary) = dictionary {
            encoder = encoder.dictionary(PreparedDictionary::from(dictionary));
        }
        let even: fn(u8) -> Target = match self.tune {
            TuneArg::Visual => Target::Quality,
            TuneArg::Psnr => |level| Target::Psnr(LEAST_PSNR + PSNR_STEP * f64::from(level)),
        };
        Batch {
            found,
            encoder,
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

/// Encodes everything and adds it; `fixed` bytes are in the pack already.
fn fill<W: Write>(
    args: &PackArgs,
    batch: &Batch<'_>,
    fixed: usize,
    mut writer: PackWriter<W>,
) -> Result<PackWriter<W>> {
    let target = match args.goal() {
        Goal::Each(target) => target,
        goal => {
            let chosen = budget::allocate(batch, goal, fixed)?;
            for (picture, file) in batch.found.iter().zip(chosen) {
                add(&mut writer, picture, &file)?;
            }
            return Ok(writer);
        }
    };
    for chunk in batch.found.chunks(CHUNK) {
        let encoded: Vec<Result<Encoded>> = (chunk.par_iter())
            .map(|picture| batch.encode(picture, target))
            .collect();
        for (picture, encoded) in chunk.iter().zip(encoded) {
            add(&mut writer, picture, &encoded?.bytes)?;
        }
    }
    Ok(writer)
}

fn add<W: Write>(writer: &mut PackWriter<W>, picture: &Found, file: &[u8]) -> Result<()> {
    let named = || picture.path.display().to_string();
    writer.add(&picture.name, file).with_context(named)?;
    Ok(())
}

impl Batch<'_> {
    /// Reads and encodes one picture.
    fn encode(&self, picture: &Found, target: Target) -> Result<Encoded> {
        self.encode_by(picture, &self.encoder.clone().target(target))
    }

    fn encode_by(&self, picture: &Found, encoder: &Encoder) -> Result<Encoded> {
        let named = || picture.path.display().to_string();
        let input = Input::open(&picture.path)?;
        let mut opened = reader::open(&input, ReadOptions::default()).with_context(named)?;
        encoder.encode_rows(&mut *opened.source).with_context(named)
    }
}

/// Says what everything came to.
fn report(args: &PackArgs, found: &[Found]) -> Result<()> {
    let size = |path: &PathBuf| fs::metadata(path).map_or(0, |data| data.len());
    let before: u64 = found.iter().map(|picture| size(&picture.path)).sum();
    verbosity::note(format_args!(
        "{}: {} pictures of {before} bytes, {} bytes",
        args.output.display(),
        found.len(),
        size(&args.output),
    ));
    Ok(())
}

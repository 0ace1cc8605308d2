//! `tessera encode`: pictures to .tsr files.

use crate::archive::{self, Done, FolderArgs, Plan, Replacing, Sizes, Stale, Task, Wanted};
use crate::batch;
use crate::commands::train::parse_size;
use crate::exit::Usage;
use crate::files::{self, Input};
use crate::overwrite::OverwriteArgs;
use crate::progress::PixelBar;
use crate::{dictionaries, reader, verbosity};
use anyhow::{Context, Result, bail};
use clap::{Args, value_parser};
use std::path::{Path, PathBuf};
use tessera_codec::image_io::{EXTENSIONS, ReadOptions};
use tessera_codec::{
    Band, Decoder, Encoded, Encoder, Error, Fingerprint, Limits, Metadata, Picture, PictureInfo,
    RowSource, Target, TargetUnreachable, Tune,
};
use tessera_eval::image8::Image8;
use tessera_eval::metrics::{Comparison, Metric};

/// Extension of our files.
pub(crate) const EXTENSION: &str = "tsr";

const FOLDERS: &str = "\
With -r the trees of the folders are kept below the output (-o) or beside the pictures. An output counts as done when it
is not older than its picture.";

/// Arguments of `tessera encode`.
#[derive(Debug, Args)]
#[command(after_help = FOLDERS)]
pub struct EncodeArgs {
    /// The pictures to encode; - reads standard input.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write: a file, or a folder for several inputs [default: beside each input].
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: EncodeSettings,
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// What bits are spent on.
#[derive(Debug, Clone, Copy, Default, clap::ValueEnum)]
pub(super) enum TuneArg {
    /// What people see.
    #[default]
    Visual,
    /// The smallest squared error.
    Psnr,
}

impl From<TuneArg> for Tune {
    fn from(tune: TuneArg) -> Self {
        match tune {
            TuneArg::Visual => Self::Visual,
            TuneArg::Psnr => Self::Psnr,
        }
    }
}

/// How to encode, whatever the files.
#[derive(Debug, Args)]
struct EncodeSettings {
    #[command(flatten)]
    target: TargetArgs,
    /// How hard to search, from 1 (fast) to 9 (smallest files).
    #[arg(short, long, value_name = "1..9", default_value_t = 5)]
    #[arg(value_parser = value_parser!(u8).range(1..=9))]
    effort: u8,
    /// What to spend bits on: what people see, or the squared error (for measuring).
    #[arg(long, value_enum, default_value_t)]
    tune: TuneArg,
    /// Encode with a learned dictionary: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,
    /// Name the learned dictionary in 4 bytes and not in 16; for readers that have few dictionaries.
    #[arg(long, requires = "dict")]
    short_name: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Side of the tiles as a power of two, 6 to 15.
    #[arg(long, value_name = "LOG2", hide = true)]
    tile_log2: Option<u8>,
    /// Which page or frame to encode of a TIFF of several pages or an animated GIF, PNG or WebP,
    /// from 1 [default: the first, with a warning if there are more].
    #[arg(long, visible_alias = "frame", value_name = "N")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    page: Option<u32>,
    /// Put a small picture of about a kilobyte in front, for those who want to see something at once.
    #[arg(long)]
    preview: bool,
    /// Leave out ICC, EXIF and XMP.
    #[arg(long)]
    strip: bool,
    /// Store alpha even when every pixel is opaque.
    #[arg(long)]
    keep_alpha: bool,
    /// With --lossless: let samples of colour be up to N off, for smaller files.
    #[arg(
        long,
        value_name = "N",
        requires = "lossless",
        default_value_t = 0,
        hide_default_value = true
    )]
    near: u8,
    /// With --lossless: make colour under alpha 0 black instead of keeping it.
    #[arg(long, requires = "lossless")]
    clean_alpha: bool,
    /// Write a lossy file even where the lossless one is smaller, as it often is for graphics.
    #[arg(long, conflicts_with = "lossless")]
    lossy: bool,
    /// Decode what was encoded and compare before writing.
    #[arg(long)]
    verify: bool,
}

/// What to aim at; at most one of these.
#[derive(Debug, Args)]
#[group(multiple = false)]
struct TargetArgs {
    /// Quality from 0 (smallest) to 100 (almost indistinguishable) [default: 75].
    #[arg(short, long, value_name = "0..100")]
    #[arg(value_parser = value_parser!(u8).range(0..=100))]
    quality: Option<u8>,
    /// The best picture in at most this many bits per pixel.
    #[arg(long, value_name = "BPP")]
    target_bpp: Option<f64>,
    /// The best picture in at most this many bytes: 20000, 20k, 1.5M.
    #[arg(long, value_name = "BYTES", value_parser = parse_size)]
    target_size: Option<usize>,
    /// The smallest file with at least this PSNR (all colour samples).
    #[arg(long, value_name = "DB")]
    target_psnr: Option<f64>,
    /// The smallest file with at least this SSIMULACRA2 (90 is hardly to be told from the original, 70 good, 50 fair).
    #[arg(long, value_name = "SCORE")]
    target_ssimulacra2: Option<f64>,
    /// The smallest file with at most this Butteraugli distance (3-norm; 1 is hardly to be told from the original).
    #[arg(long, value_name = "DISTANCE")]
    target_butteraugli: Option<f64>,
    /// Keep every sample as it is.
    #[arg(long)]
    lossless: bool,
    /// The quantiser itself, 0 to 127; for experiments.
    #[arg(long, value_name = "INDEX", hide = true)]
    quantiser: Option<u8>,
}

impl TargetArgs {
    fn target(&self) -> Target {
        match self {
            Self {
                quality: Some(quality),
                ..
            } => Target::Quality(*quality),
            Self {
                target_bpp: Some(bpp),
                ..
            } => Target::BitsPerPixel(*bpp),
            Self {
                target_size: Some(bytes),
                ..
            } => Target::Size(*bytes as u64),
            Self {
                target_psnr: Some(decibels),
                ..
            } => Target::Psnr(*decibels),
            Self {
                quantiser: Some(index),
                ..
            } => Target::Quantiser(*index),
            _ => Target::default(),
        }
    }

    /// The perceptual metric to reach, if one is asked for.
    fn seen(&self) -> Option<SeenTarget> {
        let ssimulacra2 = self.target_ssimulacra2.map(|asked| SeenTarget {
            metric: Metric::Ssimulacra2,
            asked,
            tolerance: 0.4,
        });
        let butteraugli = self.target_butteraugli.map(|asked| SeenTarget {
            metric: Metric::Butteraugli,
            asked,
            tolerance: 0.03 * asked,
        });
        ssimulacra2.or(butteraugli)
    }
}

/// A perceptual metric and what a picture has to have of it.
#[derive(Debug, Clone, Copy)]
struct SeenTarget {
    metric: Metric,
    asked: f64,
    tolerance: f64,
}

impl SeenTarget {
    fn check(self) -> Result<()> {
        let Self { metric, asked, .. } = self;
        if !asked.is_finite() || metric.lower_is_better() && asked <= 0.0 || asked >= 100.0 {
            bail!(Usage(format!("no lossy picture has a {metric} of {asked}")));
        }
        Ok(())
    }

    /// The smallest file that reaches it.
    fn encode(self, encoder: &Encoder, source: &mut dyn RowSource) -> Result<Encoded> {
        let Self { metric, asked, .. } = self;
        let picture = whole(source)?;
        let original = Image8::from_picture(picture.clone())?;
        let comparison = Comparison::with(&original);
        let measure = |decoded: Picture| {
            let score = || -> Result<f64> {
                let values = comparison.measure(&Image8::from_picture(decoded)?, &[metric])?;
                let value = values[0].with_context(|| {
                    format!("{metric} is not defined for pictures this small; use -q")
                })?;
                Ok(metric.oriented(value))
            };
            score().map_err(|error| Error::Input(error.into()))
        };
        let at_least = metric.oriented(asked);
        match encoder.encode_to_score(&picture, at_least, self.tolerance, &measure) {
            Err(Error::TargetUnreachable(TargetUnreachable::Score { best, .. })) => {
                let best = metric.oriented(best);
                bail!(Usage(format!(
                    "{metric} {asked} cannot be reached; the best for this picture is {best:.2}"
                )))
            }
            other => Ok(other?),
        }
    }
}

/// All rows of a source at once.
fn whole(source: &mut dyn RowSource) -> Result<Picture> {
    source.rewind()?;
    let height = source.info().height();
    let mut picture = source.next_rows(height)?.into_owned();
    picture.metadata = source.metadata().clone();
    Ok(picture)
}

/// An encoder made from the settings, with what is done around it.
struct FileEncoder {
    encoder: Encoder,
    /// In place of the encoder's own target.
    seen: Option<SeenTarget>,
    /// Present when what was written is to be decoded again.
    verifier: Option<Decoder>,
    strip: bool,
    /// Whether lossless files were asked for.
    lossless: bool,
    read: ReadOptions,
    /// Whether the progress of a single picture is shown.
    bar: bool,
}

/// What became of one picture.
struct EncodedFile {
    info: PictureInfo,
    before: usize,
    encoded: Encoded,
    /// The metric that was aimed at.
    seen: Option<Metric>,
    /// Whether it is lossless although that was not asked for.
    turned_lossless: bool,
    /// What the user should know of it.
    warnings: Vec<String>,
}

impl EncodedFile {
    fn sizes(&self) -> Sizes {
        Sizes {
            before: self.before as u64,
            after: self.encoded.bytes.len() as u64,
        }
    }
}

impl EncodeSettings {
    /// Checks the settings and loads the dictionary; `alone` says that pictures come one after the other and that
    /// something is told of each.
    fn file_encoder(&self, threads: usize, alone: bool) -> Result<FileEncoder> {
        let mut encoder = Encoder::new()
            .target(self.target.target())
            .effort(self.effort)
            .tune(self.tune.into())
            .threads(threads)
            .keep_opaque_alpha(self.keep_alpha)
            .strip_metadata(self.strip)
            .short_dictionary_name(self.short_name)
            .preview(self.preview)
            .measure_distortion(self.verify || !verbosity::quiet())
            .clean_alpha(self.clean_alpha);
        encoder = match self.target.lossless {
            true => encoder.near(self.near),
            // Experiments with quantisers get what they ask for.
            false => encoder.lossless_if_smaller(!self.lossy && self.target.quantiser.is_none()),
        };
        let mut verifier = Decoder::new().threads(threads).limits(Limits::none());
        if let Some(log2) = self.tile_log2 {
            encoder = encoder.tile_log2(log2);
        }
        if let Some(spec) = &self.dict {
            let dictionary = dictionaries::load(spec)?;
            encoder = encoder.dictionary(dictionary.clone());
            verifier = verifier.dictionary(dictionary);
        }
        encoder.check()?;
        let seen = self.target.seen();
        seen.map_or(Ok(()), SeenTarget::check)?;
        Ok(FileEncoder {
            encoder,
            seen,
            verifier: self.verify.then_some(verifier),
            strip: self.strip,
            lossless: self.target.lossless,
            bar: alone,
            read: ReadOptions { page: self.page },
        })
    }
}

impl FileEncoder {
    /// Encodes one picture in any readable format.
    fn encode(&self, input: &Input<'_>) -> Result<EncodedFile> {
        let opened = reader::open(input, self.read)?;
        let mut source = opened.source;
        let bar = PixelBar::new("encoding", source.info().pixels(), self.bar);
        let encoder = self.encoder.clone().on_tile(bar.on_tile());
        let encoded = match self.seen {
            None => encoder.encode_rows(&mut *source)?,
            Some(seen) => seen.encode(&encoder, &mut *source)?,
        };
        bar.finish();
        if let Some(verifier) = &self.verifier {
            let stripped = Metadata::default();
            let metadata = match self.strip {
                true => &stripped,
                false => source.metadata(),
            };
            verify(verifier, &encoded, metadata)
                .context("verification failed, nothing was written")?;
        }
        let mut warnings = opened.warnings;
        if let Some(message) = broken_promise(&encoded) {
            if self.verifier.is_some() {
                bail!("{message}; nothing was written");
            }
            warnings.push(message);
        }
        Ok(EncodedFile {
            info: source.info(),
            before: input.len(),
            seen: self.seen.map(|seen| seen.metric),
            turned_lossless: encoded.lossless.is_some() && !self.lossless,
            encoded,
            warnings,
        })
    }
}

/// What to say of a file that is worse than its quality promises.
pub(super) fn broken_promise(encoded: &Encoded) -> Option<String> {
    let broken = encoded.keeps_its_promise() == Some(false);
    broken.then(|| {
        format!(
            "the picture decodes to {:.1} dB, far worse than its quality promises; keep the original, and please report it",
            encoded.psnr().unwrap_or_default()
        )
    })
}

/// Decodes a fresh file and holds it against what the encoder promised.
fn verify(decoder: &Decoder, encoded: &Encoded, metadata: &Metadata) -> Result<()> {
    let coded = decoder.parse(&encoded.bytes)?;
    coded.check()?;
    let fingerprint_of = |band: Result<Band, Error>| {
        let band = band?;
        let rect = band.rect;
        Ok(Fingerprint::of_part(rect, band.intact()?.samples()))
    };
    let bands = coded.bands(coded.rect())?;
    let fingerprint = bands
        .map(fingerprint_of)
        .sum::<Result<Fingerprint, Error>>()?;
    let promised = encoded.measured.map(|measured| measured.fingerprint);
    if Some(fingerprint) != promised || coded.metadata()? != *metadata {
        bail!("the decoded picture differs");
    }
    Ok(())
}

/// Runs the command.
///
/// # Errors
/// When any input cannot be encoded; with several inputs the others are still done.
pub fn run(args: &EncodeArgs) -> Result<()> {
    if args.folders.recursive {
        return run_recursive(args);
    }
    let encoder = args.settings.file_encoder(args.settings.threads, true)?;
    batch::check_folder(&args.inputs, args.output.as_deref())?;
    batch::for_each(
        &args.inputs,
        |input| files::output_for(input, args.output.as_deref(), EXTENSION),
        |input, output| encode_one(args, &encoder, input, output),
    )
}

/// Works through folders; each picture takes one thread unless asked otherwise.
fn run_recursive(args: &EncodeArgs) -> Result<()> {
    let encoder = args
        .settings
        .file_encoder(args.settings.threads.max(1), false)?;
    let mut plan = Plan::new(Wanted {
        inputs: &EXTENSIONS,
        output: EXTENSION.to_owned(),
        verb: "encoded",
        shrinks: true,
    });
    plan.add_folders(&args.inputs, args.output.as_deref())?;
    plan.keep_shard(args.folders.shard, &args.inputs);
    let replacing = Replacing {
        force: args.overwrite.force(),
        stale: Stale::Renew,
    };
    let encode = |task: &Task| encode_task(task, &encoder);
    archive::process(plan, &args.folders, replacing, encode)
}

fn encode_task(task: &Task, encoder: &FileEncoder) -> Result<Done> {
    let done = encoder.encode(&Input::open(&task.input)?)?;
    files::write_output(&task.output, &done.encoded.bytes, true)?;
    Ok(Done {
        sizes: done.sizes(),
        warnings: done.warnings,
    })
}

fn encode_one(args: &EncodeArgs, encoder: &FileEncoder, input: &Path, output: &Path) -> Result<()> {
    let named = || input.display().to_string();
    if let Err(refusal) = args.overwrite.check(output, [input]) {
        // Another output does not help what is no picture.
        reader::open(&Input::open(input)?, encoder.read).with_context(named)?;
        return Err(refusal);
    }
    let file = Input::open(input)?;
    let done = encoder.encode(&file).with_context(named)?;
    files::write_output(output, &done.encoded.bytes, args.overwrite.force())?;
    verbosity::warn(input, &done.warnings);
    report(input, output, &done);
    Ok(())
}

fn report(input: &Path, output: &Path, done: &EncodedFile) {
    let (info, encoded) = (&done.info, &done.encoded);
    let sizes = done.sizes();
    let score = done.seen.zip(encoded.score).map(|(metric, score)| {
        let value = metric.oriented(score);
        format!(", {} {value:.2}", metric.title())
    });
    verbosity::note(format_args!(
        "{} -> {}: {} -> {} bytes{}, {:.3} bpp, {}{}",
        input.display(),
        output.display(),
        sizes.before,
        sizes.after,
        growth(sizes),
        sizes.after as f64 * 8.0 / info.pixels() as f64,
        fidelity(done),
        score.unwrap_or_default(),
    ));
    let format = info.format();
    verbosity::detail(format_args!(
        "  {} x {} pixels, {} channels of {} bits{}",
        info.width(),
        info.height(),
        format.channels(),
        format.depth.bits(),
        match encoded.lossless {
            None => format!(", quantiser {}", encoded.quantiser),
            Some(_) => String::new(),
        },
    ));
}

/// How close the decoded picture is.
fn fidelity(done: &EncodedFile) -> String {
    let decibels = done.encoded.psnr().unwrap_or_default();
    match done.encoded.lossless {
        None => format!("{decibels:.2} dB"),
        Some(0) if done.turned_lossless => {
            "lossless, which is smaller here (--lossy insists)".to_owned()
        }
        Some(0) => "lossless".to_owned(),
        Some(near) => format!("at most {near} off, {decibels:.2} dB"),
    }
}

/// Said of a file that came out larger than it went in.
fn growth(Sizes { before, after }: Sizes) -> String {
    match after.checked_sub(before) {
        None | Some(0) => String::new(),
        Some(more) => format!(" ({more} bytes LARGER than before)"),
    }
}

//! `tessera encode`: pictures to .tsr files.

use crate::archive::{self, ArchiveOptions, Plan};
use crate::exit::{self, Incomplete, Usage};
use crate::files::{self, Input};
use crate::{dictionaries, reader, verbosity};
use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, value_parser};
use std::path::{Path, PathBuf};
use tessera_codec::image_io::ReadOptions;
use tessera_codec::{
    Band, Decoder, Effort, Encoded, Encoder, Error, Fingerprint, Metadata, PictureInfo, Quality,
    Target,
};

/// Extension of our files.
pub(crate) const EXTENSION: &str = "tsr";

/// Arguments of `tessera encode`.
#[derive(Debug, Args)]
pub struct EncodeArgs {
    /// The pictures to encode; - reads standard input.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write: a file, or a folder for several inputs [default: beside each input].
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: EncodeSettings,
    /// Encode all pictures below the given folders; what is done already is skipped.
    #[arg(short, long)]
    recursive: bool,
    /// With -r: pictures encoded at the same time [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    #[arg(requires = "recursive")]
    jobs: usize,
    /// With -r: print the summary as JSON.
    #[arg(long, requires = "recursive")]
    json: bool,
    /// Replace outputs that exist.
    #[arg(short, long)]
    force: bool,
}

/// How to encode, whatever the files.
#[derive(Debug, Args)]
struct EncodeSettings {
    #[command(flatten)]
    target: TargetArgs,
    /// How hard to search, from 1 (fast) to 9 (smallest files).
    #[arg(short, long, value_name = "1..9", default_value_t = Effort::default().value())]
    #[arg(value_parser = value_parser!(u8).range(1..=9))]
    effort: u8,
    /// Encode with a learned dictionary: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,
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
    /// Leave out ICC, EXIF and XMP.
    #[arg(long)]
    strip: bool,
    /// Store alpha even when every pixel is opaque.
    #[arg(long)]
    keep_alpha: bool,
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
    /// The best picture in at most this many bytes.
    #[arg(long, value_name = "BYTES")]
    target_size: Option<u64>,
    /// The smallest file with at least this PSNR (all colour samples).
    #[arg(long, value_name = "DB")]
    target_psnr: Option<f64>,
    /// The quantiser itself, 0 to 127; for experiments.
    #[arg(long, value_name = "INDEX", hide = true)]
    quantiser: Option<u8>,
}

impl TargetArgs {
    fn target(&self) -> Result<Target, tessera_codec::Error> {
        Ok(match self {
            Self {
                quality: Some(quality),
                ..
            } => Target::Quality(Quality::new(*quality)?),
            Self {
                target_bpp: Some(bpp),
                ..
            } => Target::BitsPerPixel(*bpp),
            Self {
                target_size: Some(bytes),
                ..
            } => Target::Size(*bytes),
            Self {
                target_psnr: Some(decibels),
                ..
            } => Target::Psnr(*decibels),
            Self {
                quantiser: Some(index),
                ..
            } => Target::Quantiser(*index),
            _ => Target::default(),
        })
    }
}

/// An encoder made from the settings, with what is done around it.
pub(crate) struct FileEncoder {
    encoder: Encoder,
    /// Present when what was written is to be decoded again.
    verifier: Option<Decoder>,
    strip: bool,
    read: ReadOptions,
}

/// What became of one picture.
pub(crate) struct EncodedFile {
    pub(crate) info: PictureInfo,
    pub(crate) before: usize,
    pub(crate) encoded: Encoded,
    /// What the reader of the picture had to say.
    warnings: Vec<String>,
}

impl EncodedFile {
    /// Says what was changed or left out when the picture was read.
    pub(crate) fn warn(&self, input: &Path) {
        for warning in &self.warnings {
            verbosity::note(format_args!(
                "tessera: warning: {}: {warning}",
                input.display()
            ));
        }
    }
}

impl EncodeSettings {
    /// Checks the settings and loads the dictionary; `reported` says whether anyone will read how good the picture is.
    fn file_encoder(&self, threads: usize, reported: bool) -> Result<FileEncoder> {
        let mut encoder = Encoder::new()
            .target(self.target.target()?)
            .effort(Effort::new(self.effort)?)
            .threads(threads)
            .keep_opaque_alpha(self.keep_alpha)
            .strip_metadata(self.strip)
            .outcome(self.verify || reported);
        let mut verifier = Decoder::new().threads(threads);
        if let Some(log2) = self.tile_log2 {
            encoder = encoder.tile_log2(log2);
        }
        if let Some(spec) = &self.dict {
            let dictionary = dictionaries::load(spec)?;
            encoder = encoder.dictionary(dictionary.clone());
            verifier = verifier.dictionary(dictionary);
        }
        Ok(FileEncoder {
            encoder,
            verifier: self.verify.then_some(verifier),
            strip: self.strip,
            read: ReadOptions { page: self.page },
        })
    }
}

impl FileEncoder {
    /// Encodes one picture in any readable format.
    pub(crate) fn encode(&self, input: &Input<'_>) -> Result<EncodedFile> {
        let opened = reader::open(input, self.read)?;
        let mut source = opened.source;
        let encoded = self.encoder.encode_rows(&mut *source)?;
        if let Some(verifier) = &self.verifier {
            let stripped = Metadata::default();
            let metadata = match self.strip {
                true => &stripped,
                false => source.metadata(),
            };
            verify(verifier, &encoded, metadata)
                .context("verification failed, nothing was written")?;
        }
        Ok(EncodedFile {
            info: source.info(),
            before: input.len(),
            encoded,
            warnings: opened.warnings,
        })
    }
}

/// Decodes a fresh file and holds it against what the encoder promised.
fn verify(decoder: &Decoder, encoded: &Encoded, metadata: &Metadata) -> Result<()> {
    let container = decoder.open(&encoded.bytes)?;
    container.check()?;
    let fingerprint_of = |band: Result<Band, Error>| {
        let band = band?;
        let rect = band.rect;
        Ok(Fingerprint::of_part(rect, band.intact()?.samples()))
    };
    let bands = decoder.bands(&container, container.header().rect())?;
    let fingerprint = bands
        .map(fingerprint_of)
        .sum::<Result<Fingerprint, Error>>()?;
    let promised = encoded.outcome.map(|outcome| outcome.fingerprint);
    if Some(fingerprint) != promised || container.metadata()? != *metadata {
        bail!("the decoded picture differs");
    }
    Ok(())
}

/// Runs the command.
///
/// # Errors
/// When any input cannot be encoded; with several inputs the others are still done.
pub fn run(args: &EncodeArgs) -> Result<()> {
    if args.recursive {
        return run_recursive(args);
    }
    let encoder = args
        .settings
        .file_encoder(args.settings.threads, !verbosity::quiet())?;
    if let [input] = args.inputs.as_slice() {
        return encode_one(args, &encoder, input);
    }
    if args.output.as_ref().is_some_and(|output| !output.is_dir()) {
        let message = "with several inputs the output (-o) must be an existing folder";
        bail!(Usage(message.into()));
    }
    let mut failures = 0;
    for input in &args.inputs {
        if let Err(error) = encode_one(args, &encoder, input) {
            eprintln!("tessera: {}", exit::message(&error));
            failures += 1;
        }
    }
    if failures == 0 {
        return Ok(());
    }
    let total = args.inputs.len();
    Err(anyhow!(Incomplete(format!(
        "{failures} of {total} pictures could not be encoded"
    ))))
}

/// Works through folders; each picture takes one thread unless asked otherwise.
fn run_recursive(args: &EncodeArgs) -> Result<()> {
    let encoder = args
        .settings
        .file_encoder(args.settings.threads.max(1), false)?;
    let mut plan = Plan::default();
    for root in &args.inputs {
        if !root.is_dir() {
            let message = format!("{} is not a folder, as -r needs", root.display());
            bail!(Usage(message));
        }
        plan.add_folder(root, args.output.as_deref().unwrap_or(root));
    }
    let options = ArchiveOptions {
        jobs: args.jobs,
        force: args.force,
        bar: !(verbosity::quiet() || args.json),
    };
    let summary = archive::encode(plan, &encoder, options)?;
    if args.json {
        let text = serde_json::to_string_pretty(&summary)? + "\n";
        files::write_output(files::STANDARD_STREAM.as_ref(), text.as_bytes(), false)?;
    } else if !verbosity::quiet() || summary.failed() > 0 {
        eprintln!("{summary}");
    }
    match summary.failed() {
        0 => Ok(()),
        failed => Err(anyhow!(Incomplete(format!("{failed} failures, see above")))),
    }
}

fn encode_one(args: &EncodeArgs, encoder: &FileEncoder, input: &Path) -> Result<()> {
    let output = output_path(args, input)?;
    files::check_output(&output, args.force)?;
    let file = Input::open(input)?;
    let done = encoder
        .encode(&file)
        .with_context(|| input.display().to_string())?;
    files::write_output(&output, &done.encoded.bytes, args.force)?;
    done.warn(input);
    report(input, &output, &done);
    Ok(())
}

/// `photo.jpg` becomes `photo.tsr` beside it or in the output folder; standard input goes to
/// standard output.
fn output_path(args: &EncodeArgs, input: &Path) -> Result<PathBuf> {
    let from_input = || input.with_extension(EXTENSION);
    match &args.output {
        Some(folder) if folder.is_dir() => match from_input().file_name() {
            Some(name) if !files::is_standard_stream(input) => Ok(folder.join(name)),
            _ => bail!(Usage("name the output file (-o) for standard input".into())),
        },
        Some(output) => Ok(output.clone()),
        None if files::is_standard_stream(input) => Ok(files::STANDARD_STREAM.into()),
        None => Ok(from_input()),
    }
}

fn report(input: &Path, output: &Path, done: &EncodedFile) {
    let (info, encoded) = (&done.info, &done.encoded);
    let after = encoded.bytes.len();
    verbosity::note(format_args!(
        "{} -> {}: {} -> {after} bytes, {:.3} bpp, {:.2} dB",
        input.display(),
        output.display(),
        done.before,
        after as f64 * 8.0 / info.pixels() as f64,
        encoded.psnr().unwrap_or_default(),
    ));
    let format = info.format();
    verbosity::detail(format_args!(
        "  {} x {} pixels, {} channels of {} bits, quantiser {}",
        info.width(),
        info.height(),
        format.channels(),
        format.depth.bits(),
        encoded.quantiser,
    ));
}

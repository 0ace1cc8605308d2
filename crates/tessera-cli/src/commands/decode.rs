//! `tessera decode`: a .tsr file to a common format.

use crate::exit::{Incomplete, Usage};
use crate::files::{self, Input, Output};
use crate::{dictionaries, verbosity};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use image::ImageFormat;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tessera_codec::container::Container;
use tessera_codec::image_io::{Losses, PictureWriter, keeps_rows};
use tessera_codec::{Band, Decoder, Error, Limits, Metadata, PictureInfo, Rect};

/// Arguments of `tessera decode`.
#[derive(Debug, Args)]
pub struct DecodeArgs {
    /// The file to decode; - reads standard input.
    input: PathBuf,
    /// Where to write; the extension names the format [default: the input's name with .png].
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Output format, when the extension does not say it (png, jpg, webp, ppm, tiff, bmp).
    #[arg(long)]
    format: Option<String>,
    /// The dictionary the file was encoded with: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,
    /// Decode only this part; reads only the tiles it needs.
    #[arg(long, value_name = "X,Y,W,H")]
    region: Option<Region>,
    /// Decode what is intact of a damaged file; the rest becomes gray.
    #[arg(long, conflicts_with = "region")]
    partial: bool,
    /// Leave out ICC, EXIF and XMP.
    #[arg(long)]
    strip: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Refuse pictures with more megapixels than this.
    #[arg(long, value_name = "MP")]
    max_megapixels: Option<u32>,
    /// Replace an output that exists.
    #[arg(short, long)]
    force: bool,
}

/// A rectangle as four numbers separated by commas.
#[derive(Debug, Clone, Copy)]
struct Region(Rect);

impl FromStr for Region {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let numbers: Result<Vec<u32>, _> = text.split(',').map(|n| n.trim().parse()).collect();
        match numbers.as_deref() {
            Ok(&[x, y, width, height]) => Ok(Self(Rect {
                x,
                y,
                width,
                height,
            })),
            _ => Err("four numbers are needed: X,Y,WIDTH,HEIGHT".into()),
        }
    }
}

/// Runs the command.
///
/// # Errors
/// When the file cannot be read, decoded or written; with `--partial` also when tiles were lost.
pub fn run(args: &DecodeArgs) -> Result<()> {
    let output = output_path(args);
    let format = output_format(args, &output)?;
    files::check_output(&output, args.force)?;
    let input = Input::open(&args.input)?;
    let named = || args.input.display().to_string();
    let decoder = decoder(args, &input).with_context(named)?;
    let container = decoder.open(input.source()).with_context(named)?;
    let mut damage = Damage::default();
    let metadata = check(args, &container, &mut damage).with_context(named)?;
    let part = match args.region {
        Some(Region(rect)) => rect,
        None => container.header().rect(),
    };
    let bands = bands(&decoder, &container, part, format).with_context(named)?;
    let info = PictureInfo::new(part.width, part.height, container.header().format)?;
    let file = Output::create(&output, args.force)?;
    let failed = || files::cannot_write(&output);
    let mut writer =
        PictureWriter::new(file.writer()?, format, info, metadata).with_context(failed)?;
    for band in bands {
        let mut band = band.with_context(named)?;
        if args.partial {
            damage.tiles.append(&mut band.damaged);
        }
        let rows = band.intact().with_context(named)?;
        writer.push(rows).with_context(failed)?;
    }
    note_losses(&writer.finish().with_context(failed)?);
    file.commit()?;
    verbosity::detail(format_args!(
        "{} -> {}: {part} of {}, dictionary {}",
        args.input.display(),
        output.display(),
        container.header().rect(),
        container.header().dictionary,
    ));
    damage.report()
}

/// Looks at everything but the pixels, so that damage is found before anything is decoded, and
/// returns the metadata to write. Of a region only its own tiles matter.
fn check(
    args: &DecodeArgs,
    container: &Container<'_>,
    damage: &mut Damage,
) -> Result<Metadata, Error> {
    if !args.partial && args.region.is_none() {
        container.check()?;
    }
    let metadata = match container.metadata() {
        Err(error) if args.partial => {
            damage.metadata = Some(error);
            Metadata::default()
        }
        metadata => metadata?,
    };
    Ok(match args.strip {
        true => Metadata::default(),
        false => metadata,
    })
}

/// The rows to write: band by band where the output format allows it.
fn bands<'c>(
    decoder: &'c Decoder,
    container: &'c Container<'_>,
    part: Rect,
    format: ImageFormat,
) -> Result<Box<dyn Iterator<Item = Result<Band, Error>> + 'c>, Error> {
    if keeps_rows(format) {
        let whole = decoder.decode_band(container, part)?;
        return Ok(Box::new(std::iter::once(Ok(whole))));
    }
    Ok(Box::new(decoder.bands(container, part)?))
}

fn decoder(args: &DecodeArgs, input: &Input<'_>) -> Result<Decoder> {
    let mut limits = Limits::default();
    if let Some(megapixels) = args.max_megapixels {
        limits.pixels = u64::from(megapixels) * 1_000_000;
    }
    let mut decoder = Decoder::new().limits(limits).threads(args.threads);
    let dictionary = match &args.dict {
        Some(spec) => Some(dictionaries::load(spec)?),
        None => dictionaries::find(decoder.open(input.source())?.header().dictionary)?,
    };
    if let Some(dictionary) = dictionary {
        decoder = decoder.dictionary(dictionary);
    }
    Ok(decoder)
}

/// `photo.tsr` becomes `photo.png`; standard input goes to standard output.
fn output_path(args: &DecodeArgs) -> PathBuf {
    match &args.output {
        Some(output) => output.clone(),
        None if files::is_standard_stream(&args.input) => files::STANDARD_STREAM.into(),
        None => args
            .input
            .with_extension(args.format.as_deref().unwrap_or("png")),
    }
}

fn output_format(args: &DecodeArgs, output: &Path) -> Result<ImageFormat> {
    if let Some(name) = &args.format {
        return ImageFormat::from_extension(name)
            .ok_or_else(|| anyhow!(Usage(format!("unknown output format {name}"))));
    }
    if files::is_standard_stream(output) {
        return Ok(ImageFormat::Png);
    }
    match output.extension().map(ImageFormat::from_extension) {
        Some(Some(format)) => Ok(format),
        Some(None) if is_device(output) => Ok(ImageFormat::Png),
        None if is_device(output) => Ok(ImageFormat::Png),
        _ => bail!(Usage(format!(
            "the name {} does not say which format to write; end it in .png, .jpg, .webp, .ppm, \
             .tiff or .bmp, or use --format",
            output.display()
        ))),
    }
}

fn is_device(path: &Path) -> bool {
    path.exists() && !path.is_file() && !path.is_dir()
}

/// What could not be decoded.
#[derive(Debug, Default)]
struct Damage {
    tiles: Vec<(Rect, Error)>,
    metadata: Option<Error>,
}

impl Damage {
    /// Says on standard error which parts are lost; an error when there are any.
    fn report(&self) -> Result<()> {
        for (_, error) in &self.tiles {
            eprintln!("tessera: {error}");
        }
        if let Some(error) = &self.metadata {
            eprintln!("tessera: metadata lost: {error}");
        }
        if self.tiles.is_empty() && self.metadata.is_none() {
            return Ok(());
        }
        let count = self.tiles.len();
        Err(anyhow!(Incomplete(format!(
            "{count} tiles could not be decoded and are gray in the output"
        ))))
    }
}

fn note_losses(losses: &Losses) {
    for kind in &losses.dropped {
        let kind = kind.name();
        verbosity::note(format_args!(
            "tessera: note: {kind} metadata is not kept in this output format"
        ));
    }
    if losses.reduced_to_8_bits {
        verbosity::note("tessera: note: this output format holds 8 bits per sample");
    }
}

//! `tessera decode`: a .tsr file to a common format.

use crate::exit::{Incomplete, Usage};
use crate::{dictionaries, files};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use image::ImageFormat;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tessera_codec::image_io::write_picture;
use tessera_codec::{Decoder, Limits, Metadata, Partial, Picture, Rect};

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
    let file = files::read_input(&args.input)?;
    let named = || args.input.display().to_string();
    let decoder = decoder(args, &file).with_context(named)?;
    if args.partial {
        let partial = decoder.decode_partial(&file).with_context(named)?;
        let lost = report_damage(&partial);
        write(partial.picture, args, &output, format)?;
        return lost;
    }
    let picture = match args.region {
        Some(Region(rect)) => decoder.decode_region(&file, rect),
        None => decoder.decode(&file),
    };
    write(picture.with_context(named)?, args, &output, format)
}

fn decoder(args: &DecodeArgs, file: &[u8]) -> Result<Decoder> {
    let mut limits = Limits::default();
    if let Some(megapixels) = args.max_megapixels {
        limits.pixels = u64::from(megapixels) * 1_000_000;
    }
    let mut decoder = Decoder::new().limits(limits).threads(args.threads);
    let dictionary = match &args.dict {
        Some(spec) => Some(dictionaries::load(spec)?),
        None => dictionaries::find(decoder.open(file)?.header().dictionary)?,
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

/// Says on standard error which parts are lost; an error when there are any.
fn report_damage(partial: &Partial) -> Result<()> {
    for (_, error) in &partial.damaged {
        eprintln!("tessera: {error}");
    }
    if let Some(error) = &partial.metadata_error {
        eprintln!("tessera: metadata lost: {error}");
    }
    if partial.damaged.is_empty() && partial.metadata_error.is_none() {
        return Ok(());
    }
    let count = partial.damaged.len();
    Err(anyhow!(Incomplete(format!(
        "{count} tiles could not be decoded and are gray in the output"
    ))))
}

fn write(
    mut picture: Picture,
    args: &DecodeArgs,
    output: &Path,
    format: ImageFormat,
) -> Result<()> {
    if args.strip {
        picture.metadata = Metadata::default();
    }
    let written = write_picture(picture, format)
        .with_context(|| format!("cannot write {}", output.display()))?;
    for kind in &written.dropped {
        let kind = kind.name();
        eprintln!("tessera: note: {kind} metadata is not kept in this output format");
    }
    if written.reduced_to_8_bits {
        eprintln!("tessera: note: this output format holds 8 bits per sample");
    }
    files::write_output(output, &written.bytes, args.force)
}

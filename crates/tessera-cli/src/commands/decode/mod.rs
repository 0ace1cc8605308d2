//! `tessera decode`: .tsr files to a common format.

mod format;
mod page;
mod webp;

use crate::archive::{self, Done, FolderArgs, Plan, Replacing, Sizes, Stale, Task, Wanted};
use crate::commands::encode::EXTENSION;
use crate::exit::Incomplete;
use crate::files::{self, Input, Output};
use crate::overwrite::OverwriteArgs;
use crate::progress::PixelBar;
use crate::{batch, pictures, verbosity};
use anyhow::{Context, Result, anyhow};
use clap::{Args, value_parser};
use format::OutputFormat;
use page::{Page, PageOptions};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tessera_codec::image_io::{Losses, keeps_rows};
use tessera_codec::{
    Band, CodedPicture, Decoder, Error, Limits, MAX_PREVIEW_SIDE, Metadata, Picture, PictureInfo,
    Rect,
};

/// The format when nothing says otherwise.
pub(crate) const DEFAULT_FORMAT: &str = "png";

const FOLDERS: &str = "\
With -r the trees of the folders are kept below the output (-o) or beside the files, in the format of --format. An
output counts as done when it is not older than its file; an older one may be an original and is kept.";

/// Arguments of `tessera decode`.
#[derive(Debug, Args)]
#[command(after_help = FOLDERS)]
pub struct DecodeArgs {
    /// The files to decode; - reads standard input.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Where to write: a file whose extension names the format, or a folder [default: beside each input, as .png].
    #[arg(short, long)]
    output: Option<PathBuf>,
    #[command(flatten)]
    settings: DecodeSettings,
    #[command(flatten)]
    folders: FolderArgs,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// How to decode, whatever the files.
#[derive(Debug, Args)]
struct DecodeSettings {
    /// Output format, when the extension does not say it (png, jpg, webp, ppm, pgm, pam, tiff, bmp).
    #[arg(long)]
    format: Option<String>,
    /// Quality of JPEG and WebP output, 1 to 100 [default: JPEG 95; WebP without loss].
    #[arg(long, value_name = "1..100")]
    #[arg(value_parser = value_parser!(u8).range(1..=100))]
    quality: Option<u8>,
    /// Scale the picture down so that neither side is longer than this many pixels; it is never scaled up.
    #[arg(long, value_name = "PIXELS")]
    #[arg(value_parser = value_parser!(u32).range(1..))]
    max_side: Option<u32>,
    /// The dictionary the files were encoded with: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,
    /// Decode only this part; reads only the tiles it needs.
    #[arg(long, value_name = "X,Y,W,H")]
    region: Option<Region>,
    /// Decode what is intact of a damaged file; the rest becomes gray.
    #[arg(long, conflicts_with = "region")]
    partial: bool,
    /// Decode the small picture in front, for which the beginning of a file is enough. A file that has none is scaled down
    /// to 256 pixels on a side, or to --max-side.
    #[arg(long, conflicts_with_all = ["region", "partial"])]
    preview: bool,
    /// Leave out ICC, EXIF and XMP.
    #[arg(long)]
    strip: bool,
    /// Number of threads [default: one per core].
    #[arg(long, value_name = "N", default_value_t = 0, hide_default_value = true)]
    threads: usize,
    /// Also write the gain map of the picture, if it has one, to this file, as it came: usually a JPEG.
    #[arg(long, value_name = "FILE", conflicts_with = "recursive")]
    gain_map: Option<PathBuf>,
    /// Decode whatever a file claims, as long as there is memory; for files of your own. Without it large pictures in very few
    /// bytes are refused.
    #[arg(long)]
    trust: bool,
    /// Refuse pictures with more megapixels than this.
    #[arg(long, value_name = "MP")]
    max_megapixels: Option<u32>,
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
/// When a file cannot be read, decoded or written; with `--partial` also when tiles were lost. Of several files the
/// others are still done.
pub fn run(args: &DecodeArgs) -> Result<()> {
    if args.folders.recursive {
        return run_recursive(args);
    }
    batch::check_folder(&args.inputs, args.output.as_deref())?;
    batch::for_each(
        &args.inputs,
        |input| output_path(args, input),
        |input, output| {
            args.overwrite.check(output, [input])?;
            let force = args.overwrite.force();
            let decoding = Decoding::new(&args.settings, args.settings.threads, true);
            decoding.decode(input, output, force).map(drop)
        },
    )
}

/// Works through folders; each file takes one thread unless asked otherwise.
fn run_recursive(args: &DecodeArgs) -> Result<()> {
    let settings = &args.settings;
    let ending = settings.format.as_deref().unwrap_or(DEFAULT_FORMAT);
    let mut plan = Plan::new(Wanted {
        inputs: &[EXTENSION],
        output: ending.to_owned(),
        verb: "decoded",
        shrinks: false,
    });
    plan.add_folders(&args.inputs, args.output.as_deref())?;
    plan.keep_shard(args.folders.shard, &args.inputs);
    let replacing = Replacing {
        force: args.overwrite.force(),
        stale: Stale::Keep,
    };
    let decoding = Decoding::new(settings, settings.threads.max(1), false);
    let decode = |task: &Task| {
        let sizes = decoding.decode(&task.input, &task.output, replacing.force)?;
        Ok(Done::silent(sizes))
    };
    archive::process(plan, &args.folders, replacing, decode)
}

/// Writes a picture that is open already, whole, in the format that the name of the output or `format` says.
pub(crate) fn write_picture(
    coded: &CodedPicture<'_>,
    output: &Path,
    format: &str,
    force: bool,
) -> Result<()> {
    let format = OutputFormat::choose(Some(format), output)?;
    coded.check()?;
    let metadata = coded.metadata()?;
    let bands = bands(coded, coded.rect(), keeps_rows(format.image_format()))?;
    let out = Output::create(output, force)?;
    let options = PageOptions {
        quality: None,
        max_side: None,
    };
    let mut page = Page::new(&out, &format, coded.info(), metadata, options)?;
    for band in bands {
        page.push(band?.intact()?)?;
    }
    note_losses(&page.finish()?);
    out.commit()
}

/// `photo.tsr` becomes `photo.png` beside it or in the output folder; standard input goes to standard output.
fn output_path(args: &DecodeArgs, input: &Path) -> Result<PathBuf> {
    let ending = args.settings.format.as_deref().unwrap_or(DEFAULT_FORMAT);
    files::output_for(input, args.output.as_deref(), ending)
}

/// Files to other files, with everything decided but their names.
struct Decoding<'a> {
    settings: &'a DecodeSettings,
    threads: usize,
    /// Whether the progress of a single picture is shown.
    bar: bool,
}

impl<'a> Decoding<'a> {
    fn new(settings: &'a DecodeSettings, threads: usize, bar: bool) -> Self {
        Self {
            settings,
            threads,
            bar,
        }
    }

    /// Decodes one file; says how large both are.
    fn decode(&self, input: &Path, output: &Path, force: bool) -> Result<Sizes> {
        let format = OutputFormat::choose(self.settings.format.as_deref(), output)?;
        format.check_quality(self.settings.quality)?;
        let file = Input::open(input)?;
        let named = || input.display().to_string();
        if let Some(preview) = self.preview(&file).with_context(named)? {
            self.write_preview(preview, &format, output, force)?;
            return Ok(sizes(&file, output));
        }
        let decoder = self.decoder(&file).with_context(named)?;
        let coded = decoder.parse(file.source()).with_context(named)?;
        let mut damage = Damage::default();
        let metadata = self.check(&coded, &mut damage).with_context(named)?;
        self.write_gain_map(&metadata, force)?;
        let part = match self.settings.region {
            Some(Region(rect)) => rect,
            None => coded.rect(),
        };
        let bar = PixelBar::new("decoding", part.area(), self.bar);
        let coded = coded.on_tile(bar.on_tile());
        let whole = self.max_side().is_none() && keeps_rows(format.image_format());
        let bands = bands(&coded, part, whole).with_context(named)?;
        let info = PictureInfo::new(part.width, part.height, coded.header().format)?;
        let out = Output::create(output, force)?;
        let mut page = self.page(&format, info, metadata, &out)?;
        for band in bands {
            let mut band = band.with_context(named)?;
            if self.settings.partial {
                damage.tiles.append(&mut band.damaged);
            }
            page.push(band.intact().with_context(named)?)?;
        }
        note_losses(&page.finish()?);
        out.commit()?;
        bar.finish();
        verbosity::detail(format_args!(
            "{} -> {}: {part} of {}, dictionary {}",
            input.display(),
            output.display(),
            coded.rect(),
            coded.header().dictionary,
        ));
        damage.report()?;
        Ok(sizes(&file, output))
    }

    /// The preview if it is to be written and there is one, with what says how its colours are meant.
    fn preview(&self, file: &Input<'_>) -> Result<Option<Picture>> {
        if !self.settings.preview {
            return Ok(None);
        }
        let decoder = Decoder::new().threads(self.threads);
        let mut preview = decoder.preview(file.source())?;
        if let Some(preview) = &mut preview
            && !self.settings.strip
        {
            // Of a file that is not all here, or damaged behind the preview, there is none.
            let coded = decoder.parse(file.source());
            preview.metadata = coded.and_then(|coded| coded.metadata()).unwrap_or_default();
        }
        Ok(preview)
    }

    fn write_preview(
        &self,
        mut preview: Picture,
        format: &OutputFormat,
        output: &Path,
        force: bool,
    ) -> Result<()> {
        let out = Output::create(output, force)?;
        let metadata = std::mem::take(&mut preview.metadata);
        let mut page = self.page(format, PictureInfo::from(&preview), metadata, &out)?;
        page.push(preview)?;
        note_losses(&page.finish()?);
        out.commit()
    }

    /// Writes the gain map where it is wanted. It is no part of the output then, and its loss needs no word.
    fn write_gain_map(&self, metadata: &Metadata, force: bool) -> Result<()> {
        let (Some(path), map) = (&self.settings.gain_map, &metadata.gain_map) else {
            return Ok(());
        };
        let map = map.as_ref().context("the picture has no gain map")?;
        files::write_output(path, map.picture(), force)?;
        verbosity::note(format_args!(
            "tessera: note: the gain map lies on the picture by EXIF orientation {}",
            map.orientation()
        ));
        Ok(())
    }

    /// The longest side that is written.
    fn max_side(&self) -> Option<u32> {
        let preview = self.settings.preview.then_some(MAX_PREVIEW_SIDE);
        self.settings.max_side.or(preview)
    }

    /// Where the rows of a picture go.
    fn page<'o>(
        &self,
        format: &OutputFormat,
        info: PictureInfo,
        metadata: Metadata,
        out: &'o Output<'o>,
    ) -> Result<Page<'o>> {
        let options = PageOptions {
            quality: self.settings.quality,
            max_side: self.max_side(),
        };
        Page::new(out, format, info, metadata, options)
    }

    fn decoder(&self, file: &Input<'_>) -> Result<Decoder> {
        let mut limits = match self.settings.trust {
            true => Limits::none(),
            false => Limits::default(),
        };
        if let Some(megapixels) = self.settings.max_megapixels {
            limits.pixels = u64::from(megapixels) * 1_000_000;
        }
        let decoder = Decoder::new().limits(limits).threads(self.threads);
        pictures::decoder_of(file.source(), decoder, self.settings.dict.as_deref())
    }

    /// Looks at everything but the pixels, so that damage is found before anything is decoded, and
    /// returns the metadata to write. Of a region only its own tiles matter.
    fn check(&self, coded: &CodedPicture<'_>, damage: &mut Damage) -> Result<Metadata, Error> {
        let settings = self.settings;
        if !settings.partial && settings.region.is_none() {
            coded.check()?;
        }
        let metadata = match coded.metadata() {
            Err(error) if settings.partial => {
                damage.metadata = Some(error);
                Metadata::default()
            }
            metadata => metadata?,
        };
        Ok(match settings.strip {
            true => Metadata::default(),
            false => metadata,
        })
    }
}

fn sizes(file: &Input<'_>, output: &Path) -> Sizes {
    Sizes {
        before: file.len() as u64,
        after: fs::metadata(output).map_or(0, |written| written.len()),
    }
}

/// The rows to write: `whole` at once, or band by band.
fn bands<'c>(
    coded: &'c CodedPicture<'_>,
    part: Rect,
    whole: bool,
) -> Result<Box<dyn Iterator<Item = Result<Band, Error>> + 'c>, Error> {
    let bands = coded.bands(part)?;
    if whole {
        let decode = move || coded.decode_band(part);
        return Ok(Box::new(std::iter::once_with(decode)));
    }
    Ok(Box::new(bands))
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
            "{count} tiles could not be decoded and are gray in the output, but for rows that are there of one that was cut"
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

//! `tessera info`: what files hold and whether they are intact, without decoding them; and a map of how a picture is coded.

mod map;
mod pack;

use crate::exit::{self, Told, Usage};
use crate::overwrite::OverwriteArgs;
use crate::{files, packs, pictures};
use anyhow::{Context, Result, anyhow};
use clap::Args;
use serde::Serialize;
use std::path::{Path, PathBuf};
use tessera_codec::{
    Colour, Container, Decoder, DictId, Error, FormatError, Header, Integrity, MetadataKind,
    Quality, Source, Tune,
};

const EXIT_CODES: &str = "\
Exit codes: 0 if all files are intact; of several files that are not, the code they share, else 6.
  3  a file is damaged, too short, or neither a .tsr file nor a pack
  4  a file cannot be checked: it has a short name of a dictionary that is not here
  1  a file cannot be read";

/// Arguments of `tessera info`.
#[derive(Debug, Args)]
#[command(after_help = EXIT_CODES)]
pub struct InfoArgs {
    /// The files to look at; - reads standard input.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// Print JSON for machines: one object, or of several files a list of them.
    #[arg(long)]
    json: bool,
    /// Draw how a picture is coded over it: patches, their directions, and which are levels of a basis (blue) or one free
    /// atom (orange). An SVG; of one file.
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    map: Option<PathBuf>,
    /// The dictionary of the file whose map is drawn: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID", requires = "map")]
    dict: Option<PathBuf>,
    #[command(flatten)]
    overwrite: OverwriteArgs,
}

/// What is told of a file.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Looked {
    Picture(Box<Report>),
    Pack(pack::Report),
}

/// Everything `info` reports of a picture; the names are those of the JSON output.
#[derive(Debug, Serialize)]
struct Report {
    file: String,
    intact: bool,
    /// Why nobody can tell: a short name of a dictionary that is not here.
    unchecked: Option<String>,
    too_short: TooShort,
    version: u8,
    width: u32,
    height: u32,
    colour: &'static str,
    alpha: bool,
    bits_per_sample: u32,
    dictionary: String,
    /// Of the quality scale, nearest to the quantiser.
    quality: u8,
    quantiser: u8,
    chroma_offsets: [i8; 2],
    /// Whether blocks have quantisers of their own.
    adaptive: bool,
    /// Whether blocks of graphics are drawn pixel by pixel.
    graphics: bool,
    /// Curves of the frequency weights of luma and chroma, see `spec/bitstream.md`.
    weights: [[i8; 3]; 2],
    alpha_quantiser: Option<u8>,
    /// How far samples may be off in a lossless (0) or nearly lossless file.
    lossless: Option<u8>,
    bytes: usize,
    bits_per_pixel: f64,
    tile_columns: u32,
    tile_rows: u32,
    decode_work: u64,
    preview: Option<Preview>,
    preview_error: Option<String>,
    /// Colour primaries, transfer characteristics, matrix and range by ITU-T H.273.
    cicp: Option<[u8; 4]>,
    metadata: Vec<Block>,
    metadata_error: Option<String>,
    damaged_tiles: Vec<String>,
    truncated_or_extended: Option<String>,
}

/// The small picture in front.
#[derive(Debug, Serialize)]
struct Preview {
    width: u32,
    height: u32,
    bytes: usize,
}

impl Preview {
    fn of(container: &Container<'_>) -> Result<Option<Self>, Error> {
        let Some(file) = container.preview()? else {
            return Ok(None);
        };
        let nested = Decoder::new().parse(&file[..])?;
        Ok(Some(Self {
            width: nested.header().width,
            height: nested.header().height,
            bytes: file.len(),
        }))
    }
}

/// One block of metadata.
#[derive(Debug, Serialize)]
struct Block {
    kind: &'static str,
    bytes: usize,
}

/// What is said of a file that nothing can be said about.
#[derive(Debug, Serialize)]
struct Unreadable {
    file: String,
    intact: bool,
    error: String,
}

/// Runs the command.
///
/// # Errors
/// When a file cannot be read or anything in it is damaged; the report is printed all the same.
pub fn run(args: &InfoArgs) -> Result<()> {
    if let Some(output) = &args.map {
        return write_map(args, output);
    }
    let looked_at: Vec<_> = (args.inputs.iter())
        .map(|path| (path.as_path(), look_at(path)))
        .collect();
    let text = match args.json {
        true => json_of(&looked_at)?,
        false => text_of(&looked_at),
    };
    files::print_report(&text)?;
    verdict(looked_at)
}

/// Writes the map of a file and tells what it shows.
fn write_map(args: &InfoArgs, output: &Path) -> Result<()> {
    let [input] = &args.inputs[..] else {
        return Err(Usage("a map is drawn of one file".into()).into());
    };
    if packs::is_pack(input) {
        return Err(Usage(format!(
            "{} is a pack; a map is drawn of one picture: `tessera unpack --tsr` gives those of a pack",
            input.display()
        ))
        .into());
    }
    map::check(output)?;
    args.overwrite.check(output, [input.as_path()])?;
    let (svg, counts) = map::draw(input, args.dict.as_deref())?;
    files::write_output(output, svg.as_bytes(), args.overwrite.force())?;
    files::print_report(&counts)
}

/// What is told of one file, damage included.
///
/// # Errors
/// When it cannot be read, or is neither a .tsr file nor a pack.
pub(crate) fn text(path: &Path) -> Result<String> {
    look_at(path).map(|looked| looked.to_text())
}

fn look_at(path: &Path) -> Result<Looked> {
    if packs::is_pack(path) {
        return pack::Report::new(path).map(Looked::Pack);
    }
    let named = || path.display().to_string();
    let file = files::Input::open(path)?;
    let container = Decoder::new().parse(file.source()).with_context(named)?;
    let mut report = Report::new(path, &container, file.source());
    if matches!(container.header().dictionary, DictId::Prefix(_)) {
        // Its checksums cover the whole name of the dictionary, which the dictionary alone can tell.
        match pictures::decoder_of(file.source(), Decoder::new(), None) {
            Ok(decoder) => {
                let container = decoder.parse(file.source()).with_context(named)?;
                report = Report::new(path, &container, file.source());
            }
            Err(error) => report.unchecked(&error),
        }
    }
    Ok(Looked::Picture(Box::new(report)))
}

impl Looked {
    fn to_text(&self) -> String {
        match self {
            Self::Picture(report) => report.to_text(),
            Self::Pack(report) => report.to_text(),
        }
    }

    /// An error unless all is well.
    fn verdict(&self, path: &Path) -> Result<()> {
        let (code, state) = match self {
            Self::Picture(report) if report.unchecked.is_some() => {
                (exit::DICTIONARY, report.state())
            }
            Self::Picture(report) if !report.intact => (exit::DAMAGED, report.state()),
            Self::Pack(report) if !report.intact => (exit::DAMAGED, report.state()),
            _ => return Ok(()),
        };
        let message = format!("{} is {state}", path.display());
        Err(anyhow!(Told { code, message }))
    }
}

fn json_of(looked_at: &[(&Path, Result<Looked>)]) -> Result<String> {
    let one = |(path, looked): &(&Path, Result<Looked>)| match looked {
        Ok(report) => serde_json::to_value(report),
        Err(error) => serde_json::to_value(Unreadable {
            file: path.display().to_string(),
            intact: false,
            error: exit::message(error),
        }),
    };
    let reports = looked_at.iter().map(one).collect::<Result<Vec<_>, _>>()?;
    let text = match reports.as_slice() {
        [report] => serde_json::to_string_pretty(report)?,
        reports => serde_json::to_string_pretty(reports)?,
    };
    Ok(text + "\n")
}

/// What could be read; the rest is told as errors.
fn text_of(looked_at: &[(&Path, Result<Looked>)]) -> String {
    let several = looked_at.len() > 1;
    let readable = looked_at
        .iter()
        .filter_map(|(path, looked)| Some((path, looked.as_ref().ok()?)));
    let texts: Vec<String> = readable
        .map(|(path, looked)| match several {
            true => format!("{}\n{}", path.display(), looked.to_text()),
            false => looked.to_text(),
        })
        .collect();
    texts.join("\n")
}

/// The error of a single file; of several each is told, and the exit code is the one they share.
fn verdict(looked_at: Vec<(&Path, Result<Looked>)>) -> Result<()> {
    let total = looked_at.len();
    let judged = |(path, looked): (&Path, Result<Looked>)| looked.and_then(|r| r.verdict(path));
    let mut errors: Vec<_> = looked_at
        .into_iter()
        .filter_map(|looked| judged(looked).err())
        .collect();
    if total == 1 {
        return errors.pop().map_or(Ok(()), Err);
    }
    for error in &errors {
        eprintln!("tessera: {}", exit::message(error));
    }
    let mut codes: Vec<u8> = errors.iter().map(exit::code).collect();
    codes.dedup();
    let code = match codes.as_slice() {
        [] => return Ok(()),
        [shared] => *shared,
        _ => exit::INCOMPLETE,
    };
    let message = format!("{} of {total} files are not intact", errors.len());
    Err(anyhow!(Told { code, message }))
}

/// How sure it is that the end of a file is missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum TooShort {
    No,
    /// The coded data runs out: it is cut off, or a damaged byte leads astray.
    Maybe,
    Yes,
}

impl TooShort {
    /// A picture of one tile does not state its length; only the coded data itself can tell by running out.
    fn of(container: &Container<'_>, source: Source<'_>) -> Self {
        match container.check_end() {
            Err(Error::Format(FormatError::Truncated { .. })) => Self::Yes,
            Err(_) => Self::No,
            Ok(()) => {
                let damaged = container.grid().count() == 1 && container.tile(0).is_err();
                match damaged && runs_out(source).unwrap_or(false) {
                    true => Self::Maybe,
                    false => Self::No,
                }
            }
        }
    }
}

/// Whether the only tile of a file wants more data than there is.
fn runs_out(source: Source<'_>) -> Result<bool> {
    let trusting = Decoder::new().integrity(Integrity::Ignored);
    let decoder = pictures::decoder_of(source.clone(), trusting, None)?;
    let coded = decoder.parse(source)?;
    let band = coded.decode_band(coded.rect())?;
    Ok(!band.damaged.is_empty())
}

impl Report {
    fn new(path: &Path, container: &Container<'_>, source: Source<'_>) -> Self {
        let bytes = container.file_len();
        let header = container.header();
        let grid = container.grid();
        let preview = Preview::of(container);
        let metadata = container.metadata();
        let pixels = f64::from(header.width) * f64::from(header.height);
        let tile_error = |index| container.tile(index).err().map(|error| error.to_string());
        let mut report = Self {
            file: path.display().to_string(),
            intact: false,
            unchecked: None,
            too_short: TooShort::of(container, source),
            version: Header::FORMAT_VERSION,
            width: header.width,
            height: header.height,
            colour: match header.format.colour {
                Colour::Gray => "gray",
                Colour::Rgb => "rgb",
            },
            alpha: header.format.alpha,
            bits_per_sample: header.format.depth.bits(),
            dictionary: header.dictionary.to_string(),
            quality: nearest_quality(header),
            quantiser: header.quantiser,
            chroma_offsets: header.chroma_offsets,
            adaptive: header.adaptive,
            graphics: header.graphics,
            weights: header.weights.map(|curve| curve.0),
            alpha_quantiser: header.alpha_quantiser,
            lossless: header.lossless,
            bytes,
            bits_per_pixel: bytes as f64 * 8.0 / pixels,
            tile_columns: grid.columns(),
            tile_rows: grid.rows(),
            decode_work: header.work(),
            cicp: (metadata.as_ref().ok())
                .and_then(|metadata| metadata.cicp)
                .map(|cicp| *cicp.as_bytes()),
            preview_error: preview.as_ref().err().map(ToString::to_string),
            preview: preview.unwrap_or_default(),
            metadata_error: metadata.as_ref().err().map(ToString::to_string),
            metadata: metadata.map_or_else(
                |_| Vec::new(),
                |metadata| metadata.iter().map(Block::new).collect(),
            ),
            damaged_tiles: (0..grid.count()).filter_map(tile_error).collect(),
            truncated_or_extended: container.check_end().err().map(|error| error.to_string()),
        };
        let damaged = report.damage().count() > 0;
        report.intact = !damaged;
        report
    }

    /// Says that nobody knows whether it is intact, and why.
    fn unchecked(&mut self, why: &anyhow::Error) {
        self.unchecked = Some(exit::message(why));
        self.damaged_tiles.clear();
        self.intact = false;
    }

    fn state(&self) -> String {
        if let Some(why) = &self.unchecked {
            return format!("not checked: {why}");
        }
        let state = match (self.intact, self.too_short) {
            (true, _) => "intact",
            (_, TooShort::Yes) => "too short: its end is missing; fetch it again",
            (_, TooShort::Maybe) => {
                "too short, or damaged inside: the coded data ends before the picture does; fetch it again"
            }
            (_, TooShort::No) => "damaged; fetch it again",
        };
        state.to_owned()
    }

    fn to_text(&self) -> String {
        let alpha = if self.alpha { " with alpha" } else { "" };
        let mut lines = vec![
            format!("state       {}", self.state()),
            format!("size        {} x {} pixels", self.width, self.height),
            format!(
                "samples     {}{alpha}, {} bits",
                self.colour, self.bits_per_sample
            ),
            format!(
                "file        {} bytes, {:.3} bits per pixel, format version {}",
                self.bytes, self.bits_per_pixel, self.version
            ),
            format!("quality     {}", self.quality_text()),
            format!("dictionary  {}", self.dictionary_text()),
            format!("tiles       {} x {}", self.tile_columns, self.tile_rows),
            format!("decode work {} units at most", self.decode_work),
        ];
        if let Some(preview) = &self.preview {
            lines.push(format!(
                "preview     {} x {} pixels, {} bytes",
                preview.width, preview.height, preview.bytes
            ));
        }
        if let Some([primaries, transfer, matrix, range]) = self.cicp {
            lines.push(format!(
                "colour      code points {primaries}/{transfer}/{matrix}/{range}{}",
                match transfer {
                    16 => " (PQ)",
                    18 => " (HLG)",
                    _ => "",
                }
            ));
        }
        for block in &self.metadata {
            lines.push(format!("metadata    {}, {} bytes", block.kind, block.bytes));
        }
        lines.extend(self.damage().map(|error| format!("damage      {error}")));
        lines.join("\n") + "\n"
    }

    fn quality_text(&self) -> String {
        match self.lossless {
            Some(0) => "lossless".to_owned(),
            Some(near) => format!("nearly lossless, samples at most {near} off"),
            None => format!(
                "as of usual photos at {}, quantiser {}",
                self.quality,
                self.quantiser_text()
            ),
        }
    }

    fn dictionary_text(&self) -> &str {
        match self.lossless {
            Some(_) if self.dictionary == DictId::Builtin(0).to_string() => "none needed",
            _ => &self.dictionary,
        }
    }

    fn quantiser_text(&self) -> String {
        let mut text = self.quantiser.to_string();
        if self.chroma_offsets != [0; 2] {
            let [cb, cr] = self.chroma_offsets;
            text += &format!(", Cb {cb:+}, Cr {cr:+}");
        }
        if self.adaptive {
            text += ", adapted to what is seen";
        }
        if self.graphics {
            text += ", graphics drawn";
        }
        if let Some(alpha) = self.alpha_quantiser {
            text += &format!(", alpha {alpha}");
        }
        text
    }

    fn damage(&self) -> impl Iterator<Item = &String> {
        self.metadata_error
            .iter()
            .chain(&self.preview_error)
            .chain(&self.truncated_or_extended)
            .chain(&self.damaged_tiles)
    }
}

/// The quality whose usual quantiser is nearest; of several the highest. The picture itself may have moved it.
fn nearest_quality(header: &Header) -> u8 {
    let tune = match header.adaptive {
        true => Tune::Visual,
        false => Tune::Psnr,
    };
    let qualities = (0..=100).rev().filter_map(|q| Quality::new(q).ok());
    let nearest =
        qualities.min_by_key(|quality| quality.quantiser(tune).abs_diff(header.quantiser));
    nearest.map_or(0, Quality::value)
}

impl Block {
    fn new((kind, bytes): (MetadataKind, &[u8])) -> Self {
        Self {
            kind: kind.name(),
            bytes: bytes.len(),
        }
    }
}

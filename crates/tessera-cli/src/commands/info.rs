//! `tessera info`: what a file holds, without decoding it.

use crate::files;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;
use tessera_codec::container::{Container, VERSION};
use tessera_codec::{Colour, Decoder, MetadataKind};

/// Arguments of `tessera info`.
#[derive(Debug, Args)]
pub struct InfoArgs {
    /// The file to look at; - reads standard input.
    input: PathBuf,
    /// Print JSON for machines.
    #[arg(long)]
    json: bool,
}

/// Everything `info` reports; the names are those of the JSON output.
#[derive(Debug, Serialize)]
struct Report {
    version: u8,
    width: u32,
    height: u32,
    colour: &'static str,
    alpha: bool,
    bits_per_sample: u32,
    dictionary: String,
    quantiser: u8,
    chroma_offset: i8,
    alpha_quantiser: Option<u8>,
    bytes: usize,
    bits_per_pixel: f64,
    tile_columns: u32,
    tile_rows: u32,
    decode_work: u64,
    metadata: Vec<Block>,
    metadata_error: Option<String>,
    damaged_tiles: Vec<String>,
    truncated_or_extended: Option<String>,
}

/// One block of metadata.
#[derive(Debug, Serialize)]
struct Block {
    kind: &'static str,
    bytes: usize,
}

/// Runs the command.
///
/// # Errors
/// When the file cannot be read or its header is damaged; damage behind the header is part of
/// the report.
pub fn run(args: &InfoArgs) -> Result<()> {
    let file = files::Input::open(&args.input)?;
    let container = Decoder::new()
        .open(file.source())
        .with_context(|| args.input.display().to_string())?;
    let report = Report::new(&container);
    let text = if args.json {
        serde_json::to_string_pretty(&report)? + "\n"
    } else {
        report.to_text()
    };
    files::write_output(files::STANDARD_STREAM.as_ref(), text.as_bytes(), false)
}

impl Report {
    fn new(container: &Container<'_>) -> Self {
        let bytes = container.file_len();
        let header = container.header();
        let grid = container.grid();
        let metadata = container.metadata();
        let pixels = f64::from(header.width) * f64::from(header.height);
        let tile_error = |index| container.tile(index).err().map(|error| error.to_string());
        Self {
            version: VERSION,
            width: header.width,
            height: header.height,
            colour: match header.format.colour {
                Colour::Gray => "gray",
                Colour::Rgb => "rgb",
            },
            alpha: header.format.alpha,
            bits_per_sample: header.format.depth.bits(),
            dictionary: header.dictionary.to_string(),
            quantiser: header.quantiser,
            chroma_offset: header.chroma_offset,
            alpha_quantiser: header.alpha_quantiser,
            bytes,
            bits_per_pixel: bytes as f64 * 8.0 / pixels,
            tile_columns: grid.columns(),
            tile_rows: grid.rows(),
            decode_work: header.work(),
            metadata_error: metadata.as_ref().err().map(ToString::to_string),
            metadata: metadata.map_or_else(
                |_| Vec::new(),
                |metadata| metadata.iter().map(Block::new).collect(),
            ),
            damaged_tiles: (0..grid.count()).filter_map(tile_error).collect(),
            truncated_or_extended: container.check_end().err().map(|error| error.to_string()),
        }
    }

    fn to_text(&self) -> String {
        let alpha = if self.alpha { " with alpha" } else { "" };
        let mut lines = vec![
            format!("size        {} x {} pixels", self.width, self.height),
            format!(
                "samples     {}{alpha}, {} bits",
                self.colour, self.bits_per_sample
            ),
            format!(
                "file        {} bytes, {:.3} bits per pixel, format version {}",
                self.bytes, self.bits_per_pixel, self.version
            ),
            format!("quantiser   {}", self.quantiser_text()),
            format!("dictionary  {}", self.dictionary),
            format!("tiles       {} x {}", self.tile_columns, self.tile_rows),
            format!("decode work {} units at most", self.decode_work),
        ];
        for block in &self.metadata {
            lines.push(format!("metadata    {}, {} bytes", block.kind, block.bytes));
        }
        lines.extend(self.damage().map(|error| format!("damage      {error}")));
        lines.join("\n") + "\n"
    }

    fn quantiser_text(&self) -> String {
        let mut text = self.quantiser.to_string();
        if self.chroma_offset != 0 {
            text += &format!(", chroma {:+}", self.chroma_offset);
        }
        if let Some(alpha) = self.alpha_quantiser {
            text += &format!(", alpha {alpha}");
        }
        text
    }

    fn damage(&self) -> impl Iterator<Item = &String> {
        self.metadata_error
            .iter()
            .chain(&self.truncated_or_extended)
            .chain(&self.damaged_tiles)
    }
}

impl Block {
    fn new((kind, bytes): (MetadataKind, &[u8])) -> Self {
        Self {
            kind: kind.name(),
            bytes: bytes.len(),
        }
    }
}

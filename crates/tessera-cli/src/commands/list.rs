//! `tessera list`: the pictures of a pack.

use crate::files::print_report;
use anyhow::{Context, Result};
use clap::Args;
use std::fs::File;
use std::path::PathBuf;
use tessera_codec::Decoder;
use tessera_pack::PackReader;

/// Arguments of `tessera list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// The pack (.tsp).
    pack: PathBuf,
    /// Print the names alone.
    #[arg(long)]
    names: bool,
}

/// Runs the command.
///
/// # Errors
/// If the pack cannot be read.
pub fn run(args: &ListArgs) -> Result<()> {
    let named = || args.pack.display().to_string();
    let file = File::open(&args.pack).with_context(named)?;
    let pack = PackReader::open(file).with_context(named)?;
    let mut text = String::new();
    for entry in pack.entries() {
        if args.names {
            text += &format!("{}\n", entry.name);
            continue;
        }
        let coded = pack.picture(entry.name, Decoder::new());
        let sides = coded.map(|coded| {
            let header = coded.header();
            format!("{}x{}", header.width, header.height)
        });
        let sides = sides.unwrap_or_else(|_| "damaged".into());
        text += &format!("{:>9}  {sides:>11}  {}\n", entry.bytes, entry.name);
    }
    print_report(&text)
}

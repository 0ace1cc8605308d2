//! `tessera list`: the pictures of a pack.

use crate::files::print_report;
use crate::packs;
use anyhow::Result;
use clap::Args;
use std::path::PathBuf;
use tessera_codec::Decoder;

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
    let pack = packs::open(&args.pack)?;
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

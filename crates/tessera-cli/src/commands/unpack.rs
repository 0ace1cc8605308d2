//! `tessera unpack`: pictures out of a pack.

use crate::commands::decode::{DEFAULT_FORMAT, write_picture};
use crate::commands::encode;
use crate::exit::{Incomplete, Usage};
use crate::files::{check_output, write_output};
use crate::{exit, packs, verbosity};
use anyhow::{Context, Result, bail};
use clap::Args;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use tessera_codec::{Decoder, Dictionary};
use tessera_dict::store;
use tessera_pack::PackReader;

/// Arguments of `tessera unpack`.
#[derive(Debug, Args)]
pub struct UnpackArgs {
    /// The pack (.tsp).
    pack: PathBuf,
    /// Names of pictures, or folders in the pack [default: all].
    names: Vec<String>,
    /// The folder to write to; it is made if need be.
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// Output format (png, jpg, webp, ppm, pgm, pam, tiff, bmp).
    #[arg(long, default_value = DEFAULT_FORMAT, conflicts_with = "tsr")]
    format: String,
    /// Write the coded pictures as .tsr files, and their dictionaries beside them: that of the pack, and one for every
    /// picture that others are predicted from.
    #[arg(long)]
    tsr: bool,
    /// Replace files that exist.
    #[arg(short, long)]
    force: bool,
}

/// Runs the command.
///
/// # Errors
/// If the pack cannot be read; of several pictures those that can be decoded are still written.
pub fn run(args: &UnpackArgs) -> Result<()> {
    let named = || args.pack.display().to_string();
    let pack = packs::open(&args.pack)?;
    let names = chosen(&pack, &args.names)?;
    // One thread meets the dictionary first, so that the others need not read it too.
    let dictionary = pack.dictionary_file().with_context(named)?;
    pack.dictionary().with_context(named)?;
    make_folder(&args.output)?;
    if let (true, Some(file)) = (args.tsr, dictionary) {
        let path = args.output.join(format!("dictionary.{}", store::EXTENSION));
        check_output(&path, args.force)?;
        write_output(&path, &file, args.force)?;
    }
    if args.tsr {
        write_predicting(args, &pack, &names)?;
    }
    let failed = names
        .par_iter()
        .filter(|name| match unpack(args, &pack, name) {
            Ok(()) => false,
            Err(error) => {
                eprintln!("tessera: {}", exit::message(&error));
                true
            }
        });
    match failed.count() {
        0 => {
            verbosity::note(format_args!(
                "{} pictures in {}",
                names.len(),
                args.output.display()
            ));
            Ok(())
        }
        count => bail!(Incomplete(format!(
            "{count} of {} pictures could not be unpacked",
            names.len()
        ))),
    }
}

/// Writes the dictionaries of pictures that are predicted from others, named like these.
fn write_predicting(args: &UnpackArgs, pack: &PackReader<File>, names: &[String]) -> Result<()> {
    let asked = |name: &str| names.iter().any(|asked| asked == name);
    let predicted: BTreeMap<&str, &str> = pack
        .entries()
        .filter(|entry| asked(entry.name))
        .filter_map(|entry| Some((entry.key?, entry.name)))
        .collect();
    for (key, name) in predicted {
        let named = || format!("{name} in {}", args.pack.display());
        let Some(dictionary) = pack.dictionary_of(name).with_context(named)? else {
            continue;
        };
        let path = args.output.join(format!("{key}.{}", store::EXTENSION));
        make_folder(path.parent().unwrap_or(&args.output))?;
        check_output(&path, args.force)?;
        let file = dictionary.to_difference(Dictionary::builtin());
        write_output(&path, &file, args.force)?;
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))
}

/// The names asked for; a folder stands for all pictures below it.
fn chosen(pack: &PackReader<File>, asked: &[String]) -> Result<Vec<String>> {
    if asked.is_empty() {
        return Ok(pack.names().map(str::to_owned).collect());
    }
    let mut names = Vec::new();
    for wanted in asked {
        let folder = format!("{}/", wanted.trim_end_matches('/'));
        let before = names.len();
        let matching = pack
            .names()
            .filter(|name| name == wanted || name.starts_with(&folder));
        names.extend(matching.map(str::to_owned));
        if names.len() == before {
            bail!(Usage(
                tessera_pack::Error::NoSuchPicture(wanted.clone()).to_string()
            ));
        }
    }
    names.sort();
    names.dedup();
    Ok(names)
}

fn unpack(args: &UnpackArgs, pack: &PackReader<File>, name: &str) -> Result<()> {
    let ending = if args.tsr {
        encode::EXTENSION
    } else {
        &args.format
    };
    let output = args.output.join(format!("{name}.{ending}"));
    make_folder(output.parent().unwrap_or(Path::new(".")))?;
    check_output(&output, args.force)?;
    let named = || format!("{} in {}", name, args.pack.display());
    if args.tsr {
        let file = pack.file(name).with_context(named)?;
        return write_output(&output, &file, args.force);
    }
    let coded = pack
        .picture(name, Decoder::new().threads(1))
        .with_context(named)?;
    write_picture(&coded, &output, &args.format, args.force).with_context(named)
}

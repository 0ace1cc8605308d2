//! `tessera dict`: looking into dictionaries.

use crate::files::{check_output, write_output};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use faer::Mat;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use tessera_eval::mosaic::mosaic_png;

/// Works with dictionary files.
#[derive(Debug, Args)]
pub struct DictArgs {
    #[command(subcommand)]
    command: DictCommand,
}

#[derive(Debug, Subcommand)]
enum DictCommand {
    /// Draws the atoms of a dictionary as a mosaic.
    Show(ShowArgs),
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The dictionary: a NumPy matrix (.npy) with one atom per column.
    file: PathBuf,
    /// The picture to write.
    #[arg(short, long, value_name = "OUT.png")]
    output: PathBuf,
    /// Overwrites an existing picture.
    #[arg(long)]
    force: bool,
}

/// Runs the command.
///
/// # Errors
/// If the dictionary cannot be read or drawn, or the picture exists already.
pub fn run(args: &DictArgs) -> Result<()> {
    match &args.command {
        DictCommand::Show(args) => show(args),
    }
}

fn show(args: &ShowArgs) -> Result<()> {
    check_output(&args.output, args.force)?;
    let atoms = load_atoms(&args.file)?;
    let png = mosaic_png(atoms.as_ref())
        .with_context(|| format!("cannot draw {}", args.file.display()))?;
    write_output(&args.output, &png, args.force)
}

/// Reads the atoms of a dictionary file, one per column; one arm per kind of file.
fn load_atoms(path: &Path) -> Result<Mat<f64>> {
    let kind = path
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    match kind {
        "npy" => read_npy(path).with_context(|| format!("cannot read {}", path.display())),
        _ => bail!(
            "{}: not a dictionary file this command knows (.npy)",
            path.display()
        ),
    }
}

fn read_npy(path: &Path) -> Result<Mat<f64>> {
    let file = BufReader::new(File::open(path)?);
    Ok(batchsvd::npy::read_mat(file)?)
}

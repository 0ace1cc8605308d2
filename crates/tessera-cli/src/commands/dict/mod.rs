//! `tessera dict`: looking into dictionaries, keeping them, and measuring what they bring.

mod atoms;
mod info;

use crate::dictionaries;
use crate::exit::Usage;
use crate::files::{check_output, print_report, read_input, write_output};
use crate::progress::waiting;
use crate::threads::with_threads;
use anyhow::{Context, Result, bail};
use atoms::AtomArgs;
use clap::{Args, Subcommand};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use tessera_codec::PreparedDictionary;
use tessera_dict::Dictionary;
use tessera_dict::store::{self, Store};
use tessera_eval::gain;
use tessera_eval::mosaic::mosaic_png;
use tessera_train::Gallery;

/// Works with dictionary files.
#[derive(Debug, Args)]
pub struct DictArgs {
    #[command(subcommand)]
    command: DictCommand,
}

#[derive(Debug, Subcommand)]
enum DictCommand {
    /// Lists the dictionaries of the store.
    List,
    /// Tells what a dictionary holds and where it comes from.
    Info(info::InfoArgs),
    /// Draws the atoms of a dictionary as a mosaic.
    Show(ShowArgs),
    /// Checks that a dictionary file is whole.
    Verify(NamedArgs),
    /// Puts a dictionary into the store, where decoders find it by its identity.
    Install(InstallArgs),
    /// Writes a dictionary as a file (.tsd), or its atoms as a NumPy matrix (.npy).
    Export(ShowArgs),
    /// Measures what a dictionary gains on pictures, beside the default one and other codecs.
    Gain(GainArgs),
}

#[derive(Debug, Args)]
struct NamedArgs {
    /// The dictionary: a file, the start of an identity in the store, or `default`.
    dictionary: PathBuf,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The dictionary: a file (.tsd, or .npy with one atom per column), the start of an identity in the store, or
    /// `default`.
    dictionary: PathBuf,
    /// The file to write.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    atoms: AtomArgs,
    /// Overwrites an existing file.
    #[arg(long)]
    force: bool,
}

#[derive(Debug, Args)]
struct InstallArgs {
    /// The dictionary file.
    file: PathBuf,
}

#[derive(Debug, Args)]
struct GainArgs {
    /// The dictionary: a file, or the start of an identity in the store.
    dictionary: PathBuf,
    /// Folders with pictures (or pictures) that it was not learned from.
    #[arg(required = true)]
    pictures: Vec<PathBuf>,
    /// Most pictures to measure, spread evenly over all that are found.
    #[arg(long, value_name = "COUNT", default_value_t = 24)]
    most: usize,
    /// Number of threads [default: one per core].
    #[arg(long)]
    threads: Option<NonZeroUsize>,
}

/// Runs the command.
///
/// # Errors
/// If a dictionary cannot be read, found or drawn, or the output exists already.
pub fn run(args: &DictArgs) -> Result<()> {
    match &args.command {
        DictCommand::List => list(),
        DictCommand::Info(args) => info::run(args),
        DictCommand::Show(args) => show(args),
        DictCommand::Verify(args) => verify(args),
        DictCommand::Install(args) => install(args),
        DictCommand::Export(args) => export(args),
        DictCommand::Gain(args) => gain(args),
    }
}

fn list() -> Result<()> {
    let store = Store::open();
    let mut text = format!("{:32}  {:>9}  {}\n", "identity", "bytes", "file");
    let builtin = Dictionary::builtin();
    let size = builtin.to_bytes().len();
    text += &format!(
        "{:32}  {size:>9}  built in (default)\n",
        builtin.id().to_string()
    );
    for (path, id) in store.files() {
        let size = std::fs::metadata(&path).map_or(0, |data| data.len());
        text += &format!("{:32}  {size:>9}  {}\n", id.to_string(), path.display());
    }
    text += &format!("searched: {}\n", store.places());
    print_report(&text)
}

fn show(args: &ShowArgs) -> Result<()> {
    check_output(&args.output, args.force)?;
    let atoms = args.atoms.load(&args.dictionary)?;
    let png = mosaic_png(atoms.as_ref())
        .with_context(|| format!("cannot draw {}", args.dictionary.display()))?;
    write_output(&args.output, &png, args.force)
}

fn export(args: &ShowArgs) -> Result<()> {
    check_output(&args.output, args.force)?;
    let ending = args.output.extension().and_then(|ending| ending.to_str());
    let bytes = match ending {
        Some("npy") => {
            let mut bytes = Vec::new();
            let atoms = args.atoms.load(&args.dictionary)?;
            batchsvd::npy::write_mat(atoms.as_ref(), &mut bytes)?;
            bytes
        }
        Some(store::EXTENSION) => dictionaries::load(&args.dictionary)?.to_bytes(),
        _ => bail!(Usage(format!(
            "{}: an export ends in .npy (atoms) or .tsd (the dictionary)",
            args.output.display()
        ))),
    };
    write_output(&args.output, &bytes, args.force)
}

fn verify(args: &NamedArgs) -> Result<()> {
    let (path, bytes, dictionary) = whole(&args.dictionary)?;
    PreparedDictionary::new(&dictionary).with_context(|| path.display().to_string())?;
    print_report(&format!(
        "{}: intact, {} bytes, identity {}\n",
        path.display(),
        bytes.len(),
        dictionary.id()
    ))
}

fn install(args: &InstallArgs) -> Result<()> {
    let (_, bytes, dictionary) = whole(&args.file)?;
    PreparedDictionary::new(&dictionary).with_context(|| args.file.display().to_string())?;
    let Some(folder) = Store::install_folder() else {
        bail!(Usage(
            "there is no user data folder; set XDG_DATA_HOME, or put the file in a folder named by TESSERA_DICT_PATH"
                .into()
        ));
    };
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder {}", folder.display()))?;
    let name = format!("{}.{}", dictionary.id(), store::EXTENSION);
    let target = folder.join(name);
    write_output(&target, &bytes, true)?;
    print_report(&format!("installed as {}\n", target.display()))
}

/// The file of a dictionary and its checked content.
fn whole(spec: &Path) -> Result<(PathBuf, Vec<u8>, Dictionary)> {
    if spec.as_os_str() == dictionaries::DEFAULT && !spec.exists() {
        let builtin = Dictionary::builtin();
        return Ok((spec.to_path_buf(), builtin.to_bytes(), builtin.clone()));
    }
    let path = dictionaries::locate(spec)?;
    let bytes = read_input(&path).context("cannot load the dictionary")?;
    let dictionary = dictionaries::parse(&path, &bytes)?;
    Ok((path, bytes, dictionary))
}

fn gain(args: &GainArgs) -> Result<()> {
    let dictionary = dictionaries::load(&args.dictionary)?;
    let gallery = Gallery::open(&args.pictures).context("looking for pictures")?;
    let (gallery, skipped) = gallery.sampled(args.most).readable();
    for file in &skipped {
        eprintln!("skipped {}: {}", file.file.display(), file.reason);
    }
    if gallery.is_empty() {
        bail!(Usage(
            "there are no readable pictures in what was given; name folders that hold some".into()
        ));
    }
    let bar = waiting("measuring the gain");
    let measured = with_threads(args.threads, || {
        Ok(gain::measure(gallery.files(), dictionary, &|| true)?)
    });
    bar.finish_and_clear();
    print_report(&measured?.to_text())
}

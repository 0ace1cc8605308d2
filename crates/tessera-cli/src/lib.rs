//! The `tessera` command as a library: argument parsing and one module per subcommand.
//!
//! `main.rs` only calls [`run`], so everything here is testable without a process.

mod archive;
mod batch;
pub mod commands;
mod dictionaries;
pub mod exit;
mod files;
mod interrupt;
mod overwrite;
mod packs;
mod pictures;
pub mod progress;
pub mod reader;
pub mod threads;
mod verbosity;

use clap::{Parser, Subcommand};

/// Tessera makes small files of pictures: photos, scans and screenshots become .tsr files and back.
///
/// It is lossy, like JPEG and AVIF. What makes files small is a dictionary that
/// encoder and decoder share: one is built in, and `tessera train` learns one from
/// your own pictures.
///
///     tessera encode photo.jpg        writes photo.tsr
///     tessera decode photo.tsr        writes photo.png
///     tessera info photo.tsr          says what is in it and whether it is intact
#[derive(Debug, Parser)]
#[command(
    name = "tessera",
    version,
    propagate_version = true,
    verbatim_doc_comment
)]
#[command(after_long_help = exit::help())]
pub struct Cli {
    #[command(flatten)]
    verbosity: verbosity::VerbosityArgs,
    #[command(subcommand)]
    command: Command,
}

/// One variant per subcommand; the arguments live beside the code that uses them.
#[derive(Debug, Subcommand)]
enum Command {
    /// Encode pictures (PNG, JPEG, WebP, GIF, TIFF, BMP, PNM, TGA, QOI, AVIF, JPEG 2000) as .tsr
    /// files.
    Encode(commands::encode::EncodeArgs),
    /// Decode .tsr files to a common format.
    Decode(commands::decode::DecodeArgs),
    /// Show what .tsr and .tsp files hold and whether they are intact.
    Info(commands::info::InfoArgs),
    /// Look at pictures in the browser.
    View(commands::view::ViewArgs),
    /// Make .tsr files known to the desktop: thumbnails, opening, ImageMagick.
    Desktop(commands::desktop::DesktopArgs),
    /// Put the pictures of folders into one .tsp file, with a dictionary of their own if that pays.
    Pack(commands::pack::PackArgs),
    /// Decode pictures of a .tsp file, all of them or some.
    Unpack(commands::unpack::UnpackArgs),
    /// List the pictures of a .tsp file.
    List(commands::list::ListArgs),
    /// Measure rate-distortion curves of codecs and write a report.
    Rd(commands::rd::RdArgs),
    /// Compare two pictures, .tsr files included: every metric, and where they differ.
    Compare(commands::compare::CompareArgs),
    /// Learn a dictionary from pictures.
    Train(commands::train::TrainArgs),
    /// Look into dictionaries.
    Dict(commands::dict::DictArgs),
    /// Reproduce the experiments of the BatchSVD paper.
    Paper(commands::paper::PaperArgs),
    /// Print completions for a shell.
    Completions(commands::completions::CompletionsArgs),
    /// Print the manual, or write its pages to a folder.
    Man(commands::man::ManArgs),
}

/// Runs a parsed command line.
///
/// # Errors
/// Whatever the subcommand reports; `main` prints the chain and sets the exit code.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    cli.verbosity.apply();
    match cli.command {
        Command::Encode(args) => commands::encode::run(&args),
        Command::Decode(args) => commands::decode::run(&args),
        Command::Info(args) => commands::info::run(&args),
        Command::View(args) => commands::view::run(&args),
        Command::Desktop(args) => commands::desktop::run(&args),
        Command::Pack(args) => commands::pack::run(&args),
        Command::Unpack(args) => commands::unpack::run(&args),
        Command::List(args) => commands::list::run(&args),
        Command::Rd(args) => commands::rd::run(&args),
        Command::Compare(args) => commands::compare::run(&args),
        Command::Train(args) => commands::train::run(&args),
        Command::Dict(args) => commands::dict::run(&args),
        Command::Paper(args) => commands::paper::run(&args),
        Command::Completions(args) => commands::completions::run(&args),
        Command::Man(args) => commands::man::run(&args),
    }
}

//! Makes the files of this repository that are generated: `cargo xtask help`.

mod c_library;
mod conformance;
mod fuzz_seeds;
mod mutants;
mod quality_scale;
mod wasm;

use anyhow::Result;
use clap::{Parser, Subcommand};
use std::path::PathBuf;

/// Makes the files of this repository that are generated.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    task: Task,
}

/// One variant per kind of generated files.
#[derive(Debug, Subcommand)]
enum Task {
    /// Write the conformance streams, their manifests and the worked example of the specification.
    ///
    /// Needed after every change of the bitstream or of the default dictionary; a change of the encoder alone
    /// needs no new streams.
    Conformance,
    /// Write the seed corpus of every fuzz target, made from the conformance streams.
    FuzzSeeds {
        /// The folder of the corpora.
        #[arg(default_value = "fuzz/corpus")]
        corpus: PathBuf,
    },
    /// Put misreadings of the specification into the reference decoder, one by one, and see which conformance stream notices.
    ///
    /// Writes `fixtures/conformance/MUTANTS.md`. Needed after every change of the conformance streams.
    Mutants,
    /// Build the decoder and the encoder for browsers, the npm package and the page to try it on.
    Wasm {
        /// The folder they go to.
        #[arg(default_value = "target/wasm")]
        out: PathBuf,
    },
    /// Fit the quality scale to photos, or judge it on those the fit leaves out; best built with `--release`.
    ///
    /// Needed after every change of the encoder that changes how pictures look at a quantiser. Prints the table of
    /// `encoder/appearance/photos.rs`.
    QualityScale {
        /// A folder of training photos.
        photos: PathBuf,
        /// Take the photos that are left out (or all, of a test set), and tell mean and deviation of SSIMULACRA2 at some
        /// qualities beside JPEG's.
        #[arg(long, value_enum)]
        judge: Option<quality_scale::Judged>,
    },
    /// Write the header of the C library, `crates/tessera-capi/include/tessera.h`.
    CHeader {
        /// Write nothing; fail if the header is not what it should be.
        #[arg(long)]
        check: bool,
    },
    /// Build the C library and put it below a folder, with its header and a file for pkg-config.
    CInstall {
        /// The folder, such as /usr/local.
        prefix: PathBuf,
        /// Replace what is there already.
        #[arg(long)]
        force: bool,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Conformance => conformance::write(),
        Task::FuzzSeeds { corpus } => Ok(fuzz_seeds::write(&corpus)?),
        Task::Mutants => mutants::run(),
        Task::Wasm { out } => wasm::write(&out),
        Task::QualityScale { photos, judge } => quality_scale::run(&photos, judge),
        Task::CHeader { check } => c_library::header(check),
        Task::CInstall { prefix, force } => c_library::install(&prefix, force),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_sound() {
        Cli::command().debug_assert();
    }
}

//! Makes the files of this repository that are generated: `cargo xtask help`.

mod conformance;
mod fuzz_seeds;
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
    /// Build the decoder and the encoder for browsers, the npm package and the page to try it on.
    Wasm {
        /// The folder they go to.
        #[arg(default_value = "target/wasm")]
        out: PathBuf,
    },
}

fn main() -> Result<()> {
    match Cli::parse().task {
        Task::Conformance => conformance::write(),
        Task::FuzzSeeds { corpus } => Ok(fuzz_seeds::write(&corpus)?),
        Task::Wasm { out } => wasm::write(&out),
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

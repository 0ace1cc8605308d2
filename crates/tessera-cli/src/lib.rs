//! The `tessera` command as a library: argument parsing and one module per subcommand.
//!
//! `main.rs` only calls [`run`], so everything here is testable without a process.

pub mod commands;

use clap::{Parser, Subcommand};

/// A still-image codec: sparse coding over shared dictionaries learned by BatchSVD.
#[derive(Debug, Parser)]
#[command(name = "tessera", version, about, propagate_version = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

/// One variant per subcommand; the arguments live beside the code that uses them.
#[derive(Debug, Subcommand)]
enum Command {}

/// Runs a parsed command line.
///
/// # Errors
/// Whatever the subcommand reports; `main` prints the chain and sets the exit code.
pub fn run(cli: Cli) -> anyhow::Result<()> {
    match cli.command {}
}

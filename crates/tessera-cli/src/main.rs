//! Thin entry point of the `tessera` command.

use clap::Parser;
use std::process::ExitCode;
use tessera_cli::{Cli, exit, run};

fn main() -> ExitCode {
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tessera: {}", exit::message(&error));
            ExitCode::from(exit::code(&error))
        }
    }
}

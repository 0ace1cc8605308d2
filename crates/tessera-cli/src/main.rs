//! Thin entry point of the `tessera` command.

use clap::Parser;
use std::process::ExitCode;
use tessera_cli::{Cli, exit, reader, run};

/// Commands are short and touch tens of megabytes once: large pages save most of what mapping them costs.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = reader::serve() {
        return code;
    }
    reader::isolate();
    match run(Cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tessera: {}", exit::message(&error));
            ExitCode::from(exit::code(&error))
        }
    }
}

//! Thin entry point of the `tessera` command.

use clap::Parser;
use std::process::ExitCode;
use tessera_cli::{Cli, exit, reader, run};

/// Commands are short and touch tens of megabytes: this allocator takes them from the system in few pieces and uses
/// them again, which saves page faults. It is built to do without large pages (`no_thp` in the manifest): having the
/// kernel clear those takes longer than the faults they save, where it does not have them at hand.
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

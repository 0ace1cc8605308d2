//! `tessera completions`: what a shell needs to complete our command lines.

use crate::{Cli, files};
use anyhow::Result;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

/// Arguments of `tessera completions`.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell to write for.
    shell: Shell,
}

/// Prints the script.
///
/// # Errors
/// When standard output cannot be written.
pub fn run(args: &CompletionsArgs) -> Result<()> {
    let mut script = Vec::new();
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    clap_complete::generate(args.shell, &mut command, name, &mut script);
    files::print_report(&String::from_utf8(script)?)
}

//! `tessera man`: the manual, made from the same definitions as `--help`.

use crate::{Cli, exit, files};
use anyhow::Result;
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `tessera man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the pages of all commands to this folder [default: print the main page].
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
}

/// Prints the main page or writes all pages.
///
/// # Errors
/// When an output cannot be written.
pub fn run(args: &ManArgs) -> Result<()> {
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    let Some(folder) = &args.folder else {
        return files::print_report(&String::from_utf8(main_page(&command)?)?);
    };
    let write = |name: String, page: Vec<u8>| files::write_output(&folder.join(name), &page, true);
    for subcommand in command.get_subcommands().filter(|c| !c.is_hide_set()) {
        let page = Man::new(subcommand.clone());
        let mut text = Vec::new();
        page.render(&mut text)?;
        write(page.get_filename(), text)?;
    }
    write(format!("{}.1", command.get_name()), main_page(&command)?)
}

/// The page of the command itself, with the exit codes.
fn main_page(command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    Man::new(command.clone()).render(&mut page)?;
    let mut codes = Roff::new();
    codes.control("SH", ["EXIT STATUS"]);
    for (code, meaning) in exit::CODES {
        codes.control("TP", []);
        codes.text([bold(code.to_string())]);
        codes.text([roman(*meaning)]);
    }
    page.write_all(codes.to_roff().as_bytes())?;
    Ok(page)
}

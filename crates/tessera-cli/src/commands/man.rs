//! `tessera man`: the manual, made from the same definitions as `--help`.

use crate::{Cli, exit, files};
use anyhow::{Context, Result};
use clap::{Args, Command, CommandFactory};
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `tessera man`.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Write the pages of all commands to this folder [default: print the main page].
    #[arg(value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Replace pages that exist.
    #[arg(short, long, requires = "folder")]
    force: bool,
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
    let mut pages = vec![(format!("{}.1", command.get_name()), main_page(&command)?)];
    add_pages_below(&command, &mut pages)?;
    write_pages(folder, &pages, args.force)
}

/// The pages of all subcommands, and of theirs.
fn add_pages_below(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) -> Result<()> {
    let shown = |c: &&Command| !c.is_hide_set() && c.get_name() != "help";
    for subcommand in command.get_subcommands().filter(shown) {
        let page = Man::new(subcommand.clone());
        let mut text = Vec::new();
        page.render(&mut text)?;
        pages.push((page.get_filename(), text));
        add_pages_below(subcommand, pages)?;
    }
    Ok(())
}

/// Writes all pages or, if one must not be replaced, none.
fn write_pages(folder: &Path, pages: &[(String, Vec<u8>)], force: bool) -> Result<()> {
    fs::create_dir_all(folder)
        .with_context(|| format!("cannot create the folder {}", folder.display()))?;
    for (name, _) in pages {
        files::check_output(&folder.join(name), force)?;
    }
    for (name, page) in pages {
        files::write_output(&folder.join(name), page, force)?;
    }
    Ok(())
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

//! `tessera view`: pictures in the browser, decoded here, on a page that only this machine and only who knows its
//! address can see.

mod gallery;
mod http;
mod render;
mod server;

use crate::files;
use crate::verbosity;
use anyhow::Result;
use clap::Args;
use gallery::Gallery;
use server::Server;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Arguments of `tessera view`.
#[derive(Debug, Args)]
pub struct ViewArgs {
    /// Pictures, and folders with .tsr files in them or below.
    #[arg(required = true)]
    inputs: Vec<PathBuf>,
    /// The dictionary the files were encoded with: a .tsd file or an identity.
    #[arg(long, value_name = "FILE|ID")]
    dict: Option<PathBuf>,
    /// Print the address only, do not open a browser.
    #[arg(long)]
    no_open: bool,
    /// End when the page is closed, not only by Ctrl-C.
    #[arg(long)]
    until_closed: bool,
}

/// Runs the command, until it is interrupted.
///
/// # Errors
/// When there is nothing to show, or no port to be had.
pub fn run(args: &ViewArgs) -> Result<()> {
    let gallery = Gallery::find(&args.inputs, args.dict.as_deref())?;
    let server = Server::start(gallery)?;
    let address = server.address();
    files::print_report(&format!("{address}\n"))?;
    if !args.no_open && !open(&address) {
        verbosity::note("no browser could be started; open the address above");
    }
    verbosity::note("Ctrl-C ends it");
    server.serve(args.until_closed)
}

/// Hands an address to the user's browser; says whether somebody took it.
fn open(address: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        Command::new("explorer")
    } else {
        Command::new("xdg-open")
    };
    let started = command
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    started.is_ok()
}

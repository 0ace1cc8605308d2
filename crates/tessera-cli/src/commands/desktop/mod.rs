//! `tessera desktop`: file managers, thumbnailers and ImageMagick learn about .tsr files.

mod content;
mod delegates;
mod places;

use crate::exit::Usage;
use crate::files::{self, Output};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use places::Places;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const WHAT: &str = "\
Everything is written below the home folder (XDG_DATA_HOME, XDG_CONFIG_HOME), for this user only: a MIME type, a
thumbnailer, an entry for opening pictures with `tessera view`, and delegates for ImageMagick. GNOME runs thumbnailers in
a sandbox that sees programs below /usr only: put the command in /usr/local/bin for thumbnails there.";

/// Arguments of `tessera desktop`.
#[derive(Debug, Args)]
#[command(after_help = WHAT)]
pub struct DesktopArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Make .tsr files known to the desktop and to ImageMagick.
    Install {
        /// Say what would be written, and write nothing.
        #[arg(long)]
        dry_run: bool,
        /// Replace files of these names that something else has written.
        #[arg(short, long)]
        force: bool,
    },
    /// Remove what `install` has written, and nothing else.
    Uninstall {
        /// Say what would be removed, and remove nothing.
        #[arg(long)]
        dry_run: bool,
    },
}

/// A file before and after.
#[derive(Debug)]
struct Change {
    path: PathBuf,
    /// What it is to hold; `None` if it is to go.
    after: Option<String>,
}

/// Runs the command.
///
/// # Errors
/// When a file of someone else is in the way, or writing fails.
pub fn run(args: &DesktopArgs) -> Result<()> {
    if cfg!(any(windows, target_os = "macos")) {
        let message = "desktops of this system have other conventions; there is nothing to install";
        bail!(Usage(message.into()));
    }
    let places = Places::of_user()?;
    let (changes, dry_run) = match args.action {
        Action::Install { dry_run, force } => (planned(&places, force)?, dry_run),
        Action::Uninstall { dry_run } => (withdrawn(&places)?, dry_run),
    };
    if changes.is_empty() {
        return files::print_report("nothing to do\n");
    }
    for change in &changes {
        let verb = match (&change.after, dry_run) {
            (Some(_), true) => "would write",
            (Some(_), false) => "wrote",
            (None, true) => "would remove",
            (None, false) => "removed",
        };
        if !dry_run {
            carry_out(change)?;
        }
        files::print_report(&format!("{verb} {}\n", change.path.display()))?;
    }
    refresh(&places, dry_run)
}

/// What has to be written.
fn planned(places: &Places, force: bool) -> Result<Vec<Change>> {
    let program = std::env::current_exe().context("cannot tell where the command itself is")?;
    let program = text_of(&program)?;
    let mut changes = Vec::new();
    for (path, content) in content::files(places, program) {
        let before = read(&path)?;
        let foreign = before.as_ref().is_some_and(|text| !content::is_ours(text));
        if foreign && !force {
            bail!(Usage(format!(
                "{} exists and was not written by this command; use --force to replace it",
                path.display()
            )));
        }
        if before.as_ref() != Some(&content) {
            let after = Some(content);
            changes.push(Change { path, after });
        }
    }
    let path = places.delegates();
    let before = read(&path)?;
    let after = delegates::added(before.as_deref(), program);
    let after = after.with_context(|| path.display().to_string())?;
    if before.as_ref() != Some(&after) {
        let after = Some(after);
        changes.push(Change { path, after });
    }
    Ok(changes)
}

/// What has to go.
fn withdrawn(places: &Places) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    for (path, _) in content::files(places, "") {
        if read(&path)?.is_some_and(|text| content::is_ours(&text)) {
            changes.push(Change { path, after: None });
        }
    }
    let path = places.delegates();
    if let Some(before) = read(&path)? {
        let after = delegates::removed(&before);
        if after.as_ref() != Some(&before) {
            changes.push(Change { path, after });
        }
    }
    Ok(changes)
}

fn text_of(path: &Path) -> Result<&str> {
    let plain = path
        .to_str()
        .filter(|text| !text.contains(['"', '%', '\\', '$', '`', '\n']));
    plain.with_context(|| {
        let path = path.display();
        format!("desktop files cannot name {path}; put the command where its path is plain text")
    })
}

fn read(path: &Path) -> Result<Option<String>> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read {}", path.display())),
    }
}

fn carry_out(change: &Change) -> Result<()> {
    let path = &change.path;
    let Some(text) = &change.after else {
        let failed = || format!("cannot remove {}", path.display());
        return fs::remove_file(path).with_context(failed);
    };
    if let Some(folder) = path.parent() {
        let failed = || format!("cannot make the folder {}", folder.display());
        fs::create_dir_all(folder).with_context(failed)?;
    }
    let out = Output::create(path, true)?;
    let written = out.writer()?.write_all(text.as_bytes());
    written.with_context(|| out.failure())?;
    out.commit()
}

/// Has the indexes of the desktop made again, where there are programs for it.
fn refresh(places: &Places, dry_run: bool) -> Result<()> {
    let indexes = [
        ("update-mime-database", places.mime()),
        ("update-desktop-database", places.applications()),
    ];
    for (program, folder) in indexes
        .into_iter()
        .filter(|(_, folder)| folder.is_dir() || dry_run)
    {
        let line = format!("{program} {}", folder.display());
        if dry_run {
            files::print_report(&format!("would run {line}\n"))?;
            continue;
        }
        let quiet = Command::new(program)
            .arg(&folder)
            .stderr(Stdio::null())
            .status();
        let said = match quiet {
            Ok(status) if status.success() => format!("ran {line}\n"),
            Ok(status) => format!("{line} failed ({status})\n"),
            Err(_) => format!("{program} is not installed; run `{line}` when it is\n"),
        };
        files::print_report(&said)?;
    }
    Ok(())
}

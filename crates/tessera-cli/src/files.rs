//! Files and standard streams: reading whole inputs, writing outputs that are never half there.

use crate::exit::Usage;
use anyhow::{Context, Result, anyhow, bail};
use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::NamedTempFile;
use tessera_codec::image_io;
use tessera_codec::{Source, StoredFile};

/// The name that stands for standard input or output.
pub(crate) const STANDARD_STREAM: &str = "-";

/// Temporary files beside their targets are called `.tessera-PID-RANDOM.tmp`, so that leftovers
/// of a killed run are known.
const TEMPORARY_PREFIX: &str = ".tessera-";
const TEMPORARY_SUFFIX: &str = ".tmp";

/// True for `-`.
pub(crate) fn is_standard_stream(path: &Path) -> bool {
    path.as_os_str() == STANDARD_STREAM
}

/// An input that can be read more than once: a file, or what came through a pipe.
#[derive(Debug)]
pub(crate) enum Input<'a> {
    /// A file that is read where and when needed.
    File { path: &'a Path, stored: StoredFile },
    /// Standard input, a pipe or a device, read to its end.
    Bytes(Vec<u8>),
}

impl<'a> Input<'a> {
    /// Opens a file, or reads standard input for `-`.
    pub(crate) fn open(path: &'a Path) -> Result<Self> {
        if !path.is_file() {
            return read_input(path).map(Self::Bytes);
        }
        let stored = StoredFile::open(path).map_err(|error| cannot_read(path, error))?;
        Ok(Self::File { path, stored })
    }

    /// Number of bytes.
    pub(crate) fn len(&self) -> usize {
        self.source().len()
    }

    /// As a .tsr file.
    pub(crate) fn source(&self) -> Source<'_> {
        match self {
            Self::File { stored, .. } => stored.into(),
            Self::Bytes(bytes) => bytes.into(),
        }
    }

    /// As a picture in another format.
    pub(crate) fn picture(&self) -> image_io::Input<'_> {
        match self {
            Self::File { path, .. } => (*path).into(),
            Self::Bytes(bytes) => bytes.as_slice().into(),
        }
    }
}

/// Reads a whole file, or standard input for `-`.
pub(crate) fn read_input(path: &Path) -> Result<Vec<u8>> {
    if is_standard_stream(path) {
        let mut bytes = Vec::new();
        let read = std::io::stdin().lock().read_to_end(&mut bytes);
        read.context("cannot read standard input")?;
        return Ok(bytes);
    }
    if path.is_dir() {
        let path = path.display();
        let advice = "name a file in it; encode and decode take whole folders with -r";
        bail!(Usage(format!("{path} is a folder, not a file; {advice}")));
    }
    fs::read(path).map_err(|error| cannot_read(path, error))
}

/// What to say when an input fails, and what to do about one that is not there.
pub(crate) fn cannot_read(path: &Path, error: std::io::Error) -> anyhow::Error {
    let path = path.display();
    match error.kind() {
        ErrorKind::NotFound => {
            anyhow!("cannot read {path}: there is no such file; check its name and folder")
        }
        _ => anyhow::Error::new(error).context(format!("cannot read {path}")),
    }
}

/// Refuses an output that exists, before any work is done for it.
pub(crate) fn check_output(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        let path = path.display();
        bail!(Usage(format!("{path} is a folder; name a file in it")));
    }
    let folder = folder_of(path);
    if !is_standard_stream(path) && !folder.is_dir() {
        let folder = folder.display();
        bail!(Usage(format!(
            "{}: the folder {folder} does not exist; make it first",
            cannot_write(path)
        )));
    }
    if !force && !is_standard_stream(path) && is_plain_or_missing(path) && path.exists() {
        bail!(exists(path));
    }
    Ok(())
}

/// Where the output of `input` goes: to the file named, into the folder named or beside the input, with another ending.
/// Standard input goes to standard output.
///
/// # Errors
/// If standard input would need a name in a folder.
pub(crate) fn output_for(input: &Path, output: Option<&Path>, ending: &str) -> Result<PathBuf> {
    let renamed = input.with_extension(ending);
    match output {
        Some(folder) if folder.is_dir() => match renamed.file_name() {
            Some(name) if !is_standard_stream(input) => Ok(folder.join(name)),
            _ => bail!(Usage("name the output file (-o) for standard input".into())),
        },
        Some(output) => Ok(output.to_path_buf()),
        None if is_standard_stream(input) => Ok(STANDARD_STREAM.into()),
        None => Ok(renamed),
    }
}

/// Prints a report to standard output. A reader that has seen enough and closed the pipe is no error.
pub(crate) fn print_report(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes `bytes` to `path`, or to standard output for `-`.
pub(crate) fn write_output(path: &Path, bytes: &[u8], force: bool) -> Result<()> {
    let output = Output::create(path, force)?;
    let written = output.writer()?.write_all(bytes);
    written.with_context(|| cannot_write(path))?;
    output.commit()
}

/// What to say when an output fails.
pub(crate) fn cannot_write(path: &Path) -> String {
    match is_standard_stream(path) {
        true => "cannot write to standard output".into(),
        false => format!("cannot write {}", path.display()),
    }
}

/// An output in the making.
///
/// A file is written under a temporary name in the same folder, flushed to disk and then renamed,
/// so that whoever looks sees the old state or the whole new file, even after a crash. Without
/// [`Output::commit`] nothing stays behind.
pub(crate) struct Output<'a> {
    path: &'a Path,
    force: bool,
    place: Place,
}

enum Place {
    Standard,
    /// Devices and pipes cannot be replaced by renaming.
    Device(File),
    Temporary {
        file: NamedTempFile,
        target: PathBuf,
    },
}

impl<'a> Output<'a> {
    /// Starts an output; nothing is visible yet.
    pub(crate) fn create(path: &'a Path, force: bool) -> Result<Self> {
        let place = if is_standard_stream(path) {
            Place::Standard
        } else if !is_plain_or_missing(path) {
            Place::Device(File::create(path).with_context(|| cannot_write(path))?)
        } else {
            let target = resolve_link(path);
            let file = temporary_beside(&target).with_context(|| cannot_write(path))?;
            Place::Temporary { file, target }
        };
        Ok(Self { path, force, place })
    }

    /// Where to write. What is written is passed on at once.
    pub(crate) fn writer(&self) -> Result<Box<dyn Write>> {
        let file = match &self.place {
            Place::Standard => return Ok(Box::new(std::io::stdout())),
            Place::Device(file) => file,
            Place::Temporary { file, .. } => file.as_file(),
        };
        let handle = file.try_clone().with_context(|| cannot_write(self.path))?;
        Ok(Box::new(handle))
    }

    /// What to say when writing fails.
    pub(crate) fn failure(&self) -> String {
        cannot_write(self.path)
    }

    /// Makes the output visible.
    pub(crate) fn commit(self) -> Result<()> {
        let failed = || cannot_write(self.path);
        let (file, target) = match self.place {
            Place::Standard => return std::io::stdout().flush().with_context(failed),
            Place::Device(_) => return Ok(()),
            Place::Temporary { file, target } => (file, target),
        };
        file.as_file().sync_all().with_context(failed)?;
        let persisted = if self.force {
            file.persist(&target)
        } else {
            file.persist_noclobber(&target)
        };
        match persisted {
            Ok(_) => Ok(()),
            Err(error) if error.error.kind() == std::io::ErrorKind::AlreadyExists => {
                bail!(exists(self.path))
            }
            Err(error) => Err(error.error).with_context(failed),
        }
    }
}

fn exists(path: &Path) -> Usage {
    Usage(format!(
        "{} exists already; use --force to replace it",
        path.display()
    ))
}

fn is_plain_or_missing(path: &Path) -> bool {
    fs::metadata(path).map_or(true, |metadata| metadata.is_file())
}

/// A link to a file is written through, not replaced.
fn resolve_link(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf())
}

/// The folder a file lies in.
fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

fn temporary_beside(target: &Path) -> std::io::Result<NamedTempFile> {
    let prefix = format!("{TEMPORARY_PREFIX}{}-", std::process::id());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(TEMPORARY_SUFFIX);
    #[cfg(unix)]
    {
        // The usual rights of a new file; the umask takes away what the user wants.
        use std::os::unix::fs::PermissionsExt;
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
        .tempfile_in(folder_of(target))
        .map_err(without_temporary_name)
}

/// The error of the system itself: around it stands a name that means nothing to the user.
fn without_temporary_name(error: std::io::Error) -> std::io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let system = inner.and_then(|cause| cause.downcast_ref::<std::io::Error>());
    match system.and_then(std::io::Error::raw_os_error) {
        Some(code) => std::io::Error::from_raw_os_error(code),
        None => error.kind().into(),
    }
}

/// Removes temporary files in `folder` whose process is gone and that have not been written to for `least_age`. Does
/// nothing where the system does not tell which processes there are.
pub(crate) fn remove_leftovers(folder: &Path, least_age: Duration) {
    let processes = Path::new("/proc");
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    if !processes.join("self").exists() {
        return;
    }
    for entry in entries.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(temporary_owner);
        let is_old = || age(&entry).is_some_and(|age| age >= least_age);
        if owner.is_some_and(|process| !processes.join(process).exists()) && is_old() {
            // Whoever else sweeps at the same time may have been faster.
            let _gone_already = fs::remove_file(entry.path());
        }
    }
}

/// How long ago a file was written to; no time at all if its clock runs ahead of ours, nothing if it is gone.
fn age(entry: &fs::DirEntry) -> Option<Duration> {
    let modified = entry.metadata().ok()?.modified().ok()?;
    Some(modified.elapsed().unwrap_or_default())
}

/// The process number in the name of a temporary file.
fn temporary_owner(name: &str) -> Option<&str> {
    let name = name.strip_prefix(TEMPORARY_PREFIX)?;
    let (process, _) = name.strip_suffix(TEMPORARY_SUFFIX)?.split_once('-')?;
    process
        .bytes()
        .all(|b| b.is_ascii_digit())
        .then_some(process)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out");
        write_output(&path, b"one", false).unwrap();
        assert!(check_output(&path, false).is_err());
        assert!(write_output(&path, b"two", false).is_err());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        write_output(&path, b"two", true).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn only_leftovers_of_dead_processes_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str| fs::write(folder.path().join(name), b"").unwrap();
        let own = format!(".tessera-{}-abc.tmp", std::process::id());
        // Process numbers end at 2^22.
        let names = [".tessera-99999999-abc.tmp", &own, ".tessera-note", "a.tmp"];
        names.into_iter().for_each(write);
        remove_leftovers(folder.path(), Duration::from_secs(60));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "too young");
        remove_leftovers(folder.path(), Duration::ZERO);
        assert!(!folder.path().join(".tessera-99999999-abc.tmp").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_written_through() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        fs::write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_output(&link, b"new", true).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");
    }
}

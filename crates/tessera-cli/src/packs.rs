//! Packs on disk, opened with words for what is none.

use crate::exit::Usage;
use crate::files::{cannot_read, is_standard_stream};
use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;
use tessera_pack::PackReader;

/// Opens a pack.
///
/// # Errors
/// If it is not there, a folder, no pack or damaged; the path is named.
pub(crate) fn open(path: &Path) -> Result<PackReader<File>> {
    check(path)?;
    let file = File::open(path).map_err(|error| cannot_read(path, error))?;
    PackReader::open(file).with_context(|| path.display().to_string())
}

/// Opens the file of a pack for reading and writing.
///
/// # Errors
/// As for [`open`].
pub(crate) fn open_to_append(path: &Path) -> Result<File> {
    check(path)?;
    let file = File::options().read(true).write(true).open(path);
    file.map_err(|error| cannot_read(path, error))
}

fn check(path: &Path) -> Result<()> {
    if path.is_dir() {
        bail!(Usage(format!(
            "{} is a folder, not a pack; name a .tsp file (`tessera pack` makes one of a folder)",
            path.display()
        )));
    }
    if is_standard_stream(path) {
        let message = "a pack is read from its end, which a pipe does not allow; name a file";
        bail!(Usage(message.into()));
    }
    Ok(())
}

/// Whether a file is a pack, whatever its name.
pub(crate) fn is_pack(path: &Path) -> bool {
    let mut start = [0; 2];
    // A pipe would lose what is read here.
    let read = |mut file: File| file.read_exact(&mut start);
    let read = path.is_file() && File::open(path).and_then(read).is_ok();
    read && tessera_pack::is_pack(&start)
}

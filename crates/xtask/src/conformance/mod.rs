//! The conformance streams: files that every decoder must make the same samples of.

mod arbitrary;
mod builtin;
mod lossless;
mod packs;
mod references;
mod refused;

#[path = "../../../../tests/conformance_support/atoms.rs"]
mod atoms;
#[path = "../../../../tests/conformance_support/example_page.rs"]
mod example_page;
#[path = "../../../../tests/conformance_support/networks.rs"]
mod networks;
#[path = "../../../../tests/conformance_support/mod.rs"]
mod support;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use support::{Entry, MANIFEST, sample_hash};
use tessera_codec::Decoder;

/// A stream and what it is for.
#[derive(Debug)]
struct Stream {
    name: String,
    covers: String,
    bytes: Vec<u8>,
}

/// Writes all streams and what is told about them.
///
/// # Errors
/// If a stream cannot be made or a file cannot be written.
pub(crate) fn write() -> Result<()> {
    builtin::write()?;
    lossless::write()?;
    packs::write()?;
    references::write()?;
    arbitrary::write()?;
    refused::write()
}

/// Writes streams and the manifest that tells what they decode to, in place of those that lie in `folder`.
fn write_streams(folder: &Path, streams: &[Stream], decoder: &Decoder) -> Result<()> {
    fs::create_dir_all(folder)?;
    remove_streams(folder)?;
    let mut manifest = String::new();
    for stream in streams {
        let entry = Entry {
            file: format!("{}.tsr", stream.name),
            samples: sample_hash(
                &decoder
                    .decode(&stream.bytes)
                    .with_context(|| stream.name.clone())?,
            ),
            covers: stream.covers.clone(),
        };
        debug_assert_eq!(Entry::parse(&entry.to_string()).as_ref(), Some(&entry));
        fs::write(folder.join(&entry.file), &stream.bytes)?;
        manifest += &format!("{entry}\n");
    }
    fs::write(folder.join(MANIFEST), manifest)?;
    let total: usize = streams.iter().map(|stream| stream.bytes.len()).sum();
    println!(
        "{}: {} streams, {total} bytes",
        folder.display(),
        streams.len()
    );
    Ok(())
}

fn remove_streams(folder: &Path) -> Result<()> {
    for old in fs::read_dir(folder)? {
        let path = old?.path();
        if path.extension().is_some_and(|ending| ending == "tsr") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

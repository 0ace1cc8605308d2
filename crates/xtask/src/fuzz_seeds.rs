//! The seed corpus of every fuzz target, made from the conformance streams.

use std::path::{Path, PathBuf};
use std::{fs, io};
use tessera_codec::internals::container::Container;
use tessera_codec::{Integrity, Limits};

/// Writes one folder per target below `corpus`.
///
/// # Errors
/// If a stream cannot be read or a seed cannot be written.
pub(crate) fn write(corpus: &Path) -> io::Result<()> {
    let streams = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/conformance");
    for path in streams_below(&streams)? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = fs::read(&path)?;
        for target in ["range", "header", "container", "decode", "round_trip"] {
            write_seed(corpus, target, &name, &file)?;
        }
        if let Ok(container) = Container::parse(&file, &Limits::default(), Integrity::Checked) {
            write_parts(corpus, &name, &file, &container)?;
        }
    }
    write_seed(corpus, "dictionary", "nothing-changed", &[])?;
    write_seed(corpus, "difference", "nothing", &[0; 8])?;
    // An index of no dictionary, no template and no picture.
    write_seed(corpus, "pack", "empty", &[0; 10])
}

/// The streams in a folder and in those below it; dictionaries and hashes lie beside them.
fn streams_below(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut streams = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            streams.extend(streams_below(&path)?);
        } else if path.extension().is_some_and(|ending| ending == "tsr") {
            streams.push(path);
        }
    }
    Ok(streams)
}

/// The tiles and the metadata of a stream, each for the target that reads it.
fn write_parts(
    corpus: &Path,
    name: &str,
    file: &[u8],
    container: &Container<'_>,
) -> io::Result<()> {
    let header = container.header();
    let colours = header.format.colour_channels() as u8;
    let sides = [header.width, header.height].map(|side| side.min(40) as u8 - 1);
    for index in 0..container.grid().count() {
        if let Ok(payload) = container.tile(index) {
            let mut seed = vec![
                sides[0],
                sides[1],
                header.quantiser,
                header.chroma_offsets[0] as u8,
                colours / 2,
            ];
            seed.extend(payload.colour());
            write_seed(corpus, "tile", &format!("{name}-{index}"), &seed)?;
        }
    }
    let (_, start) = tessera_codec::internals::stages::header(file).map_err(io::Error::other)?;
    write_seed(
        corpus,
        "metadata",
        name,
        &file[start..][..header.metadata_len],
    )
}

fn write_seed(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

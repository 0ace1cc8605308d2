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
    for path in files_below(&streams, "tsr")? {
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
    for path in files_below(&streams, "tsp")? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let file = fs::read(&path)?;
        write_seed(corpus, "pack", &name, &file)?;
        if let Some(parts) = pack_parts(&file) {
            write_seed(corpus, "pack", &format!("{name}-parts"), &parts)?;
        }
    }
    Ok(())
}

/// Length of the index, entries and index of a pack: what its target puts together again.
fn pack_parts(file: &[u8]) -> Option<Vec<u8>> {
    const MAGIC: usize = 3;
    const TRAILER: usize = 20;
    let (content, trailer) = file.split_at_checked(file.len().checked_sub(TRAILER)?)?;
    let length = u16::from_le_bytes(*trailer[8..].first_chunk()?);
    Some([&length.to_le_bytes(), content.get(MAGIC..)?].concat())
}

/// The files with this ending in a folder and in those below it; dictionaries and hashes lie beside them.
fn files_below(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files_below(&path, ending)?);
        } else if path.extension().is_some_and(|own| own == ending) {
            found.push(path);
        }
    }
    Ok(found)
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
        let Ok(payload) = container.tile(index) else {
            continue;
        };
        if header.lossless.is_some() {
            let kind = (colours / 2) | u8::from(header.format.alpha) << 1;
            let kind = kind | (header.format.depth as u8) << 2;
            let seed = [&[sides[0], sides[1], kind], payload.colour()].concat();
            write_seed(corpus, "lossless", &format!("{name}-{index}"), &seed)?;
        } else {
            let layout = (colours / 2) | (u8::from(header.graphics) << 2);
            let mut seed = vec![
                sides[0],
                sides[1],
                header.quantiser,
                header.chroma_offsets[0] as u8,
                layout,
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
        &file[start + header.preview_len..][..header.metadata_len],
    )
}

fn write_seed(corpus: &Path, target: &str, name: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = corpus.join(target);
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(name), bytes)
}

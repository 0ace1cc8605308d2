//! The decoder and the encoder for browsers: three modules, the npm package around them, and a page to try it on.

mod bundle;
mod package;
mod page;
mod toolchain;

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use tessera_dict::Dictionary;
use toolchain::Toolchain;

/// The modules, and the dictionary that decoder and encoder are given.
struct Artefacts {
    decoder: Vec<u8>,
    encoder: Vec<u8>,
    /// From colour profiles to sRGB.
    colour: Vec<u8>,
    dictionary: Vec<u8>,
    /// File name of the dictionary: a number stands for one content for ever, so browsers may keep it.
    dictionary_name: String,
}

/// Builds everything into `out`: `tessera-codec/` (the package), `page/` (to be served) and `tessera.html` (one file).
pub(crate) fn write(out: &Path) -> Result<()> {
    let toolchain = Toolchain::find()?;
    let artefacts = Artefacts {
        decoder: toolchain.build(&workspace(), "decoder")?,
        encoder: toolchain.build(&workspace(), "encoder")?,
        colour: toolchain.build(&workspace(), "colour")?,
        dictionary: Dictionary::builtin().to_bytes(),
        dictionary_name: dictionary_name(),
    };
    let sources = workspace().join("crates/tessera-wasm");
    package::write(&sources, &artefacts, &out.join("tessera-codec"))?;
    page::write(&sources, &artefacts, out)?;
    report(&artefacts, out)
}

fn dictionary_name() -> String {
    let name = Dictionary::builtin().id().to_string().replace(':', "-");
    format!("{name}.tsd")
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Sizes, which are what one looks for first.
fn report(artefacts: &Artefacts, out: &Path) -> Result<()> {
    for (name, bytes) in [
        ("decoder.wasm", &artefacts.decoder),
        ("encoder.wasm", &artefacts.encoder),
        ("colour.wasm", &artefacts.colour),
        (&artefacts.dictionary_name, &artefacts.dictionary),
    ] {
        let packed = gzip(bytes)?.len();
        println!("{name}: {} bytes, {packed} with gzip", bytes.len());
    }
    println!("{}", out.join("tessera-codec").display());
    println!("{}", out.join("tessera.html").display());
    Ok(())
}

fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(bytes)?;
    Ok(packed.finish()?)
}

/// Reads a source file, saying which one it is when it cannot.
fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

/// Writes a generated file and the folders above it.
fn save(path: &Path, content: impl AsRef<[u8]>) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(path, content))
        .with_context(|| format!("cannot write {}", path.display()))
}

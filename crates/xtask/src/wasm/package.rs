//! The npm package: our JavaScript as it is, and beside it what is built.

use super::{Artefacts, read, save};
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Puts the package together in `to`, from nothing.
pub(super) fn write(sources: &Path, artefacts: &Artefacts, to: &Path) -> Result<()> {
    if to.exists() {
        fs::remove_dir_all(to).with_context(|| format!("cannot clear {}", to.display()))?;
    }
    for entry in fs::read_dir(sources.join("npm"))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        if path.is_file() {
            save(&to.join(name), read(&path)?)?;
        }
    }
    let manifest = read(&sources.join("npm/package.json"))?;
    let version = env!("CARGO_PKG_VERSION");
    save(&to.join("package.json"), manifest.replace("0.0.0", version))?;
    for licence in ["LICENSE-APACHE", "LICENSE-MIT"] {
        save(&to.join(licence), read(&sources.join(licence))?)?;
    }
    save(&to.join("assets.js"), assets(&artefacts.dictionary_name))?;
    save(&to.join("decoder.wasm"), &artefacts.decoder)?;
    save(&to.join("encoder.wasm"), &artefacts.encoder)?;
    save(&to.join("colour.wasm"), &artefacts.colour)?;
    save(&to.join(&artefacts.dictionary_name), &artefacts.dictionary)
}

/// Where the files are, written so that bundlers see it and take them along.
fn assets(dictionary: &str) -> String {
    format!(
        "/** Where the files beside this one are. */
export const ASSETS = {{
  decoder: new URL('./decoder.wasm', import.meta.url),
  encoder: new URL('./encoder.wasm', import.meta.url),
  colour: new URL('./colour.wasm', import.meta.url),
  dictionary: new URL('./{dictionary}', import.meta.url),
  worker: () => new Worker(new URL('./worker.js', import.meta.url), {{ type: 'module' }}),
}};
"
    )
}

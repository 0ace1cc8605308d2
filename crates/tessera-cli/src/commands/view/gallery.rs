//! Which pictures are shown.

use crate::archive::{Plan, Wanted};
use crate::commands::encode::EXTENSION;
use crate::dictionaries;
use crate::exit::Usage;
use anyhow::{Result, bail};
use std::path::{Path, PathBuf};
use tessera_codec::PreparedDictionary;

/// Pictures in a fixed order, and the dictionary to decode them with.
#[derive(Debug)]
pub(super) struct Gallery {
    pub(super) pictures: Vec<Entry>,
    pub(super) dictionary: Option<PreparedDictionary>,
}

/// A picture and what it is called.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) name: String,
}

impl Gallery {
    /// The files named, and all .tsr files in and below the folders named.
    ///
    /// # Errors
    /// When one does not exist, or there is no picture at all.
    pub(super) fn find(inputs: &[PathBuf], dictionary: Option<&Path>) -> Result<Self> {
        let mut pictures = Vec::new();
        for input in inputs {
            if input.is_dir() {
                pictures.extend(of_folder(input)?);
            } else if input.is_file() {
                let name = input.file_name().unwrap_or_default();
                pictures.push(Entry::new(input, Path::new(name)));
            } else {
                let path = input.display();
                bail!("cannot read {path}: there is no such file; check its name and folder");
            }
        }
        if pictures.is_empty() {
            let message = "there is no .tsr file in this folder; `tessera encode -r` makes them";
            bail!(Usage(message.into()));
        }
        let dictionary = dictionary.map(dictionaries::load).transpose()?;
        Ok(Self {
            pictures,
            dictionary: dictionary.map(PreparedDictionary::from),
        })
    }
}

impl Entry {
    fn new(path: &Path, name: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
            name: name.display().to_string(),
        }
    }
}

fn of_folder(folder: &Path) -> Result<Vec<Entry>> {
    let mut plan = Plan::new(Wanted {
        inputs: &[EXTENSION],
        output: String::new(),
        verb: "shown",
        shrinks: false,
    });
    plan.add_folders(&[folder.to_path_buf()], None)?;
    let entries = plan.into_inputs().into_iter().map(|path| {
        let name = path.strip_prefix(folder).unwrap_or(&path);
        Entry::new(&path, name)
    });
    Ok(entries.collect())
}

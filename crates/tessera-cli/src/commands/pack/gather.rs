//! Which pictures go into a pack, and what they are called there.

use crate::exit::Usage;
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tessera_train::Gallery;

/// A picture and its name in the pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) name: String,
    pub(super) path: PathBuf,
}

/// All pictures below the inputs, by name. The ending is left out unless two pictures differ in it alone.
pub(super) fn pictures(inputs: &[PathBuf]) -> Result<Vec<Found>> {
    let mut by_stem: BTreeMap<String, Vec<(String, PathBuf)>> = BTreeMap::new();
    for input in inputs {
        let gallery = Gallery::open(std::slice::from_ref(input)).context("looking for pictures")?;
        for path in gallery.files() {
            let name = relative(path, input)?;
            let stem = match name.rsplit_once('.') {
                Some((stem, _)) if !stem.is_empty() && !stem.ends_with('/') => stem,
                _ => &name,
            };
            by_stem
                .entry(stem.into())
                .or_default()
                .push((name.clone(), path.clone()));
        }
    }
    let mut found = Vec::new();
    for (stem, mut alike) in by_stem {
        let alone = alike.len() == 1;
        for (name, path) in alike.drain(..) {
            let name = if alone { stem.clone() } else { name };
            found.push(Found { name, path });
        }
    }
    found.sort_by(|a, b| a.name.cmp(&b.name));
    if let Some(pair) = found.windows(2).find(|pair| pair[0].name == pair[1].name) {
        bail!(Usage(format!(
            "{} and {} would have the same name in the pack; pack the folder above both",
            pair[0].path.display(),
            pair[1].path.display()
        )));
    }
    match found.is_empty() {
        true => bail!(Usage(
            "there are no pictures in what was given; name folders that hold some".into()
        )),
        false => Ok(found),
    }
}

/// The path below the folder it was found in, with slashes.
fn relative(path: &Path, root: &Path) -> Result<String> {
    let below = match root.is_dir() {
        true => path.strip_prefix(root).unwrap_or(path),
        false => path.file_name().map_or(path, Path::new),
    };
    let parts = below.components().map(|part| part.as_os_str().to_str());
    let parts: Option<Vec<&str>> = parts.collect();
    match parts {
        Some(parts) => Ok(parts.join("/")),
        None => bail!(Usage(format!(
            "the name of {} is not UTF-8; rename it to pack it",
            path.display()
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_paths_without_endings_unless_they_would_collide() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        std::fs::create_dir(root.join("sub")).unwrap();
        for name in ["a.png", "sub/b.jpg", "sub/b.png", ".png", "note.txt"] {
            std::fs::write(root.join(name), b"?").unwrap();
        }
        let found = pictures(&[root.to_path_buf()]).unwrap();
        let names: Vec<&str> = found.iter().map(|picture| picture.name.as_str()).collect();
        assert_eq!(names, ["a", "sub/b.jpg", "sub/b.png"]);
        let twice = pictures(&[root.join("a.png"), root.to_path_buf()]);
        assert!(twice.unwrap_err().to_string().contains("the same name"));
        assert!(pictures(&[root.join("sub/none")]).is_err());
    }
}

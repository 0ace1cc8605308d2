//! Which pictures there are below a folder, and where each goes.

use super::Failure;
use crate::commands::encode::EXTENSION;
use anyhow::{Context, Result};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// Names that count as pictures, in lower case.
const PICTURE_EXTENSIONS: [&str; 10] = [
    "png", "jpg", "jpeg", "webp", "ppm", "pgm", "pnm", "tif", "tiff", "bmp",
];

/// One picture to encode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
}

/// Everything to do, in a fixed order, and the folders that could not be read.
#[derive(Debug, Default)]
pub(crate) struct Plan {
    pub(crate) tasks: Vec<Task>,
    pub(crate) failures: Vec<Failure>,
}

impl Plan {
    /// Plans all pictures below `root`; the tree is kept below `output`.
    ///
    /// Links to files are followed, links to folders are not: they could lead in circles.
    pub(crate) fn add_folder(&mut self, root: &Path, output: &Path) {
        let mut pictures = Vec::new();
        let mut folders = Vec::new();
        match list(root) {
            Ok(entries) => {
                for path in entries {
                    if path.is_dir() && !path.is_symlink() {
                        folders.push(path);
                    } else if is_picture(&path) {
                        pictures.push(path);
                    }
                }
            }
            Err(error) => self.failures.push(Failure::new(root, &error)),
        }
        self.add_pictures(pictures, output);
        for folder in folders {
            let name = folder.file_name().unwrap_or_default();
            self.add_folder(&folder, &output.join(name));
        }
    }

    /// Plans the pictures of one folder. Pictures that differ only in their extension keep it
    /// (`a.jpg.tsr`, `a.png.tsr`), so that none overwrites another.
    fn add_pictures(&mut self, pictures: Vec<PathBuf>, output: &Path) {
        let mut by_stem: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
        for picture in pictures {
            let stem = picture.file_stem().unwrap_or_default().to_owned();
            by_stem.entry(stem).or_default().push(picture);
        }
        for (stem, inputs) in by_stem {
            let clash = inputs.len() > 1;
            for input in inputs {
                let mut name = match input.file_name() {
                    Some(name) if clash => name.to_owned(),
                    _ => stem.clone(),
                };
                name.push(".");
                name.push(EXTENSION);
                let output = output.join(name);
                self.tasks.push(Task { input, output });
            }
        }
    }
}

fn list(folder: &Path) -> Result<Vec<PathBuf>> {
    let failed = || format!("cannot list {}", folder.display());
    let entries = fs::read_dir(folder).with_context(failed)?;
    let mut paths = entries
        .map(|entry| Ok(entry.with_context(failed)?.path()))
        .collect::<Result<Vec<_>>>()?;
    paths.sort();
    Ok(paths)
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    extension.is_some_and(|e| PICTURE_EXTENSIONS.iter().any(|known| e == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_is_kept_and_clashes_keep_their_extension() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        for name in ["a.JPG", "b.png", "b.webp", "notes.txt", "sub/deep/c.tiff"] {
            fs::write(root.join(name), b"").unwrap();
        }
        let mut plan = Plan::default();
        plan.add_folder(root, Path::new("out"));
        let outputs: Vec<_> = plan
            .tasks
            .iter()
            .map(|t| t.output.to_str().unwrap())
            .collect();
        assert_eq!(
            outputs,
            [
                "out/a.tsr",
                "out/b.png.tsr",
                "out/b.webp.tsr",
                "out/sub/deep/c.tsr"
            ]
        );
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_do_not_lead_in_circles() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::write(root.join("a.png"), b"").unwrap();
        std::os::unix::fs::symlink(root, root.join("loop")).unwrap();
        std::os::unix::fs::symlink(root.join("a.png"), root.join("b.png")).unwrap();
        let mut plan = Plan::default();
        plan.add_folder(root, Path::new("out"));
        assert_eq!(plan.tasks.len(), 2);
    }
}

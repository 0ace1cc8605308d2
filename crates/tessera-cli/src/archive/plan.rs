//! Which pictures there are below a folder, and where each goes.

use super::Failure;
use crate::commands::encode::EXTENSION;
use anyhow::{Context, Result, anyhow};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::EXTENSIONS;

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
    /// Which input each output comes from.
    planned: HashMap<PathBuf, PathBuf>,
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

    /// Plans the pictures of one folder. An output that is planned already is a failure: it comes
    /// from another folder that goes to the same place.
    fn add_pictures(&mut self, pictures: Vec<PathBuf>, output: &Path) {
        for (input, name) in output_names(pictures) {
            let output = output.join(name);
            match self.planned.entry(output.clone()) {
                Entry::Vacant(place) => {
                    place.insert(input.clone());
                    self.tasks.push(Task { input, output });
                }
                // The same folder was named twice.
                Entry::Occupied(planned) if *planned.get() == input => {}
                Entry::Occupied(planned) => {
                    let (other, output) = (planned.get().display(), output.display());
                    let error =
                        anyhow!("{other} is encoded to {output} already; give -o another folder");
                    self.failures.push(Failure::new(&input, &error));
                }
            }
        }
    }
}

/// The name of each picture's output: its own with our extension instead, or, so that none
/// overwrites another, with our extension behind its own (`a.jpg.tsr`, `a.png.tsr`).
fn output_names(pictures: Vec<PathBuf>) -> Vec<(PathBuf, OsString)> {
    let with_extension = |name: Option<&OsStr>| {
        let mut name = name.unwrap_or_default().to_owned();
        name.push(".");
        name.push(EXTENSION);
        name
    };
    let short = |path: &PathBuf| with_extension(path.file_stem());
    let mut names: Vec<OsString> = pictures.iter().map(short).collect();
    // Long names are all different, so this ends.
    loop {
        let mut count: BTreeMap<&OsStr, usize> = BTreeMap::new();
        names
            .iter()
            .for_each(|name| *count.entry(name).or_default() += 1);
        let clashes: Vec<bool> = names
            .iter()
            .map(|name| count[name.as_os_str()] > 1)
            .collect();
        if !clashes.contains(&true) {
            return pictures.into_iter().zip(names).collect();
        }
        for ((picture, name), clash) in pictures.iter().zip(&mut names).zip(clashes) {
            if clash {
                *name = with_extension(picture.file_name());
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
    extension.is_some_and(|e| EXTENSIONS.iter().any(|known| e == *known))
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

    #[test]
    fn long_names_may_clash_with_short_ones() {
        let pictures = ["a.png", "a.jpg", "a.png.bmp", "b.png"].map(PathBuf::from);
        let names: Vec<OsString> = output_names(pictures.to_vec())
            .into_iter()
            .map(|(_, name)| name)
            .collect();
        assert_eq!(names, ["a.png.tsr", "a.jpg.tsr", "a.png.bmp.tsr", "b.tsr"]);
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

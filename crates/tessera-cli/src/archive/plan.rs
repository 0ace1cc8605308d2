//! Which files there are below a folder, and where each goes.

use super::{Failure, Shard};
use crate::exit::Usage;
use anyhow::{Context, Result, anyhow, bail};
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

/// What is looked for, and what is made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// Endings of the names that are looked for, in lower case.
    pub(crate) inputs: &'static [&'static str],
    /// Ending of the outputs.
    pub(crate) output: String,
    /// What is done to them, in the past.
    pub(crate) verb: &'static str,
    /// Whether the point is to make them smaller.
    pub(crate) shrinks: bool,
}

/// One file to process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Task {
    pub(crate) input: PathBuf,
    pub(crate) output: PathBuf,
}

/// Everything to do, in a fixed order, and the folders that could not be read.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(super) wanted: Wanted,
    pub(super) tasks: Vec<Task>,
    pub(super) failures: Vec<Failure>,
    /// Which input each output comes from.
    planned: HashMap<PathBuf, PathBuf>,
}

impl Plan {
    /// Nothing to do yet.
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self {
            wanted,
            tasks: Vec::new(),
            failures: Vec::new(),
            planned: HashMap::new(),
        }
    }

    /// Plans all files wanted below folders; trees are kept below `output`, or below each folder itself.
    ///
    /// # Errors
    /// If one is no folder.
    pub(crate) fn add_folders(&mut self, roots: &[PathBuf], output: Option<&Path>) -> Result<()> {
        for root in roots {
            if !root.is_dir() {
                let message = format!("{} is not a folder, as -r needs", root.display());
                bail!(Usage(message));
            }
            self.add_folder(root, output.unwrap_or(root));
        }
        Ok(())
    }

    /// Leaves only the part of the files that `shard` is, by their names below `roots`.
    pub(crate) fn keep_shard(&mut self, shard: Option<Shard>, roots: &[PathBuf]) {
        let Some(shard) = shard else {
            return;
        };
        self.tasks.retain(|task| {
            let below = |root: &PathBuf| task.input.strip_prefix(root).ok();
            let name = roots.iter().find_map(below);
            shard.holds(name.unwrap_or(&task.input))
        });
    }

    /// The files to process, for those who only want to know which there are.
    pub(crate) fn into_inputs(self) -> Vec<PathBuf> {
        self.tasks.into_iter().map(|task| task.input).collect()
    }

    /// Plans all files wanted below `root`; the tree is kept below `output`.
    ///
    /// Links to files are followed, links to folders are not: they could lead in circles.
    fn add_folder(&mut self, root: &Path, output: &Path) {
        let mut files = Vec::new();
        let mut folders = Vec::new();
        match list(root) {
            Ok(entries) => {
                for path in entries {
                    if path.is_dir() && !path.is_symlink() {
                        folders.push(path);
                    } else if has_ending(&path, self.wanted.inputs) {
                        files.push(path);
                    }
                }
            }
            Err(error) => self.failures.push(Failure::new(root, &error)),
        }
        self.add_files(files, output);
        for folder in folders {
            let name = folder.file_name().unwrap_or_default();
            self.add_folder(&folder, &output.join(name));
        }
    }

    /// Plans files of one folder. An output that is planned already is a failure: it comes
    /// from another folder that goes to the same place.
    fn add_files(&mut self, files: Vec<PathBuf>, output: &Path) {
        for (input, name) in output_names(files, &self.wanted.output) {
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
                    let verb = self.wanted.verb;
                    let error =
                        anyhow!("{other} is {verb} to {output} already; give -o another folder");
                    self.failures.push(Failure::new(&input, &error));
                }
            }
        }
    }
}

/// The name of each file's output: its own with the other extension instead, or, so that none
/// overwrites another, with that extension behind its own (`a.jpg.tsr`, `a.png.tsr`).
fn output_names(files: Vec<PathBuf>, extension: &str) -> Vec<(PathBuf, OsString)> {
    let with_extension = |name: Option<&OsStr>| {
        let mut name = name.unwrap_or_default().to_owned();
        name.push(".");
        name.push(extension);
        name
    };
    let short = |path: &PathBuf| with_extension(path.file_stem());
    let mut names: Vec<OsString> = files.iter().map(short).collect();
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
            return files.into_iter().zip(names).collect();
        }
        for ((file, name), clash) in files.iter().zip(&mut names).zip(clashes) {
            if clash {
                *name = with_extension(file.file_name());
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

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    extension.is_some_and(|e| endings.iter().any(|known| e == *known))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan::new(Wanted {
            inputs: &["png", "jpg", "webp", "tiff"],
            output: "tsr".into(),
            verb: "encoded",
            shrinks: true,
        })
    }

    #[test]
    fn tree_is_kept_and_clashes_keep_their_extension() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("sub/deep")).unwrap();
        for name in ["a.JPG", "b.png", "b.webp", "notes.txt", "sub/deep/c.tiff"] {
            fs::write(root.join(name), b"").unwrap();
        }
        let mut plan = self::plan();
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
        let names: Vec<OsString> = output_names(pictures.to_vec(), "tsr")
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
        let mut plan = self::plan();
        plan.add_folder(root, Path::new("out"));
        assert_eq!(plan.tasks.len(), 2);
    }
}

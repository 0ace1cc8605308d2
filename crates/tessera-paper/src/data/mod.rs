//! The data of the experiments: where it lies and how it becomes a matrix of samples.

mod mnist;
mod photos;
mod uci;

pub(crate) use mnist::load_digits;
pub(crate) use photos::{load_image, load_photos, sample_patches};
pub(crate) use uci::load_uci;

use crate::error::PaperError;
use faer::{Mat, MatRef};
use rand::RngExt;
use rand_pcg::Pcg64;
use std::path::{Path, PathBuf};

/// The folder given with `--data`.
///
/// It may be the root of the data (with `paper/`, `uci/`, `mnist/` and `train/` below) or the one
/// folder an experiment needs; both are tried, the root first.
#[derive(Debug, Clone)]
pub struct DataDir(PathBuf);

impl DataDir {
    /// Takes the folder as given; nothing is read before an experiment asks for a file.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// The path of `file` in the data folder `folder`.
    pub(crate) fn file(&self, folder: &str, file: &str) -> Result<PathBuf, PaperError> {
        let below = self.0.join(folder).join(file);
        let direct = self.0.join(file);
        let found = [&below, &direct]
            .into_iter()
            .find(|path| path.is_file())
            .cloned();
        found.ok_or_else(|| self.missing(below, folder, file))
    }

    /// The data folder `folder`, provided it holds at least one file ending in `extension`.
    pub(crate) fn files(&self, folder: &str, extension: &str) -> Result<Vec<PathBuf>, PaperError> {
        for candidate in [self.0.join(folder), self.0.clone()] {
            let files = files_ending(&candidate, extension)?;
            if !files.is_empty() {
                return Ok(files);
            }
        }
        let pattern = format!("*.{extension}");
        Err(self.missing(self.0.join(folder).join(&pattern), folder, &pattern))
    }

    fn missing(&self, path: PathBuf, folder: &str, file: &str) -> PaperError {
        let hint = if self.0.is_dir() {
            format!(
                "put {file} into {folder}/ below the data folder, or point --data at the folder that holds it"
            )
        } else {
            format!(
                "{} is not a folder; point --data at the root of the data or at its {folder}/ folder",
                self.0.display()
            )
        };
        PaperError::Missing { path, hint }
    }
}

/// The files of a folder with the given extension in name order; none if there is no such folder.
fn files_ending(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, PaperError> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(folder).map_err(|error| PaperError::io(folder, error))?;
    let mut files: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|found| found == extension))
        .collect();
    files.sort();
    Ok(files)
}

/// A matrix from values that lie column after column.
fn matrix(rows: usize, columns: usize, values: &[f64]) -> Mat<f64> {
    MatRef::from_column_major_slice(values, rows, columns).to_owned()
}

/// `count` different numbers below `total`, in random order; `count <= total`.
fn choose(total: usize, count: usize, rng: &mut Pcg64) -> Vec<usize> {
    let mut numbers: Vec<usize> = (0..total).collect();
    for place in 0..count {
        numbers.swap(place, rng.random_range(place..total));
    }
    numbers.truncate(count);
    numbers
}

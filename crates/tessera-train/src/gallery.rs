//! The pictures a dictionary is learned from, read one at a time.

use std::path::{Path, PathBuf};
use tessera_codec::Picture;
use tessera_codec::image_io::read_picture;

/// File names with these endings are taken for pictures.
const ENDINGS: [&str; 11] = [
    "png", "jpg", "jpeg", "webp", "ppm", "pgm", "pnm", "tif", "tiff", "bmp", "pam",
];

/// A sorted list of picture files.
#[derive(Clone, Debug)]
pub struct Gallery {
    files: Vec<PathBuf>,
}

/// A file that was passed over, and why.
#[derive(Clone, Debug)]
pub struct Skipped {
    /// The file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl Gallery {
    /// All pictures below the given folders; files may be named directly too.
    ///
    /// # Errors
    /// If a path cannot be read.
    pub fn open(paths: &[PathBuf]) -> std::io::Result<Self> {
        let mut files = Vec::new();
        paths
            .iter()
            .try_for_each(|path| collect(path, &mut files))?;
        files.sort();
        files.dedup();
        Ok(Self { files })
    }

    /// Number of files.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Separates the files that can be read from those that cannot.
    pub fn readable(self) -> (Self, Vec<Skipped>) {
        let mut skipped = Vec::new();
        let readable = |file: &PathBuf| match load(file) {
            Ok(_) => true,
            Err(reason) => {
                let file = file.clone();
                skipped.push(Skipped { file, reason });
                false
            }
        };
        let files = self.files.into_iter().filter(readable).collect();
        (Self { files }, skipped)
    }

    /// Splits off every `every`-th picture for testing: (training, testing).
    pub fn split(&self, every: usize) -> (Self, Self) {
        let pick = |tested: bool| Self {
            files: (self.files.iter().enumerate())
                .filter(|(index, _)| (index % every == every / 2) == tested)
                .map(|(_, file)| file.clone())
                .collect(),
        };
        (pick(false), pick(true))
    }

    /// The files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads a picture.
    ///
    /// # Errors
    /// Why the file is not a picture.
    pub fn load(&self, index: usize) -> Result<Picture, String> {
        load(&self.files[index])
    }

    /// A hash of all files' contents.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn hash(&self) -> std::io::Result<String> {
        let mut hasher = blake3::Hasher::new();
        for file in &self.files {
            hasher.update(blake3::hash(&std::fs::read(file)?).as_bytes());
        }
        Ok(hasher.finalize().to_hex()[..32].to_string())
    }
}

fn load(file: &Path) -> Result<Picture, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    read_picture(&bytes).map_err(|error| error.to_string())
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        std::fs::metadata(path)?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.map(str::to_ascii_lowercase);
        if path.is_dir() {
            collect(&path, files)?;
        } else if ending.is_some_and(|ending| ENDINGS.contains(&ending.as_str())) {
            files.push(path);
        }
    }
    Ok(())
}

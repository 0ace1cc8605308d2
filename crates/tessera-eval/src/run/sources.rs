//! The pictures of a run: files and folders, checked before anything is measured.

use super::{RunError, Skip};
use crate::image8::{Image8, Image8Error};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::EXTENSIONS;

/// A readable picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// File name without extension: the key of its points.
    pub name: String,
    /// Where it is.
    pub path: PathBuf,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// [`Image8::fingerprint`] of what is measured.
    pub fingerprint: u32,
    /// Whether only its luma is measured.
    pub luma_only: bool,
}

impl Source {
    /// Reads the samples, as luma if that is what the run measures.
    ///
    /// # Errors
    /// [`Image8Error`] if the file has gone or changed since it was checked.
    pub fn load(&self) -> Result<Image8, Image8Error> {
        load(&self.path, self.luma_only)
    }
}

fn load(path: &Path, luma_only: bool) -> Result<Image8, Image8Error> {
    let picture = Image8::read(path)?;
    Ok(if luma_only {
        picture.to_gray()
    } else {
        picture
    })
}

/// Finds and reads the pictures: files as named, folders by extension and in order of name.
///
/// # Errors
/// [`RunError`] if a path does not exist, two pictures share a name, or none is readable.
pub fn collect_sources(
    inputs: &[PathBuf],
    luma_only: bool,
) -> Result<(Vec<Source>, Vec<Skip>), RunError> {
    let mut sources = Vec::new();
    let mut skips = Vec::new();
    for path in inputs
        .iter()
        .map(|input| list(input))
        .collect::<Result<Vec<_>, _>>()?
        .concat()
    {
        match source(&path, luma_only) {
            Ok(source) => sources.push(source),
            Err(error) => skips.push(Skip {
                what: path.display().to_string(),
                reason: error.to_string(),
            }),
        }
    }
    if sources.is_empty() {
        return Err(RunError::NoPictures);
    }
    let mut names = BTreeSet::new();
    match sources.iter().find(|s| !names.insert(s.name.clone())) {
        Some(twice) => Err(RunError::DuplicateName(twice.name.clone())),
        None => Ok((sources, skips)),
    }
}

fn list(input: &Path) -> Result<Vec<PathBuf>, RunError> {
    let input_error = |source| RunError::Input {
        path: input.to_owned(),
        source,
    };
    if fs::metadata(input).map_err(input_error)?.is_file() {
        return Ok(vec![input.to_owned()]);
    }
    let entries = fs::read_dir(input).map_err(input_error)?;
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| is_picture(path))
        .collect();
    paths.sort();
    Ok(paths)
}

fn is_picture(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    let known = extension.is_some_and(|e| EXTENSIONS.contains(&e.to_ascii_lowercase().as_str()));
    known && path.is_file()
}

fn source(path: &Path, luma_only: bool) -> Result<Source, Image8Error> {
    let picture = load(path, luma_only)?;
    let stem = path.file_stem().unwrap_or_default();
    Ok(Source {
        name: stem.to_string_lossy().into_owned(),
        path: path.to_owned(),
        width: picture.width(),
        height: picture.height(),
        fingerprint: picture.fingerprint(),
        luma_only,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image8::Channels;

    fn folder_with(names: &[&str]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (i, name) in names.iter().enumerate() {
            let picture = Image8::new(1, 2, Channels::Rgb, vec![i as u8; 6]).unwrap();
            picture.write(&folder.path().join(name)).unwrap();
        }
        folder
    }

    #[test]
    fn folders_are_sorted_and_damage_is_skipped() {
        let folder = folder_with(&["b.png", "a.png"]);
        fs::write(folder.path().join("c.png"), b"no picture").unwrap();
        fs::write(folder.path().join("readme.txt"), b"text").unwrap();
        let (sources, skips) = collect_sources(&[folder.path().to_owned()], false).unwrap();
        let names: Vec<&str> = sources.iter().map(|s| s.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
        assert_eq!(skips.len(), 1);
        assert!(skips[0].what.ends_with("c.png"));
    }

    #[test]
    fn names_must_differ() {
        let folder = folder_with(&["a.png", "a.bmp"]);
        let error = collect_sources(&[folder.path().to_owned()], false).unwrap_err();
        assert!(matches!(error, RunError::DuplicateName(name) if name == "a"));
    }

    #[test]
    fn missing_inputs_are_errors() {
        let nowhere = PathBuf::from("/no/such/folder");
        let error = collect_sources(&[nowhere], false).unwrap_err();
        assert!(matches!(error, RunError::Input { .. }));
        let empty = tempfile::tempdir().unwrap();
        let error = collect_sources(&[empty.path().to_owned()], false).unwrap_err();
        assert!(matches!(error, RunError::NoPictures));
    }
}

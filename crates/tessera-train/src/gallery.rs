//! The pictures a dictionary is learned from, read one at a time.

use crate::error::TrainError;
use borsh::{BorshDeserialize, BorshSerialize};
use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use tessera_codec::image_io::{EXTENSIONS, read_picture};
use tessera_codec::internals::encoder::tune_for_training;
use tessera_codec::internals::tile::{PlaneLayout, TileConfig};
use tessera_codec::{Picture, Rect};
use tessera_patch::Plane;

/// Fewest pictures held out for validation, if there are twice as many.
const FEWEST_VALIDATION: usize = 6;
/// More would take time and not change which dictionary is better.
const MOST_VALIDATION: usize = 32;
/// Runs of neighbouring files that are held out.
const RUNS: usize = 4;

/// A sorted list of picture files.
#[derive(Clone, Debug, Default)]
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

    /// These files at these places, and nothing that can be read at the others.
    pub(crate) fn of_some(numbered: impl IntoIterator<Item = (usize, PathBuf)>) -> Self {
        let mut files = Vec::new();
        for (number, file) in numbered {
            files.resize(files.len().max(number + 1), PathBuf::new());
            files[number] = file;
        }
        Self { files }
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

    /// At most `limit` files, evenly spread over all of them.
    pub fn sampled(self, limit: usize) -> Self {
        let count = self.files.len();
        if count <= limit {
            return self;
        }
        let files = (0..limit).map(|i| self.files[i * count / limit].clone());
        Self {
            files: files.collect(),
        }
    }

    /// Sets a share of the pictures aside: (training, validation); neither is empty if there are two.
    ///
    /// They are taken in a few runs of neighbouring names: a series of shots of the same thing must not
    /// end up on both sides, or learning by heart would look like a gain.
    pub fn hold_out(&self, share: f64) -> (Self, Self) {
        let count = self.files.len();
        let wanted = (share * count as f64).round() as usize;
        let held = wanted.clamp(
            FEWEST_VALIDATION.min(count / 2),
            count.saturating_sub(1).min(MOST_VALIDATION),
        );
        let is_held = |index: usize| {
            // Each run lies in the middle of its part of the list.
            (0..RUNS).any(|run| {
                let part = run * count / RUNS..(run + 1) * count / RUNS;
                let length = (run + 1) * held / RUNS - run * held / RUNS;
                let length = length.min(part.len());
                let start = part.start + (part.len() - length) / 2;
                (start..start + length).contains(&index)
            })
        };
        let pick = |held: bool| Self {
            files: (self.files.iter().enumerate())
                .filter(|(index, _)| is_held(*index) == held)
                .map(|(_, file)| file.clone())
                .collect(),
        };
        (pick(false), pick(true))
    }

    /// All pictures but those with these indices; the same if that would leave fewer than two.
    pub fn without(&self, taken: &[usize]) -> Self {
        let kept = self.files.iter().enumerate();
        let kept = kept.filter(|(index, _)| !taken.contains(index));
        let files: Vec<PathBuf> = kept.map(|(_, file)| file.clone()).collect();
        match files.len() {
            0 | 1 => self.clone(),
            _ => Self { files },
        }
    }

    /// The files.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Reads a picture.
    pub(crate) fn load(&self, index: usize) -> Result<Picture, TrainError> {
        load(&self.files[index]).map_err(|reason| self.unusable(index, &reason))
    }

    /// What is wrong with a picture, by its name.
    pub(crate) fn unusable(&self, index: usize, reason: &dyn fmt::Display) -> TrainError {
        TrainError::Picture(self.files[index].display().to_string(), reason.to_string())
    }

    /// A part of a picture (see [`part_of`]), ready to be encoded.
    pub(crate) fn part(&self, task: &Task) -> Result<(Vec<Plane>, Part), TrainError> {
        let picture = self.load(task.picture)?;
        let mut rect = part_of(&picture, task.crop, task.turn);
        let mut planes = picture
            .planes(rect)
            .map_err(|error| self.unusable(task.picture, &error))?;
        if task.mirrored {
            planes.iter_mut().for_each(mirror);
            rect.x = picture.width() - rect.x - rect.width;
        }
        let part = Part {
            sides: [rect.width, rect.height],
            origin: (rect.x, rect.y),
            gray: planes.len() == 1,
            quantiser: task.quantiser,
        };
        Ok((planes, part))
    }

    /// How many parts of this size a whole picture amounts to.
    pub(crate) fn parts_of(&self, index: usize, crop: u32) -> Result<f64, TrainError> {
        let picture = self.load(index)?;
        let part = part_of(&picture, crop, 0);
        let pixels = |width: u32, height: u32| f64::from(width) * f64::from(height);
        let whole = pixels(picture.width(), picture.height());
        Ok(whole / pixels(part.width, part.height))
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

/// All that has to be known of a part of a picture, beside its samples, to code it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Part {
    sides: [u32; 2],
    origin: (u32, u32),
    gray: bool,
    quantiser: u8,
}

impl Part {
    /// What its tile is coded with.
    pub(crate) fn config(&self) -> TileConfig {
        let mut config = TileConfig {
            width: self.sides[0],
            height: self.sides[1],
            layout: match self.gray {
                true => PlaneLayout::Gray,
                false => PlaneLayout::Ycbcr444,
            },
            quantiser: self.quantiser,
            chroma_offsets: [0; 2],
            adaptive: false,
            graphics: false,
            weights: Default::default(),
            origin: self.origin,
            alpha: false,
        };
        tune_for_training(&mut config);
        config
    }
}

/// A part of a picture to code at one quality.
#[derive(Clone, Copy, Debug, PartialEq, Eq, BorshSerialize, BorshDeserialize)]
pub(crate) struct Task {
    /// Index of the picture in its gallery.
    pub(crate) picture: usize,
    /// Varies the place of the part.
    pub(crate) turn: usize,
    /// Largest side of the part.
    pub(crate) crop: u32,
    /// Luma quantiser.
    pub(crate) quantiser: u8,
    /// Whether the picture is mirrored.
    pub(crate) mirrored: bool,
}

impl Task {
    /// Of the picture as it is.
    pub(crate) fn new(picture: usize, crop: u32, turn: usize, quantiser: u8) -> Self {
        Self {
            picture,
            turn,
            crop,
            quantiser,
            mirrored: false,
        }
    }
}

fn mirror(plane: &mut Plane) {
    for row in plane.data.chunks_exact_mut(plane.width) {
        row.reverse();
    }
}

/// A part of at most `crop` x `crop`, at a place that varies with `turn`.
fn part_of(picture: &Picture, crop: u32, turn: usize) -> Rect {
    let place =
        |size: u32, whole: u32, factor: usize| (turn * factor % (whole - size + 1) as usize) as u32;
    let (width, height) = (picture.width().min(crop), picture.height().min(crop));
    Rect {
        x: place(width, picture.width(), 7919),
        y: place(height, picture.height(), 104_729),
        width,
        height,
    }
}

fn load(file: &Path) -> Result<Picture, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    read_picture(&bytes).map_err(|error| error.to_string())
}

/// An error that says which path it is about.
fn named(path: &Path, error: &std::io::Error) -> std::io::Error {
    let path = path.display();
    let message = match error.kind() {
        ErrorKind::NotFound => {
            format!("{path} does not exist; name pictures, or folders that hold some")
        }
        _ => format!("{path}: {error}"),
    };
    std::io::Error::new(error.kind(), message)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    if !path.is_dir() {
        std::fs::metadata(path).map_err(|error| named(path, &error))?;
        files.push(path.to_path_buf());
        return Ok(());
    }
    for entry in std::fs::read_dir(path).map_err(|error| named(path, &error))? {
        let path = entry?.path();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let ending = ending.map(str::to_ascii_lowercase);
        if path.is_dir() {
            collect(&path, files)?;
        } else if ending.is_some_and(|ending| EXTENSIONS.contains(&ending.as_str())) {
            files.push(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gallery(count: usize) -> Gallery {
        let file = |i: usize| PathBuf::from(format!("{i:04}.png"));
        Gallery {
            files: (0..count).map(file).collect(),
        }
    }

    #[test]
    fn held_out_pictures_are_apart_and_never_all() {
        for count in 2..200 {
            for share in [0.0, 0.1, 0.5, 1.0] {
                let (training, validation) = gallery(count).hold_out(share);
                assert_eq!(training.len() + validation.len(), count, "{count} {share}");
                assert!(
                    !training.is_empty() && !validation.is_empty(),
                    "{count} {share}"
                );
                assert!(validation.len() <= MOST_VALIDATION);
            }
        }
    }

    #[test]
    fn taken_pictures_are_left_out_unless_nothing_would_remain() {
        let rest = gallery(4).without(&[1, 3]);
        assert_eq!(rest.files(), ["0000.png", "0002.png"].map(PathBuf::from));
        assert_eq!(gallery(3).without(&[0, 1]).len(), 3);
    }

    #[test]
    fn samples_are_spread() {
        let sampled = gallery(1000).sampled(10);
        assert_eq!(sampled.len(), 10);
        assert_eq!(sampled.files()[9], PathBuf::from("0900.png"));
        assert_eq!(gallery(5).sampled(10).len(), 5);
    }
}

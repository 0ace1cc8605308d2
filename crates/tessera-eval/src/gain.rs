//! What a learned dictionary gains on pictures: bits at equal PSNR against the default one, beside other codecs.

use crate::bd::{RdCurve, bd_rate};
use crate::codec::{Codec, CodecError, Quality, Registry, Tessera};
use crate::image8::{Image8, Image8Error};
use crate::metrics::{Comparison, Metric, MetricError};
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_dict::Dictionary;
use thiserror::Error;

/// Codecs beside our own, as far as they are built in.
const PEERS: [&[&str]; 3] = [&["jpeg"], &["webp"], &["avifenc-psnr", "avif"]];
/// Our qualities; the range most pictures are kept at.
const LADDER: &str = "0,20,40,60,75,88";
/// The quality at which bytes are told.
const USUAL: &str = "75";
/// PSNR over all samples, the same for gray and colour.
const METRIC: Metric = Metric::PsnrRgb;
/// A smaller gain than this is none.
const WORTH_TELLING: f64 = 0.005;

/// Why nothing was measured.
#[derive(Debug, Error)]
pub enum GainError {
    /// A picture could not be read.
    #[error("{}: {source}", file.display())]
    Picture {
        /// The file.
        file: PathBuf,
        /// What is wrong with it.
        source: Image8Error,
    },
    /// A codec failed.
    #[error("{codec}: {source}")]
    Codec {
        /// Its name.
        codec: String,
        /// What it said.
        source: CodecError,
    },
    /// Pictures could not be compared.
    #[error(transparent)]
    Metric(#[from] MetricError),
    /// Nothing to measure.
    #[error("no pictures to measure the gain on")]
    NoPictures,
}

/// One codec on all pictures.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What it is called in the table.
    pub name: String,
    /// Mean change of the bits at equal PSNR against our default dictionary; `None` where no picture allows it.
    pub change: Option<f64>,
    /// Share of the pictures that take fewer bits.
    pub better: f64,
}

/// What a dictionary gains.
#[derive(Clone, Debug, PartialEq)]
pub struct Gain {
    /// The default dictionary, the new one, and the peers.
    pub rows: Vec<Row>,
    /// Number of pictures.
    pub pictures: usize,
    /// Mean bytes of a file with the default dictionary at usual quality.
    pub usual_bytes: f64,
    /// Bytes of the dictionary.
    pub dictionary_bytes: usize,
}

/// Fewest pictures that are measured, however short the time.
const FEWEST: usize = 2;

/// Whether a change of the bits is a gain.
pub fn is_worth_telling(change: f64) -> bool {
    change <= -WORTH_TELLING
}

/// Measures a dictionary on pictures it was not learned from, as long as `go_on` says so but on two at least.
///
/// # Errors
/// [`GainError`].
pub fn measure(
    files: &[PathBuf],
    dictionary: Dictionary,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Gain, GainError> {
    if files.is_empty() {
        return Err(GainError::NoPictures);
    }
    let difference = dictionary.to_difference(Dictionary::builtin());
    let dictionary_bytes = difference.len().min(dictionary.to_bytes().len());
    let ours = Quality::list(LADDER);
    let mut contenders: Vec<(String, Arc<dyn Codec>, Vec<Quality>)> = vec![
        (
            "default dictionary".into(),
            Arc::new(Tessera::new()),
            ours.clone(),
        ),
        (
            "this dictionary".into(),
            Arc::new(Tessera::with("learned", dictionary)),
            ours,
        ),
    ];
    let registry = Registry::new();
    for names in PEERS {
        // Where there is no AVIF encoder the table has no AVIF.
        let there = names.iter().find_map(|name| registry.get(name).ok());
        if let Some(codec) = there {
            let ladder = codec.ladder();
            contenders.push((codec.name().into(), codec, ladder));
        }
    }
    let begun = AtomicUsize::new(0);
    let measured = files.par_iter().filter_map(|file| {
        if begun.fetch_add(1, Ordering::SeqCst) >= FEWEST && !go_on() {
            return None;
        }
        let picture = read(file);
        Some(picture.and_then(|picture| {
            let contenders = contenders.iter();
            let points = contenders.map(|(_, codec, ladder)| points(&picture, &**codec, ladder));
            points.collect()
        }))
    });
    let pictures: Vec<Vec<Vec<Point>>> = measured.collect::<Result<_, GainError>>()?;
    let rows = contenders.iter().enumerate();
    let rows = rows.map(|(index, (name, ..))| row(name, index, &pictures));
    Ok(Gain {
        rows: rows.collect(),
        pictures: pictures.len(),
        usual_bytes: usual_bytes(&pictures),
        dictionary_bytes,
    })
}

#[derive(Clone, Copy)]
struct Point {
    bytes: f64,
    quality: f64,
    usual: bool,
}

fn read(file: &Path) -> Result<Image8, GainError> {
    Image8::read(file).map_err(|source| GainError::Picture {
        file: file.to_path_buf(),
        source,
    })
}

fn points(
    picture: &Image8,
    codec: &dyn Codec,
    ladder: &[Quality],
) -> Result<Vec<Point>, GainError> {
    let failed = |source| GainError::Codec {
        codec: codec.name().to_owned(),
        source,
    };
    let comparison = Comparison::with(picture);
    let point = |quality: &Quality| {
        let file = codec.encode(picture, quality).map_err(failed)?.value;
        let decoded = codec.decode(&file).map_err(failed)?.value;
        let decoded = decoded.to_channels(picture.channels());
        let value = comparison.measure(&decoded, &[METRIC])?[0];
        Ok(Point {
            bytes: file.len() as f64,
            quality: value.unwrap_or(f64::NAN),
            usual: quality.as_str() == USUAL,
        })
    };
    ladder.iter().map(point).collect()
}

fn row(name: &str, index: usize, pictures: &[Vec<Vec<Point>>]) -> Row {
    let curve = |points: &[Point]| {
        RdCurve::new(
            METRIC,
            points.iter().map(|point| (point.bytes, point.quality)),
        )
    };
    let changes: Vec<f64> = (pictures.iter())
        .filter_map(|picture| bd_rate(&curve(&picture[0]), &curve(&picture[index])).ok())
        .map(|rate| rate.change)
        .collect();
    let count = changes.len() as f64;
    Row {
        name: name.to_owned(),
        change: (!changes.is_empty()).then(|| changes.iter().sum::<f64>() / count),
        better: changes.iter().filter(|&&change| change < 0.0).count() as f64 / count.max(1.0),
    }
}

fn usual_bytes(pictures: &[Vec<Vec<Point>>]) -> f64 {
    let usual = pictures.iter().flat_map(|picture| &picture[0]);
    let bytes: Vec<f64> = usual.filter(|p| p.usual).map(|p| p.bytes).collect();
    bytes.iter().sum::<f64>() / bytes.len().max(1) as f64
}

impl Gain {
    /// Change of the bits at equal PSNR from the default dictionary to the new one.
    pub fn change(&self) -> Option<f64> {
        self.rows.get(1).and_then(|row| row.change)
    }

    /// Whether the dictionary is worth having instead of the default one.
    pub fn is_worth_telling(&self) -> bool {
        self.change().is_some_and(is_worth_telling)
    }

    /// The table and what follows from it, for people.
    pub fn to_text(&self) -> String {
        let mut text = format!(
            "bits at equal PSNR on {} pictures not trained on, against the default dictionary\n",
            self.pictures
        );
        for row in &self.rows {
            let change = match row.change {
                Some(change) => format!("{:+6.1} %", 100.0 * change),
                None => "      -".into(),
            };
            let better = match row.name.as_str() {
                "default dictionary" => String::new(),
                _ => format!("   smaller on {:.0} % of them", 100.0 * row.better),
            };
            text += &format!("  {:20} {change}{better}\n", row.name);
        }
        text + &self.verdict()
    }

    /// Whether the dictionary is worth having, and after how many pictures.
    fn verdict(&self) -> String {
        let change = self.change().unwrap_or(0.0);
        if !is_worth_telling(change) {
            return "This collection does not profit from a dictionary of its own: \
                    keep the default one.\n"
                .into();
        }
        let saved = -change * self.usual_bytes;
        let pays = self.dictionary_bytes as f64 / saved.max(1e-9);
        format!(
            "A file of usual quality takes {:.0} bytes with the default dictionary and {saved:.0} fewer with this one, \
             which has {} bytes itself: it pays from {} pictures on.\n",
            self.usual_bytes,
            self.dictionary_bytes,
            pays.ceil()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gain(change: f64) -> Gain {
        let row = |name: &str, change| Row {
            name: name.into(),
            change: Some(change),
            better: 1.0,
        };
        Gain {
            rows: vec![
                row("default dictionary", 0.0),
                row("this dictionary", change),
            ],
            pictures: 3,
            usual_bytes: 1000.0,
            dictionary_bytes: 50_000,
        }
    }

    #[test]
    fn a_gain_is_weighed_against_the_dictionary() {
        let text = gain(-0.1).to_text();
        assert!(text.contains("-10.0 %"), "{text}");
        assert!(text.contains("pays from 500 pictures on"), "{text}");
    }

    #[test]
    fn no_gain_is_said_plainly() {
        for change in [-0.001, 0.02] {
            let text = gain(change).to_text();
            assert!(text.contains("does not profit"), "{text}");
        }
    }

    #[test]
    fn the_default_dictionary_gains_nothing_over_itself() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.png");
        let noise = |i: u32| (i.wrapping_mul(2_654_435_761) >> 24) as u8;
        let samples = (0..48 * 48)
            .map(|i| noise(i) / 2 + (i % 48) as u8)
            .collect();
        let picture = Image8::new(48, 48, crate::image8::Channels::Gray, samples).unwrap();
        picture.write(&file).unwrap();
        let default = Dictionary::builtin().clone();
        let found = measure(std::slice::from_ref(&file), default, &|| true).unwrap();
        assert!(found.change().unwrap().abs() < 1e-9, "{found:?}");
        assert!(
            found
                .rows
                .iter()
                .any(|row| row.name == "webp" && row.change.is_some())
        );
        assert!(matches!(
            measure(&[], Dictionary::builtin().clone(), &|| true),
            Err(GainError::NoPictures)
        ));
    }
}

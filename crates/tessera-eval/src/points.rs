//! Measured points and the file that keeps them: `points.csv`, appended to as a run goes on.
//!
//! Points may come from elsewhere. Two columns, which those may lack, decide whether a point may be
//! reused: `setup` stands for the codec's version and settings, `source` for the picture's samples.

use crate::metrics::Metric;
use crate::timing::Cost;
use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why the points could not be kept.
#[derive(Debug, Error)]
pub enum PointsError {
    /// The file cannot be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
    /// The file has no header of a points file.
    #[error("{}: no column '{column}'; is it a points file?", path.display())]
    Header {
        /// The file.
        path: PathBuf,
        /// The missing column.
        column: &'static str,
    },
}

/// One picture through one codec at one quality.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The codec's name.
    pub codec: String,
    /// The picture's name.
    pub image: String,
    /// The quality as written.
    pub quality: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size of the file.
    pub bytes: u64,
    /// Metrics measured; NaN where the picture is too small for one.
    pub values: BTreeMap<Metric, f64>,
    /// Cost of encoding.
    pub encode: Cost,
    /// Cost of decoding.
    pub decode: Cost,
    /// [`crate::codec::Codec::setup`] of the codec; 0 in foreign files.
    pub setup: u32,
    /// [`crate::image8::Image8::fingerprint`] of the original; 0 in foreign files.
    pub source: u32,
}

impl Point {
    /// Bits per pixel.
    #[must_use]
    pub fn bpp(&self) -> f64 {
        self.bytes as f64 * 8.0 / self.pixels()
    }

    /// Number of pixels.
    #[must_use]
    pub fn pixels(&self) -> f64 {
        f64::from(self.width) * f64::from(self.height)
    }

    /// A metric, if it was measured and is defined.
    #[must_use]
    pub fn value(&self, metric: Metric) -> Option<f64> {
        self.values.get(&metric).copied().filter(|v| !v.is_nan())
    }

    /// Codec, picture and quality.
    #[must_use]
    pub fn key(&self) -> PointKey {
        PointKey::new(&self.codec, &self.image, &self.quality)
    }
}

/// Rounds to what the file keeps, so that a resumed run sees the very numbers of the first.
#[must_use]
pub fn file_precision(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// What a point is looked up by; the order is that of the finished file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointKey {
    codec: String,
    image: String,
    quality: String,
}

impl PointKey {
    /// A key from its parts.
    #[must_use]
    pub fn new(codec: &str, image: &str, quality: &str) -> Self {
        Self {
            codec: codec.to_owned(),
            image: image.to_owned(),
            quality: quality.to_owned(),
        }
    }
}

impl Ord for PointKey {
    fn cmp(&self, other: &Self) -> Ordering {
        let number = |key: &Self| key.quality.parse().unwrap_or(f64::INFINITY);
        (&self.codec, &self.image)
            .cmp(&(&other.codec, &other.image))
            .then(number(self).total_cmp(&number(other)))
            .then_with(|| self.quality.cmp(&other.quality))
    }
}

impl PartialOrd for PointKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

const COLUMNS: [&str; 20] = [
    "codec",
    "image",
    "q",
    "width",
    "height",
    "bytes",
    "bpp",
    "psnr_y",
    "psnr_yuv",
    "psnr_rgb",
    "msssim",
    "msssim_db",
    "ssimu2",
    "ba3",
    "enc_s",
    "dec_s",
    "enc_wall",
    "dec_wall",
    "setup",
    "source",
];

fn cell(point: &Point, column: &str) -> String {
    match column {
        "codec" => point.codec.clone(),
        "image" => point.image.clone(),
        "q" => point.quality.clone(),
        "width" => point.width.to_string(),
        "height" => point.height.to_string(),
        "bytes" => point.bytes.to_string(),
        "bpp" => file_precision(point.bpp()).to_string(),
        "enc_s" => file_precision(point.encode.cpu).to_string(),
        "dec_s" => file_precision(point.decode.cpu).to_string(),
        "enc_wall" => file_precision(point.encode.wall).to_string(),
        "dec_wall" => file_precision(point.decode.wall).to_string(),
        "setup" => point.setup.to_string(),
        "source" => point.source.to_string(),
        metric => {
            let known = Metric::ALL.into_iter().find(|m| m.column() == metric);
            let value = known.and_then(|m| point.values.get(&m));
            value.map_or_else(String::new, |v| file_precision(*v).to_string())
        }
    }
}

fn parse(row: &BTreeMap<&str, &str>) -> Option<Point> {
    let number = |column| row.get(column).and_then(|c| c.parse::<f64>().ok());
    let seconds = |column| number(column).unwrap_or(0.0);
    let identity = |column| row.get(column).and_then(|c| c.parse().ok()).unwrap_or(0);
    let values = Metric::ALL
        .into_iter()
        .filter_map(|m| Some((m, number(m.column())?)));
    Some(Point {
        codec: (*row.get("codec")?).to_owned(),
        image: (*row.get("image")?).to_owned(),
        quality: (*row.get("q")?).to_owned(),
        width: row.get("width")?.parse().ok()?,
        height: row.get("height")?.parse().ok()?,
        bytes: row.get("bytes")?.parse().ok()?,
        values: values.collect(),
        encode: Cost {
            cpu: seconds("enc_s"),
            wall: seconds("enc_wall"),
        },
        decode: Cost {
            cpu: seconds("dec_s"),
            wall: seconds("dec_wall"),
        },
        setup: identity("setup"),
        source: identity("source"),
    })
}

/// Reads a points file, ours or one made elsewhere; a row that an interruption tore is left out.
///
/// # Errors
/// [`PointsError`] if the file cannot be read or lacks the key columns.
pub fn read_points(path: &Path) -> Result<Vec<Point>, PointsError> {
    let file = File::open(path).map_err(io_error(path))?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(file);
    let header = reader.headers().map_err(csv_error(path))?.clone();
    for column in ["codec", "image", "q", "width", "height", "bytes"] {
        if !header.iter().any(|name| name == column) {
            let path = path.to_owned();
            return Err(PointsError::Header { path, column });
        }
    }
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.map_err(csv_error(path))?;
        let complete = record.len() == header.len();
        let row = header.iter().zip(record.iter()).collect();
        points.extend(complete.then(|| parse(&row)).flatten());
    }
    Ok(points)
}

/// The points of a report folder: those of earlier runs and those this one adds.
#[derive(Debug)]
pub struct PointStore {
    path: PathBuf,
    file: File,
    points: BTreeMap<PointKey, Point>,
}

impl PointStore {
    /// Opens or creates the file, and mends what an interrupted run left behind.
    ///
    /// # Errors
    /// [`PointsError`] if the file cannot be read or written, or is no points file.
    pub fn open(path: &Path) -> Result<Self, PointsError> {
        let exists = path.metadata().is_ok_and(|meta| meta.len() > 0);
        let earlier = if exists {
            read_points(path)?
        } else {
            Vec::new()
        };
        let points = earlier.into_iter().map(|p| (p.key(), p)).collect();
        write_points(path, &points)?;
        let file = OpenOptions::new().append(true).open(path);
        Ok(Self {
            path: path.to_owned(),
            file: file.map_err(io_error(path))?,
            points,
        })
    }

    /// The point of a key, if it was measured.
    #[must_use]
    pub fn get(&self, key: &PointKey) -> Option<&Point> {
        self.points.get(key)
    }

    /// Adds a point, to the file first, by a single write of the whole row.
    ///
    /// Metrics that an earlier measurement of the same setup and source had are kept.
    ///
    /// # Errors
    /// [`PointsError::Io`] if the file cannot be written.
    pub fn add(&mut self, mut point: Point) -> Result<(), PointsError> {
        let same = |p: &&Point| (p.setup, p.source) == (point.setup, point.source);
        if let Some(earlier) = self.points.get(&point.key()).filter(same) {
            for (metric, value) in &earlier.values {
                point.values.entry(*metric).or_insert(*value);
            }
        }
        let row = rows(std::iter::once(&point), false).map_err(io_error(&self.path))?;
        self.file.write_all(&row).map_err(io_error(&self.path))?;
        self.points.insert(point.key(), point);
        Ok(())
    }

    /// Rewrites the file in order, so that it does not depend on which job was quicker.
    ///
    /// # Errors
    /// [`PointsError::Io`] if the file cannot be written.
    pub fn finish(self) -> Result<(), PointsError> {
        write_points(&self.path, &self.points)
    }
}

/// Replaces the file by way of another one: never half a file, whatever happens.
fn write_points(path: &Path, points: &BTreeMap<PointKey, Point>) -> Result<(), PointsError> {
    let bytes = rows(points.values(), true).map_err(io_error(path))?;
    let fresh = path.with_extension("csv.new");
    fs::write(&fresh, bytes).map_err(io_error(&fresh))?;
    fs::rename(&fresh, path).map_err(io_error(path))
}

fn rows<'a>(points: impl Iterator<Item = &'a Point>, with_header: bool) -> io::Result<Vec<u8>> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    if with_header {
        writer.write_record(COLUMNS)?;
    }
    for point in points {
        writer.write_record(COLUMNS.map(|column| cell(point, column)))?;
    }
    writer.into_inner().map_err(|error| error.into_error())
}

fn io_error(path: &Path) -> impl Fn(io::Error) -> PointsError + '_ {
    |source| PointsError::Io {
        path: path.to_owned(),
        source,
    }
}

fn csv_error(path: &Path) -> impl Fn(csv::Error) -> PointsError + '_ {
    |error| io_error(path)(error.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(codec: &str, quality: &str, psnr: f64) -> Point {
        Point {
            codec: codec.into(),
            image: "a, \"b\"".into(),
            quality: quality.into(),
            width: 10,
            height: 20,
            bytes: 77,
            values: BTreeMap::from([(Metric::PsnrY, psnr)]),
            encode: Cost {
                cpu: 0.5,
                wall: 0.6,
            },
            decode: Cost {
                cpu: 0.1,
                wall: 0.2,
            },
            setup: 1,
            source: 2,
        }
    }

    #[test]
    fn points_survive_the_file_and_come_out_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        let mut store = PointStore::open(&path).unwrap();
        let points = ["20", "5", "100"].map(|q| point("x", q, 31.25));
        for p in &points {
            store.add(p.clone()).unwrap();
        }
        store.finish().unwrap();
        let read = read_points(&path).unwrap();
        let order: Vec<&str> = read.iter().map(|p| p.quality.as_str()).collect();
        assert_eq!(order, ["5", "20", "100"]);
        assert_eq!(read[1], points[0]);
    }

    #[test]
    fn a_torn_row_is_mended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        let mut store = PointStore::open(&path).unwrap();
        store.add(point("x", "1", 30.0)).unwrap();
        store.add(point("x", "2", 31.0)).unwrap();
        drop(store);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, &text[..text.len() - 20]).unwrap();
        let mut store = PointStore::open(&path).unwrap();
        assert!(store.get(&point("x", "2", 0.0).key()).is_none());
        store.add(point("x", "2", 31.0)).unwrap();
        drop(store);
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
    }

    #[test]
    fn metrics_are_merged_only_for_the_same_setup() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = PointStore::open(&folder.path().join("p.csv")).unwrap();
        store.add(point("x", "1", 30.0)).unwrap();
        let mut more = point("x", "1", 30.0);
        more.values = BTreeMap::from([(Metric::MsSsim, f64::NAN)]);
        store.add(more.clone()).unwrap();
        let merged = store.get(&more.key()).unwrap();
        assert_eq!(merged.value(Metric::PsnrY), Some(30.0));
        assert!(merged.values.contains_key(&Metric::MsSsim));
        assert_eq!(merged.value(Metric::MsSsim), None);
        more.setup = 9;
        store.add(more.clone()).unwrap();
        assert_eq!(store.get(&more.key()).unwrap().values.len(), 1);
    }

    #[test]
    fn a_file_of_another_kind_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("points.csv");
        fs::write(&path, "name,value\nx,1\n").unwrap();
        let error = PointStore::open(&path).unwrap_err();
        assert!(error.to_string().contains("no column 'codec'"), "{error}");
    }
}

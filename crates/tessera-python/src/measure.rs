//! Metrics and rate-distortion points.

use crate::dictionary::Dictionary;
use crate::encoder::picture;
use crate::errors::exception;
use crate::interrupt::interruptible;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use tessera_eval::bd::{self, RdCurve};
use tessera_eval::codec::{Quality, Registry, Tessera};
use tessera_eval::image8::Image8;
use tessera_eval::metrics::{Comparison, Metric};
use tessera_eval::points::{Point, PointStore};
use tessera_eval::run::{Ladder, Observer, Plan, ReportStage, Skip, collect_sources};

type Failure = Box<dyn Error + Send + Sync>;

/// The metrics of `distorted` against `reference`; those that pictures of this size do not have are `None`.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    reference: &Bound<'_, PyAny>,
    distorted: &Bound<'_, PyAny>,
    metrics: Vec<String>,
) -> PyResult<Vec<Option<f64>>> {
    let pictures = [picture(py, reference, None)?, picture(py, distorted, None)?];
    let compared = interruptible(py, |_| {
        let metrics = parse_metrics(&metrics)?;
        let [reference, distorted] = pictures.map(Image8::from_picture);
        let reference = reference?;
        Ok::<_, Failure>(Comparison::with(&reference).measure(&distorted?, &metrics)?)
    })?;
    compared.map_err(|error| refused(py, &error))
}

/// The change of the rate at equal quality from one curve of (bits per pixel, metric) to another, as a fraction.
#[pyfunction]
pub(crate) fn bd_rate(
    py: Python<'_>,
    metric: String,
    anchor: Vec<(f64, f64)>,
    test: Vec<(f64, f64)>,
) -> PyResult<f64> {
    let change = || {
        let metric: Metric = metric.parse()?;
        let (anchor, test) = (RdCurve::new(metric, anchor), RdCurve::new(metric, test));
        Ok::<_, Failure>(bd::bd_rate(&anchor, &test)?.change)
    };
    change().map_err(|error| refused(py, &error))
}

/// Codes one picture file with every codec at every quality; returns points, and what could not be measured.
#[pyfunction]
#[pyo3(signature = (name, file, codecs, metrics, *, dictionary = None))]
pub(crate) fn measure<'py>(
    py: Python<'py>,
    name: String,
    file: &[u8],
    codecs: Vec<(String, Vec<String>)>,
    metrics: Vec<String>,
    dictionary: Option<Dictionary>,
) -> PyResult<(Vec<Bound<'py, PyDict>>, Vec<String>)> {
    let measured = interruptible(py, |_| {
        let plan = Plan {
            sources: Vec::new(),
            ladders: ladders(codecs, dictionary)?,
            metrics: parse_metrics(&metrics)?,
        };
        measure_file(plan, &name, file)
    })?;
    let (points, skipped) = measured.map_err(|error| refused(py, &error))?;
    let points = points.iter().map(|point| to_dict(py, point));
    Ok((points.collect::<PyResult<_>>()?, skipped))
}

fn ladders(
    codecs: Vec<(String, Vec<String>)>,
    dictionary: Option<Dictionary>,
) -> Result<Vec<Ladder>, Failure> {
    let mut registry = Registry::new();
    if let Some(dictionary) = dictionary {
        let own = Tessera::with("tessera-own", dictionary.0.dictionary().clone());
        registry.add(Arc::new(own), "given")?;
    }
    let ladder = |(name, qualities): (String, Vec<String>)| {
        let codec = registry.get(&name)?;
        let given: Vec<Quality> = qualities.into_iter().map(Quality::new).collect();
        let qualities = match given.is_empty() {
            true => codec.ladder(),
            false => given,
        };
        Ok(Ladder { codec, qualities })
    };
    codecs.into_iter().map(ladder).collect()
}

/// The crate measures files in folders; this one has its own for as long as it takes.
fn measure_file(
    mut plan: Plan,
    name: &str,
    file: &[u8],
) -> Result<(Vec<Point>, Vec<String>), Failure> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("picture");
    std::fs::write(&path, file)?;
    let (mut sources, skipped) = collect_sources(&[path], false)?;
    sources
        .iter_mut()
        .for_each(|source| name.clone_into(&mut source.name));
    plan.sources = sources;
    let mut store = PointStore::open(&folder.path().join("points.csv"))?;
    let failed = plan.measure(&mut store, 1, &Silent)?;
    let told = |skip: Skip| format!("{}: {}", skip.what, skip.reason);
    let skipped = skipped.into_iter().chain(failed).map(told).collect();
    Ok((plan.points(&store), skipped))
}

struct Silent;

impl Observer for Silent {
    fn started(&self, _: usize, _: usize) {}
    fn measured(&self, _: &Point) {}
    fn skipped(&self, _: &Skip) {}
    fn reporting(&self, _: ReportStage) {}
}

fn parse_metrics(names: &[String]) -> Result<Vec<Metric>, Failure> {
    let metrics: Result<Vec<Metric>, _> = names.iter().map(|name| name.parse()).collect();
    Ok(metrics?)
}

fn to_dict<'py>(py: Python<'py>, point: &Point) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("codec", &point.codec)?;
    dict.set_item("image", &point.image)?;
    dict.set_item("quality", &point.quality)?;
    dict.set_item("width", point.width)?;
    dict.set_item("height", point.height)?;
    dict.set_item("bytes", point.bytes)?;
    dict.set_item("bpp", point.bpp())?;
    dict.set_item("encode_seconds", point.encode.cpu)?;
    dict.set_item("decode_seconds", point.decode.cpu)?;
    let values: BTreeMap<&str, f64> = (point.values.iter())
        .map(|(metric, value)| (metric.name(), *value))
        .collect();
    dict.set_item("metrics", values)?;
    Ok(dict)
}

fn refused(py: Python<'_>, error: &Failure) -> PyErr {
    exception(py, "ParameterError", error)
}

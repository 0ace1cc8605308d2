//! A whole rate-distortion run: find the pictures, measure, report.

use crate::codec::{CodecError, Quality, Registry};
use crate::metrics::Metric;
use crate::points::{Point, PointStore, PointsError, read_points};
use crate::report::{
    CodecInfo, PictureInfo, Report, ReportError, ReportInput, ViewerOptions, exhibits,
};
use crate::run::{Ladder, Observer, Plan, ReportStage, RunError, collect_sources};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::fs;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// The anchor if it is measured and the user names none.
const DEFAULT_ANCHOR: &str = "jpeg";

/// Why a run ended without a report.
#[derive(Debug, Error)]
pub enum RdError {
    /// A codec cannot be used.
    #[error(transparent)]
    Codec(#[from] CodecError),
    /// Measuring failed as a whole.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The points could not be kept.
    #[error(transparent)]
    Points(#[from] PointsError),
    /// The report could not be written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// The anchor is not among the codecs.
    #[error("the anchor '{anchor}' is not among the codecs: {codecs}")]
    Anchor {
        /// As given.
        anchor: String,
        /// What there is.
        codecs: String,
    },
    /// Nothing was asked for.
    #[error("no {0} given")]
    Nothing(&'static str),
    /// A name would stand for two codecs.
    #[error("the codec '{0}' is given twice")]
    Duplicate(String),
    /// An imported file has nothing to offer.
    #[error("{}: no points of the pictures measured{}", path.display(), of_codec.as_ref().map_or_else(String::new, |c| format!(" by '{c}'")))]
    EmptyImport {
        /// The file.
        path: PathBuf,
        /// The codec asked for, if one was.
        of_codec: Option<String>,
    },
    /// The report folder cannot be made.
    #[error("{}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
}

/// Qualities for one codec, or for all that are not named elsewhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QualityChoice {
    /// The codec; `None` for all.
    pub codec: Option<String>,
    /// Its qualities.
    pub qualities: Vec<Quality>,
}

/// Points measured elsewhere, to be shown beside ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// A file in the columns of `points.csv`.
    pub path: PathBuf,
    /// The codecs wanted; none for all.
    pub codecs: Vec<String>,
}

/// What a run is asked to do.
#[derive(Clone, Debug)]
pub struct Request {
    /// Pictures and folders of pictures.
    pub inputs: Vec<PathBuf>,
    /// Measure the luma of colour pictures only.
    pub luma_only: bool,
    /// Names of codecs, in the order of the report.
    pub codecs: Vec<String>,
    /// Qualities other than the codecs' own ladders.
    pub qualities: Vec<QualityChoice>,
    /// Metrics, in the order of the report.
    pub metrics: Vec<Metric>,
    /// The codec that BD-rates compare with.
    pub anchor: Option<String>,
    /// Points from elsewhere.
    pub imports: Vec<Import>,
    /// Jobs at a time.
    pub jobs: usize,
    /// Pictures inside the report.
    pub viewer: ViewerOptions,
    /// The report folder, which also holds the points of earlier runs.
    pub folder: PathBuf,
}

/// What a run made.
#[derive(Debug)]
pub struct RdOutput {
    /// The figures.
    pub report: Report,
    /// The files written, `points.csv` first.
    pub files: Vec<PathBuf>,
}

/// Measures what is missing and writes the report.
///
/// Pictures that cannot be read and points that fail are reported and left out; they are in the
/// report's [`Report::skipped`].
///
/// # Errors
/// [`RdError`] if the request makes no sense or nothing can be measured or written.
pub fn execute(
    request: &Request,
    registry: &Registry,
    observer: &dyn Observer,
) -> Result<RdOutput, RdError> {
    let ladders = ladders(request, registry)?;
    if request.metrics.is_empty() {
        return Err(RdError::Nothing("metric"));
    }
    let (sources, mut skipped) = collect_sources(&request.inputs, request.luma_only)?;
    skipped.iter().for_each(|skip| observer.skipped(skip));
    let plan = Plan {
        sources,
        ladders,
        metrics: request.metrics.clone(),
    };
    let imported = imported(&request.imports, &plan)?;
    let codecs = codec_infos(&plan, &imported)?;
    let anchor = anchor(request.anchor.as_deref(), &codecs)?;
    fs::create_dir_all(&request.folder).map_err(|source| RdError::Folder {
        path: request.folder.clone(),
        source,
    })?;
    let points_path = request.folder.join("points.csv");
    let mut store = PointStore::open(&points_path)?;
    skipped.extend(plan.measure(&mut store, request.jobs, observer)?);
    let mut points = plan.points(&store);
    store.finish()?;
    points.extend(imported.into_iter().flat_map(|(_, points)| points));
    observer.reporting(ReportStage::Figures);
    let mut report = Report::new(ReportInput {
        codecs,
        pictures: plan.sources.iter().map(PictureInfo::from).collect(),
        metrics: request.metrics.clone(),
        anchor,
        points,
        skipped,
    });
    let (shown, failures) =
        pool(request.jobs)?.install(|| exhibits(&plan, &report, request.viewer, observer));
    failures.iter().for_each(|skip| observer.skipped(skip));
    report.skipped.extend(failures);
    observer.reporting(ReportStage::Writing);
    let mut files = vec![points_path];
    files.extend(report.write(&request.folder, &shown)?);
    Ok(RdOutput { report, files })
}

fn pool(jobs: usize) -> Result<ThreadPool, RunError> {
    ThreadPoolBuilder::new()
        .num_threads(jobs.max(1))
        .build()
        .map_err(|error| RunError::Threads(error.to_string()))
}

fn ladders(request: &Request, registry: &Registry) -> Result<Vec<Ladder>, RdError> {
    if request.codecs.is_empty() && request.imports.is_empty() {
        return Err(RdError::Nothing("codec"));
    }
    for choice in &request.qualities {
        if let Some(name) = &choice.codec {
            registry.get(name)?;
        }
    }
    let ladder = |name: &String| {
        let codec = registry.get(name)?;
        let chosen = |wanted: Option<&String>| {
            let mut choices = request.qualities.iter();
            choices.find(|choice| choice.codec.as_ref() == wanted)
        };
        let qualities = chosen(Some(name))
            .or_else(|| chosen(None))
            .map_or_else(|| codec.ladder(), |choice| choice.qualities.clone());
        Ok(Ladder { codec, qualities })
    };
    request.codecs.iter().map(ladder).collect()
}

/// The wanted codecs of the files, with their points of the plan's pictures.
fn imported(imports: &[Import], plan: &Plan) -> Result<Vec<(CodecInfo, Vec<Point>)>, RdError> {
    let mut found: Vec<(CodecInfo, Vec<Point>)> = Vec::new();
    for import in imports {
        let points = read_points(&import.path)?;
        let known = points.into_iter().filter(|point| {
            let same = |s: &crate::run::Source| {
                (s.name.as_str(), s.width, s.height) == (&point.image, point.width, point.height)
            };
            plan.sources.iter().any(same)
                && (import.codecs.is_empty() || import.codecs.contains(&point.codec))
        });
        let first = found.len();
        for point in known {
            let mut ours = found[first..].iter_mut();
            match ours.find(|(info, _)| info.name == point.codec) {
                Some((info, points)) => {
                    if !info.qualities.contains(&point.quality) {
                        info.qualities.push(point.quality.clone());
                    }
                    points.push(point);
                }
                None => found.push((imported_info(&point, &import.path), vec![point])),
            }
        }
        check_import(import, &found[first..])?;
    }
    Ok(found)
}

fn check_import(import: &Import, found: &[(CodecInfo, Vec<Point>)]) -> Result<(), RdError> {
    let lacks = |name: &&String| !found.iter().any(|(info, _)| info.name == **name);
    let missing = import.codecs.iter().find(lacks);
    if found.is_empty() || missing.is_some() {
        return Err(RdError::EmptyImport {
            path: import.path.clone(),
            of_codec: missing.cloned(),
        });
    }
    Ok(())
}

fn imported_info(point: &Point, path: &Path) -> CodecInfo {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    CodecInfo {
        name: point.codec.clone(),
        version: format!("measured elsewhere, imported from {file}"),
        settings: "see there".into(),
        single_threaded: false,
        qualities: vec![point.quality.clone()],
    }
}

fn codec_infos(
    plan: &Plan,
    imported: &[(CodecInfo, Vec<Point>)],
) -> Result<Vec<CodecInfo>, RdError> {
    let measured = plan.ladders.iter().map(CodecInfo::of);
    let infos: Vec<CodecInfo> = measured
        .chain(imported.iter().map(|(info, _)| info.clone()))
        .collect();
    for (i, info) in infos.iter().enumerate() {
        if infos[..i].iter().any(|earlier| earlier.name == info.name) {
            return Err(RdError::Duplicate(info.name.clone()));
        }
    }
    Ok(infos)
}

fn anchor(wanted: Option<&str>, codecs: &[CodecInfo]) -> Result<String, RdError> {
    let has = |name: &str| codecs.iter().any(|codec| codec.name == name);
    let anchor = match wanted {
        Some(name) => name,
        None if has(DEFAULT_ANCHOR) => DEFAULT_ANCHOR,
        None => codecs.first().map_or(DEFAULT_ANCHOR, |codec| &codec.name),
    };
    if has(anchor) {
        return Ok(anchor.to_owned());
    }
    let names: Vec<&str> = codecs.iter().map(|codec| codec.name.as_str()).collect();
    Err(RdError::Anchor {
        anchor: anchor.to_owned(),
        codecs: names.join(", "),
    })
}

//! Exhibits of the viewer: an original and what every codec makes of it in the same number of bytes.
//!
//! Pictures are embedded decoded, as lossless WebP, Tessera's like all others. Its files themselves would need decoder and
//! dictionary in every report, 2.9 MB, which is what six pictures of half a megapixel take; other codecs' pictures would
//! stay, and the command could not be built without a compiler for WebAssembly.

use super::model::Report;
use crate::codec::{Codec, CodecError, Quality, Tuning, webp_lossless};
use crate::image8::Image8;
use crate::metrics::Comparison;
use crate::run::{Observer, Plan, ReportStage, Skip, Source};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rayon::prelude::*;
use serde::Serialize;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Encodings per codec and picture that the search for a size may cost.
const MAX_TRIES: usize = 8;

/// A file this close to the target is close enough.
const SIZE_TOLERANCE: f64 = 0.01;

/// What the viewer shows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ViewerOptions {
    /// Number of pictures; 0 for no viewer.
    pub pictures: usize,
    /// The common rate, in bits per pixel.
    pub bpp: f64,
}

/// One codec's version of a picture.
#[derive(Clone, Debug, Serialize)]
pub struct Coded {
    /// The codec.
    pub codec: String,
    /// The quality that came closest to the target size.
    pub quality: String,
    /// Size of the file.
    pub bytes: usize,
    /// Metrics in words, in the report's order.
    pub values: Vec<String>,
    /// The decoded picture, lossless, as a data URI.
    pub image: String,
}

/// One picture of the viewer.
#[derive(Clone, Debug, Serialize)]
pub struct Exhibit {
    /// The picture's name.
    pub picture: String,
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Size that every codec was tuned to.
    pub target_bytes: usize,
    /// The original, lossless, as a data URI.
    pub original: String,
    /// Every codec's version.
    pub coded: Vec<Coded>,
}

/// Makes the exhibits: pictures from the worst to the best of the first codec that is not the
/// anchor, each coded by every codec to (nearly) the same size.
///
/// Pictures are done in parallel on the current rayon pool. What fails is returned as skips; a report without an exhibit
/// is still a report.
#[must_use]
pub fn exhibits(
    plan: &Plan,
    report: &Report,
    options: ViewerOptions,
    observer: &dyn Observer,
) -> (Vec<Exhibit>, Vec<Skip>) {
    let chosen = chosen_sources(plan, report, options.pictures);
    let total = chosen.len() * plan.ladders.len();
    let done = AtomicUsize::new(0);
    observer.reporting(ReportStage::Viewer { done: 0, total });
    let version_done = || {
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        observer.reporting(ReportStage::Viewer { done, total });
    };
    let results: Vec<(Result<Exhibit, CodecError>, Vec<Skip>)> = chosen
        .par_iter()
        .map(|source| exhibit(plan, report, source, options.bpp, &version_done))
        .collect();
    let mut shown = Vec::new();
    let mut skips = Vec::new();
    for (source, (result, failures)) in chosen.iter().zip(results) {
        skips.extend(failures);
        match result {
            Ok(exhibit) => shown.push(exhibit),
            Err(error) => skips.push(viewer_skip(&source.name, &error)),
        }
    }
    (shown, skips)
}

fn viewer_skip(what: &str, error: &CodecError) -> Skip {
    Skip {
        what: format!("{what} in the viewer"),
        reason: error.to_string(),
    }
}

/// Evenly spread over the ranking by BD-rate, worst first; over the list if there is no ranking.
fn chosen_sources<'a>(plan: &'a Plan, report: &Report, count: usize) -> Vec<&'a Source> {
    let ranked = ranking(report);
    let mut sources: Vec<&Source> = plan.sources.iter().collect();
    sources.sort_by_key(|s| ranked.iter().position(|name| *name == s.name));
    let count = count.min(sources.len());
    let spread = |k: usize| match count {
        1 => 0,
        _ => k * (sources.len() - 1) / (count - 1),
    };
    (0..count).map(|k| sources[spread(k)]).collect()
}

fn ranking(report: &Report) -> Vec<String> {
    let ours = report.codecs.iter().find(|c| c.name != report.anchor);
    let row = ours.and_then(|codec| report.bd_row(*report.metrics.first()?, &codec.name));
    let mut changes: Vec<(f64, String)> = row
        .map_or(&[][..], |row| &row.pictures)
        .iter()
        .filter_map(|p| Some((p.rate?.change, p.picture.clone())))
        .collect();
    changes.sort_by(|a, b| b.0.total_cmp(&a.0));
    changes.into_iter().map(|(_, name)| name).collect()
}

fn exhibit(
    plan: &Plan,
    report: &Report,
    source: &Source,
    bpp: f64,
    version_done: &dyn Fn(),
) -> (Result<Exhibit, CodecError>, Vec<Skip>) {
    let picture = match source.load() {
        Ok(picture) => picture,
        Err(error) => return (Err(error.into()), Vec::new()),
    };
    let target = (bpp * picture.pixel_count() as f64 / 8.0).round().max(1.0) as usize;
    let comparison = Comparison::with(&picture);
    let mut coded = Vec::new();
    let mut skips = Vec::new();
    for ladder in &plan.ladders {
        let codec = &*ladder.codec;
        let version =
            tuned(codec, report, source, &picture, target).and_then(|(quality, bytes)| {
                show(codec, report, &picture, &comparison, quality, &bytes)
            });
        match version {
            Ok(version) => coded.push(version),
            Err(error) => skips.push(viewer_skip(
                &format!("{} on {}", codec.name(), source.name),
                &error,
            )),
        }
        version_done();
    }
    let exhibit = data_uri(&picture).map(|original| Exhibit {
        picture: source.name.clone(),
        width: picture.width(),
        height: picture.height(),
        target_bytes: target,
        original,
        coded,
    });
    (exhibit, skips)
}

fn show(
    codec: &dyn Codec,
    report: &Report,
    picture: &Image8,
    comparison: &Comparison<'_>,
    quality: Quality,
    bytes: &[u8],
) -> Result<Coded, CodecError> {
    let decoded = codec.decode(bytes)?.value.to_channels(picture.channels());
    let values = comparison
        .measure(&decoded, &report.metrics)
        .map_err(|error| CodecError::Failed(error.to_string()))?;
    let words = report.metrics.iter().zip(values);
    Ok(Coded {
        codec: codec.name().to_owned(),
        quality: quality.to_string(),
        bytes: bytes.len(),
        values: words
            .filter_map(|(metric, value)| Some(format!("{} {:.2}", metric.title(), value?)))
            .collect(),
        image: data_uri(&decoded)?,
    })
}

/// A picture, lossless, inside a page.
pub(super) fn data_uri(picture: &Image8) -> Result<String, CodecError> {
    let encoded = STANDARD.encode(webp_lossless(picture)?);
    Ok(format!("data:image/webp;base64,{encoded}"))
}

/// The setting whose file is closest to the target, and that file.
fn tuned(
    codec: &dyn Codec,
    report: &Report,
    source: &Source,
    picture: &Image8,
    target: usize,
) -> Result<(Quality, Vec<u8>), CodecError> {
    match codec.tuning() {
        Some(tuning) => bisect(tuning, target, |quality| {
            Ok(codec.encode(picture, quality)?.value)
        }),
        None => {
            let measured = report.points_of(codec.name(), &source.name);
            let off = |bytes: u64| log_ratio(bytes as usize, target);
            let closest = measured.min_by(|a, b| off(a.bytes).total_cmp(&off(b.bytes)));
            let point =
                closest.ok_or_else(|| CodecError::Failed("no point was measured".into()))?;
            let quality = Quality::new(&point.quality);
            let bytes = codec.encode(picture, &quality)?.value;
            Ok((quality, bytes))
        }
    }
}

fn log_ratio(bytes: usize, target: usize) -> f64 {
    (bytes.max(1) as f64 / target as f64).ln().abs()
}

/// Halves the range of settings, from smallest to largest files, until the target is met.
fn bisect(
    tuning: Tuning,
    target: usize,
    mut encode: impl FnMut(&Quality) -> Result<Vec<u8>, CodecError>,
) -> Result<(Quality, Vec<u8>), CodecError> {
    let span = tuning.largest - tuning.smallest;
    let steps = (span.abs() / tuning.step).round().max(1.0) as usize;
    let setting = |k: usize| {
        let value = tuning.smallest + span * k as f64 / steps as f64;
        Quality::number((value / tuning.step).round() * tuning.step)
    };
    let (mut low, mut high) = (0, steps);
    let mut best: Option<(Quality, Vec<u8>)> = None;
    for _ in 0..MAX_TRIES {
        let middle = usize::midpoint(low, high);
        let quality = setting(middle);
        let bytes = encode(&quality)?;
        let off = log_ratio(bytes.len(), target);
        let too_small = bytes.len() < target;
        if best
            .as_ref()
            .is_none_or(|(_, b)| off < log_ratio(b.len(), target))
        {
            best = Some((quality, bytes));
        }
        if off < SIZE_TOLERANCE || low >= high {
            break;
        }
        (low, high) = if too_small {
            (middle + 1, high)
        } else {
            (low, middle.max(1) - 1)
        };
        if low > high {
            break;
        }
    }
    best.ok_or_else(|| CodecError::Failed("no setting to try".into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fake_encoder(quality: &Quality) -> Result<Vec<u8>, CodecError> {
        let value = quality.within(0.0, 100.0, "0 to 100")?;
        Ok(vec![0; 100 + (value * value) as usize])
    }

    #[test]
    fn the_search_finds_the_closest_size_either_way_round() {
        let rising = Tuning {
            smallest: 0.0,
            largest: 100.0,
            step: 1.0,
        };
        for target in [1, 100, 777, 2600, 5000, 10_100, 99_999] {
            let (quality, bytes) = bisect(rising, target, fake_encoder).unwrap();
            let best = (0..=100)
                .map(|v| 100 + v * v)
                .min_by(|a: &usize, b: &usize| {
                    log_ratio(*a, target).total_cmp(&log_ratio(*b, target))
                });
            let off = (log_ratio(bytes.len(), target) - log_ratio(best.unwrap(), target)).abs();
            assert!(off < SIZE_TOLERANCE, "{target}: {quality} {}", bytes.len());
        }
        let falling = Tuning {
            smallest: 100.0,
            largest: 0.0,
            step: 0.5,
        };
        let reversed = |q: &Quality| fake_encoder(&Quality::number(100.0 - q.value().unwrap()));
        let (quality, _) = bisect(falling, 2600, reversed).unwrap();
        assert_eq!(quality.as_str(), "50");
    }
}

//! The rate-distortion tool as a whole, and its agreement with values computed elsewhere.

#[allow(dead_code, reason = "each test file uses its part")]
mod rd_support;

use rd_support::{quick_request, run, write_picture};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_eval::bd::{RdCurve, bd_rate};
use tessera_eval::codec::Quality;
use tessera_eval::image8::Image8;
use tessera_eval::metrics::{Comparison, Metric};
use tessera_eval::points::{Point, read_points};
use tessera_eval::rd::{Import, QualityChoice, RdError};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/rd")
        .join(name)
}

fn curve(points: &[Point], codec: &str, image: &str, metric: Metric) -> RdCurve {
    let own = points
        .iter()
        .filter(|p| p.codec == codec && p.image == image);
    RdCurve::new(metric, own.map(|p| (p.bpp(), p.value(metric).unwrap())))
}

/// `fixtures/rd/README.md` says where the reference comes from.
#[test]
fn bd_rates_agree_with_the_reference() {
    let points = read_points(&fixture("points.csv")).unwrap();
    let mut reference = csv::Reader::from_path(fixture("bd_reference.csv")).unwrap();
    let mut sums: BTreeMap<[String; 3], Vec<f64>> = BTreeMap::new();
    let mut means = 0;
    for row in reference.deserialize() {
        let (anchor, codec, metric, image, expected): (String, String, String, String, f64) =
            row.unwrap();
        let own = sums
            .entry([anchor.clone(), codec.clone(), metric.clone()])
            .or_default();
        let actual = if image == "mean" {
            means += 1;
            own.iter().sum::<f64>() / own.len() as f64
        } else {
            let metric = metric.parse().unwrap();
            let of = |codec| curve(&points, codec, &image, metric);
            let change = 100.0 * bd_rate(&of(&anchor), &of(&codec)).unwrap().change;
            own.push(change);
            change
        };
        let case = format!("{codec} against {anchor}, {metric}, {image}");
        assert!(
            (actual - expected).abs() < 0.01,
            "{case}: {actual} {expected}"
        );
    }
    assert_eq!(means, 50);
}

#[test]
fn psnr_and_ms_ssim_agree_with_the_reference() {
    let text = fs::read_to_string(fixture("metric_reference.json")).unwrap();
    let reference: BTreeMap<String, BTreeMap<String, f64>> = serde_json::from_str(&text).unwrap();
    let original = Image8::read(&fixture("metric_original.png")).unwrap();
    let distorted = Image8::read(&fixture("metric_distorted.png")).unwrap();
    let pairs = [
        ("rgb", original.clone(), distorted.clone()),
        ("luma", original.to_gray(), distorted.to_gray()),
    ];
    for (kind, a, b) in pairs {
        for (name, expected) in &reference[kind] {
            let metric: Metric = name.parse().unwrap();
            let value = Comparison::with(&a).measure(&b, &[metric]).unwrap()[0].unwrap();
            assert!(
                (value - expected).abs() < 2e-4,
                "{kind} {name}: {value} {expected}"
            );
        }
    }
}

/// The points without their timings, which no two runs share.
fn stable_points(folder: &Path) -> Vec<Point> {
    let mut points = read_points(&folder.join("points.csv")).unwrap();
    for point in &mut points {
        point.encode = Default::default();
        point.decode = Default::default();
    }
    points
}

/// The summary without its speeds.
fn stable_summary(folder: &Path) -> serde_json::Value {
    let text = fs::read_to_string(folder.join("summary.json")).unwrap();
    let mut summary: serde_json::Value = serde_json::from_str(&text).unwrap();
    summary.as_object_mut().unwrap().remove("speeds").unwrap();
    summary
}

fn two_pictures() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, seed) in [("a.png", 0), ("b.png", 1)] {
        write_picture(&folder.path().join(name), seed);
    }
    folder
}

#[test]
fn an_interrupted_run_with_more_jobs_resumes_to_the_same_result() {
    let pictures = two_pictures();
    let (whole, resumed) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (outcome, counter) = run(&quick_request(pictures.path(), whole.path()));
    assert_eq!(counter.measured.load(Ordering::Relaxed), 28);
    assert!(outcome.report.skipped.is_empty());

    // What an interruption leaves: some rows, the last one torn.
    let csv = fs::read_to_string(whole.path().join("points.csv")).unwrap();
    let rows: String = csv
        .lines()
        .take(11)
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(resumed.path().join("points.csv"), &rows[..rows.len() - 30]).unwrap();
    let mut request = quick_request(pictures.path(), resumed.path());
    request.jobs = 3;
    let (_, counter) = run(&request);
    assert_eq!(counter.reused.load(Ordering::Relaxed), 9);
    assert_eq!(counter.measured.load(Ordering::Relaxed), 19);
    assert_eq!(stable_points(whole.path()), stable_points(resumed.path()));
    assert_eq!(stable_summary(whole.path()), stable_summary(resumed.path()));

    let (_, counter) = run(&request);
    assert_eq!(counter.measured.load(Ordering::Relaxed), 0);
}

#[test]
fn a_changed_picture_is_measured_again() {
    let pictures = two_pictures();
    let folder = tempfile::tempdir().unwrap();
    let request = quick_request(pictures.path(), folder.path());
    run(&request);
    write_picture(&pictures.path().join("b.png"), 2);
    let (_, counter) = run(&request);
    assert_eq!(counter.reused.load(Ordering::Relaxed), 14);
    assert_eq!(counter.measured.load(Ordering::Relaxed), 14);
}

#[test]
fn damage_is_reported_and_skipped() {
    let pictures = two_pictures();
    let good = fs::read(pictures.path().join("a.png")).unwrap();
    fs::write(pictures.path().join("torn.png"), &good[..good.len() / 2]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut request = quick_request(pictures.path(), folder.path());
    // JPEG has no quality 200: these points fail, one per picture.
    request.qualities = vec![QualityChoice {
        codec: Some("jpeg".into()),
        qualities: Quality::list("20,50,80,200"),
    }];
    let (outcome, _) = run(&request);
    let skipped: Vec<&str> = outcome
        .report
        .skipped
        .iter()
        .map(|s| s.what.as_str())
        .collect();
    assert_eq!(skipped.len(), 3, "{skipped:?}");
    assert!(skipped[0].ends_with("torn.png"));
    assert_eq!(skipped[1..], ["jpeg on a at 200", "jpeg on b at 200"]);
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    assert!(page.contains("torn.png"));
    assert_eq!(outcome.report.pictures.len(), 2);
    assert!(outcome.report.has_spread(Metric::PsnrY));
}

#[test]
fn unfit_figures_are_refused_with_a_reason() {
    let pictures = two_pictures();
    let folder = tempfile::tempdir().unwrap();
    let mut request = quick_request(pictures.path(), folder.path());
    request.codecs.push("copy".into());
    let (outcome, _) = run(&request);
    let report = fs::read_to_string(folder.path().join("report.md")).unwrap();
    assert!(
        report.contains("webp in ms-ssim-linear: saturates towards 1"),
        "{report}"
    );
    assert!(
        report.contains("copy in psnr-y: saturated: 1 points"),
        "{report}"
    );
    let row = outcome.report.bd_row(Metric::PsnrY, "webp").unwrap();
    assert_eq!(row.spread.as_ref().unwrap().count, 2);
    assert!(
        row.pictures
            .iter()
            .all(|p| p.rate.unwrap().overlap_anchor > 0.3)
    );
}

#[test]
fn points_from_elsewhere_stand_beside_ours() {
    let pictures = two_pictures();
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    run(&quick_request(pictures.path(), first.path()));
    let mut request = quick_request(pictures.path(), second.path());
    request.codecs = vec!["jpeg444".into()];
    let import = |codec: &str| Import {
        path: first.path().join("points.csv"),
        codecs: vec![codec.to_owned()],
    };
    request.imports = vec![import("webp")];
    request.anchor = Some("webp".into());
    let (outcome, _) = run(&request);
    assert!(
        outcome
            .report
            .bd_row(Metric::PsnrY, "jpeg444")
            .unwrap()
            .spread
            .is_some()
    );
    request.imports = vec![import("heic")];
    let registry = tessera_eval::codec::Registry::new();
    let counter = rd_support::Counter::default();
    let error = tessera_eval::rd::execute(&request, &registry, &counter).unwrap_err();
    assert!(matches!(error, RdError::EmptyImport { .. }), "{error}");
}

#[test]
fn what_follows_the_last_point_is_told() {
    let (pictures, folder) = (two_pictures(), tempfile::tempdir().unwrap());
    let mut request = quick_request(pictures.path(), folder.path());
    request.viewer.pictures = 2;
    let (_, counter) = run(&request);
    let heard = |count: &AtomicUsize| count.load(Ordering::Relaxed);
    assert_eq!((heard(&counter.shown), heard(&counter.to_show)), (4, 4));
}

#[test]
fn every_built_in_codec_codes_colour_and_gray() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.png");
    write_picture(&path, 3);
    let colour = Image8::read(&path).unwrap();
    let registry = tessera_eval::codec::Registry::new();
    for picture in [colour.clone(), colour.to_gray()] {
        for entry in registry.entries().iter().filter(|e| e.origin == "built in") {
            let codec = &entry.codec;
            let sizes = ["20", "90"].map(|q| {
                let bytes = codec.encode(&picture, &Quality::new(q)).unwrap().value;
                let decoded = codec.decode(&bytes).unwrap().value;
                let decoded = decoded.to_channels(picture.channels());
                let db = Comparison::with(&picture).measure(&decoded, &[Metric::PsnrRgb]);
                let db = db.unwrap()[0].unwrap();
                assert!(db > 20.0, "{} at {q}: {db} dB", codec.name());
                bytes.len()
            });
            assert!(sizes[0] < sizes[1], "{}: {sizes:?}", codec.name());
        }
    }
}

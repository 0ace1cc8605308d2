//! Small runs for the tests of the rate-distortion tool.

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_eval::codec::{ExternalSpec, Registry};
use tessera_eval::image8::{Channels, Image8};
use tessera_eval::metrics::Metric;
use tessera_eval::points::Point;
use tessera_eval::rd::{RdOutput, Request, execute};
use tessera_eval::report::ViewerOptions;
use tessera_eval::run::{Observer, ReportStage, Skip};

/// Counts what it hears.
#[derive(Debug, Default)]
pub(crate) struct Counter {
    pub(crate) measured: AtomicUsize,
    pub(crate) reused: AtomicUsize,
    /// Versions of pictures made for the viewer, and how many there should be.
    pub(crate) shown: AtomicUsize,
    pub(crate) to_show: AtomicUsize,
}

impl Observer for Counter {
    fn started(&self, _missing: usize, reused: usize) {
        self.reused.store(reused, Ordering::Relaxed);
    }

    fn measured(&self, _point: &Point) {
        self.measured.fetch_add(1, Ordering::Relaxed);
    }

    fn skipped(&self, _skip: &Skip) {}

    fn reporting(&self, stage: ReportStage) {
        if let ReportStage::Viewer { done, total } = stage {
            self.shown.fetch_max(done, Ordering::Relaxed);
            self.to_show.store(total, Ordering::Relaxed);
        }
    }
}

/// Waves, an edge and a little texture; large enough for MS-SSIM.
pub(crate) fn write_picture(path: &Path, seed: u32) {
    const WIDTH: u32 = 200;
    const HEIGHT: u32 = 180;
    let sample = |i: u32| {
        let (x, y, channel) = (i / 3 % WIDTH, i / 3 / WIDTH, i % 3);
        let wave =
            (f64::from(x * (seed + 1)) / 17.0).sin() + (f64::from(y + channel * 9) / 11.0).cos();
        let edge = if x > y + 20 * seed { 40.0 } else { 0.0 };
        let texture = f64::from((x * 7 + y * 13 + x * y % 5) % 11) * 2.0;
        (90.0 + 35.0 * wave + edge + texture).clamp(0.0, 255.0) as u8
    };
    let samples = (0..WIDTH * HEIGHT * 3).map(sample).collect();
    let picture = Image8::new(WIDTH, HEIGHT, Channels::Rgb, samples).unwrap();
    picture.write(path).unwrap();
}

/// JPEG and WebP on a folder's pictures, quickly.
pub(crate) fn quick_request(pictures: &Path, folder: &Path) -> Request {
    Request {
        inputs: vec![pictures.to_owned()],
        luma_only: false,
        codecs: vec!["webp".into(), "jpeg".into()],
        qualities: Vec::new(),
        metrics: vec![Metric::PsnrY, Metric::MsSsim, Metric::MsSsimLinear],
        anchor: None,
        imports: Vec::new(),
        jobs: 1,
        viewer: ViewerOptions {
            pictures: 0,
            bpp: 0.8,
        },
        folder: folder.to_owned(),
    }
}

/// Runs a request with the codecs of this machine and one that copies, and counts.
pub(crate) fn run(request: &Request) -> (RdOutput, Counter) {
    let mut registry = Registry::new();
    let copy = ExternalSpec::of_user("copy", "cp {in} {out}", "cp {in} {out}", "1");
    registry.add_external(copy).unwrap();
    let counter = Counter::default();
    let outcome = execute(request, &registry, &counter).unwrap();
    (outcome, counter)
}

//! Fitting a dictionary to a small collection, as a user of the library meets it.

use std::path::{Path, PathBuf};
use std::time::Duration;
use tessera_dict::Dictionary;
use tessera_train::{
    Budget, FineTuneParams, FineTuned, Gallery, Stage, TrainError, TrainObserver, fine_tune,
};

const SIDE: u32 = 48;

/// A family of pictures: the same ring and grating, moved and lit differently.
fn write_pictures(folder: &Path, count: u32) -> Gallery {
    for i in 0..count {
        let (cx, cy) = (20.0 + (i % 3) as f32 * 3.0, 24.0 - (i % 2) as f32 * 4.0);
        let pixel = |x: u32, y: u32| {
            let (dx, dy) = (x as f32 - cx, y as f32 - cy);
            let ring = 60.0 * (-((dx * dx + dy * dy).sqrt() - 12.0).powi(2) / 8.0).exp();
            let grating = 12.0 * (0.9 * x as f32 + 0.4 * y as f32).sin();
            image::Luma([(90.0 + 2.0 * i as f32 + ring + grating) as u8])
        };
        let path = folder.join(format!("{i:02}.png"));
        image::GrayImage::from_fn(SIDE, SIDE, pixel)
            .save(path)
            .unwrap();
    }
    Gallery::open(&[folder.to_path_buf()]).unwrap()
}

/// Stops once `rounds` rounds are over.
struct StopAfter {
    rounds: usize,
    seen: usize,
    validated: Vec<f64>,
}

impl StopAfter {
    fn new(rounds: usize) -> Self {
        Self {
            rounds,
            seen: 0,
            validated: Vec::new(),
        }
    }
}

impl TrainObserver for StopAfter {
    fn progress(&mut self, _: Stage, done: usize, total: usize) {
        assert!(done <= total);
    }

    fn validated(&mut self, change: f64) {
        self.validated.push(change);
    }

    fn checkpoint(&mut self, dictionary: &Dictionary) {
        assert!(Dictionary::from_bytes(&dictionary.to_bytes()).is_ok());
        self.seen += 1;
    }

    fn stopped(&self) -> bool {
        self.seen >= self.rounds
    }
}

fn run(
    gallery: &Gallery,
    threads: usize,
    resumed: Option<&Dictionary>,
    observer: &mut StopAfter,
) -> Result<FineTuned, TrainError> {
    let (training, validation) = gallery.hold_out(0.3);
    let params = FineTuneParams {
        rounds: 2,
        ..FineTuneParams::default()
    };
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .build()
        .unwrap();
    pool.install(|| {
        let start = Dictionary::builtin();
        fine_tune(&training, &validation, start, resumed, &params, observer)
    })
}

#[test]
fn threads_and_interruptions_do_not_change_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let gallery = write_pictures(folder.path(), 7);
    let mut watch = StopAfter::new(usize::MAX);
    let whole = run(&gallery, 2, None, &mut watch).unwrap();
    assert!(whole.finished);
    assert!(whole.change <= 0.0, "never worse than the start");
    let best = watch.validated.iter().fold(0.0f64, |best, &c| best.min(c));
    assert_eq!(whole.change, best);
    let mut part = run(&gallery, 1, None, &mut StopAfter::new(1)).unwrap();
    if !part.finished {
        let checkpoint = Dictionary::from_bytes(&part.dictionary.to_bytes()).unwrap();
        let again = &mut StopAfter::new(usize::MAX);
        part = run(&gallery, 1, Some(&checkpoint), again).unwrap();
    }
    assert!(part.dictionary.to_bytes() == whole.dictionary.to_bytes());
    let origin = whole.dictionary.provenance();
    assert!(origin.contains("start: builtin:6") && origin.contains("trace: "));
}

#[test]
fn a_run_stopped_at_once_keeps_the_start_and_another_collection_cannot_resume_it() {
    let folder = tempfile::tempdir().unwrap();
    let gallery = write_pictures(folder.path(), 4);
    let stopped = run(&gallery, 1, None, &mut StopAfter::new(0)).unwrap();
    assert!(!stopped.finished && stopped.change == 0.0);
    assert_eq!(stopped.dictionary.luma(), Dictionary::builtin().luma());
    let other = tempfile::tempdir().unwrap();
    let more = write_pictures(other.path(), 5);
    let error = run(&more, 1, Some(&stopped.dictionary), &mut StopAfter::new(0));
    assert!(matches!(error, Err(TrainError::OtherRun)));
}

/// Time for nothing but the least of everything.
fn moment() -> Budget {
    Budget::new(Some(Duration::from_millis(1)))
}

/// Remembers the stages it was told of.
#[derive(Default)]
struct Stages(Vec<Stage>);

impl TrainObserver for Stages {
    fn progress(&mut self, stage: Stage, _: usize, _: usize) {
        if !self.0.contains(&stage) {
            self.0.push(stage);
        }
    }
}

#[test]
fn every_stage_has_its_turn_however_short_the_time() {
    let folder = tempfile::tempdir().unwrap();
    let (training, validation) = write_pictures(folder.path(), 12).hold_out(0.3);
    let params = FineTuneParams {
        rounds: 1,
        budget: moment(),
        ..FineTuneParams::default()
    };
    let mut seen = Stages::default();
    let start = Dictionary::builtin();
    let result = fine_tune(&training, &validation, start, None, &params, &mut seen).unwrap();
    assert!(result.finished && result.change <= 0.0);
    for stage in [
        Stage::Validation,
        Stage::Prediction,
        Stage::Harvest,
        Stage::Bases,
        Stage::Network,
    ] {
        assert!(seen.0.contains(&stage), "{stage:?} of {:?}", seen.0);
    }
}

#[test]
fn gains_are_told_against_the_baseline() {
    let folder = tempfile::tempdir().unwrap();
    let (training, validation) = write_pictures(folder.path(), 6).hold_out(0.3);
    let change = |start: &Dictionary, baseline: Option<Dictionary>| {
        let params = FineTuneParams {
            rounds: 0,
            baseline,
            budget: moment(),
            ..FineTuneParams::default()
        };
        fine_tune(&training, &validation, start, None, &params, &mut ())
            .unwrap()
            .change
    };
    let (good, bad) = (Dictionary::builtin(), Dictionary::untrained());
    let gained = change(good, Some(bad.clone()));
    assert!(
        gained < -0.05,
        "{gained} from the untrained to the built-in dictionary"
    );
    assert!(change(&bad, Some(good.clone())) > 0.05);
}

#[test]
fn one_picture_is_not_enough() {
    let folder = tempfile::tempdir().unwrap();
    let gallery = write_pictures(folder.path(), 1);
    let nothing = Gallery::open(&[] as &[PathBuf]).unwrap();
    let result = fine_tune(
        &gallery,
        &nothing,
        Dictionary::builtin(),
        None,
        &FineTuneParams::default(),
        &mut StopAfter::new(0),
    );
    assert!(matches!(result, Err(TrainError::OnePicture)));
}

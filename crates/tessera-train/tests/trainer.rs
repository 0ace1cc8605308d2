//! Training through the builder, as a user of the library meets it.

use std::num::NonZeroUsize;
use std::path::Path;
use std::time::Duration;
use tessera_dict::Dictionary;
use tessera_train::gallery::Skipped;
use tessera_train::{Stage, TrainError, TrainObserver, Trainer};

fn write_pictures(folder: &Path, count: u32) {
    for i in 0..count {
        let pixel = |x: u32, y: u32| {
            let wave = 40.0 * ((x + 2 * i) as f32 * 0.4).sin() + 30.0 * (y as f32 * 0.3).cos();
            image::Luma([(120.0 + wave) as u8])
        };
        let path = folder.join(format!("{i}.png"));
        image::GrayImage::from_fn(40, 32, pixel).save(path).unwrap();
    }
}

/// Remembers what it was told.
#[derive(Default)]
struct Heard {
    skipped: Vec<Skipped>,
    checkpoints: Vec<Dictionary>,
}

impl TrainObserver for Heard {
    fn progress(&mut self, _: Stage, _: usize, _: usize) {}

    fn skipped(&mut self, file: &Skipped) {
        self.skipped.push(file.clone());
    }

    fn checkpoint(&mut self, dictionary: &Dictionary) {
        self.checkpoints.push(dictionary.clone());
    }
}

#[test]
fn a_run_without_time_ends_with_the_start_and_can_be_resumed_as_itself_only() {
    let folder = tempfile::tempdir().unwrap();
    write_pictures(folder.path(), 4);
    std::fs::write(folder.path().join("broken.png"), b"no picture").unwrap();
    let mut heard = Heard::default();
    let trainer = |seed| {
        Trainer::new([folder.path()])
            .time(Duration::ZERO)
            .seed(seed)
    };
    let trained = trainer(1).observer(&mut heard).train().unwrap();
    assert!(!trained.finished);
    assert_eq!(trained.training.len() + trained.validation.len(), 4);
    assert_eq!(trained.dictionary.luma(), Dictionary::builtin().luma());
    assert_eq!(heard.skipped.len(), 1);
    assert!(heard.skipped[0].file.ends_with("broken.png"));
    let checkpoint = heard.checkpoints.pop().expect("the last word is kept");
    assert_eq!(checkpoint.to_bytes(), trained.dictionary.to_bytes());
    assert!(trainer(1).resume(checkpoint.clone()).train().is_ok());
    let other = trainer(2).resume(checkpoint).train();
    assert!(matches!(other, Err(TrainError::OtherRun)));
}

#[test]
fn from_scratch_threads_change_nothing_and_the_note_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    write_pictures(folder.path(), 3);
    let train = |threads: usize| {
        let trainer = Trainer::new([folder.path()]).from_scratch().note("CC0");
        let trained = trainer.threads(NonZeroUsize::new(threads).unwrap()).train();
        let trained = trained.unwrap();
        assert!(trained.finished && trained.change.is_none() && trained.validation.is_empty());
        assert!(trained.dictionary.provenance().ends_with("CC0"));
        trained.dictionary.to_bytes()
    };
    assert!(train(1) == train(2));
}

#[test]
fn what_cannot_be_learned_from_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let trained = Trainer::new([folder.path()]).train();
    assert!(matches!(trained, Err(TrainError::NoPictures)));
    write_pictures(folder.path(), 1);
    let trained = Trainer::new([folder.path()]).train();
    assert!(matches!(trained, Err(TrainError::OnePicture)));
    let trained = Trainer::new([folder.path().join("nowhere")]).train();
    assert!(
        matches!(trained, Err(TrainError::Open(error)) if error.to_string().contains("nowhere"))
    );
}

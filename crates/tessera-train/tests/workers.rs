//! A dictionary does not depend on who codes the crops it is learned from.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tessera_codec::PreparedDictionary;
use tessera_dict::Dictionary;
use tessera_train::{Job, TrainError, Trainer, Workers, work};

fn write_pictures(folder: &Path, count: u32) {
    for i in 0..count {
        let pixel = |x: u32, y: u32| {
            let noise = (x * 7 + y * 13 + i * 5) * (x + 3 * y + 11) % 17;
            let wave = 50.0 * ((x + 3 * i) as f32 * 0.33).sin() + 30.0 * (y as f32 * 0.4).cos();
            let value = 110.0 + wave + noise as f32 / 2.0;
            image::Rgb([value as u8, (value * 0.8) as u8, 255 - value as u8])
        };
        let path = folder.join(format!("{i}.png"));
        image::RgbImage::from_fn(64, 48, pixel).save(path).unwrap();
    }
}

/// Does the last job first, some twice, with copies of the pictures under other names.
#[derive(Debug)]
struct Elsewhere {
    folder: PathBuf,
    jobs: AtomicUsize,
}

impl Workers for Elsewhere {
    fn run(&self, dictionary: &[u8], jobs: &[Job]) -> Result<Vec<Vec<u8>>, String> {
        let dictionary = Dictionary::from_bytes(dictionary).map_err(|e| e.to_string())?;
        let dictionary = PreparedDictionary::from(dictionary);
        let mut answers: Vec<Vec<u8>> = Vec::new();
        for job in jobs.iter().rev() {
            let copy = |path: &PathBuf| {
                let name = format!("{}-copy", path.file_name().unwrap().display());
                let place = self.folder.join(name);
                std::fs::copy(path, &place).unwrap();
                place
            };
            let pictures: Vec<PathBuf> = job.pictures.iter().map(copy).collect();
            let answer = || work(&dictionary, &job.message, &pictures).map_err(|e| e.to_string());
            let first = answer()?;
            if self.jobs.fetch_add(1, Ordering::Relaxed).is_multiple_of(8) {
                assert_eq!(first, answer()?, "done again");
            }
            answers.push(first);
        }
        answers.reverse();
        Ok(answers)
    }
}

#[test]
fn the_dictionary_is_the_same_whoever_codes() {
    let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_pictures(folder.path(), 5);
    // So few pictures pay for next to nothing; here that does not matter.
    let trainer = || {
        let trainer = Trainer::new([folder.path()]).references(false);
        trainer.expected_pictures(f64::INFINITY)
    };
    let here = trainer().train().unwrap();
    let elsewhere = Arc::new(Elsewhere {
        folder: other.path().to_path_buf(),
        jobs: AtomicUsize::new(0),
    });
    let there = trainer().workers(elsewhere.clone()).train().unwrap();
    assert!(here.change.unwrap() < -0.02, "something was learned");
    assert_eq!(there.dictionary.to_bytes(), here.dictionary.to_bytes());
    assert_eq!(there.change, here.change);
    assert!(elsewhere.jobs.load(Ordering::Relaxed) > 10);
}

/// Answers with what is given.
#[derive(Debug)]
struct Wrong(Result<Vec<u8>, String>);

impl Workers for Wrong {
    fn run(&self, _: &[u8], jobs: &[Job]) -> Result<Vec<Vec<u8>>, String> {
        jobs.iter().map(|_| self.0.clone()).collect()
    }
}

#[test]
fn workers_that_fail_end_the_training_with_what_they_say() {
    let folder = tempfile::tempdir().unwrap();
    write_pictures(folder.path(), 4);
    let told = |answer| {
        let trainer = Trainer::new([folder.path()]).references(false);
        match trainer.workers(Arc::new(Wrong(answer))).train() {
            Err(TrainError::Workers(message)) => message,
            other => panic!("{other:?}"),
        }
    };
    assert!(told(Err("no machine is left".into())).contains("no machine is left"));
    assert!(told(Ok(b"nonsense".to_vec())).contains("cannot be read"));
    // A list without any crop.
    assert!(told(Ok(vec![0; 4])).contains("no answer"));
}

#[test]
fn jobs_that_make_no_sense_are_refused() {
    let dictionary = PreparedDictionary::builtin();
    for message in [&b""[..], b"nonsense", &[255; 64]] {
        let refused = work(dictionary, message, &[]);
        assert!(
            matches!(refused, Err(TrainError::Workers(_))),
            "{refused:?}"
        );
    }
}

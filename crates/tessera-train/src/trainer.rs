//! Training from beginning to end: pictures in, a dictionary out.

use crate::budget::Budget;
use crate::error::TrainError;
use crate::fine_tune::{FineTuneParams, fine_tune};
use crate::from_scratch::{FromScratchParams, train_from_scratch};
use crate::gallery::{Gallery, Skipped};
use crate::lossless::{LosslessParams, learn_lossless};
use crate::observer::{Stage, TrainObserver};
use crate::provenance::{History, Origin};
use crate::references::{
    ReferenceChoice, ReferenceParams, ReferenceReport, choose_references, references_of,
};
use crate::workers::Workers;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tessera_dict::Dictionary;

/// Part of the time for choosing reference pictures.
const FOR_REFERENCES: f64 = 0.3;
/// Share of the pictures that is held out if nothing else is said.
const USUAL_HOLDOUT: f64 = 0.1;

/// Learns a dictionary from pictures.
///
/// A part of the pictures is held out: it decides what of all that was learned is kept, so that the result is never
/// worse there than the start. Without a limit on the time the same pictures, start and seed give the same bytes on
/// any number of threads.
///
/// ```no_run
/// use std::time::Duration;
/// use tessera_train::Trainer;
///
/// let trained = Trainer::new(["holiday/photos"])
///     .time(Duration::from_secs(600))
///     .max_size(2_000_000)
///     .train()?;
/// if trained.change.is_some_and(|change| change < -0.01) {
///     std::fs::write("holiday.tsd", trained.to_file())?;
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "nothing is learned before `train` is called"]
pub struct Trainer<'a> {
    plan: Plan,
    observer: Option<&'a mut dyn TrainObserver>,
}

/// What a [`Trainer`] learned.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The best dictionary found; the start itself if none was better.
    pub dictionary: Dictionary,
    /// Change of the held-out pictures' files at equal error against the built-in dictionary, as a fraction; `None`
    /// for a dictionary that was trained from scratch, which is not validated.
    pub change: Option<f64>,
    /// The same with the dictionary itself counted, over all pictures that are expected.
    pub total_change: Option<f64>,
    /// Whether training ended by itself and not because its time was over or the observer asked for it.
    pub finished: bool,
    /// The pictures it was learned from, those that became references included.
    pub training: Gallery,
    /// The pictures that were held out.
    pub validation: Gallery,
}

/// Where training starts.
#[derive(Clone, Debug)]
enum Start {
    Builtin,
    Dictionary(Box<Dictionary>),
    Scratch,
}

/// All that was asked for.
#[derive(Clone, Debug)]
struct Plan {
    pictures: Vec<PathBuf>,
    start: Start,
    resumed: Option<Dictionary>,
    time: Option<Duration>,
    holdout: f64,
    max_size: Option<usize>,
    expected: Option<f64>,
    quantiser: Option<u8>,
    references: bool,
    lossless: bool,
    seed: u64,
    threads: Option<NonZeroUsize>,
    note: String,
    workers: Option<Arc<dyn Workers>>,
}

impl Trained {
    /// The dictionary as a file: a difference from the built-in one, or all of it if it was trained from scratch.
    pub fn to_file(&self) -> Vec<u8> {
        match self.change {
            Some(_) => self.dictionary.to_difference(Dictionary::builtin()),
            None => self.dictionary.to_bytes(),
        }
    }
}

impl Trainer<'_> {
    /// Most files that fine-tuning looks at: more would not change the dictionary, only the time it takes.
    pub const MOST_FILES: usize = 2000;

    /// Learns from all pictures below these folders; pictures may be named directly too.
    pub fn new(pictures: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        Self {
            plan: Plan {
                pictures: pictures.into_iter().map(Into::into).collect(),
                start: Start::Builtin,
                resumed: None,
                time: None,
                holdout: USUAL_HOLDOUT,
                max_size: None,
                expected: None,
                quantiser: None,
                references: true,
                lossless: false,
                seed: 1,
                threads: None,
                note: String::new(),
                workers: None,
            },
            observer: None,
        }
    }

    /// Starts from this dictionary and not from the built-in one.
    pub fn start(mut self, dictionary: Dictionary) -> Self {
        self.plan.start = Start::Dictionary(Box::new(dictionary));
        self
    }

    /// Learns everything anew from all pictures, as the built-in dictionary was. Nothing is held out then, and size,
    /// references and time have no say.
    pub fn from_scratch(mut self) -> Self {
        self.plan.start = Start::Scratch;
        self
    }

    /// Goes on from a checkpoint (see [`TrainObserver::checkpoint`]) of a run with the same pictures, start and seed.
    pub fn resume(mut self, checkpoint: Dictionary) -> Self {
        self.plan.resumed = Some(checkpoint);
        self
    }

    /// Learns what can be learned in this time, from the call of [`train`](Self::train) on.
    pub fn time(mut self, time: Duration) -> Self {
        self.plan.time = Some(time);
        self
    }

    /// Share of the pictures that is held out, a tenth if nothing else is said; at least one picture always is.
    pub fn holdout(mut self, share: f64) -> Self {
        self.plan.holdout = share;
        self
    }

    /// Largest size of the dictionary's file in bytes.
    pub fn max_size(mut self, bytes: usize) -> Self {
        self.plan.max_size = Some(bytes);
        self
    }

    /// How many pictures will be coded with the dictionary, those that are found if nothing is said. What does not pay for
    /// its bytes with so many is not learned; with infinitely many, size does not matter.
    pub fn expected_pictures(mut self, count: f64) -> Self {
        self.plan.expected = Some(count);
        self
    }

    /// The luma quantiser that pictures will be coded at; without it the dictionary learns for the lower three quarters of the
    /// scale. One that is used at a single quality can know more of it, and what it may cost is clear then.
    pub fn quantiser(mut self, index: u8) -> Self {
        self.plan.quantiser = Some(index);
        self
    }

    /// Whether the dictionary may carry reference pictures if they pay; it may if nothing else is said.
    pub fn references(mut self, allowed: bool) -> Self {
        self.plan.references = allowed;
        self
    }

    /// Learns what helps lossless files, and nothing else: networks that expect their samples. All other parts stay those
    /// of the start; the changes that [`Trained`] tells are those of lossless files.
    pub fn lossless(mut self, lossless: bool) -> Self {
        self.plan.lossless = lossless;
        self
    }

    /// Seed of the sampling.
    pub fn seed(mut self, seed: u64) -> Self {
        self.plan.seed = seed;
        self
    }

    /// Number of threads; those of the caller's pool if nothing is said.
    pub fn threads(mut self, threads: NonZeroUsize) -> Self {
        self.plan.threads = Some(threads);
        self
    }

    /// Licence and credits that the dictionary carries along.
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.plan.note = note.into();
        self
    }

    /// Has others code the crops that fine-tuning looks at, which is nearly all of its work. The dictionary is the same.
    pub fn workers(mut self, workers: Arc<dyn Workers>) -> Self {
        self.plan.workers = Some(workers);
        self
    }

    /// Is told how training proceeds, gets checkpoints and may stop it.
    pub fn observer(self, observer: &mut dyn TrainObserver) -> Trainer<'_> {
        Trainer {
            plan: self.plan,
            observer: Some(observer),
        }
    }

    /// Learns.
    ///
    /// # Errors
    /// [`TrainError`]; fine-tuning that is stopped is no error and gives the best dictionary so far.
    pub fn train(self) -> Result<Trained, TrainError> {
        let budget = Budget::new(self.plan.time);
        let mut silent = ();
        let observer = match self.observer {
            Some(observer) => observer,
            None => &mut silent,
        };
        let (plan, mut observer) = (&self.plan, Timed { observer, budget });
        let Some(threads) = plan.threads else {
            return plan.train(budget, &mut observer);
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.get());
        pool.build()?.install(|| plan.train(budget, &mut observer))
    }
}

impl Plan {
    fn train(
        &self,
        budget: Budget,
        observer: &mut dyn TrainObserver,
    ) -> Result<Trained, TrainError> {
        let (gallery, found) = self.gallery(observer)?;
        let start = match &self.start {
            Start::Scratch => return self.train_from_scratch(gallery, observer),
            Start::Builtin => Dictionary::builtin(),
            Start::Dictionary(start) => start,
        };
        let expected = self.expected.unwrap_or(found as f64);
        if gallery.len() < 2 {
            return Err(TrainError::OnePicture);
        }
        match self.lossless {
            true => self.learn_lossless(&gallery, start, expected, budget, observer),
            false => self.fine_tune(&gallery, start, expected, budget, observer),
        }
    }

    fn learn_lossless(
        &self,
        gallery: &Gallery,
        start: &Dictionary,
        expected: f64,
        budget: Budget,
        observer: &mut dyn TrainObserver,
    ) -> Result<Trained, TrainError> {
        let (training, validation) = gallery.hold_out(self.holdout);
        let origin = Origin::new(&training, start, self.seed, &[], &self.note)?;
        let params = LosslessParams {
            seed: self.seed,
            pictures: expected,
            max_bytes: self.max_size,
            budget,
            note: origin.describe(&History::default()),
        };
        let learned = learn_lossless(&training, &validation, start, &params, observer)?;
        Ok(Trained {
            dictionary: learned.dictionary,
            change: Some(learned.change),
            total_change: Some(learned.total_change),
            finished: !budget.is_over(),
            training,
            validation,
        })
    }

    /// The readable pictures; all of them only from scratch, as the recipe of the built-in dictionary has it. Also, how many
    /// files there are.
    fn gallery(&self, observer: &mut dyn TrainObserver) -> Result<(Gallery, usize), TrainError> {
        let gallery = Gallery::open(&self.pictures).map_err(TrainError::Open)?;
        let found = gallery.len();
        let (gallery, skipped) = match self.start {
            Start::Scratch => gallery.readable(),
            _ => gallery.sampled(Trainer::MOST_FILES).readable(),
        };
        skipped.iter().for_each(|file| observer.skipped(file));
        match gallery.len() {
            0 => Err(TrainError::NoPictures),
            _ => Ok((gallery, found)),
        }
    }

    fn train_from_scratch(
        &self,
        gallery: Gallery,
        observer: &mut dyn TrainObserver,
    ) -> Result<Trained, TrainError> {
        let params = FromScratchParams {
            seed: self.seed,
            note: self.note.clone(),
            ..FromScratchParams::default()
        };
        let start = Dictionary::untrained();
        let dictionary = train_from_scratch(&gallery, &start, &params, observer)?;
        Ok(Trained {
            dictionary,
            change: None,
            total_change: None,
            finished: true,
            training: gallery,
            validation: Gallery::default(),
        })
    }

    fn fine_tune(
        &self,
        gallery: &Gallery,
        start: &Dictionary,
        expected: f64,
        budget: Budget,
        observer: &mut dyn TrainObserver,
    ) -> Result<Trained, TrainError> {
        let (training, validation) = gallery.hold_out(self.holdout);
        let params = self.reference_params(start, expected, budget.share(FOR_REFERENCES));
        let chosen = self.choose_references(&training, &validation, start, &params, observer)?;
        let (start, builtin) = (&chosen.dictionary, Dictionary::builtin());
        let params = FineTuneParams {
            seed: self.seed,
            max_bytes: self.max_size,
            note: self.note.clone(),
            baseline: (start.id() != builtin.id()).then(|| builtin.clone()),
            taken: chosen.taken.clone(),
            pictures: expected,
            quantiser: self.quantiser,
            budget,
            workers: self.workers.clone(),
            ..FineTuneParams::default()
        };
        // What became a reference would be predicted from itself.
        let others = training.without(&chosen.taken);
        let resumed = self.resumed.as_ref();
        let tuned = fine_tune(&others, &validation, start, resumed, &params, observer)?;
        observer.checkpoint(&tuned.dictionary);
        Ok(Trained {
            dictionary: tuned.dictionary,
            change: Some(tuned.file_change),
            total_change: Some(tuned.total_change),
            finished: tuned.finished,
            training,
            validation,
        })
    }

    /// The start with the pictures that the collection profits from being predicted from, if there are any; those of
    /// the checkpoint when resuming.
    fn choose_references(
        &self,
        training: &Gallery,
        validation: &Gallery,
        start: &Dictionary,
        params: &ReferenceParams,
        observer: &mut dyn TrainObserver,
    ) -> Result<ReferenceChoice, TrainError> {
        if let Some(checkpoint) = &self.resumed {
            return references_of(checkpoint, training, start);
        }
        if !self.references {
            return Ok(ReferenceChoice::none(start.clone()));
        }
        match choose_references(training, validation, start, params, observer) {
            Err(TrainError::Stopped) => {
                observer.references_chosen(None);
                Ok(ReferenceChoice::none(start.clone()))
            }
            chosen => {
                let chosen = chosen?;
                observer.references_chosen(Some(&chosen.report));
                Ok(chosen)
            }
        }
    }

    fn reference_params(
        &self,
        start: &Dictionary,
        expected: f64,
        budget: Budget,
    ) -> ReferenceParams {
        let mut params = ReferenceParams {
            seed: self.seed,
            pictures: expected,
            budget,
            ..ReferenceParams::default()
        };
        if let Some(limit) = self.max_size {
            let room = limit.saturating_sub(start.to_bytes().len());
            params.max_bytes = params.max_bytes.min(limit / 4).max(room);
        }
        params
    }
}

/// An observer that also stops when the time is over.
struct Timed<'a> {
    observer: &'a mut dyn TrainObserver,
    budget: Budget,
}

impl TrainObserver for Timed<'_> {
    fn progress(&mut self, stage: Stage, done: usize, total: usize) {
        self.observer.progress(stage, done, total);
    }

    fn skipped(&mut self, file: &Skipped) {
        self.observer.skipped(file);
    }

    fn references_chosen(&mut self, report: Option<&ReferenceReport>) {
        self.observer.references_chosen(report);
    }

    fn validated(&mut self, change: f64) {
        self.observer.validated(change);
    }

    fn checkpoint(&mut self, dictionary: &Dictionary) {
        self.observer.checkpoint(dictionary);
    }

    fn stopped(&self) -> bool {
        self.budget.is_over() || self.observer.stopped()
    }
}

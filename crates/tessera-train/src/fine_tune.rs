//! Fits an existing dictionary to a collection.
//!
//! First, networks that predict patches are learned from pictures coded with the start.
//!
//! Every round codes the training pictures with the best dictionary so far, in the encoder's own closed loop at all
//! qualities in turn, and makes two proposals from what it sees:
//! 1. priors, filter and reconstruction points fitted to the recorded decisions and planes;
//! 2. on top, bases and magnitude models fitted to the harvested patches; the pictures are coded once more with
//!    them, and everything of the first proposal is fitted again;
//! 3. on top of the better one, a network behind the filter, learned from what that leaves.
//!
//! Everything is pulled towards what it was, more strongly the less was seen of it. Pictures held out decide: a
//! proposal that does not lower their bits at equal error is dropped, so the result is never worse there than
//! the start. A round depends on nothing but the dictionary before it, so a run can be resumed from a checkpoint.

use crate::adapt::adapt_bases;
use crate::budget::{Budget, order};
use crate::closed_loop::{ClosedLoopCoder, training_speed};
use crate::error::TrainError;
use crate::filter::{BandStatistics, solve_filter_from};
use crate::gallery::{Gallery, Task};
use crate::harvest::Harvest;
use crate::net::{NetSamples, learn_nets, squares_per_part};
use crate::observer::{Stage, TrainObserver, go_on};
use crate::patch_net::PatchNetSamples;
use crate::priors::fit_priors;
use crate::provenance::{History, Origin};
use crate::size::within;
use crate::thrift::Thrift;
use crate::validation::{RatePoint, ValidationCurves, change, change_of_files};
use crate::workers::Workers;
use std::sync::Arc;
use tessera_codec::internals::encoder::training::Decisions;
use tessera_dict::filter::BANDS;
use tessera_dict::transfer::transfer;
use tessera_dict::{DictId, Dictionary, FilterSet};
use tessera_patch::shape::SHAPE_COUNT;

/// How a dictionary is fitted to a collection.
#[derive(Clone, Debug)]
pub struct FineTuneParams {
    /// Seed of the sampling.
    pub seed: u64,
    /// Most rounds.
    pub rounds: usize,
    /// Largest side of the part taken from a picture.
    pub crop: u32,
    /// Largest size of the dictionary's file.
    pub max_bytes: Option<usize>,
    /// Licence note and credits that go into the dictionary's provenance.
    pub note: String,
    /// What gains are told against, if it is not the start.
    pub baseline: Option<Dictionary>,
    /// Pictures that will be coded with the dictionary, which is stored as a difference from the built-in one: what does
    /// not pay for its bytes there is not learned. Infinitely many if size does not matter.
    pub pictures: f64,
    /// The luma quantiser that pictures will be coded at, if it is known: everything is learned for it and its neighbours then.
    pub quantiser: Option<u8>,
    /// The pictures that became references of the start, see [`ReferenceChoice`](crate::references::ReferenceChoice).
    pub taken: Vec<usize>,
    /// Time it may take. With less than it would need, every stage looks at fewer pictures and crops, so that none
    /// is left out.
    pub budget: Budget,
    /// Who codes the crops; this machine if there is nobody. The result is the same.
    pub workers: Option<Arc<dyn Workers>>,
}

impl Default for FineTuneParams {
    fn default() -> Self {
        Self {
            seed: 1,
            rounds: 3,
            crop: 384,
            max_bytes: None,
            note: String::new(),
            baseline: None,
            pictures: f64::INFINITY,
            quantiser: None,
            taken: Vec::new(),
            budget: Budget::default(),
            workers: None,
        }
    }
}

/// The result of [`fine_tune`].
#[derive(Clone, Debug)]
pub struct FineTuned {
    /// The best dictionary found; the start itself if none was better.
    pub dictionary: Dictionary,
    /// Change of the held-out pictures' bits at equal error against the baseline, as a fraction.
    pub change: f64,
    /// The same of whole files: they name a learned dictionary in more bytes than a built-in one.
    pub file_change: f64,
    /// The same of all expected files and the dictionary itself; that of the files if size does not matter.
    pub total_change: f64,
    /// Whether the run ended by itself.
    pub finished: bool,
}

/// Luma quantisers the pictures are coded at: the lower three quarters of the quality scale.
const QUANTISERS: [u8; 5] = [56, 64, 72, 80, 88];
/// Luma quantisers the network is learned at: whoever decodes has no other, so it must know the whole scale.
const NET_QUANTISERS: [u8; 6] = [48, 56, 64, 72, 80, 88];
/// The same if it is known which one is used, as distances from it.
const NEIGHBOURS: [i16; 5] = [-8, -4, 0, 4, 8];
const NET_NEIGHBOURS: [i16; 6] = [-10, -6, -2, 2, 6, 10];
/// The coarsest quantiser.
const COARSEST: i16 = 127;
/// Crops coded side by side before what they showed is merged; bounds the memory.
const BATCH: usize = 16;
/// The same if others code them: enough to keep many busy.
const WORKERS_BATCH: usize = 128;
/// Most crops of one pass over the gallery; further pictures have their turn in later passes.
const CROPS: usize = 320;
/// Passes that bases are harvested from.
const HARVEST_PASSES: usize = 3;
/// Passes that priors and filter are fitted to when the bases have changed.
const SETTLING_PASSES: usize = 2;
/// Passes that the networks for patches are learned from.
const PATCH_NET_PASSES: usize = 5;
/// Passes that the network behind the filter is learned from.
const NET_PASSES: usize = 3;
/// Decisions kept in memory: about half a gigabyte.
const MOST_DECISIONS: usize = 12_000_000;
/// Observations the reconstruction points of the start count for.
const POINTS_PULL: u64 = 300;
/// Parts of what is left of the time: one validation, the networks for patches, the first and the second look
/// at the gallery of a round, the network behind the filter.
const FOR_VALIDATION: f64 = 0.04;
const FOR_PATCH_NETS: f64 = 0.35;
const FOR_HARVEST: f64 = 0.3;
const FOR_SETTLING: f64 = 0.35;
const FOR_NETWORK: f64 = 0.7;
/// Part of a network's time that goes into what it is learned from.
const FOR_EXAMPLES: f64 = 0.5;
/// Fewest pictures of a validation, however short the time.
const FEWEST_VALIDATION: usize = 4;
/// A round that gains less than this is the last.
const WORTH_ANOTHER_ROUND: f64 = 0.003;

/// Learns from `training`, validated on `validation`, starting from `start`; `resumed` is the checkpoint of an earlier run.
///
/// # Errors
/// [`TrainError`]; a run that the observer stops is no error.
pub fn fine_tune(
    training: &Gallery,
    validation: &Gallery,
    start: &Dictionary,
    resumed: Option<&Dictionary>,
    params: &FineTuneParams,
    observer: &mut dyn TrainObserver,
) -> Result<FineTuned, TrainError> {
    if training.is_empty() || validation.is_empty() {
        return Err(TrainError::OnePicture);
    }
    let origin = Origin::new(training, start, params.seed, &params.taken, &params.note)?;
    let mut run = Run {
        training,
        validation,
        start,
        params,
        observer,
        validation_order: order(validation.len(), &params.budget),
        baseline: ValidationCurves::new(),
        best: resumed.unwrap_or(start).clone(),
        change: 0.0,
        thrift: Thrift {
            pictures: f64::INFINITY,
            bytes: 0.0,
        },
        history: match resumed {
            Some(checkpoint) => origin.history_of(checkpoint)?,
            None => History::default(),
        },
    };
    run.describe(&origin)?;
    let finished = match run.all_rounds(&origin) {
        Ok(()) => true,
        Err(TrainError::Stopped) => false,
        Err(error) => return Err(error),
    };
    Ok(FineTuned {
        change: run.change,
        file_change: run.file_change(),
        total_change: run.total(&run.best, run.change),
        finished,
        dictionary: run.best,
    })
}

struct Run<'a> {
    training: &'a Gallery,
    validation: &'a Gallery,
    start: &'a Dictionary,
    params: &'a FineTuneParams,
    observer: &'a mut dyn TrainObserver,
    /// The pictures of a validation, as many as there is time for.
    validation_order: Vec<usize>,
    /// How they fare with what gains are told against.
    baseline: ValidationCurves,
    best: Dictionary,
    change: f64,
    /// What may be spent on the dictionary.
    thrift: Thrift,
    history: History,
}

/// What passes over the gallery showed.
struct Collected {
    decisions: Vec<Decisions>,
    filters: BandStatistics,
    harvest: Harvest,
}

impl<'a> Run<'a> {
    fn all_rounds(&mut self, origin: &Origin) -> Result<(), TrainError> {
        let baseline = self.params.baseline.as_ref().unwrap_or(self.start);
        self.baseline = self.validate(baseline, self.params.budget.share(FOR_VALIDATION))?;
        self.validation_order.truncate(self.baseline.len());
        self.thrift = Thrift {
            pictures: self.params.pictures,
            bytes: self.usual_bytes()?,
        };
        if self.history.rounds() > 0 || self.params.baseline.is_some() {
            self.change = self.validated(&self.best.clone())?;
        }
        if self.history.rounds() == 0 {
            self.propose_patch_nets()?;
        }
        while self.history.rounds() < self.params.rounds {
            let before = self.change;
            self.round()?;
            self.describe(origin)?;
            self.observer.checkpoint(&self.best);
            if self.change > before - WORTH_ANOTHER_ROUND {
                break;
            }
        }
        Ok(())
    }

    /// Bytes of a whole held-out picture at a usual quality.
    fn usual_bytes(&self) -> Result<f64, TrainError> {
        let mut sum = 0.0;
        for (&picture, curve) in self.validation_order.iter().zip(&self.baseline) {
            let usual = curve[curve.len() / 2].bytes as f64;
            sum += usual * self.validation.parts_of(picture, self.params.crop)?;
        }
        Ok(sum / self.baseline.len().max(1) as f64)
    }

    /// Change of all expected files and the dictionary together.
    fn total(&self, dictionary: &Dictionary, change: f64) -> f64 {
        change + self.thrift.part(self.stored_bytes(dictionary))
    }

    /// Bytes of the dictionary's file: nothing if it is what every program carries, whatever it says of its origin.
    fn stored_bytes(&self, dictionary: &Dictionary) -> usize {
        if !self.thrift.counts() {
            return dictionary.to_bytes().len();
        }
        let builtin = Dictionary::builtin();
        let bytes = dictionary.to_difference(builtin).len();
        let silent = builtin.edited(|parts| parts.provenance = dictionary.provenance().into());
        match silent {
            Ok(silent) if silent.id() == dictionary.id() => 0,
            _ => bytes,
        }
    }

    /// Takes a proposal over if everything together becomes smaller.
    fn accept(&mut self, dictionary: Dictionary, change: f64) {
        let before = self.total(&self.best, self.change);
        let better = self.total(&dictionary, change) < before || !self.fits(&self.best);
        if better && self.fits(&dictionary) {
            (self.best, self.change) = (dictionary, change);
        }
    }

    /// Has the best dictionary tell where it comes from.
    fn describe(&mut self, origin: &Origin) -> Result<(), TrainError> {
        let provenance = origin.describe(&self.history);
        self.best = (self.best).edited(|parts| parts.provenance = provenance)?;
        Ok(())
    }

    /// Proposes networks that predict patches, learned from what the start leaves around them.
    ///
    /// They stay if held-out pictures gain even before the priors know them.
    fn propose_patch_nets(&mut self) -> Result<(), TrainError> {
        let Some(size) = self.thrift.patch_nets() else {
            return Ok(());
        };
        let tasks: Vec<Task> = (0..PATCH_NET_PASSES)
            .flat_map(|turn| self.mirrored_in_turn(turn, &self.quantisers()))
            .collect();
        let mut all = PatchNetSamples::default();
        let budget = self.params.budget.share(FOR_PATCH_NETS);
        let looking = budget.share(FOR_EXAMPLES);
        let coder = ClosedLoopCoder::new(self.training, self.start)?.by(self.workers());
        let together = self.batch_size();
        for (batch, chunk) in batches(&tasks, together, &looking).iter().enumerate() {
            if batch > 0 && looking.is_over() {
                break;
            }
            go_on(self.observer)?;
            (self.observer).progress(Stage::Prediction, batch * together, 2 * tasks.len());
            let patch_net_samples = coder.patch_net_samples(chunk, tasks.len())?;
            patch_net_samples.into_iter().for_each(|own| all.merge(own));
        }
        let nets = all.learn(self.params.seed, size, budget, |done| {
            (self.observer).progress(Stage::Prediction, SHAPE_COUNT + done, 2 * SHAPE_COUNT);
            go_on(self.observer)
        })?;
        let next = self.best.edited(|parts| parts.patch_nets = nets)?;
        if next.patch_nets() == self.best.patch_nets() || !self.fits(&next) {
            return Ok(());
        }
        let change = self.validated(&next)?;
        self.accept(next, change);
        Ok(())
    }

    /// Two proposals; what lowers the bits of held-out pictures stays.
    fn round(&mut self) -> Result<(), TrainError> {
        let turn = self.history.rounds() * (HARVEST_PASSES + SETTLING_PASSES);
        let budget = self.params.budget.share(FOR_HARVEST);
        let seen = self.collect(&self.best.clone(), turn, HARVEST_PASSES, budget)?;
        let tuned = self.tuned(&self.best, &seen)?;
        let tuned_change = self.validated(&tuned)?;
        let based_change = self.propose_bases(&tuned, seen, turn)?;
        self.history
            .add(tuned_change, based_change.unwrap_or(tuned_change));
        self.accept(tuned, tuned_change);
        self.undo_filter()?;
        self.propose_filter_nets(turn)
    }

    /// Proposes bases and magnitude models on top of what was tuned, and tells how the held-out pictures like them; nothing
    /// if none is worth its bytes.
    fn propose_bases(
        &mut self,
        tuned: &Dictionary,
        seen: Collected,
        turn: usize,
    ) -> Result<Option<f64>, TrainError> {
        self.observer.progress(Stage::Bases, 0, 1);
        let mut based = self.with_new_bases(tuned, &seen)?;
        if let (Some(limit), false) = (self.params.max_bytes, self.thrift.counts()) {
            based = within(based, &seen.harvest, limit)?;
        }
        drop(seen);
        if based.id() == tuned.id() {
            return Ok(None);
        }
        let budget = self.params.budget.share(FOR_SETTLING);
        let again = self.collect(&based, turn + HARVEST_PASSES, SETTLING_PASSES, budget)?;
        let based = self.tuned(&based, &again)?;
        let change = self.validated(&based)?;
        self.accept(based, change);
        Ok(Some(change))
    }

    fn file_change(&self) -> f64 {
        let baseline = self.params.baseline.as_ref().unwrap_or(self.start);
        match baseline.id() {
            DictId::Builtin(_) => change_of_files(self.change, &self.baseline),
            _ => self.change,
        }
    }

    fn fits(&self, dictionary: &Dictionary) -> bool {
        let limit = self.params.max_bytes;
        limit.is_none_or(|limit| self.stored_bytes(dictionary) <= limit)
    }

    /// Goes back to the filters of the start if held-out pictures take fewer bits with them.
    fn undo_filter(&mut self) -> Result<(), TrainError> {
        let has_net = self.best.nets() != &[None, None];
        if !has_net && self.start.luma_filter() != self.best.luma_filter() {
            let plain = self.best.edited(|parts| {
                parts.luma_filter = self.start.luma_filter().clone();
                parts.chroma_filter = self.start.chroma_filter().clone();
            })?;
            let change = self.validated(&plain)?;
            self.accept(plain, change);
        }
        Ok(())
    }

    /// Proposes a network learned from what the best dictionary's filter leaves.
    fn propose_filter_nets(&mut self, turn: usize) -> Result<(), TrainError> {
        if !self.thrift.filter_net() {
            return Ok(());
        }
        let plain = self.best.edited(|parts| parts.nets = [None, None])?;
        let budget = self.params.budget.share(FOR_NETWORK);
        let samples = self.net_samples(&plain, turn, budget.share(FOR_EXAMPLES))?;
        self.observer.progress(Stage::Network, 1, 2);
        let nets = learn_nets(samples, self.params.seed, budget);
        let next = plain.edited(|parts| parts.nets = nets)?;
        if next.nets() == self.best.nets() || !self.fits(&next) {
            return Ok(());
        }
        let change = self.validated(&next)?;
        self.accept(next, change);
        Ok(())
    }

    /// Decoded samples of luma and chroma at all qualities.
    fn net_samples(
        &mut self,
        dictionary: &Dictionary,
        turn: usize,
        budget: Budget,
    ) -> Result<[NetSamples; 2], TrainError> {
        let tasks: Vec<Task> = (turn..turn + NET_PASSES)
            .flat_map(|turn| self.mirrored_in_turn(turn, &self.net_quantisers()))
            .collect();
        let count = squares_per_part(tasks.len());
        let coder = ClosedLoopCoder::new(self.training, dictionary)?.by(self.workers());
        let mut all: [NetSamples; 2] = Default::default();
        let size = self.batch_size();
        for (batch, chunk) in batches(&tasks, size, &budget).iter().enumerate() {
            if batch > 0 && budget.is_over() {
                break;
            }
            go_on(self.observer)?;
            (self.observer).progress(Stage::Network, batch * size, 2 * tasks.len());
            for samples in coder.net_samples(chunk, count, self.params.seed)? {
                for (all, own) in all.iter_mut().zip(samples) {
                    all.merge(own);
                }
            }
        }
        Ok(all)
    }

    /// Priors, filter and reconstruction points fitted to what was seen with `dictionary`; a filter with a network
    /// behind it stays, because the network was learned from what it leaves.
    fn tuned(&self, dictionary: &Dictionary, seen: &Collected) -> Result<Dictionary, TrainError> {
        let mut next = dictionary.to_builder();
        let start = self.start;
        let thrift = self.thrift.counts().then_some(self.thrift);
        next.luma_prior = transfer(start.luma_prior(), start.luma(), &next.luma);
        next.chroma_prior = transfer(start.chroma_prior(), start.chroma(), &next.chroma);
        [next.luma_prior, next.chroma_prior] = fit_priors(&next, &seen.decisions, thrift);
        // Others take more bytes than they save, the more so as a network behind the filter makes up for them.
        let fitted = next.nets == [None, None] && thrift.is_none();
        let bands = if fitted { BANDS } else { 0 };
        for (band, [luma, chroma]) in seen.filters.iter().enumerate().take(bands) {
            let fit =
                |statistics, filter: &FilterSet| solve_filter_from(statistics, &filter.bands[band]);
            next.luma_filter.bands[band] = fit(luma, start.luma_filter());
            next.chroma_filter.bands[band] = fit(chroma, start.chroma_filter());
        }
        next.shrinkage = seen.harvest.shrinkage(*start.shrinkage(), POINTS_PULL);
        Ok(next.build()?)
    }

    /// Bases and magnitude models fitted to the harvest; priors carried over.
    fn with_new_bases(
        &self,
        dictionary: &Dictionary,
        seen: &Collected,
    ) -> Result<Dictionary, TrainError> {
        let (luma, chroma) = (dictionary.luma(), dictionary.chroma());
        let adapted = adapt_bases(&seen.harvest, [luma, chroma], training_speed().lambda);
        let mut next = dictionary.to_builder();
        let [luma_start, chroma_start] = [self.start.luma(), self.start.chroma()];
        let [adapted_luma, adapted_chroma] = adapted;
        next.luma = (self.thrift).bases(adapted_luma, luma_start, &seen.harvest);
        next.chroma = (self.thrift).bases(adapted_chroma, chroma_start, &seen.harvest);
        next.luma_prior = transfer(dictionary.luma_prior(), luma, &next.luma);
        next.chroma_prior = transfer(dictionary.chroma_prior(), chroma, &next.chroma);
        Ok(next.build()?)
    }

    /// Codes the gallery in the closed loop of `dictionary`.
    fn collect(
        &mut self,
        dictionary: &Dictionary,
        turn: usize,
        passes: usize,
        budget: Budget,
    ) -> Result<Collected, TrainError> {
        let tasks: Vec<Task> = (turn..turn + passes)
            .flat_map(|turn| self.pass(turn, &self.quantisers()))
            .collect();
        let mut all = Collected {
            decisions: Vec::new(),
            filters: (0..BANDS).map(|_| Default::default()).collect(),
            harvest: Harvest::new(0, self.params.seed),
        };
        let mut kept = 0;
        let coder = ClosedLoopCoder::new(self.training, dictionary)?.by(self.workers());
        let size = self.batch_size();
        for (batch, chunk) in batches(&tasks, size, &budget).iter().enumerate() {
            if batch > 0 && budget.is_over() {
                break;
            }
            go_on(self.observer)?;
            (self.observer).progress(Stage::Harvest, batch * size, tasks.len());
            for crop in coder.code_crops(chunk, self.params.seed)? {
                for (own, other) in all.filters[crop.band].iter_mut().zip(&crop.filters) {
                    own.merge(other);
                }
                kept += crop.decisions.len();
                if kept <= MOST_DECISIONS {
                    all.decisions.push(crop.decisions);
                }
                all.harvest.merge(crop.harvest);
            }
        }
        Ok(all)
    }

    /// The quantisers that everything but the network behind the filter is learned and judged at.
    fn quantisers(&self) -> [u8; 5] {
        around(self.params.quantiser, NEIGHBOURS).unwrap_or(QUANTISERS)
    }

    fn net_quantisers(&self) -> [u8; 6] {
        around(self.params.quantiser, NET_NEIGHBOURS).unwrap_or(NET_QUANTISERS)
    }

    fn workers(&self) -> Option<&'a dyn Workers> {
        self.params.workers.as_deref()
    }

    fn batch_size(&self) -> usize {
        match self.params.workers {
            None => BATCH,
            Some(_) => WORKERS_BATCH,
        }
    }

    /// One crop of every picture, or of as many as a pass takes, each pass at other qualities.
    fn pass(&self, turn: usize, quantisers: &[u8]) -> Vec<Task> {
        let count = self.training.len();
        let crops = count.min(CROPS);
        let task = |i: usize| {
            let picture = (turn * crops + i) % count;
            let quantiser = quantisers[(picture + 2 * turn) % quantisers.len()];
            Task::new(picture, self.params.crop, turn + picture, quantiser)
        };
        (0..crops).map(task).collect()
    }

    /// A pass for networks; every other one sees the pictures mirrored, for few collections have enough of them to
    /// learn from, and what is not alike in the mirror differs by its place.
    fn mirrored_in_turn(&self, turn: usize, quantisers: &[u8]) -> Vec<Task> {
        let mut pass = self.pass(turn, quantisers);
        pass.iter_mut()
            .for_each(|task| task.mirrored = turn % 2 == 1);
        pass
    }

    fn validated(&mut self, dictionary: &Dictionary) -> Result<f64, TrainError> {
        let curves = self.validate(dictionary, Budget::default())?;
        let change = change(&self.baseline, &curves);
        self.observer.validated(change);
        Ok(change)
    }

    /// How the held-out pictures fare with a dictionary, or those of them that there is time for.
    fn validate(
        &mut self,
        dictionary: &Dictionary,
        budget: Budget,
    ) -> Result<ValidationCurves, TrainError> {
        let mut curves = ValidationCurves::new();
        let coder = ClosedLoopCoder::new(self.validation, dictionary)?.by(self.workers());
        let quantisers = self.quantisers();
        let side_by_side = self.batch_size().div_ceil(quantisers.len());
        let order = &self.validation_order;
        for pictures in order.chunks(side_by_side) {
            let done = curves.len();
            if done >= FEWEST_VALIDATION && budget.is_over() {
                break;
            }
            go_on(self.observer)?;
            (self.observer).progress(Stage::Validation, done, order.len());
            let tasks = pictures.iter().flat_map(|&picture| {
                quantisers.map(|quantiser| Task::new(picture, self.params.crop, picture, quantiser))
            });
            let points = coder.rates(&tasks.collect::<Vec<Task>>())?;
            curves.extend(points.chunks(quantisers.len()).map(<[RatePoint]>::to_vec));
        }
        Ok(curves)
    }
}

/// Quantisers at these distances from a known one.
fn around<const N: usize>(known: Option<u8>, distances: [i16; N]) -> Option<[u8; N]> {
    let known = i16::from(known?);
    Some(distances.map(|distance| (known + distance).clamp(0, COARSEST) as u8))
}

/// Crops to code side by side; with a limit on the time the first batches are of pictures from all over the gallery.
fn batches(tasks: &[Task], size: usize, budget: &Budget) -> Vec<Vec<Task>> {
    let order = order(tasks.len(), budget);
    let tasks: Vec<Task> = order.into_iter().map(|at| tasks[at]).collect();
    tasks.chunks(size).map(<[Task]>::to_vec).collect()
}

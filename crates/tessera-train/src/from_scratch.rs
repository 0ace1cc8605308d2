//! From pictures to a dictionary.
//!
//! 1. Pictures are encoded with the dictionary at hand; what the bases had to code is harvested.
//! 2. Bases, orders, magnitude models and reconstruction points are learned from the harvest.
//! 3. Pictures are encoded again; the models adapt to them and become the priors, and the decoded planes
//!    beside the originals give the filter.
//! 4. Pictures are encoded at low rates with all of it; free atoms are learned from what is left there.
//! 5. The models adapt once more with filter and atoms in place.

use crate::atoms;
use crate::bases::learn_bases;
use crate::closed_loop::{ClosedLoopCoder, training_speed};
use crate::error::TrainError;
use crate::filter::{BandStatistics, solve_filter};
use crate::gallery::{Gallery, Task};
use crate::harvest::Harvest;
use crate::model_chains::{CHAINS, ModelChains};
use crate::observer::{Stage, TrainObserver, go_on};
use rayon::prelude::*;
use tessera_dict::filter::BANDS;
use tessera_dict::{Dictionary, FilterSet, Prior};

/// How a dictionary is learned.
#[derive(Clone, Debug)]
pub struct FromScratchParams {
    /// Seed of the sampling.
    pub seed: u64,
    /// How often the gallery is harvested, each time at other qualities.
    pub harvest_passes: usize,
    /// How often the models run over the gallery.
    pub prior_passes: usize,
    /// Largest side of the part taken from a picture when harvesting.
    pub harvest_crop: u32,
    /// Largest side of the part taken from a picture when the models adapt.
    pub prior_crop: u32,
    /// How often the gallery is harvested for free atoms, each time at other qualities.
    pub atom_passes: usize,
    /// Luma quantisers the pictures are encoded at, in turn.
    pub quantisers: Vec<u8>,
    /// Licence note and credits that go into the dictionary's provenance.
    pub note: String,
}

impl Default for FromScratchParams {
    fn default() -> Self {
        Self {
            seed: 1,
            harvest_passes: 2,
            prior_passes: 2,
            atom_passes: 8,
            harvest_crop: 640,
            prior_crop: 384,
            quantisers: vec![52, 60, 68, 76, 84],
            note: String::new(),
        }
    }
}

/// Pictures encoded side by side before their harvests are merged; bounds the memory.
const BATCH: usize = 8;

/// Learns a dictionary from `gallery`, starting from `start`.
///
/// # Errors
/// [`TrainError`].
pub fn train_from_scratch(
    gallery: &Gallery,
    start: &Dictionary,
    params: &FromScratchParams,
    observer: &mut dyn TrainObserver,
) -> Result<Dictionary, TrainError> {
    let mut training = Training::new(gallery, start, params)?;
    let harvest = training.harvest(params.harvest_passes, &params.quantisers, observer)?;
    observer.progress(Stage::Bases, 0, 1);
    training.learn_bases(&harvest)?;
    observer.progress(Stage::Bases, 1, 1);
    drop(harvest);
    let filters = training.adapt(Stage::Filter, observer)?;
    training.learn_filters(&filters)?;
    training.learn_atoms(observer)?;
    training.adapt(Stage::Priors, observer)?;
    let provenance = training.provenance()?;
    Ok((training.dictionary).edited(|parts| parts.provenance = provenance)?)
}

/// Gives a dictionary free atoms, in place of those it may have, and adapts its models to them.
///
/// # Errors
/// [`TrainError`].
pub fn add_atoms(
    gallery: &Gallery,
    start: &Dictionary,
    params: &FromScratchParams,
    observer: &mut dyn TrainObserver,
) -> Result<Dictionary, TrainError> {
    let mut training = Training::new(gallery, start, params)?;
    training.learn_atoms(observer)?;
    training.adapt(Stage::Priors, observer)?;
    Ok(training.dictionary)
}

struct Training<'a> {
    gallery: &'a Gallery,
    params: &'a FromScratchParams,
    dictionary: Dictionary,
}

impl<'a> Training<'a> {
    fn new(
        gallery: &'a Gallery,
        start: &Dictionary,
        params: &'a FromScratchParams,
    ) -> Result<Self, TrainError> {
        if gallery.is_empty() {
            return Err(TrainError::NoPictures);
        }
        Ok(Self {
            gallery,
            params,
            dictionary: start.clone(),
        })
    }

    fn harvest(
        &self,
        passes: usize,
        quantisers: &[u8],
        observer: &mut dyn TrainObserver,
    ) -> Result<Harvest, TrainError> {
        let jobs = self.jobs(passes);
        let coder = ClosedLoopCoder::new(self.gallery, &self.dictionary)?;
        let mut all = Harvest::new(0, self.params.seed);
        for (batch, chunk) in jobs.chunks(BATCH).enumerate() {
            go_on(observer)?;
            observer.progress(Stage::Harvest, batch * BATCH, jobs.len());
            let harvests = chunk.par_iter().map(|&(index, pass)| {
                let seed = self.params.seed ^ ((index as u64) << 8 | pass as u64);
                let task = task(index, pass, self.params.harvest_crop, quantisers);
                coder.harvest(&task, seed)
            });
            let harvests: Vec<Harvest> = harvests.collect::<Result<_, TrainError>>()?;
            harvests.into_iter().for_each(|own| all.merge(own));
        }
        Ok(all)
    }

    fn learn_bases(&mut self, harvest: &Harvest) -> Result<(), TrainError> {
        let start = [self.dictionary.luma(), self.dictionary.chroma()];
        let [luma, chroma] = learn_bases(harvest, start, training_speed().lambda)?;
        self.dictionary = self.dictionary.edited(|parts| {
            parts.luma_prior = Prior::untrained(luma.totals());
            parts.chroma_prior = Prior::untrained(chroma.totals());
            (parts.luma, parts.chroma) = (luma, chroma);
            parts.shrinkage = harvest.shrinkage(parts.shrinkage, 0);
        })?;
        Ok(())
    }

    /// Learns free atoms; none if there are too few patches.
    fn learn_atoms(&mut self, observer: &mut dyn TrainObserver) -> Result<(), TrainError> {
        let harvest = self.harvest(self.params.atom_passes, &atoms::QUANTISERS, observer)?;
        observer.progress(Stage::Atoms, 0, 1);
        let learned = atoms::learn_atoms(&harvest, self.params.seed)?;
        self.dictionary = (self.dictionary).edited(|parts| atoms::replace(parts, learned))?;
        observer.progress(Stage::Atoms, 1, 1);
        Ok(())
    }

    /// Runs the models over the gallery and makes their final state the priors.
    fn adapt(
        &mut self,
        stage: Stage,
        observer: &mut dyn TrainObserver,
    ) -> Result<BandStatistics, TrainError> {
        let offset = if stage == Stage::Filter { 0 } else { 100 };
        let jobs = self.jobs(self.params.prior_passes);
        let coder = ClosedLoopCoder::new(self.gallery, &self.dictionary)?;
        let mut chains = ModelChains::new(&self.dictionary);
        let mut statistics: BandStatistics = (0..BANDS).map(|_| Default::default()).collect();
        for (round, chunk) in jobs.chunks(CHAINS).enumerate() {
            go_on(observer)?;
            observer.progress(stage, round * CHAINS, jobs.len());
            let (crop, quantisers) = (self.params.prior_crop, &self.params.quantisers);
            let tasks = chunk.iter();
            let tasks = tasks.map(|&(index, pass)| task(index, pass + offset, crop, quantisers));
            let tasks: Vec<Task> = tasks.collect();
            let tiles = chains.code(&coder, &tasks)?;
            for (task, tile) in tasks.iter().zip(&tiles) {
                let band = FilterSet::band(task.quantiser);
                for (own, other) in statistics[band].iter_mut().zip(&tile.filters) {
                    own.merge(other);
                }
            }
        }
        self.dictionary = (self.dictionary)
            .edited(|parts| [parts.luma_prior, parts.chroma_prior] = chains.priors())?;
        Ok(statistics)
    }

    fn learn_filters(&mut self, statistics: &BandStatistics) -> Result<(), TrainError> {
        self.dictionary = self.dictionary.edited(|parts| {
            for (band, [luma, chroma]) in statistics.iter().enumerate() {
                parts.luma_filter.bands[band] = solve_filter(luma);
                parts.chroma_filter.bands[band] = solve_filter(chroma);
            }
        })?;
        Ok(())
    }

    /// What the dictionary says about its origin.
    fn provenance(&self) -> Result<String, TrainError> {
        let FromScratchParams {
            seed,
            harvest_passes,
            atom_passes,
            prior_passes,
            harvest_crop,
            prior_crop,
            quantisers,
            note,
        } = self.params;
        let pictures = self.gallery.len();
        let hash = self.gallery.hash()?;
        let version = env!("CARGO_PKG_VERSION");
        Ok(format!(
            "trained by: tessera-train {version}\nseed: {seed}\npictures: {pictures}\npictures hash: {hash}\n\
             harvest: {harvest_passes} passes, parts of {harvest_crop}\npriors: {prior_passes} passes, parts of {prior_crop}\n\
             atoms: {atom_passes} passes\n\
             quantisers: {quantisers:?}\n{note}"
        ))
    }

    /// Every picture once per pass.
    fn jobs(&self, passes: usize) -> Vec<(usize, usize)> {
        let pictures = 0..self.gallery.len();
        (0..passes)
            .flat_map(|pass| pictures.clone().map(move |index| (index, pass)))
            .collect()
    }
}

/// The crop of a picture that a pass uses, and its quantiser.
fn task(index: usize, pass: usize, crop: u32, quantisers: &[u8]) -> Task {
    let quantiser = quantisers[(index + 2 * pass) % quantisers.len()];
    Task::new(index, crop, index + 31 * pass, quantiser)
}

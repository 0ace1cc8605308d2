//! From pictures to a dictionary.
//!
//! 1. Pictures are encoded with the dictionary at hand; what the bases had to code is harvested.
//! 2. Bases, orders, magnitude models and reconstruction points are learned from the harvest.
//! 3. Pictures are encoded again; the models adapt to them and become the priors, and the decoded planes
//!    beside the originals give the filter.
//! 4. Once more with the filter in place.

use crate::bases::learn_bases;
use crate::filter::{BandStatistics, solve_filter};
use crate::gallery::{Gallery, Task};
use crate::harvest::Harvest;
use rayon::prelude::*;
use tessera_codec::PreparedDictionary;
use tessera_codec::internals::encoder::training::{CarriedModels, encode_for_training};
use tessera_codec::internals::{encoder::SpeedSettings, tile::TileConfig};
use tessera_dict::filter::BANDS;
use tessera_dict::{Dictionary, FilterSet, PlaneKind, Prior};
use tessera_patch::Plane;

/// How a dictionary is learned.
#[derive(Clone, Debug)]
pub struct TrainParams {
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
    /// Luma quantisers the pictures are encoded at, in turn.
    pub quantisers: Vec<u8>,
    /// Licence note and credits that go into the dictionary's provenance.
    pub note: String,
}

impl Default for TrainParams {
    fn default() -> Self {
        Self {
            seed: 1,
            harvest_passes: 2,
            prior_passes: 2,
            harvest_crop: 640,
            prior_crop: 384,
            quantisers: vec![52, 60, 68, 76, 84],
            note: String::new(),
        }
    }
}

/// Where training stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Choosing reference pictures.
    References,
    /// Collecting patches.
    Harvest,
    /// Learning bases.
    Bases,
    /// First adaptation of the models, and the filter.
    Filter,
    /// Final adaptation of the models.
    Priors,
    /// Learning the networks that predict patches.
    Prediction,
    /// Learning the network behind the filter.
    Network,
    /// Trying a dictionary on the held-out pictures.
    Judging,
}

/// Is told how training proceeds.
pub trait TrainObserver: Send {
    /// `done` of `total` steps of a stage are behind us.
    fn progress(&mut self, stage: Stage, done: usize, total: usize);

    /// A dictionary was tried on the held-out pictures: `change` of their bits at equal error against the start.
    fn judged(&mut self, _change: f64) {}

    /// A round is over; this is the best dictionary so far, good for use and for going on from.
    fn checkpoint(&mut self, _dictionary: &Dictionary) {}

    /// Whether to end at the next opportunity with the best dictionary so far.
    fn stopped(&self) -> bool {
        false
    }
}

impl TrainObserver for () {
    fn progress(&mut self, _: Stage, _: usize, _: usize) {}
}

/// Why a dictionary could not be learned.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// There is nothing to learn from.
    #[error("there are no pictures to learn from")]
    NoPictures,
    /// One picture cannot both be learned from and held out.
    #[error(
        "learning takes at least two pictures: some to learn from, others to check the gain on"
    )]
    OnePicture,
    /// A checkpoint does not belong to what is being trained.
    #[error(
        "the checkpoint was made from other pictures, another start or another seed; start from it with --from instead"
    )]
    OtherRun,
    /// No dictionary is that small.
    #[error(
        "a dictionary cannot be smaller than {least} bytes, {limit} were asked for; allow more with --max-size"
    )]
    TooLarge {
        /// What was asked for.
        limit: usize,
        /// What is possible.
        least: usize,
    },
    /// The observer asked to stop before there was a dictionary.
    #[error("stopped before there was anything to keep")]
    Stopped,
    /// A picture that was readable before no longer is.
    #[error("{0}: {1}")]
    Picture(String, String),
    /// A file could not be read.
    #[error("a picture could not be read")]
    Io(#[from] std::io::Error),
    /// The learning itself failed.
    #[error("learning the bases failed")]
    Learning(#[from] batchsvd::Error),
    /// What was learned leaves the limits of the format.
    #[error("what was learned makes no dictionary")]
    Dictionary(#[from] tessera_dict::Error),
    /// A reference picture of the dictionary does not decode.
    #[error(transparent)]
    Reference(#[from] tessera_codec::DictionaryError),
}

/// Pictures encoded side by side before their harvests are merged; bounds the memory.
const BATCH: usize = 8;
/// Independent runs of the models over parts of the gallery; fixed, so that threads do not matter.
const CHAINS: usize = 4;

/// Learns a dictionary from `gallery`, starting from `start`.
///
/// # Errors
/// [`TrainError`].
pub fn train(
    gallery: &Gallery,
    start: &Dictionary,
    params: &TrainParams,
    observer: &mut dyn TrainObserver,
) -> Result<Dictionary, TrainError> {
    if gallery.is_empty() {
        return Err(TrainError::NoPictures);
    }
    let effort = SpeedSettings::for_training(2, 3);
    let mut training = Training {
        gallery,
        params,
        effort,
        dictionary: start.clone(),
    };
    let harvest = training.harvest(observer)?;
    observer.progress(Stage::Bases, 0, 1);
    training.learn_bases(&harvest)?;
    observer.progress(Stage::Bases, 1, 1);
    drop(harvest);
    let filters = training.adapt(Stage::Filter, observer)?;
    training.learn_filters(&filters)?;
    training.adapt(Stage::Priors, observer)?;
    let provenance = training.provenance()?;
    Ok((training.dictionary).edited(|parts| parts.provenance = provenance)?)
}

/// Fails once the observer wants to stop.
pub(crate) fn go_on(observer: &dyn TrainObserver) -> Result<(), TrainError> {
    if observer.stopped() {
        return Err(TrainError::Stopped);
    }
    Ok(())
}

struct Training<'a> {
    gallery: &'a Gallery,
    params: &'a TrainParams,
    effort: SpeedSettings,
    dictionary: Dictionary,
}

impl Training<'_> {
    fn harvest(&self, observer: &mut dyn TrainObserver) -> Result<Harvest, TrainError> {
        let dictionary = PreparedDictionary::new(&self.dictionary)?;
        let jobs = self.jobs(self.params.harvest_passes);
        let mut all = Harvest::new(0, self.params.seed);
        for (batch, chunk) in jobs.chunks(BATCH).enumerate() {
            go_on(observer)?;
            observer.progress(Stage::Harvest, batch * BATCH, jobs.len());
            let harvests = chunk.par_iter().map(|&(index, pass)| {
                let (planes, config) = self.part(index, pass, self.params.harvest_crop)?;
                let seed = self.params.seed ^ ((index as u64) << 8 | pass as u64);
                let mut own = Harvest::new(index, seed);
                let mut models = CarriedModels::new(&dictionary);
                encode_for_training(
                    &planes,
                    &config,
                    &dictionary,
                    self.effort,
                    &mut models,
                    Some(&mut own),
                );
                Ok(own)
            });
            let harvests: Vec<Harvest> = harvests.collect::<Result<_, TrainError>>()?;
            harvests.into_iter().for_each(|own| all.merge(own));
        }
        Ok(all)
    }

    fn learn_bases(&mut self, harvest: &Harvest) -> Result<(), TrainError> {
        let start = [self.dictionary.luma(), self.dictionary.chroma()];
        let [luma, chroma] = learn_bases(harvest, start, self.effort.lambda)?;
        self.dictionary = self.dictionary.edited(|parts| {
            parts.luma_prior = Prior::untrained(luma.totals());
            parts.chroma_prior = Prior::untrained(chroma.totals());
            (parts.luma, parts.chroma) = (luma, chroma);
            parts.shrinkage = harvest.shrinkage(parts.shrinkage, 0);
        })?;
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
        let dictionary = PreparedDictionary::new(&self.dictionary)?;
        let mut chains = vec![CarriedModels::new(&dictionary); CHAINS];
        let mut statistics: BandStatistics = (0..BANDS).map(|_| Default::default()).collect();
        for (round, chunk) in jobs.chunks(CHAINS).enumerate() {
            go_on(observer)?;
            observer.progress(stage, round * CHAINS, jobs.len());
            let tiles = chains
                .par_iter_mut()
                .zip(chunk)
                .map(|(models, &(index, pass))| {
                    let (planes, config) =
                        self.part(index, pass + offset, self.params.prior_crop)?;
                    let tile = encode_for_training(
                        &planes,
                        &config,
                        &dictionary,
                        self.effort,
                        models,
                        None,
                    );
                    Ok((FilterSet::band(config.quantiser), tile.filters))
                });
            for (band, filters) in tiles.collect::<Result<Vec<_>, TrainError>>()? {
                for (own, other) in statistics[band].iter_mut().zip(&filters) {
                    own.merge(other);
                }
            }
        }
        let priors: Vec<[Prior; 2]> = chains.iter().map(CarriedModels::priors).collect();
        let merged = |kind: PlaneKind| {
            let own: Vec<Prior> = priors
                .iter()
                .map(|pair| pair[kind as usize].clone())
                .collect();
            Prior::merged(&own)
        };
        self.dictionary = self.dictionary.edited(|parts| {
            parts.luma_prior = merged(PlaneKind::Luma);
            parts.chroma_prior = merged(PlaneKind::Chroma);
        })?;
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
        let TrainParams {
            seed,
            harvest_passes,
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

    /// The part of a picture that a pass uses, and its quantiser.
    fn part(
        &self,
        index: usize,
        pass: usize,
        crop: u32,
    ) -> Result<(Vec<Plane>, TileConfig), TrainError> {
        let quantisers = &self.params.quantisers;
        let quantiser = quantisers[(index + 2 * pass) % quantisers.len()];
        self.gallery
            .part(&Task::new(index, crop, index + 31 * pass, quantiser))
    }
}

//! What references really save: encodes of held-out pictures with and without them.

use super::candidates::Candidate;
use super::{ReferenceChoice, ReferenceParams, ReferenceReport};
use crate::budget::Budget;
use crate::gallery::{Gallery, Task};
use crate::pipeline::TrainError;
use rayon::prelude::*;
use std::time::{Duration, Instant};
use tessera_codec::internals::encoder::training::{CarriedModels, encode_for_training};
use tessera_codec::{
    PreparedDictionary,
    internals::encoder::{SpeedSettings, encode_tile},
    internals::tile::TileConfig,
};
use tessera_dict::layout::totals_without_references;
use tessera_dict::{Dictionary, Prior};
use tessera_patch::Plane;

/// Held-out pictures that decide.
const JUDGED: usize = 10;
/// Pictures the priors of references are learned from.
const LEARNED: usize = 32;
/// Independent runs of the models; fixed, so that threads do not matter.
const CHAINS: usize = 4;
/// Largest side of what is encoded of a picture.
const CROP: u32 = 512;
/// The turn whose part starts where pictures of one kind are most alike.
const TOP_LEFT: usize = 0;

/// Decides by encoding pictures.
pub(super) struct Judge<'a> {
    gallery: &'a Gallery,
    start: &'a Dictionary,
    held_out: Vec<(Vec<Plane>, TileConfig)>,
    /// Bytes and squared error of every held-out encode without references.
    alone: Vec<Outcome>,
    /// How long that took.
    took: Duration,
}

/// Bytes of a tile and its squared error in bytes' worth.
#[derive(Clone, Copy, Debug)]
struct Outcome {
    bytes: f64,
    error: f64,
}

fn effort() -> SpeedSettings {
    SpeedSettings::for_training(2, 3)
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        gallery: &'a Gallery,
        held_out: &Gallery,
        start: &'a Dictionary,
        params: &ReferenceParams,
    ) -> Result<Self, TrainError> {
        let mut tiles = Vec::new();
        let count = held_out.len().min(JUDGED);
        for turn in 0..count {
            let index = turn * held_out.len() / count;
            for &quantiser in &params.quantisers {
                tiles.push(held_out.part(&Task::new(index, CROP, TOP_LEFT, quantiser))?);
            }
        }
        let mut judge = Self {
            gallery,
            start,
            held_out: tiles,
            alone: Vec::new(),
            took: Duration::ZERO,
        };
        let began = Instant::now();
        judge.alone = judge.outcomes(&PreparedDictionary::new(start)?);
        judge.took = began.elapsed();
        Ok(judge)
    }

    /// Mean bytes of a held-out encode without references.
    pub(super) fn before(&self) -> f64 {
        self.alone.iter().map(|outcome| outcome.bytes).sum::<f64>() / self.alone.len() as f64
    }

    /// Whether a trial fits into what is left: it encodes about as many pictures again to learn from them, and
    /// references make encodes slower.
    pub(super) fn has_time_for_a_trial(&self, budget: &Budget) -> bool {
        let left = budget.time_left();
        left.is_none_or(|left| left > 3 * self.took)
    }

    /// The start dictionary with some references, and what that gives.
    pub(super) fn trial(&self, chosen: &[&Candidate]) -> Result<ReferenceChoice, TrainError> {
        let references = chosen.iter().map(|candidate| candidate.reference.clone());
        let references = references.collect();
        let dictionary = self.start.edited(|parts| parts.references = references)?;
        let taken: Vec<usize> = chosen
            .iter()
            .filter_map(|candidate| candidate.source)
            .collect();
        let dictionary = learn_priors(self.gallery, &dictionary, &taken)?;
        let pairs = self.outcomes(&PreparedDictionary::new(&dictionary)?);
        let changes = pairs.iter().zip(&self.alone);
        let change: f64 = changes
            .map(|(with, alone)| with.bytes - alone.bytes + with.error - alone.error)
            .sum();
        let streams = dictionary.references().iter().map(|r| r.stream().len());
        let report = ReferenceReport {
            names: chosen
                .iter()
                .map(|candidate| candidate.name.clone())
                .collect(),
            bytes: streams.sum(),
            before: self.before(),
            after: self.before() + change / self.alone.len() as f64,
        };
        Ok(ReferenceChoice {
            dictionary,
            taken,
            report,
        })
    }

    fn outcomes(&self, dictionary: &PreparedDictionary) -> Vec<Outcome> {
        let outcomes = self.held_out.par_iter().map(|(planes, config)| {
            let tile = encode_tile(planes, config, dictionary, effort());
            let pairs = planes.iter().zip(&tile.planes);
            let squares = pairs.flat_map(|(a, b)| a.data.iter().zip(&b.data));
            let error: f64 = squares
                .map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2))
                .sum();
            // A step of index q is 2^(q / 8) of a sample, and lambda squared steps are worth a bit.
            let step = (f64::from(config.quantiser) / 8.0).exp2();
            Outcome {
                bytes: tile.bytes.len() as f64,
                error: error / (step * step * f64::from(effort().lambda) * 8.0),
            }
        });
        outcomes.collect()
    }
}

/// The dictionary with models of references that adapted to training pictures other than the references themselves.
pub(super) fn learn_priors(
    gallery: &Gallery,
    dictionary: &Dictionary,
    taken: &[usize],
) -> Result<Dictionary, TrainError> {
    const QUANTISERS: [u8; 5] = [52, 60, 68, 76, 84];
    let others: Vec<usize> = (0..gallery.len()).filter(|i| !taken.contains(i)).collect();
    let count = others.len().min(LEARNED);
    let lessons: Vec<usize> = (0..count)
        .map(|turn| others[turn * others.len() / count])
        .collect();
    let prepared = PreparedDictionary::new(dictionary)?;
    let chains = (0..CHAINS).into_par_iter().map(|chain| {
        let mut models = CarriedModels::new(dictionary);
        for (turn, &index) in lessons.iter().enumerate().skip(chain).step_by(CHAINS) {
            let quantiser = QUANTISERS[turn / CHAINS % QUANTISERS.len()];
            let task = Task::new(index, CROP, TOP_LEFT, quantiser);
            let (planes, config) = gallery.part(&task)?;
            encode_for_training(&planes, &config, &prepared, effort(), &mut models, None);
        }
        Ok(models.priors())
    });
    let chains: Vec<[Prior; 2]> = chains.collect::<Result<_, TrainError>>()?;
    let merged = [0, 1].map(|kind| {
        let own: Vec<Prior> = chains.iter().map(|pair| pair[kind].clone()).collect();
        Prior::merged(&own)
    });
    let bases = [dictionary.luma().totals(), dictionary.chroma().totals()];
    let mut next = dictionary.to_builder();
    let priors = [&mut next.luma_prior, &mut next.chroma_prior];
    for ((prior, learned), bases) in priors.into_iter().zip(merged).zip(bases) {
        let (cells, vectors) = totals_without_references(bases);
        prior.cells[cells..].copy_from_slice(&learned.cells[cells..]);
        prior.weights[vectors..].copy_from_slice(&learned.weights[vectors..]);
    }
    Ok(next.build()?)
}

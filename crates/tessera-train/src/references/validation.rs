//! What references really save: encodes of held-out pictures with and without them.

use super::candidates::Candidate;
use super::{ReferenceChoice, ReferenceParams, ReferenceReport};
use crate::budget::Budget;
use crate::closed_loop::{ClosedLoopCoder, training_speed};
use crate::error::TrainError;
use crate::gallery::{Gallery, Task};
use crate::model_chains::{CHAINS, ModelChains};
use rayon::prelude::*;
use std::time::{Duration, Instant};
use tessera_codec::PreparedDictionary;
use tessera_codec::internals::{encoder::encode_tile, tile::TileConfig};
use tessera_dict::Dictionary;
use tessera_dict::layout::totals_without_references;
use tessera_patch::Plane;

/// Held-out pictures that decide.
const VALIDATED: usize = 10;
/// Pictures the priors of references are learned from.
const LEARNED: usize = 32;
/// Largest side of what is encoded of a picture.
const CROP: u32 = 512;
/// The turn whose part starts where pictures of one kind are most alike.
const TOP_LEFT: usize = 0;

/// Decides by encoding pictures.
pub(super) struct Validator<'a> {
    gallery: &'a Gallery,
    start: &'a Dictionary,
    held_out: Vec<(Vec<Plane>, TileConfig)>,
    /// Bytes and squared error of every held-out encode without references.
    alone: Vec<CodedCost>,
    /// How long that took.
    took: Duration,
}

/// Bytes of a tile and its squared error in bytes' worth.
#[derive(Clone, Copy, Debug)]
struct CodedCost {
    bytes: f64,
    error: f64,
}

impl<'a> Validator<'a> {
    pub(super) fn new(
        gallery: &'a Gallery,
        held_out: &Gallery,
        start: &'a Dictionary,
        params: &ReferenceParams,
    ) -> Result<Self, TrainError> {
        let mut tiles = Vec::new();
        let count = held_out.len().min(VALIDATED);
        for turn in 0..count {
            let index = turn * held_out.len() / count;
            for &quantiser in &params.quantisers {
                let task = Task::new(index, CROP, TOP_LEFT, quantiser);
                let (planes, part) = held_out.part(&task)?;
                tiles.push((planes, part.config()));
            }
        }
        let mut validator = Self {
            gallery,
            start,
            held_out: tiles,
            alone: Vec::new(),
            took: Duration::ZERO,
        };
        let began = Instant::now();
        validator.alone = validator.costs(&PreparedDictionary::new(start)?);
        validator.took = began.elapsed();
        Ok(validator)
    }

    /// Mean bytes of a held-out encode without references.
    pub(super) fn before(&self) -> f64 {
        self.alone.iter().map(|cost| cost.bytes).sum::<f64>() / self.alone.len() as f64
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
        let pairs = self.costs(&PreparedDictionary::new(&dictionary)?);
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

    fn costs(&self, dictionary: &PreparedDictionary) -> Vec<CodedCost> {
        let costs = self.held_out.par_iter().map(|(planes, config)| {
            let tile = encode_tile(planes, config, dictionary, training_speed());
            let pairs = planes.iter().zip(&tile.planes);
            let squares = pairs.flat_map(|(a, b)| a.data.iter().zip(&b.data));
            let error: f64 = squares
                .map(|(&a, &b)| f64::from(a.abs_diff(b)).powi(2))
                .sum();
            // A step of index q is 2^(q / 8) of a sample, and lambda squared steps are worth a bit.
            let step = (f64::from(config.quantiser) / 8.0).exp2();
            CodedCost {
                bytes: tile.bytes.len() as f64,
                error: error / (step * step * f64::from(training_speed().lambda) * 8.0),
            }
        });
        costs.collect()
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
    let task = |turn: usize| {
        let quantiser = QUANTISERS[turn / CHAINS % QUANTISERS.len()];
        Task::new(
            others[turn * others.len() / count],
            CROP,
            TOP_LEFT,
            quantiser,
        )
    };
    let tasks: Vec<Task> = (0..count).map(task).collect();
    let coder = ClosedLoopCoder::new(gallery, dictionary)?;
    let mut chains = ModelChains::new(dictionary);
    for tasks in tasks.chunks(CHAINS) {
        chains.code(&coder, tasks)?;
    }
    let bases = [dictionary.luma().totals(), dictionary.chroma().totals()];
    let mut next = dictionary.to_builder();
    let priors = [&mut next.luma_prior, &mut next.chroma_prior];
    for ((prior, learned), bases) in priors.into_iter().zip(chains.priors()).zip(bases) {
        let (cells, vectors) = totals_without_references(bases);
        prior.cells[cells..].copy_from_slice(&learned.cells[cells..]);
        prior.weights[vectors..].copy_from_slice(&learned.weights[vectors..]);
    }
    Ok(next.build()?)
}

//! What each candidate would save on each block of other pictures.

use super::ReferenceParams;
use super::candidates::Candidate;
use crate::budget::{Budget, order};
use crate::error::TrainError;
use crate::gallery::{Gallery, Task};
use rayon::prelude::*;
use tessera_codec::internals::encoder::cost::reference::{BlockCosts, reference_costs};
use tessera_codec::{
    PreparedDictionary,
    internals::encoder::SpeedSettings,
    internals::tile::{PlaneLayout, TileConfig},
};
use tessera_dict::reference::{MAX_PIXELS, MAX_REFERENCES};
use tessera_dict::{Dictionary, Reference};

/// Pictures the candidates are weighed on.
const PROBES: usize = 24;
/// Largest side of what is looked at of a picture.
const CROP: u32 = 256;

/// Pictures looked at side by side before time is.
const BATCH: usize = 4;

/// Costs of the blocks of the probes.
#[derive(Debug)]
pub(super) struct Gains {
    /// Per block; `with` has an entry for every candidate.
    blocks: Vec<BlockCosts>,
}

impl Gains {
    /// Looks at every candidate from the point of view of a sample of pictures, as many as there is time for.
    pub(super) fn measure(
        gallery: &Gallery,
        candidates: &[Candidate],
        start: &Dictionary,
        params: &ReferenceParams,
        budget: Budget,
        go_on: &mut dyn FnMut() -> Result<(), TrainError>,
    ) -> Result<Self, TrainError> {
        let batches = batches(candidates, start)?;
        let probes = probes(gallery.len());
        let probe = |&turn: &usize| {
            let index = probes[turn];
            let quantiser = params.quantisers[turn % params.quantisers.len()];
            let mut costs = costs_of(gallery, index, quantiser, &batches)?;
            // A picture fits itself too well to say anything.
            for (at, candidate) in candidates.iter().enumerate() {
                if candidate.source == Some(index) {
                    costs
                        .iter_mut()
                        .for_each(|block| block.with[at] = f32::INFINITY);
                }
            }
            Ok(costs)
        };
        let mut blocks = Vec::new();
        for batch in order(probes.len(), &budget).chunks(BATCH) {
            go_on()?;
            if budget.is_over() {
                break;
            }
            let costs = batch.par_iter().map(probe);
            let costs: Vec<Vec<BlockCosts>> = costs.collect::<Result<_, TrainError>>()?;
            blocks.extend(costs.into_iter().flatten());
        }
        Ok(Self { blocks })
    }

    /// The candidates in the order in which each adds most to those before it, as long as they fit.
    pub(super) fn greedy(&self, candidates: &[Candidate], max_bytes: usize) -> Vec<usize> {
        let mut now: Vec<f32> = self.blocks.iter().map(|block| block.alone).collect();
        let total: f32 = now.iter().sum();
        let mut left = max_bytes;
        let mut chosen: Vec<usize> = Vec::new();
        while chosen.len() < MAX_REFERENCES {
            let size = |at: usize| candidates[at].reference.stream().len();
            let open = (0..candidates.len()).filter(|at| !chosen.contains(at) && size(*at) <= left);
            let best = open
                .map(|at| (self.saved(&now, at), at))
                .max_by(|a, b| a.0.total_cmp(&b.0));
            let Some((_, at)) = best.filter(|(saved, _)| *saved > total * LEAST_SHARE) else {
                break;
            };
            for (now, block) in now.iter_mut().zip(&self.blocks) {
                *now = now.min(block.with[at]);
            }
            left -= size(at);
            chosen.push(at);
        }
        chosen
    }

    /// Bits a candidate saves beyond what the blocks cost now.
    fn saved(&self, now: &[f32], candidate: usize) -> f32 {
        let blocks = self.blocks.iter().zip(now);
        blocks
            .map(|(block, now)| (now - block.with[candidate]).max(0.0))
            .sum()
    }
}

/// Share of all bits that a further reference must save to be considered.
const LEAST_SHARE: f32 = 0.002;

/// Dictionaries that carry the candidates, as many as each may hold.
fn batches(
    candidates: &[Candidate],
    start: &Dictionary,
) -> Result<Vec<PreparedDictionary>, TrainError> {
    let mut batches: Vec<Vec<Reference>> = Vec::new();
    let mut pixels = 0;
    for Candidate { reference, .. } in candidates {
        pixels += u64::from(reference.width()) * u64::from(reference.height());
        match batches.last_mut() {
            Some(batch) if batch.len() < MAX_REFERENCES && pixels <= MAX_PIXELS => {
                batch.push(reference.clone());
            }
            _ => {
                pixels = u64::from(reference.width()) * u64::from(reference.height());
                batches.push(vec![reference.clone()]);
            }
        }
    }
    let dictionary = |references| {
        let dictionary = start.edited(|parts| parts.references = references)?;
        Ok(PreparedDictionary::new(dictionary)?)
    };
    batches.into_iter().map(dictionary).collect()
}

/// Pictures spread evenly over a gallery.
fn probes(count: usize) -> Vec<usize> {
    let probes = count.min(PROBES);
    (0..probes).map(|turn| turn * count / probes).collect()
}

fn costs_of(
    gallery: &Gallery,
    index: usize,
    quantiser: u8,
    batches: &[PreparedDictionary],
) -> Result<Vec<BlockCosts>, TrainError> {
    let (planes, part) = gallery.part(&Task::new(index, CROP, index, quantiser))?;
    let config = part.config();
    let luma = TileConfig {
        layout: PlaneLayout::Gray,
        ..config
    };
    let mut all: Vec<BlockCosts> = Vec::new();
    for dictionary in batches {
        let costs = reference_costs(
            &planes[..1],
            &luma,
            dictionary,
            SpeedSettings::for_training(3, 2),
        );
        if all.is_empty() {
            all = costs;
        } else {
            for (own, more) in all.iter_mut().zip(costs) {
                own.with.extend(more.with);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(bytes: usize) -> Candidate {
        Candidate {
            name: String::new(),
            source: None,
            reference: Reference::new(1, 1, vec![0; bytes]),
        }
    }

    #[test]
    fn what_others_already_save_does_not_count_again() {
        let block = |with: [f32; 3]| BlockCosts {
            alone: 10.0,
            with: with.to_vec(),
        };
        // The first two save the same blocks, the third another one.
        let gains = Gains {
            blocks: vec![
                block([1.0, 2.0, 20.0]),
                block([1.0, 2.0, 20.0]),
                block([11.0, 12.0, 7.0]),
            ],
        };
        let candidates = [candidate(50), candidate(50), candidate(50)];
        assert_eq!(gains.greedy(&candidates, 1000), [0, 2]);
        assert_eq!(gains.greedy(&candidates, 60), [0]);
        assert!(gains.greedy(&candidates, 49).is_empty());
    }
}

//! Priors fitted to recorded decisions: cells by their counts, mixing weights by descent.

use crate::cells::{Pull, fit_cell, worthwhile_cell};
use crate::thrift::Thrift;
use rayon::prelude::*;
use tessera_codec::internals::encoder::training::{CarriedModels, CellCount, Decisions};
use tessera_dict::layout::{BasisTotals, ELEMENTS, MAX_INPUTS};
use tessera_dict::{DictionaryBuilder, PlaneKind, Prior};

/// Independent descents over parts of the decisions; fixed, so that threads do not matter.
const CHAINS: usize = 4;
/// Times the weights run over all decisions.
const EPOCHS: usize = 2;
/// Part of what a cell saves by itself that is left when its probability is mixed with others.
const MIXED_SHARE: f64 = 0.4;
/// How strongly starting values hold.
const PULL: Pull = Pull {
    mean: 0.5,
    confidence: 0.5,
};

/// Priors of luma and chroma that code parts like these in few bits, each part starting from them.
///
/// With `thrift` cells change only as far as that pays.
pub(crate) fn fit_priors(
    dictionary: &DictionaryBuilder,
    parts: &[Decisions],
    thrift: Option<Thrift>,
) -> [Prior; 2] {
    let totals = [dictionary.luma.totals(), dictionary.chroma.totals()];
    let start = [&dictionary.luma_prior, &dictionary.chroma_prior];
    let mut priors = [PlaneKind::Luma, PlaneKind::Chroma].map(|kind| {
        let (start, totals) = (start[kind as usize], totals[kind as usize]);
        fit_cells(start, kind, totals, parts, thrift)
    });
    for _ in 0..EPOCHS {
        priors = descend(priors, totals, parts);
    }
    if let Some(thrift) = thrift {
        for (prior, start) in priors.iter_mut().zip(start) {
            thrift.mixing_weights(prior, start);
        }
    }
    priors
}

fn fit_cells(
    start: &Prior,
    kind: PlaneKind,
    totals: BasisTotals,
    parts: &[Decisions],
    thrift: Option<Thrift>,
) -> Prior {
    let counts = parts.par_iter().map(|part| part.cell_counts(kind, totals));
    let mut seen: Vec<CellCount> = counts.collect::<Vec<_>>().concat();
    // Stable, so that the parts of a cell stay in order.
    seen.par_sort_by_key(|count| count.cell);
    let groups: Vec<&[CellCount]> = seen.chunk_by(|a, b| a.cell == b.cell).collect();
    let often = thrift.map(|thrift| thrift.pictures / parts.len().max(1) as f64);
    let alone = lone_cells(totals);
    let fit = |group: &&[CellCount]| {
        let cell = group[0].cell as usize;
        let fitted = fit_cell(start.cells[cell], group, PULL);
        match often {
            Some(often) => {
                let share = if cell < alone { 1.0 } else { MIXED_SHARE };
                worthwhile_cell(start.cells[cell], fitted, group, share * often)
            }
            None => fitted,
        }
    };
    let fitted: Vec<_> = groups.par_iter().map(fit).collect();
    let mut prior = start.clone();
    for (group, cell) in groups.iter().zip(fitted) {
        prior.cells[group[0].cell as usize] = cell;
    }
    prior
}

/// How many cells stand before those that are mixed with others.
fn lone_cells(totals: BasisTotals) -> usize {
    let alone = ELEMENTS
        .into_iter()
        .take_while(|element| element.inputs() == 1);
    let sizes = alone.flat_map(|element| element.layout(totals).inputs);
    sizes.sum()
}

/// Carries the weights from part to part while the cells start anew each time; the mean over the way counts.
fn descend(priors: [Prior; 2], totals: [BasisTotals; 2], parts: &[Decisions]) -> [Prior; 2] {
    let ends: Vec<[Means; 2]> = (0..CHAINS)
        .into_par_iter()
        .filter(|&chain| chain < parts.len())
        .map(|chain| {
            let mut means = [0, 1].map(|kind| Means::new(priors[kind].weights.len()));
            let mut carried = priors.clone();
            for part in parts.iter().skip(chain).step_by(CHAINS) {
                let mut models = CarriedModels::from_priors(&carried, totals);
                part.replay(&mut models);
                for (kind, after) in models.priors().into_iter().enumerate() {
                    means[kind].add(&carried[kind].weights, &after.weights);
                    carried[kind].weights = after.weights;
                }
            }
            means
        })
        .collect();
    let mut out = priors;
    for (kind, prior) in out.iter_mut().enumerate() {
        let ends: Vec<&Means> = ends.iter().map(|pair| &pair[kind]).collect();
        for (at, weight) in prior.weights.iter_mut().enumerate() {
            *weight = Means::together(&ends, at).unwrap_or(*weight);
        }
    }
    out
}

/// Running means of weight vectors over the parts that moved them.
struct Means {
    sums: Vec<[i64; MAX_INPUTS]>,
    counts: Vec<i64>,
}

impl Means {
    fn new(vectors: usize) -> Self {
        Self {
            sums: vec![[0; MAX_INPUTS]; vectors],
            counts: vec![0; vectors],
        }
    }

    fn add(&mut self, before: &[[i32; MAX_INPUTS]], after: &[[i32; MAX_INPUTS]]) {
        for (at, (before, after)) in before.iter().zip(after).enumerate() {
            if before != after {
                self.counts[at] += 1;
                for (sum, value) in self.sums[at].iter_mut().zip(after) {
                    *sum += i64::from(*value);
                }
            }
        }
    }

    fn together(all: &[&Self], at: usize) -> Option<[i32; MAX_INPUTS]> {
        let count: i64 = all.iter().map(|own| own.counts[at]).sum();
        let sum = |lane: usize| -> i64 { all.iter().map(|own| own.sums[at][lane]).sum() };
        (count > 0).then(|| std::array::from_fn(|lane| (sum(lane) / count) as i32))
    }
}

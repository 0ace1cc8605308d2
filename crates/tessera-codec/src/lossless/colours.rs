//! Whole pixels, coded as one of a few candidates (`spec/lossless.md`, "Colours").

use super::cell::Cell;
use super::coder::Coder;
use super::history::{Histories, ORDERS};
use super::logistic::squash;
use super::mixer::{Mixed, Mixer};
use super::template::{Near, decision_hashes};
#[cfg(feature = "encoder")]
use crate::tile::entropy::coder::code_lengths;

/// A pixel: up to four samples of 16 bits.
pub(super) type Colour = u64;

/// Opinions on every decision: by hashed contexts, then by counted ones.
const INPUTS: usize = 8;
const HASHED: usize = 6;
/// Candidates at most.
const CANDIDATES: usize = 6;
/// Kinds of decisions: whether it is the candidate of each rank, and whether it is any after the first.
const KINDS: usize = 8;
const ESCAPE: usize = 7;
const COUNTED: usize = 64 * 8 * KINDS;
const MIXING_RATE: u32 = 12;
const CELL_LIMIT: u32 = 250;
/// Cells per history slot, as a power of two.
const CELLS_PER_SLOT: u32 = 2;

/// A colour that the pixel may have, and a bit for each reason to think so.
#[derive(Clone, Copy, Debug, Default)]
struct Candidate {
    colour: Colour,
    reasons: u32,
}

/// Different candidates, the likeliest first.
#[derive(Clone, Copy, Debug, Default)]
struct Candidates {
    list: [Candidate; CANDIDATES],
    count: usize,
}

impl Candidates {
    #[inline(always)]
    fn offer(&mut self, colour: Colour, reason: u32) {
        for known in &mut self.list[..self.count] {
            if known.colour == colour {
                known.reasons |= reason;
                return;
            }
        }
        if let Some(free) = self.list.get_mut(self.count) {
            *free = Candidate {
                colour,
                reasons: reason,
            };
            self.count += 1;
        }
    }

    #[inline(always)]
    fn has_after_first(&self, colour: Colour) -> bool {
        let mut others = self.list[..self.count].iter().skip(1);
        others.any(|candidate| candidate.colour == colour)
    }
}

/// A decision before it is coded: its probability, and where that comes from.
struct Decision {
    one: u32,
    hashed: [usize; HASHED],
    counted: [usize; INPUTS - HASHED],
    opinions: [i32; INPUTS],
    sets: [usize; 2],
    mixed: [Mixed; 2],
}

/// Everything that adapts to which colours follow which.
#[derive(Debug)]
pub(super) struct ColourModel {
    histories: Histories,
    cell_bits: u32,
    hashed: Vec<Vec<Cell>>,
    counted: [Vec<Cell>; INPUTS - HASHED],
    mixers: [Mixer<INPUTS>; 2],
}

/// What the decisions of one pixel have in common.
struct Situation {
    near: Near,
    confidence: usize,
    /// How many pairs of neighbours differ.
    changes: usize,
}

impl ColourModel {
    /// For a tile of so many pixels.
    pub(super) fn new(pixels: usize) -> Self {
        let slot_bits = pixels.ilog2().clamp(8, 16);
        let cell_bits = slot_bits + CELLS_PER_SLOT;
        let start = (1 << 16) * 3 / 10;
        Self {
            histories: Histories::new(slot_bits),
            cell_bits,
            hashed: vec![vec![Cell::EVEN; 1 << cell_bits]; HASHED],
            counted: [vec![Cell::EVEN; COUNTED], vec![Cell::EVEN; COUNTED]],
            mixers: [64, 128].map(|sets| Mixer::new(sets * KINDS, start, MIXING_RATE)),
        }
    }

    /// Codes a colour if it is one of the candidates, and says which it is.
    #[inline(always)]
    pub(super) fn code(
        &mut self,
        coder: &mut impl Coder,
        near: Near,
        colour: Colour,
    ) -> Option<Colour> {
        let (candidates, confidence) = self.candidates(&near);
        let changes = near.changes();
        let situation = Situation {
            near,
            confidence,
            changes,
        };
        for rank in 0..candidates.count {
            let candidate = candidates.list[rank];
            let same = colour == candidate.colour;
            if self.decide(coder, &situation, candidate, rank, same) {
                return Some(candidate.colour);
            }
            if rank == 0 {
                let listed = candidates.has_after_first(colour);
                if !self.decide(coder, &situation, candidate, ESCAPE, listed) {
                    return None;
                }
            }
        }
        None
    }

    /// What followed the same neighbourhoods before, then the neighbours.
    #[inline(always)]
    fn candidates(&mut self, near: &Near) -> (Candidates, usize) {
        let mut candidates = Candidates::default();
        let mut confidence = 0;
        self.histories.look_up(&near.hashes);
        for order in 0..ORDERS {
            let level = match self.histories.found(order) {
                None => 0,
                Some(history) => {
                    candidates.offer(history.last[0], 1 << order);
                    history.confidence()
                }
            };
            confidence = confidence * 4 + level;
        }
        for (i, &colour) in near.colours[..4].iter().enumerate() {
            candidates.offer(colour, 1 << (ORDERS + i));
        }
        for order in 1..ORDERS {
            if let Some(history) = self.histories.found(order) {
                candidates.offer(history.last[1], 1 << (ORDERS + 4));
            }
        }
        for &colour in &near.colours[4..6] {
            candidates.offer(colour, 1 << (ORDERS + 5));
        }
        (candidates, confidence)
    }

    #[inline(always)]
    fn decide(
        &mut self,
        coder: &mut impl Coder,
        situation: &Situation,
        candidate: Candidate,
        kind: usize,
        bit: bool,
    ) -> bool {
        let decision = self.weigh(situation, candidate, kind);
        let bit = coder.code(bit, decision.one);
        for (i, mixer) in self.mixers.iter_mut().enumerate() {
            let one = decision.mixed[i].one;
            mixer.update(decision.sets[i], &decision.opinions, one, bit);
        }
        for (cells, &at) in self.hashed.iter_mut().zip(&decision.hashed) {
            cells[at].update(bit, CELL_LIMIT);
        }
        for (cells, &at) in self.counted.iter_mut().zip(&decision.counted) {
            cells[at].update(bit, CELL_LIMIT);
        }
        bit
    }

    /// What the models think of a decision.
    #[inline(always)]
    fn weigh(&self, situation: &Situation, candidate: Candidate, kind: usize) -> Decision {
        let Situation {
            near,
            confidence,
            changes,
        } = situation;
        let pattern = near.pattern(candidate.colour);
        let hashes: [u64; HASHED] = decision_hashes(near, candidate.colour, kind, pattern);
        let reasons = candidate.reasons as usize;
        let counted = [
            (reasons % 128) * KINDS + kind,
            (confidence * 8 + reasons % 8) * KINDS + kind,
        ];
        let mut hashed = [0; HASHED];
        let mut opinions = [0; INPUTS];
        for (i, hash) in hashes.iter().enumerate() {
            hashed[i] = (hash >> (64 - self.cell_bits)) as usize;
            opinions[i] = self.hashed[i][hashed[i]].opinion();
        }
        for (i, &at) in counted.iter().enumerate() {
            opinions[HASHED + i] = self.counted[i][at].opinion();
        }
        let sets = [
            confidence * KINDS + kind,
            ((pattern as usize % 16) + changes * 16) * KINDS + kind,
        ];
        let mixed = [
            self.mixers[0].mix(sets[0], &opinions),
            self.mixers[1].mix(sets[1], &opinions),
        ];
        Decision {
            one: squash((mixed[0].logit + mixed[1].logit) >> 1),
            hashed,
            counted,
            opinions,
            sets,
            mixed,
        }
    }

    /// Learns what the pixel turned out to be.
    #[inline(always)]
    pub(super) fn learn(&mut self, colour: Colour) {
        self.histories.learn(colour);
    }
}

#[cfg(feature = "encoder")]
impl ColourModel {
    /// The first candidate.
    pub(super) fn first_candidate(&mut self, near: &Near) -> Option<Colour> {
        let (candidates, _) = self.candidates(near);
        candidates.list[..candidates.count]
            .first()
            .map(|first| first.colour)
    }

    /// The bits of every candidate, and of coding that it is none of them.
    pub(super) fn options(&mut self, near: &Near) -> (Vec<(Colour, f32)>, f32) {
        let (candidates, confidence) = self.candidates(near);
        let situation = Situation {
            near: *near,
            confidence,
            changes: near.changes(),
        };
        let mut options = Vec::with_capacity(CANDIDATES);
        let (mut bits, mut escape) = (0.0, 0.0);
        for (rank, &candidate) in candidates.list[..candidates.count].iter().enumerate() {
            let [no, yes] = code_lengths(self.weigh(&situation, candidate, rank).one);
            options.push((candidate.colour, bits + yes));
            bits += no;
            if rank == 0 {
                let [none, other] = code_lengths(self.weigh(&situation, candidate, ESCAPE).one);
                escape = bits + none;
                bits += other;
            }
        }
        (options, escape)
    }
}

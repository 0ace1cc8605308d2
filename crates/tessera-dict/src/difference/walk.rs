//! The arrays of a difference: what is the same, and by how much the rest differs from its reference.

use super::coder::{Bit, Coder, Number, bit, raw, symbol};
use crate::error::Error;
use crate::prior::PriorCell;

/// What an array holds; numbers of one kind are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(super) enum Kind {
    BasisCounts,
    Order,
    Scales,
    Entries,
    ModelBase,
    ModelActivity,
    ModelGradient,
    ModelWeights,
    Odds,
    MixingWeights,
    Filter,
    Points,
    Extent,
    NetFirst,
    NetSecond,
    NetLast,
    PatchFirst,
    PatchSecond,
    PatchLast,
    Sizes,
    AtomCounts,
    LosslessFirst,
    LosslessSecond,
    LosslessLast,
}

const KINDS: usize = Kind::LosslessLast as usize + 1;
/// Contexts by the size of the numbers around.
const ACTIVITIES: usize = 8;
/// Bits of the number of zeros below every difference of an array.
const SHIFT_BITS: u32 = 4;
/// Classes of a cell's confidence in the reference.
const CONFIDENCES: usize = 6;
/// The confidences that training gives; others are escaped.
const COUNTS: [u8; 9] = [0, 1, 3, 7, 15, 31, 59, 119, 249];
/// Symbols of a confidence: one of the usual, or any other.
const ESCAPE: u32 = COUNTS.len() as u32;
/// Numbers between two looks at whether the data is at an end.
const PATIENCE: usize = 256;

/// Codes arrays one after the other.
#[derive(Debug)]
pub(super) struct Walk<C> {
    coder: C,
    changed: [Bit; KINDS],
    numbers: Vec<[Number; ACTIVITIES]>,
    cell_changed: [[Bit; 3]; CONFIDENCES],
    count_changed: [Bit; CONFIDENCES],
    counts: [Bit; 16],
    flags: [Bit; 5],
    letters: Box<[Bit; 256]>,
}

impl<C: Coder> Walk<C> {
    pub(super) fn new(coder: C) -> Self {
        Self {
            coder,
            changed: [Bit::NEW; KINDS],
            numbers: vec![[const { Number::NEW }; ACTIVITIES]; KINDS],
            cell_changed: [[Bit::NEW; 3]; CONFIDENCES],
            count_changed: [Bit::NEW; CONFIDENCES],
            counts: [Bit::NEW; 16],
            flags: [Bit::NEW; 5],
            letters: Box::new([Bit::NEW; 256]),
        }
    }

    pub(super) fn into_coder(self) -> C {
        self.coder
    }

    fn go_on(&self) -> Result<(), Error> {
        match self.coder.exhausted() {
            true => Err(Error::Truncated),
            false => Ok(()),
        }
    }

    /// Whether something is there, the kind of thing being one of five.
    pub(super) fn flag(&mut self, what: usize, there: bool) -> bool {
        bit(&mut self.coder, &mut self.flags[what], there)
    }

    /// An array beside the one it is expected to be; `stride` numbers further back stands what is above a number.
    pub(super) fn array(
        &mut self,
        kind: Kind,
        stride: usize,
        reference: &[i32],
        target: Option<&[i32]>,
    ) -> Result<Vec<i32>, Error> {
        let delta = |at: usize| target.map_or(0, |target| target[at].wrapping_sub(reference[at]));
        let all = (0..reference.len()).fold(0, |all, at| all | delta(at));
        if !bit(&mut self.coder, &mut self.changed[kind as usize], all != 0) {
            return Ok(reference.to_vec());
        }
        let shift = all.trailing_zeros().min((1 << SHIFT_BITS) - 1);
        let shift = raw(&mut self.coder, SHIFT_BITS, shift);
        let mut found = vec![0; reference.len()];
        for at in 0..reference.len() {
            if at % PATIENCE == 0 {
                self.go_on()?;
            }
            let context = activity(&found, at, stride);
            let model = &mut self.numbers[kind as usize][context];
            found[at] = model.code(&mut self.coder, delta(at) >> shift);
        }
        let sums = found.iter().zip(reference);
        Ok(sums
            .map(|(&own, &from)| from.wrapping_add(own << shift))
            .collect())
    }

    /// Cells of one table beside those they are expected to be.
    pub(super) fn cells(
        &mut self,
        reference: &[PriorCell],
        target: Option<&[PriorCell]>,
    ) -> Result<Vec<PriorCell>, Error> {
        let odds = |cell: &PriorCell| i32::from(cell.log_odds);
        let target = target.unwrap_or(reference);
        let deltas = target
            .iter()
            .zip(reference)
            .map(|(own, from)| odds(own) - odds(from));
        let all = deltas.fold(0, |all, delta| all | delta);
        let kind = Kind::Odds as usize;
        if !bit(
            &mut self.coder,
            &mut self.changed[kind],
            target != reference,
        ) {
            return Ok(reference.to_vec());
        }
        let shift = raw(&mut self.coder, SHIFT_BITS, all.trailing_zeros().min(7));
        let mut found = Vec::with_capacity(reference.len());
        let mut recent = [false; 2];
        for (at, (from, own)) in reference.iter().zip(target).enumerate() {
            if at % PATIENCE == 0 {
                self.go_on()?;
            }
            let confidence = confidence_class(from.count);
            let around = recent.iter().filter(|&&changed| changed).count();
            let model = &mut self.cell_changed[confidence][around];
            let changed = bit(&mut self.coder, model, own != from);
            recent = [recent[1], changed];
            found.push(match changed {
                false => *from,
                true => {
                    let model = &mut self.numbers[kind][confidence];
                    let delta = model.code(&mut self.coder, (odds(own) - odds(from)) >> shift);
                    PriorCell {
                        log_odds: odds(from).wrapping_add(delta << shift) as i8,
                        count: self.count(confidence, from.count, own.count),
                    }
                }
            });
        }
        Ok(found)
    }

    fn count(&mut self, confidence: usize, from: u8, own: u8) -> u8 {
        if !bit(
            &mut self.coder,
            &mut self.count_changed[confidence],
            own != from,
        ) {
            return from;
        }
        let usual = COUNTS.iter().position(|&count| count == own);
        let wanted = usual.map_or(ESCAPE, |usual| usual as u32);
        let found = symbol(&mut self.coder, &mut self.counts, wanted);
        match COUNTS.get(found as usize) {
            Some(&count) => count,
            None => raw(&mut self.coder, 8, u32::from(own)) as u8,
        }
    }

    /// Bytes of text.
    pub(super) fn text(&mut self, length: usize, target: Option<&[u8]>) -> Result<Vec<u8>, Error> {
        let mut text = Vec::new();
        for at in 0..length {
            self.go_on()?;
            let wanted = target.map_or(0, |target| target[at]);
            let node = (0..8).rev().fold(1, |node, place| {
                let one = wanted >> place & 1 == 1;
                let one = bit(&mut self.coder, &mut self.letters[node], one);
                node << 1 | usize::from(one)
            });
            text.push(node as u8);
        }
        Ok(text)
    }

    /// Bytes that look like noise.
    pub(super) fn bytes(&mut self, length: usize, target: Option<&[u8]>) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        for at in 0..length {
            self.go_on()?;
            let wanted = target.map_or(0, |target| target[at]);
            bytes.push(raw(&mut self.coder, 8, u32::from(wanted)) as u8);
        }
        Ok(bytes)
    }
}

/// How large the numbers before and above are.
fn activity(found: &[i32], at: usize, stride: usize) -> usize {
    let size = |back: usize| {
        let place = at.checked_sub(back);
        place.map_or(0, |place| found[place].unsigned_abs().min(1 << 16))
    };
    let sum = 2 * size(1) + size(2) + 2 * size(stride);
    (32 - sum.leading_zeros() as usize).min(ACTIVITIES - 1)
}

fn confidence_class(count: u8) -> usize {
    match count {
        0 => 0,
        1..=7 => 1,
        8..=15 => 2,
        16..=31 => 3,
        32..=59 => 4,
        _ => 5,
    }
}

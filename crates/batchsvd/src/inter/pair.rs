//! Inter-row switching of one pair of rows.

use super::Search;
use super::correlations::{Correlations, TILE};
use crate::rows::Rows;

/// A candidate must beat what it replaces by this much, or the present choice stays.
const TOLERANCE: f64 = 1e-10;
/// A kept amplitude is rewritten only if it moves by more than this share.
const NEGLIGIBLE: f64 = 1e-9;

/// The better atom of the pair in one sample.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// Decrease of the objective it brings over an empty pair: the squared projection.
    gain: f64,
    sample: u32,
    /// Which of the two atoms, 0 or 1.
    side: usize,
    value: f64,
    /// Side and amplitude now held by the sample, if any.
    present: Option<(usize, f64)>,
}

/// Working view of one pair.
pub(super) struct PairSwitch<'a> {
    pub(super) correlations: &'a mut Correlations,
    pub(super) rows: &'a mut Rows,
    pub(super) pair: [usize; 2],
}

impl PairSwitch<'_> {
    pub(super) fn run(mut self, search: Search) {
        let mut candidates = self.holders();
        let kept = candidates.len();
        let Some(weakest) = candidates.iter().map(|c| c.gain).min_by(f64::total_cmp) else {
            return;
        };
        self.add_newcomers(weakest * (1.0 + TOLERANCE), search, &mut candidates);
        if candidates.len() > kept {
            candidates.select_nth_unstable_by(kept - 1, |a, b| {
                let order = |c: &Candidate| (c.present.is_none(), c.sample);
                b.gain.total_cmp(&a.gain).then(order(a).cmp(&order(b)))
            });
        }
        for (at, candidate) in candidates.iter().enumerate() {
            self.settle(candidate, at < kept);
        }
    }

    /// Candidates of the samples that hold exactly one of the two atoms.
    fn holders(&self) -> Vec<Candidate> {
        let [first, second] = self.pair.map(|atom| self.rows.row(atom));
        let mut candidates = Vec::with_capacity(first.len() + second.len());
        let (mut a, mut b) = (first.iter().peekable(), second.iter().peekable());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.0.cmp(&y.0),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return candidates,
            };
            if order.is_le() {
                let entry = a.next();
                candidates.extend(entry.filter(|_| order.is_lt()).map(|e| self.holder(0, *e)));
            }
            if order.is_ge() {
                let entry = b.next();
                candidates.extend(entry.filter(|_| order.is_gt()).map(|e| self.holder(1, *e)));
            }
        }
    }

    /// The better atom for a sample that now holds `side`; on a tie the present one.
    fn holder(&self, side: usize, (sample, value): (u32, f64)) -> Candidate {
        let overlap = self.correlations.between(self.pair[0], self.pair[1]);
        let own = self.correlations.at(self.pair[side], sample as usize) + value;
        let other = self.correlations.at(self.pair[1 - side], sample as usize) + overlap * value;
        let stays = other * other <= own * own * (1.0 + TOLERANCE);
        let (side_after, projection) = if stays {
            (side, own)
        } else {
            (1 - side, other)
        };
        Candidate {
            gain: projection * projection,
            sample,
            side: side_after,
            value: projection,
            present: Some((side, value)),
        }
    }

    /// Adds the samples that hold neither atom and would gain more than `floor`.
    fn add_newcomers(&mut self, floor: f64, search: Search, candidates: &mut Vec<Candidate>) {
        let magnitude = floor.sqrt();
        for tile in 0..self.correlations.tile_count() {
            let reach = self.pair.map(|atom| self.correlations.bounds(atom)[tile]);
            let hopeless = reach[0] <= magnitude && reach[1] <= magnitude;
            if hopeless && search == Search::Pruned {
                continue;
            }
            self.scan_tile(tile, floor, candidates);
            for atom in self.pair {
                self.correlations.tighten(atom, tile);
            }
        }
    }

    fn scan_tile(&self, tile: usize, floor: f64, candidates: &mut Vec<Candidate>) {
        let rows = self.pair.map(|atom| self.correlations.row(atom, tile));
        let held = self.pair.map(|atom| self.correlations.held(atom, tile));
        for lane in (0..TILE).filter(|lane| (held[0] | held[1]) >> lane & 1 == 0) {
            let gains = [rows[0][lane].powi(2), rows[1][lane].powi(2)];
            let side = usize::from(gains[1] > gains[0]);
            if gains[side] > floor {
                candidates.push(Candidate {
                    gain: gains[side],
                    sample: (tile * TILE + lane) as u32,
                    side,
                    value: rows[side][lane],
                    present: None,
                });
            }
        }
    }

    /// Writes a candidate's outcome: chosen, or its present non-zero given up.
    fn settle(&mut self, candidate: &Candidate, chosen: bool) {
        let after = chosen.then_some((candidate.side, candidate.value));
        let before = candidate.present;
        let same_place = after.map(|a| a.0) == before.map(|b| b.0);
        let mut changes = [0.0; 2];
        if let Some((side, value)) = before {
            changes[side] -= value;
        }
        if let Some((side, value)) = after {
            changes[side] += value;
        }
        let old = before.map_or(0.0, |b| b.1.abs());
        let unchanged = changes.iter().all(|c| c.abs() <= NEGLIGIBLE * old);
        if same_place && unchanged {
            return;
        }
        let sample = candidate.sample as usize;
        for side in 0..2 {
            let value = after.filter(|a| a.0 == side).map(|a| a.1);
            self.rows.set(self.pair[side], candidate.sample, value);
            self.correlations
                .set_held(self.pair[side], sample, value.is_some());
        }
        self.correlations.change(sample, self.pair, changes);
    }
}

//! What followed a neighbourhood before (`spec/lossless.md`, "Histories").

use super::colours::Colour;
use super::template::HASHES;

/// Neighbourhoods that are looked up, the largest first, as numbers of the template's hashes.
const LOOKED_UP: [usize; ORDERS] = [5, 3, 1];
/// Number of neighbourhoods that are looked up.
pub(super) const ORDERS: usize = 3;

/// The last two colours after a neighbourhood.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct History {
    check: u32,
    /// How often the last colour came again in a row.
    hits: u32,
    pub(super) last: [Colour; 2],
}

impl History {
    /// From 1 to 3.
    #[inline(always)]
    pub(super) fn confidence(&self) -> usize {
        match self.hits {
            0 => 1,
            1..=2 => 2,
            _ => 3,
        }
    }
}

/// Tables of histories.
#[derive(Debug)]
pub(super) struct Histories {
    tables: [Vec<History>; ORDERS],
    slot_bits: u32,
    slots: [usize; ORDERS],
    checks: [u32; ORDERS],
}

impl Histories {
    /// Each table has 2^`slot_bits` slots.
    pub(super) fn new(slot_bits: u32) -> Self {
        Self {
            tables: std::array::from_fn(|_| vec![History::default(); 1 << slot_bits]),
            slot_bits,
            slots: [0; ORDERS],
            checks: [0; ORDERS],
        }
    }

    /// Finds the slots of a neighbourhood.
    #[inline(always)]
    pub(super) fn look_up(&mut self, hashes: &[u64; HASHES]) {
        for (order, which) in LOOKED_UP.into_iter().enumerate() {
            let hash = hashes[which];
            self.slots[order] = (hash >> (64 - self.slot_bits)) as usize;
            self.checks[order] = hash as u32 | 1;
        }
    }

    /// The history of the neighbourhood last looked up, if there is one.
    #[inline(always)]
    pub(super) fn found(&self, order: usize) -> Option<&History> {
        let history = &self.tables[order][self.slots[order]];
        (history.check == self.checks[order]).then_some(history)
    }

    /// Adds what followed the neighbourhood last looked up.
    #[inline(always)]
    pub(super) fn learn(&mut self, colour: Colour) {
        for order in 0..ORDERS {
            let history = &mut self.tables[order][self.slots[order]];
            if history.check != self.checks[order] {
                *history = History {
                    check: self.checks[order],
                    hits: 0,
                    last: [colour; 2],
                };
            } else if history.last[0] == colour {
                history.hits = history.hits.saturating_add(1);
            } else {
                history.hits = 0;
                history.last = [colour, history.last[0]];
            }
        }
    }
}

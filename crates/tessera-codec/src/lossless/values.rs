//! Samples that use few of their values are coded by rank (`spec/lossless.md`, "Values").

use super::cell::Cell;
use super::coder::Coder;

/// Gaps that have a cell of their own.
const GAPS: usize = 32;
const CELL_LIMIT: u32 = 250;

/// Codes which values from 0 to `max` occur; the sorted list of them.
pub(super) fn code_values(coder: &mut impl Coder, used: &[u16], max: u16) -> Vec<u16> {
    let mut cells = [[Cell::EVEN; GAPS]; 2];
    let mut values = Vec::new();
    let mut wanted = used.iter().copied().peekable();
    let (mut gap, mut last_gap) = (0, 0);
    for value in 0..=max {
        let occurs = wanted.next_if_eq(&value).is_some();
        let again = usize::from(gap == last_gap);
        let cell = &mut cells[again][gap.min(GAPS - 1)];
        let occurs = coder.code(occurs, cell.one());
        cell.update(occurs, CELL_LIMIT);
        gap += 1;
        if occurs {
            values.push(value);
            (gap, last_gap) = (0, gap - 1);
        }
    }
    values
}

//! Priors of one set of bases carried over to another that has more of them, or other free atoms.

use crate::layout::ELEMENTS;
use crate::prior::PriorCell;
use crate::{Basis, BasisSet, Prior};

/// What a cell copied to a new basis counts for at most.
const BORROWED_COUNT: u8 = 8;

/// The same prior for `new` bases: every group keeps its bases and may have others behind them, whose cells start
/// from those of the group's first basis. What is about free atoms stays if every shape has as many as before, and else is
/// untrained.
pub fn transfer(prior: &Prior, old: &BasisSet, new: &BasisSet) -> Prior {
    let same_atoms = old.atoms().is_sized_like(new.atoms());
    if old.totals() == new.totals() && same_atoms {
        return prior.clone();
    }
    let untrained = Prior::untrained(new.totals());
    let mut cells = Vec::with_capacity(untrained.cells.len());
    let mut weights = Vec::with_capacity(untrained.weights.len());
    let (mut start, mut vector) = (0, 0);
    for element in ELEMENTS {
        let before = element.layout(old.totals());
        let after = element.layout(new.totals());
        let vectors = &prior.weights[vector..vector + before.vectors];
        vector += before.vectors;
        let kept = same_atoms || !element.is_about_atoms();
        match kept {
            true => weights.extend_from_slice(vectors),
            false => {
                weights.extend_from_slice(&untrained.weights[weights.len()..][..after.vectors])
            }
        }
        for (size, wanted) in before.inputs.into_iter().zip(after.inputs) {
            let table = &prior.cells[start..start + size];
            start += size;
            if !kept {
                cells.extend_from_slice(&untrained.cells[cells.len()..][..wanted]);
            } else if size == wanted {
                cells.extend_from_slice(table);
            } else {
                cells.extend(of_bases(table, old, new));
            }
        }
    }
    Prior { cells, weights }
}

/// A table with the same number of cells for every basis.
fn of_bases(table: &[PriorCell], old: &BasisSet, new: &BasisSet) -> Vec<PriorCell> {
    let each = table.len() / old.totals().bases;
    let range = |basis: &Basis| {
        let first = each * basis.id as usize;
        first..first + each
    };
    let borrowed = |cell: &PriorCell| PriorCell {
        count: cell.count.min(BORROWED_COUNT),
        ..*cell
    };
    let mut cells = Vec::new();
    for (old, new) in old.groups().iter().zip(new.groups()) {
        for index in 0..new.len() {
            match old.get(index) {
                Some(own) => cells.extend_from_slice(&table[range(own)]),
                None => cells.extend(table[range(&old[0])].iter().map(borrowed)),
            }
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PlaneKind;
    use crate::layout::{Element, totals};

    #[test]
    fn old_bases_keep_their_cells_and_new_ones_borrow() {
        let old = BasisSet::untrained(PlaneKind::Chroma);
        let mut groups = old.groups().to_vec();
        let twin = groups[2][0].clone();
        groups[2].push(twin);
        let new = BasisSet::new(PlaneKind::Chroma, groups);
        let mut prior = Prior::untrained(old.totals());
        for (i, cell) in prior.cells.iter_mut().enumerate() {
            *cell = PriorCell {
                log_odds: (i % 251) as i8,
                count: 20,
            };
        }
        let moved = transfer(&prior, &old, &new);
        assert_eq!(moved.cells.len(), totals(new.totals()).0);
        // Last positions: the third table holds 64 cells per basis.
        let own = |set: &BasisSet, group: usize, basis: usize| {
            let sizes = |element: Element| element.layout(set.totals()).inputs;
            let before: usize = [Element::Significance, Element::Magnitude]
                .map(|element| sizes(element).iter().sum::<usize>())
                .iter()
                .chain(&sizes(Element::Last)[..2])
                .sum();
            before + 64 * set.groups()[group][basis].id as usize
        };
        let (before, after) = (&prior.cells, &moved.cells);
        assert_eq!(before[own(&old, 3, 0)], after[own(&new, 3, 0)]);
        assert_eq!(
            before[own(&old, 2, 0)].log_odds,
            after[own(&new, 2, 1)].log_odds
        );
        assert_eq!(after[own(&new, 2, 1)].count, BORROWED_COUNT);
        assert_eq!(before.last(), after.last());
    }
}

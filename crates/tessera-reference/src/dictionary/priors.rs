//! `dictionary.md`, "Starting probabilities".

use super::{AtomSet, Basis};
use crate::bitstream::elements::{self, Element, Sizes};
use crate::bytes::Reader;
use crate::error::Result;

/// As stored: log-odds and count of every cell, and the weights.
#[derive(Debug, Clone)]
pub(crate) struct Priors {
    pub(crate) elements: Vec<ElementPriors>,
}

#[derive(Debug, Clone)]
pub(crate) struct ElementPriors {
    pub(crate) element: Element,
    /// Input tables of cells.
    pub(crate) tables: Vec<Vec<(i8, u8)>>,
    pub(crate) vectors: Vec<[i16; 4]>,
}

/// The tables of a kind, for the bases and atoms of a dictionary.
pub(super) fn sizes(
    kind: usize,
    bases: &[Vec<Vec<Basis>>; 2],
    atoms: Option<&[AtomSet]>,
    references: bool,
) -> Sizes {
    let count = bases[kind].iter().map(Vec::len).sum();
    let atoms = atoms.map(|sets| sets.iter().map(AtomSet::count).sum());
    elements::sizes(kind, count, atoms, references)
}

pub(super) fn read(body: &[u8], sizes: &Sizes) -> Result<Priors> {
    let mut reader = Reader::new(body);
    let mut elements = Vec::new();
    for (element, tables, _) in sizes {
        let read = |&cells: &usize| Ok(read_cells(reader.take(2 * cells)?));
        elements.push(ElementPriors {
            element: *element,
            tables: tables.iter().map(read).collect::<Result<_>>()?,
            vectors: Vec::new(),
        });
    }
    for (priors, (_, _, vectors)) in elements.iter_mut().zip(sizes) {
        let numbers = reader.i16s(4 * vectors)?;
        priors.vectors = numbers.as_chunks().0.to_vec();
    }
    reader.end("the starting probabilities")?;
    Ok(Priors { elements })
}

fn read_cells(bytes: &[u8]) -> Vec<(i8, u8)> {
    bytes
        .chunks_exact(2)
        .map(|cell| (cell[0] as i8, cell[1]))
        .collect()
}

pub(super) fn write(priors: &Priors) -> Vec<u8> {
    let mut body = Vec::new();
    let elements = &priors.elements;
    for (odds, count) in elements.iter().flat_map(|e| e.tables.iter().flatten()) {
        body.extend([*odds as u8, *count]);
    }
    for weight in elements.iter().flat_map(|e| e.vectors.as_flattened()) {
        body.extend(weight.to_le_bytes());
    }
    body
}

/// An element that learned nothing yet.
pub(super) fn untrained(element: Element, tables: &[usize], vectors: usize) -> ElementPriors {
    ElementPriors {
        element,
        tables: tables.iter().map(|&cells| vec![(0, 0); cells]).collect(),
        vectors: vec![untrained_weights(tables.len()); vectors],
    }
}

fn untrained_weights(inputs: usize) -> [i16; 4] {
    std::array::from_fn(|k| {
        if k < inputs {
            6553 / (inputs as i16 + 1)
        } else {
            0
        }
    })
}

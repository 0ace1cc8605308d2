//! `dictionary.md`, "References".

use super::{Content, priors};
use crate::bitstream::elements;
use crate::bytes::Reader;
use crate::error::{Result, ensure};

const MAX_REFERENCES: usize = 16;
const MAX_PIXELS: u64 = 1 << 24;

/// A reference picture as it is stored.
#[derive(Debug, Clone)]
pub(crate) struct Reference {
    pub(crate) size: [u16; 2],
    pub(crate) stream: Vec<u8>,
}

pub(super) fn read(body: &[u8]) -> Result<Vec<Reference>> {
    let mut reader = Reader::new(body);
    let mut references = Vec::new();
    while !reader.is_done() {
        let size = [reader.u16()?, reader.u16()?];
        ensure(!size.contains(&0), "a reference of no size")?;
        let length = reader.u32()? as usize;
        let stream = reader.take(length)?.to_vec();
        references.push(Reference { size, stream });
    }
    let count = references.len();
    ensure(
        (1..=MAX_REFERENCES).contains(&count),
        "there must be 1 to 16 references",
    )?;
    let pixels = |reference: &Reference| reference.size.map(u64::from).iter().product::<u64>();
    let all: u64 = references.iter().map(pixels).sum();
    ensure(all <= MAX_PIXELS, "the references have too many pixels")?;
    Ok(references)
}

pub(super) fn write(references: &[Reference]) -> Vec<u8> {
    let mut body = Vec::new();
    for Reference { size, stream } in references {
        body.extend(size.iter().flat_map(|side| side.to_le_bytes()));
        body.extend((stream.len() as u32).to_le_bytes());
        body.extend(stream);
    }
    body
}

impl Content {
    /// Adds a reference as the last; the first brings untrained tables for the elements of references.
    pub(super) fn add_reference(&mut self, reference: Reference) {
        if self.references.is_empty() {
            self.add_reference_tables();
        }
        self.references.push(reference);
    }

    pub(super) fn add_reference_tables(&mut self) {
        for kind in 0..2 {
            let sizes = priors::sizes(kind, &self.bases, self.atoms.as_deref(), true);
            let missing = sizes
                .iter()
                .filter(|(element, _, _)| elements::is_of_references(*element));
            let untrained = missing
                .map(|(element, tables, vectors)| priors::untrained(*element, tables, *vectors));
            self.priors[kind].elements.extend(untrained);
        }
    }
}

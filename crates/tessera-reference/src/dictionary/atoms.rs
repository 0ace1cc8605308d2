//! `dictionary.md`, "Free atoms".

use super::file::u16_bytes;
use crate::bitstream::shapes::SHAPES;
use crate::bytes::Reader;
use crate::error::{Result, ensure};

/// The shapes 4x4 to 16x16 may have atoms.
pub(crate) const ATOM_SHAPES: usize = 7;
const MAX_BITS: u8 = 10;

/// The atoms of a folded shape; none if `bits` is zero.
#[derive(Debug, Clone, Default)]
pub(crate) struct AtomSet {
    pub(crate) bits: u8,
    pub(crate) scale: Vec<u16>,
    pub(crate) entry: Vec<i8>,
}

impl AtomSet {
    /// How many atoms there are.
    pub(crate) fn count(&self) -> usize {
        if self.bits == 0 { 0 } else { 1 << self.bits }
    }
}

pub(super) fn read(body: &[u8]) -> Result<Vec<AtomSet>> {
    let mut reader = Reader::new(body);
    let mut sets = Vec::new();
    for shape in &SHAPES[..ATOM_SHAPES] {
        let mut set = AtomSet {
            bits: reader.u8()?,
            ..AtomSet::default()
        };
        ensure(set.bits <= MAX_BITS, "a set of more than 1024 atoms")?;
        set.scale = reader.u16s(set.count())?;
        set.entry = reader.i8s(set.count() * shape.area())?;
        sets.push(set);
    }
    reader.end("the last set of atoms")?;
    Ok(sets)
}

pub(super) fn write(sets: &[AtomSet]) -> Vec<u8> {
    let mut body = Vec::new();
    for set in sets {
        body.push(set.bits);
        body.extend(u16_bytes(&set.scale));
        body.extend(set.entry.iter().map(|&entry| entry as u8));
    }
    body
}

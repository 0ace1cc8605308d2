//! Free atoms: an overcomplete set for each of the smaller shapes, of which a patch takes one or none.
//!
//! A basis codes a patch as a sum of many atoms; here one atom and its amplitude are the whole code. The sets are learned
//! by BatchSVD from what predictions leave at low rates.

use crate::basis::Rotation;
use crate::error::Error;
use crate::format::{Body, read_words, take};
use tessera_patch::Shape;
use tessera_patch::shape::{MAX_ROTATED, SHAPE_COUNT};

/// Most atoms of a set, as a power of two.
pub const MAX_INDEX_BITS: u32 = 10;
/// Mode classes that tell the odds of atoms apart.
pub const CLASSES: usize = 6;

/// The sets of a plane kind; a shape may have none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Atoms {
    sets: [Option<Rotation>; SHAPE_COUNT],
    /// How many atoms stand before those of each shape.
    first: [u32; SHAPE_COUNT],
}

/// The atoms of one shape.
#[derive(Clone, Copy, Debug)]
pub struct AtomSet<'a> {
    /// The atoms, in the order of their use.
    pub atoms: &'a Rotation,
    first: u32,
}

impl<'a> AtomSet<'a> {
    /// Bits of an index.
    #[inline]
    pub fn index_bits(&self) -> u32 {
        self.atoms.scales.len().ilog2()
    }

    /// Cell of a node of the tree of indices (the root is 1), in a mode class.
    #[inline]
    pub fn cell(&self, class: u32, node: u32) -> u32 {
        let count = self.atoms.scales.len() as u32;
        CLASSES as u32 * self.first + class * count + node
    }
}

impl Atoms {
    /// The sets of some shapes.
    ///
    /// # Errors
    /// If a shape has no atoms or comes twice, or if a set is no power of two of 2 to 1,024 atoms.
    pub fn new(sets: impl IntoIterator<Item = Rotation>) -> Result<Self, Error> {
        let mut atoms = Self::default();
        for set in sets {
            let (count, shape) = (set.scales.len(), set.shape);
            let fits = count.is_power_of_two() && (1..=MAX_INDEX_BITS).contains(&count.ilog2());
            if !fits || !Self::concern(shape) || set.entries.len() != count * shape.area() {
                return Err(Error::Unfit("a set of atoms does not fit its shape"));
            }
            if atoms.sets[shape.index()].replace(set).is_some() {
                return Err(Error::Unfit("a shape has two sets of atoms"));
            }
        }
        let mut total = 0;
        for (set, first) in atoms.sets.iter().zip(&mut atoms.first) {
            *first = total;
            total += set.as_ref().map_or(0, |set| set.scales.len() as u32);
        }
        Ok(atoms)
    }

    /// Whether a shape can have atoms: where all frequencies of it are rotated.
    pub fn concern(shape: Shape) -> bool {
        shape.area() <= MAX_ROTATED
    }

    /// The shapes that can have atoms, in index order.
    pub fn shapes() -> impl Iterator<Item = Shape> {
        Shape::all().filter(|&shape| Self::concern(shape))
    }

    /// The atoms of a shape.
    #[inline]
    pub fn get(&self, shape: Shape) -> Option<AtomSet<'_>> {
        let atoms = self.sets[shape.index()].as_ref()?;
        let first = self.first[shape.index()];
        Some(AtomSet { atoms, first })
    }

    /// All sets, by shape.
    pub fn sets(&self) -> impl Iterator<Item = &Rotation> {
        self.sets.iter().flatten()
    }

    /// Number of atoms of all shapes.
    pub fn total(&self) -> usize {
        self.sets().map(|set| set.scales.len()).sum()
    }

    /// Whether sets of all shapes have the sizes they have in `other`.
    pub fn is_sized_like(&self, other: &Self) -> bool {
        self.first == other.first && self.total() == other.total()
    }
}

/// The section of a file.
pub(crate) fn write(atoms: &Atoms) -> Vec<u8> {
    let mut out = Vec::new();
    for shape in Atoms::shapes() {
        let Some(set) = atoms.get(shape) else {
            out.push(0);
            continue;
        };
        out.push(set.index_bits() as u8);
        out.extend(
            set.atoms
                .scales
                .iter()
                .flat_map(|scale| scale.to_le_bytes()),
        );
        out.extend_from_slice(&set.atoms.entries);
    }
    out
}

/// Reads what [`write`] wrote.
pub(crate) fn read<'a>(
    mut body: &'a [u8],
    keep: impl Fn(&'a [u8]) -> Body,
) -> Result<Atoms, Error> {
    let mut sets = Vec::new();
    for shape in Atoms::shapes() {
        let bits = u32::from(take(&mut body, 1)?[0]);
        if bits == 0 {
            continue;
        }
        if bits > MAX_INDEX_BITS {
            return Err(Error::Corrupt("a set has too many atoms"));
        }
        sets.push(Rotation {
            shape,
            scales: read_words(&mut body, 1 << bits)?,
            entries: keep(take(&mut body, shape.area() << bits)?),
        });
    }
    match body.is_empty() {
        true => Atoms::new(sets),
        false => Err(Error::Corrupt("data behind the last atom")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn set(width: usize, height: usize, count: usize) -> Rotation {
        let shape = Shape::new(width, height).unwrap();
        let value = |at: usize| ((at * 37 % 101) as f32 - 50.0) / 100.0;
        let rows: Vec<f32> = (0..count * shape.area()).map(value).collect();
        Rotation::from_rows(&rows, shape)
    }

    #[test]
    fn sections_come_back() {
        let atoms = Atoms::new([set(8, 8, 64), set(4, 8, 4)]).unwrap();
        let body = write(&atoms);
        let own = |bytes: &[u8]| Cow::Owned(bytes.to_vec());
        assert_eq!(read(&body, own).unwrap(), atoms);
        for end in [0, 1, 5, body.len() - 1] {
            assert!(read(&body[..end], own).is_err(), "cut at {end}");
        }
        let longer = [&body[..], &[0]].concat();
        assert!(read(&longer, own).is_err());
        let mut larger = body.clone();
        larger[0] = 11;
        assert!(read(&larger, own).is_err());
    }

    #[test]
    fn cells_of_shapes_and_classes_do_not_meet() {
        let atoms = Atoms::new([set(8, 8, 64), set(4, 4, 16)]).unwrap();
        assert_eq!(atoms.total(), 80);
        let (small, large) = (
            atoms.get(Shape::new(4, 4).unwrap()).unwrap(),
            atoms.get(Shape::new(8, 8).unwrap()).unwrap(),
        );
        assert!(small.cell(5, 15) < large.cell(0, 1));
        assert!(large.cell(0, 63) < large.cell(1, 1));
        assert_eq!(large.cell(5, 63) as usize, CLASSES * 80 - 1);
    }

    #[test]
    fn sets_that_do_not_fit_are_refused() {
        assert!(Atoms::new([set(8, 8, 48)]).is_err());
        assert!(Atoms::new([set(8, 8, 1)]).is_err());
        assert!(Atoms::new([set(8, 8, 2), set(8, 8, 2)]).is_err());
        assert!(Atoms::new([set(32, 16, 2)]).is_err());
    }
}

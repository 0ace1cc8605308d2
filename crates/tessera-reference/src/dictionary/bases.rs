//! `dictionary.md`, "Bases".

use super::file::u16_bytes;
use crate::bitstream::shapes::{SHAPES, Shape};
use crate::bytes::Reader;
use crate::error::{Result, ensure, refuse};

/// One way to turn coefficients into a spectrum, with what is expected of their magnitudes.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    pub(crate) transform: Transform,
    pub(crate) base: Vec<u16>,
    pub(crate) fact: Vec<u16>,
    pub(crate) fgrad: Vec<u16>,
    /// Row i = 1..m-1 has the entries j = 0..i-1.
    pub(crate) weight: Vec<u8>,
}

#[derive(Debug, Clone)]
pub(crate) enum Transform {
    Cosine { order: Vec<u16> },
    Rotation { scale: Vec<u16>, entry: Vec<i8> },
}

impl Basis {
    /// `weight[i][j]`, j < i.
    pub(crate) fn weight(&self, i: usize, j: usize) -> u8 {
        self.weight[i * (i - 1) / 2 + j]
    }
}

/// The number of classes of a shape.
pub(crate) fn classes(kind: usize, shape: Shape) -> usize {
    match (kind, shape.w.max(shape.h) <= 16) {
        (1, _) => 1,
        (_, true) => 6,
        (_, false) => 2,
    }
}

/// The shape of each group of a kind.
pub(super) fn group_shapes(kind: usize) -> Vec<Shape> {
    let groups = |shape: &Shape| std::iter::repeat_n(*shape, classes(kind, *shape));
    SHAPES.iter().flat_map(groups).collect()
}

/// The number of the group of a folded shape and class.
pub(crate) fn group_index(kind: usize, shape: Shape, class: usize) -> usize {
    let before: usize = SHAPES[..shape.index()]
        .iter()
        .map(|&s| classes(kind, s))
        .sum();
    before + class
}

pub(super) fn read(body: &[u8], kind: usize) -> Result<Vec<Vec<Basis>>> {
    let mut reader = Reader::new(body);
    let mut groups = Vec::new();
    for shape in group_shapes(kind) {
        let count = reader.u8()?;
        ensure(
            (1..=4).contains(&count),
            "a group must have one to four bases",
        )?;
        let bases = (0..count).map(|_| read_basis(&mut reader, shape.rotated()));
        groups.push(bases.collect::<Result<_>>()?);
    }
    reader.end("the last group of bases")?;
    Ok(groups)
}

fn read_basis(reader: &mut Reader<'_>, m: usize) -> Result<Basis> {
    let transform = match reader.u8()? {
        0 => {
            let order = reader.u16s(m)?;
            check_permutation(&order)?;
            Transform::Cosine { order }
        }
        1 => Transform::Rotation {
            scale: reader.u16s(m)?,
            entry: reader.i8s(m * m)?,
        },
        _ => return refuse("a type of basis that is reserved"),
    };
    Ok(Basis {
        transform,
        base: reader.u16s(m)?,
        fact: reader.u16s(m)?,
        fgrad: reader.u16s(m)?,
        weight: reader.take(m * (m - 1) / 2)?.to_vec(),
    })
}

fn check_permutation(order: &[u16]) -> Result<()> {
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    let whole = sorted
        .iter()
        .enumerate()
        .all(|(i, &place)| i == usize::from(place));
    ensure(whole, "the order of a cosine basis is no permutation")
}

pub(super) fn write(groups: &[Vec<Basis>]) -> Vec<u8> {
    let mut body = Vec::new();
    for group in groups {
        body.push(group.len() as u8);
        for basis in group {
            match &basis.transform {
                Transform::Cosine { order } => {
                    body.push(0);
                    body.extend(u16_bytes(order));
                }
                Transform::Rotation { scale, entry } => {
                    body.push(1);
                    body.extend(u16_bytes(scale));
                    body.extend(entry.iter().map(|&entry| entry as u8));
                }
            }
            for numbers in [&basis.base, &basis.fact, &basis.fgrad] {
                body.extend(u16_bytes(numbers));
            }
            body.extend(&basis.weight);
        }
    }
    body
}

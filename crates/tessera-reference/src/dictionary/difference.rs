//! `dictionary.md`, "Difference".

use super::atoms::ATOM_SHAPES;
use super::bases::group_shapes;
use super::priors::{self, ElementPriors};
use super::{
    AtomSet, Basis, Content, FilterNetwork, Network, PatchNetworks, Priors, Reference, Shelf,
    Transform, file, identity_of,
};
use crate::bitstream::elements::{self, Element, Sizes, is_of_atoms, is_of_references};
use crate::bitstream::shapes::{SHAPES, Shape};
use crate::bytes::{Reader, crc32};
use crate::container::DictionaryName;
use crate::dictionary::{networks, patch_sizes};
use crate::error::{Result, ensure, refuse};
use crate::notation::bits;
use crate::range_coder::RangeCoder;

const VERSION: u8 = 133;
/// A full file is never longer: what a difference claims is bounded by it.
const MAX_BYTES: usize = 1 << 24;

pub(super) fn is_difference(file: &[u8]) -> bool {
    file.starts_with(&[b'T', b'S', b'D', VERSION])
}

/// The full file that a difference stands for.
pub(super) fn full_file(difference: &[u8], shelf: &Shelf) -> Result<Vec<u8>> {
    let mut reader = Reader::new(difference);
    reader.take(file::MAGIC.len() + 1)?;
    let base = match reader.u8()? {
        0 => return refuse("a difference from the untrained dictionary is forbidden"),
        254 => return refuse("a difference from a dictionary that is not known"),
        255 => DictionaryName::Hash(reader.array()?),
        number => DictionaryName::BuiltIn(number),
    };
    let identity: [u8; 16] = reader.array()?;
    let check = reader.u32()?;
    let payload = reader.rest();
    ensure(crc32(&[payload]) == check, "the difference is damaged")?;
    let content = Applied::new(payload).content(&shelf.find(&base)?.content)?;
    let full = file::write(&content);
    ensure(
        identity_of(&full) == identity,
        "the difference gives another dictionary than it names",
    )?;
    Ok(full)
}

/// "Bits".
#[derive(Debug, Clone, Copy)]
struct Bit {
    p: i32,
    n: i32,
}

impl Bit {
    const NEW: Self = Self { p: 32768, n: 0 };

    fn read(&mut self, coder: &mut RangeCoder<'_>) -> bool {
        let bit = coder.decode(self.p as u32);
        self.p += (65536 * i32::from(bit) - self.p) / (self.n + 2);
        self.p = self.p.clamp(64, 65472);
        self.n = (self.n + 1).min(60);
        bit
    }
}

/// A raw number: bits with even odds, the highest first.
fn raw(coder: &mut RangeCoder<'_>, count: u32) -> u32 {
    (0..count).fold(0, |number, _| 2 * number + u32::from(coder.even()))
}

/// A symbol of `count` adaptive bits, a binary tree.
fn symbol(coder: &mut RangeCoder<'_>, tree: &mut [Bit], count: u32) -> usize {
    let node = (0..count).fold(1, |node, _| 2 * node + usize::from(tree[node].read(coder)));
    node - (1 << count)
}

/// "Numbers": the model of a signed number.
#[derive(Debug, Clone)]
struct Number {
    zero: Bit,
    sign: Bit,
    more: [Bit; 20],
    top: [Bit; 21],
}

impl Number {
    const NEW: Self = Self {
        zero: Bit::NEW,
        sign: Bit::NEW,
        more: [Bit::NEW; 20],
        top: [Bit::NEW; 21],
    };

    fn read(&mut self, coder: &mut RangeCoder<'_>) -> i64 {
        if !self.zero.read(coder) {
            return 0;
        }
        let negative = self.sign.read(coder);
        let mut e = 0;
        while e < 20 && self.more[e].read(coder) {
            e += 1;
        }
        let mut size = 1;
        if e > 0 {
            size = 2 | i64::from(self.top[e].read(coder));
            let low = e as u32 - 1;
            size = size << low | i64::from(raw(coder, low));
        }
        if negative { -size } else { size }
    }
}

/// Kinds of arrays.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Counts,
    Order,
    Scale,
    Entry,
    Base,
    Fact,
    Fgrad,
    Weight,
    AtomBits,
    LogOdds,
    Vectors,
    Filter,
    Points,
    Extent,
    NetworkA,
    NetworkB,
    NetworkC,
    PatchA,
    PatchB,
    PatchC,
    LosslessA,
    LosslessB,
    LosslessC,
    Size,
}

const KINDS: usize = Kind::Size as usize + 1;
/// Counts that have a symbol.
const COUNTS: [u8; 9] = [0, 1, 3, 7, 15, 31, 59, 119, 249];

/// The state of the reader of a payload.
struct Applied<'a> {
    coder: RangeCoder<'a>,
    differs: [Bit; KINDS],
    numbers: Vec<[Number; 8]>,
    cell_differs: [[Bit; 3]; 6],
    count_differs: [Bit; 6],
    count_symbol: [Bit; 16],
    text: Vec<Bit>,
    rotation_flag: Bit,
    network_flag: Bit,
    patch_flag: Bit,
    lossless_flag: Bit,
    reference_flag: Bit,
}

impl<'a> Applied<'a> {
    fn new(payload: &'a [u8]) -> Self {
        Self {
            coder: RangeCoder::new(payload),
            differs: [Bit::NEW; KINDS],
            numbers: vec![[Number::NEW; 8]; KINDS],
            cell_differs: [[Bit::NEW; 3]; 6],
            count_differs: [Bit::NEW; 6],
            count_symbol: [Bit::NEW; 16],
            text: vec![Bit::NEW; 256],
            rotation_flag: Bit::NEW,
            network_flag: Bit::NEW,
            patch_flag: Bit::NEW,
            lossless_flag: Bit::NEW,
            reference_flag: Bit::NEW,
        }
    }

    /// "Order".
    fn content(mut self, base: &Content) -> Result<Content> {
        let luma = self.bases(0, &base.bases[0])?;
        let atoms = self.atoms(base.atoms.as_deref())?;
        let chroma = self.bases(1, &base.bases[1])?;
        let bases = [luma, chroma];
        let priors = [
            self.priors(0, base, &bases, atoms.as_deref())?,
            self.priors(1, base, &bases, atoms.as_deref())?,
        ];
        let filters = [
            self.filter(&base.filters[0])?,
            self.filter(&base.filters[1])?,
        ];
        let points = self.points(base)?;
        let networks = [
            self.network(&base.networks[0])?,
            self.network(&base.networks[1])?,
        ];
        let patch_networks = self.patch_networks(base.patch_networks.as_ref())?;
        let lossless_networks = self.lossless_networks(&base.lossless_networks)?;
        let references = self.references(&base.references)?;
        let provenance = self.provenance()?;
        let mut content = Content {
            bases,
            atoms,
            priors,
            filters,
            points,
            networks,
            patch_networks,
            lossless_networks,
            references,
            provenance,
        };
        if content.references.is_empty() {
            content.drop_reference_tables();
        }
        Ok(content)
    }

    /// "Arrays".
    fn array<T>(&mut self, kind: Kind, beside: &[T], stride: usize) -> Result<Vec<T>>
    where
        T: Copy + Into<i64> + TryFrom<i64>,
    {
        let i = kind as usize;
        if !self.differs[i].read(&mut self.coder) {
            return Ok(beside.to_vec());
        }
        let shift = raw(&mut self.coder, 4);
        let mut numbers: Vec<i64> = Vec::with_capacity(beside.len());
        let mut values = Vec::with_capacity(beside.len());
        for (at, &reference) in beside.iter().enumerate() {
            let size = |back: usize| match at.checked_sub(back) {
                Some(at) => numbers[at].unsigned_abs().min(65536),
                None => 0,
            };
            let model = bits(2 * size(1) + size(2) + 2 * size(stride)).min(7) as usize;
            let number = self.numbers[i][model].read(&mut self.coder);
            numbers.push(number);
            let value = reference.into() + (number << shift);
            let Ok(value) = T::try_from(value) else {
                return refuse("a value of the difference leaves the range of its field");
            };
            values.push(value);
            self.coder.check_end()?;
        }
        Ok(values)
    }

    /// "Cells".
    fn cells(&mut self, beside: &[(i8, u8)]) -> Result<Vec<(i8, u8)>> {
        let odds = Kind::LogOdds as usize;
        if !self.differs[odds].read(&mut self.coder) {
            return Ok(beside.to_vec());
        }
        let shift = raw(&mut self.coder, 4);
        let mut before = [false; 2];
        let mut cells = Vec::with_capacity(beside.len());
        for &(mut log_odds, mut count) in beside {
            let class = count_class(count);
            let differing = before.iter().filter(|&&differs| differs).count();
            let differs = self.cell_differs[class][differing].read(&mut self.coder);
            if differs {
                let number = self.numbers[odds][class].read(&mut self.coder);
                log_odds = (i64::from(log_odds) + (number << shift)) as i8;
                if self.count_differs[class].read(&mut self.coder) {
                    count = self.count();
                }
            }
            before = [differs, before[0]];
            cells.push((log_odds, count));
        }
        self.coder.check_end()?;
        Ok(cells)
    }

    fn count(&mut self) -> u8 {
        match symbol(&mut self.coder, &mut self.count_symbol, 4) {
            known @ 0..9 => COUNTS[known],
            _ => raw(&mut self.coder, 8) as u8,
        }
    }

    fn bases(&mut self, kind: usize, base: &[Vec<Basis>]) -> Result<Vec<Vec<Basis>>> {
        let counts: Vec<u8> = base.iter().map(|group| group.len() as u8).collect();
        let counts = self.array(Kind::Counts, &counts, 1)?;
        let bounded = counts.iter().all(|count| (1..=4).contains(count));
        ensure(bounded, "a group must have one to four bases")?;
        let mut groups = Vec::new();
        for ((count, group), shape) in counts.iter().zip(base).zip(group_shapes(kind)) {
            let read = |number| self.basis(group, usize::from(number), shape.rotated());
            groups.push((0..*count).map(read).collect::<Result<_>>()?);
        }
        Ok(groups)
    }

    fn basis(&mut self, group: &[Basis], number: usize, m: usize) -> Result<Basis> {
        let own = group.get(number);
        let like = own.unwrap_or(&group[0]);
        let transform = match self.rotation_flag.read(&mut self.coder) {
            false => Transform::Cosine {
                order: self.array(Kind::Order, &order_beside(own, &group[0], m), 1)?,
            },
            true => {
                let (scale, entry) = match own.map(|basis| &basis.transform) {
                    Some(Transform::Rotation { scale, entry }) => (scale.clone(), entry.clone()),
                    _ => (vec![16384; m], vec![0; m * m]),
                };
                Transform::Rotation {
                    scale: self.array(Kind::Scale, &scale, 1)?,
                    entry: self.array(Kind::Entry, &entry, m)?,
                }
            }
        };
        Ok(Basis {
            transform,
            base: self.array(Kind::Base, &like.base, 1)?,
            fact: self.array(Kind::Fact, &like.fact, 1)?,
            fgrad: self.array(Kind::Fgrad, &like.fgrad, 1)?,
            weight: self.array(Kind::Weight, &like.weight, 2)?,
        })
    }

    fn atoms(&mut self, base: Option<&[AtomSet]>) -> Result<Option<Vec<AtomSet>>> {
        let none = vec![AtomSet::default(); ATOM_SHAPES];
        let base = base.unwrap_or(&none);
        let beside: Vec<u8> = base.iter().map(|set| set.bits).collect();
        let all = self.array(Kind::AtomBits, &beside, 1)?;
        ensure(
            all.iter().all(|&bits| bits <= 10),
            "a set of more than 1024 atoms",
        )?;
        let mut sets = Vec::new();
        for ((bits, before), shape) in all.into_iter().zip(base).zip(SHAPES) {
            sets.push(self.atom_set(bits, before, shape)?);
        }
        let any = sets.iter().any(|set| set.bits > 0);
        Ok(any.then_some(sets))
    }

    fn atom_set(&mut self, bits: u8, base: &AtomSet, shape: Shape) -> Result<AtomSet> {
        let mut set = AtomSet {
            bits,
            ..AtomSet::default()
        };
        let (count, area) = (set.count(), shape.area());
        if count == 0 {
            return Ok(set);
        }
        let (scale, entry) = match base.bits == bits {
            true => (base.scale.clone(), base.entry.clone()),
            false => (vec![16384; count], vec![0; count * area]),
        };
        set.scale = self.array(Kind::Scale, &scale, 1)?;
        set.entry = self.array(Kind::Entry, &entry, area)?;
        Ok(set)
    }

    fn priors(
        &mut self,
        kind: usize,
        base: &Content,
        bases: &[Vec<Vec<Basis>>; 2],
        atoms: Option<&[AtomSet]>,
    ) -> Result<Priors> {
        let sizes = priors::sizes(kind, bases, atoms, true);
        let beside = carried_over(kind, base, bases, atoms, &sizes);
        let mut elements = Vec::new();
        for (element, inputs) in elements::all() {
            let Some(beside) = beside.iter().find(|beside| beside.element == element) else {
                // Tables that the kind does not have are empty, but not left out.
                (0..inputs).try_for_each(|_| self.cells(&[]).map(|_| ()))?;
                continue;
            };
            let tables = beside.tables.iter().map(|table| self.cells(table));
            elements.push(ElementPriors {
                element,
                tables: tables.collect::<Result<_>>()?,
                vectors: Vec::new(),
            });
        }
        let vectors: Vec<i16> = beside
            .iter()
            .flat_map(|e| e.vectors.as_flattened().to_vec())
            .collect();
        let vectors = self.array(Kind::Vectors, &vectors, 4)?;
        let mut rest = vectors.as_chunks::<4>().0;
        for (element, (_, _, count)) in elements.iter_mut().zip(&sizes) {
            let (own, others) = rest.split_at(*count);
            element.vectors = own.to_vec();
            rest = others;
        }
        Ok(Priors { elements })
    }

    fn filter(&mut self, base: &[i16]) -> Result<Vec<i16>> {
        let mut filter = Vec::new();
        for band in base.chunks_exact(base.len() / 3) {
            filter.extend(self.array(Kind::Filter, band, 12)?);
        }
        Ok(filter)
    }

    fn points(&mut self, base: &Content) -> Result<[[u8; 3]; 2]> {
        let points = self.array(Kind::Points, base.points.as_flattened(), 3)?;
        let chunks = points.as_chunks::<3>().0;
        Ok([chunks[0], chunks[1]])
    }

    fn extent(&mut self, base: Option<[u16; 2]>) -> Result<[u16; 2]> {
        let extent = self.array(Kind::Extent, &base.unwrap_or_default(), 1)?;
        Ok([extent[0], extent[1]])
    }

    fn network(&mut self, base: &Option<FilterNetwork>) -> Result<Option<FilterNetwork>> {
        if !self.network_flag.read(&mut self.coder) {
            return Ok(None);
        }
        let extent = self.extent(base.as_ref().map(|network| network.extent))?;
        let beside = match base {
            Some(FilterNetwork { a, b, c, .. }) => [a.clone(), b.clone(), c.clone()],
            None => networks::SIZES.map(|size| vec![0; size]),
        };
        let kinds = [Kind::NetworkA, Kind::NetworkB, Kind::NetworkC];
        let mut layer = |i: usize| self.array(kinds[i], &beside[i], networks::STRIDES[i]);
        let network = FilterNetwork {
            extent,
            a: layer(0)?,
            b: layer(1)?,
            c: layer(2)?,
        };
        networks::check(&network)?;
        Ok(Some(network))
    }

    fn layers(
        &mut self,
        base: Option<&Network>,
        sizes: [usize; 3],
        kinds: [Kind; 3],
        strides: [usize; 3],
    ) -> Result<Network> {
        let beside = match base {
            Some(Network { a, b, c }) => [a.clone(), b.clone(), c.clone()],
            None => sizes.map(|size| vec![0; size]),
        };
        let mut layer = |i: usize| self.array(kinds[i], &beside[i], strides[i]);
        Ok(Network {
            a: layer(0)?,
            b: layer(1)?,
            c: layer(2)?,
        })
    }

    fn patch_networks(&mut self, base: Option<&PatchNetworks>) -> Result<Option<PatchNetworks>> {
        if !self.patch_flag.read(&mut self.coder) {
            return Ok(None);
        }
        let extent = self.extent(base.map(|patches| patches.extent))?;
        let mut networks = Vec::new();
        for (i, &shape) in SHAPES.iter().enumerate() {
            let base = base.and_then(|patches| patches.networks[i].as_ref());
            networks.push(match self.patch_flag.read(&mut self.coder) {
                false => None,
                true => {
                    let [n, m, ..] = patch_sizes(shape);
                    let kinds = [Kind::PatchA, Kind::PatchB, Kind::PatchC];
                    let sizes = networks::patch_weights(shape);
                    Some(self.layers(base, sizes, kinds, [n, m + 1, m + 1])?)
                }
            });
        }
        Ok(Some(PatchNetworks { extent, networks }))
    }

    fn lossless_networks(&mut self, base: &[Option<Network>; 3]) -> Result<[Option<Network>; 3]> {
        let mut networks = [None, None, None];
        for (network, base) in networks.iter_mut().zip(base) {
            if self.lossless_flag.read(&mut self.coder) {
                let kinds = [Kind::LosslessA, Kind::LosslessB, Kind::LosslessC];
                let sizes = networks::LOSSLESS_SIZES;
                *network = Some(self.layers(base.as_ref(), sizes, kinds, [64, 65, 17])?);
            }
        }
        Ok(networks)
    }

    fn size(&mut self) -> Result<usize> {
        let parts = self.array(Kind::Size, &[0u32, 0], 1)?;
        let size = parts[0] as usize * 4096 + parts[1] as usize;
        ensure(size <= MAX_BYTES, "a size of the difference is too large")?;
        Ok(size)
    }

    fn references(&mut self, base: &[Reference]) -> Result<Vec<Reference>> {
        if !self.reference_flag.read(&mut self.coder) {
            return Ok(base.to_vec());
        }
        let mut references = Vec::new();
        for _ in 0..self.size()? {
            let (width, height, length) = (self.size()?, self.size()?, self.size()?);
            let (Ok(width), Ok(height)) = (u16::try_from(width), u16::try_from(height)) else {
                return refuse("a reference is too large");
            };
            let mut stream = Vec::new();
            for _ in 0..length {
                stream.push(raw(&mut self.coder, 8) as u8);
                self.coder.check_end()?;
            }
            references.push(Reference {
                size: [width, height],
                stream,
            });
        }
        Ok(references)
    }

    fn provenance(&mut self) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        for _ in 0..self.size()? {
            text.push(symbol(&mut self.coder, &mut self.text, 8) as u8);
            self.coder.check_end()?;
        }
        Ok(text)
    }
}

fn count_class(count: u8) -> usize {
    [1, 8, 16, 32, 60]
        .iter()
        .filter(|&&bound| count >= bound)
        .count()
}

/// The order that a cosine basis is told beside.
fn order_beside(own: Option<&Basis>, first: &Basis, m: usize) -> Vec<u16> {
    let candidates = own.into_iter().chain([first]);
    let order = candidates
        .map(|basis| &basis.transform)
        .find_map(|transform| match transform {
            Transform::Cosine { order } => Some(order.clone()),
            Transform::Rotation { .. } => None,
        });
    order.unwrap_or_else(|| (0..m as u16).collect())
}

/// The starting probabilities of the base for the new bases and atoms; those of references are always there.
fn carried_over(
    kind: usize,
    base: &Content,
    bases: &[Vec<Vec<Basis>>; 2],
    atoms: Option<&[AtomSet]>,
    sizes: &Sizes,
) -> Vec<ElementPriors> {
    let bits = |sets: Option<&[AtomSet]>| {
        sets.map(|sets| sets.iter().map(|set| set.bits).collect::<Vec<u8>>())
    };
    let same_atoms = bits(atoms) == bits(base.atoms.as_deref());
    let mut carried = Vec::new();
    for (element, tables, vectors) in sizes {
        let known = base.priors[kind]
            .elements
            .iter()
            .find(|priors| priors.element == *element);
        let mut priors = match known {
            Some(known) if same_atoms || !is_of_atoms(*element) => known.clone(),
            _ => priors::untrained(*element, tables, *vectors),
        };
        if *element == Element::Last {
            priors.tables[2] = cells_of_bases(&priors.tables[2], &base.bases[kind], &bases[kind]);
        }
        carried.push(priors);
    }
    carried
}

/// The table of Last that has 64 cells per basis.
fn cells_of_bases(table: &[(i8, u8)], base: &[Vec<Basis>], new: &[Vec<Basis>]) -> Vec<(i8, u8)> {
    let count = |groups: &[Vec<Basis>]| groups.iter().map(Vec::len).sum::<usize>();
    if count(base) == count(new) {
        return table.to_vec();
    }
    let mut cells = Vec::new();
    let mut first = 0;
    for (before, group) in base.iter().zip(new) {
        for number in 0..group.len() {
            let own = |at: usize| &table[64 * at..64 * (at + 1)];
            match number < before.len() {
                true => cells.extend(own(first + number)),
                false => cells.extend(own(first).iter().map(|&(odds, count)| (odds, count.min(8)))),
            }
        }
        first += before.len();
    }
    cells
}

impl Content {
    fn drop_reference_tables(&mut self) {
        for priors in &mut self.priors {
            priors
                .elements
                .retain(|priors| !is_of_references(priors.element));
        }
    }
}

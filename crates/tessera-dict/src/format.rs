//! The dictionary file (`spec/dictionary.md`): reader and writer side by side.
//!
//! A file is a magic, a version and a list of sections; every section has a tag, a length and a checksum.

use crate::atoms::{self, Atoms};
use crate::basis::{Basis, BasisSet, MAX_BASES, MagnitudeModel, PlaneKind, Rotation};
use crate::dictionary::DictionaryBuilder;
use crate::error::Error;
use crate::filter::{FilterSet, MAX_GAIN, TAPS};
use crate::layout::{self, BasisTotals, MAX_INPUTS};
use crate::lossless_net;
use crate::net;
use crate::pack::{pack_zeros, unpack_zeros};
use crate::patch_net;
use crate::prior::{MAX_COUNT, Prior, PriorCell};
use crate::reference;
use tessera_patch::Shape;

use byteorder::{LittleEndian, ReadBytesExt, WriteBytesExt};
use std::borrow::Cow;

/// The first bytes of every dictionary file.
pub(crate) const MAGIC: [u8; 3] = *b"TSD";
/// Version this crate reads and writes. Readers skip sections they do not know, so whatever a decoder must know raises
/// it: networks for patches and the size of the network behind the filter made it 2, free atoms 5.
pub const VERSION: u8 = 5;

type Tag = [u8; 4];
const LUMA_BASES: Tag = *b"BASL";
const CHROMA_BASES: Tag = *b"BASC";
const ATOMS: Tag = *b"ATOM";
const LUMA_PRIOR: Tag = *b"PRIL";
const CHROMA_PRIOR: Tag = *b"PRIC";
const LUMA_FILTER: Tag = *b"FILL";
const CHROMA_FILTER: Tag = *b"FILC";
const SHRINKAGE: Tag = *b"RECO";
const NETS: Tag = *b"NETS";
const PATCH_NETS: Tag = *b"NETP";
const LOSSLESS_NETS: Tag = *b"NETL";
const REFERENCES: Tag = *b"REFS";
const PROVENANCE: Tag = *b"PROV";

/// Weights are stored with two fractional bits fewer than they are used with.
const WEIGHT_SHIFT: u32 = 2;

/// Writes a dictionary.
pub(crate) fn write(dictionary: &DictionaryBuilder) -> Vec<u8> {
    let mut out = Vec::from(MAGIC);
    out.push(VERSION);
    let mut section = |tag: Tag, body: Vec<u8>| {
        let body = pack_zeros(&body);
        out.extend(tag);
        out.extend((body.len() as u32).to_le_bytes());
        out.extend(crc32fast::hash(&body).to_le_bytes());
        out.extend(body);
    };
    section(LUMA_BASES, write_bases(&dictionary.luma));
    section(CHROMA_BASES, write_bases(&dictionary.chroma));
    if dictionary.luma.atoms().total() > 0 {
        section(ATOMS, atoms::write(dictionary.luma.atoms()));
    }
    let prior_totals = prior_totals(!dictionary.references.is_empty());
    for (tag, prior, bases) in [
        (LUMA_PRIOR, &dictionary.luma_prior, &dictionary.luma),
        (CHROMA_PRIOR, &dictionary.chroma_prior, &dictionary.chroma),
    ] {
        section(tag, write_prior(prior, prior_totals(bases.totals())));
    }
    section(LUMA_FILTER, write_filter(&dictionary.luma_filter));
    section(CHROMA_FILTER, write_filter(&dictionary.chroma_filter));
    section(SHRINKAGE, dictionary.shrinkage.concat());
    if dictionary.nets.iter().any(Option::is_some) {
        section(NETS, net::write(&dictionary.nets));
    }
    if let Some(nets) = &dictionary.patch_nets {
        section(PATCH_NETS, patch_net::write(nets));
    }
    if dictionary.lossless_nets.iter().any(Option::is_some) {
        section(
            LOSSLESS_NETS,
            lossless_net::write(&dictionary.lossless_nets),
        );
    }
    if !dictionary.references.is_empty() {
        section(REFERENCES, reference::write(&dictionary.references));
    }
    section(PROVENANCE, dictionary.provenance.clone().into_bytes());
    out
}

/// Reads and validates a dictionary.
pub(crate) fn read(data: &[u8]) -> Result<DictionaryBuilder, Error> {
    let version = data
        .strip_prefix(&MAGIC)
        .and_then(|rest| rest.first())
        .ok_or(Error::NotADictionary)?;
    if *version != VERSION {
        return Err(Error::UnsupportedVersion(*version));
    }
    assemble(&Sections::Packed(packed_sections(
        &data[MAGIC.len() + 1..],
    )?))
}

/// Reads a dictionary whose sections, tag, length and body each, were unpacked when the program was built.
#[cfg(feature = "builtin")]
pub(crate) fn read_unpacked(mut data: &'static [u8]) -> Result<DictionaryBuilder, Error> {
    let mut sections = Vec::new();
    while !data.is_empty() {
        let tag = take_array(&mut data)?;
        let length = u32::from_le_bytes(take_array(&mut data)?) as usize;
        sections.push((tag, take(&mut data, length)?));
    }
    assemble(&Sections::Unpacked(sections))
}

fn assemble(sections: &Sections<'_>) -> Result<DictionaryBuilder, Error> {
    let mut luma = read_bases(&sections.find(LUMA_BASES)?, PlaneKind::Luma)?;
    if let Some(body) = sections.find_optional(ATOMS)? {
        luma = luma.with_atoms(read_atoms(&body)?);
    }
    let chroma = read_bases(&sections.find(CHROMA_BASES)?, PlaneKind::Chroma)?;
    let references = match sections.find_optional(REFERENCES)? {
        Some(body) => reference::read(&body)?,
        None => Vec::new(),
    };
    let read_prior = |tag: Tag, bases: BasisTotals| {
        let stored = prior_totals(!references.is_empty())(bases);
        read_prior(&sections.find(tag)?, bases, stored)
    };
    let luma_prior = read_prior(LUMA_PRIOR, luma.totals())?;
    let chroma_prior = read_prior(CHROMA_PRIOR, chroma.totals())?;
    let provenance = String::from_utf8(sections.find(PROVENANCE)?.into_owned());
    Ok(DictionaryBuilder {
        luma,
        chroma,
        luma_prior,
        chroma_prior,
        luma_filter: read_filter(&sections.find(LUMA_FILTER)?)?,
        chroma_filter: read_filter(&sections.find(CHROMA_FILTER)?)?,
        nets: match sections.find_optional(NETS)? {
            Some(body) => net::read(&body)?,
            None => [None, None],
        },
        patch_nets: match sections.find_optional(PATCH_NETS)? {
            Some(body) => Some(patch_net::read(&body)?),
            None => None,
        },
        lossless_nets: match sections.find_optional(LOSSLESS_NETS)? {
            Some(body) => lossless_net::read(&body)?,
            None => [const { None }; lossless_net::PLANES],
        },
        shrinkage: read_shrinkage(&sections.find(SHRINKAGE)?)?,
        references,
        provenance: provenance.map_err(|_| Error::Corrupt("the provenance is not UTF-8"))?,
    })
}

/// Tag and stored size of every section of a dictionary file.
///
/// # Errors
/// If the bytes are no dictionary of this version, or damaged.
pub fn sections(data: &[u8]) -> Result<Vec<(String, usize)>, Error> {
    let body = data.get(MAGIC.len() + 1..).ok_or(Error::NotADictionary)?;
    let sections = packed_sections(body)?.into_iter();
    let name = |tag: Tag| String::from_utf8_lossy(&tag).into_owned();
    Ok(sections
        .map(|(tag, body)| (name(tag), body.len()))
        .collect())
}

/// The sections of a file, their checksums compared.
fn packed_sections(mut data: &[u8]) -> Result<Vec<(Tag, &[u8])>, Error> {
    let mut sections = Vec::new();
    while !data.is_empty() {
        let tag = take_array(&mut data)?;
        let length = u32::from_le_bytes(take_array(&mut data)?) as usize;
        let checksum = u32::from_le_bytes(take_array(&mut data)?);
        let body = take(&mut data, length)?;
        if crc32fast::hash(body) != checksum {
            return Err(Error::Corrupt("the checksum of a section does not match"));
        }
        sections.push((tag, body));
    }
    Ok(sections)
}

/// The body of a section, unpacked.
pub(crate) type Body = Cow<'static, [u8]>;

enum Sections<'a> {
    Packed(Vec<(Tag, &'a [u8])>),
    #[cfg(feature = "builtin")]
    Unpacked(Vec<(Tag, &'static [u8])>),
}

impl Sections<'_> {
    fn find(&self, tag: Tag) -> Result<Body, Error> {
        self.find_optional(tag)?
            .ok_or(Error::Corrupt("a section is missing"))
    }

    fn find_optional(&self, tag: Tag) -> Result<Option<Body>, Error> {
        match self {
            Self::Packed(sections) => {
                let found = sections.iter().find(|(own, _)| *own == tag);
                let unpacked = |(_, body): &(Tag, &[u8])| unpack_zeros(body).map(Cow::Owned);
                found.map(unpacked).transpose()
            }
            #[cfg(feature = "builtin")]
            Self::Unpacked(sections) => {
                let found = sections.iter().find(|(own, _)| *own == tag);
                Ok(found.map(|(_, body)| Cow::Borrowed(*body)))
            }
        }
    }
}

/// How many cells and weight vectors of a prior a file holds: those of the reference elements only with references.
fn prior_totals(references: bool) -> fn(BasisTotals) -> (usize, usize) {
    if references {
        layout::totals
    } else {
        layout::totals_without_references
    }
}

fn write_bases(bases: &BasisSet) -> Vec<u8> {
    let mut out = Vec::new();
    for group in bases.groups() {
        out.push(group.len() as u8);
        for basis in group {
            out.push(u8::from(basis.rotation.is_some()));
            match &basis.rotation {
                None => basis
                    .order
                    .iter()
                    .for_each(|&position| out.extend(position.to_le_bytes())),
                Some(rotation) => {
                    rotation
                        .scales
                        .iter()
                        .for_each(|&scale| out.extend(scale.to_le_bytes()));
                    out.extend(rotation.entries.iter());
                }
            }
            let MagnitudeModel {
                base,
                activity,
                gradient,
                weights,
            } = &basis.model;
            for factor in [base, activity, gradient].into_iter().flatten() {
                out.extend(factor.to_le_bytes());
            }
            out.extend(weights.iter());
        }
    }
    out
}

fn read_bases(body: &Body, kind: PlaneKind) -> Result<BasisSet, Error> {
    match body {
        // What the program carries need not be copied.
        Cow::Borrowed(body) => read_groups(body, kind, Cow::Borrowed),
        Cow::Owned(body) => read_groups(body, kind, |part| Cow::Owned(part.to_vec())),
    }
}

fn read_atoms(body: &Body) -> Result<Atoms, Error> {
    match body {
        Cow::Borrowed(body) => atoms::read(body, Cow::Borrowed),
        Cow::Owned(body) => atoms::read(body, |part| Cow::Owned(part.to_vec())),
    }
}

fn read_groups<'a>(
    mut body: &'a [u8],
    kind: PlaneKind,
    keep: impl Fn(&'a [u8]) -> Body,
) -> Result<BasisSet, Error> {
    let mut groups = Vec::new();
    for (shape, _) in BasisSet::keys(kind) {
        let count = body.read_u8()? as usize;
        if !(1..=MAX_BASES).contains(&count) {
            return Err(Error::Corrupt("a group has no basis or too many"));
        }
        let bases = (0..count).map(|_| read_basis(&mut body, shape, &keep));
        groups.push(bases.collect::<Result<_, _>>()?);
    }
    if !body.is_empty() {
        return Err(Error::Corrupt("data behind the last basis"));
    }
    Ok(BasisSet::new(kind, groups))
}

fn read_basis<'a>(
    body: &mut &'a [u8],
    shape: Shape,
    keep: impl Fn(&'a [u8]) -> Body,
) -> Result<Basis, Error> {
    let m = shape.rotated();
    let (rotation, order) = match body.read_u8()? {
        0 => (None, read_order(body, m)?),
        1 => {
            let scales = read_words(body, m)?;
            let entries = keep(take(body, m * m)?);
            let rotation = Rotation {
                shape,
                entries,
                scales,
            };
            (Some(rotation), (0..m as u16).collect())
        }
        _ => return Err(Error::Corrupt("unknown kind of basis")),
    };
    let model = MagnitudeModel {
        base: read_words(body, m)?,
        activity: read_words(body, m)?,
        gradient: read_words(body, m)?,
        weights: keep(take(body, m * (m - 1) / 2)?),
    };
    Ok(Basis {
        rotation,
        order,
        model,
        id: 0,
    })
}

fn read_order(body: &mut &[u8], m: usize) -> Result<Vec<u16>, Error> {
    let order = read_words(body, m)?;
    let mut seen = vec![false; m];
    for &position in &order {
        let place = seen
            .get_mut(position as usize)
            .ok_or(Error::Corrupt("an order leaves its range"))?;
        if std::mem::replace(place, true) {
            return Err(Error::Corrupt("an order repeats a position"));
        }
    }
    Ok(order)
}

pub(crate) fn read_words(body: &mut &[u8], count: usize) -> Result<Vec<u16>, Error> {
    let bytes = take(body, 2 * count)?;
    Ok(bytes
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect())
}

pub(crate) fn take_array<const N: usize>(body: &mut &[u8]) -> Result<[u8; N], Error> {
    let (head, rest) = body.split_first_chunk().ok_or(Error::Truncated)?;
    *body = rest;
    Ok(*head)
}

pub(crate) fn take<'a>(body: &mut &'a [u8], count: usize) -> Result<&'a [u8], Error> {
    let (head, rest) = body.split_at_checked(count).ok_or(Error::Truncated)?;
    *body = rest;
    Ok(head)
}

fn write_prior(prior: &Prior, (cells, vectors): (usize, usize)) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * cells + 2 * MAX_INPUTS * vectors);
    for cell in &prior.cells[..cells] {
        out.extend([cell.log_odds as u8, cell.count.min(MAX_COUNT)]);
    }
    for weight in prior.weights[..vectors].iter().flatten() {
        let stored =
            (weight >> WEIGHT_SHIFT).clamp(i32::from(i16::MIN), i32::from(i16::MAX)) as i16;
        out.write_i16::<LittleEndian>(stored)
            .expect("writing to memory does not fail");
    }
    out
}

/// Reads a prior of which the file holds the first `(cells, vectors)`; the rest stays untrained.
fn read_prior(
    mut body: &[u8],
    bases: BasisTotals,
    (cells, vectors): (usize, usize),
) -> Result<Prior, Error> {
    if body.len() != 2 * cells + 2 * MAX_INPUTS * vectors {
        return Err(Error::Corrupt("the priors do not fit the bases"));
    }
    let cell = |&[log_odds, count]: &[u8; 2]| PriorCell {
        log_odds: log_odds as i8,
        count: count.min(MAX_COUNT),
    };
    let (stored, _) = take(&mut body, 2 * cells)?.as_chunks();
    let mut prior = Prior::starting_with(stored.iter().map(cell).collect(), bases);
    let stored = read_words(&mut body, MAX_INPUTS * vectors)?;
    let weights = prior.weights[..vectors].iter_mut().flatten();
    weights
        .zip(stored)
        .for_each(|(to, weight)| *to = i32::from(weight as i16) << WEIGHT_SHIFT);
    Ok(prior)
}

fn write_filter(filter: &FilterSet) -> Vec<u8> {
    let weights = filter.bands.iter().flatten().flatten();
    weights.flat_map(|weight| weight.to_le_bytes()).collect()
}

fn read_filter(mut body: &[u8]) -> Result<FilterSet, Error> {
    let mut filter = FilterSet::neutral();
    for weight in filter.bands.iter_mut().flatten().flatten() {
        *weight = body.read_i16::<LittleEndian>()?;
    }
    if !body.is_empty() {
        return Err(Error::Corrupt("data behind the last filter"));
    }
    let gain = |weights: &[i16; TAPS]| weights.iter().map(|w| u32::from(w.unsigned_abs())).sum();
    if filter
        .bands
        .iter()
        .flatten()
        .map(gain)
        .any(|gain: u32| gain > MAX_GAIN)
    {
        return Err(Error::Corrupt("a filter amplifies too much"));
    }
    Ok(filter)
}

fn read_shrinkage(body: &[u8]) -> Result<[[u8; 3]; 2], Error> {
    match *body {
        [a, b, c, d, e, f] => Ok([[a, b, c], [d, e, f]]),
        _ => Err(Error::Corrupt("there are not six reconstruction points")),
    }
}

//! A dictionary taken apart into arrays, each beside its counterpart in the base.

use super::coder::Coder;
use super::walk::{Kind, Walk};
use crate::atoms::{Atoms, MAX_INDEX_BITS};
use crate::basis::{Basis, BasisSet, MAX_BASES, MagnitudeModel, PlaneKind, Rotation};
use crate::dictionary::DictionaryBuilder;
use crate::error::Error;
use crate::filter::{FilterSet, TAPS};
use crate::layout::{ELEMENTS, MAX_INPUTS, totals};
use crate::lossless_net::{self, LosslessNet, LosslessNets};
use crate::net::{self, Net, Nets};
use crate::pack::MAX_SECTION;
use crate::patch_net::{self, PatchNet, PatchNets};
use crate::prior::Prior;
use crate::reference::{MAX_REFERENCES, Reference};
use crate::transfer::transfer;
use tessera_patch::Shape;
use tessera_patch::shape::SHAPE_COUNT;

/// Expected scale of an atom that the base does not have.
const USUAL_SCALE: i32 = 1 << 14;
/// Weights have two fractional bits fewer in files.
const WEIGHT_SHIFT: u32 = 2;

/// Which flag says what.
const ROTATED: usize = 0;
const NET: usize = 1;
const PATCH_NET: usize = 2;
const OTHER_REFERENCES: usize = 3;
const LOSSLESS_NET: usize = 4;

const OUT_OF_RANGE: Error = Error::Corrupt("a difference leads out of range");

/// Passes a whole dictionary through; `target` is what a writer writes and nothing for a reader.
pub(super) fn code<C: Coder>(
    walk: &mut Walk<C>,
    base: &DictionaryBuilder,
    target: Option<&DictionaryBuilder>,
) -> Result<DictionaryBuilder, Error> {
    let luma = bases(walk, &base.luma, target.map(|own| &own.luma))?;
    let chroma = bases(walk, &base.chroma, target.map(|own| &own.chroma))?;
    let luma_reference = transfer(&base.luma_prior, &base.luma, &luma);
    let chroma_reference = transfer(&base.chroma_prior, &base.chroma, &chroma);
    Ok(DictionaryBuilder {
        luma_prior: prior(
            walk,
            &luma,
            &luma_reference,
            target.map(|own| &own.luma_prior),
        )?,
        chroma_prior: prior(
            walk,
            &chroma,
            &chroma_reference,
            target.map(|own| &own.chroma_prior),
        )?,
        luma,
        chroma,
        luma_filter: filter(walk, &base.luma_filter, target.map(|own| &own.luma_filter))?,
        chroma_filter: filter(
            walk,
            &base.chroma_filter,
            target.map(|own| &own.chroma_filter),
        )?,
        shrinkage: shrinkage(walk, &base.shrinkage, target.map(|own| &own.shrinkage))?,
        nets: nets(walk, &base.nets, target.map(|own| &own.nets))?,
        patch_nets: patch_nets(
            walk,
            base.patch_nets.as_ref(),
            target.map(|own| own.patch_nets.as_ref()),
        )?,
        lossless_nets: lossless_nets(
            walk,
            &base.lossless_nets,
            target.map(|own| &own.lossless_nets),
        )?,
        references: references(
            walk,
            &base.references,
            target.map(|own| &own.references[..]),
        )?,
        provenance: provenance(walk, target.map(|own| own.provenance.as_str()))?,
    })
}

fn bases<C: Coder>(
    walk: &mut Walk<C>,
    base: &BasisSet,
    target: Option<&BasisSet>,
) -> Result<BasisSet, Error> {
    let sizes = |set: &BasisSet| -> Vec<i32> {
        let groups = set.groups().iter();
        groups.map(|group| group.len() as i32).collect()
    };
    let wanted = target.map(sizes);
    let counts = walk.array(Kind::BasisCounts, 1, &sizes(base), wanted.as_deref())?;
    let mut groups = Vec::with_capacity(counts.len());
    for (at, (shape, _)) in BasisSet::keys(base.kind()).enumerate() {
        let count = usize::try_from(counts[at]).map_err(|_| OUT_OF_RANGE)?;
        if !(1..=MAX_BASES).contains(&count) {
            return Err(OUT_OF_RANGE);
        }
        let own = target.map(|set| &set.groups()[at]);
        let one = |index| {
            let like = base.groups()[at].get(index);
            let first = &base.groups()[at][0];
            basis(walk, shape, like, first, own.map(|group| &group[index]))
        };
        groups.push((0..count).map(one).collect::<Result<_, _>>()?);
    }
    let found = BasisSet::new(base.kind(), groups);
    match base.kind() {
        PlaneKind::Luma => {
            let own = target.map(BasisSet::atoms);
            Ok(found.with_atoms(atoms(walk, base.atoms(), own)?))
        }
        PlaneKind::Chroma => Ok(found),
    }
}

/// Free atoms, each set beside the base's if that is of its size.
fn atoms<C: Coder>(
    walk: &mut Walk<C>,
    base: &Atoms,
    target: Option<&Atoms>,
) -> Result<Atoms, Error> {
    let sizes = |atoms: &Atoms| -> Vec<i32> {
        let bits = |shape| atoms.get(shape).map_or(0, |set| set.index_bits() as i32);
        Atoms::shapes().map(bits).collect()
    };
    let wanted = target.map(sizes);
    let found = walk.array(Kind::AtomCounts, 1, &sizes(base), wanted.as_deref())?;
    let mut sets = Vec::new();
    for (shape, bits) in Atoms::shapes().zip(found) {
        let bits = u32::try_from(bits).ok();
        let bits = bits.filter(|&bits| bits <= MAX_INDEX_BITS);
        let bits = bits.ok_or(OUT_OF_RANGE)?;
        if bits > 0 {
            let like = base.get(shape).filter(|set| set.index_bits() == bits);
            let own = target.and_then(|own| own.get(shape)).map(|set| set.atoms);
            sets.push(rotation(
                walk,
                (shape, 1 << bits),
                like.map(|set| set.atoms),
                own,
            )?);
        }
    }
    Atoms::new(sets)
}

/// A basis beside the one with its number; one that was added has the magnitudes of the group's first.
fn basis<C: Coder>(
    walk: &mut Walk<C>,
    shape: Shape,
    like: Option<&Basis>,
    first: &Basis,
    target: Option<&Basis>,
) -> Result<Basis, Error> {
    let rotated = target.is_some_and(|own| own.rotation.is_some());
    let (rotation, order) = match walk.flag(ROTATED, rotated) {
        true => {
            let like = like.and_then(|like| like.rotation.as_ref());
            let own = target.and_then(|own| own.rotation.as_ref());
            let order = (0..shape.rotated() as u16).collect();
            let rows = shape.rotated();
            (Some(rotation(walk, (shape, rows), like, own)?), order)
        }
        false => {
            let like = like.filter(|like| like.rotation.is_none()).unwrap_or(first);
            let from = signed(&like.order);
            let own = target.map(|own| signed(&own.order));
            (
                None,
                words(walk.array(Kind::Order, 1, &from, own.as_deref())?)?,
            )
        }
    };
    let from = &like.unwrap_or(first).model;
    let model = model(walk, from, target.map(|own| &own.model))?;
    Ok(Basis {
        rotation,
        order,
        model,
        id: 0,
    })
}

fn rotation<C: Coder>(
    walk: &mut Walk<C>,
    (shape, rows): (Shape, usize),
    like: Option<&Rotation>,
    target: Option<&Rotation>,
) -> Result<Rotation, Error> {
    let m = shape.rotated();
    let entries_of = |own: &Rotation| -> Vec<i32> {
        let entries = own.entries.iter();
        entries.map(|&entry| i32::from(entry as i8)).collect()
    };
    let from = like.map_or_else(|| vec![USUAL_SCALE; rows], |like| signed(&like.scales));
    let own = target.map(|own| signed(&own.scales));
    let scales = words(walk.array(Kind::Scales, 1, &from, own.as_deref())?)?;
    let from = like.map_or_else(|| vec![0; rows * m], entries_of);
    let own = target.map(entries_of);
    let entries = walk.array(Kind::Entries, m, &from, own.as_deref())?;
    let entries = entries.into_iter().map(|entry| {
        let entry = i8::try_from(entry).map_err(|_| OUT_OF_RANGE)?;
        Ok(entry as u8)
    });
    Ok(Rotation {
        shape,
        entries: entries.collect::<Result<Vec<u8>, Error>>()?.into(),
        scales,
    })
}

fn model<C: Coder>(
    walk: &mut Walk<C>,
    from: &MagnitudeModel,
    target: Option<&MagnitudeModel>,
) -> Result<MagnitudeModel, Error> {
    let mut factors = |kind, of: fn(&MagnitudeModel) -> &Vec<u16>| {
        let own = target.map(|own| signed(of(own)));
        words(walk.array(kind, 1, &signed(of(from)), own.as_deref())?)
    };
    let base = factors(Kind::ModelBase, |model| &model.base)?;
    let activity = factors(Kind::ModelActivity, |model| &model.activity)?;
    let gradient = factors(Kind::ModelGradient, |model| &model.gradient)?;
    let wide =
        |own: &MagnitudeModel| -> Vec<i32> { own.weights.iter().map(|&w| w.into()).collect() };
    let own = target.map(wide);
    // Rows of a triangle grow; what stands above a number is near what stands two before it.
    let weights = walk.array(Kind::ModelWeights, 2, &wide(from), own.as_deref())?;
    let weights = weights
        .into_iter()
        .map(|w| u8::try_from(w).map_err(|_| OUT_OF_RANGE));
    Ok(MagnitudeModel {
        base,
        activity,
        gradient,
        weights: weights.collect::<Result<Vec<u8>, Error>>()?.into(),
    })
}

fn prior<C: Coder>(
    walk: &mut Walk<C>,
    bases: &BasisSet,
    from: &Prior,
    target: Option<&Prior>,
) -> Result<Prior, Error> {
    let mut cells = Vec::with_capacity(totals(bases.totals()).0);
    for element in ELEMENTS {
        for size in element.layout(bases.totals()).inputs {
            let range = cells.len()..cells.len() + size;
            let own = target.map(|own| &own.cells[range.clone()]);
            cells.extend(walk.cells(&from.cells[range], own)?);
        }
    }
    let stored = |prior: &Prior| -> Vec<i32> {
        let weights = prior.weights.iter().flatten();
        weights.map(|weight| weight >> WEIGHT_SHIFT).collect()
    };
    let own = target.map(stored);
    let weights = walk.array(
        Kind::MixingWeights,
        MAX_INPUTS,
        &stored(from),
        own.as_deref(),
    )?;
    let (vectors, _) = weights.as_chunks::<MAX_INPUTS>();
    let used = |weight: i32| -> Result<i32, Error> {
        let weight = i16::try_from(weight).map_err(|_| OUT_OF_RANGE)?;
        Ok(i32::from(weight) << WEIGHT_SHIFT)
    };
    let mut weights = Vec::with_capacity(vectors.len());
    for vector in vectors {
        let mut own = [0; MAX_INPUTS];
        for (own, &weight) in own.iter_mut().zip(vector) {
            *own = used(weight)?;
        }
        weights.push(own);
    }
    Ok(Prior { cells, weights })
}

fn filter<C: Coder>(
    walk: &mut Walk<C>,
    base: &FilterSet,
    target: Option<&FilterSet>,
) -> Result<FilterSet, Error> {
    let mut filter = FilterSet::neutral();
    for (band, to) in filter.bands.iter_mut().enumerate() {
        let taps = |set: &FilterSet| -> Vec<i32> {
            let taps = set.bands[band].iter().flatten();
            taps.map(|&tap| tap.into()).collect()
        };
        let own = target.map(taps);
        let found = halves(walk.array(Kind::Filter, TAPS, &taps(base), own.as_deref())?)?;
        let (found, _) = found.as_chunks::<TAPS>();
        to.copy_from_slice(found);
    }
    Ok(filter)
}

fn shrinkage<C: Coder>(
    walk: &mut Walk<C>,
    base: &[[u8; 3]; 2],
    target: Option<&[[u8; 3]; 2]>,
) -> Result<[[u8; 3]; 2], Error> {
    let flat = |points: &[[u8; 3]; 2]| points.concat().iter().map(|&p| p.into()).collect();
    let (from, own): (Vec<i32>, Option<Vec<i32>>) = (flat(base), target.map(flat));
    let found = walk.array(Kind::Points, 3, &from, own.as_deref())?;
    let mut points = [[0; 3]; 2];
    for (to, value) in points.iter_mut().flatten().zip(found) {
        *to = u8::try_from(value).map_err(|_| OUT_OF_RANGE)?;
    }
    Ok(points)
}

fn nets<C: Coder>(walk: &mut Walk<C>, base: &Nets, target: Option<&Nets>) -> Result<Nets, Error> {
    let mut all = [None, None];
    for (at, to) in all.iter_mut().enumerate() {
        let own = target.and_then(|nets| nets[at].as_ref());
        if walk.flag(NET, own.is_some()) {
            let like = base[at].as_ref();
            let extent = extent(walk, like.map(|net| net.extent), own.map(|net| net.extent))?;
            let layers_of = |net: &Net| {
                let wide = |layer: &Vec<i8>| layer.iter().map(|&weight| weight.into()).collect();
                [&net.first, &net.second, &net.last].map(wide)
            };
            let found = layers(
                walk,
                [Kind::NetFirst, Kind::NetSecond, Kind::NetLast],
                net::WEIGHTS,
                net::STRIDES,
                [like.map(layers_of), own.map(layers_of)],
            )?;
            let [first, second, last] = found.map(bytes);
            *to = Some(Net::new(extent, [first?, second?, last?])?);
        }
    }
    Ok(all)
}

fn patch_nets<C: Coder>(
    walk: &mut Walk<C>,
    base: Option<&PatchNets>,
    target: Option<Option<&PatchNets>>,
) -> Result<Option<PatchNets>, Error> {
    let target = target.flatten();
    if !walk.flag(PATCH_NET, target.is_some()) {
        return Ok(None);
    }
    let extent = extent(
        walk,
        base.map(|own| own.extent),
        target.map(|own| own.extent),
    )?;
    let mut nets = [const { None }; SHAPE_COUNT];
    for (at, (to, shape)) in nets.iter_mut().zip(Shape::all()).enumerate() {
        let of = |all: &PatchNets| all.nets[at].clone();
        let (like, own) = (base.and_then(of), target.and_then(of));
        if walk.flag(PATCH_NET, own.is_some()) {
            let units = patch_net::units(shape);
            let layers_of = |net: PatchNet| [net.first, net.second, net.last];
            let [first, second, last] = layers(
                walk,
                [Kind::PatchFirst, Kind::PatchSecond, Kind::PatchLast],
                patch_net::weights(shape),
                [patch_net::inputs(shape), units + 1, units + 1],
                [like.map(layers_of), own.map(layers_of)],
            )?;
            *to = Some(PatchNet {
                first,
                second,
                last,
            });
        }
    }
    Ok(Some(PatchNets { extent, nets }))
}

fn lossless_nets<C: Coder>(
    walk: &mut Walk<C>,
    base: &LosslessNets,
    target: Option<&LosslessNets>,
) -> Result<LosslessNets, Error> {
    let mut all = [const { None }; lossless_net::PLANES];
    for (at, to) in all.iter_mut().enumerate() {
        let own = target.and_then(|nets| nets[at].as_ref());
        if walk.flag(LOSSLESS_NET, own.is_some()) {
            let layers_of =
                |net: &LosslessNet| [&net.first, &net.second, &net.last].map(|own| own.clone());
            let [first, second, last] = layers(
                walk,
                [
                    Kind::LosslessFirst,
                    Kind::LosslessSecond,
                    Kind::LosslessLast,
                ],
                lossless_net::WEIGHTS,
                [
                    lossless_net::INPUTS,
                    lossless_net::FIRST + 1,
                    lossless_net::SECOND + 1,
                ],
                [base[at].as_ref().map(layers_of), own.map(layers_of)],
            )?;
            *to = Some(LosslessNet {
                first,
                second,
                last,
            });
        }
    }
    Ok(all)
}

/// The three layers of a network, beside those of the base or nothing.
fn layers<C: Coder>(
    walk: &mut Walk<C>,
    kinds: [Kind; 3],
    counts: [usize; 3],
    strides: [usize; 3],
    [like, target]: [Option<[Vec<i16>; 3]>; 2],
) -> Result<[Vec<i16>; 3], Error> {
    let wide = |layer: &Vec<i16>| -> Vec<i32> { layer.iter().map(|&w| w.into()).collect() };
    let mut found = [const { Vec::new() }; 3];
    for (at, to) in found.iter_mut().enumerate() {
        let like = like.as_ref().map(|like| wide(&like[at]));
        let from = like.unwrap_or_else(|| vec![0; counts[at]]);
        let own = target.as_ref().map(|own| wide(&own[at]));
        *to = halves(walk.array(kinds[at], strides[at], &from, own.as_deref())?)?;
    }
    Ok(found)
}

fn extent<C: Coder>(
    walk: &mut Walk<C>,
    like: Option<[u16; 2]>,
    target: Option<[u16; 2]>,
) -> Result<[u16; 2], Error> {
    let from = signed(&like.unwrap_or_default());
    let own = target.map(|own| signed(&own));
    match words(walk.array(Kind::Extent, 1, &from, own.as_deref())?)?[..] {
        [width, height] => Ok([width, height]),
        _ => Err(OUT_OF_RANGE),
    }
}

/// Reference pictures are those of the base, or others, each whole: they are coded already.
fn references<C: Coder>(
    walk: &mut Walk<C>,
    base: &[Reference],
    target: Option<&[Reference]>,
) -> Result<Vec<Reference>, Error> {
    if !walk.flag(OTHER_REFERENCES, target.is_some_and(|own| own != base)) {
        return Ok(base.to_vec());
    }
    let count = size(walk, target.map(<[Reference]>::len), MAX_REFERENCES)?;
    let (mut found, mut total) = (Vec::new(), 0);
    for at in 0..count {
        let own = target.map(|own| &own[at]);
        let width = size(walk, own.map(|own| own.width().into()), u16::MAX.into())?;
        let height = size(walk, own.map(|own| own.height().into()), u16::MAX.into())?;
        let length = size(walk, own.map(|own| own.stream().len()), MAX_SECTION - total)?;
        total += length;
        let stream = walk.bytes(length, own.map(Reference::stream))?;
        found.push(Reference::new(width as u16, height as u16, stream));
    }
    Ok(found)
}

fn provenance<C: Coder>(walk: &mut Walk<C>, target: Option<&str>) -> Result<String, Error> {
    let length = size(walk, target.map(str::len), MAX_SECTION)?;
    let text = walk.text(length, target.map(str::as_bytes))?;
    String::from_utf8(text).map_err(|_| Error::Corrupt("the provenance is not UTF-8"))
}

/// A number of things, in two halves of twelve bits.
fn size<C: Coder>(walk: &mut Walk<C>, target: Option<usize>, most: usize) -> Result<usize, Error> {
    let own = target.map(|size| [(size >> 12) as i32, (size & 0xFFF) as i32]);
    let found = walk.array(Kind::Sizes, 1, &[0, 0], own.as_ref().map(|own| &own[..]))?;
    let part = |at: usize| {
        usize::try_from(found[at])
            .ok()
            .filter(|&part| part < 1 << 13)
    };
    let (high, low) = (part(0).ok_or(OUT_OF_RANGE)?, part(1).ok_or(OUT_OF_RANGE)?);
    Some((high << 12) + low)
        .filter(|&size| size <= most)
        .ok_or(OUT_OF_RANGE)
}

fn signed(words: &[u16]) -> Vec<i32> {
    words.iter().map(|&word| word.into()).collect()
}

fn words(values: Vec<i32>) -> Result<Vec<u16>, Error> {
    let word = |value| u16::try_from(value).map_err(|_| OUT_OF_RANGE);
    values.into_iter().map(word).collect()
}

fn halves(values: Vec<i32>) -> Result<Vec<i16>, Error> {
    let half = |value| i16::try_from(value).map_err(|_| OUT_OF_RANGE);
    values.into_iter().map(half).collect()
}

fn bytes(values: Vec<i16>) -> Result<Vec<i8>, Error> {
    let byte = |value| i8::try_from(value).map_err(|_| OUT_OF_RANGE);
    values.into_iter().map(byte).collect()
}

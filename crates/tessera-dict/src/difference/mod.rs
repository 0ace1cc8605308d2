//! A dictionary stored as its difference from another one (`spec/dictionary.md`, "Difference").
//!
//! What a collection changes of the dictionary it started from is little: a file of kilobytes stands for megabytes. The
//! identity stays the hash of the full content, and it is compared after the difference was applied, so that a wrong base
//! or a damaged file is always noticed.

mod coder;
mod parts;
mod walk;

use crate::dictionary::DictionaryBuilder;
use crate::error::Error;
use crate::format::{self, MAGIC, VERSION, take, take_array};
use crate::range::{RangeDecoder, RangeEncoder};
use crate::{DictId, Dictionary};
use walk::Walk;

/// Bit of the version byte that says that the file holds a difference.
const DIFFERENCE: u8 = 0x80;
/// Byte that announces the hash of a base that no program carries.
const BASE_BY_HASH: u8 = 0xFF;

/// What a difference says before it is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The dictionary it is applied to.
    pub base: DictId,
    /// The dictionary it gives.
    pub identity: DictId,
}

/// Writes a dictionary as its difference from `base`.
pub(crate) fn write(
    dictionary: &DictionaryBuilder,
    base: &DictionaryBuilder,
    base_id: DictId,
) -> Vec<u8> {
    let mut out = Vec::from(MAGIC);
    out.push(VERSION | DIFFERENCE);
    match base_id {
        DictId::Builtin(number) => out.push(number),
        DictId::Hash(hash) => {
            out.push(BASE_BY_HASH);
            out.extend(hash);
        }
        DictId::Prefix(_) => unreachable!("no dictionary is identified by a short name"),
    }
    if let DictId::Hash(hash) = DictId::of(&format::write(dictionary)) {
        out.extend(hash);
    }
    let mut walk = Walk::new(RangeEncoder::new());
    parts::code(&mut walk, base, Some(dictionary)).expect("what is there is in range");
    let payload = walk.into_coder().finish();
    out.extend(crc32fast::hash(&payload).to_le_bytes());
    out.extend(payload);
    out
}

/// Whether a file holds a difference and no full dictionary.
pub fn is_difference(data: &[u8]) -> bool {
    let version = data.strip_prefix(&MAGIC).and_then(|rest| rest.first());
    version.is_some_and(|version| version & DIFFERENCE != 0)
}

/// What a difference is applied to and gives.
///
/// # Errors
/// If the bytes are no difference of this version.
pub fn head(data: &[u8]) -> Result<Head, Error> {
    Ok(taken_apart(data)?.0)
}

fn taken_apart(data: &[u8]) -> Result<(Head, &[u8]), Error> {
    if !is_difference(data) {
        return Err(Error::NotADictionary);
    }
    let mut rest = &data[MAGIC.len()..];
    match take_array(&mut rest)? {
        [version] if version == VERSION | DIFFERENCE => {}
        [version] => return Err(Error::UnsupportedVersion(version & !DIFFERENCE)),
    }
    let base = match take(&mut rest, 1)?[0] {
        BASE_BY_HASH => DictId::Hash(take_array(&mut rest)?),
        number => DictId::Builtin(number),
    };
    let identity = DictId::Hash(take_array(&mut rest)?);
    Ok((Head { base, identity }, rest))
}

/// Applies a difference; `bases` hands out dictionaries that no program carries.
pub(crate) fn read(
    data: &[u8],
    bases: &dyn Fn(DictId) -> Option<Dictionary>,
) -> Result<(DictionaryBuilder, DictId), Error> {
    let (head, mut payload) = taken_apart(data)?;
    let check = u32::from_le_bytes(take_array(&mut payload)?);
    if crc32fast::hash(payload) != check {
        return Err(Error::Corrupt("the checksum does not match"));
    }
    let builtin = Dictionary::builtin();
    let base = match head.base {
        id if id == builtin.id() => Some(builtin.clone()),
        DictId::Builtin(_) => None,
        id => bases(id).filter(|found| found.id() == id),
    };
    let base = base.ok_or(Error::MissingBase(head.base))?;
    let mut walk = Walk::new(RangeDecoder::new(payload));
    let found = parts::code(&mut walk, base.content(), None)?;
    if walk.into_coder().exhausted() {
        return Err(Error::Truncated);
    }
    let full = format::write(&found);
    // Reading it back checks all that a full file is checked for.
    let content = format::read(&full)?;
    match DictId::of(&full) == head.identity {
        true => Ok((content, head.identity)),
        false => Err(Error::WrongBase(head.base)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::basis::Rotation;
    use crate::prior::PriorCell;
    use crate::{Net, PatchNet, PatchNets, Reference};
    use tessera_patch::Shape;

    fn no_bases(_: DictId) -> Option<Dictionary> {
        None
    }

    /// Something of every part changed.
    fn changed() -> Dictionary {
        let edited = Dictionary::builtin().edited(|parts| {
            let mut groups = parts.luma.groups().to_vec();
            let twin = groups[1].last().unwrap().clone();
            if groups[1].len() < crate::basis::MAX_BASES {
                groups[1].push(twin);
            }
            groups[3][0].model.base[2] ^= 5;
            groups[3][0].order.swap(3, 4);
            let rows: Vec<f32> = (0..32 * 16).map(|i| (i % 23) as f32 / 50.0 - 0.2).collect();
            let set = Rotation::from_rows(&rows, Shape::from_index(0));
            let more = crate::BasisSet::new(parts.luma.kind(), groups)
                .with_atoms(crate::Atoms::new([set]).unwrap());
            parts.luma_prior = crate::transfer::transfer(&parts.luma_prior, &parts.luma, &more);
            parts.luma = more;
            parts.luma_prior.cells[77] = PriorCell {
                log_odds: -90,
                count: 31,
            };
            parts.chroma_prior.cells[5].count = 77;
            parts.chroma_prior.weights[3][1] += 400;
            parts.luma_filter.bands[1][7][3] = -40;
            parts.shrinkage[1][2] ^= 1;
            let bytes = |count: usize| (0..count).map(|i| (i % 7) as i8 - 3).collect();
            parts.nets[1] = Some(Net::new([9, 8], crate::net::WEIGHTS.map(bytes)).unwrap());
            let layer = |count: usize| (0..count).map(|i| 16 * (i % 7) as i16 - 48).collect();
            let [first, second, last] = crate::patch_net::weights(Shape::from_index(2)).map(layer);
            let mut nets = [const { None }; tessera_patch::shape::SHAPE_COUNT];
            nets[2] = Some(PatchNet {
                first,
                second,
                last,
            });
            parts.patch_nets = Some(PatchNets {
                extent: [640, 4],
                nets,
            });
            let [first, second, last] = crate::lossless_net::WEIGHTS.map(layer);
            parts.lossless_nets[1] = Some(crate::LosslessNet {
                first,
                second,
                last,
            });
            parts.references = vec![Reference::new(40, 7, vec![1, 2, 3, 250])];
            parts.provenance = "ours".into();
        });
        edited.unwrap()
    }

    #[test]
    fn a_difference_gives_the_dictionary_again() {
        let (base, own) = (Dictionary::builtin(), changed());
        let file = own.to_difference(base);
        assert!(is_difference(&file) && file.len() < own.to_bytes().len() / 50);
        let back = Dictionary::from_bytes(&file).unwrap();
        assert_eq!(back.id(), own.id());
        assert!(back.to_bytes() == own.to_bytes());
        let found = head(&file).unwrap();
        assert_eq!((found.base, found.identity), (base.id(), own.id()));
    }

    #[test]
    fn nothing_changed_takes_a_few_dozen_bytes() {
        let own = Dictionary::builtin()
            .edited(|parts| parts.provenance.clear())
            .unwrap();
        let size = own.to_difference(Dictionary::builtin()).len();
        assert!(size < 150, "{size}");
    }

    #[test]
    fn another_base_is_found_by_its_hash_or_refused() {
        let base = changed();
        let own = base
            .edited(|parts| parts.luma_prior.cells[9].log_odds = 3)
            .unwrap();
        let file = own.to_difference(&base);
        assert_eq!(
            Dictionary::from_bytes(&file).unwrap_err(),
            Error::MissingBase(base.id())
        );
        let back =
            Dictionary::from_bytes_with(&file, &|id| (id == base.id()).then(|| base.clone()));
        assert_eq!(back.unwrap().id(), own.id());
        // Someone else's dictionary under the name of the base.
        let mut lying = own.to_difference(Dictionary::builtin());
        lying.splice(4..5, [&[BASE_BY_HASH][..], &file[5..21]].concat());
        let wrong = read(&lying, &|_| Some(base.clone())).unwrap_err();
        assert!(!matches!(wrong, Error::MissingBase(_)), "{wrong}");
    }

    #[test]
    fn damage_is_refused() {
        let file = changed().to_difference(Dictionary::builtin());
        for at in (0..file.len()).step_by(file.len() / 40) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            assert!(Dictionary::from_bytes(&damaged).is_err(), "byte {at}");
            assert!(Dictionary::from_bytes(&file[..at]).is_err(), "cut at {at}");
        }
        // Past the checksum, garbage ends in an error too, never in a panic.
        for at in (25..file.len()).step_by(file.len() / 60) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x55;
            let check = crc32fast::hash(&damaged[25..]);
            damaged[21..25].copy_from_slice(&check.to_le_bytes());
            assert!(read(&damaged, &no_bases).is_err(), "byte {at}");
        }
    }
}

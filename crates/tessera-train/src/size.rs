//! Dictionaries that must not exceed a size: bases that few patches choose go first, free atoms last.

use crate::atoms::{self, LearnedAtoms};
use crate::error::TrainError;
use crate::harvest::{GroupKey, Harvest};
use tessera_dict::transfer::transfer;
use tessera_dict::{BasisSet, Dictionary, PlaneKind};

/// The dictionary without those learned bases that are used least for their size, and without free atoms if that is not
/// enough, so that it fits into `limit` bytes.
///
/// # Errors
/// [`TrainError::TooLarge`] if it does not fit without any learned basis.
pub(crate) fn within(
    dictionary: Dictionary,
    harvest: &Harvest,
    limit: usize,
) -> Result<Dictionary, TrainError> {
    let mut fitting = dictionary;
    loop {
        let size = fitting.to_bytes().len();
        if size <= limit {
            return Ok(fitting);
        }
        let Some((kind, group)) = least_useful(&fitting, harvest) else {
            if fitting.luma().atoms().total() == 0 {
                return Err(TrainError::TooLarge { limit, least: size });
            }
            fitting = fitting.edited(|parts| atoms::replace(parts, LearnedAtoms::default()))?;
            continue;
        };
        fitting = fitting.edited(|parts| {
            let (bases, prior) = match kind {
                PlaneKind::Luma => (&mut parts.luma, &mut parts.luma_prior),
                PlaneKind::Chroma => (&mut parts.chroma, &mut parts.chroma_prior),
            };
            let fewer = without_last(bases, group);
            *prior = transfer(prior, bases, &fewer);
            *bases = fewer;
        })?;
    }
}

/// The group whose last learned basis is chosen least often for its size.
fn least_useful(dictionary: &Dictionary, harvest: &Harvest) -> Option<(PlaneKind, usize)> {
    let mut least: Option<(f64, PlaneKind, usize)> = None;
    for bases in [dictionary.luma(), dictionary.chroma()] {
        let kind = bases.kind();
        let groups = BasisSet::keys(kind).zip(bases.groups()).enumerate();
        for (index, ((shape, class), group)) in groups {
            if group.len() < 2 {
                continue;
            }
            let key = GroupKey {
                kind,
                shape: shape.index(),
                class,
            };
            let bytes = shape.rotated().pow(2);
            let use_per_byte = harvest.usage(key, group.len() - 1) as f64 / bytes as f64;
            if least.is_none_or(|(smallest, ..)| use_per_byte < smallest) {
                least = Some((use_per_byte, kind, index));
            }
        }
    }
    least.map(|(_, kind, group)| (kind, group))
}

fn without_last(bases: &BasisSet, group: usize) -> BasisSet {
    let mut groups = bases.groups().to_vec();
    groups[group].pop();
    bases.regrouped(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_kept_and_an_impossible_one_refused() {
        let start = Dictionary::builtin();
        let size = start.to_bytes().len();
        let limit = size * 9 / 10;
        let harvest = Harvest::new(0, 1);
        let fewer = within(start.clone(), &harvest, limit).unwrap();
        assert!(fewer.to_bytes().len() <= limit);
        assert!(Dictionary::from_bytes(&fewer.to_bytes()).is_ok());
        let whole = within(start.clone(), &harvest, size).unwrap();
        assert_eq!(whole.to_bytes(), start.to_bytes());
        let error = within(start.clone(), &harvest, 1000).unwrap_err();
        assert!(error.to_string().contains("cannot be smaller"), "{error}");
    }
}

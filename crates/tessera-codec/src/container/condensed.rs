//! Headers without what all files of a collection share: for containers that hold many files and say it once.

use crate::container::check::{Integrity, crc8};
use crate::container::header::{
    DICTIONARY_BY_HASH, DICTIONARY_BY_PREFIX, HAS_FEATURES, Header, MAGIC,
};
use crate::error::FormatError;
use tessera_dict::DictId;

/// Where the dictionary byte stands in a condensed header: behind version, format and, if there is one, features.
fn dictionary_at(condensed: &[u8]) -> Result<usize, FormatError> {
    let format = condensed.get(1).copied().unwrap_or_default();
    let at = 2 + usize::from(format & HAS_FEATURES != 0);
    match condensed.len() > at {
        true => Ok(at),
        false => Err(FormatError::invalid("the header", "it is too short")),
    }
}

/// Bytes of the name behind a dictionary byte.
fn name_len(dictionary: u8) -> usize {
    match dictionary {
        DICTIONARY_BY_HASH => 16,
        DICTIONARY_BY_PREFIX => 4,
        _ => 0,
    }
}

/// The header of a file without magic, name of a learned dictionary and check; also, how long the whole header is.
///
/// # Errors
/// [`FormatError`] if the file does not start with a valid header.
pub fn condense(file: &[u8]) -> Result<(Vec<u8>, usize), FormatError> {
    let (_, len) = Header::read(file, Integrity::Checked)?;
    let plain = &file[MAGIC.len()..len - 1];
    let at = dictionary_at(plain)?;
    let name = at + 1..at + 1 + name_len(plain[at]);
    Ok(([&plain[..name.start], &plain[name.end..]].concat(), len))
}

/// The header that was condensed, for files whose learned dictionary has the identity `dictionary`.
///
/// # Errors
/// [`FormatError`] if it is none, or needs a learned dictionary and there is none.
pub fn expand(condensed: &[u8], dictionary: Option<DictId>) -> Result<Vec<u8>, FormatError> {
    let at = dictionary_at(condensed)?;
    let (start, end) = condensed.split_at(at + 1);
    let name = match (name_len(condensed[at]), dictionary) {
        (0, _) => Vec::new(),
        (len, Some(DictId::Hash(hash))) => hash[..len].to_vec(),
        _ => {
            return Err(FormatError::invalid(
                "the header",
                "its dictionary is not here",
            ));
        }
    };
    let mut header = [&MAGIC[..], start, &name, end].concat();
    header.push(crc8(&header));
    Header::read(&header, Integrity::Checked)?;
    Ok(header)
}

#[cfg(all(test, feature = "encoder"))]
mod tests {
    use super::*;
    use crate::{Encoder, Picture};
    use tessera_dict::Dictionary;

    #[test]
    fn headers_come_back() {
        let own = Dictionary::builtin()
            .edited(|parts| parts.provenance = "mine".into())
            .unwrap();
        let picture = Picture::gray8(40, 33, (0..40 * 33).map(|i| i as u8).collect()).unwrap();
        let encoder = Encoder::new().effort(1);
        let learned = encoder.clone().dictionary(own.clone());
        for encoder in [
            encoder,
            learned.clone(),
            learned.short_dictionary_name(true),
        ] {
            let file = encoder.encode(&picture).unwrap().bytes;
            let (condensed, len) = condense(&file).unwrap();
            assert!(condensed.len() <= 11);
            assert_eq!(expand(&condensed, Some(own.id())).unwrap(), file[..len]);
        }
        assert!(expand(&[1, 0, 255, 1, 1, 60, 9], None).is_err());
        assert!(expand(&[1], None).is_err() && condense(b"no picture").is_err());
    }
}

//! Pictures of a series: predicted from another one of the pack (`spec/pack.md`, "Predicted pictures").

use crate::error::Error;
use tessera_codec::{Decoder, Limits, PreparedDictionary};
use tessera_dict::{Dictionary, Reference};

/// The dictionary that pictures are coded with if they are predicted from `key`, the file of a picture in the same pack:
/// that of the pack, or else the built-in one, with this picture as one more reference.
///
/// # Errors
/// If `key` is no picture of at most 2^24 pixels that is coded with loss and with the built-in dictionary.
pub fn predicting_dictionary(
    own: Option<&Dictionary>,
    key: &[u8],
) -> Result<PreparedDictionary, Error> {
    let coded = Decoder::new().limits(Limits::none()).parse(key)?;
    let side = |side: u32| u16::try_from(side).map_err(|_| Error::Damaged("a key is too large"));
    let reference = Reference::new(
        side(coded.header().width)?,
        side(coded.header().height)?,
        key.to_vec(),
    );
    let own = own.or(Dictionary::loaded_builtin());
    let own = own.ok_or(Error::NoBuiltin)?;
    let dictionary = own.edited(|parts| parts.references.push(reference))?;
    PreparedDictionary::new(dictionary).map_err(|error| tessera_codec::Error::from(error).into())
}

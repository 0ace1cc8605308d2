//! Random files with a random dictionary: what encoders and learned dictionaries never lead to.

#[path = "../../../tessera-reference/tests/differential/dictionaries.rs"]
mod dictionaries;
#[path = "../../../tessera-reference/tests/differential/files.rs"]
mod files;
#[path = "../../../tessera-reference/tests/differential/random.rs"]
mod random;
#[path = "../../../tessera-reference/tests/differential/selection.rs"]
mod selection;

use super::support::{REFERENCE_DICTIONARY, folder, reference_folder};
use super::{Stream, write_streams};
use anyhow::Result;
use std::fs;
use tessera_codec::Decoder;
use tessera_dict::Dictionary;

/// Writes them, with numbers in place of those of the references' dictionary.
pub(super) fn write() -> Result<()> {
    let like = fs::read(reference_folder().join(REFERENCE_DICTIONARY))?;
    let dictionary = selection::dictionary(&like);
    let hash = blake3::hash(&dictionary);
    let identity = std::array::from_fn(|i| hash.as_bytes()[i]);
    let stream = |(seed, covers): (u64, &str)| Stream {
        name: format!("random-{seed}"),
        covers: covers.to_owned(),
        bytes: selection::file(seed, &identity),
    };
    let streams = selection::FILES.map(stream);
    let folder = folder().join("random");
    let decoder = Decoder::new().dictionary(Dictionary::from_bytes(&dictionary)?);
    write_streams(&folder, &streams, &decoder)?;
    Ok(fs::write(folder.join("random.tsd"), dictionary)?)
}

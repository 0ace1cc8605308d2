//! Decoders: settings, and where dictionaries are looked for.

use crate::cancel::Cancel;
use crate::dictionary::Dictionary;
use crate::memory::null;
use crate::status::{Failure, Status, answer, guard, release};
use std::sync::{Mutex, PoisonError};
use tessera_codec::{DictId, Limits, PreparedDictionary};
use tessera_dict::store::Store;

/// A decoder: limits, threads, dictionaries.
#[derive(Debug, Default)]
pub struct Decoder {
    settings: tessera_codec::Decoder,
    limits: Limits,
    store: Option<Store>,
    /// What came from the store, so that a folder of pictures reads its dictionary once.
    found: Mutex<Vec<PreparedDictionary>>,
}

/// What can be limited.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// Pixels of the whole picture.
    Pixels = 0,
    /// Pixels of one tile, the unit that is held in memory in working form.
    TilePixels = 1,
    /// Bytes of memory for the picture and the tiles in work. Unless it is set, short files may use less than long ones.
    Memory = 2,
    /// Decode work, in units that grow with samples and coded bytes. Unless it is set, short files may take less than long ones.
    Work = 3,
    /// Bytes of unpacked metadata.
    Metadata = 4,
    /// Number of metadata chunks.
    Chunks = 5,
}

/// A decoder with limits that let a 400-megapixel photograph through, all cores and the built-in dictionary.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_new() -> Option<Box<Decoder>> {
    answer(None, || Some(Some(Box::default())))
}

/// Sets what a file may cost at most: a TesseraLimit and its value.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_set_limit(
    decoder: Option<&mut Decoder>,
    limit: u32,
    value: u64,
) -> Status {
    change(decoder, |decoder| {
        let limits = &mut decoder.limits;
        match limit {
            _ if limit == Limit::Pixels as u32 => limits.pixels = value,
            _ if limit == Limit::TilePixels as u32 => limits.tile_pixels = value,
            _ if limit == Limit::Memory as u32 => *limits = limits.with_memory(value),
            _ if limit == Limit::Work as u32 => *limits = limits.with_work(value),
            _ if limit == Limit::Metadata as u32 => limits.metadata = value,
            _ if limit == Limit::Chunks as u32 => limits.chunks = value,
            _ => return Err(Failure::parameter(format!("there is no limit {limit}"))),
        }
        decoder.settings = decoder.settings.clone().limits(*limits);
        Ok(())
    })
}

/// Sets how many threads decode tiles; 0, as in the beginning, means one per core. Results do not depend on it.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_set_threads(
    decoder: Option<&mut Decoder>,
    threads: u32,
) -> Status {
    change(decoder, |decoder| {
        decoder.settings = decoder.settings.clone().threads(threads as usize);
        Ok(())
    })
}

/// Offers a dictionary beside the built-in one; may be called several times.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_add_dictionary(
    decoder: Option<&mut Decoder>,
    dictionary: Option<&Dictionary>,
) -> Status {
    change(decoder, |decoder| {
        let dictionary = dictionary.ok_or_else(|| null("the dictionary"))?;
        decoder.settings = decoder.settings.clone().dictionary(&dictionary.prepared);
        Ok(())
    })
}

/// Looks for the dictionaries that files name among those of this user: in the folders of TESSERA_DICT_PATH and where
/// `tessera dict install` puts them.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_use_store(decoder: Option<&mut Decoder>) -> Status {
    change(decoder, |decoder| {
        decoder.store = Some(Store::open());
        Ok(())
    })
}

/// Stops decoding when the token says so.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_set_cancel(
    decoder: Option<&mut Decoder>,
    cancel: Option<&Cancel>,
) -> Status {
    change(decoder, |decoder| {
        let Cancel(token) = cancel.ok_or_else(|| null("the token"))?;
        decoder.settings = decoder.settings.clone().cancel(token);
        Ok(())
    })
}

/// Frees a decoder; files it has opened stay open.
#[unsafe(no_mangle)]
pub extern "C" fn tessera_decoder_free(decoder: Option<Box<Decoder>>) {
    release(decoder);
}

fn change(
    decoder: Option<&mut Decoder>,
    change: impl FnOnce(&mut Decoder) -> Result<(), Failure>,
) -> Status {
    guard(|| change(decoder.ok_or_else(|| null("the decoder"))?))
}

impl Decoder {
    /// The settings without what only a particular file needs.
    pub(crate) fn settings(&self) -> &tessera_codec::Decoder {
        &self.settings
    }

    /// The settings with the dictionary `id` from the store, if it is there and the store is to be used.
    pub(crate) fn dictionary_settings(
        &self,
        id: DictId,
    ) -> Result<Option<tessera_codec::Decoder>, Failure> {
        let dictionary = self.stored(id)?;
        Ok(dictionary.map(|dictionary| self.settings.clone().dictionary(dictionary)))
    }

    /// The dictionary of that name in the store, prepared once.
    fn stored(&self, id: DictId) -> Result<Option<PreparedDictionary>, Failure> {
        let Some(store) = self
            .store
            .as_ref()
            .filter(|_| !matches!(id, DictId::Builtin(_)))
        else {
            return Ok(None);
        };
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = found.iter().find(|known| known.id() == id) {
            return Ok(Some(known.clone()));
        }
        let Some(content) = store.load(id)? else {
            return Ok(None);
        };
        let dictionary = PreparedDictionary::new(content)?;
        found.push(dictionary.clone());
        Ok(Some(dictionary))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dictionary::tessera_dictionary_from_memory;
    use crate::encoder::{
        tessera_encoder_encode, tessera_encoder_new, tessera_encoder_set_dictionary,
        tessera_encoder_set_effort,
    };
    use crate::file::{tessera_file_decode, tessera_file_from_memory};
    use crate::picture::Picture;
    use std::mem::MaybeUninit;

    /// What a function hands out.
    fn made<T>(
        make: impl FnOnce(Option<&mut MaybeUninit<Option<Box<T>>>>) -> Status,
    ) -> (Status, Option<Box<T>>) {
        let mut place = MaybeUninit::uninit();
        let status = make(Some(&mut place));
        // SAFETY: every function writes its result first of all.
        (status, unsafe { place.assume_init() })
    }

    #[test]
    fn dictionaries_are_found_in_the_store() {
        let content = tessera_codec::Dictionary::untrained().to_bytes();
        let (_, dictionary) =
            // SAFETY: the slice is alive.
            made(|out| unsafe { tessera_dictionary_from_memory(content.as_ptr(), content.len(), out) });
        let mut encoder = tessera_encoder_new();
        tessera_encoder_set_effort(encoder.as_deref_mut(), 1);
        tessera_encoder_set_dictionary(encoder.as_deref_mut(), dictionary.as_deref());
        let picture = tessera_codec::Picture::gray8(9, 9, vec![7; 81]).unwrap();
        let picture = Picture(picture);
        let (_, file) = made(|out| tessera_encoder_encode(encoder.as_deref(), Some(&picture), out));
        let file = file.unwrap().0;
        let decode = |decoder: &Decoder| {
            let (_, opened) =
                // SAFETY: the slice is alive.
                made(|out| unsafe { tessera_file_from_memory(Some(decoder), file.as_ptr(), file.len(), out) });
            made(|out| tessera_file_decode(opened.as_deref(), out)).0
        };
        let folder = tempfile::tempdir().unwrap();
        let decoder = Decoder {
            store: Some(Store::of_folders(vec![folder.path().into()])),
            ..Decoder::default()
        };
        assert_eq!(decode(&decoder), Status::Dictionary);
        std::fs::write(folder.path().join("mine.tsd"), &content).unwrap();
        assert_eq!(decode(&decoder), Status::Ok);
        std::fs::remove_file(folder.path().join("mine.tsd")).unwrap();
        assert_eq!(decode(&decoder), Status::Ok, "it is read once");
    }

    #[test]
    fn handles_may_be_shared() {
        fn shared<T: Send + Sync>() {}
        shared::<Decoder>();
        shared::<crate::File>();
        shared::<crate::Encoder>();
        shared::<Picture>();
    }
}

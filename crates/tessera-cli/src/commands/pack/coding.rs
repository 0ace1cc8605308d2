//! Reading and encoding one picture of a pack.

use super::gather::Found;
use crate::commands::encode::broken_promise;
use crate::files::Input;
use crate::{reader, verbosity};
use anyhow::Result;
use tessera_codec::image_io::ReadOptions;
use tessera_codec::{Encoded, Error, RowSource};

impl Found {
    /// Reads the picture and lets `encode` have it.
    pub(super) fn encode<T>(
        &self,
        encode: impl FnOnce(&mut dyn RowSource) -> Result<T, Error>,
    ) -> Result<T> {
        self.read(encode).map(|(encoded, _)| encoded)
    }

    /// The same, and says what the user should know of the picture and of what became of it.
    pub(super) fn encode_loudly(
        &self,
        encode: impl FnOnce(&mut dyn RowSource) -> Result<Encoded, Error>,
    ) -> Result<Encoded> {
        let (encoded, mut warnings) = self.read(encode)?;
        warnings.extend(broken_promise(&encoded));
        verbosity::warn(&self.path, &warnings);
        Ok(encoded)
    }

    fn read<T>(
        &self,
        encode: impl FnOnce(&mut dyn RowSource) -> Result<T, Error>,
    ) -> Result<(T, Vec<String>)> {
        let input = Input::open(&self.path)?;
        let mut opened = reader::open(&input, ReadOptions::default())?;
        let encoded = encode(&mut *opened.source)?;
        Ok((encoded, opened.warnings))
    }
}

//! Pictures on their way into a pack, and what became of each.

use super::budget::{self, Batch, Coded, Goal};
use super::gather::Found;
use crate::archive::{Failure, verdict};
use crate::files::cannot_write;
use crate::verbosity;
use anyhow::{Context, Error, Result};
use rayon::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;
use tessera_codec::Target;
use tessera_pack::PackWriter;

/// Pictures encoded side by side before they are written.
const CHUNK: usize = 64;

/// A pack that is being filled.
pub(super) struct Filling<'a, W> {
    writer: PackWriter<W>,
    output: &'a Path,
    filled: Filled,
}

/// What went into a pack.
#[derive(Debug, Default)]
pub(super) struct Filled {
    pub(super) packed: usize,
    /// Those that are lossless.
    lossless: usize,
    /// Bytes of their files.
    before: u64,
    failures: Vec<Failure>,
}

impl<'a, W: Write> Filling<'a, W> {
    pub(super) fn new(writer: PackWriter<W>, output: &'a Path) -> Self {
        Self {
            writer,
            output,
            filled: Filled::default(),
        }
    }

    /// Encodes all pictures that can be read and adds them; `fixed` bytes are in the pack already.
    ///
    /// # Errors
    /// If the goal cannot be reached or the pack cannot be written.
    pub(super) fn fill(&mut self, batch: &Batch<'_>, goal: Goal, fixed: usize) -> Result<()> {
        match goal {
            Goal::Each(target) => {
                for chunk in batch.found.chunks(CHUNK) {
                    let encode = |picture| batch.encode(picture, target);
                    self.add_all(chunk, chunk.par_iter().map(encode).collect())?;
                }
                Ok(())
            }
            goal => self.add_all(batch.found, budget::allocate(batch, goal, fixed)?),
        }
    }

    fn add_all(&mut self, pictures: &[Found], coded: Vec<Result<Coded>>) -> Result<()> {
        for (picture, coded) in pictures.iter().zip(coded) {
            match coded {
                Ok(coded) => self.add(picture, &coded)?,
                Err(error) => self.fail(picture, &error),
            }
        }
        Ok(())
    }

    /// Adds a picture. One that does not belong into a pack is passed over; writing that fails ends it.
    fn add(&mut self, picture: &Found, coded: &Coded) -> Result<()> {
        match self.writer.add(&picture.name, &coded.file) {
            Err(error @ tessera_pack::Error::Io(_)) => {
                return Err(error).with_context(|| cannot_write(self.output));
            }
            Err(error) => self.fail(picture, &error.into()),
            Ok(_) => {
                self.filled.packed += 1;
                self.filled.lossless += usize::from(coded.lossless);
                self.filled.before += fs::metadata(&picture.path).map_or(0, |data| data.len());
            }
        }
        Ok(())
    }

    fn fail(&mut self, picture: &Found, error: &Error) {
        self.filled
            .failures
            .push(Failure::new(&picture.path, error));
    }

    /// The pack, to be finished, and what is in it.
    pub(super) fn end(self) -> (PackWriter<W>, Filled) {
        (self.writer, self.filled)
    }
}

impl Filled {
    /// Says what everything came to.
    ///
    /// # Errors
    /// If some picture is missing.
    pub(super) fn report(&self, output: &Path) -> Result<()> {
        for failure in &self.failures {
            eprintln!("{failure}");
        }
        let lossless = match self.lossless {
            0 => String::new(),
            count => format!(", {count} of them lossless"),
        };
        let size = fs::metadata(output).map_or(0, |data| data.len());
        verbosity::note(format_args!(
            "{}: {} pictures of {} bytes packed{lossless}, {} failed; {size} bytes",
            output.display(),
            self.packed,
            self.before,
            self.failures.len(),
        ));
        verdict(self.failures.len())
    }
}

impl Batch<'_> {
    /// Reads and encodes one picture.
    pub(super) fn encode(&self, picture: &Found, target: Target) -> Result<Coded> {
        let encoder = self.encoder.clone().target(target);
        let encoded = picture.encode_loudly(|source| encoder.encode_rows(source))?;
        Ok(encoded.into())
    }

    /// The same without a word.
    pub(super) fn try_encode(&self, picture: &Found, target: Target) -> Result<Coded> {
        let encoder = self.encoder.clone().target(target);
        let encoded = picture.encode(|source| encoder.encode_rows(source))?;
        Ok(encoded.into())
    }
}

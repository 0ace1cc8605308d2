//! Pictures on their way into a pack, and what became of each.

use super::budget::{self, Batch, Coded, Goal};
use super::gather::Found;
use super::series::{Coding, Predicted};
use super::spending::{by_psnr, by_size, in_chunks};
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

/// Pictures encoded before they are written; series are found among them.
pub(super) const CHUNK: usize = 256;

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
    /// Those that are predicted from another one.
    predicted: usize,
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
        let Goal::Each(target) = goal else {
            return self.fill_by_budget(batch, goal, fixed);
        };
        for chunk in batch.found.chunks(CHUNK) {
            let encode = |picture| batch.encode(picture, target);
            let alone = chunk.par_iter().map(encode).collect();
            self.add_all(chunk, batch.with_series(chunk, alone, &|_| target))?;
        }
        Ok(())
    }

    /// The same with one budget for all.
    fn fill_by_budget(&mut self, batch: &Batch<'_>, goal: Goal, fixed: usize) -> Result<()> {
        let coding = match (goal, batch.series) {
            (Goal::Size { bytes, even }, true) => by_size(batch, bytes, even, fixed)?,
            (Goal::Psnr(decibels), true) => by_psnr(batch, decibels, fixed)?,
            _ => in_chunks(batch, budget::allocate(batch, goal, fixed)?, false),
        };
        self.add_chunks(batch.found, coding)
    }

    fn add_chunks(&mut self, pictures: &[Found], coding: Vec<Coding>) -> Result<()> {
        let mut chunks = pictures.chunks(CHUNK).zip(coding);
        chunks.try_for_each(|(chunk, coding)| self.add_all(chunk, coding))
    }

    /// Adds pictures, behind those that they are predicted from.
    fn add_all(&mut self, pictures: &[Found], coding: Coding) -> Result<()> {
        let mut later = Vec::new();
        let Coding { alone, predicted } = coding;
        for ((picture, alone), predicted) in pictures.iter().zip(alone).zip(predicted) {
            match (predicted, alone) {
                (Some(predicted), _) => later.push((picture, predicted)),
                (None, Ok(coded)) => self.add(picture, &coded)?,
                (None, Err(error)) => self.fail(picture, &error),
            }
        }
        for (picture, predicted) in later {
            let key = &pictures[predicted.key].name;
            let Predicted {
                coded, dictionary, ..
            } = &predicted;
            let added = (self.writer).add_predicted(&picture.name, &coded.file, key, dictionary);
            self.filled.predicted += usize::from(added.is_ok());
            self.note(picture, added, false)?;
        }
        Ok(())
    }

    /// Adds a picture. One that does not belong into a pack is passed over; writing that fails ends it.
    fn add(&mut self, picture: &Found, coded: &Coded) -> Result<()> {
        let added = self.writer.add(&picture.name, &coded.file);
        self.note(picture, added, coded.lossless)
    }

    /// Takes down what became of a picture.
    fn note(
        &mut self,
        picture: &Found,
        added: Result<u64, tessera_pack::Error>,
        lossless: bool,
    ) -> Result<()> {
        match added {
            Err(error @ tessera_pack::Error::Io(_)) => {
                return Err(error).with_context(|| cannot_write(self.output));
            }
            Err(error) => self.fail(picture, &error.into()),
            Ok(_) => {
                self.filled.packed += 1;
                self.filled.lossless += usize::from(lossless);
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
        let predicted = match self.predicted {
            0 => String::new(),
            count => format!(", {count} predicted from others"),
        };
        let size = fs::metadata(output).map_or(0, |data| data.len());
        verbosity::note(format_args!(
            "{}: {} pictures of {} bytes packed{lossless}{predicted}, {} failed; {size} bytes",
            output.display(),
            self.packed,
            self.before,
            self.failures.len(),
        ));
        verdict(self.failures.len())
    }
}

impl Batch<'_> {
    /// The same, but nothing is said of what a budget gains.
    pub(super) fn silent(&self) -> Self {
        Self {
            tells_gains: false,
            ..self.clone()
        }
    }

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

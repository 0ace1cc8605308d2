//! Pictures on their way into a pack, and what became of each.

use super::budget::{self, Batch, Coded, Goal};
use super::gather::Found;
use super::series::{Coding, Predicted};
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

/// How often bytes that were saved are given to all pictures, and from which part of all bytes on.
const WIDENED: usize = 4;
const WORTH_WIDENING: f64 = 1.02;

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

    /// The same with one budget for all. Bytes that predictions save are given to all pictures, as long as these fit then.
    fn fill_by_budget(&mut self, batch: &Batch<'_>, goal: Goal, fixed: usize) -> Result<()> {
        let alone = budget::allocate(batch, goal, fixed)?;
        let (Goal::Size { bytes, even }, true) = (goal, batch.series) else {
            return self.add_chunks(batch.found, in_chunks(batch, alone, false));
        };
        let room: usize = alone.iter().flatten().map(|coded| coded.file.len()).sum();
        let mut coding = in_chunks(batch, alone, true);
        let size = |coding: &[Coding]| coding.iter().map(Coding::bytes).sum::<usize>();
        // What was asked for when all fitted, and when they did not any more.
        let (mut fits, mut too_much) = (bytes as f64, f64::INFINITY);
        for _ in 0..WIDENED {
            let free = room as f64 / size(&coding).max(1) as f64;
            if free < WORTH_WIDENING {
                break;
            }
            let asked = (fits * free).min((fits * too_much).sqrt());
            let wider = Goal::Size {
                bytes: asked as usize,
                even,
            };
            let wider = in_chunks(
                batch,
                budget::allocate(&batch.silent(), wider, fixed)?,
                true,
            );
            if size(&wider) <= room {
                (fits, coding) = (asked, wider);
            } else {
                too_much = asked;
            }
        }
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
                file, dictionary, ..
            } = &predicted;
            let added = (self.writer).add_predicted(&picture.name, file, key, dictionary);
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

/// The same pictures chunk by chunk, with `series` those predicted that are like others.
fn in_chunks(batch: &Batch<'_>, alone: Vec<Result<Coded>>, series: bool) -> Vec<Coding> {
    let target = |coded: &Coded| {
        let header = batch.parse(coded).map(|coded| coded.header().quantiser);
        header.map_or(Target::default(), Target::Quantiser)
    };
    let batch = &Batch {
        series,
        ..batch.clone()
    };
    let mut alone = alone.into_iter();
    let mut next = |chunk: &[Found]| {
        let alone = alone.by_ref().take(chunk.len()).collect();
        batch.with_series(chunk, alone, &target)
    };
    batch.found.chunks(CHUNK).map(&mut next).collect()
}

impl Batch<'_> {
    /// The same, but nothing is said of what a budget gains.
    fn silent(&self) -> Self {
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

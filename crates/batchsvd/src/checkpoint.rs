//! Checkpoints: a run's state between two iterations, in memory and as a file.
//!
//! File layout, little endian: magic, version, then the body (all counts as u64, floats as
//! their bits), then the CRC-32 of everything before it. The file names the parameters
//! and the samples it belongs to by checksum, so that it cannot be resumed with others.

use crate::linalg::Columns;
use crate::{Error, Factorization, Phase, Progress, SampleMatrix, SparseCode, ValidBatchSvdParams};
use std::io::{Read, Write};

const MAGIC: &[u8; 8] = b"BSVDCKPT";
const VERSION: u32 = 1;

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
    /// Before this alternation of Algorithm 5.
    Alternate(usize),
    /// Before this iteration of Algorithm 4.
    Main(usize),
    /// At the end.
    Done,
}

impl Stage {
    pub(crate) fn main_or_done(iteration: usize, planned: usize) -> Self {
        if iteration < planned {
            Self::Main(iteration)
        } else {
            Self::Done
        }
    }
}

/// State of a run between two iterations; see [`ValidBatchSvdParams::resume`].
#[derive(Clone, Debug, PartialEq)]
pub struct Checkpoint {
    params_crc: u32,
    samples_crc: u32,
    pub(crate) stage: Stage,
    current: Snapshot,
    best: Option<Snapshot>,
    pub(crate) trace: Vec<Progress>,
}

/// Atoms and scaled code of a factorization.
#[derive(Clone, Debug, PartialEq)]
struct Snapshot {
    atoms: Columns,
    code: SparseCode,
}

impl Snapshot {
    fn of(state: &Factorization<'_>) -> Self {
        Self {
            atoms: state.atoms.clone(),
            code: state.code.clone(),
        }
    }

    fn restore<'s>(&self, samples: &'s SampleMatrix) -> Factorization<'s> {
        Factorization::from_scaled(samples, self.atoms.clone(), self.code.clone())
    }
}

impl Checkpoint {
    pub(crate) fn of(
        params: &ValidBatchSvdParams,
        stage: Stage,
        state: &Factorization<'_>,
        best: Option<&Factorization<'_>>,
        trace: &[Progress],
    ) -> Self {
        Self {
            params_crc: params_crc(params),
            samples_crc: samples_crc(state.samples),
            stage,
            current: Snapshot::of(state),
            best: best.map(Snapshot::of),
            trace: trace.to_vec(),
        }
    }

    pub(crate) fn check_belongs(
        &self,
        params: &ValidBatchSvdParams,
        samples: &SampleMatrix,
    ) -> Result<(), Error> {
        if self.params_crc != params_crc(params) {
            return Err(Error::Checkpoint("made with other parameters".into()));
        }
        let same_shape = self.current.atoms.rows() == samples.dimension()
            && self.current.code.count() == samples.count();
        if !same_shape || self.samples_crc != samples_crc(samples) {
            return Err(Error::Checkpoint("made from other samples".into()));
        }
        Ok(())
    }

    pub(crate) fn restore<'s>(
        &self,
        samples: &'s SampleMatrix,
    ) -> (Factorization<'s>, Option<Factorization<'s>>) {
        let best = self.best.as_ref().map(|best| best.restore(samples));
        (self.current.restore(samples), best)
    }

    /// Writes the checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn write(&self, mut out: impl Write) -> Result<(), Error> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(&self.params_crc.to_le_bytes());
        bytes.extend_from_slice(&self.samples_crc.to_le_bytes());
        let (stage, iteration) = match self.stage {
            Stage::Alternate(iteration) => (0, iteration),
            Stage::Main(iteration) => (1, iteration),
            Stage::Done => (2, 0),
        };
        put(
            &mut bytes,
            &[stage, iteration, usize::from(self.best.is_some())],
        );
        for snapshot in std::iter::once(&self.current).chain(&self.best) {
            put_snapshot(&mut bytes, snapshot);
        }
        put(&mut bytes, &[self.trace.len()]);
        for progress in &self.trace {
            let phase = PHASES.iter().position(|&phase| phase == progress.phase);
            put(
                &mut bytes,
                &[phase.unwrap_or(0), progress.iteration, progress.nonzeros],
            );
            put_floats(&mut bytes, &[progress.objective]);
        }
        let crc = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&crc.to_le_bytes());
        Ok(out.write_all(&bytes)?)
    }

    /// Reads a checkpoint.
    ///
    /// # Errors
    /// [`Error::Io`], or [`Error::Checkpoint`] for a file that is no checkpoint, of another
    /// version, or damaged.
    pub fn read(mut from: impl Read) -> Result<Self, Error> {
        let mut bytes = Vec::new();
        from.read_to_end(&mut bytes)?;
        let body = verified_body(&bytes)?;
        let mut reader = Reader(body);
        let (params_crc, samples_crc) = (reader.word()?, reader.word()?);
        let (stage, iteration) = (reader.count()?, reader.count()?);
        let stage = match stage {
            0 => Stage::Alternate(iteration),
            1 => Stage::Main(iteration),
            2 => Stage::Done,
            _ => return Err(damaged()),
        };
        let has_best = reader.count()? == 1;
        let current = reader.snapshot()?;
        let best = has_best.then(|| reader.snapshot()).transpose()?;
        let length = reader.count()?;
        let trace = (0..length)
            .map(|_| reader.progress())
            .collect::<Result<_, _>>()?;
        Ok(Self {
            params_crc,
            samples_crc,
            stage,
            current,
            best,
            trace,
        })
    }
}

/// Every phase in the order of its number in the file.
const PHASES: [Phase; 8] = [
    Phase::Start,
    Phase::Alternate,
    Phase::Inner,
    Phase::Inter,
    Phase::Exchange,
    Phase::Amplitude,
    Phase::Orthonormal,
    Phase::Iteration,
];

fn damaged() -> Error {
    Error::Checkpoint("damaged".into())
}

fn params_crc(params: &ValidBatchSvdParams) -> u32 {
    crc32fast::hash(format!("{:?}", params.params()).as_bytes())
}

fn samples_crc(samples: &SampleMatrix) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&samples.scale().to_bits().to_le_bytes());
    for value in samples.columns().data() {
        hasher.update(&value.to_bits().to_le_bytes());
    }
    hasher.finalize()
}

/// What follows magic and version, if those and the checksum are right.
fn verified_body(bytes: &[u8]) -> Result<&[u8], Error> {
    let (front, crc) = bytes.split_last_chunk::<4>().ok_or_else(damaged)?;
    let (magic, rest) = front.split_first_chunk::<8>().ok_or_else(damaged)?;
    if magic != MAGIC {
        return Err(Error::Checkpoint("not a checkpoint file".into()));
    }
    let (version, body) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    let version = u32::from_le_bytes(*version);
    if version != VERSION {
        return Err(Error::Checkpoint(format!(
            "version {version} is not supported"
        )));
    }
    if crc32fast::hash(front) != u32::from_le_bytes(*crc) {
        return Err(damaged());
    }
    Ok(body)
}

fn put(bytes: &mut Vec<u8>, counts: &[usize]) {
    for &count in counts {
        bytes.extend_from_slice(&(count as u64).to_le_bytes());
    }
}

fn put_floats(bytes: &mut Vec<u8>, values: &[f64]) {
    for value in values {
        bytes.extend_from_slice(&value.to_bits().to_le_bytes());
    }
}

fn put_snapshot(bytes: &mut Vec<u8>, snapshot: &Snapshot) {
    let Snapshot { atoms, code } = snapshot;
    put(bytes, &[atoms.rows(), atoms.count(), code.count()]);
    put_floats(bytes, atoms.data());
    for sample in 0..code.count() {
        put(bytes, &[code.support(sample).len()]);
        for (atom, value) in code.entries(sample) {
            put(bytes, &[atom]);
            put_floats(bytes, &[value]);
        }
    }
}

/// Takes values off the front of a body.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn word(&mut self) -> Result<u32, Error> {
        let (front, rest) = self.0.split_first_chunk::<4>().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u32::from_le_bytes(*front))
    }

    fn long(&mut self) -> Result<u64, Error> {
        let (front, rest) = self.0.split_first_chunk::<8>().ok_or_else(damaged)?;
        self.0 = rest;
        Ok(u64::from_le_bytes(*front))
    }

    fn count(&mut self) -> Result<usize, Error> {
        usize::try_from(self.long()?).map_err(|_| damaged())
    }

    fn float(&mut self) -> Result<f64, Error> {
        Ok(f64::from_bits(self.long()?))
    }

    fn snapshot(&mut self) -> Result<Snapshot, Error> {
        let (rows, atoms, samples) = (self.count()?, self.count()?, self.count()?);
        let size = rows.checked_mul(atoms).ok_or_else(damaged)?;
        let fits = size <= self.0.len() / 8 && samples <= self.0.len() / 8;
        if rows == 0 || !fits {
            return Err(damaged());
        }
        let data = (0..size).map(|_| self.float()).collect::<Result<_, _>>()?;
        let mut code = SparseCode::new(atoms);
        for _ in 0..samples {
            let length = self.count()?;
            let entries = (0..length)
                .map(|_| Ok((self.count()?, self.float()?)))
                .collect::<Result<Vec<_>, Error>>()?;
            code.push(&entries).map_err(|_| damaged())?;
        }
        Ok(Snapshot {
            atoms: Columns::from_vec(rows, data),
            code,
        })
    }

    fn progress(&mut self) -> Result<Progress, Error> {
        let phase = *PHASES.get(self.count()?).ok_or_else(damaged)?;
        Ok(Progress {
            phase,
            iteration: self.count()?,
            nonzeros: self.count()?,
            objective: self.float()?,
        })
    }
}

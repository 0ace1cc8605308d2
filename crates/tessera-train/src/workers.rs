//! Crops coded elsewhere: what a job asks for, who does it, and what comes back.
//!
//! Nearly all time of a training goes into coding crops, and what one crop shows does not depend on the others. So that
//! part can be spread over machines; answers are merged in the order of the tasks, and the dictionary is the same to the
//! byte as that of one machine.

use crate::closed_loop::ClosedLoopCoder;
use crate::error::TrainError;
use crate::gallery::{Gallery, Task};
use borsh::{BorshDeserialize, BorshSerialize};
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use tessera_codec::PreparedDictionary;

/// Crops of one job: few enough that jobs are spread evenly, enough that a job is worth sending.
const CROPS_PER_JOB: usize = 4;

/// Codes crops somewhere else, on other machines for example.
pub trait Workers: Send + Sync + fmt::Debug {
    /// Does all jobs with one dictionary (the bytes of its file), in any order and as often as it takes, by calling
    /// [`work`]. Answers are in the order of the jobs.
    ///
    /// # Errors
    /// What is to be told if a job cannot be done at all.
    fn run(&self, dictionary: &[u8], jobs: &[Job]) -> Result<Vec<Vec<u8>>, String>;
}

/// Some crops to code.
#[derive(Clone, Debug)]
pub struct Job {
    /// What [`work`] is given.
    pub message: Vec<u8>,
    /// The pictures it needs, by their names here; [`work`] is given the names they have there, in the same order.
    pub pictures: Vec<PathBuf>,
}

/// What is asked of every crop of a job.
#[derive(Clone, Copy, Debug, BorshSerialize, BorshDeserialize)]
pub(crate) enum Request {
    /// Decisions, filter statistics and patches.
    Statistics { seed: u64 },
    /// Bytes and error.
    Rates,
    /// Samples for the network behind the filter.
    Net { count: usize, seed: u64 },
    /// Samples for the networks that predict patches.
    PatchNets { parts: usize },
}

/// Numbers of the pictures in the gallery they come from, the crops, and what is asked of them.
type Message = (Vec<usize>, Vec<Task>, Request);

/// Does a job.
///
/// # Errors
/// [`TrainError::Workers`] if the message is none, else as for training itself.
pub fn work(
    dictionary: &PreparedDictionary,
    message: &[u8],
    pictures: &[PathBuf],
) -> Result<Vec<u8>, TrainError> {
    let parsed: Result<Message, _> = borsh::from_slice(message);
    let (numbers, tasks, request) = parsed.map_err(damaged)?;
    let known = |task: &Task| numbers.contains(&task.picture);
    if numbers.len() != pictures.len() || !tasks.iter().all(known) {
        return Err(TrainError::Workers("a job lacks pictures".into()));
    }
    let gallery = Gallery::of_some(numbers.into_iter().zip(pictures.iter().cloned()));
    let coder = ClosedLoopCoder::prepared(&gallery, dictionary.clone());
    let answer = match request {
        Request::Statistics { seed } => borsh::to_vec(&coder.statistics(&tasks, seed)?),
        Request::Rates => borsh::to_vec(&coder.rates(&tasks)?),
        Request::Net { count, seed } => borsh::to_vec(&coder.net_samples(&tasks, count, seed)?),
        Request::PatchNets { parts } => borsh::to_vec(&coder.patch_net_samples(&tasks, parts)?),
    };
    Ok(answer?)
}

/// Has the tasks done by `workers`; answers in the order of the tasks.
pub(crate) fn delegate<T: BorshDeserialize>(
    workers: &dyn Workers,
    gallery: &Gallery,
    dictionary: &PreparedDictionary,
    tasks: &[Task],
    request: Request,
) -> Result<Vec<T>, TrainError> {
    let jobs: Vec<Job> = (tasks.chunks(CROPS_PER_JOB))
        .map(|tasks| job(gallery, tasks, request))
        .collect::<std::io::Result<_>>()?;
    let answers = workers.run(&dictionary.to_bytes(), &jobs);
    let mut all = Vec::with_capacity(tasks.len());
    for answer in answers.map_err(TrainError::Workers)? {
        all.extend(borsh::from_slice::<Vec<T>>(&answer).map_err(damaged)?);
    }
    if all.len() != tasks.len() {
        return Err(TrainError::Workers("some crops have no answer".into()));
    }
    Ok(all)
}

fn job(gallery: &Gallery, tasks: &[Task], request: Request) -> std::io::Result<Job> {
    let needed: BTreeMap<usize, PathBuf> = (tasks.iter())
        .map(|task| (task.picture, gallery.files()[task.picture].clone()))
        .collect();
    let (numbers, pictures): (Vec<usize>, Vec<PathBuf>) = needed.into_iter().unzip();
    let message: Message = (numbers, tasks.to_vec(), request);
    Ok(Job {
        message: borsh::to_vec(&message)?,
        pictures,
    })
}

fn damaged(error: std::io::Error) -> TrainError {
    TrainError::Workers(format!("a message cannot be read ({error})"))
}

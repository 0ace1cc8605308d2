//! Learns Tessera dictionaries from pictures.
//!
//! [`Trainer`] does all of it. Behind it, [`references`] chooses the pictures that others are predicted from,
//! [`fine_tune()`] fits an existing dictionary to a collection, and [`train_from_scratch`] learns one anew.

mod adapt;
mod atoms;
mod bases;
mod budget;
mod cells;
mod closed_loop;
mod descent;
mod error;
mod filter;
mod fine_tune;
mod from_scratch;
pub mod gallery;
mod harvest;
mod lossless;
mod magnitude;
mod model_chains;
mod net;
mod observer;
mod patch_net;
mod priors;
mod provenance;
pub mod references;
mod refine;
mod size;
mod thrift;
mod trainer;
mod union;
mod validation;
mod workers;

pub use budget::Budget;
pub use error::TrainError;
pub use fine_tune::{FineTuneParams, FineTuned, fine_tune};
pub use from_scratch::{FromScratchParams, add_atoms, train_from_scratch};
pub use gallery::Gallery;
pub use observer::{Stage, TrainObserver};
pub use trainer::{Trained, Trainer};
pub use workers::{Job, Workers, work};

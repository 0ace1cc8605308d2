//! Learns Tessera dictionaries from pictures.

mod bases;
mod cells;
mod filter;
pub mod gallery;
mod harvest;
mod lesson;
mod magnitude;
mod pipeline;
mod priors;
mod refine;
mod specialise;
mod trial;
mod union;

pub use gallery::Gallery;
pub use pipeline::{Stage, TrainError, TrainObserver, TrainParams, train};
pub use specialise::specialise;

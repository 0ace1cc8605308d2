//! Learns Tessera dictionaries from pictures.

mod adapt;
mod bases;
mod budget;
mod cells;
mod descent;
mod filter;
pub mod gallery;
mod harvest;
mod lesson;
mod magnitude;
mod net;
mod patch_net;
mod pipeline;
mod priors;
mod provenance;
pub mod references;
mod refine;
mod size;
mod specialise;
mod transfer;
mod trial;
mod union;

pub use budget::Budget;
pub use gallery::Gallery;
pub use pipeline::{Stage, TrainError, TrainObserver, TrainParams, train};
pub use specialise::{SpecialiseParams, Specialised, specialise};

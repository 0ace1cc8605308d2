//! Learns Tessera dictionaries from pictures.

mod bases;
mod filter;
pub mod gallery;
mod harvest;
mod magnitude;
mod pipeline;
pub mod references;
mod union;

pub use gallery::Gallery;
pub use pipeline::{Stage, TrainError, TrainObserver, TrainParams, train};

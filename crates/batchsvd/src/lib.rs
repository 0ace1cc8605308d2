//! Batchwise dictionary learning.
//!
//! Given samples `Y` (m x p, one per column), find unit atoms `A` (m x n) and a sparse code
//! `X` (n x p) that minimise `||Y - AX||_F^2` while the **whole batch** spends at most K
//! non-zeros. Samples that are hard to represent get more of them, easy ones fewer.
//!
//! Every phase after the start is monotone: it keeps the number of non-zeros and never
//! raises the objective. All results are the same bits for any number of threads.

mod alternate;
mod amplitude;
pub mod baseline;
mod batch;
mod checkpoint;
mod code;
pub mod dense;
mod dictionary;
mod error;
mod exchange;
mod factorization;
mod inner;
mod inter;
pub mod lasso;
mod linalg;
pub mod npy;
mod observer;
pub mod online;
mod pursuit;
mod rows;
mod samples;
mod start;
mod structure;
#[cfg(test)]
mod testing;
pub mod union;

pub use alternate::{Alternate, alternate};
pub use batch::{BatchSvdParams, Fit, Inter, ValidBatchSvdParams};
pub use checkpoint::Checkpoint;
pub use code::SparseCode;
pub use dictionary::Dictionary;
pub use error::Error;
pub use exchange::Swaps;
pub use factorization::Factorization;
pub use inter::Pairs;
pub use linalg::Leading;
pub use observer::{Observer, Phase, Progress};
pub use pursuit::{Budget, Rule, code};
pub use samples::SampleMatrix;
pub use start::Start;
pub use structure::Structure;

/// The example of the README is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

//! Helpers shared by the top-level tests and benches.

pub mod learning;

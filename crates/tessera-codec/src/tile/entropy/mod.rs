//! Entropy coding: adaptive models, their mixing, and the binary range coder (`spec/bitstream.md`, "Binary decisions").

pub(crate) mod coder;
mod logistic;
pub(crate) mod mix;
pub(crate) mod range;
pub(crate) mod streams;

//! Small dense building blocks: packed columns, vector kernels, triangular solves.
//!
//! Large products go through faer with `Par::Seq`; threads live one level up, over
//! samples, so that results do not depend on their number.

pub(crate) mod cholesky;
pub(crate) mod columns;
pub(crate) mod kernels;
pub(crate) mod leading;

pub(crate) use columns::Columns;
pub use leading::Leading;

//! Tessera for browsers and Node: the WebAssembly side of the npm package `tessera-codec`.
//!
//! JavaScript calls the functions of [`abi`]: numbers and places in memory go in, a status comes out, and what a call has
//! made lies in one output buffer. What they do is in the modules below it, in safe code that runs on any machine.
//! There are no threads here: several workers each hold an instance of their own, and share nothing.

pub mod abi;
mod colour;
mod failure;
mod instance;
mod open_pack;
mod open_picture;
mod pieces;
mod rgba;

#[cfg(feature = "encoder")]
mod encode;
#[cfg(feature = "encoder")]
mod metric;

//! Tessera for browsers and Node: the WebAssembly side of the npm package `tessera-codec`.
//!
//! JavaScript calls the functions of [`abi`] and of [`colour_abi`], a module of its own: numbers and places in [`memory`] go
//! in, a status comes out. What they do is in the modules below, in safe code that runs on any machine.
//! There are no threads here: several workers each hold an instance of their own, and share nothing.

pub mod memory;

#[cfg(feature = "decoder")]
pub mod abi;
#[cfg(feature = "decoder")]
mod failure;
#[cfg(feature = "decoder")]
mod instance;
#[cfg(feature = "decoder")]
mod open_pack;
#[cfg(feature = "decoder")]
mod open_picture;
#[cfg(feature = "decoder")]
mod pieces;
#[cfg(feature = "decoder")]
mod rgba;

#[cfg(feature = "encoder")]
mod encode;
#[cfg(feature = "encoder")]
mod metric;

#[cfg(feature = "colour")]
mod colour;
#[cfg(feature = "colour")]
pub mod colour_abi;

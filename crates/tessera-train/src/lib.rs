//! Learns Tessera dictionaries from pictures.

pub mod bases;
pub mod filter;
pub mod harvest;
mod magnitude;
mod union;

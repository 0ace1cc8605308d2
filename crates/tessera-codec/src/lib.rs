//! The Tessera container, coefficient bitstream, encoder and decoder.

pub mod tile;
